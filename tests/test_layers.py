"""The rooms of the house: imports go downwards only (DESIGN, "The house")."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CHECK = "import sys, importlinter.cli as cli; sys.exit(cli.lint_imports(no_cache=True, no_logo=True))"


def contracts(root: Path) -> subprocess.CompletedProcess[str]:
    """Check the import contracts of the tree under `root`."""
    return subprocess.run(
        [sys.executable, "-c", CHECK],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def loaded_by(module: str) -> set[str]:
    """The top-level names that are loaded once `module` is imported, in a fresh interpreter."""
    program = f"import sys, {module}; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_every_import_goes_downwards() -> None:
    done = contracts(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("session/log.py", "import tui.app"),
        ("nodes/chat.py", "import tui.i18n"),
        ("blocks/layout.py", "import textual"),
        ("nodes/chat.py", "import rich.text"),
        ("session/log.py", "import tui.config"),
        ("llm/route.py", "import tui.nodes"),
        ("blocks/layout.py", "import tui.loop"),
        ("gardens/bed.py", "import json"),
    ],
)
def test_an_import_from_the_wrong_room_is_found(tmp_path: Path, module: str, line: str) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for room in ("app", "export", "blocks", "nodes", "loop", "tools", "llm", "session"):
        package(tmp_path / "tui" / room)
    package(tmp_path / "tui")
    (tmp_path / "tui" / "i18n.py").touch()
    (tmp_path / "tui" / "config.py").touch()
    assert contracts(tmp_path).returncode == 0

    planted = tmp_path / "tui" / module
    package(planted.parent)
    planted.write_text(f"{line}\n", encoding="utf-8")
    assert contracts(tmp_path).returncode == 1


def package(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "__init__.py").touch()


@pytest.mark.parametrize("module", ["tui.session", "tui.nodes", "tui.i18n", "tui.config"])
def test_what_lies_below_the_screen_loads_without_screen_libraries(module: str) -> None:
    assert importlib.util.find_spec(module) is not None
    assert loaded_by(module).isdisjoint({"textual", "rich", "babel", "pydantic", "pygments", "markdown_it"})
