"""What the screen of requests looks like: SVG goldens in `snapshots/`, to be looked at when they change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.support.app_driver import recording, session_app
from tests.support.goldens import compare, names

pytestmark = pytest.mark.snapshot

SMALL, MIDDLE, LARGE = (80, 24), (120, 40), (200, 50)
LENSES = {
    "remove-and-restore": ("4", "g", "t", "t", "t"),
    "many-tools-changed": ("4", "g", "t"),
    "rejected-update": ("4", "g", "e"),
    "many-tools-changed-inhistory": ("4", "g", "t"),
}


class Shot(NamedTuple):
    """One golden: what is seen, and how to come there."""

    what: str
    log: str
    size: tuple[int, int]
    lang: str
    keys: tuple[str, ...]
    ascii_only: bool = False

    @property
    def name(self) -> str:
        return f"requests-{self.what}-{self.size[0]}x{self.size[1]}-{self.lang}"


def shots() -> Iterator[Shot]:
    """All goldens."""
    for log, keys in LENSES.items():
        yield Shot(f"{log}-lens", log, MIDDLE, "en", keys)
        yield Shot(f"{log}-lens", log, MIDDLE, "zh", keys)
    many, restore = "many-tools-changed", "remove-and-restore"
    yield Shot(f"{many}-lens", many, SMALL, "zh", LENSES[many])
    yield Shot(f"{many}-lens", many, LARGE, "en", LENSES[many])
    yield Shot(f"{restore}-difference", restore, MIDDLE, "en", ("4", "G", "T", ">"))
    yield Shot(f"{restore}-difference", restore, SMALL, "zh", ("4", "G", "T", ">"))
    yield Shot("rejected-update-body", "rejected-update", MIDDLE, "en", ("4", "g", "e", "r"))
    yield Shot("ascii", many, SMALL, "en", LENSES[many], ascii_only=True)


SHOTS = {shot.name: shot for shot in shots()}


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.option.update_snapshots)


@pytest.mark.parametrize("name", SHOTS)
async def test_the_screen_of_requests_looks_like_its_golden(name: str, update: bool) -> None:
    shot = SHOTS[name]
    async with session_app(
        recording(shot.log), size=shot.size, lang=shot.lang, ascii_only=shot.ascii_only
    ) as driver:
        await driver.press(*shot.keys)
        await driver.pilot.pause()
        compare(driver, name, update=update)


def test_every_golden_of_requests_belongs_to_a_screen() -> None:
    assert {name for name in names() if name.startswith("requests-")} == set(SHOTS)
