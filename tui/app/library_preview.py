"""The preview of a session in the library: how it began, how it ended, what happened to its tools.

Only the beginning and the end of a long log are read, for a few hundredths of a second each.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from tui.app.library_words import advice, state_role, workspace_name
from tui.app.surroundings import Surroundings
from tui.blocks.clean import clean, clean_line
from tui.blocks.glyphs import GLYPHS, mark
from tui.blocks.text import EMPTY, Line, Span, line, to_ascii
from tui.blocks.wording import node_text
from tui.blocks.wording_errors import error_text
from tui.blocks.wording_library import state_text
from tui.blocks.wrap import wrap, wrap_bounded
from tui.nodes.chat import AssistantNode, ChatNode, ContextNode, FailureNode, InterruptedNode, UserNode
from tui.nodes.chat_index import Flag, NodeKind
from tui.nodes.chat_nodes import chat_node
from tui.nodes.reading import Reading
from tui.session.errors import SessionUnreadable
from tui.session.library import LibraryRow

_HEAD_SECONDS = 0.03
_TAIL_BYTES = 96 << 10
_PROMPTS = 3
_CHANGES = 3
_TEXT = 4000
_PROMPT_ROWS = 2
_ANSWER_ROWS = 6


class Preview(NamedTuple):
    """What the beginning and the end of a log hold."""

    prompts: tuple[str, ...] = ()
    answer: str = ""
    ending: FailureNode | InterruptedNode | None = None
    """How the last turn ended if not well."""
    changes: tuple[ContextNode, ...] = ()
    """The last tool changes among what was read."""
    error: SessionUnreadable | None = None


def read_preview(log: Path) -> Preview:
    """Read a preview; what cannot be read is told in it, never raised."""
    try:
        head = Reading.open(log)
    except SessionUnreadable as error:
        return Preview(error=error)
    tail: Reading | None = None
    try:
        until = perf_counter() + _HEAD_SECONDS
        while not head.step(0.003) and perf_counter() < until and not _has_prompts(head):
            pass
        if not head.complete:
            tail = head.tail(_TAIL_BYTES)
            if tail is None:
                head.read_all()
            else:
                tail.read_all()
        return _preview(head, tail or head)
    except OSError as error:
        return Preview(error=SessionUnreadable(log, "read-failed", error.strerror or str(error)))
    finally:
        head.log.close()
        if tail is not None:
            tail.log.close()


def _has_prompts(reading: Reading) -> bool:
    return reading.chat.index.kinds.count(NodeKind.USER) >= _PROMPTS


def _preview(head: Reading, end: Reading) -> Preview:
    prompts = [node.content.text for node in _nodes(head, NodeKind.USER) if isinstance(node, UserNode)]
    answer, ending = "", None
    for node in _nodes(end, *_ENDINGS, backwards=True):
        if isinstance(node, AssistantNode):
            answer = node.text
            if answer.strip():
                break
        elif isinstance(node, (FailureNode, InterruptedNode)) and ending is None and not answer:
            ending = node
    changes: list[ContextNode] = []
    for node in _nodes(end, NodeKind.CONTEXT, backwards=True, flag=Flag.MARKED):
        if isinstance(node, ContextNode) and node.notice is not None and len(changes) < _CHANGES:
            changes.append(node)
    return Preview(tuple(prompts), answer[:_TEXT], ending, tuple(reversed(changes)))


_ENDINGS = (NodeKind.ASSISTANT, NodeKind.FAILURE, NodeKind.INTERRUPTED)


def _nodes(reading: Reading, *kinds: NodeKind, backwards: bool = False, flag: int = 0) -> Iterator[ChatNode]:
    """A few nodes of some kinds, from the beginning or from the end."""
    columns = reading.chat.index
    order = range(len(columns) - 1, -1, -1) if backwards else range(len(columns))
    left = 2 * _PROMPTS if backwards else _PROMPTS
    for at in order:
        if columns.kinds[at] in kinds and (not flag or columns.flags[at] & flag):
            yield chat_node(reading, at)
            left -= 1
            if not left:
                return


def preview_lines(
    surroundings: Surroundings, row: LibraryRow, preview: Preview | None, width: int, now_ms: int
) -> list[Line]:
    """The rows of a preview; `preview` is None until it has been read."""
    tr = surroundings.tr
    title = clean_line(row.title) if row.title else tr.t("untitled")
    rows = [*wrap([Span(title, "title")], width)]
    facts = [workspace_name(tr, row.cwd)]
    if row.updated_ms is not None:
        facts.append(tr.relative(row.updated_ms, now_ms))
    if row.events is not None:
        facts.append(tr.n("{n} event", "{n} events", row.events))
    if row.bytes:
        facts.append(tr.size(row.bytes))
    if row.tool_changes:
        facts.append(tr.n("{n} tool change", "{n} tool changes", row.tool_changes))
    facts.extend(clean_line(model) for model in row.models or ())
    rows += wrap([Span(" · ".join(facts), "muted")], width)
    rows += wrap([Span(clean_line(row.id), "faint")], width)
    if row.state != "ok":
        state = tr.t("{state}.", state=state_text(tr, row))
        rows += wrap([Span(state, state_role(row.state)), Span(f" {advice(tr, row)}", "muted")], width)
    if preview is None:
        rows += [EMPTY, line(Span("…", "muted"))] if row.log is not None else []
    else:
        rows += _said(surroundings, row, preview, width)
    rows += [EMPTY, *wrap([Span(clean_line(str(row.log or row.path)), "faint")], width)]
    return [to_ascii(found) for found in rows] if surroundings.ascii_only else rows


def _said(surroundings: Surroundings, row: LibraryRow, preview: Preview, width: int) -> list[Line]:
    tr, rows = surroundings.tr, list[Line]()
    if preview.error is not None:
        # The row itself may have told it already.
        told = preview.error.code == row.reason
        return [] if told else [EMPTY, *wrap([Span(error_text(tr, preview.error), "error")], width)]
    if preview.prompts:
        rows += [EMPTY, line(Span(tr.t("First prompts"), "heading"))]
        for prompt in preview.prompts:
            rows += _bounded(_row(prompt), "user", _PROMPT_ROWS, width, GLYPHS["user"].glyph)
    if preview.changes:
        rows += [EMPTY, line(Span(tr.t("Last tool changes"), "heading"))]
        for change in preview.changes:
            told = _row(node_text(tr, change))
            rows += wrap([mark("tool-change"), Span(f" {told}", "text")], width)
    if preview.answer.strip():
        rows += [EMPTY, line(Span(tr.t("Last answer"), "heading"))]
        rows += _bounded(preview.answer, "assistant", _ANSWER_ROWS, width, "")
    if preview.ending is not None:
        told = _row(node_text(tr, preview.ending))
        rows += [EMPTY, *wrap([mark(preview.ending.kind), Span(f" {told}", "error")], width)]
    return rows


def _row(text: str) -> str:
    return clean_line(text[:_TEXT])


def _bounded(text: str, role: str, most: int, width: int, sign: str) -> list[Line]:
    """The first rows of a text, with an ellipsis where more follows."""
    indent = [Span(f"{sign} " if sign else "  ", role)]
    cleaned = clean(text[:_TEXT]).strip()
    told = wrap_bounded(cleaned, "text" if role == "user" else role, width, most, indent=indent)
    rows = list(told.lines)
    if told.hidden_rows or len(text) > _TEXT:
        rows.append(line(Span("  …", "faint")))
    return rows
