"""Whenever a process that talks is killed, its session opens, has what was acknowledged, and goes on."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pytest

from tests.support.loop_driver import check_log, driving, instantly, model, scripted, simple_prompt, tool
from tests.support.session_logs import whole_lines
from tests.support.talk_until_killed import Order
from tui.nodes.reading import Reading
from tui.session.durable import Encoding
from tui.session.events import DAMAGE_TYPE
from tui.session.locking import SessionLock
from tui.session.reader import read_log
from tui.session.rules import RuleChecker
from tui.session.write_errors import SessionRefused

ROOT = Path(__file__).resolve().parents[2]
KILLS = int(os.environ.get("DSH_TUI_KILLS", "20"))
CHAIN = 5
"""Kills of one session before a new one is begun."""


@dataclass
class Told:
    """What a process said until it was killed."""

    log: Path | None = None
    durable: int = -1
    events: dict[int, str] = field(default_factory=dict)


class Talkers:
    """Starts processes that talk, one at a time, and kills them."""

    def __init__(self) -> None:
        self._starter = subprocess.Popen(
            [sys.executable, "-m", "tests.support.talk_until_killed"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        assert self._starter.stdin is not None
        assert self._starter.stdout is not None
        self._orders, self._said = self._starter.stdin, self._starter.stdout

    def talk_and_die(self, order: Order, rng: random.Random) -> Told:
        """Let a process talk, kill it at a random moment, and return what it told by then."""
        print(json.dumps(asdict(order)), file=self._orders, flush=True)
        pid = int(self._said.readline().split()[1])
        told = Told()
        for _ in range(rng.choice((rng.randrange(12), rng.randrange(300)))):
            self._take(self._said.readline(), told)
        # Not at the moment of a line either, but at any moment of what follows it.
        moment = time.perf_counter() + rng.random() * 0.004
        while time.perf_counter() < moment:
            continue
        os.kill(pid, signal.SIGKILL)
        while (line := self._said.readline()) != "ended\n":
            self._take(line, told)
        return told

    def close(self) -> None:
        self._orders.close()
        self._starter.wait(timeout=30)
        self._said.close()

    @staticmethod
    def _take(line: str, told: Told) -> None:
        assert line.endswith("\n"), "a process ended by itself"
        word, value, *rest = line.split(maxsplit=2)
        if word == "log":
            told.log = Path(line.split(maxsplit=1)[1].strip())
        elif word == "durable":
            told.durable = max(told.durable, int(value))
        elif word == "event":
            told.events[int(value)] = rest[0].strip()


@pytest.fixture
def talkers() -> Iterator[Talkers]:
    started = Talkers()
    yield started
    started.close()


def assert_opens(log: Path) -> None:
    """The viewer shows it; at most its end is torn, and what is whole breaks no rule."""
    reading = Reading.open(log)
    reading.read_all()
    damage = list(reading.log.damage)
    reading.log.close()
    assert [entry.code for entry in damage] in ([], ["torn-tail"]), damage
    stored = read_log(log)
    rules = RuleChecker(stored.header, stored.event)
    events = list(stored.events())
    if damage and events and events[-1].type == DAMAGE_TYPE:
        events.pop()
    for event in events:
        rules.apply(event)
    stored.close()


def assert_holds(log: Path, told: Told) -> None:
    """Every event that was acknowledged is in the log, at its place."""
    rows = [json.loads(line) for line in whole_lines(log)[1:]]
    assert len(rows) > told.durable
    found = {row["seq"]: row["type"] for row in rows}
    for seq, kind in told.events.items():
        if seq <= told.durable:
            assert found[seq] == kind


def wait_for_lock(folder: Path) -> None:
    """Wait until nobody holds a session: a command that was just being started may, until it has begun."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            SessionLock.acquire(folder).release()
        except SessionRefused:
            os.sched_yield()
        else:
            return
    raise AssertionError("the session is locked although its process is gone")


async def go_on(log: Path, home: Path) -> None:
    """Resume a session, ask once more; what is sent and what is written is held to the rules."""
    before = whole_lines(log)
    async with driving(
        home,
        scripted([instantly("Going on.")], model(mode="in-history")),
        tools=[tool("weigh")],
        prompt=simple_prompt("You keep moss.", cwd=True),
        resume=log,
    ) as driver:
        await driver.say("Go on.")
        assert driver.reasons[-1] == {"kind": "completed"}
    assert whole_lines(log)[: len(before)] == before
    kinds = [row["data"]["reason"]["kind"] for row in check_log(log) if row["type"] == "turn/end"]
    assert kinds[-1] == "completed"


@pytest.mark.parametrize("encoding", ["none", "zstd"])
async def test_a_conversation_survives_any_kill(tmp_path: Path, talkers: Talkers, encoding: Encoding) -> None:
    rng = random.Random(f"20 {encoding}")
    survived = acknowledged = 0
    log: Path | None = None
    home = tmp_path
    for number in range(max(KILLS // 2, 1)):
        if number % CHAIN == 0:
            log, home = None, tmp_path / f"home-{number}"
            (home / "bed").mkdir(parents=True)
        told = talkers.talk_and_die(Order(str(log or home), str(home / "bed"), encoding), rng)
        if told.log is None or not told.log.exists():
            # Killed before its first batch: nothing was acknowledged and no half session is there.
            assert told.durable == -1
            assert log is None
            continue
        log = told.log
        wait_for_lock(log.parent)
        assert_opens(log)
        assert_holds(log, told)
        await go_on(log, home)
        survived += 1
        acknowledged = max(acknowledged, told.durable)
    assert survived > KILLS // 4
    assert acknowledged > 10
