"""What somebody types into the search line, taken apart: words, phrases and filters.

All words must occur; upper and lower case are equal. `"two words"` is a phrase. Filters are `is:tool-change`,
`is:error`, `tool:NAME`, `kind:assistant` and `turn:3`; anything else with a colon is plain text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tui.nodes.chat_index import NodeKind
from tui.nodes.trajectory_index import RowKind

KINDS = frozenset(kind.name.lower() for kind in (*NodeKind, *RowKind)) - {"turn"}
"""What `kind:` can name (CONTRACT.md): kinds of chat nodes and of trajectory rows."""

_TOKEN = re.compile(
    r'"(?P<phrase>[^"]*)(?:"|$)|(?P<name>is|tool|kind|turn):(?P<value>[^\s"]+)|(?P<word>[^\s"]+)'
)
_ID = re.compile(
    r"(?:toolu|call|msg|req|chatcmpl|session)[-_][\w-]{4,}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]+|[0-9a-f]{16,}"
)


@dataclass(frozen=True, slots=True)
class Query:
    """A search text, taken apart; words are casefolded with single spaces."""

    text: str = ""
    words: tuple[str, ...] = ()
    """Words and phrases that must all occur."""
    tools: tuple[str, ...] = ()
    """Parts of tool names, one of which must fit."""
    kinds: frozenset[str] = frozenset()
    turns: frozenset[int] = frozenset()
    is_tool_change: bool = False
    is_error: bool = False

    @classmethod
    def parse(cls, text: str) -> Query:
        """Take a search text apart; never raises, an open quotation ends with the text."""
        words: list[str] = []
        tools: list[str] = []
        kinds: set[str] = set()
        turns: set[int] = set()
        states: set[str] = set()
        for token in _TOKEN.finditer(text):
            value = (token["value"] or "").casefold()
            match token["name"]:
                case "is" if value in ("tool-change", "error"):
                    states.add(value)
                case "tool":
                    tools.append(value)
                case "kind" if value in KINDS:
                    kinds.add(value)
                case "turn" if value.isascii() and value.isdigit() and len(value) < 16:
                    turns.add(int(value))
                case _:
                    words.append(token["phrase"] if token["phrase"] is not None else token[0])
        folded = (" ".join(word.casefold().split()) for word in words)
        return cls(
            text=text,
            # A tool is shown as "server · name"; the dot stands in no log.
            words=tuple(dict.fromkeys(word for word in folded if word not in ("", "·"))),
            tools=tuple(tools),
            kinds=frozenset(kinds),
            turns=frozenset(turns),
            is_tool_change="tool-change" in states,
            is_error="error" in states,
        )

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked for."""
        return not (
            self.words or self.tools or self.kinds or self.turns or self.is_tool_change or self.is_error
        )

    @property
    def needle(self) -> str:
        """The word or phrase to mark where it stands: the longest."""
        return max((*self.words, *self.tools), key=len, default="")

    @property
    def is_id(self) -> bool:
        """Whether one of the words looks like an id; then ids are searched too."""
        return any(_ID.fullmatch(word) for word in self.words)
