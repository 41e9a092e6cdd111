"""What the screens look like: SVG goldens in `snapshots/`, to be looked at when they change."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.app_driver import Driver, recording, run_app, session_app, settings
from tests.support.goldens import Shot, compare, names, shown
from tui.app.library_screen import LibraryScreen
from tui.session.store import Homes

pytestmark = pytest.mark.snapshot

SINGLE, MANY = "single-tool-added", "many-tools-changed"
RESTORE, REJECTED = "remove-and-restore", "rejected-update"


SMALL, MIDDLE, LARGE = (80, 24), (120, 40), (200, 50)
DIFF = ("2", "T", "up", "i", ">", ">")


def shots() -> Iterator[Shot]:
    """All goldens."""
    for log, what in (
        (SINGLE, "single-tool-added"),
        (MANY, "many-tools-changed"),
        (RESTORE, "remove-and-restore"),
        (REJECTED, "rejected-update"),
    ):
        yield Shot(f"{what}-chat", log, SMALL, "en")
        yield Shot(f"{what}-trajectory", log, SMALL, "zh", view="trajectory")
        yield Shot(what, log, MIDDLE, "en")
        yield Shot(what, log, MIDDLE, "zh")
        yield Shot(what, log, LARGE, "en" if log in (SINGLE, RESTORE) else "zh")
    opened = ("T", "enter")
    yield Shot("many-tools-changed-notice-expanded", MANY, SMALL, "en", opened)
    yield Shot("many-tools-changed-notice-expanded", MANY, MIDDLE, "zh", opened)
    yield Shot("many-tools-changed-notice-expanded", MANY, LARGE, "en", opened)
    yield Shot("single-tool-added-notice-expanded", SINGLE, MIDDLE, "en", opened)
    yield Shot("remove-and-restore-notice-expanded", RESTORE, MIDDLE, "zh", opened)
    yield Shot("rejected-update-notice-expanded", REJECTED, MIDDLE, "en", ("T", "T", "enter"))
    yield Shot("many-tools-changed-header-diff", MANY, MIDDLE, "en", DIFF)
    yield Shot("remove-and-restore-header-diff", RESTORE, LARGE, "zh", DIFF)
    yield Shot("rejected-update-inspector-raw", REJECTED, MIDDLE, "zh", ("E", "r"))
    yield Shot("light", RESTORE, MIDDLE, "en", theme="light")
    yield Shot("ascii", MANY, MIDDLE, "en", opened, ascii_only=True)
    yield Shot("no-color", REJECTED, MIDDLE, "en", no_color=True)
    yield Shot("help", MANY, MIDDLE, "en", ("?",))
    yield Shot("help", MANY, SMALL, "zh", ("?",))
    yield Shot("palette", MANY, MIDDLE, "zh", ("ctrl+p",))
    yield Shot("only-tool-changes", RESTORE, MIDDLE, "en", ("f",))
    yield Shot("turns-folded", REJECTED, MIDDLE, "zh", ("z",))
    for log, what in ((RESTORE, "remove-and-restore"), (MANY, "many-tools-changed")):
        for lang in ("en", "zh"):
            yield Shot(f"{what}-tools-over-time", log, MIDDLE, lang, ("3", "home", "t"))
    opened_cell = ("3", "home", "t", "t", "t", "enter")
    yield Shot("remove-and-restore-tool-redefined", RESTORE, MIDDLE, "en", opened_cell)
    yield Shot("remove-and-restore-tools-in-history", RESTORE, SMALL, "zh", ("3", "Z", "M", "M", "M"))
    yield Shot("tools-over-time-ascii", RESTORE, SMALL, "en", ("3",), ascii_only=True)


SHOTS = {shot.name: shot for shot in shots()}
OTHERS = {"search-120x40-en", "damaged-120x40-en", "go-to-80x24-zh"}


async def drawn(driver: Driver, keys: tuple[str, ...]) -> None:
    await driver.press(*keys)
    timeline = driver.session.timeline
    if timeline.display:
        # It looks at the rows little by little; nothing else is drawn later.
        await driver.until(lambda: timeline.is_settled)
    await driver.pilot.pause()


@pytest.mark.parametrize("name", SHOTS)
async def test_the_screen_looks_like_its_golden(name: str, update: bool) -> None:
    shot = SHOTS[name]
    async with shown(shot) as driver:
        await drawn(driver, shot.keys)
        compare(driver, name, update=update)


async def test_a_search_looks_like_its_golden(update: bool) -> None:
    async with session_app(recording(MANY)) as driver:
        await driver.search("vent")
        driver.session.set_focus(driver.session.chat)
        await drawn(driver, ())
        compare(driver, "search-120x40-en", update=update)


async def test_a_damaged_log_looks_like_its_golden(update: bool, tmp_path: Path) -> None:
    lines = recording(MANY).read_bytes().splitlines(keepends=True)
    log = tmp_path / "session.v4.jsonl"
    # A hole, a line that is no JSON, and a last line that is cut.
    log.write_bytes(b"".join([*lines[:14], *lines[16:30], b"{broken\n", *lines[30:-1], lines[-1][:40]]))
    async with session_app(log) as driver:
        await drawn(driver, ("E",))
        compare(driver, "damaged-120x40-en", update=update)


async def test_the_prompt_for_a_seq_looks_like_its_golden(update: bool) -> None:
    async with session_app(recording(MANY), size=SMALL, lang="zh") as driver:
        await driver.press(":")
        await driver.until(lambda: driver.top is not driver.session)
        await drawn(driver, ("2", "8"))
        compare(driver, "go-to-80x24-zh", update=update)


NOW = 1_800_000_000
LIBRARIES = {"library-120x40-en": (MIDDLE, "en"), "library-80x24-zh": (SMALL, "zh")}


def shelve(home: Path) -> None:
    """Put recordings into a home, an hour apart; one of them with a line that is no event, one empty."""
    names = (MANY, RESTORE, REJECTED, SINGLE, "tool-use", "retries", "plain-chat")
    for at, name in enumerate(names):
        log = home / "sessions" / "--srv-demo-project--" / f"session-{name}" / "session.v4.jsonl"
        log.parent.mkdir(parents=True)
        content = recording(name).read_bytes()
        log.write_bytes(content + b"{broken\n" if name == "retries" else b"" if name == SINGLE else content)
        os.utime(log, (NOW - 3600 * at, NOW - 3600 * at))


@pytest.mark.parametrize("name", LIBRARIES)
async def test_the_library_looks_like_its_golden(
    name: str, update: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size, lang = LIBRARIES[name]
    # The preview names the log: a path that is the same everywhere.
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tui.app.library_screen._now", lambda: NOW * 1000)
    homes = Homes(Path("own"), Path("home"))
    shelve(homes.dsh)
    async with run_app(
        settings(lang), lambda app: LibraryScreen(homes, app.surroundings), size=size
    ) as driver:
        library = driver.top
        assert isinstance(library, LibraryScreen)
        await driver.until(lambda: library.is_idle)
        await driver.press("down")
        await driver.until(lambda: "mist" in driver.text())
        compare(driver, name, update=update)


def test_every_golden_belongs_to_a_screen() -> None:
    others = ("doctor-", "draft-", "live-", "matrix-", "requests-")
    own = {name for name in names() if not name.startswith(others)}
    assert own == {*SHOTS, *OTHERS, *LIBRARIES}
