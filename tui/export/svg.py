"""A picture of a view: what the pane shows at a fixed width, everything unfolded.

Each span is placed in its cells and stretched to them (`textLength`), so that Chinese and emoji align
whatever font draws them. A picture has an end: a node shows its first 200 rows and the picture 4,000, and
both say what is left out; text, Markdown, HTML and JSON hold the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Final

from tui.blocks.cells import cell_len
from tui.blocks.chat_layout import chat_lines
from tui.blocks.glyphs import mark
from tui.blocks.layout import Layout
from tui.blocks.text import EMPTY, Line, Span, crop, line, to_ascii
from tui.blocks.trajectory_layout import row_line, turn_rule
from tui.blocks.wording import name_text, tool_marks
from tui.export.json_text import Write
from tui.export.looks import BOLD_ROLES, DARK, LIGHT, tone
from tui.export.sections import front
from tui.i18n import Translator
from tui.nodes.chat_nodes import chat_node
from tui.nodes.notices import ToolLine, ToolNotice
from tui.nodes.reading import Reading
from tui.nodes.trajectory import is_bookkeeping, trajectory_row

if TYPE_CHECKING:
    from tui.llm.route_book import RouteBook

WIDTHS: Final = {"chat": 100, "trajectory": 120}
NODE_ROWS: Final = 200
ROWS: Final = 4_000

_CELL: Final = 8.4
_ROW: Final = 20
_MARGIN: Final = 16
_FONT: Final = (
    "ui-monospace,'Cascadia Mono','DejaVu Sans Mono',Menlo,Consolas,'Noto Sans Mono CJK SC',monospace"
)
_MODIFIERS: Final = {"bold": "b", "italic": "i", "underline": "u", "strike": "s", "dim": "d"}


def write_svg(
    write: Write,
    reading: Reading,
    tr: Translator,
    view: str,
    *,
    ascii_only: bool = False,
    book: RouteBook | None = None,
) -> None:
    """Write a view as an SVG picture; `book` is what is known of routes, for the tools."""
    if view == "tools":
        from tui.export.matrix_export import matrix_picture

        width, blocks = matrix_picture(reading, tr, book, ascii_only=ascii_only)
    elif view == "requests":
        from tui.export.requests_sections import requests_picture

        width, blocks = requests_picture(reading, tr, book, ascii_only=ascii_only)
    else:
        width, blocks = WIDTHS[view], None
    layout = Layout(width, tr, expanded=True, ascii=ascii_only, full=True)
    if blocks is None:
        blocks = _chat(reading, layout) if view == "chat" else _trajectory(reading, layout)
    rows = [*_front(reading, layout), EMPTY]
    left_out = 0
    for block in blocks:
        if len(rows) >= ROWS:
            left_out += 1
            continue
        rows += _bounded(block, layout)
    if view == "trajectory" and (hidden := _bookkeeping(reading)):
        note = tr.n(
            "{n} bookkeeping record is not in this picture; text, md, html and json have it",
            "{n} bookkeeping records are not in this picture; text, md, html and json have them",
            hidden,
        )
        rows += [EMPTY, crop(line(Span(note, "muted")), layout.width)]
    if left_out:
        note = tr.n(
            "… {n} more entry is not in this picture; export as text, md, html or json for all of it",
            "… {n} more entries are not in this picture; export as text, md, html or json for all of it",
            left_out,
        )
        rows += [EMPTY, crop(line(Span(note, "warning")), layout.width)]
    _write_picture(write, rows, layout.width, title=front(reading, tr).title)


def _front(reading: Reading, layout: Layout) -> list[Line]:
    before = front(reading, layout.tr)
    rows = [line(Span(before.title, "title bold"))]
    rows += [line(Span(f"{name} ", "faint"), Span(value, "muted")) for name, value in before.facts]
    rows += [line(Span(f"{mark('damage').text} ", "damage"), Span(told, "damage")) for told in before.damage]
    shown = [crop(row, layout.width) for row in rows[: NODE_ROWS - 1]]
    return [to_ascii(row) for row in shown] if layout.ascii else shown


def _chat(reading: Reading, layout: Layout) -> Iterator[list[Line]]:
    before: str | None = None
    shown = 0
    for index in range(len(reading.chat.index)):
        # Beyond the end of the picture entries are only counted.
        if shown >= ROWS:
            yield []
            continue
        node = chat_node(reading, index)
        rows = chat_lines(node, layout._replace(previous=before))
        before = node.kind
        shown += min(len(rows), NODE_ROWS)
        yield rows


def _trajectory(reading: Reading, layout: Layout) -> Iterator[list[Line]]:
    turns = reading.trajectory.index.turns
    before: int | None = None
    shown = 0
    for index in range(len(turns)):
        if shown >= ROWS:
            if not is_bookkeeping(reading, index):
                yield []
            continue
        rows: list[Line] = []
        turn = turns[index]
        if turn != before and turn >= 0:
            rows += [EMPTY, turn_rule(reading.turns.turns[turn], layout)]
        before = turn
        if is_bookkeeping(reading, index):
            # The pane folds the program's own bookkeeping away too; its count stands below the picture.
            if rows:
                yield rows
            continue
        row = trajectory_row(reading, index)
        rows.append(row_line(row, layout))
        if row.tool_notice is not None and row.tool_notice.expandable:
            rows += _notice(row.tool_notice, layout)
        shown += min(len(rows), NODE_ROWS)
        yield rows


def _bookkeeping(reading: Reading) -> int:
    return sum(is_bookkeeping(reading, index) for index in range(len(reading.trajectory.index)))


def _notice(notice: ToolNotice, layout: Layout) -> list[Line]:
    rows: list[Line] = []
    for what, tools in (("added", notice.added), ("removed", notice.removed)):
        rows += [crop(_tool(tool, what, layout), layout.width) for tool in tools]
    return [to_ascii(row) for row in rows] if layout.ascii else rows


def _tool(tool: ToolLine, what: str, layout: Layout) -> Line:
    kind = "restored" if tool.restored else "redefined" if tool.redefined else what
    sign = mark(kind, layout.ascii)
    marks = tool_marks(layout.tr, tool)
    return line(
        Span(" " * 19),
        Span(f"{sign.text} {name_text(tool.name)}", sign.role),
        Span(f"  {marks}" if marks else "", sign.role),
        Span(f"  {name_text(tool.description)}" if tool.description else "", "muted"),
    )


def _bounded(rows: list[Line], layout: Layout) -> list[Line]:
    if len(rows) <= NODE_ROWS:
        return rows
    hidden = len(rows) - NODE_ROWS + 1
    note = layout.tr.n(
        "… {n} more row is not in this picture", "… {n} more rows are not in this picture", hidden
    )
    return [*rows[: NODE_ROWS - 1], line(Span("  "), Span(note, "muted italic"))]


def _write_picture(write: Write, rows: Sequence[Line], cells: int, *, title: str) -> None:
    width = round(cells * _CELL + 2 * _MARGIN)
    height = len(rows) * _ROW + 2 * _MARGIN
    write(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img">\n'
        f"<title>{escape(title)}</title>\n<style>{_style()}</style>\n"
        f'<rect class="ground" width="{width}" height="{height}"/>\n'
    )
    for at, row in enumerate(rows):
        baseline = _MARGIN + at * _ROW + 15
        drawn = "".join(_spans(row, baseline))
        if drawn:
            write(drawn + "\n")
    write("</svg>\n")


def _spans(row: Line, baseline: int) -> Iterator[str]:
    column = 0
    for span in row.spans:
        cells = cell_len(span.text)
        bare = span.text.strip(" ")
        if bare:
            lead = len(span.text) - len(span.text.lstrip(" "))
            left = _MARGIN + (column + lead) * _CELL
            length = cell_len(bare) * _CELL
            # Several spaces in a row would be drawn as one.
            text = escape(bare.replace("  ", " \u00a0"))
            yield (
                f'<text x="{left:.1f}" y="{baseline}" textLength="{length:.1f}" '
                f'lengthAdjust="spacingAndGlyphs" class="{_classes(span.role)}">{text}</text>'
            )
        column += cells


def _classes(role: str) -> str:
    tokens = role.split()
    looks = [tone(tokens[0]) if tokens else "text"]
    looks += [_MODIFIERS[token] for token in tokens if token in _MODIFIERS]
    if tokens and tokens[0] in BOLD_ROLES and "b" not in looks:
        looks.append("b")
    return " ".join(looks)


def _style() -> str:
    def rules(tones: dict[str, str]) -> str:
        colours = [f".{name}{{fill:{colour}}}" for name, colour in tones.items() if name not in _GROUNDS]
        return "".join([f".ground{{fill:{tones['background']}}}", *colours])

    return (
        f"text{{font:14px {_FONT};white-space:pre}}.b{{font-weight:600}}.i{{font-style:italic}}"
        ".u{text-decoration:underline}.s{text-decoration:line-through}.d{opacity:.65}"
        f"{rules(dict(LIGHT))}@media(prefers-color-scheme:dark){{{rules(dict(DARK))}}}"
    )


_GROUNDS: Final = frozenset(("background", "panel", "line"))
