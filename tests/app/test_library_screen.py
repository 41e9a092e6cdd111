"""The library screen: what its list says, what fills in behind, the filter, the preview, opening."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from time import process_time
from typing import Any, get_args

import msgspec
import pytest
from textual.pilot import Pilot

from tests.support.app_driver import run_app, settings
from tests.support.fake_app import DressedApp, screen_text, surroundings, until
from tui.app.actions import effective_keys
from tui.app.conversation import DemoStarter
from tui.app.library_model import LibraryModel, columns_for
from tui.app.library_preview import preview_lines, read_preview
from tui.app.library_screen import LibraryScreen
from tui.app.library_words import shortened_path, state_name, workspace_name
from tui.blocks.cells import cell_len
from tui.blocks.text import plain
from tui.i18n import Translator, translator
from tui.session.errors import SessionUnreadable
from tui.session.library import LibraryRow, State, scan
from tui.session.naming import project_folder, session_folder
from tui.session.store import Homes

RECORDINGS = Path(__file__).parent.parent / "recordings"
NOW = 1_800_000_000_000


def put(home: Path, session_id: str, *events: tuple[str, Any], age_s: int = 0, **header: Any) -> Path:
    """Write a session into a home; returns its log."""
    place = home / "sessions" / project_folder("/moss") / session_folder(session_id)
    place.mkdir(parents=True)
    fields = {"type": "session", "version": 4, "id": session_id, "createdAt": NOW, "cwd": "/moss/beds"}
    rows: list[dict[str, Any]] = [fields | {"isSeeded": False, "delegationDepth": 0} | header]
    for seq, (kind, data) in enumerate(events):
        row: dict[str, Any] = {"type": kind, "seq": seq, "time": NOW + seq, "data": data}
        rows.append(row | ({"surfaceOp": "append"} if kind.endswith("/message") else {}))
    log = place / "session.v4.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    os.utime(log, (NOW / 1000 - age_s,) * 2)
    return log


def title(words: str) -> tuple[str, Any]:
    return "session/title", {"title": words, "messageSeqs": [], "source": {"kind": "user"}}


def prompt(words: str) -> tuple[str, Any]:
    content = [{"type": "text", "text": words}]
    return "user/message", {"content": content, "source": {"kind": "user"}, "role": "user", "id": "u"}


TURN = ("turn/start", {"turn": 1})


@pytest.fixture
def homes(tmp_path: Path) -> Homes:
    return Homes(tmp_path / "own", tmp_path / "dsh")


class LibraryApp(DressedApp):
    CSS = DressedApp.CSS + files("tui.app").joinpath("library.tcss").read_text("utf-8")

    def __init__(
        self,
        homes: Homes,
        lang: str = "en",
        *,
        demo: DemoStarter | None = None,
        open_path: Callable[[Path], None] | None = None,
        ascii_only: bool = False,
    ) -> None:
        super().__init__()
        around = surroundings(lang, ascii_only=ascii_only)
        self.library = LibraryScreen(homes, around, open_path or self.heard.append, demo=demo)

    def on_mount(self) -> None:
        self.push_screen(self.library)

    @property
    def text(self) -> str:
        return "\n".join(screen_text(self))

    def line_with(self, words: str) -> str:
        return next(row for row in screen_text(self) if words in row)


async def filled(app: LibraryApp, pilot: Pilot[None]) -> None:
    await until(pilot, lambda: app.screen is app.library and app.library.is_idle)
    await pilot.pause()


# -- the list


async def test_sessions_of_both_homes_stand_in_one_list_newest_first(homes: Homes) -> None:
    put(homes.own, "aaaa-1", TURN, title("Water the ferns"), age_s=7200)
    put(homes.dsh, "bbbb-2", TURN, title("Count the moths"), age_s=60)
    app = LibraryApp(homes)
    async with app.run_test(size=(120, 30)) as pilot:
        await filled(app, pilot)
        rows = screen_text(app)
        moths = next(at for at, row in enumerate(rows) if "Count the moths" in row)
        ferns = next(at for at, row in enumerate(rows) if "Water the ferns" in row)
        assert moths < ferns
        assert "/moss/beds" in rows[ferns] and "2 sessions" in rows[0]
        assert app.library.selected is not None and app.library.selected.title == "Count the moths"


async def test_a_child_stands_below_its_parent(homes: Homes) -> None:
    put(homes.dsh, "aaaa-1", TURN, title("Parent"), age_s=9000)
    put(homes.dsh, "bbbb-2", TURN, title("Between"), age_s=5000)
    put(homes.dsh, "cccc-3", TURN, title("Child"), age_s=100, parentSession="aaaa-1")
    app = LibraryApp(homes)
    async with app.run_test(size=(100, 24)) as pilot:
        await filled(app, pilot)
        listed = [row for row in screen_text(app)[2:6] if row.strip()]
        names = [next(w for w in ("Parent", "Child", "Between") if w in row) for row in listed[:3]]
        assert names == ["Parent", "Child", "Between"]
        assert "└ Child" in listed[1]


def test_what_is_not_known_yet_is_an_ellipsis(homes: Homes) -> None:
    put(homes.dsh, "aaaa-1111", TURN, title("Late"))
    (row,) = scan(homes)
    model = LibraryModel(surroundings(), NOW)
    model.set_rows([row])
    (shown,) = model.layout(0, 120)
    assert plain(shown).startswith("… aaaa-111")
    assert plain(shown).count("…") == 4, "title, events, models and tool changes"
    assert model.update(msgspec.structs.replace(row, filled=True, events=2, models=(), tool_changes=0)) == 0
    (shown,) = model.layout(0, 120)
    assert "…" not in plain(shown) and "untitled" in plain(shown)


async def test_the_numbers_of_a_real_session_fill_in(homes: Homes) -> None:
    log = put(homes.dsh, "session-aaaa")
    shutil.copy(RECORDINGS / "many-tools-changed" / "session.v4.jsonl", log)
    app = LibraryApp(homes)
    async with app.run_test(size=(140, 40)) as pilot:
        await filled(app, pilot)
        row = app.line_with("⊕ 1")
        events = len(log.read_bytes().splitlines()) - 1
        assert f" {events} " in row and "⊕ 1" in row and " ok" in row


async def test_the_folders_of_b09_are_all_there_with_their_reasons(shared: Path, tmp_path: Path) -> None:
    case = shared / "bugs" / "cases" / "B09-session-list"
    expected = json.loads((case / "expected-rows.json").read_text())
    app = LibraryApp(Homes(tmp_path / "own", case / "home"))
    async with app.run_test(size=(120, 30)) as pilot:
        await filled(app, pilot)
        assert app.library.model.count() == expected["rows"]
        assert sum(app.library.model.entry(at).depth > 0 for at in range(expected["rows"])) == 1
        for reason in ("its header is missing", "the file is empty", "no log in the folder"):
            assert app.line_with(reason)
        assert "no folder" in app.text
        assert ".tmp" not in app.text


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may read everything")
async def test_a_folder_that_may_not_be_read_says_so(homes: Homes) -> None:
    log = put(homes.dsh, "aaaa-1", TURN)
    log.parent.chmod(0)
    app = LibraryApp(homes)
    try:
        async with app.run_test(size=(100, 24)) as pilot:
            await filled(app, pilot)
            assert app.line_with("may not be read")
    finally:
        log.parent.chmod(0o700)


async def test_titles_cannot_give_orders_to_the_terminal(homes: Homes) -> None:
    put(homes.dsh, "aaaa-1", TURN, title("\x1b]0;owned\x07[bold]fern[/bold] \x1b[2Jmoss"))
    app = LibraryApp(homes)
    async with app.run_test(size=(100, 24)) as pilot:
        await filled(app, pilot)
        assert "[bold]fern[/bold] moss" in app.line_with("fern")
        assert "\x1b" not in app.text


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("width", [20, 40, 60, 77, 90, 117, 197])
def test_every_row_is_as_wide_as_the_list(homes: Homes, width: int, lang: str) -> None:
    put(homes.dsh, "aaaa-1", TURN, title("苔藓" * 40))
    put(homes.dsh, "bbbb-2", TURN, parentSession="aaaa-1", cwd="/长/路径" * 9)
    put(homes.dsh, "cccc-3").write_bytes(b"")
    rows = list(scan(homes))
    model = LibraryModel(surroundings(lang), NOW)
    for known in (rows, [msgspec.structs.replace(row, filled=True, title="苔藓" * 40) for row in rows]):
        model.set_rows(known)
        found = [model.heading(width), *(model.layout(at, width)[0] for at in range(model.count()))]
        assert all(shown.cells <= width for shown in found if width >= 40)
        assert all(shown.cells == cell_len(plain(shown)) for shown in found)


def test_the_title_keeps_its_room_on_a_narrow_screen() -> None:
    for width in (77, 117, 197):
        assert columns_for(width).title >= 24


def test_the_home_folder_is_written_short() -> None:
    tr = translator("en")
    assert workspace_name(tr, "/home/me/beds", Path("/home/me")) == "~/beds"
    assert workspace_name(tr, "/home/me", Path("/home/me")) == "~"
    assert workspace_name(tr, "/home/meadow", Path("/home/me")) == "/home/meadow"
    assert workspace_name(tr, None) == "no folder"
    assert shortened_path("/a/long/path/to/beds", 8) == "…to/beds"
    assert cell_len(shortened_path("/苔藓/蕨类", 6)) <= 6


def test_every_state_has_a_word_of_its_own_in_both_languages() -> None:
    states = get_args(State)
    for lang in ("en", "zh"):
        assert len({state_name(translator(lang), state) for state in states}) == len(states) == 6


# -- the filter


async def test_the_filter_narrows_the_list_while_typing_and_escape_ends_it(homes: Homes) -> None:
    put(homes.dsh, "aaaa-1", TURN, title("Water the ferns"))
    put(homes.dsh, "bbbb-2", TURN, title("Count the moths"))
    put(homes.dsh, "cccc-3", TURN, title("A helper for ferns"), parentSession="bbbb-2")
    app = LibraryApp(homes)
    async with app.run_test(size=(100, 30)) as pilot:
        await filled(app, pilot)
        await pilot.press("slash")
        await until(pilot, lambda: app.library._bar is not None and app.library._bar.is_typing)
        await pilot.press(*"FERNS")
        await until(pilot, lambda: app.library.model.is_filtered)
        await pilot.pause()
        shown = [app.library.model.entry(at).row.title for at in range(app.library.model.count())]
        assert set(shown) == {"Water the ferns", "Count the moths", "A helper for ferns"}, "a parent stays"
        await pilot.press(*" water")
        await until(pilot, lambda: app.library.model.count() == 1)
        assert app.library.selected is not None and app.library.selected.title == "Water the ferns"
        await pilot.press("escape")
        await until(pilot, lambda: app.library.model.count() == 3)
        assert app.library._bar is None


async def test_a_filter_finds_a_title_that_became_known_later(homes: Homes) -> None:
    put(homes.dsh, "aaaa-1", TURN, title("Water the ferns"))
    (row,) = scan(homes)
    model = LibraryModel(surroundings(), NOW)
    model.set_rows([row])
    model.filter("ferns")
    assert model.count() == 0
    model.update(msgspec.structs.replace(row, title="Water the ferns", filled=True))
    assert model.count() == 1


# -- preview


def preview_text(log: Path, row: LibraryRow, lang: str = "en") -> str:
    lines = preview_lines(surroundings(lang), row, read_preview(log), 60, NOW)
    return "\n".join(plain(found) for found in lines)


def row_of(log: Path, **facts: Any) -> LibraryRow:
    known = {"id": "s", "path": log.parent, "store": "dsh", "state": "ok", "log": log, "filled": True}
    return LibraryRow(**(known | facts))


def test_the_preview_tells_first_prompts_last_answer_and_tool_changes() -> None:
    log = RECORDINGS / "many-tools-changed" / "session.v4.jsonl"
    text = preview_text(log, row_of(log, title="Moths", events=46, tool_changes=1))
    assert "Moths" in text and "46 events" in text and "1 tool change" in text
    assert "12 added, 3 removed" in text
    answers = [json.loads(line) for line in log.read_text().splitlines() if '"assistant/message"' in line]
    blocks = answers[-1]["data"]["message"]["content"]
    last = next(block["text"] for block in blocks if block["type"] == "text")
    assert last[:20] in text


def test_the_preview_of_a_failed_session_tells_how_it_ended(homes: Homes) -> None:
    lines = (RECORDINGS / "retries" / "session.v4.jsonl").read_bytes().splitlines(keepends=True)
    ends = (at for at, row in enumerate(lines) if b'"turn/end"' in row and b'"kind":"error"' in row)
    log = put(homes.dsh, "aaaa-1")
    log.write_bytes(b"".join(lines[: next(ends) + 1]))
    assert "This turn failed" in preview_text(log, row_of(log))
    open_turn = put(homes.dsh, "bbbb-2", TURN, prompt("Hm"))
    assert "This turn failed" not in preview_text(open_turn, row_of(open_turn))


def test_the_preview_of_a_long_session_reads_its_two_ends_only(shared: Path) -> None:
    (log,) = (shared / "recordings" / "long" / "sessions").rglob("*.jsonl")
    spent: list[float] = []
    for _ in range(3):
        started = process_time()
        preview = read_preview(log)
        spent.append(process_time() - started)
    assert preview.prompts and preview.answer
    assert min(spent) < 0.15


def test_a_damaged_session_is_explained_in_its_preview(homes: Homes) -> None:
    log = put(homes.dsh, "aaaa-1", TURN, prompt("Hello"))
    with log.open("ab") as file:
        file.write(b'{"type": "turn/e')
    text = preview_text(log, row_of(log, state="damaged", reason="torn-tail"))
    assert "damaged: its end is cut off." in text and "Hello" in text


def test_the_preview_of_an_unreadable_file_is_one_sentence(homes: Homes) -> None:
    log = put(homes.dsh, "aaaa-1")
    log.write_bytes(b"not a session\n")
    preview = read_preview(log)
    assert preview.error is not None and preview.error.code == "not-a-session"


async def test_moving_shows_the_preview_of_the_next_session(homes: Homes) -> None:
    put(homes.dsh, "aaaa-1", TURN, prompt("Is the fern wet?"), title("First"), age_s=10)
    put(homes.dsh, "bbbb-2", TURN, prompt("Where is the moth?"), title("Second"), age_s=99)
    app = LibraryApp(homes)
    async with app.run_test(size=(160, 30)) as pilot:
        await filled(app, pilot)
        await until(pilot, lambda: "Is the fern wet?" in app.text)
        await pilot.press("down")
        await until(pilot, lambda: "Where is the moth?" in app.text)
        assert "Is the fern wet?" not in app.text


# -- opening


async def test_enter_opens_the_log_of_the_selected_session(homes: Homes) -> None:
    log = put(homes.dsh, "aaaa-1", TURN, title("First"))
    app = LibraryApp(homes)
    async with app.run_test(size=(80, 24)) as pilot:
        await filled(app, pilot)
        await pilot.press("enter")
        await until(pilot, lambda: bool(app.heard))
        assert app.heard == [log]


async def test_a_session_that_cannot_be_opened_says_why_and_the_library_stays(homes: Homes) -> None:
    log = put(homes.dsh, "aaaa-1", TURN)

    def refuse(path: Path) -> None:
        raise SessionUnreadable(path, "no-permission")

    app = LibraryApp(homes, open_path=refuse)
    async with app.run_test(size=(200, 24)) as pilot:
        await filled(app, pilot)
        await pilot.press("enter")
        await until(pilot, lambda: f"{log}: may not be read" in app.text)
        assert app.screen is app.library


async def test_an_empty_library_offers_the_demo(homes: Homes) -> None:
    asked: list[str] = []

    async def demo(tr: Translator) -> str:
        asked.append(tr.lang)
        return "no demo today"

    app = LibraryApp(homes, demo=demo)
    async with app.run_test(size=(80, 24)) as pilot:
        await filled(app, pilot)
        assert "There are no sessions yet. Enter starts the demo" in app.text
        assert "`dsh-tui demo`" in app.text
        await pilot.press("enter")
        await until(pilot, lambda: "no demo today" in app.text)
        await pilot.click("#library-nothing")
        await until(pilot, lambda: asked == ["en", "en"])
        assert app.screen is app.library


async def test_the_offer_names_the_key_in_force(homes: Homes) -> None:
    async def demo(tr: Translator) -> str:
        return ""

    app = LibraryApp(homes, "zh", demo=demo)
    app.library.surroundings = replace(app.library.surroundings, keys=effective_keys({"activate": "f9"}))
    async with app.run_test(size=(80, 24)) as pilot:
        await filled(app, pilot)
        assert "还没有会话。按 F9 开始演示" in app.text


# -- around


async def test_the_preview_stands_beside_the_list_where_there_is_room(homes: Homes) -> None:
    put(homes.dsh, "aaaa-1", TURN, title("First"))
    for width, beside in ((200, True), (80, False)):
        app = LibraryApp(homes)
        async with app.run_test(size=(width, 30)) as pilot:
            await filled(app, pilot)
            listed, preview = app.library._list.region, app.library._preview.region
            assert (preview.x >= listed.right) is beside
            assert (preview.y >= listed.bottom) is not beside


async def test_the_language_changes_while_it_runs(homes: Homes) -> None:
    put(homes.dsh, "aaaa-1", TURN, title("First"))
    app = LibraryApp(homes)
    async with app.run_test(size=(120, 24)) as pilot:
        await filled(app, pilot)
        assert "Workspace" in app.text
        app.library.renew(surroundings("zh"))
        await until(pilot, lambda: "工作目录" in app.text and "会话" in app.text)
        assert "Workspace" not in app.text


async def test_nothing_is_written_in_the_homes(homes: Homes) -> None:
    put(homes.dsh, "aaaa-1", TURN, title("First"))

    def everything() -> dict[str, int]:
        return {str(p): p.stat().st_mtime_ns for home in homes for p in home.rglob("*")}

    before = everything()
    app = LibraryApp(homes)
    async with app.run_test(size=(80, 24)) as pilot:
        await filled(app, pilot)
        await pilot.press("down", "up")
    assert everything() == before


async def test_a_thousand_sessions_are_listed_before_their_logs_are_read(homes: Homes) -> None:
    for number in range(1000):
        put(homes.dsh, f"aaaa-{number:04}", TURN, title(f"Number {number}"), age_s=number)
    started = process_time()
    rows = list(scan(homes))
    model = LibraryModel(surroundings(), NOW)
    model.set_rows(rows)
    assert len(rows) == model.count() == 1000
    assert process_time() - started < 1.5
    assert all(not row.filled and row.title is None for row in rows)
    app = LibraryApp(homes)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.screen is app.library and app.library.model.total == 1000)
        await pilot.press("down", "down")
        await until(pilot, lambda: app.library.selected is not None and app.library._list.cursor == 2)


# -- as the program opens it


async def test_as_the_first_screen_the_list_begins_right_below_its_heading(homes: Homes) -> None:
    put(homes.dsh, "aaaa-1", TURN, title("Water the ferns"))
    async with run_app(settings(), lambda app: LibraryScreen(homes, app.surroundings)) as driver:
        await driver.until(lambda: "Water the ferns" in driver.text())
        rows = driver.rows()
        assert "Workspace" in rows[1] and "Water the ferns" in rows[2]
        # The preview is set off by a rule.
        assert any(set(row.strip()) == {"─"} for row in rows)


async def test_help_lists_what_the_library_can_do_and_nothing_else(homes: Homes) -> None:
    put(homes.dsh, "aaaa-1", TURN, title("Water the ferns"))
    async with run_app(settings(), lambda app: LibraryScreen(homes, app.surroundings)) as driver:
        await driver.until(lambda: "Water the ferns" in driver.text())
        await driver.press("question_mark")
        await driver.until(lambda: "Filter the list" in driver.text())
        assert "Open the session" in driver.text()
        for absent in ("tool change", "inspector", "seq number", "is:error"):
            assert absent not in driver.text()
        await driver.press("L")
        await driver.until(lambda: "筛选列表" in driver.text())


async def test_the_filter_says_what_it_looks_at_and_how_to_end_it(homes: Homes) -> None:
    put(homes.dsh, "aaaa-1", TURN, title("Water the ferns"))
    async with run_app(settings(), lambda app: LibraryScreen(homes, app.surroundings)) as driver:
        await driver.until(lambda: "Water the ferns" in driver.text())
        await driver.press("/")
        await driver.until(lambda: "title, workspace, model or id" in driver.text())
        assert "Esc end the filter" in driver.foot()
        await driver.press("escape")
        await driver.until(lambda: "end the filter" not in driver.foot())
