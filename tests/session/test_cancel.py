"""One signal stops everything that listens to it."""

import asyncio
import gc
import weakref

import pytest

from tui.session.cancel import Cancelled, CancelSignal

USER = {"kind": "user"}
PARENT = {"kind": "parent"}


def test_the_first_cause_counts() -> None:
    signal = CancelSignal()
    signal.cancel(USER)
    signal.cancel(PARENT)
    assert signal.cancelled
    assert signal.cause == USER


def test_a_child_is_cancelled_with_its_parent() -> None:
    signal = CancelSignal()
    grandchild = (child := signal.child()).child()
    signal.cancel(USER)
    assert child.cause == grandchild.cause == USER


def test_a_parent_outlives_its_child() -> None:
    signal = CancelSignal()
    signal.child().cancel(USER)
    assert not signal.cancelled


def test_a_child_of_a_cancelled_signal_is_born_cancelled() -> None:
    signal = CancelSignal()
    signal.cancel(USER)
    assert signal.child().cause == USER


def test_a_signal_keeps_no_child_that_nobody_else_holds() -> None:
    signal = CancelSignal()
    child = weakref.ref(signal.child())
    gc.collect()
    assert child() is None


def test_raising_tells_the_cause() -> None:
    signal = CancelSignal()
    signal.raise_if_cancelled()
    signal.cancel(USER)
    with pytest.raises(Cancelled) as raised:
        signal.raise_if_cancelled()
    assert raised.value.cause == USER


async def test_everybody_who_waits_is_woken() -> None:
    signal = CancelSignal()
    waiting = [asyncio.create_task(one.wait()) for one in (signal, signal.child(), signal.child())]
    await asyncio.sleep(0)
    signal.cancel(USER)
    assert await asyncio.gather(*waiting) == [USER] * 3


async def test_guarded_work_gives_what_it_gives() -> None:
    async def work() -> int:
        await asyncio.sleep(0)
        return 7

    assert await CancelSignal().guard(work()) == 7


async def test_guarded_work_raises_what_it_raises() -> None:
    async def work() -> int:
        raise KeyError("tide")

    with pytest.raises(KeyError):
        await CancelSignal().guard(work())


async def test_a_guard_leaves_work_that_does_not_stop() -> None:
    signal = CancelSignal()
    started, told, go_on = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def stubborn() -> None:
        started.set()
        try:
            await go_on.wait()
        except asyncio.CancelledError:
            told.set()
            await go_on.wait()
        raise KeyError("ignored")

    guarded = asyncio.create_task(signal.guard(stubborn()))
    await started.wait()
    signal.cancel(USER)
    with pytest.raises(Cancelled):
        await guarded
    await told.wait()
    go_on.set()


async def test_a_cancelled_signal_starts_nothing() -> None:
    signal = CancelSignal()
    signal.cancel(USER)
    reached: list[str] = []

    async def work() -> None:
        reached.append("body")

    with pytest.raises(Cancelled):
        await signal.guard(work())
    assert reached == []


async def test_cancelling_wins_over_a_result_of_the_same_moment() -> None:
    signal = CancelSignal()

    async def work() -> int:
        signal.cancel(USER)
        return 7

    with pytest.raises(Cancelled):
        await signal.guard(work())
