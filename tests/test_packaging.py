"""The wheel carries what the program needs, and starts as fast as a constant allows."""

import os
import resource
import subprocess
import sys
import zipfile
from gettext import GNUTranslations
from pathlib import Path

import pytest

import tui
from tui.i18n import LANGS

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return zipfile.ZipFile(built)


def metadata(wheel: zipfile.ZipFile, name: str) -> str:
    return wheel.read(f"dsh_tui-{tui.__version__}.dist-info/{name}").decode()


@pytest.mark.parametrize("lang", LANGS)
def test_the_wheel_carries_the_compiled_catalogues(wheel: zipfile.ZipFile, lang: str) -> None:
    with wheel.open(f"tui/locales/{lang}/LC_MESSAGES/messages.mo") as binary:
        assert GNUTranslations(binary).gettext("just now") == {"en": "just now", "zh": "刚刚"}[lang]


def test_the_wheel_carries_every_module_style_and_asset(wheel: zipfile.ZipFile) -> None:
    shipped = {path for path in (ROOT / "tui").rglob("*") if path.suffix in (".py", ".tcss")}
    wanted = {path.relative_to(ROOT).as_posix() for path in shipped}
    wanted |= {f"tui/{path.relative_to(ROOT).as_posix()}" for path in assets()}
    assert wanted - set(wheel.namelist()) == set()


def assets() -> list[Path]:
    return [path for path in (ROOT / "assets").rglob("*") if path.is_file()]


def test_the_wheel_carries_nothing_but_the_package(wheel: zipfile.ZipFile) -> None:
    assert {name.split("/")[0] for name in wheel.namelist()} == {
        "tui",
        f"dsh_tui-{tui.__version__}.dist-info",
    }


def test_the_metadata_names_textual_exactly_and_the_command(wheel: zipfile.ZipFile) -> None:
    described = metadata(wheel, "METADATA").splitlines()
    assert "Requires-Dist: textual==8.2.8" in described
    assert "License-Expression: MIT" in described
    assert "Requires-Python: >=3.11" in described
    assert "dsh-tui = tui.__main__:main" in metadata(wheel, "entry_points.txt")


def test_the_unpacked_wheel_speaks_chinese_from_its_own_catalogue(
    wheel: zipfile.ZipFile, tmp_path: Path
) -> None:
    wheel.extractall(tmp_path)
    program = "import tui.i18n; print(tui.i18n.__file__, tui.i18n.translator('zh').t('just now'))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.split() == [str(tmp_path / "tui" / "i18n.py"), "刚刚"]


def test_the_version_is_a_constant_that_costs_no_import() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "tui", "--version"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == f"dsh-tui {tui.__version__}\n"
    loaded = {line.rsplit("|")[-1].strip() for line in done.stderr.splitlines()}
    assert loaded.isdisjoint({"argparse", "gettext", "textual", "rich", "msgspec", "tui.cli", "tui.i18n"})


def test_the_version_takes_less_than_three_times_a_bare_interpreter() -> None:
    bare = min(cpu_seconds([sys.executable, "-c", "pass"]) for _ in range(5))
    asked = min(cpu_seconds([sys.executable, "-m", "tui", "--version"]) for _ in range(5))
    assert asked < 3 * bare


def cpu_seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
