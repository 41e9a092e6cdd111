"""The words around a condensed history: what is asked for, and how the answer stands in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tui.loop.messages import Message, text_block, user_message

SOURCE: Final = "compact-checkpoint"

_INSTRUCTION: Final = """\
Stop here and write down what this conversation has come to. The messages above will be taken away and your \
notes put in their place; whoever goes on has nothing else. Do not call tools and do not answer earlier \
questions.

Note, as far as there is something to note:
- what the user wants, in their own terms, and what they ruled out;
- what was done and decided, and why;
- files, commands and places that matter, by their exact names, and what was found in them;
- errors that came up and what became of them;
- what is still open, and the very next step.

Notes from an earlier time that stand among the messages are to be taken over, brought up to date. Write \
plain text in the language of the conversation, as short as it can be without losing any of this."""

_PREAMBLE: Final = (
    "Notes on an earlier part of this conversation, which they replace. Take them as known and go on from "
    "the messages that follow; there is no need to answer or repeat them."
)
_OPENING: Final = "<notes>"
_CLOSING: Final = "</notes>"


def instruction() -> Message:
    """Return the last message of a request for a summary."""
    return user_message(_INSTRUCTION, source={"kind": "compact-basic"})


def checkpoint(summary: Sequence[Mapping[str, Any]], compaction_id: str, command_id: str | None) -> Message:
    """Return the message that takes the place of what was condensed."""
    source = {"kind": SOURCE, "compactionId": compaction_id}
    if command_id is not None:
        source["sourceCommandId"] = command_id
    blocks = [text_block(f"{_PREAMBLE}\n\n{_OPENING}"), *summary, text_block(_CLOSING)]
    return user_message(blocks, source=source)
