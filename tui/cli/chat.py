"""`dsh-tui chat`: talking on the screen."""

from __future__ import annotations

import asyncio
from typing import Final

from tui.app.conversation import Conversation
from tui.cli.fresh_start import starter, summary_in, tell_how_to_resume
from tui.cli.progress import Progress
from tui.cli.run import WRONG_CALL, Refused, Run
from tui.cli.talking import open_conversation
from tui.nodes.live import LiveReading
from tui.session.progress import part

_PICKED_UP: Final = 0.65
"""Share of the time to the screen that picking up a stored session takes; then it is read for the panes."""


def chat(run: Run) -> int:
    """Talk to a model. Raises Refused, ConfigError, SessionError."""
    if not run.has_screen:
        raise Refused(
            run.tr.t("`chat` needs a terminal; `dsh-tui run TASK` does one task without."), status=WRONG_CALL
        )
    return asyncio.run(_chat(run))


async def _chat(run: Run) -> int:
    options = run.options
    source = options.get("from")
    if source is not None and options.get("resume") is not None:
        raise Refused(
            run.tr.t("A session is resumed or started from a summary, not both."), status=WRONG_CALL
        )
    with Progress(run.tr) as progress:
        conversation = await open_conversation(
            run,
            provider=options.get("provider"),
            model=options.get("model"),
            resume=options.get("resume"),
            cwd=options.get("cwd"),
            fresh=summary_in(run, source) if source is not None else None,
            told=part(progress.tell, 0.0, _PICKED_UP),
        )
        writer, told = conversation.writer, part(progress.tell, _PICKED_UP, 1.0)
        try:
            conversation.reading = LiveReading.of(writer.header, writer.path, writer.events, told=told)
        except BaseException:
            await conversation.close()
            raise
    status = await _on_screen(run, conversation)
    tell_how_to_resume(run, conversation)
    return status


async def _on_screen(run: Run, conversation: Conversation) -> int:
    from tui.app.run import talk

    try:
        return await talk(conversation, settings=run.settings, starter=starter(run))
    finally:
        await conversation.close()
