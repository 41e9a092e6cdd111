"""Places on the wire found without a body are those of the bodies that are sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.llm.test_recorded_requests import OFFICIAL, RECORDINGS, requests_of
from tests.support.recorded_events import recorded_events
from tui.llm.projection import project_request
from tui.llm.wire_places import ErrorPath, error_path, source_of, wire_messages

KINDS = {
    "tool_result": "tool",
    "tool_use": "tool-call",
    "thinking": "reasoning",
    "tool_addition": "tool-addition",
    "tool_removal": "tool-removal",
}


@pytest.mark.parametrize("name", RECORDINGS)
def test_roles_and_blocks_stand_where_the_body_has_them(shared: Path, name: str) -> None:
    made = 0
    for log in (shared / "recordings" / name).glob("sessions/*/*/session.v4.jsonl"):
        for request in requests_of(recorded_events(log)):
            call = OFFICIAL.prepare(request.config).with_tool_update(RECORDINGS[name])
            model = call.route.model
            projected = project_request(
                request.messages, request.tools, model.tool_update, request.tool_history
            )
            wire = wire_messages(
                projected.messages, prompts_in_history=model.system_prompt_update == "in-history"
            )
            body = call.body(request)
            assert [(message.role, [block.kind for block in message.blocks]) for message in wire] == [
                (message["role"], [KINDS.get(block["type"], block["type"]) for block in message["content"]])
                for message in body["messages"]
            ]
            made += 1
    assert made


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("messages.7.content.0: tool_addition: unexpected", ErrorPath(7, 0)),
        ("messages.5: `tool_addition` blocks can only be in system messages", ErrorPath(5, None)),
        ("bad request at messages[12].content[3].type", ErrorPath(12, 3)),
        ("body.messages.5.content.0.type: unknown variant", ErrorPath(5, 0)),
        ("the messages are too long", None),
        ("", None),
    ],
)
def test_paths_are_read_in_the_forms_that_providers_use(text: str, path: ErrorPath | None) -> None:
    assert error_path(text) == path


def test_a_place_that_no_message_has_leads_nowhere() -> None:
    wire = wire_messages(
        [{"role": "user", "content": [{"type": "text", "text": "a"}]}], prompts_in_history=True
    )
    assert source_of(wire, ErrorPath(1, 0)) is None
    assert source_of(wire, ErrorPath(0, 4)) is None
    assert source_of(wire, ErrorPath(0, None)) is not None
