"""One turn: proposals, steps and why it ended (loop-and-adapters §1.2, §1.3)."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

from tui.loop.compaction import relieve_pressure
from tui.loop.context import context_due, is_context
from tui.loop.errors import error_json
from tui.loop.header import last_header, proposed_config
from tui.loop.hooks import Enter, Proposal, RejectStep, StepDecision
from tui.loop.inbox import Claim
from tui.loop.prompt import PromptContext, render_contexts
from tui.loop.state import Activity, Loop
from tui.loop.step import Step, StepPlan
from tui.session.cancel import Cancelled
from tui.session.closers import closing_results
from tui.session.write_errors import SessionWriteError
from tui.tools.hooks import waterfall
from tui.tools.tool import ModelSelection

EndKind: TypeAlias = Literal["completed", "max-tokens", "blocked", "aborted", "error"]

_GOES_ON: Final = ("completed", "max-tokens")


class Turn:
    """A turn of an agent; `run` takes it from its start to its end event."""

    def __init__(self, loop: Loop, activity: Activity) -> None:
        self._loop = loop
        self._writer = loop.writer
        self._activity = activity
        self._signal = activity.signal
        self._turn = loop.writer.last_turn + 1
        self._is_cut = False
        self._had_step = False

    async def run(self) -> bool:
        """Run the turn; returns whether the next one may follow. Raises SessionWriteError."""
        self._writer.append("turn/start", {"turn": self._turn})
        reason: dict[str, Any]
        try:
            reason = {"kind": await self._steps()}
        except SessionWriteError:
            raise
        except Cancelled as cancelled:
            reason = {"kind": "aborted", "reason": cancelled.cause}
        except Exception as error:  # whatever a provider, a hook or a section raises ends the turn alone
            facts = error_json(error)
            reason = {"kind": "error", "error": facts}
            self._tell(error, facts)
        self._writer.append("turn/end", {"turn": self._turn, "reason": reason})
        return reason["kind"] in _GOES_ON and self._had_step

    async def _steps(self) -> EndKind:
        ended: EndKind | None = None
        while True:
            plan = await self._propose(ended)
            if isinstance(plan, RejectStep):
                return "blocked"
            if plan is None:
                return ended or "completed"
            try:
                outcome = await self._step(plan)
            finally:
                plan.tool_set.dispose()
            if outcome == "continue":
                ended = None
                continue
            self._is_cut = self._is_cut or outcome == "max-tokens"
            ended = "max-tokens" if self._is_cut else "completed"
            if not self._loop.inbox.waiting("next-step"):
                for listener in tuple(self._loop.hooks.turn_stopping):
                    await listener(self._turn)
                    self._signal.raise_if_cancelled()
                if not self._loop.inbox.waiting("next-step"):
                    return ended

    async def _propose(self, ended: EndKind | None) -> StepPlan | RejectStep | None:
        """Return the next step; None if there is nothing (more) to be done."""
        opens_turn = not self._had_step
        claim = self._loop.inbox.claim(opens_turn=opens_turn)
        try:
            self._signal.raise_if_cancelled()
            return await self._admit(claim, needs_messages=opens_turn or ended is not None)
        except Exception as error:
            self._give_back(claim, error)
            raise

    async def _admit(self, claim: Claim, *, needs_messages: bool) -> StepPlan | RejectStep | None:
        loop, signal = self._loop, self._signal
        before = last_header(self._writer)
        config = proposed_config(loop.selection, before, is_chosen=loop.is_chosen)
        selection = ModelSelection(
            provider=config.provider, model=config.model, reasoning_effort=config.reasoning_effort
        )
        tool_set = await loop.tools.resolve(model_selection=selection, signal=signal, agent=loop)
        entered = False
        try:
            context = PromptContext(selection=selection, tool_set=tool_set, cwd=self._writer.state.cwd)
            prompt = await loop.prompt.assemble(context, signal)
            contexts = await render_contexts(prompt.contexts, context, signal)

            async def enter() -> StepDecision:
                await relieve_pressure(loop, self._turn, signal)
                signal.raise_if_cancelled()
                known, existed = loop.watch.context, bool(contexts) or loop.watch.context_existed
                due = context_due(contexts, known, existed=existed)
                return Enter((*claim.messages, *(() if due is None else (due,))))

            step = self._writer.last_step + 1
            proposal = Proposal(self._turn, step, tuple(claim.messages), tool_set, signal)
            decision = await waterfall(loop.hooks.pre_step, proposal, enter)
            signal.raise_if_cancelled()
            if isinstance(decision, RejectStep):
                return decision
            if needs_messages and all(map(is_context, decision.messages)):
                return None
            entered = True
            return StepPlan(claim, decision.messages, decision.starts_series, tool_set, prompt, context)
        finally:
            if not entered:
                tool_set.dispose()

    async def _step(self, plan: StepPlan) -> Literal["continue", "completed", "max-tokens"]:
        step = self._writer.last_step + 1
        self._writer.append("step/start", {"turn": self._turn, "step": step})
        self._had_step = True
        try:
            return await Step(self._loop, plan, self._turn, step, self._signal).run()
        except Exception as error:
            if not plan.is_admitted:
                self._give_back(plan.claim, error)
            raise
        finally:
            if self._writer.failure is None:
                self._end_step(step)

    def _end_step(self, step: int) -> None:
        writer = self._writer
        if writer.open_calls:
            writer.add_all(
                closing_results(writer.open_calls, turn=self._turn, step=step, next_seq=writer.next_seq)
            )
        writer.append("step/end", {"turn": self._turn, "step": step})

    def _give_back(self, claim: Claim, error: BaseException) -> None:
        """Keep what was claimed for a step that did not come about, unless the user gave it up."""
        if self._writer.failure is not None:
            return
        if not isinstance(error, Cancelled) or self._activity.keeps_inbox:
            self._loop.inbox.give_back(claim)
        else:
            self._loop.frames.dropped(claim.messages)

    def _tell(self, error: BaseException, facts: dict[str, Any]) -> None:
        for listener in tuple(self._loop.hooks.error):
            listener(self._turn, self._writer.last_step or None, facts, error)
