"""`dsh-tui sessions`: every session of both homes, nothing hidden."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

from tui.blocks.cells import cell_len, fit
from tui.blocks.clean import clean_line
from tui.blocks.wording_library import state_text
from tui.cli.progress import Progress
from tui.cli.run import OK, Run, say
from tui.export.json_text import present, write_document
from tui.export.output import utf8_writer
from tui.i18n import Translator
from tui.session.json_text import well_formed
from tui.session.library import LibraryRow, Shelf, arrange, scan
from tui.session.library_cache import LibraryCache, library_cache_path

_TITLE_CELLS = 44
_FOLDER_CELLS = 28


def sessions(run: Run) -> int:
    """Print the library as a table or as JSON."""
    rows = _filled(run)
    if run.options.get("json"):
        entries = (session_entry(shelf.row) for shelf, _ in _walk(arrange(rows)))
        write_document(utf8_writer(sys.stdout), "sessions", {}, {"sessions": entries})
        return OK
    if not rows:
        homes = run.settings.homes
        say(
            run.tr.t(
                "There are no sessions in {own} or {dsh}; `dsh-tui demo` needs none.",
                own=clean_line(str(homes.own)),
                dsh=clean_line(str(homes.dsh)),
            )
            + "\n"
        )
        return OK
    for line in _table(arrange(rows), run.tr):
        say(line + "\n")
    return OK


def session_entry(row: LibraryRow) -> dict[str, Any]:
    """Return one row of the document."""
    return {
        "id": row.id,
        "path": well_formed(str(row.path)),
        "store": row.store,
        "state": row.state,
        **present(
            reason=row.reason,
            format_version=row.format_version,
            title=row.title or None,
            cwd=row.cwd,
            created_ms=row.created_ms,
            updated_ms=row.updated_ms,
        ),
        "bytes": row.bytes,
        **present(
            models=list(row.models) if row.models is not None else None,
            tool_changes=row.tool_changes,
            events=row.events,
            parent=row.parent,
            origin=row.origin,
            detail=row.detail or None,
        ),
    }


def _filled(run: Run) -> list[LibraryRow]:
    """Every row with what its whole log tells."""
    quick = list(scan(run.settings.homes))
    cache = LibraryCache(library_cache_path())
    rows: list[LibraryRow] = []
    with Progress(run.tr) as progress:
        for row in quick:
            rows.append(cache.fill(row))
            progress.tell(len(rows) / len(quick))
    cache.save()
    return rows


def _walk(shelves: Iterable[Shelf]) -> Iterator[tuple[Shelf, int]]:
    """Every shelf, children behind their parents, with its depth."""
    waiting = [(shelf, 0) for shelf in reversed(tuple(shelves))]
    while waiting:
        shelf, depth = waiting.pop()
        yield shelf, depth
        waiting.extend((child, depth + 1) for child in reversed(shelf.children))


def _table(shelves: tuple[Shelf, ...], tr: Translator) -> list[str]:
    now = int(time.time() * 1000)
    head = (
        tr.t("Title"),
        tr.t("Workspace"),
        tr.t("Changed"),
        tr.t("Events"),
        tr.t("Models"),
        tr.t("Tool changes"),
        tr.t("ID"),
        tr.t("State"),
    )
    rows = [head, *(_cells(shelf.row, depth, tr, now) for shelf, depth in _walk(shelves))]
    widths = [max(cell_len(row[at]) for row in rows) for at in range(len(head))]
    widths[0], widths[1] = min(widths[0], _TITLE_CELLS), min(widths[1], _FOLDER_CELLS)
    right = (3, 5)
    lines: list[str] = []
    for row in rows:
        cells = [
            fit(cell, width, "right" if at in right else "left")
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def _cells(row: LibraryRow, depth: int, tr: Translator, now: int) -> tuple[str, ...]:
    indent = "  " * min(depth, 8)
    title = clean_line(row.title or "") or tr.t("untitled")
    return (
        f"{indent}{title}",
        clean_line(row.cwd) if row.cwd else tr.t("no folder"),
        tr.relative(row.updated_ms, now) if row.updated_ms is not None else "",
        tr.number(row.events) if row.events is not None else "",
        clean_line(tr.join(list(row.models or ()))),
        tr.number(row.tool_changes) if row.tool_changes else "",
        clean_line(row.id),
        state_text(tr, row),
    )
