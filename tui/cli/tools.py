"""`dsh-tui tools`: which tools were active at a point of a session."""

from __future__ import annotations

import sys

from tui.blocks.cells import cell_len, fit
from tui.blocks.clean import clean_line
from tui.blocks.glyphs import GLYPHS
from tui.blocks.wording_notices import clauses
from tui.cli.run import OK, Run, say
from tui.cli.session_reading import found, reached, read
from tui.export.inventory import InventoryTool, header_in_force, inventory, inventory_entries
from tui.export.json_text import present, write_document
from tui.export.output import utf8_writer
from tui.export.session_facts import session_member
from tui.export.tools_json import change_entries, header_entries, series_entries
from tui.i18n import Translator
from tui.nodes.reading import Reading

_NAME_CELLS = 60


def tools(run: Run) -> int:
    """Print the inventory as a table or as JSON, or what differs between two of them."""
    if "diff" in run.options:
        from tui.cli.tools_diff import diff_tools

        return diff_tools(run)
    session, at = found(run)
    reading = read(session, run)
    at = reached(reading, at, run)
    listed = inventory(reading, at)
    if run.options.get("json"):
        head = {"session": session_member(reading), **present(at=at)}
        lists = {
            "tools": inventory_entries(listed),
            "headers": header_entries(reading),
            "changes": change_entries(reading),
            "series": series_entries(reading),
        }
        write_document(utf8_writer(sys.stdout), "tools", head, lists)
        return OK
    say(_head(reading, run.tr, at) + "\n")
    for line in _table(listed, run.tr, ascii_only=run.settings.ascii):
        say(line + "\n")
    return OK


def _head(reading: Reading, tr: Translator, at: int | None) -> str:
    header = header_in_force(reading, at)
    if header is None and at is None:
        return tr.t("This session has declared no tools.")
    if header is None:
        return tr.t("At event {seq} no tools were declared yet.", seq=at)
    count = tr.n("{n} active tool", "{n} active tools", len(header.active))
    model = clean_line(header.model)
    if at is None:
        return tr.t("At the end: {tools}, model {model}", tools=count, model=model)
    return tr.t("At event {seq}: {tools}, model {model}", seq=at, tools=count, model=model)


def _table(listed: tuple[InventoryTool, ...], tr: Translator, *, ascii_only: bool) -> list[str]:
    rows = [
        (_glyph(tool, ascii_only), clean_line(tool.name), _state(tool, tr), clean_line(tool.description))
        for tool in listed
    ]
    name = min(_NAME_CELLS, max((cell_len(row[1]) for row in rows), default=0))
    state = max((cell_len(row[2]) for row in rows), default=0)
    return [
        f"{mark} {fit(own, name) if cell_len(own) <= name else own}  {fit(said, state)}  {text}".rstrip()
        for mark, own, said, text in rows
    ]


def _glyph(tool: InventoryTool, ascii_only: bool) -> str:
    if tool.state == "removed":
        return GLYPHS["removed"].text(ascii_only)
    what = "restored" if tool.restored else "redefined" if tool.redefined else "" if tool.initial else "added"
    return GLYPHS[what].text(ascii_only) if what else " "


def _state(tool: InventoryTool, tr: Translator) -> str:
    marks = [tr.t("restored")] * tool.restored + [tr.t("redefined")] * tool.redefined
    if tool.state == "removed":
        said = tr.t("removed at {seq}", seq=_seq(tool))
    elif tool.initial:
        said = tr.t("from the start")
    else:
        said = tr.t("since {seq}", seq=_seq(tool))
    return clauses(tr, [said, *marks])


def _seq(tool: InventoryTool) -> str:
    return str(tool.since_seq) if tool.since_seq is not None else "?"
