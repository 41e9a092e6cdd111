"""dsh-tui: a terminal chat and trajectory viewer for DeepSeek Harness sessions."""

__version__ = "0.1.0"
