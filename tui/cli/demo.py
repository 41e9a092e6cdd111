"""`dsh-tui demo`: scenes one after the other on the screen; without a screen one is played to its end."""

from __future__ import annotations

import asyncio
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from tui.app.conversation import Conversation, DemoStarter
from tui.blocks.clean import clean_line
from tui.cli.fresh_start import starter
from tui.cli.run import OK, Refused, Run
from tui.cli.scenes import PACE_SECONDS, Scene, scene_after, scenes
from tui.cli.talking import open_scene
from tui.i18n import Translator
from tui.os_reasons import os_sentence
from tui.tools.approval import HeadlessAnswerer


def demo(run: Run) -> int:
    """Play scenes with the built-in provider; without a screen one, in plain form."""
    name = run.options.get("scene")
    # Temporary: a scene can be had again at any time.
    with ExitStack() as folders:
        if run.has_screen:
            return asyncio.run(_on_screen(run, scene_starter(run, folders, name)))
        scene = _scene(name)
        if scene is None:
            raise Refused(_missing(run.tr))
        return asyncio.run(_plain(run, scene, Path(folders.enter_context(_folder()))))


def scene_starter(run: Run, folders: ExitStack, name: str | None = None) -> DemoStarter:
    """Return what starts a scene, by default the first, and knows the one that follows.

    The session of a scene lies in a folder that goes with `folders`.
    """

    async def start(tr: Translator) -> Conversation | str:
        scene = _scene(name)
        if scene is None:
            return _missing(tr)
        following = scene_after(scene)
        try:
            folder = Path(folders.enter_context(_folder()))
            there = replace(run, tr=tr)
            conversation = await open_scene(there, scene, folder, answerer=None, pace_s=PACE_SECONDS)
        except OSError as error:
            return clean_line(os_sentence(tr, error))
        if following is not None:
            conversation.following = scene_starter(run, folders, following.name)
        return conversation

    return start


def _scene(name: str | None) -> Scene | None:
    return next((entry for entry in scenes() if name is None or entry.name == name), None)


def _missing(tr: Translator) -> str:
    return tr.t("The scenes are missing; install dsh-tui again.")


def _folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="dsh-tui-")


async def _on_screen(run: Run, start: DemoStarter) -> int:
    from tui.app.run import talk

    conversation = await start(run.tr)
    if isinstance(conversation, str):
        raise Refused(conversation)
    try:
        return await talk(conversation, settings=run.settings, starter=starter(run))
    finally:
        await conversation.close()


async def _plain(run: Run, scene: Scene, folder: Path) -> int:
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
