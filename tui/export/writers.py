"""Which view comes in which format, and the way to write it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from tui.export.json_text import Write, write_document
from tui.export.session_facts import session_member
from tui.i18n import Translator
from tui.nodes.reading import Reading

if TYPE_CHECKING:
    from tui.export.sections import Section
    from tui.llm.route_book import RouteBook

VIEWS: Final = ("chat", "trajectory", "tools", "requests")
FORMATS: Final = ("text", "md", "json", "html", "svg")


class Export(NamedTuple):
    """One export: what, how, and from which node or row on."""

    view: str
    format: str
    ascii: bool = False
    first: int = 0
    """Position of the node or row to begin with; text only."""
    book: RouteBook | None = None
    """What is known of routes, for `requests` and `tools`; None: no more than everybody knows."""


def write_export(write: Write, reading: Reading, tr: Translator, export: Export) -> None:
    """Write a view of a session that has been read to its end, piece by piece."""
    if export.format == "json":
        _write_json(write, reading, tr, export)
    elif export.format == "svg":
        from tui.export.svg import write_svg

        write_svg(write, reading, tr, export.view, ascii_only=export.ascii, book=export.book)
    else:
        _write_sections(write, reading, tr, export)


def _write_json(write: Write, reading: Reading, tr: Translator, export: Export) -> None:
    view = export.view
    head = {"session": session_member(reading)}
    if view == "chat":
        from tui.export.chat_json import chat_entries

        write_document(write, view, head, {"nodes": chat_entries(reading, tr)})
    elif view == "trajectory":
        from tui.export.trajectory_json import trajectory_entries

        write_document(write, view, head, {"rows": trajectory_entries(reading, tr)})
    elif view == "requests":
        from tui.export.requests_json import request_entries
        from tui.llm.route_book import RouteBook

        write_document(write, view, head, {"requests": request_entries(reading, export.book or RouteBook())})
    else:
        from tui.export.tools_json import change_entries, header_entries, series_entries

        lists = {
            "headers": header_entries(reading),
            "changes": change_entries(reading),
            "series": series_entries(reading),
        }
        write_document(write, view, head, lists)


def _sections(reading: Reading, tr: Translator, export: Export) -> Iterator[Section]:
    match export.view:
        case "chat":
            from tui.export.chat_sections import chat_sections

            return chat_sections(reading, tr, export.first)
        case "tools":
            from tui.export.matrix_export import matrix_sections

            return matrix_sections(reading, tr, export.book, ascii_only=export.ascii)
        case "requests":
            from tui.export.requests_sections import requests_sections

            return requests_sections(reading, tr, export.book, export.first)
        case _:
            from tui.export.trajectory_sections import trajectory_sections

            return trajectory_sections(reading, tr, export.first)


def _write_sections(write: Write, reading: Reading, tr: Translator, export: Export) -> None:
    from tui.export.sections import front

    is_chat = export.view == "chat"
    sections = _sections(reading, tr, export)
    before = front(reading, tr)
    match export.format:
        case "md":
            from tui.export.markdown_export import write_markdown

            write_markdown(write, before, sections, tr)
        case "html":
            from tui.export.html import write_html

            write_html(write, before, sections, tr)
        case _:
            from tui.export.text import write_text

            write_text(write, before, sections, tr, ascii_only=export.ascii, compact=not is_chat)
