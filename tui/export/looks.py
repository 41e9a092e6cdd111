"""The colours of exported pages and pictures: which tone a role wears, and the tones of both themes.

The same tones as on the screen (the app's themes); a reader's program chooses light or dark.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tui.blocks.text import ROLES

DARK: Final[Mapping[str, str]] = {
    "background": "#15181d",
    "panel": "#1b1f26",
    "text": "#d7dbe2",
    "muted": "#a0a9b6",
    "faint": "#8a94a3",
    "green": "#8bc48a",
    "red": "#f08a82",
    "cyan": "#74c0d6",
    "blue": "#8fb4f0",
    "magenta": "#cf9ee0",
    "amber": "#e3b566",
    "orange": "#e39a6b",
    "line": "#3a4452",
}
LIGHT: Final[Mapping[str, str]] = {
    "background": "#fbfbf9",
    "panel": "#f3f3f0",
    "text": "#22272e",
    "muted": "#566070",
    "faint": "#5f6875",
    "green": "#23702f",
    "red": "#b3261e",
    "cyan": "#0b6a80",
    "blue": "#1d57b5",
    "magenta": "#8a2fa5",
    "amber": "#835400",
    "orange": "#9a4308",
    "line": "#c3cad4",
}

_TONES: Final[Mapping[str, str]] = {
    "muted": "muted context rule table-border quote code-comment code-operator unknown header reasoning",
    "faint": "faint",
    "blue": "user accent system job subagent lane-input link",
    "cyan": "tool command code-keyword lane-tool restored",
    "magenta": "plan compaction approval diff-hunk redefined",
    "green": "code-string lane-model ok added diff-add",
    "orange": "code-number",
    "amber": "lane-ttft warning retry interrupted",
    "red": "removed diff-remove error damage lane-error",
}
_TONE_OF: Final = {role: tone for tone, roles in _TONES.items() for role in roles.split()}
BOLD_ROLES: Final = frozenset(("user", "title", "heading", "turn", "error", "damage", "lane-error"))


def tone(role: str) -> str:
    """Return the name of the tone that a role wears; plain text for one that is not known."""
    return _TONE_OF.get(role, "text")


def variables(tones: Mapping[str, str]) -> str:
    """Return the tones as CSS custom properties."""
    return "".join(f"--{name}:{colour};" for name, colour in tones.items())


def role_rules(attribute: str) -> str:
    """Return one CSS rule for each role; `attribute` is what takes the colour (`color` or `fill`)."""
    rules: list[str] = []
    for role in ROLES:
        bold = "font-weight:600;" if role in BOLD_ROLES else ""
        slant = "font-style:italic;" if role == "reasoning" else ""
        rules.append(f".r-{role}{{{attribute}:var(--{tone(role)});{bold}{slant}}}")
    return "\n".join(rules)
