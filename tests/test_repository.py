"""What must never stand in the tree, and what the README and CI promise."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
THIS = Path("tests/test_repository.py")
BINARY = {".mo", ".zstd", ".png", ".gif", ".ico", ".whl"}

REGISTRY = re.compile(
    r"pypi\.org|pythonhosted\.org|registry\.npmjs|conda\.anaconda|https?://[^\s\"']*(?:/simple\b|\.whl\b|\.tar\.gz\b)"
)
MACHINE_PATH = re.compile(r"(?<![\w./-])/(?:work|farm|root|tmp/plan)/")
SWALLOWED = re.compile(r"except(?:\s+(?:Base)?Exception)?(?:\s+as\s+\w+)?:\s*(?:#.*)?\s*pass\b")
UNFINISHED = re.compile(r"#.*\b(?:TODO|FIXME|XXX|HACK)\b|raise NotImplementedError")


def tracked() -> list[Path]:
    """The files of the tree under version control, relative to it; those on disk where there is no git."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("no version control here")
    names = [Path(name) for name in listed.stdout.split("\0") if name]
    return [name for name in names if (ROOT / name).is_file()]


def texts() -> list[tuple[Path, str]]:
    return [
        (name, (ROOT / name).read_text(encoding="utf-8", errors="replace"))
        for name in tracked()
        if name.suffix not in BINARY and name != THIS
    ]


def modules() -> list[tuple[Path, str]]:
    return [
        (path.relative_to(ROOT), path.read_text(encoding="utf-8")) for path in (ROOT / "tui").rglob("*.py")
    ]


def places(pattern: re.Pattern[str], files: list[tuple[Path, str]]) -> list[str]:
    return [
        f"{name}:{text.count(chr(10), 0, hit.start()) + 1}: {hit[0]}"
        for name, text in files
        for hit in pattern.finditer(text)
    ]


def test_no_registry_is_named() -> None:
    assert places(REGISTRY, texts()) == []


def test_no_path_of_a_machine_is_named() -> None:
    assert places(MACHINE_PATH, texts()) == []


def test_no_module_is_longer_than_500_lines() -> None:
    assert [str(name) for name, text in modules() if text.count("\n") > 500] == []


def test_no_error_is_swallowed() -> None:
    assert places(SWALLOWED, modules()) == []


def test_nothing_is_marked_unfinished() -> None:
    assert places(UNFINISHED, modules()) == []


def test_no_name_says_nothing() -> None:
    vague = re.compile(r"(?:utils?|helpers?|managers?|misc|common)$")
    assert [str(name) for name, _ in modules() if vague.search(name.stem)] == []


def test_no_compiled_catalogue_is_committed() -> None:
    assert [str(name) for name in tracked() if name.suffix == ".mo"] == []


def test_ci_runs_the_test_command_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = [block.strip() for block in re.findall(r"```sh\n(.*?)```", readme, re.DOTALL)]
    (command,) = [command for command in commands if re.search(r"\btest\b", command)]
    assert command == "make test"
    last = (ROOT / ".ci/run").read_text(encoding="utf-8").rstrip().splitlines()[-1]
    assert re.fullmatch(r"exec make (?:--[\w-]+ )*test", last)


def test_make_lists_its_targets() -> None:
    listed = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    named = {line.split()[0] for line in listed.splitlines() if line.startswith("  ")}
    assert {"demo", "test", "lint", "locales", "snapshots", "bench"} <= named


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (REGISTRY, "pip install --index-url https://mirror.example/" + "simple"),
        (REGISTRY, "https://files.example/a/b-1.0-py3-none-any" + ".whl"),
        (MACHINE_PATH, 'open("/' + 'work/x")'),
        (SWALLOWED, "except Exception:\n        pass\n"),
        (SWALLOWED, "except:  # never mind\n    pass\n"),
        (UNFINISHED, "# TODO: later"),
    ],
)
def test_the_checks_of_the_tree_can_fail(pattern: re.Pattern[str], text: str) -> None:
    assert places(pattern, [(Path("planted.py"), text)])
