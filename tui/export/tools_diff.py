"""The difference of two inventories as text and as JSON (`dsh-tui tools --diff`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from tui.blocks.clean import clean_line
from tui.blocks.diff import diff_lines
from tui.blocks.glyphs import mark
from tui.blocks.text import plain, to_ascii
from tui.blocks.wording_names import name_text
from tui.blocks.wording_notices import clauses
from tui.export.json_text import present
from tui.i18n import Translator
from tui.nodes.notices import first_line
from tui.nodes.tools_diff import Redefined, Renamed, SchemaChange, ToolsDiff
from tui.session.json_text import compact
from tui.session.tool_definition import ToolDefinition

_WIDTH: Final = 100
_VALUE: Final = 160
_SIGNS: Final = {"added": "added", "removed": "removed", "changed": "redefined"}


def diff_text(diff: ToolsDiff, tr: Translator, *, ascii_only: bool = False) -> Iterator[str]:
    """Yield the lines of a difference, without line ends."""
    yield _summary(diff, tr)
    for what, tools in (("added", diff.added), ("removed", diff.removed)):
        for tool in tools:
            yield f"{_sign(what, ascii_only)} {name_text(tool.name)}  {_described(tool)}".rstrip()
    for change in diff.redefined:
        yield f"{_sign('redefined', ascii_only)} {name_text(change.after.name)}"
        yield from _redefinition(change, tr, ascii_only=ascii_only)
    if diff.renamed:
        yield tr.t("Probably renamed (a guess from schema and description):")
        arrow = "->" if ascii_only else "→"
        for guess in diff.renamed:
            names = f"{name_text(guess.before.name)} {arrow} {name_text(guess.after.name)}"
            yield f"? {names}  {_likeness(guess, tr)}"


def diff_json(diff: ToolsDiff) -> dict[str, Sequence[dict[str, Any]]]:
    """Return the lists of a difference."""
    return {
        "added": [_tool(tool) for tool in diff.added],
        "removed": [_tool(tool) for tool in diff.removed],
        "redefined": [_redefined(change) for change in diff.redefined],
        "renamed": [
            {
                "before": guess.before.name,
                "after": guess.after.name,
                "likeness": guess.likeness,
                "same_schema": guess.same_schema,
                "guess": True,
            }
            for guess in diff.renamed
        ],
    }


def _summary(diff: ToolsDiff, tr: Translator) -> str:
    parts = [
        tr.n("{n} added", "{n} added", len(diff.added)) if diff.added else "",
        tr.n("{n} removed", "{n} removed", len(diff.removed)) if diff.removed else "",
        tr.n("{n} redefined", "{n} redefined", len(diff.redefined)) if diff.redefined else "",
        tr.n("{n} unchanged", "{n} unchanged", diff.unchanged),
    ]
    return clauses(tr, [part for part in parts if part])


def _redefinition(change: Redefined, tr: Translator, *, ascii_only: bool) -> Iterator[str]:
    if change.description_differs:
        yield f"    {tr.t('description')}"
        for row in diff_lines(change.before.description, change.after.description, _WIDTH):
            text = plain(to_ascii(row) if ascii_only else row)
            if not text.startswith("@@"):
                yield f"      {text}".rstrip()
    for label, changes in ((tr.t("parameters"), change.schema), (tr.t("other members"), change.other)):
        if changes:
            yield f"    {label}"
        for each in changes:
            yield f"      {_change(each, ascii_only)}"
    if change.only_order:
        yield f"    {tr.t('the same members in another order')}"


def _change(change: SchemaChange, ascii_only: bool) -> str:
    sign = _sign(_SIGNS[change.kind], ascii_only)
    path = clean_line(change.path) or "."
    if change.kind == "changed":
        arrow = "->" if ascii_only else "→"
        return f"{sign} {path}  {_value(change.before)} {arrow} {_value(change.after)}"
    return f"{sign} {path}  {_value(change.after if change.kind == 'added' else change.before)}"


def _value(value: Any) -> str:
    text = clean_line(compact(value)[: _VALUE + 1])
    return text if len(text) <= _VALUE else text[:_VALUE] + "…"


def _likeness(guess: Renamed, tr: Translator) -> str:
    share = tr.percent(guess.likeness)
    if guess.same_schema:
        return tr.t("{share} alike, the same parameters", share=share)
    return tr.t("{share} alike", share=share)


def _sign(what: str, ascii_only: bool) -> str:
    return mark(what, ascii_only).text


def _described(tool: ToolDefinition) -> str:
    return clean_line(first_line(tool.description))


def _tool(tool: ToolDefinition) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description}


def _redefined(change: Redefined) -> dict[str, Any]:
    description = {"before": change.before.description, "after": change.after.description}
    return {
        "name": change.after.name,
        **present(description=description if change.description_differs else None),
        "schema": [_place(each) for each in change.schema],
        "other": [_place(each) for each in change.other],
    }


def _place(change: SchemaChange) -> dict[str, Any]:
    members: dict[str, Any] = {"change": change.kind, "path": change.path}
    if change.kind != "added":
        members["before"] = change.before
    if change.kind != "removed":
        members["after"] = change.after
    return members
