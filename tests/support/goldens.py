"""Screens as SVG goldens: one file a screen in `snapshots/`, named after what is seen."""

from __future__ import annotations

import html
import re
from contextlib import AbstractAsyncContextManager
from difflib import unified_diff
from pathlib import Path
from typing import Literal, NamedTuple

from tests.conftest import ROOT
from tests.support.app_driver import Driver, recording, session_app
from tui.app.linked_panes import Pane

FOLDER = ROOT / "snapshots"
_IDS = re.compile(r"terminal-\d+")
_FONT_FACES = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
_FAMILIES = re.compile(r"font-family: [^;]+;")
_FONT = "font-family: Fira Code, DejaVu Sans Mono, Noto Sans Mono CJK SC, monospace;"
_TEXT = re.compile(r'<text [^>]*\by="([\d.]+)"[^>]*>([^<]*)</text>')


class Shot(NamedTuple):
    """The golden of a recording: what is seen, and how to come there."""

    what: str
    log: str
    size: tuple[int, int]
    lang: str
    keys: tuple[str, ...] = ("T",)
    view: Pane = "chat"
    theme: Literal["dark", "light"] = "dark"
    ascii_only: bool = False
    no_color: bool = False

    @property
    def name(self) -> str:
        return f"{self.what}-{self.size[0]}x{self.size[1]}-{self.lang}"


def shown(shot: Shot) -> AbstractAsyncContextManager[Driver]:
    """The app with the recording open; its keys are not pressed yet."""
    return session_app(
        recording(shot.log),
        size=shot.size,
        lang=shot.lang,
        theme=shot.theme,
        ascii_only=shot.ascii_only,
        no_color=shot.no_color,
        view=shot.view,
    )


def picture(driver: Driver) -> str:
    """The screen as SVG, without ids that depend on its content and without fonts from elsewhere."""
    svg = driver.app.export_screenshot(title="dsh-tui")
    svg = _FAMILIES.sub(_FONT, _FONT_FACES.sub("", _IDS.sub("terminal", svg)))
    return "\n".join(line.strip() for line in svg.splitlines() if line.strip()) + "\n"


def compare(driver: Driver, name: str, *, update: bool) -> None:
    """Compare the screen with its golden, or write it; a difference is told row by row."""
    path = FOLDER / f"{name}.svg"
    drawn = picture(driver)
    if update:
        FOLDER.mkdir(exist_ok=True)
        path.write_text(drawn, encoding="utf-8")
        return
    assert path.exists(), f"{path.name} is missing; make snapshots draws it"
    golden = path.read_text(encoding="utf-8")
    if drawn != golden:
        raise AssertionError(
            f"{path.name} differs; look at it and run make snapshots:\n{_told(golden, drawn)}"
        )


async def compare_shot(shot: Shot, *, update: bool) -> None:
    """Open the recording, press the keys, and compare the screen with its golden."""
    async with shown(shot) as driver:
        await driver.press(*shot.keys)
        await driver.pilot.pause()
        compare(driver, shot.name, update=update)


def _told(golden: str, drawn: str) -> str:
    rows = list(unified_diff(_rows(golden), _rows(drawn), "golden", "now", lineterm="", n=0))
    return "\n".join(rows) or "the text is the same, the colours are not"


def _rows(svg: str) -> list[str]:
    rows: dict[float, list[str]] = {}
    for y, text in _TEXT.findall(svg):
        rows.setdefault(float(y), []).append(html.unescape(text).replace("\u00a0", " "))
    return ["".join(rows[y]) for y in sorted(rows)]


def names() -> set[str]:
    """The goldens there are."""
    return {path.stem for path in Path(FOLDER).glob("*.svg")}
