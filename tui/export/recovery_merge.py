"""A draft and what a model made of it, put together section by section so that no fact of the log is lost.

Goal and done are the model's where it wrote them. Of what is open, entries of the draft whose event the model
does not name stay. Lists of files, tests and side effects stay whole; a model can only add to them. Every
other part of a draft stays as it is, and so does each section that the model left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from tui.blocks.clean import clean
from tui.export.markdown_export import escaped
from tui.export.recovery import DONE, EFFECTS, FILES, FROM_THE_LOG, GOAL, OPEN, TESTS
from tui.i18n import LANGS, N_, Translator, translator

SECTIONS: Final = (GOAL, DONE, OPEN, FILES, TESTS, EFFECTS)
"""What a model may reword, as catalogue messages in the order of a draft."""
_WHOLE: Final = frozenset((FILES, TESTS, EFFECTS))
_REWORDED: Final = N_(
    "A draft from the log, reworded by {route}; the lists of files, tests and side effects are the log's. "
    "Correct it before a fresh session gets it."
)
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$")


class _Part(NamedTuple):
    """A heading line and the lines below it; the first part of a text has no heading."""

    heading: str
    body: list[str]


def improved(draft: str, answer: str, tr: Translator, route: str) -> str:
    """Return the draft with what a model wrote so far; the draft itself while that is of no use.

    Args:
        draft: the text that the model was sent, as it stands in the editor.
        answer: the model's text, whole or as far as it has come.
        tr: the reader's language.
        route: the model's name, for the sentence that says who worded the draft.
    """
    said = _said(answer)
    if not said:
        return draft
    parts = list(_parts(draft))
    found: set[str] = set()
    made: list[str] = []
    for part in parts:
        name = _name(part.heading)
        body = part.body
        if name is not None and name in said and name not in found:
            found.add(name)
            body = ["", *_merged(name, body, said[name], tr), ""]
        made += [part.heading, *body] if part.heading else body
    for name in SECTIONS:
        if name in said and name not in found:
            made += [f"## {escaped(tr.t(name))}", "", *said[name], ""]
    return _credited("\n".join(made).rstrip("\n") + "\n", tr, route)


def is_useful(answer: str) -> bool:
    """Whether an answer has at least one of the sections that it may have."""
    return bool(_said(answer))


def _merged(name: str, body: list[str], said: list[str], tr: Translator) -> list[str]:
    kept = _stripped(body)
    if name in _WHOLE:
        have = {_plain(line) for line in kept}
        new = [line for line in said if not line.strip() or _plain(line) not in have]
        if not any(map(str.strip, new)):
            return kept
        noted = tr.t("Noted by the model; check it:")
        return [*kept, "", f"*{escaped(noted)}*", "", *_stripped(new)]
    if name != OPEN:
        return said
    entries = [line for line in kept if line.startswith("- ")]
    events = Counter(_event(line) for line in entries)
    named, text = set(_events().findall("\n".join(said))), _plain(" ".join(said))
    left: list[str] = []
    for line in entries:
        event = _event(line)
        # Entries of one list share its event, so each must be told apart by its own words.
        is_told = event in named and (events[event] == 1 or _plain(line.split(" · ", 1)[0]) in text)
        left += [] if is_told else [line]
    return [*said, *(["", *left] if left else [])]


@cache
def _events() -> re.Pattern[str]:
    names = "|".join(re.escape(translator(lang).t("event {seq}", seq="").strip()) for lang in LANGS)
    return re.compile(rf"(?:{names})\s{{0,2}}#?(\d{{1,15}})", re.IGNORECASE)


def _event(line: str) -> str:
    """The number of the event that an entry comes from; empty where it names none."""
    found = _events().findall(line)
    return found[-1] if found else ""


def _said(answer: str) -> dict[str, list[str]]:
    """The lines of each section that an answer has, without headings of other kinds."""
    found: dict[str, list[str]] = {}
    name: str | None = None
    for heading, body in _parts(clean(answer)):
        if heading:
            known = _name(heading)
            if known is None and name is not None:
                # A heading of its own must not begin a section of the draft.
                found.setdefault(name, []).append(f"**{_words(heading)}**")
            elif known is not None:
                name = known
        if name is not None:
            # What looks like a section's heading within a fence is moved, so that nobody takes it for one.
            found.setdefault(name, []).extend(
                f"    {line}" if _HEADING.match(line) and _name(line) else line for line in body
            )
    return {name: _closed(kept) for name, lines in found.items() if (kept := _stripped(lines))}


def _parts(text: str) -> Iterator[_Part]:
    """Split a text at its headings; a heading within a fence is none."""
    part, fence = _Part("", []), ""
    for line in text.split("\n"):
        if not fence and _HEADING.match(line) is not None:
            yield part
            part = _Part(line, [])
        else:
            fence = _fence_after(fence, line)
            part.body.append(line)
    yield part


def _closed(lines: list[str]) -> list[str]:
    """Lines with a fence that was left open closed, so that it takes nothing behind it in."""
    fence = ""
    for line in lines:
        fence = _fence_after(fence, line)
    return [*lines, fence] if fence else lines


def _fence_after(fence: str, line: str) -> str:
    """The fence that is open behind a line, empty if none is."""
    mark = _FENCE.match(line)
    if mark is None:
        return fence
    if not fence:
        return mark[1]
    return "" if mark[1].startswith(fence) and not line[mark.end() :].strip() else fence


def _name(heading: str) -> str | None:
    """The section that a heading names, in whatever language."""
    words = _words(heading).casefold()
    for name in SECTIONS:
        if any(words == translator(lang).t(name).casefold() for lang in LANGS):
            return name
    return None


def _words(heading: str) -> str:
    found = _HEADING.match(heading)
    return (found[2] if found is not None else heading).strip(" *_:：")


def _plain(line: str) -> str:
    return " ".join(re.sub(r"[\\`*_]", "", line).lstrip(" -+").split()).casefold()


def _stripped(lines: list[str]) -> list[str]:
    text = "\n".join(lines).strip("\n")
    return text.split("\n") if text.strip() else []


def _credited(text: str, tr: Translator, route: str) -> str:
    """Say in the draft's own place who worded it."""
    for lang in LANGS:
        told = escaped(translator(lang).t(FROM_THE_LOG))
        if told in text:
            return text.replace(told, escaped(tr.t(_REWORDED, route=route)), 1)
    return text
