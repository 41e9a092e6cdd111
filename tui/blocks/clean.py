"""The one gate that every text of a session passes before it is drawn.

Text of models, tools and logs is hostile: it can hold orders to the terminal, characters that turn the
reading direction, and characters without a body. `clean` leaves line ends, words, and what letters need to be
read; the rest is removed, or replaced where removing would hide that something was there. `visible` is the
raw view: the same text with everything shown that `clean` takes away. Neither reads markup: square brackets
are ordinary text.

What is decided here:
- Whole escape sequences go; of an unterminated one only its introducer goes, so that it swallows nothing.
- Of a carriage return that redraws a progress bar the last state stays; other rewritten states each keep a
  row. `␍` stands where a carriage return was.
- Variation selectors and skin tones go, because terminals disagree on their width (Rich 2 cells, tmux 1 and
  4).
- A joiner stays inside an emoji chain. After a letter of a script that uses it, it stands twice: Rich takes
  the character after a joiner for a part of the one before, and would count the next letter as no cell.
- At most 12 characters without width stand on one base, so that no row holds more text than its width allows.

Everything is linear in the length of the text; text without anything suspicious costs one search.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import groupby

from tui.blocks.cells import ZWJ, cell_len, has_few_marks, is_one_character_each, zero_width

TAB_STOP = 4
"""Cells between tab stops."""
MAX_MARKS = 12
"""Characters without width that may follow one base character."""
RETURN_MARK = "␍"
_PROGRESS_RUN = 3
_NAMED_PROGRESS_RUN = 8
_ZWNJ = "\u200c"
_MAX_JOINED = 5

# Characters without a body of their own, by code point. Most are Default_Ignorable_Code_Point of Unicode; the
# soft hyphen is among them, the Hangul fillers look like spaces, and the language tags and annotations hide
# whole texts.
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_SKIN = "\U0001f3fb-\U0001f3ff"
_BROKEN = "\ud800-\udfff\ufffe\uffff"
_BODYLESS = f"{_INVISIBLE}{_SKIN}{_BROKEN}{_ZWNJ}{ZWJ}\u2028\u2029"
_SUSPECT = f"[\x00-\x09\x0b-\x1f\x7f-\x9f{_BODYLESS}]"
_HAS_BODYLESS = f"[{_BODYLESS}]"
_CONTROLS = "[\x00-\x08\x0b-\x1f\x7f-\x9f]+"

# String sequences end at BEL or ST, never run over another escape, and those that set a title or a link never
# over a line end. Possessive repeats and bodies without introducers keep the search linear.
_SEQUENCE = (
    r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]"
    r"|\x1bPtmux;"
    r"|(?:\x1b\]|\x9d)[^\x07\n\r\x18\x1a\x1b\x80-\x9f]*+(?:\x07|\x1b\\|\x9c)"
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x18\x1a\x1b\x80-\x9f]*+(?:\x1b\\|\x9c)"
    r"|\x1b[ -/]*+[0-~]"
)
_HAS_SEQUENCE = "[\x1b\x80-\x9f]"
_WORD = r"[^\W\d_]{3,}"

_PICTOGRAPHS = (
    "\u00a9\u00ae\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\U0001f000-\U0001f1e5\U0001f200-\U0001faff"
)
# Arabic to Thaana, Devanagari to Sinhala, Myanmar, Khmer, Mongolian: scripts in which joiners change the
# shape.
_JOINING = "\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u18af"
_INVISIBLES = f"[{_INVISIBLE}]+"
_SKIN_AFTER_EMOJI = f"(?<=[{_PICTOGRAPHS}])[{_SKIN}]+"
_SKIN_ALONE = f"[{_SKIN}]"
_NON_JOINERS = f"(?<=[{_JOINING}])({_ZWNJ})(?:{_ZWNJ})*(?=[{_JOINING}])|{_ZWNJ}+"


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    """An expression of this module, compiled when a text needs it: most sessions never need most of them."""
    return re.compile(expression)


@cache
def _mark_runs() -> re.Pattern[str]:
    return re.compile(f"(?:{zero_width()}|{ZWJ}){{{MAX_MARKS + 1},}}")


@cache
def _joiners() -> re.Pattern[str]:
    from rich._unicode_data import load

    wide = [
        (max(start, 0x2190), min(end, 0x1FAFF))
        for start, end, width in load("auto").widths
        if width == 2 and end >= 0x2190 and start <= 0x1FAFF and not 0x2E80 <= start <= 0xFFFF
    ]
    emoji = "".join(f"\\U{start:08x}-\\U{end:08x}" for start, end in wide)
    return re.compile(
        f"([{emoji}](?:{ZWJ}[{_PICTOGRAPHS}]){{1,{_MAX_JOINED}}})"
        f"|((?<=[{_JOINING}]){ZWJ}+(?!{zero_width()}))"
        f"|{ZWJ}+"
    )


def clean(text: str, *, newlines: bool = True) -> str:
    """A text that is safe to draw; line ends are kept, or shown as spaces with `newlines=False`.

    Tabs become spaces up to the next stop of 4 cells, CRLF and the Unicode separators become line ends,
    halves of surrogate pairs become U+FFFD. Cleaning a cleaned text changes nothing.
    """
    if not newlines:
        return clean_line(text)
    return _clean(text, f"{RETURN_MARK}\n")


def clean_line(text: str, newline: str = " ") -> str:
    """A text that is safe to draw in one row: blank lines are dropped, the others joined by `newline`."""
    text = _clean(text, RETURN_MARK)
    if "\n" not in text:
        return text
    return newline.join(part for part in (row.strip(" ") for row in text.split("\n")) if part)


def _clean(text: str, between_rewrites: str) -> str:
    if text.isascii():
        if text.isprintable() or text.replace("\n", "").isprintable():
            return text
    elif _compiled(_SUSPECT).search(text) is None:
        return _cap_marks(text)
    if _compiled(_HAS_SEQUENCE).search(text):
        text = _compiled(_SEQUENCE).sub("", text)
    if not text.isascii():
        text = _clean_bodyless(text)
    if "\r" in text:
        text = "\n".join(
            between_rewrites.join(_states(row)) if "\r" in row else row
            for row in (row.rstrip("\r") for row in text.split("\n"))
        )
    text = _compiled(_CONTROLS).sub("", text)
    if "\t" in text:
        text = _expand_tabs(text)
    return text if text.isascii() else _join(_cap_marks(text))


def _clean_bodyless(text: str) -> str:
    if _compiled(_HAS_BODYLESS).search(text) is None:
        return text
    # Joins whole pairs, and replaces the halves.
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    text = (
        text.replace("\ufffe", "\ufffd")
        .replace("\uffff", "\ufffd")
        .replace("\u2028", "\n")
        .replace("\u2029", "\n")
    )
    text = _compiled(_INVISIBLES).sub("", text)
    return _compiled(_SKIN_ALONE).sub("▪", _compiled(_SKIN_AFTER_EMOJI).sub("", text))


def _join(text: str) -> str:
    if _ZWNJ in text:
        text = _compiled(_NON_JOINERS).sub(lambda match: match[1] or "", text)
    if ZWJ in text:
        text = _joiners().sub(lambda match: match[1] or (ZWJ * 2 if match[2] else ""), text)
    return text


def _cap_marks(text: str) -> str:
    if is_one_character_each(text) or has_few_marks(text, MAX_MARKS):
        return text
    return _mark_runs().sub(_capped, text)


def _capped(match: re.Match[str]) -> str:
    marks = match[0].replace(ZWJ, "").replace(_ZWNJ, "")
    return match[0] if len(marks) <= MAX_MARKS else marks[:MAX_MARKS]


def _expand_tabs(text: str) -> str:
    if text.isascii():
        return text.expandtabs(TAB_STOP)
    return "\n".join(_expand_row(row) if "\t" in row else row for row in text.split("\n"))


def _expand_row(row: str) -> str:
    pieces = row.split("\t")
    expanded: list[str] = []
    column = 0
    for piece in pieces[:-1]:
        column += cell_len(piece)
        gap = TAB_STOP - column % TAB_STOP
        expanded.append(piece + " " * gap)
        column += gap
    return "".join(expanded) + pieces[-1]


def _states(row: str) -> list[str]:
    """What stays of the states that carriage returns wrote over each other in one row.

    States that tell the same words with other numbers and bars, three or more in a row, are one progress bar.
    Eight or more that begin with the same word are one too, but the first stays beside the last. An empty
    first piece stands for what was left out.
    """
    states = [state for state in row.split("\r") if state and not state.isspace()]
    if len(states) < 2:
        return states
    words = {state: tuple(_compiled(_WORD).findall(state)) for state in set(states)}
    kept: list[str] = []
    for _, run in groupby(states, key=words.__getitem__):
        group = list(run)
        kept.extend(["", group[-1]] if len(group) >= _PROGRESS_RUN else group)
    shown: list[str] = []
    for first, run in groupby(kept, key=lambda state: words[state][:1] if state else None):
        group = list(run)
        shorten = bool(first) and len(group) >= _NAMED_PROGRESS_RUN
        shown.extend([group[0], "…", group[-1]] if shorten else group)
    return shown


_PICTURES = {code: chr(0x2400 + code) for code in range(0x20) if code != 0x0A} | {0x7F: "␡"}


def visible(text: str) -> str:
    """The raw view of a text: whatever `clean` would take away stands there as a visible sign.

    C0 characters show as control pictures (`␛`), others as `\\x9b`, `\\u202e`, `\\U000e0041`. Line ends stay
    line ends. The result is clean.
    """
    if _compiled(_SUSPECT).search(text) is None:
        return _clean(text, "")
    return _clean(_compiled(_SUSPECT).sub(_sign, text), "")


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code in _PICTURES:
        return _PICTURES[code]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
