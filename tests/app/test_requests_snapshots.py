"""What the screen of requests looks like: SVG goldens in `snapshots/`, to be looked at when they change."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.goldens import Shot, compare_shot, names

pytestmark = pytest.mark.snapshot

SMALL, MIDDLE, LARGE = (80, 24), (120, 40), (200, 50)
LENSES = {
    "remove-and-restore": ("4", "g", "t", "t", "t"),
    "many-tools-changed": ("4", "g", "t"),
    "rejected-update": ("4", "g", "e"),
    "many-tools-changed-inhistory": ("4", "g", "t"),
    "many-tools-changed-no-updates": ("4", "g", "t"),
}


def shots() -> Iterator[Shot]:
    """All goldens."""
    for log, keys in LENSES.items():
        yield Shot(f"requests-{log}-lens", log, MIDDLE, "en", keys)
        yield Shot(f"requests-{log}-lens", log, MIDDLE, "zh", keys)
    many, restore = "many-tools-changed", "remove-and-restore"
    yield Shot(f"requests-{many}-lens", many, SMALL, "zh", LENSES[many])
    yield Shot(f"requests-{many}-lens", many, LARGE, "en", LENSES[many])
    yield Shot(f"requests-{restore}-difference", restore, MIDDLE, "en", ("4", "G", "T", ">"))
    yield Shot(f"requests-{restore}-difference", restore, SMALL, "zh", ("4", "G", "T", ">"))
    yield Shot("requests-rejected-update-body", "rejected-update", MIDDLE, "en", ("4", "g", "e", "r"))
    yield Shot("requests-ascii", many, SMALL, "en", LENSES[many], ascii_only=True)


SHOTS = {shot.name: shot for shot in shots()}


@pytest.mark.parametrize("name", SHOTS)
async def test_the_screen_of_requests_looks_like_its_golden(name: str, update: bool) -> None:
    await compare_shot(SHOTS[name], update=update)


def test_every_golden_of_requests_belongs_to_a_screen() -> None:
    assert {name for name in names() if name.startswith("requests-")} == set(SHOTS)
