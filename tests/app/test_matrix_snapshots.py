"""What tools over time look like: SVG goldens in `snapshots/`, to be looked at when they change."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.goldens import Shot, compare_shot, names

pytestmark = pytest.mark.snapshot

SMALL, MIDDLE = (80, 24), (120, 40)
IN_HISTORY = ("3", "M", "M", "M", "home", "t")


def shots() -> Iterator[Shot]:
    """All goldens."""
    for lang in ("en", "zh"):
        yield Shot("matrix-rejected-update", "rejected-update", MIDDLE, lang, ("3", "home", "e", "enter"))
        for twin in ("inhistory", "no-updates"):
            log = f"many-tools-changed-{twin}"
            yield Shot(
                f"matrix-{log}", log, MIDDLE, lang, IN_HISTORY if twin == "inhistory" else ("3", "home", "t")
            )
    yield Shot("matrix-rejected-update", "rejected-update", SMALL, "zh", ("3", "home", "e"))
    yield Shot("matrix-cell", "remove-and-restore", MIDDLE, "zh", ("3", "home", "t", "t", "t", "enter"))


SHOTS = {shot.name: shot for shot in shots()}


@pytest.mark.parametrize("name", SHOTS)
async def test_tools_over_time_look_like_their_golden(name: str, update: bool) -> None:
    await compare_shot(SHOTS[name], update=update)


def test_every_golden_of_the_matrix_belongs_to_a_screen() -> None:
    assert {name for name in names() if name.startswith("matrix-")} == set(SHOTS)
