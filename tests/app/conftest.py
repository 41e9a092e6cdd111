"""A clock for the tests of the app that is faster than a person's, and whether goldens are drawn anew."""

from __future__ import annotations

import pytest
from textual import _wait, screen

_FRAME_SECONDS = 1 / 240
_LOOK_SECONDS = 1 / 180
_IDLE_SHARE = 0.1


@pytest.fixture(autouse=True)
def quick_frames(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw frames, and look whether the app rests, four times as often as Textual does by itself.

    What counts as rest is still longer than a frame, so that a screen at rest is drawn. Goldens are taken by
    the usual clock: they show what stands there when every mark has come and gone.
    """
    if request.node.get_closest_marker("snapshot"):
        return
    monkeypatch.setattr(screen, "UPDATE_PERIOD", _FRAME_SECONDS)
    monkeypatch.setattr(_wait, "SLEEP_GRANULARITY", _LOOK_SECONDS)
    monkeypatch.setattr(_wait, "SLEEP_IDLE", _LOOK_SECONDS * _IDLE_SHARE)


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Whether goldens are written instead of compared."""
    return bool(request.config.option.update_snapshots)
