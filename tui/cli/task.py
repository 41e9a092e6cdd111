"""`dsh-tui run`: one task without a screen; its answer on standard output, all else on standard error."""

from __future__ import annotations

import asyncio
import signal
import sys

from tui.app.conversation import Conversation
from tui.blocks.clean import clean, clean_line
from tui.blocks.wording_faults import failure_title, interruption_title
from tui.blocks.wording_ways_out import way_out
from tui.cli.progress import Progress
from tui.cli.run import INTERRUPTED, OK, TURN_FAILED, Run, complain
from tui.cli.talking import open_conversation
from tui.loop.messages import text_of
from tui.session.event_text import line_of
from tui.session.events import Event
from tui.session.json_value import as_object, as_text
from tui.tools.approval import ApprovalRequest, HeadlessAnswerer


def run_task(run: Run) -> int:
    """Do one task; returns 0, 1 if its turn failed, 130 if it was interrupted. Raises as `chat`."""
    return asyncio.run(_run(run))


async def _run(run: Run) -> int:
    tr = run.tr

    def rejected(request: ApprovalRequest) -> None:
        tool = clean_line(request.tool_name)
        complain(tr.t("{tool} was not allowed to run; --approve all allows every call.", tool=tool))

    answerer = HeadlessAnswerer(approve_all=run.options.get("approve") == "all", on_rejected=rejected)
    with Progress(tr) as progress:
        conversation = await open_conversation(
            run, resume=run.options.get("resume"), answerer=answerer, told=progress.tell
        )
    for notice in conversation.notices:
        complain(clean_line(notice))
    try:
        return await _task(run, conversation)
    finally:
        await conversation.close()


async def _task(run: Run, conversation: Conversation) -> int:
    agent, writer = conversation.agent, conversation.writer
    events: list[Event] = []
    as_json = bool(run.options.get("json"))

    def take(event: Event) -> None:
        events.append(event)
        if as_json:
            sys.stdout.buffer.write(line_of(event))
            sys.stdout.buffer.flush()

    if as_json:
        for event in writer.pickup:
            take(event)
    writer.subscribe(take)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, agent.cancel)
    try:
        task = " ".join(run.options["task"])
        if conversation.guide is not None:
            conversation.guide.about_to_send(task)
        agent.followup(task)
        await agent.when_idle()
    finally:
        loop.remove_signal_handler(signal.SIGINT)
    if writer.failure is not None:
        raise writer.failure
    return _ended(run, events, as_json=as_json)


def _ended(run: Run, events: list[Event], *, as_json: bool) -> int:
    """Print the answer and say how the turn ended."""
    tr = run.tr
    end = next((event for event in reversed(events) if event.type == "turn/end"), None)
    reason = as_object(as_object(end.data if end is not None else None).get("reason"))
    kind = as_text(reason.get("kind"))
    if not as_json:
        said = (as_object(event.data).get("message") for event in events if event.type == "assistant/message")
        texts = [text for message in said if (text := text_of(as_object(message)).strip())]
        if texts:
            sys.stdout.write(clean(texts[-1]) + "\n")
    match kind:
        case "completed":
            return OK
        case "error":
            error = as_object(reason.get("error"))
            code = as_text(error.get("code"))
            told = [failure_title(tr, code), clean_line(as_text(error.get("message"))), way_out(tr, code)]
            complain("; ".join(part for part in told if part))
            return TURN_FAILED
        case "aborted":
            complain(interruption_title(tr, kind, as_text(as_object(reason.get("reason")).get("kind"))))
            return INTERRUPTED
        case _:
            complain(interruption_title(tr, kind))
            return TURN_FAILED
