"""Request headers and contexts, and which is in force (session-format §4.3)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.recorded_events import PlainEvent, recording
from tui.session.request_header import RequestIndex, parse_request_context, parse_request_header


def index(events: list[PlainEvent]) -> RequestIndex:
    requests = RequestIndex()
    for event in events:
        requests.apply(event)
    return requests


# The example of the specification.
HEADER: dict[str, Any] = {
    "header": {
        "config": {
            "provider": "deepseek-official",
            "model": "deepseek-flash",
            "maxTokens": 32000,
            "reasoningEffort": "high",
        },
        "adapterDefaults": {"maxTokens": True},
        "tools": [{"name": "peek", "description": "Look at one pot.", "parameters": {"type": "object"}}],
    },
    "reason": "initial",
}


def test_a_header_is_read_whole() -> None:
    header = parse_request_header(10, HEADER)
    assert (header.seq, header.provider, header.model) == (10, "deepseek-official", "deepseek-flash")
    assert header.config["reasoningEffort"] == "high"
    assert header.adapter_defaults == {"maxTokens"}
    assert [(tool.name, tool.description) for tool in header.tools] == [("peek", "Look at one pot.")]
    assert (header.reason, header.starts_series) == ("initial", False)
    assert parse_request_header(10, {**HEADER, "startsSeries": True}).starts_series


def test_a_context_is_read_whole() -> None:
    data = {"provider": "p", "model": "m", "contextWindow": 1000000, "systemPromptUpdate": "in-history"}
    context = parse_request_context(11, data)
    assert (context.seq, context.provider, context.model) == (11, "p", "m")
    assert (context.context_window, context.system_prompt_update) == (1000000, "in-history")


def test_what_a_context_does_not_say_is_absent() -> None:
    context = parse_request_context(11, {"provider": "p", "model": "m"})
    assert (context.context_window, context.system_prompt_update) == (None, None)


@pytest.mark.parametrize("data", [None, 3, "x", [], {"header": []}, {"header": {"config": 1, "tools": "x"}}])
def test_misshapen_data_reads_as_empty(data: Any) -> None:
    header = parse_request_header(0, data)
    assert (header.config, header.tools, header.reason, header.provider) == ({}, (), "", "")
    context = parse_request_context(0, data)
    assert (context.provider, context.context_window) == ("", None)


def test_the_last_header_at_or_before_a_seq_is_in_force() -> None:
    requests = index(recording("single-tool-added"))  # headers at 7 and 25

    def seq_in_force(seq: int) -> int | None:
        header = requests.header_in_force(seq)
        return header.seq if header else None

    assert [seq_in_force(seq) for seq in (0, 6, 7, 24, 25, 10**9)] == [None, None, 7, 7, 25, 25]
    before = requests.header_before(25)
    assert before is not None
    assert before.seq == 7
    assert [len(header.tools) for header in requests.headers] == [2, 3]


def test_the_context_in_force_is_found_alike() -> None:
    requests = index(recording("single-tool-added"))
    (context,) = requests.contexts
    assert requests.context_in_force(context.seq) is context
    assert requests.context_in_force(context.seq - 1) is None
    assert context.system_prompt_update == "in-history"


def test_seqs_that_go_back_are_sorted_in_and_the_later_of_two_counts() -> None:
    events = [
        PlainEvent("request/header", seq, {"header": {"config": {"model": model}}})
        for seq, model in [(5, "a"), (9, "b"), (7, "c"), (7, "d")]
    ]
    requests = index(events)
    in_force = [requests.header_in_force(seq) for seq in (4, 5, 6, 7, 8, 9)]
    assert [header and header.model for header in in_force] == [None, "a", "a", "d", "d", "b"]


def test_equal_definitions_of_two_headers_are_one_object() -> None:
    first, second = index(recording("single-tool-added")).headers
    assert {id(tool) for tool in first.tools} < {id(tool) for tool in second.tools}
