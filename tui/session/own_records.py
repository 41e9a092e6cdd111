"""Records of our own in a log: foreign to the format, so every one is ignorable (session-format §2.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

import msgspec

from tui.session.json_value import as_count, as_object, as_text

TOOL_UPDATE_DOWNGRADE: Final = "plugin:dsh-tui/tool-update-downgrade"
"""A route is sent full definitions in place of tool changes from here on, or tool changes again."""
RECOVERED_FROM: Final = "plugin:dsh-tui/recovered-from"
"""The session goes on from a summary of another one: see `RecoveredFrom`."""
RECOVERY_CHECKED: Final = "plugin:dsh-tui/recovery-checked"
"""The user has confirmed a first check that only read; without it nothing that writes or runs is allowed."""

DowngradeReason: TypeAlias = Literal["refused", "known", "reset", "expired", "changed"]
_REASONS: Final[Mapping[str, DowngradeReason]] = {
    "refused": "refused",
    "known": "known",
    "reset": "reset",
    "expired": "expired",
    "changed": "changed",
}


def downgrade_of(event_type: str, data: object, *, ignorable: bool) -> Downgrade | None:
    """Return what an event tells if it is such a record, else None."""
    if event_type != TOOL_UPDATE_DOWNGRADE or not ignorable:
        return None
    return Downgrade.from_json(as_object(data))


def recovery_of(event_type: str, data: object, *, ignorable: bool) -> Recovery | None:
    """Return what an event tells of a way back if it is such a record, else None."""
    if not ignorable:
        return None
    if event_type == RECOVERED_FROM:
        return RecoveredFrom.from_json(as_object(data))
    return RecoveryChecked() if event_type == RECOVERY_CHECKED else None


class RecoveredFrom(msgspec.Struct, frozen=True, kw_only=True):
    """What the record of a fresh session tells; what is not known is empty."""

    session: str = ""
    """Id of the original."""
    seq: int | None = None
    """The last event of the original that the summary knows of."""
    path: str = ""
    """Where the original's log was."""
    checkpoint: bool = False
    """The original was sound and was left on purpose."""

    @property
    def address(self) -> str:
        """The original as a command line names it; empty if it is not known."""
        return self.session if self.seq is None or not self.session else f"{self.session}@{self.seq}"

    def to_json(self) -> dict[str, Any]:
        """Return the payload; absent facts have no key."""
        data: dict[str, Any] = {}
        if self.session:
            data["sessionId"] = self.session
        if self.seq is not None:
            data["seq"] = self.seq
        if self.path:
            data["path"] = self.path
        if self.checkpoint:
            data["checkpoint"] = True
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RecoveredFrom:
        """Return what a payload tells; what is misshapen reads as not known."""
        return cls(
            session=as_text(data.get("sessionId")),
            seq=as_count(data.get("seq")),
            path=as_text(data.get("path")),
            checkpoint=data.get("checkpoint") is True,
        )


class RecoveryChecked(msgspec.Struct, frozen=True):
    """The user's word that a first check was seen."""


Recovery: TypeAlias = RecoveredFrom | RecoveryChecked


class Downgrade(msgspec.Struct, frozen=True, kw_only=True):
    """What the record tells. `status`, `code` and `request_id` are those of the refusal."""

    provider: str
    model: str
    endpoint: str
    before: str
    """Tool update mode until here: `addition-only`, `in-history` or `none`."""
    now: str
    """The mode from here on."""
    reason: DowngradeReason
    """`refused` here; `known` from another session; else why tool changes are sent again."""
    learned_ms: int
    """When the route refused."""
    status: int | None = None
    code: str = ""
    request_id: str = ""
    strong: bool = False
    """Whether the provider's own words named the change blocks."""
    prompts_refused: bool = False
    """Later system prompts inside the history are refused too: one prompt is sent, before all messages."""

    @property
    def route(self) -> tuple[str, str, str]:
        """Provider, endpoint and model."""
        return self.provider, self.endpoint, self.model

    @property
    def is_on(self) -> bool:
        """Whether full definitions are sent from here on."""
        return self.now == "none"

    def to_json(self) -> dict[str, Any]:
        """Return the payload; absent facts have no key."""
        data: dict[str, Any] = {"provider": self.provider, "model": self.model, "endpoint": self.endpoint}
        data |= {"from": self.before, "to": self.now, "reason": self.reason, "learnedAt": self.learned_ms}
        if self.status is not None:
            data["status"] = self.status
        if self.code:
            data["code"] = self.code
        if self.request_id:
            data["requestId"] = self.request_id
        if self.is_on:
            data["strong"] = self.strong
        if self.prompts_refused:
            data["systemPromptUpdate"] = "none"
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Downgrade:
        """Return what a payload tells; what is misshapen reads as empty."""
        return cls(
            provider=as_text(data.get("provider")),
            model=as_text(data.get("model")),
            endpoint=as_text(data.get("endpoint")),
            before=as_text(data.get("from")),
            now=as_text(data.get("to")),
            reason=_REASONS.get(as_text(data.get("reason")), "refused"),
            learned_ms=as_count(data.get("learnedAt")) or 0,
            status=as_count(data.get("status")),
            code=as_text(data.get("code")),
            request_id=as_text(data.get("requestId")),
            strong=data.get("strong") is True,
            prompts_refused=data.get("systemPromptUpdate") == "none",
        )
