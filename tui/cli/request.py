"""`dsh-tui request`: one model request as its route is sent it."""

from __future__ import annotations

import sys
from typing import Final

from tui.blocks.wording_requests import doubt_text
from tui.cli.routes import route_book
from tui.cli.run import OK, Refused, Run, complain
from tui.cli.session_reading import found, read
from tui.export.json_text import json_of, write_document
from tui.export.output import utf8_writer
from tui.export.request_wire import body_of, shown_as
from tui.export.requests_json import request_member
from tui.export.session_facts import session_member
from tui.llm.failure import LlmFailure
from tui.nodes.request_projection import doubts
from tui.nodes.requests import Requests

NO_SUCH_REQUEST: Final = 3


def request(run: Run) -> int:
    """Print the request as JSON; raises Refused with status 3 for a number that there is not."""
    number: int = run.options["number"]
    session, _ = found(run)
    reading = read(session, run)
    requests = Requests(reading)
    if not 1 <= number <= len(requests):
        there_are = run.tr.n(
            "the session has {n} model request", "the session has {n} model requests", len(requests)
        )
        sentence = run.tr.t("There is no request {number}: {there_are}.", number=number, there_are=there_are)
        raise Refused(sentence, status=NO_SUCH_REQUEST)
    book = route_book(run)
    shown = shown_as(book, requests.request(number), run.options.get("mode", "recorded"))
    write = utf8_writer(sys.stdout)
    if not run.options.get("wire"):
        write_document(
            write,
            "request",
            {"session": session_member(reading), **request_member(book, requests, shown)},
            {},
        )
        return OK
    try:
        write(json_of(body_of(book, shown.projected, session.path)) + "\n")
    except LlmFailure as failure:
        reason = run.tr.t(
            "Request {number} cannot be put in the form of this route: {reason}.",
            number=number,
            reason=failure.message,
        )
        raise Refused(reason) from None
    # A bare body has no place for it.
    for doubt in doubts(requests, shown.projected, shown.sent):
        complain(run.tr.t("Approximate: {reason}.", reason=doubt_text(run.tr, doubt)))
    return OK
