"""`dsh-tui recover`: a draft summary of a session for a fresh one; the original is only read."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from tui.cli.output_place import place_for
from tui.cli.run import NO_PROVIDER, OK, TURN_FAILED, Refused, Run, complain, is_terminal
from tui.cli.session_reading import found, read
from tui.export.output import utf8_writer, whole_file
from tui.export.recovery import recovery_text
from tui.nodes.doctor import examine
from tui.nodes.reading import Reading
from tui.nodes.recovery import draft

if TYPE_CHECKING:
    from tui.loop.improvement import Improvement


def recover(run: Run) -> int:
    """Write the draft, with `--improve` as a model words it; its own words where the model fails.

    Raises Refused for a place that nothing is written to, and where no model is configured to be asked.
    """
    session, _ = found(run)
    place = place_for(session, run)
    improvement = _improvement(run) if run.options.get("improve") else None
    reading = read(session, run)
    text, status = recovery_text(draft(reading), run.tr, examine(reading)), OK
    if improvement is not None:
        text, status = asyncio.run(_improved(run, improvement, reading, text))
    if place is None:
        utf8_writer(sys.stdout)(text)
        return status
    with whole_file(place) as write:
        write(text)
    return status


def _improvement(run: Run) -> Improvement:
    from tui.cli.fresh_start import improver

    found_route = improver(run.config, run.config_path, run.tr)
    if isinstance(found_route, str):
        raise Refused(found_route, status=NO_PROVIDER)
    return found_route


async def _improved(run: Run, improvement: Improvement, reading: Reading, text: str) -> tuple[str, int]:
    """The draft as a model words it, or as it was with a word why not."""
    from tui.export.recovery_merge import improved
    from tui.loop.improvement import ImprovementFailed
    from tui.nodes.recovery_excerpt import excerpt
    from tui.session.cancel import CancelSignal

    answer = ""
    if is_terminal(sys.stderr):
        complain(run.tr.t("asking {route}…", route=improvement.route(run.tr)))
    try:
        async for so_far in improvement.stream(text, excerpt(reading), run.tr, CancelSignal()):
            answer = so_far
    except ImprovementFailed as failed:
        complain(failed.sentence(run.tr))
        return text, TURN_FAILED
    return improved(text, answer, run.tr, improvement.route(run.tr)), OK
