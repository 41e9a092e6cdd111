"""Lines of role-tagged spans become Textual strips.

Layout names roles, never colours. Here a role is looked up as the CSS class `role--<name>` in the app's
styles and a modifier becomes a text attribute. Looked-up styles are kept until the theme changes; without
colours only attributes are left. A strip is always exactly as wide as asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

from rich.segment import Segment
from rich.style import Style
from textual.dom import DOMNode
from textual.strip import Strip

from tui.blocks.text import Line, crop, highlight, to_ascii

if TYPE_CHECKING:
    from textual.app import App

NO_STYLE = Style()

_MODIFIERS: dict[str, Style] = {
    "bold": Style(bold=True),
    "italic": Style(italic=True),
    "underline": Style(underline=True),
    "strike": Style(strike=True),
    "dim": Style(dim=True),
    "reverse": Style(reverse=True),
}


class Glyphs(NamedTuple):
    """The few signs that the views draw themselves."""

    cursor: str
    cursor_blurred: str
    scroll_thumb: str
    scroll_track: str
    separator: str


UNICODE_GLYPHS = Glyphs(cursor="▌", cursor_blurred="▏", scroll_thumb="▐", scroll_track=" ", separator="·")
ASCII_GLYPHS = Glyphs(cursor=">", cursor_blurred="-", scroll_thumb="#", scroll_track="|", separator="-")


class RoleStyles:
    """Rich styles of role tokens, as the styles of the app give them to a node's children.

    Classes are looked up when first met: declaring all of them as component classes would cost 5 ms at
    every change of focus.

    Args:
        node: the widget whose place in the tree decides which rules match.
    """

    def __init__(self, node: DOMNode) -> None:
        self._node = node
        self._styles: dict[str, Style] = {}
        self._signature: tuple[object, ...] = ()
        self.ground = NO_STYLE
        """The node's own colours, under all that is drawn: a line-API widget fills its background itself."""

    def prepare(self) -> bool:
        """Look the ground up if that was never done; True if it was not."""
        return not self._signature and self.refresh()

    def refresh(self) -> bool:
        """Forget all styles if the theme, the node's colours or the colour mode have changed; True if so.

        To be called when styles were updated, not for every row: it walks up the tree.
        """
        app = _app(self._node)
        self.ground = self._node.rich_style
        signature = (app.theme, app.no_color, app.native_ansi_color, self.ground)
        if signature == self._signature:
            return False
        self._signature = signature
        self._styles.clear()
        return True

    def __call__(self, roles: str) -> Style:
        """The style of space separated role and modifier tokens; later tokens win."""
        style = self._styles.get(roles)
        if style is None:
            style = NO_STYLE
            for token in roles.split():
                style += _MODIFIERS.get(token) or self.css_class(f"role--{token}")
            self._styles[roles] = style
        return style

    def css_class(self, name: str) -> Style:
        """The style of one CSS class; no style when no rule names it."""
        style = self._styles.get(f".{name}")
        if style is None:
            virtual = DOMNode(classes=name)
            # Attached like the virtual nodes that Textual makes for declared component classes.
            virtual._attach(self._node)  # pyright: ignore[reportPrivateUsage]
            app = _app(self._node)
            app.stylesheet.apply(virtual, animate=False)  # pyright: ignore[reportUnknownMemberType]
            style = virtual.styles.partial_rich_style
            if app.no_color:
                style = style.without_color
            self._styles[f".{name}"] = style
        return style


def _app(node: DOMNode) -> App[object]:
    return cast("App[object]", node.app)  # pyright: ignore[reportUnknownMemberType]


def strip_of(
    row: Line,
    width: int,
    styles: RoleStyles,
    *,
    base: Style = NO_STYLE,
    needle: str = "",
    ascii_only: bool = False,
) -> Strip:
    """One line as a strip of exactly `width` cells.

    Args:
        row: cleaned text with roles; its cell count is trusted.
        width: cells of the strip; a longer line is cropped.
        styles: the look-up of roles.
        base: lies under every role (the cursor's background, say).
        needle: text to show in the `match` role wherever it stands, ignoring case.
        ascii_only: replace the glyphs that are ours by ASCII.
    """
    if needle:
        row = highlight(row, needle)
    if row.cells > width:
        row = crop(row, width)
    if ascii_only:
        row = to_ascii(row)
    segments = [Segment(span.text, base + styles(span.role)) for span in row.spans]
    if row.cells < width:
        segments.append(Segment(" " * (width - row.cells), base))
    return Strip(segments, width)
