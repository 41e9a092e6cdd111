"""No kind of chat node is forgotten by an export."""

from __future__ import annotations

import pytest

from tui.export.chat_json import _facts
from tui.export.chat_sections import _said
from tui.nodes import chat as c

HEADING = {c.TurnNode}
"""Written by whoever goes through the nodes."""
NO_ENTRY = {c.NoteNode}
"""A heading of the pane that the contract does not have."""


@pytest.mark.parametrize(("build", "without"), [(_facts, HEADING | NO_ENTRY), (_said, HEADING)])
def test_every_kind_of_node_is_told(build: object, without: set[type]) -> None:
    known = set(build.registry) - {object}  # pyright: ignore[reportAttributeAccessIssue]
    assert known - {c.ChatNode} == set(c.ChatNode.__subclasses__()) - without
