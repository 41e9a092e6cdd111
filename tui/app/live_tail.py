"""What stands below the recorded nodes of a running turn: the answer as it streams, block by block.

The blocks go by the stream's own numbers (loop-and-adapters §1.9) and are gone the moment the event that
holds the whole answer is in the log. Nothing here is a truth of its own: it is what the next event will say.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from tui.app.stream_layout import StreamLayout
from tui.app.stream_text import CleanLines, PlainRows
from tui.blocks.chat_layout import gap_before
from tui.blocks.clean import clean_line
from tui.blocks.glyphs import mark
from tui.blocks.layout import GUTTER, Layout, gutter, heading
from tui.blocks.text import EMPTY, Line, Span, to_ascii
from tui.blocks.wording import words
from tui.blocks.wording_names import name_text
from tui.nodes.notices import tool_name

TailKind: TypeAlias = Literal["reasoning", "assistant", "tool"]

REASONING_ROWS: Final = 6
"""Rows of running reasoning that are shown unless it is opened."""
_ARGUMENT_CHARS: Final = 400
_KEPT_ANSWERS: Final = 4
_KINDS: Final[Mapping[str, TailKind]] = {"text": "assistant", "reasoning": "reasoning", "tool-call": "tool"}


class TailBlock:
    """One block of the answer."""

    def __init__(self, kind: TailKind, begun_ms: int) -> None:
        self.kind: TailKind = kind
        self.begun_ms = begun_ms
        self.ended_ms: int | None = None
        self.name = ""
        self.is_open: bool | None = None
        """Opened or folded by hand."""
        self.characters = 0
        self._pieces: list[str] = []
        self._fresh: list[str] = []
        self._width = 0
        self._stream: StreamLayout | None = None
        self._lines: CleanLines | None = None
        self._plain: PlainRows | None = None
        self._final: tuple[int, list[Line]] | None = None

    @property
    def text(self) -> str:
        """All that came so far."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def feed(self, piece: str) -> None:
        """Take a piece."""
        self._pieces.append(piece)
        self._fresh.append(piece)
        self.characters += len(piece)

    def replace(self, text: str) -> None:
        """Take the whole block, which counts for more than its pieces."""
        if text != self.text:
            self._pieces, self._fresh = [text], [text]
            self.characters = len(text)
            self._width = 0

    def stream(self, layout: Layout) -> StreamLayout:
        """The block as Markdown, fed with everything that came."""
        if self._stream is None or self._width != layout.width:
            self._stream, self._fresh = StreamLayout(layout.width, indent=GUTTER), [self.text]
        self._width = layout.width
        self._stream.feed("".join(self._fresh))
        self._fresh = []
        return self._stream

    def finished_rows(self, layout: Layout) -> list[Line]:
        """The rows of the whole block as Markdown; nothing is fed any more."""
        if self._final is None or self._final[0] != layout.width:
            self._final = (layout.width, self.stream(layout).finish())
            self._stream = None
        return self._final[1]

    def plain_rows(self, layout: Layout) -> list[Line]:
        """The block as plain rows."""
        if self._plain is None or self._lines is None or self._width != layout.width:
            self._plain = PlainRows(layout.width, "reasoning", indent=[Span(" " * GUTTER)])
            self._lines, self._fresh = CleanLines(), [self.text]
        self._width = layout.width
        self._plain.add(self._lines.feed("".join(self._fresh)))
        self._fresh = []
        return self._plain.rows(self._lines.partial)


class LiveTail:
    """The blocks of the answer that streams now, in their order."""

    def __init__(self) -> None:
        self.blocks: list[TailBlock] = []
        self._by_index: dict[int, TailBlock] = {}
        self._finished: OrderedDict[tuple[int, int], TailBlock] = OrderedDict()
        """Blocks of the latest answers by seq and position: their rows need not be made again."""

    def __len__(self) -> int:
        return len(self.blocks)

    @property
    def characters(self) -> int:
        """Characters that came so far."""
        return sum(block.characters for block in self.blocks)

    def clear(self) -> None:
        """Forget the answer: it was recorded or given up."""
        self.blocks = []
        self._by_index = {}

    def take(self, time_ms: int, chunk: Mapping[str, Any]) -> None:
        """Take one chunk of the stream."""
        index = chunk.get("index")
        if not isinstance(index, int):
            return
        match chunk.get("type"):
            case "text-delta" | "reasoning-delta":
                kind = _KINDS[str(chunk["type"]).removesuffix("-delta")]
                self._block(index, kind, time_ms).feed(str(chunk.get("text", "")))
            case "tool-call-delta":
                block = self._block(index, "tool", time_ms)
                block.name = str(chunk.get("name") or block.name)
                block.feed(str(chunk.get("argumentsDelta", "")))
            case "block-end":
                self._end(index, time_ms, chunk.get("block"))
            case _:
                pass

    def _block(self, index: int, kind: TailKind, time_ms: int) -> TailBlock:
        block = self._by_index.get(index)
        if block is None:
            for other in self.blocks:
                other.ended_ms = time_ms if other.ended_ms is None else other.ended_ms
            block = self._by_index[index] = TailBlock(kind, time_ms)
            self.blocks.append(block)
        return block

    def _end(self, index: int, time_ms: int, whole: Any) -> None:
        block = self._by_index.get(index)
        if block is None:
            return
        block.ended_ms = time_ms
        if isinstance(whole, dict) and block.kind != "tool":
            text: object = whole.get("text")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            if isinstance(text, str):
                block.replace(text)

    def keep(self, seq: int, content: Sequence[Any]) -> None:
        """Remember the rows of an answer that was recorded as the event `seq`."""
        texts = {block.text: block for block in self.blocks if block.kind == "assistant"}
        for position, entry in enumerate(content):
            block = texts.get(entry.get("text", "")) if entry.get("type") == "text" else None
            if block is not None:
                self._finished[seq, position] = block
        while len(self._finished) > _KEPT_ANSWERS:
            self._finished.popitem(last=False)

    def finished_rows(self, seq: int, position: int, text: str, layout: Layout) -> list[Line]:
        """The rows of a recorded answer, whole, as they stood while it came."""
        block = self._finished.get((seq, position))
        if block is None:
            block = TailBlock("assistant", 0)
            block.feed(text)
            self._finished[seq, position] = block
            while len(self._finished) > _KEPT_ANSWERS:
                self._finished.popitem(last=False)
        return block.finished_rows(layout)

    def rows(self, at: int, layout: Layout) -> list[Line]:
        """The rows of a block with the blank one above it; `layout.previous` stands above the first."""
        block = self.blocks[at]
        previous = self.blocks[at - 1].kind if at else layout.previous
        match block.kind:
            case "assistant":
                rows = block.stream(layout).rows()
            case "reasoning":
                rows = _reasoning(block, layout)
            case "tool":
                rows = [_call(block, layout)]
        if layout.ascii:
            rows = [to_ascii(row) for row in rows]
        return [EMPTY, *rows] if gap_before(block.kind, previous) else rows or [EMPTY]

    def is_expandable(self, at: int) -> bool:
        """Whether a block can be opened and folded."""
        return self.blocks[at].kind == "reasoning"

    def toggle(self, at: int) -> bool:
        """Open or fold a block; False if that makes no difference."""
        if not self.is_expandable(at):
            return False
        block = self.blocks[at]
        block.is_open = not block.is_open
        return True


def _reasoning(block: TailBlock, layout: Layout) -> list[Line]:
    tr = layout.tr
    sign = mark("open" if block.ended_ms is None or block.is_open else "closed", layout.ascii)
    title = tr.t("Thinking…")
    if block.ended_ms is not None:
        took, size = tr.duration(block.ended_ms - block.begun_ms), words(tr, block.text)
        title = tr.t("Thought for {time} · {size}", time=took, size=size)
    rows = heading(layout, [Span(f"{sign.text} ", "reasoning")], [Span(title, "reasoning")])
    if block.ended_ms is not None and not block.is_open:
        return rows
    body = block.plain_rows(layout)
    if not block.is_open and len(body) > REASONING_ROWS:
        body = body[-REASONING_ROWS:]
    return [*rows, *body]


def _call(block: TailBlock, layout: Layout) -> Line:
    tr = layout.tr
    server, own = tool_name(block.name)
    title = [Span(f"{name_text(server)} · ", "muted")] if server else []
    title.append(Span(name_text(own) or "?", "tool"))
    gist = clean_line(block.text[-_ARGUMENT_CHARS:] if block.characters > _ARGUMENT_CHARS else block.text)
    said = tr.t("being written") if block.ended_ms is None else tr.t("waits for its turn")
    right = [Span(said, "muted")]
    return heading(layout, [gutter("not-started", layout)], title, gist=[Span(gist, "muted")], right=right)[0]
