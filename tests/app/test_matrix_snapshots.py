"""What tools over time look like: SVG goldens in `snapshots/`, to be looked at when they change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.support.app_driver import recording, session_app
from tests.support.goldens import compare, names

pytestmark = pytest.mark.snapshot

SMALL, MIDDLE = (80, 24), (120, 40)
IN_HISTORY = ("3", "M", "M", "M", "home", "t")


class Shot(NamedTuple):
    """One golden: what is seen, and how to come there."""

    what: str
    log: str
    size: tuple[int, int]
    lang: str
    keys: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"matrix-{self.what}-{self.size[0]}x{self.size[1]}-{self.lang}"


def shots() -> Iterator[Shot]:
    """All goldens."""
    for lang in ("en", "zh"):
        yield Shot("rejected-update", "rejected-update", MIDDLE, lang, ("3", "home", "e", "enter"))
        for twin in ("inhistory", "no-updates"):
            log = f"many-tools-changed-{twin}"
            yield Shot(log, log, MIDDLE, lang, IN_HISTORY if twin == "inhistory" else ("3", "home", "t"))
    yield Shot("rejected-update", "rejected-update", SMALL, "zh", ("3", "home", "e"))
    yield Shot("cell", "remove-and-restore", MIDDLE, "zh", ("3", "home", "t", "t", "t", "enter"))


SHOTS = {shot.name: shot for shot in shots()}


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.option.update_snapshots)


@pytest.mark.parametrize("name", SHOTS)
async def test_tools_over_time_look_like_their_golden(name: str, update: bool) -> None:
    shot = SHOTS[name]
    async with session_app(recording(shot.log), size=shot.size, lang=shot.lang) as driver:
        await driver.press(*shot.keys)
        await driver.pilot.pause()
        compare(driver, name, update=update)


def test_every_golden_of_the_matrix_belongs_to_a_screen() -> None:
    assert {name for name in names() if name.startswith("matrix-")} == set(SHOTS)
