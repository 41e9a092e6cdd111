"""From a session that is open to the draft of its summary in the editor."""

from __future__ import annotations

from asyncio import sleep
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tui.app.file_dialog import saver
from tui.app.recovery_screen import DraftDoors, RecoveryScreen
from tui.export.recovery import recovery_text
from tui.i18n import Translator
from tui.loop.fresh_start import FreshStart
from tui.nodes.reading import Reading
from tui.nodes.recovery import Drafter
from tui.nodes.recovery_excerpt import excerpt

if TYPE_CHECKING:
    from tui.app.application import DshApp
    from tui.app.conversation import Starter
    from tui.app.surroundings import Surroundings

_SLICE_S: Final = 0.02


async def drafted(
    reading: Reading, say: Callable[[str], None], tr: Translator, *, checkpoint: bool = False
) -> FreshStart:
    """Draft a summary in slices, so that keys are heard meanwhile; returns it with its original."""
    drafter = Drafter(reading)
    while not drafter.step(_SLICE_S):
        say(tr.t("Reading the session…"))
        await sleep(0)
    say("")
    draft = drafter.result()
    return FreshStart(
        summary=recovery_text(draft, tr, checkpoint=checkpoint),
        session=draft.session,
        seq=draft.last_seq if draft.last_seq >= 0 else None,
        cwd=draft.cwd,
        path=draft.path,
        checkpoint=checkpoint,
    )


def editor_of(
    app: DshApp,
    surroundings: Surroundings,
    reading: Reading,
    draft: FreshStart,
    start: Starter,
) -> RecoveryScreen:
    """Return the editor of a draft with everything that leads out of it."""
    doors = DraftDoors(
        start=start,
        copy=app.copy,
        save=saver(app.settings.homes, reading.log.path),
        improver=app.settings.improver,
        excerpt=lambda: excerpt(reading),
    )
    return RecoveryScreen(surroundings, draft, doors)
