"""What every fold over a log takes and what it reports."""

from typing import Any, NamedTuple, Protocol


class EventLike(Protocol):
    """The part of an event that the folds look at."""

    @property
    def type(self) -> str: ...
    @property
    def seq(self) -> int: ...
    @property
    def data(self) -> Any: ...
    @property
    def surface_op(self) -> Any: ...


class Fault(NamedTuple):
    """A fact of the log that contradicts the rules of the format; the fold went on without it.

    `code` is stable and names the rule, `detail` is a plain English fact without advice.
    """

    seq: int
    code: str
    detail: str
