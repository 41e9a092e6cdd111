"""The model requests of a session as JSON objects (CONTRACT, "JSON", views `requests` and `request`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tui.export.json_text import named, present
from tui.export.request_wire import Shown, shown_as
from tui.export.trajectory_json import usage_entry
from tui.llm.route_book import RouteBook
from tui.nodes.reading import Reading
from tui.nodes.request_diff import Prefix, prefix_of
from tui.nodes.request_projection import ProjectedRequest, doubts
from tui.nodes.requests import Requests
from tui.nodes.trajectory import trajectory_row

NO_MODE = "none"


def request_entries(reading: Reading, book: RouteBook) -> Iterator[dict[str, Any]]:
    """Yield every request with what it keeps of the one before it on its own route."""
    requests = Requests(reading)
    before: ProjectedRequest | None = None
    for request in requests.walk():
        now, source, sent = shown_as(book, request)
        row = trajectory_row(reading, request.place.index)
        yield {
            **_head(book, now, source),
            "messages": len(now.messages),
            "declared": now.declared,
            "deferred": now.deferred,
            **present(usage=usage_entry(row.usage) if row.usage is not None else None),
            "prefix": prefix_entry(prefix_of(requests, before, now)),
            **named(kind=request.place.kind, status=row.status, error_code=row.error_code),
            **named(approximate=list(doubts(requests, now, sent))),
        }
        before = now


def request_member(book: RouteBook, requests: Requests, shown: Shown) -> dict[str, Any]:
    """Return one request as a route is sent it, with what is said of it beside that."""
    projected = shown.projected
    tools = projected.tools
    return {
        **_head(book, projected, shown.source),
        **named(approximate=list(doubts(requests, projected, shown.sent))),
        "messages": projected.messages,
        **present(tools=[tool.to_json() for tool in tools] if tools is not None else None),
    }


def prefix_entry(prefix: Prefix) -> dict[str, Any]:
    """Return what is kept of the request before, and why not all of it."""
    return {
        "kept_messages": prefix.kept_messages,
        **present(broken_at=prefix.broken_at),
        "causes": list(prefix.causes),
        # Beside the closed list: to full definitions, or back to what the route declares.
        **present(switch=prefix.switch),
    }


def _head(book: RouteBook, projected: ProjectedRequest, source: str) -> dict[str, Any]:
    request, mode = projected.request, projected.mode
    place = request.place
    endpoint = book.route(request.provider, request.model).route.endpoint
    return {
        "n": place.n,
        "seq": place.seq,
        **present(turn=place.turn, step=place.step),
        "route": {
            "provider": request.provider,
            "model": request.model,
            **present(endpoint=endpoint or None),
        },
        "mode": mode or NO_MODE,
        "mode_from": source,
    }
