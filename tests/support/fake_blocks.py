"""Block models that need no session: numbered blocks of varied heights, some hidden or without a cursor."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Sequence

from textual.app import App, ComposeResult

from tui.app import themes
from tui.app.block_model import BlockModel
from tui.app.block_view import BlockView
from tui.blocks.text import Line, Span, line


def varied_height(number: int) -> int:
    """1 to 9 rows, and every 50th block 70 rows."""
    return 70 if number % 50 == 49 else 1 + number * 7919 % 9


class FakeBlocks:
    """`count` blocks; block `first + i` has the key `first + i`.

    Args:
        count: blocks.
        height: rows of block number n.
        estimated: what `estimate` says of block number n; its height when None.
        hidden: numbers that take no row.
        first: number of the first block.
    """

    def __init__(
        self,
        count: int,
        *,
        height: Callable[[int], int] = varied_height,
        estimated: Callable[[int], int] | None = None,
        hidden: Callable[[int], bool] = lambda number: False,
        selectable: Callable[[int], bool] = lambda number: True,
        first: int = 0,
    ) -> None:
        self.numbers = range(first, first + count)
        self.height = height
        self.estimated = estimated or height
        self.hidden = hidden
        self.is_selectable = selectable
        self.heights: dict[int, int] = {}
        self.layouts: list[int] = []

    def grow(self, count: int) -> None:
        """Add blocks at the end."""
        self.numbers = range(self.numbers.start, self.numbers.stop + count)

    def count(self) -> int:
        return len(self.numbers)

    def key(self, index: int) -> Hashable:
        return self.numbers[index]

    def index_of(self, key: Hashable) -> int | None:
        return self.numbers.index(key) if isinstance(key, int) and key in self.numbers else None

    def estimate(self, index: int, width: int) -> int:
        number = self.numbers[index]
        return 0 if self.hidden(number) else max(1, self.heights.get(number, self.estimated(number)))

    def layout(self, index: int, width: int) -> Sequence[Line]:
        number = self.numbers[index]
        self.layouts.append(number)
        if self.hidden(number):
            return ()
        rows = self.heights.get(number, self.height(number))
        return [
            line(Span(f"block {number}", "tool bold"), Span(f" row {row} 湿度 ok", "muted"))
            for row in range(rows)
        ]

    def selectable(self, index: int) -> bool:
        return self.is_selectable(self.numbers[index])


class BulkBlocks(FakeBlocks):
    """The same with a cheap estimate of all blocks at once."""

    def estimates(self, width: int) -> array[int]:
        return array("I", [5]) * len(self.numbers)


class WrappedText:
    """One block a text, wrapped at the width between words of five letters: rows depend on the width."""

    def __init__(self, words: Sequence[int]) -> None:
        self.words = words

    def count(self) -> int:
        return len(self.words)

    def key(self, index: int) -> Hashable:
        return index

    def index_of(self, key: Hashable) -> int | None:
        return key if isinstance(key, int) and key < len(self.words) else None

    def estimate(self, index: int, width: int) -> int:
        return len(self.layout(index, width))

    def layout(self, index: int, width: int) -> Sequence[Line]:
        per_row = max(1, (width + 1) // 6)
        words = [f"{number:05d}" for number in range(self.words[index])]
        return [line(" ".join(words[at : at + per_row])) for at in range(0, len(words), per_row)]

    def selectable(self, index: int) -> bool:
        return True


class BlockViewApp(App[None]):
    """An app with one block view, keys j k g G and the page keys, and a list of what the view posted."""

    CSS_PATH = None
    BINDINGS = [  # noqa: RUF012  # as Textual declares it
        ("j,down", "view('cursor_down')"),
        ("k,up", "view('cursor_up')"),
        ("pagedown", "view('page_down')"),
        ("pageup", "view('page_up')"),
        ("g,home", "view('first')"),
        ("G,end", "view('last')"),
        ("enter", "view('activate')"),
    ]

    def __init__(self, model: BlockModel, *, ascii_only: bool = False, css: str = "") -> None:
        self.CSS = css
        super().__init__(ansi_color=None)
        themes.register(self)
        self.model = model
        self.ascii_only = ascii_only
        self.posted: list[object] = []

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.variable_defaults()

    def compose(self) -> ComposeResult:
        yield BlockView(self.model, ascii_only=self.ascii_only)

    @property
    def view(self) -> BlockView:
        return self.query_one(BlockView)

    def action_view(self, name: str) -> None:
        getattr(self.view, f"action_{name}")()

    def on_block_view_selected(self, message: BlockView.Selected) -> None:
        self.posted.append(message)

    def on_block_view_activated(self, message: BlockView.Activated) -> None:
        self.posted.append(message)

    def on_block_view_follow_changed(self, message: BlockView.FollowChanged) -> None:
        self.posted.append(message)

    def texts(self) -> list[str]:
        """What stands on each row of the view, padding removed."""
        view = self.view
        return [view.render_line(y).text.rstrip() for y in range(view.size.height)]
