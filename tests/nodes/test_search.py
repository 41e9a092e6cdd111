"""Search within a session: queries, raw spellings, what counts as text, hits as they come."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tui.nodes.chat_index import NodeKind
from tui.nodes.reading import Reading
from tui.nodes.search import Hit, Query, Search
from tui.nodes.trajectory_index import RowKind

RECORDINGS = Path(__file__).parent.parent / "recordings"
HEADER = {
    "type": "session",
    "version": 4,
    "id": "session-0011",
    "createdAt": 1_800_000_000_000,
    "cwd": "/moss",
    "isSeeded": False,
    "delegationDepth": 0,
}
SURFACE = ("user/message", "assistant/message", "developer/message", "tool/result")
Write = Callable[..., Reading]


def user(text: str) -> tuple[str, Any]:
    content = [{"type": "text", "text": text}]
    return "user/message", {"content": content, "source": {"kind": "user"}, "role": "user", "id": "u-1"}


def answer(*blocks: dict[str, Any], stream: list[Any] | None = None) -> tuple[str, Any]:
    message = {"role": "assistant", "content": list(blocks), "source": {"kind": "model", "model": "deep-1"}}
    return "assistant/message", {"turn": 1, "step": 1, "message": message, "stream": stream or []}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(name: str, arguments: str, call_id: str = "toolu_0a0b") -> Iterator[tuple[str, Any]]:
    yield answer({"type": "tool-call", "id": call_id, "name": name, "arguments": arguments})
    yield "tool/call", {"turn": 1, "step": 1, "callId": call_id, "name": name, "arguments": arguments}


def result(words: str, call_id: str = "toolu_0a0b", *, is_error: bool = False) -> tuple[str, Any]:
    message = {"role": "tool", "source": {"kind": "tool", "callId": call_id}, "toolCallId": call_id}
    message |= {"content": [text(words)], "isError": is_error}
    return "tool/result", {"turn": 1, "step": 1, "message": message}


TURN = ("turn/start", {"turn": 1})


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a log of the given events and read it to its end."""

    def write(*events: tuple[str, Any], ensure_ascii: bool = False, read: bool = True) -> Reading:
        rows: list[dict[str, Any]] = [HEADER]
        for seq, (kind, data) in enumerate(events):
            row = {"type": kind, "seq": seq, "time": 1_800_000_000_000 + seq, "data": data}
            rows.append(row | ({"surfaceOp": "append"} if kind in SURFACE else {}))
        path = tmp_path / "session.v4.jsonl"
        lines = [json.dumps(row, ensure_ascii=ensure_ascii, separators=(",", ":")) + "\n" for row in rows]
        path.write_text("".join(lines), encoding="utf-8")
        reading = Reading.open(path)
        return reading.read_all() if read else reading

    return write


def found(reading: Reading, query: str, texts: Callable[[int], str] | None = None) -> list[Hit]:
    search = Search(reading, Query.parse(query), texts)
    while not search.step(60.0):
        pass
    return search.hits


def kinds(reading: Reading, query: str) -> list[str]:
    """The kind of each hit: of its chat node, else of its trajectory row with a leading dot."""
    return [
        NodeKind(reading.chat.index.kinds[hit.chat_index]).name.lower()
        if hit.chat_index is not None
        else "." + RowKind(reading.trajectory.index.kinds[hit.trajectory_index]).public_name
        for hit in found(reading, query)
    ]


# -- queries


def test_words_are_folded_and_each_stands_once() -> None:
    assert Query.parse("  Fern  STRASSE fern Straße ").words == ("fern", "strasse")


def test_a_quotation_is_one_phrase_and_may_stay_open_while_typing() -> None:
    assert Query.parse('wet "North  Lamp" moss').words == ("wet", "north lamp", "moss")
    assert Query.parse('"north la').words == ("north la",)


def test_filters_are_told_from_words() -> None:
    query = Query.parse("is:tool-change is:error tool:Mist kind:assistant turn:3 lamp")
    assert query.is_tool_change and query.is_error
    assert (query.tools, query.kinds, query.turns) == (("mist",), frozenset({"assistant"}), frozenset({3}))
    assert query.words == ("lamp",)


@pytest.mark.parametrize("word", ["is:new", "kind:lamp", "turn:x", "colour:red", "http://a/b", "tool:"])
def test_an_unknown_filter_is_plain_text(word: str) -> None:
    assert Query.parse(word).words == (word,)


def test_an_empty_query_finds_nothing_and_is_done() -> None:
    for nothing in ("", "   ", '""', "·"):
        assert Query.parse(nothing).is_empty
    reading = Reading.open(RECORDINGS / "plain-chat" / "session.v4.jsonl").read_all()
    assert Search(reading, Query.parse(" ")).done


# -- what counts as text


def test_all_words_must_occur_in_one_place(write: Write) -> None:
    reading = write(TURN, user("the north lamp"), user("the south lamp"), user("north"))
    assert [hit.row for hit in found(reading, "LAMP north")] == [1]


def test_a_phrase_goes_over_a_line_end(write: Write) -> None:
    reading = write(TURN, user("one north\n  lamp"), user("lamp north"))
    assert [hit.row for hit in found(reading, '"north lamp"')] == [1]


def test_stream_pieces_keys_and_ids_are_no_text(write: Write) -> None:
    stream = [{"type": "text-chunks", "time0": 1, "index": 0, "dt": [], "texts": ["only-streamed"]}]
    reading = write(TURN, user("fern"), answer(text("moss"), stream=stream))
    for absent in ("only-streamed", "content", "surfaceOp", "u-1", "deep-1"):
        assert found(reading, absent) == []


def test_an_id_is_found_when_it_is_asked_for(write: Write) -> None:
    reading = write(TURN, *call("mist_bed", "{}", "toolu_0a0b0c0d"), result("ok", "toolu_0a0b0c0d"))
    assert kinds(reading, "toolu_0a0b0c0d") == ["tool"]
    assert kinds(reading, "toolu") == []


def test_a_call_and_its_result_are_one_hit_on_the_call(write: Write) -> None:
    reading = write(TURN, *call("mist_bed", '{"bed": "fern"}'), result("fern is wet"))
    (hit,) = found(reading, "fern")
    assert reading.chat.index.kinds[hit.chat_index or 0] == NodeKind.TOOL
    assert reading.trajectory.index.rows[hit.trajectory_index] == hit.row == 2
    assert found(reading, "bed wet") == [hit], "words of arguments and result count together"


def test_reasoning_and_answer_are_hits_of_their_own(write: Write) -> None:
    reading = write(TURN, answer({"type": "reasoning", "text": "a fern?"}, text("A fern."), text("No.")))
    assert kinds(reading, "fern") == ["reasoning", "assistant"]


def test_a_queued_prompt_is_found_once_where_it_was_sent(write: Write) -> None:
    inserted = [user("water the fern")[1]]
    queue = ("agent/inbox/spliced", {"target": "next-turn", "start": 0, "inserted": inserted})
    taken = ("agent/inbox/spliced", {"target": "next-turn", "start": 0, "removedCount": 1, "inserted": []})
    assert kinds(write(queue, TURN, taken, user("water the fern")), "fern") == ["user"]


def test_a_prompt_that_was_taken_back_is_found(write: Write) -> None:
    inserted = [user("water the fern")[1]]
    queue = ("agent/inbox/spliced", {"target": "next-turn", "start": 0, "inserted": inserted})
    back = {"target": "next-turn", "start": 0, "removedCount": 1, "inserted": [], "outcome": "canceled"}
    assert kinds(write(queue, TURN, ("agent/inbox/spliced", back)), "fern") == ["user"]


def test_a_record_without_a_chat_node_is_found_in_the_trajectory(write: Write) -> None:
    reading = write(TURN, ("hook/result", {"output": "hedgehog seen"}))
    (hit,) = found(reading, "hedgehog")
    assert (hit.row, hit.chat_index) == (1, None)


def test_unknown_events_and_broken_lines_are_searched(write: Write, tmp_path: Path) -> None:
    write(TURN, ("night/owl", {"says": "hoot 夜"}))
    path = tmp_path / "session.v4.jsonl"
    path.write_bytes(path.read_bytes() + b'{"type": "broken owl\n')
    reading = Reading.open(path).read_all()
    assert kinds(reading, "hoot") == ["unknown"]
    assert kinds(reading, "night/owl") == ["unknown"]
    assert kinds(reading, '"broken owl"') == ["damage"]


# -- spellings in the raw text


@pytest.mark.parametrize("ensure_ascii", [False, True])
@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("湿度 is 40", "湿度"),
        ("ПРИВЕТ, fern", "привет"),
        ("Straße", "STRASSE"),
        ("the ﬁrst fern", "first"),
        ("290 \N{KELVIN SIGN}", "290 k"),
        ("a 🌿 leaf", "🌿"),
        ("σοφός", "ΣΟΦΌΣ"),
        ("src/main.py", "src/MAIN"),
        ('say "fern" now', 'fern" now'),
        (r"C:\moss\bed", r"moss\bed"),
        ("tab\tand\nline", '"tab and line"'),
    ],
)
def test_every_spelling_of_json_is_found(write: Write, said: str, asked: str, ensure_ascii: bool) -> None:
    reading = write(TURN, user("nothing"), user(said), ensure_ascii=ensure_ascii)
    assert [hit.row for hit in found(reading, asked)] == [2]


@pytest.mark.parametrize("ensure_ascii", [False, True])
def test_arguments_are_found_with_their_escapes_undone(write: Write, ensure_ascii: bool) -> None:
    reading = write(TURN, *call("note", r'{"text": "\u6e7f\u5ea6 \"wet\" a\nb"}'), ensure_ascii=ensure_ascii)
    assert kinds(reading, "湿度") == ["tool"]
    assert kinds(reading, '"a b"') == ["tool"]
    assert kinds(reading, "text") == ["tool"], "the names of arguments are seen"


def test_escaped_letters_of_the_needle_are_found(write: Write, tmp_path: Path) -> None:
    write(TURN, user("fern"))
    path = tmp_path / "session.v4.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"fern"', rb'"\u0066e\u0072N"'))
    assert kinds(Reading.open(path).read_all(), "fern") == ["user"]


# -- filters


def recording(name: str) -> Reading:
    return Reading.open(RECORDINGS / name / "session.v4.jsonl").read_all()


def test_tool_changes_alone_can_be_asked_for() -> None:
    reading = recording("remove-and-restore")
    hits = found(reading, "is:tool-change")
    assert [reading.log.seq(hit.row) for hit in hits] == [change.seq for change in reading.tools.changes]
    assert len(hits) > 1


def test_a_removed_tool_is_found_by_a_description_that_its_row_does_not_hold() -> None:
    reading = recording("many-tools-changed")
    (change,) = reading.tools.changes
    row = reading.log.row_of_seq(change.seq)
    assert row is not None and b"Close a roof vent" not in reading.log.raw(row)
    assert [hit.row for hit in found(reading, '"close a roof vent" is:tool-change')] == [row]


def test_localised_words_are_searched_for_notices_only() -> None:
    reading = recording("many-tools-changed")
    hits = found(reading, "工具变更", lambda node: "工具变更 · 新增 12 个")
    assert [reading.log.type_name(hit.row) for hit in hits if hit.chat_index is not None]
    assert "developer/message" in {reading.log.type_name(hit.row) for hit in hits}
    assert not {"user/message", "assistant/message", "tool/call"} & {
        reading.log.type_name(hit.row) for hit in hits
    }


def test_calls_of_one_tool_and_its_changes_can_be_asked_for() -> None:
    reading = recording("single-tool-added")
    hits = kinds(reading, "tool:mist_bed")
    assert hits[0] == "context" and set(hits[1:]) == {"tool"}


def test_errors_of_one_turn_can_be_asked_for() -> None:
    reading = recording("rejected-update")
    failed = [turn.number for turn in reading.turns.turns if turn.reason == "error"]
    assert len(failed) == 5
    for number in failed:
        assert "failure" in kinds(reading, f"is:error turn:{number}")
    assert kinds(reading, "is:error turn:1") == []


def test_a_kind_of_node_or_row_can_be_asked_for(write: Write) -> None:
    reading = write(TURN, user("fern"), answer({"type": "reasoning", "text": "hm"}, text("moss")))
    assert kinds(reading, "kind:reasoning") == ["reasoning"]
    assert kinds(reading, "kind:assistant") == ["reasoning", "assistant"], "both are of an assistant row"
    assert kinds(reading, "kind:event") == [".event"]
    assert kinds(reading, "kind:user moss") == []


# -- as it goes


def test_hits_come_in_order_and_in_slices(write: Write) -> None:
    reading = write(TURN, *(user(f"fern {n} " + "x" * 5000) for n in range(400)))
    search = Search(reading, Query.parse("fern"))
    assert not search.step(0.0)
    assert 0 < search.progress < 1
    while not search.hits:
        search.step(0.0)
    assert len(search.hits) < 400
    while not search.step(0.0):
        pass
    assert [hit.row for hit in search.hits] == list(range(1, 401))
    assert search.progress == 1


def test_a_search_goes_on_while_the_log_is_being_read(write: Write) -> None:
    calls = [*call("mist_bed", '{"bed": "fern"}')]
    filler = [user("x" * 3000) for _ in range(100)]
    reading = write(TURN, *calls, *filler, result("it is wetter"), user("wetter fern"), read=False)
    search = Search(reading, Query.parse("wetter fern"))
    assert not search.step(0.01)
    reading.step(0.0)
    assert not reading.complete
    assert not search.step(0.05)
    reading.read_all()
    while not search.step(1.0):
        pass
    names = [reading.log.type_name(hit.row) for hit in search.hits]
    assert names == ["tool/call", "user/message"], "the call is complete only with its late result"


def test_going_from_hit_to_hit_runs_around_the_ends(write: Write) -> None:
    reading = write(TURN, user("fern"), user("moss"), user("fern"), ("hook/result", {"output": "fern"}))
    search = Search(reading, Query.parse("fern"))
    while not search.step(1.0):
        pass
    rows = [hit.row for hit in search.hits]
    assert rows == [1, 3, 4]
    assert search.beside(1, trajectory=1) == 1
    assert search.beside(1, trajectory=4) == 0
    assert search.beside(-1, trajectory=1) == 2
    moss = reading.chat.index.nodes_of_row(2)[0]
    assert search.beside(1, chat=moss) == 1
    assert search.beside(1, chat=moss + 1) == 0, "the Chat pane does not show the hook"


def test_needles_at_the_end_of_huge_outputs_are_found(shared: Path) -> None:
    (log,) = (shared / "bugs" / "cases" / "B17-huge-output").rglob("*.jsonl.zstd")
    reading = Reading.open(log).read_all()
    assert kinds(reading, "NEEDLE-1") == ["tool"]
    assert kinds(reading, "needle-2") == ["tool"]


def test_the_same_places_are_found_in_both_encodings() -> None:
    for query in ("fern", "moss 苔", "is:error", "17"):
        plain = recording("tool-use")
        packed = Reading.open(RECORDINGS / "tool-use" / "zstd" / "session.v4.jsonl.zstd").read_all()
        assert kinds(plain, query) == kinds(packed, query)
        assert kinds(plain, query)
