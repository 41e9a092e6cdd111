"""`dsh-tui chat` and `dsh-tui demo`: talking on the screen; without a screen a scene is played to its end."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Final

from tui.app.conversation import Conversation
from tui.cli.fresh_start import starter, summary_in, tell_how_to_resume
from tui.cli.progress import Progress
from tui.cli.run import OK, WRONG_CALL, Refused, Run
from tui.cli.scenes import PACE_SECONDS, Scene, scenes
from tui.cli.talking import open_conversation, open_scene
from tui.nodes.live import LiveReading
from tui.session.progress import part
from tui.tools.approval import HeadlessAnswerer

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


def demo(run: Run) -> int:
    """Play a scene with the built-in provider; without a screen to its end, in plain form."""
    known = scenes()
    name = run.options.get("scene")
    scene = next((entry for entry in known if name is None or entry.name == name), None)
    if scene is None:
        raise Refused(run.tr.t("The scenes are missing; install dsh-tui anew."))
    # Temporary: a scene can be had again at any time.
    with tempfile.TemporaryDirectory(prefix="dsh-tui-") as folder:
        place = Path(folder)
        return asyncio.run(_demo(run, scene, place) if run.has_screen else _plain_demo(run, scene, place))


async def _demo(run: Run, scene: Scene, folder: Path) -> int:
    return await _on_screen(run, await open_scene(run, scene, folder, answerer=None, pace_s=PACE_SECONDS))


async def _on_screen(run: Run, conversation: Conversation) -> int:
    from tui.app.run import talk

    try:
        return await talk(conversation, settings=run.settings, starter=starter(run))
    finally:
        await conversation.close()


async def _plain_demo(run: Run, scene: Scene, folder: Path) -> int:
    from tui.export import Export, write_export
    from tui.nodes.reading import Reading

    answerer = HeadlessAnswerer(approve_all=True)
    conversation = await open_scene(run, scene, folder, answerer=answerer, pace_s=0.0)
    guide = conversation.guide
    try:
        while guide is not None and (prompt := guide.offered(run.tr)) is not None:
            guide.about_to_send(prompt)
            conversation.agent.followup(prompt)
            await conversation.agent.when_idle()
    finally:
        await conversation.close()
    reading = Reading.open(conversation.writer.path).read_all()
    try:
        write = sys.stdout.write
        write_export(write, reading, run.tr, Export("chat", "text", ascii=run.settings.ascii, first=0))
    finally:
        reading.log.close()
    return OK
