"""The error that every rule of a log raises."""

from typing import NoReturn

from tui.session.events import Event

SHAPE = 0
"""The number under which faults of the envelope and of payloads go (session-format §2.4, §2.5, §4)."""


class LogRuleError(Exception):
    """An event that the format does not allow at its place.

    `rule` is the number in session-format §3, or `SHAPE`; `sentence` a plain English fact without advice.
    """

    def __init__(self, rule: int, event_type: str, sentence: str, seq: int = -1) -> None:
        super().__init__(f"{event_type} at seq {seq} breaks rule {rule}: {sentence}")
        self.rule = rule
        self.event_type = event_type
        self.sentence = sentence
        self.seq = seq


def refuse(event: Event, rule: int, sentence: str) -> NoReturn:
    """Raise `LogRuleError` for an event."""
    raise LogRuleError(rule, event.type, sentence, event.seq)
