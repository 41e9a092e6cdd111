"""Sentences about tool changes: what a developer message tells, and what a request header changed.

The two rows of one change never read alike: a notice counts what came and went, a header tells how many tools
there were and are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tui.blocks.wording_names import name_text, series_text, setting_name, tool_text
from tui.i18n import Translator
from tui.nodes.notices import HeaderNotice, ToolLine, ToolNotice

_NAMES_IN_A_ROW: Final = 3
MINUS: Final = "−"


def notice_title(tr: Translator, notice: ToolNotice) -> str:
    """The collapsed notice: the tool's name where it is one, counts where it is several."""
    if notice.count == 1:
        return _single(tr, notice)
    return tr.t("Tools changed · {parts}", parts=notice_parts(tr, notice))


def notice_parts(tr: Translator, notice: ToolNotice) -> str:
    """What a notice counts: "12 added (1 restored), 3 removed"; parts that are zero are not told."""
    return _parts(
        tr,
        added=len(notice.added),
        removed=len(notice.removed),
        restored=len(notice.restored),
        redefined=len(notice.redefined),
    )


def _parts(tr: Translator, *, added: int, removed: int, restored: int = 0, redefined: int = 0) -> str:
    parts: list[str] = []
    if added:
        part = tr.n("{n} added", "{n} added", added)
        special: list[str] = []
        if restored:
            special.append(tr.n("{n} restored", "{n} restored", restored))
        if redefined:
            special.append(tr.n("{n} redefined", "{n} redefined", redefined))
        if special:
            part = tr.t("{added} ({of_them})", added=part, of_them=tr.join(special))
        parts.append(part)
    if removed:
        parts.append(tr.n("{n} removed", "{n} removed", removed))
    return clauses(tr, parts)


def clauses(tr: Translator, parts: Sequence[str]) -> str:
    """Parts of one statement, in Chinese with a full-width comma."""
    return tr.p("between the parts of a statement", ", ").join(parts)


def _single(tr: Translator, notice: ToolNotice) -> str:
    if notice.removed:
        return tr.t("Tool removed: {tool}", tool=tool_text(tr, notice.removed[0].name))
    line = notice.added[0]
    tool = tool_text(tr, line.name)
    if line.restored and line.redefined:
        return tr.t("Tool restored, redefined: {tool}", tool=tool)
    if line.restored:
        return tr.t("Tool restored: {tool}", tool=tool)
    if line.redefined:
        return tr.t("Tool added, redefined: {tool}", tool=tool)
    return tr.t("Tool added: {tool}", tool=tool)


def tool_marks(tr: Translator, line: ToolLine) -> str:
    """What is special about an added tool, in words; empty for a plain one."""
    marks: list[str] = []
    if line.restored:
        marks.append(tr.t("restored"))
    if line.redefined:
        marks.append(tr.t("redefined"))
    return tr.join(marks)


def header_title(tr: Translator, notice: HeaderNotice) -> str:
    """A header that changed something without a developer message, as the Chat says it."""
    parts: list[str] = []
    if notice.added or notice.removed:
        changed = _parts(tr, added=len(notice.added), removed=len(notice.removed))
        parts.append(tr.t("Tools changed without a notice · {parts}", parts=changed))
    if notice.redefined:
        parts.append(_redefined(tr, [line.name for line in notice.redefined]))
    parts.extend(_config(tr, notice))
    if not parts and notice.reordered:
        parts.append(tr.t("Tools reordered"))
    return " · ".join(parts) or header_summary(tr, notice)


def _redefined(tr: Translator, names: Sequence[str]) -> str:
    if len(names) == 1:
        return tr.t("Tool redefined: {tool}", tool=tool_text(tr, names[0]))
    shown = [tool_text(tr, name) for name in names[:_NAMES_IN_A_ROW]]
    listed = tr.join(shown)
    if len(names) > len(shown):
        listed = tr.t("{names} and {n} more", names=listed, n=tr.number(len(names) - len(shown)))
    return tr.n("{n} tool redefined: {names}", "{n} tools redefined: {names}", len(names), names=listed)


def _config(tr: Translator, notice: HeaderNotice) -> list[str]:
    changed = list(notice.config_changed)
    parts: list[str] = []
    if "model" in changed and notice.model:
        parts.append(tr.t("Model: {model}", model=name_text(notice.model)))
        changed.remove("model")
    if "provider" in changed and notice.provider:
        parts.append(tr.t("Provider: {provider}", provider=name_text(notice.provider)))
        changed.remove("provider")
    if changed:
        names = tr.join([setting_name(tr, key) for key in changed])
        parts.append(tr.t("Settings changed: {names}", names=names))
    return parts


def header_summary(tr: Translator, notice: HeaderNotice) -> str:
    """A header as the Trajectory says it: "tools 5 → 14 · +12 −3", then what else it changed."""
    parts = [header_counts(tr, notice)]
    if notice.redefined:
        parts.append(tr.n("{n} redefined", "{n} redefined", len(notice.redefined)))
    if notice.reordered and not notice.first:
        parts.append(tr.t("reordered"))
    parts.extend(_config(tr, notice))
    if notice.series_cause and notice.series_cause not in ("initial", "redefined"):
        parts.append(series_text(tr, notice.series_cause))
    return " · ".join(parts)


def header_counts(tr: Translator, notice: HeaderNotice) -> str:
    """How many tools a header declares, against the one before it."""
    added, removed = len(notice.added), len(notice.removed)
    if notice.first:
        return tr.n("first, {n} tool", "first, {n} tools", notice.tool_count)
    if not added and not removed:
        return tr.n("{n} tool", "{n} tools", notice.tool_count)
    before = notice.tool_count - added + removed
    delta = " ".join(
        [f"+{tr.number(added)}"] * bool(added) + [f"{MINUS}{tr.number(removed)}"] * bool(removed)
    )
    return tr.t(
        "tools {before} → {after} · {delta}",
        before=tr.number(before),
        after=tr.number(notice.tool_count),
        delta=delta,
    )
