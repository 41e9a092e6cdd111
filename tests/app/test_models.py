"""Which nodes and rows the panes show, and where."""

from dataclasses import replace

import pytest

from tests.support.app_driver import recording
from tui.app.chat_model import ChatModel
from tui.app.part import Part
from tui.app.reading_model import ReadingModel
from tui.app.trajectory_model import TrajectoryModel
from tui.blocks.text import plain
from tui.i18n import translator
from tui.nodes.chat_index import NodeKind
from tui.nodes.reading import Reading
from tui.nodes.trajectory import is_bookkeeping
from tui.nodes.trajectory_index import RowKind

NAMES = ("single-tool-added", "many-tools-changed", "remove-and-restore", "rejected-update", "tool-use")


def reading(name: str) -> Reading:
    return Reading.open(recording(name)).read_all()


def models(told: Reading, part: Part | None = None) -> list[ReadingModel]:
    english = translator("en")
    return [ChatModel(told, english, part=part), TrajectoryModel(told, english, part=part)]


def text(model: ReadingModel, block: int, width: int = 100) -> str:
    return "\n".join(plain(line) for line in model.layout(block, width))


PARTS = (
    Part(),
    Part(bookkeeping=True),
    Part(only_tool_changes=True),
    Part(calls_folded=True),
    Part(all_turns_folded=True),
    Part(folded_turns=frozenset({2})),
)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", NAMES)
def test_blocks_keys_and_items_find_each_other(name: str, part: Part) -> None:
    told = reading(name)
    for model in models(told, part):
        keys = [model.key(block) for block in range(model.count())]
        assert len(set(keys)) == len(keys)
        for block, key in enumerate(keys):
            assert model.index_of(key) == block
            item = model.item_of(block)
            assert item is not None
            assert model.block_of(item) == block
            assert model.nearest_block(item) == block


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [28, 57, 76, 120])
def test_no_row_is_wider_than_the_pane(name: str, width: int) -> None:
    for model in models(reading(name), Part(bookkeeping=True)):
        for block in range(model.count()):
            assert all(line.cells <= width for line in model.layout(block, width))


def test_only_tool_changes_leaves_tool_changes_and_headers() -> None:
    told = reading("remove-and-restore")
    chat, trajectory = models(told, Part(only_tool_changes=True))
    assert [
        told.log.seq(told.chat.index.rows[chat.item_of(block) or 0]) for block in range(chat.count())
    ] == [
        28,
        39,
        56,
        73,
        90,
        101,
    ]
    shown = [
        told.log.seq(told.trajectory.index.rows[trajectory.item_of(block) or 0])
        for block in range(trajectory.count())
    ]
    assert shown == [7, 27, 28, 38, 39, 55, 56, 72, 73, 89, 90, 100, 101]


def test_bookkeeping_is_left_out_of_the_trajectory_unless_asked_for() -> None:
    told = reading("many-tools-changed")
    _, without = models(told)
    _, with_all = models(told, Part(bookkeeping=True))
    assert with_all.count() == len(told.trajectory.index)
    left_out = [item for item in range(with_all.count()) if without.block_of(item) is None]
    assert left_out
    assert all(is_bookkeeping(told, item) for item in left_out)


def test_folded_turns_leave_their_headings() -> None:
    told = reading("many-tools-changed")
    chat, trajectory = models(told, Part(all_turns_folded=True))
    kinds = [told.chat.index.kinds[chat.item_of(block) or 0] for block in range(chat.count())]
    assert kinds.count(NodeKind.TURN) == 3
    assert NodeKind.TOOL not in kinds
    assert NodeKind.ASSISTANT not in kinds
    rows = [
        told.trajectory.index.kinds[trajectory.item_of(block) or 0] for block in range(trajectory.count())
    ]
    assert RowKind.TOOL not in rows
    assert RowKind.ASSISTANT not in rows


def test_one_folded_turn_leaves_the_others_open() -> None:
    told = reading("many-tools-changed")
    chat, trajectory = models(told, Part(folded_turns=frozenset({2})))
    shown = "\n".join(text(chat, block) for block in range(chat.count()))
    assert "Gauge read, vent v1 open." in shown
    assert "Counted and sown." not in shown
    assert "Fourteen tools are on the shelf." in shown
    rows = "\n".join(text(trajectory, block) for block in range(trajectory.count()))
    assert "open_vent" in rows
    assert "sow_tray" not in rows


def test_turning_one_turn_while_all_are_folded_opens_only_that_one() -> None:
    part = Part(all_turns_folded=True).with_turn_toggled(2, [1, 2, 3])
    assert [part.folds(turn) for turn in (1, 2, 3)] == [True, False, True]
    assert not part.with_turns_toggled().has_folds
    assert Part().with_turns_toggled().all_turns_folded


def test_folded_calls_leave_the_trajectory_only() -> None:
    told = reading("many-tools-changed")
    chat, trajectory = models(told, Part(calls_folded=True))
    assert "read_gauge" in "\n".join(text(chat, block) for block in range(chat.count()))
    rows = [
        told.trajectory.index.kinds[trajectory.item_of(block) or 0] for block in range(trajectory.count())
    ]
    assert RowKind.TOOL not in rows


def test_a_hidden_item_is_stood_for_by_the_one_shown_before_it() -> None:
    told = reading("many-tools-changed")
    chat, _ = models(told, Part(folded_turns=frozenset({2})))
    headings = [
        block
        for block in range(chat.count())
        if told.chat.index.kinds[chat.item_of(block) or 0] == NodeKind.TURN
    ]
    hidden = next(item for item in range(chat.items()) if chat.block_of(item) is None)
    assert chat.nearest_block(hidden) == headings[1]


def test_a_node_opens_and_folds_and_its_estimate_follows() -> None:
    told = reading("many-tools-changed")
    chat = ChatModel(told, translator("en"))
    notice = next(
        block
        for block in range(chat.count())
        if "12 added, 3 removed" in text(chat, block) and told.chat.index.kinds[block] == NodeKind.CONTEXT
    )
    assert len(chat.layout(notice, 80)) <= 2
    assert chat.toggle(notice)
    assert len(chat.layout(notice, 80)) > 15
    assert not chat.set_open(notice, is_open=True)
    assert chat.set_open(notice, is_open=False)
    assert len(chat.layout(notice, 80)) <= 2


def test_opening_all_opens_what_was_folded_by_hand_too() -> None:
    told = reading("many-tools-changed")
    chat = ChatModel(told, translator("en"))
    before = sum(len(chat.layout(block, 80)) for block in range(chat.count()))
    chat.open_all(is_open=True)
    opened = sum(len(chat.layout(block, 80)) for block in range(chat.count()))
    chat.open_all(is_open=False)
    folded = sum(len(chat.layout(block, 80)) for block in range(chat.count()))
    assert folded <= before < opened


@pytest.mark.parametrize("name", NAMES)
def test_bulk_estimates_count_every_block(name: str) -> None:
    told = reading(name)
    for part in PARTS:
        for model in (
            ChatModel(told, translator("en"), part=part),
            TrajectoryModel(told, translator("en"), part=part),
        ):
            heights = model.estimates(80)
            assert len(heights) == model.count()
            assert all(height >= 1 for height in heights)


def test_another_language_leaves_what_is_open_open() -> None:
    told = reading("many-tools-changed")
    chat = ChatModel(told, translator("en"))
    notice = next(block for block in range(chat.count()) if "Tools changed" in text(chat, block))
    chat.toggle(notice)
    chinese = chat.with_language(translator("zh"))
    assert "工具变更 · 新增 12 个，移除 3 个" in text(chinese, notice)
    assert "weigh_crate" in text(chinese, notice)
    assert replace(chinese.part) == chat.part
