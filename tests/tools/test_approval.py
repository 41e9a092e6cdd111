"""Asking before a call runs, and what the log is told (loop-and-adapters §6.3)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.support.tool_calls import USER
from tui.session.cancel import CancelSignal
from tui.tools.approval import (
    AllowAlways,
    AllowOnce,
    Answer,
    ApprovalRequest,
    ApprovalService,
    HeadlessAnswerer,
    Policy,
    Reject,
    Verdict,
)


class FakeUser:
    """Answers questions in order; a question too many is an error."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers)
        self.asked: list[ApprovalRequest] = []

    async def answer(self, request: ApprovalRequest) -> Answer:
        self.asked.append(request)
        await asyncio.sleep(0)
        return self._answers.pop(0)


class Log:
    """The events that a service appends."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    def append(self, kind: str, data: dict[str, Any]) -> None:
        self.events.append((kind, data))

    @property
    def outcomes(self) -> list[str]:
        return [data["outcome"] for kind, data in self.events if kind == "approval/decided"]


async def decide(service: ApprovalService, call_id: str = "c1", **facts: Any) -> Verdict:
    about: dict[str, Any] = {"tool_name": "cast", "arguments": {"far": 1}, "signal": CancelSignal(), **facts}
    return await service.decide(call_id=call_id, **about)


def service_of(user: Any, log: Log, policy: Policy = "ask") -> ApprovalService:
    return ApprovalService(policy, user, log.append)


async def test_a_question_and_its_decision_are_one_pair_in_the_log() -> None:
    log = Log()
    await decide(service_of(FakeUser(AllowOnce()), log), reason="writes outside")
    (asked_kind, asked), (decided_kind, decided) = log.events
    assert (asked_kind, decided_kind) == ("approval/asked", "approval/decided")
    assert asked == {"id": asked["id"], "toolName": "cast", "callId": "c1", "reason": "writes outside"}
    assert decided == {"id": asked["id"], "outcome": "allowed-once"}
    assert asked["id"]


async def test_always_asks_once_and_logs_each_call_as_allowed_once() -> None:
    log, user = Log(), FakeUser(AllowAlways())
    service = service_of(user, log)
    for number in range(3):
        assert (await decide(service, f"c{number}", grant="cast:net")).outcome == "allowed-once"
    assert len(user.asked) == 1
    assert log.outcomes == ["allowed-once"] * 3
    assert len({data["id"] for _, data in log.events}) == 3


async def test_always_holds_for_the_very_grant_only_and_until_it_is_revoked() -> None:
    user = FakeUser(AllowAlways(), Reject(), Reject())
    service = service_of(user, Log())
    await decide(service, grant="cast:net")
    assert (await decide(service, grant="cast:rod")).outcome == "rejected"
    service.revoke()
    assert (await decide(service, grant="cast:net")).outcome == "rejected"


async def test_always_without_a_grant_is_once() -> None:
    service = service_of(FakeUser(AllowAlways(), Reject()), Log())
    assert (await decide(service)).outcome == "allowed-once"
    assert (await decide(service)).outcome == "rejected"


async def test_a_second_question_waits_and_is_spared_by_always() -> None:
    user = FakeUser(AllowAlways())
    service = service_of(user, Log())
    verdicts = await asyncio.gather(*(decide(service, f"c{number}", grant="g") for number in range(4)))
    assert [verdict.outcome for verdict in verdicts] == ["allowed-once"] * 4
    assert len(user.asked) == 1


async def test_policy_never_rejects_at_once_and_asks_nobody() -> None:
    log, user = Log(), FakeUser()
    assert (await decide(service_of(user, log, "never"))).outcome == "rejected"
    assert (log.outcomes, user.asked) == (["rejected"], [])


async def test_a_change_of_policy_is_logged_and_holds() -> None:
    log = Log()
    service = service_of(FakeUser(), log)
    service.set_policy("never")
    assert log.events == [("approval/policy", {"policy": "never"})]
    assert (await decide(service)).outcome == "rejected"


async def test_a_missing_or_failing_answerer_is_unavailable() -> None:
    log = Log()
    assert (await decide(service_of(None, log))).outcome == "unavailable"
    assert (await decide(service_of(FakeUser(), log))).outcome == "unavailable"
    assert log.outcomes == ["unavailable"] * 2


async def test_a_cancel_closes_the_open_question_and_lets_the_next_one_be_asked() -> None:
    log, signal, asked = Log(), CancelSignal(), asyncio.Event()

    class Silent:
        async def answer(self, request: ApprovalRequest) -> Answer:
            asked.set()
            return await asyncio.Event().wait()

    service = service_of(Silent(), log)
    deciding = asyncio.create_task(decide(service, signal=signal))
    await asked.wait()
    signal.cancel(USER)
    assert (await deciding).outcome == "cancelled"
    assert log.outcomes == ["cancelled"]
    service.answerer = FakeUser(AllowOnce())
    assert (await decide(service)).outcome == "allowed-once"


async def test_a_question_that_is_broken_off_leaves_a_whole_pair() -> None:
    log, asked = Log(), asyncio.Event()

    class Silent:
        async def answer(self, request: ApprovalRequest) -> Answer:
            asked.set()
            return await asyncio.Event().wait()

    deciding = asyncio.create_task(decide(service_of(Silent(), log)))
    await asked.wait()
    deciding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await deciding
    assert log.outcomes == ["cancelled"]


async def test_a_log_that_refuses_the_question_is_heard() -> None:
    def refuse(_: str, __: dict[str, Any]) -> None:
        raise OSError("disk full")

    user = FakeUser(AllowOnce())
    with pytest.raises(OSError, match="disk full"):
        await decide(ApprovalService("ask", user, refuse))
    assert user.asked == []


async def test_without_a_user_everything_is_rejected_and_said_so_unless_all_is_approved() -> None:
    said: list[str] = []
    rejecting = HeadlessAnswerer(on_rejected=lambda request: said.append(request.tool_name))
    verdict = await decide(service_of(rejecting, Log()))
    assert (verdict.outcome, verdict.reason, said) == ("rejected", "nobody is there to approve it", ["cast"])
    approving = HeadlessAnswerer(approve_all=True, on_rejected=lambda request: said.append("again"))
    assert (await decide(service_of(approving, Log()))).outcome == "allowed-once"
    assert said == ["cast"]
