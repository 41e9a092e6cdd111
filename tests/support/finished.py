"""What a run of the command line came to."""

from __future__ import annotations


class Done:
    """A finished run: its status and what it said."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err
