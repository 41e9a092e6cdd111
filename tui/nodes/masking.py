"""Keys, passwords and tokens taken out of a text before it is handed on; what is not like one stays.

A text of a log may hold a secret in any shape, so this is care, not proof: known shapes of keys, values
that are named as secrets, credentials in addresses and headers, private keys.
"""

from __future__ import annotations

import re
from typing import Final

MASK: Final = "[masked]"

_NAMES: Final = (
    r"(?:pass(?:word|wd|phrase)?|pwd|secret|token|credentials?|(?:api|access|private|secret|signing|encryption)"
    r"[_\- ]?key|auth(?:orization)?|cookie|session[_\-]?id)"
)
_OPEN: Final = r"\\{0,8}[\"'`]"
_RULES: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (
        re.compile(
            r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|\Z)", re.S
        ),
        MASK,
    ),
    # What programs give out under prefixes of their own, and tokens of three parts.
    (
        re.compile(
            r"(?<![A-Za-z0-9])(?:"
            r"(?:sk|pk|rk)[-_][A-Za-z0-9_\-]{16,}"
            r"|gh[a-z]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_\-]{16,}"
            r"|xox[a-z]-[A-Za-z0-9\-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[A-Za-z0-9_\-]{30,}"
            r"|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,}"
            r"|eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{4,}"
            r")"
        ),
        MASK,
    ),
    (re.compile(r"(\b(?:Bearer|Basic)\s+)[A-Za-z0-9+/=_.~\-]{8,}", re.I), rf"\g<1>{MASK}"),
    (
        re.compile(r"(\b[A-Za-z][A-Za-z0-9+.\-]{0,20}://[^\s/:@\"']{0,100}:)[^\s/@\"']{1,200}(?=@)"),
        rf"\g<1>{MASK}",
    ),
    # Variables of an environment, which are called by what they are of.
    (
        re.compile(r"(\b[A-Z][A-Z0-9_]{0,60}_(?:KEY|PAT|PASS|PW)=)(?![$\"'`\[])[^\s\"'`;&|]{6,}"),
        rf"\g<1>{MASK}",
    ),
    # `NAME=value`, `"name": "value"`, also inside quoted JSON; a variable's name in place of a value stays.
    (
        re.compile(
            rf"(?P<name>(?<![A-Za-z])(?:[A-Za-z0-9]{{1,40}}[_\-.]){{0,4}}{_NAMES}(?:{_OPEN})?\s{{0,4}}[:=]\s{{0,4}})"
            rf"(?:(?P<open>{_OPEN})(?!\$)(?:(?!(?P=open))[^\n]){{3,4000}}(?P=open)"
            rf"|(?![$\"'`\\{{\[(<]|true\b|false\b|null\b|none\b)[^\s\"'`,;&|<>)\\\]}}]{{6,}})",
            re.I,
        ),
        "",
    ),
    (
        re.compile(
            rf"(--?(?:[a-z]{{1,20}}-)?{_NAMES}[ =])(?![$\"'`\-])[^\s\"'`;&|]{{3,}}",
            re.I,
        ),
        rf"\g<1>{MASK}",
    ),
)


def masked(text: str) -> str:
    """Return a text with everything that looks like a secret blotted out."""
    for rule, replacement in _RULES:
        text = rule.sub(replacement or _assigned, text)
    return text


def _assigned(found: re.Match[str]) -> str:
    """The name with its value blotted out, in the quotes that it stood in."""
    quote = found["open"] or ""
    return f"{found['name']}{quote}{MASK}{quote}"
