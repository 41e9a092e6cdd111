"""The commands: the only place that parses arguments."""

from tui.cli.entry import main

__all__ = ["main"]
