"""The library: one row for every session folder, and what reading a whole log adds."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard

from tui.session.library import LibraryRow, Shelf, arrange, fill, fill_steps, quick_row, scan
from tui.session.naming import parse_log_name, project_folder, session_folder
from tui.session.store import Homes


@pytest.fixture
def homes(tmp_path: Path) -> Homes:
    return Homes(tmp_path / "own", tmp_path / "dsh")


def header(session_id: str, **more: Any) -> bytes:
    fields: dict[str, Any] = {
        "type": "session",
        "version": 4,
        "id": session_id,
        "createdAt": 1_800_000_000_000,
        "cwd": "/moss",
    }
    fields |= {"isSeeded": False, "delegationDepth": 0} | more
    return json.dumps({key: value for key, value in fields.items() if value is not None}).encode() + b"\n"


def events(*items: tuple[str, Any]) -> bytes:
    lines: list[bytes] = []
    for seq, (kind, data) in enumerate(items):
        row: dict[str, Any] = {"type": kind, "seq": seq, "time": 1_800_000_000_000 + seq, "data": data}
        if kind in ("developer/message", "user/message"):
            row["surfaceOp"] = "append"
        lines.append(json.dumps(row).encode() + b"\n")
    return b"".join(lines)


def folder(home: Path, session_id: str, name: str = "session.v4.jsonl", data: bytes | None = None) -> Path:
    place = home / "sessions" / project_folder("/moss") / session_folder(session_id)
    place.mkdir(parents=True, exist_ok=True)
    (place / name).write_bytes(header(session_id) if data is None else data)
    return place


def request_header(model: str) -> tuple[str, Any]:
    return "request/header", {"header": {"config": {"provider": "p", "model": model}}, "reason": "initial"}


def developer(*blocks: str) -> tuple[str, Any]:
    content = [{"type": kind, "toolName": "mist"} for kind in blocks]
    message = {"role": "developer", "id": "d", "source": {"kind": "tool-registry"}, "content": content}
    return "developer/message", {"turn": 1, "step": 1, "message": message}


def only(homes: Homes) -> LibraryRow:
    (row,) = scan(homes)
    return row


def frame(text: bytes) -> bytes:
    stream = zstandard.ZstdCompressor(write_checksum=True).compressobj()
    return stream.compress(text) + stream.flush()


def test_a_row_tells_what_the_first_line_tells(homes: Homes) -> None:
    data = header("session-a", parentSession="session-b", origin="subagent") + events(
        ("turn/start", {"turn": 1})
    )
    place = folder(homes.own, "session-a", data=data)
    os.utime(place / "session.v4.jsonl", ns=(7_000_000_000, 7_000_000_000))
    assert only(homes) == LibraryRow(
        id="session-a",
        path=place,
        store="own",
        state="ok",
        log=place / "session.v4.jsonl",
        format_version=4,
        cwd="/moss",
        created_ms=1_800_000_000_000,
        updated_ms=7_000,
        bytes=len(data),
        parent="session-b",
        origin="subagent",
    )


def test_reading_the_log_adds_title_models_changes_and_count(homes: Homes) -> None:
    body = events(
        request_header("minnow-1"),
        ("session/title", {"title": "First", "messageSeqs": [], "source": {"kind": "user"}}),
        developer("tool-addition", "tool-removal"),
        request_header("minnow-2"),
        request_header("minnow-1"),
        developer("text"),
        developer("tool-removal"),
        ("session/title", {"title": "Second \ud83d", "messageSeqs": [], "source": {"kind": "user"}}),
    )
    folder(homes.dsh, "session-a", data=header("session-a") + body)
    row = only(homes)
    assert (row.title, row.models, row.tool_changes, row.events, row.filled) == (
        None,
        None,
        None,
        None,
        False,
    )
    assert fill(row) == msgspec.structs.replace(
        row,
        title="Second \ufffd",
        models=("minnow-1", "minnow-2"),
        tool_changes=2,
        events=8,
        filled=True,
    )


def test_filling_goes_in_steps_and_can_be_left(homes: Homes) -> None:
    body = events(*[("turn/start", {"turn": n + 1, "pad": "x" * 200}) for n in range(100_000)])
    folder(homes.dsh, "session-a", data=header("session-a") + body)
    steps = fill_steps(only(homes))
    share = next(steps)
    assert 0 < share < 1
    steps.close()
    assert fill(only(homes)).events == 100_000


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "zstd"])
def test_a_session_of_a_header_only_is_empty(homes: Homes, packed: bool) -> None:
    data = header("session-a")
    folder(homes.dsh, "session-a", "session.v4.jsonl" + ".zstd" * packed, frame(data) if packed else data)
    row = only(homes)
    assert (row.state, row.reason, row.id, row.events) == ("empty", "no-events", "session-a", 0)
    assert fill(row).state == "empty"


def test_a_folder_without_a_log_and_a_log_without_bytes_are_empty(homes: Homes) -> None:
    (homes.dsh / "sessions" / "--moss--" / "session-a").mkdir(parents=True)
    folder(homes.dsh, "session-b", data=b"")
    assert [(row.id, row.state, row.reason) for row in scan(homes)] == [
        ("session-a", "empty", "no-log"),
        ("session-b", "empty", "empty-file"),
    ]


@pytest.mark.parametrize(
    ("name", "data", "state", "reason"),
    [
        ("session.jsonl", header("session-a", version=0, isSeeded=None), "old-format", "old-format"),
        ("session.v3.jsonl", header("session-a", version=3), "old-format", "old-format"),
        ("session.v5.jsonl", header("session-a", version=5), "newer-format", "newer-format"),
        ("session.v4.jsonl", b"not json\n", "unreadable", "not-a-session"),
        ("session.v4.jsonl", header("session-a")[:30], "unreadable", "no-header"),
        ("session.v4.jsonl", header("session-a", colour=1), "damaged", "bad-header"),
    ],
)
def test_what_dsh_would_not_open_is_a_row_with_its_reason(
    homes: Homes, name: str, data: bytes, state: str, reason: str
) -> None:
    folder(homes.dsh, "session-a", name, data)
    row = only(homes)
    assert (row.id, row.state, row.reason) == ("session-a", state, reason)
    named = parse_log_name(name)
    assert named is not None
    assert row.format_version == named.version
    again = fill(row)
    assert (again.state, again.reason, again.filled) == (state, reason, True)


def test_an_older_log_still_tells_folder_and_time(homes: Homes) -> None:
    folder(
        homes.dsh, "session-a", "session.v2.jsonl", header("session-a", version=2, parentSession="session-b")
    )
    row = only(homes)
    assert (row.cwd, row.created_ms, row.parent) == ("/moss", 1_800_000_000_000, "session-b")


def test_damage_behind_the_header_is_found_when_the_log_is_read(homes: Homes) -> None:
    body = events(("turn/start", {"turn": 1}), ("turn/start", {"turn": 2}))
    folder(homes.dsh, "session-a", data=header("session-a") + body + b'{"type":"turn/st')
    row = only(homes)
    assert row.state == "ok"
    assert (fill(row).state, fill(row).reason, fill(row).events) == ("damaged", "torn-tail", 2)


def test_a_log_file_directly_in_a_project_folder_is_a_row(homes: Homes) -> None:
    project = homes.dsh / "sessions" / "--moss--"
    project.mkdir(parents=True)
    (project / "lone.jsonl").write_bytes(header("session-a"))
    (project / "lone.jsonl.tmp").write_bytes(header("session-b"))
    (project / "notes.txt").write_bytes(b"x")
    row = only(homes)
    assert (row.id, row.path) == ("session-a", project / "lone.jsonl")


def refuse_folder(monkeypatch: pytest.MonkeyPatch, refused: Path) -> None:
    real = os.scandir

    def scandir(path: Any) -> Any:
        if Path(path) == refused:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)


@pytest.mark.parametrize("depth", ["session", "project", "sessions"])
def test_a_folder_that_may_not_be_read_is_a_row_that_says_so(
    homes: Homes, monkeypatch: pytest.MonkeyPatch, depth: str
) -> None:
    place = folder(homes.dsh, "session-a")
    refused = {"session": place, "project": place.parent, "sessions": place.parent.parent}[depth]
    refuse_folder(monkeypatch, refused)
    row = only(homes)
    assert (row.path, row.state, row.reason, row.detail) == (
        refused,
        "unreadable",
        "no-permission",
        "Permission denied",
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_without_any_permission_is_a_row(homes: Homes) -> None:
    place = folder(homes.dsh, "session-a")
    place.chmod(0)
    try:
        assert (only(homes).state, only(homes).reason) == ("unreadable", "no-permission")
    finally:
        place.chmod(0o700)


def test_a_log_that_is_a_dangling_link_is_a_row(homes: Homes) -> None:
    place = homes.dsh / "sessions" / "--moss--" / "session-a"
    place.mkdir(parents=True)
    (place / "session.v4.jsonl").symlink_to(place / "nowhere")
    row = only(homes)
    assert (row.id, row.state, row.reason) == ("session-a", "unreadable", "missing")


def test_only_first_lines_are_read_for_the_list(homes: Homes, monkeypatch: pytest.MonkeyPatch) -> None:
    folder(homes.dsh, "session-a", data=header("session-a") + b"x" * 20_000_000)
    asked: list[int] = []
    real = os.pread

    def pread(fd: int, count: int, offset: int) -> bytes:
        asked.append(count)
        return real(fd, count, offset)

    monkeypatch.setattr(os, "pread", pread)
    assert only(homes).state == "ok"
    assert 0 < sum(asked) <= 256 * 1024


def row(session_id: str, updated: int, parent: str | None = None) -> LibraryRow:
    return LibraryRow(
        id=session_id, path=Path(session_id), store="dsh", state="ok", updated_ms=updated, parent=parent
    )


def ids(shelves: tuple[Shelf, ...]) -> list[Any]:
    return [[shelf.row.id, ids(shelf.children)] if shelf.children else shelf.row.id for shelf in shelves]


def test_children_and_forks_stand_below_their_parents_newest_first() -> None:
    rows = [
        row("old", 1),
        row("new", 50),
        row("child-1", 60, "old"),
        row("child-2", 70, "old"),
        row("grandchild", 5, "child-1"),
        row("orphan", 10, "nobody"),
    ]
    assert ids(arrange(rows)) == [["old", ["child-2", ["child-1", ["grandchild"]]]], "new", "orphan"]


def test_rows_that_name_each_other_as_parents_are_all_there() -> None:
    rows = [row("a", 3, "b"), row("b", 2, "a"), row("self", 1, "self"), row("c", 9, "a")]
    flat = Counter[str]()
    todo = list(arrange(rows))
    while todo:
        shelf = todo.pop()
        flat[shelf.row.id] += 1
        todo.extend(shelf.children)
    assert flat == Counter(["a", "b", "c", "self"])


def test_a_long_line_of_forks_is_arranged() -> None:
    rows = [row("0", 0), *(row(str(n), n, str(n - 1)) for n in range(1, 3000))]
    (root,) = arrange(rows)
    assert (root.row.id, root.latest_ms) == ("0", 2999)


def test_nothing_of_a_reported_store_is_hidden(shared: Path, tmp_path: Path) -> None:
    case = shared / "bugs" / "cases" / "B09-session-list"
    expected = json.loads((case / "expected-rows.json").read_text())
    rows = [fill(item) for item in scan(Homes(tmp_path / "own", case / "home"))]
    assert len(rows) == expected["rows"]
    kinds = Counter(
        {
            "header-frame": "single frame",
            "no-log": "no log",
            "no-header": "unreadable header",
            "no-events": "empty",
            "empty-file": "empty",
        }.get(item.reason or "", item.state)
        for item in rows
    )
    assert kinds == expected["states"]
    (child,) = [shelf for root in arrange(rows) for shelf in root.children]
    assert (child.row.origin, child.row.parent) == ("subagent", "session-37a4bf24a23f57c2afad202fd8332140")
    assert [item.id for item in rows if item.state == "ok" and item.cwd is None] == [
        "session-8f451c9cbac059d5ad9d0c1c0c437e86"
    ]
    by_reason = {item.reason: item for item in rows}
    assert by_reason["header-frame"].state == "damaged"
    assert by_reason["header-frame"].events == 29
    assert by_reason["no-header"].state == "unreadable"


@pytest.mark.parametrize("case", ["closers-then-live", "replayed", "hole"])
def test_reported_trouble_with_numbers_shows_as_damage(shared: Path, tmp_path: Path, case: str) -> None:
    home = shared / "bugs" / "cases" / "B07-seq-trouble" / "home" / case
    (item,) = scan(Homes(tmp_path / "own", home))
    full = fill(item)
    assert full.state == "damaged"
    assert (full.reason or "").startswith("seq-")


def test_a_recorded_session_shows_what_its_log_holds(shared: Path, tmp_path: Path) -> None:
    recording = shared / "recordings" / "many-tools-changed"
    (item,) = scan(Homes(tmp_path / "own", recording))
    lines = [json.loads(line) for line in (item.log or Path()).read_bytes().splitlines()[1:]]
    changes = [
        event
        for event in lines
        if event["type"] == "developer/message"
        and any(block["type"].startswith("tool-") for block in event["data"]["message"]["content"])
    ]
    titles = [event["data"]["title"] for event in lines if event["type"] == "session/title"]
    full = fill(item)
    assert (full.events, full.tool_changes) == (len(lines), len(changes))
    assert full.title == (titles[-1] if titles else None)
    assert full.state == "ok"
    (packed,) = scan(Homes(tmp_path / "own", recording / "zstd"))
    assert fill(packed).tool_changes == full.tool_changes


def test_a_lone_file_is_a_row_too(tmp_path: Path) -> None:
    path = tmp_path / "copy.jsonl"
    path.write_bytes(header("session-a"))
    assert (quick_row(path, "file").id, quick_row(path, "file").store) == ("session-a", "file")
