"""Everything that the loop asks about a session, kept up to date by each event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tui.session.events import Event
from tui.session.hold_record import HOLD
from tui.session.json_value import as_object, as_text
from tui.session.log_header import LogHeader
from tui.session.own_records import RECOVERED_FROM, RECOVERY_CHECKED, TOOL_UPDATE_DOWNGRADE
from tui.session.request_messages import RequestMessages
from tui.session.rule_error import LogRuleError
from tui.session.rules import RuleChecker
from tui.session.tool_history import ToolHistoryError, ToolHistoryFold

_SETTINGS: Final = (
    "agent-preset/selected",
    "approval/policy",
    "model/selection",
    "permission/preset",
    "sandbox/mode",
    "subagent/model-selection-policy",
)


class SessionState:
    """The folds of one log; `apply` takes an event into all of them or raises LogRuleError into none.

    `lookup` gives an earlier event by its seq.
    """

    def __init__(
        self, header: LogHeader, lookup: Callable[[int], Event], *, unknown_allowed: bool = False
    ) -> None:
        self.rules: Final = RuleChecker(header, lookup, unknown_allowed=unknown_allowed)
        self.tools: Final = ToolHistoryFold(strict=True)
        self.messages: Final = RequestMessages(self.rules.surface, lookup)
        self.header_event: Event | None = None
        """The latest `request/header`."""
        self.header_seqs: Final[list[int]] = []
        """Seqs of every `request/header`."""
        self.context_event: Event | None = None
        """The latest `request/context`."""
        self.last_event: Event | None = None
        self.title: str | None = None
        """The latest title."""
        self.title_is_pinned = False
        """Whether the user gave the latest title by hand."""
        self.plan_mode = False
        """Whether plan mode is selected."""
        self.cwd: str | None = header.cwd
        """The working directory in force."""
        self.settings: Final[dict[str, dict[str, Any]]] = {}
        """The latest payload of each event type that is a setting of the session (session-format §4.10)."""
        self.message_sources: Final[set[str]] = set()
        """The kinds of source that user messages ever had, shadowed ones included."""
        self.own_records: Final[list[Event]] = []
        """Records of our own, in order."""
        self._records: Final[dict[str, Callable[[Event], None]]] = {
            **dict.fromkeys(_SETTINGS, self._setting),
            "user/message": self._user_message,
            "request/header": self._header,
            "request/context": self._context,
            "session/title": self._title,
            "plan/mode": self._plan_mode,
            "working-directory/change": self._cwd,
            TOOL_UPDATE_DOWNGRADE: self.own_records.append,
            RECOVERED_FROM: self.own_records.append,
            RECOVERY_CHECKED: self.own_records.append,
            HOLD: self.own_records.append,
        }

    def apply(self, event: Event) -> None:
        """Fold one event in."""
        self.rules.apply(event)
        try:
            self.tools.apply(event)
        except ToolHistoryError as error:
            # Rule 12 has the same condition, so this is a fault of ours, not of the event.
            raise LogRuleError(12, event.type, str(error), event.seq) from error
        self.messages.observe(event)
        self.last_event = event
        record = self._records.get(event.type)
        if record is not None:
            record(event)

    def _user_message(self, event: Event) -> None:
        self.message_sources.add(as_text(as_object(event.data.get("source")).get("kind")))

    def _header(self, event: Event) -> None:
        self.header_event = event
        self.header_seqs.append(event.seq)

    def _context(self, event: Event) -> None:
        self.context_event = event

    def _title(self, event: Event) -> None:
        self.title = event.data["title"]
        self.title_is_pinned = as_object(event.data.get("source")).get("kind") == "user"

    def _plan_mode(self, event: Event) -> None:
        self.plan_mode = event.data["active"]
        self._setting(event)

    def _cwd(self, event: Event) -> None:
        cwd = event.data.get("cwd")
        if isinstance(cwd, str):
            self.cwd = cwd

    def _setting(self, event: Event) -> None:
        self.settings[event.type] = event.data
