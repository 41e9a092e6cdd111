"""A view as linear text, for screen readers and pipes: headings, whole texts, no art.

What a session says is indented, so that no text of it can pass for a heading of ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tui.blocks.clean import clean, clean_line
from tui.blocks.glyphs import GLYPHS
from tui.export.json_text import Write
from tui.export.sections import HEADING, Front, Items, Part, Section
from tui.i18n import Translator

_INDENT = "    "
_SIGNS = {"·": "-", "…": "...", "→": "->", "−": "-", "×": "x", "–": "-"}


def write_text(
    write: Write,
    front: Front,
    sections: Iterable[Section],
    tr: Translator,
    *,
    ascii_only: bool = False,
    compact: bool = False,
) -> None:
    """Write a view as text; `compact` leaves no blank line between sections without parts."""

    def put(text: str) -> None:
        write(_plain_signs(text) if ascii_only else text)

    put(front.title + "\n")
    for name, value in front.facts:
        put(tr.t("{name}: {value}", name=name, value=value) + "\n")
    for sentence in front.damage:
        put(f"! {sentence}\n")
    roomy = True
    for section in sections:
        is_heading = section.level == HEADING
        if is_heading or not compact or roomy or section.parts:
            put("\n")
        put(_heading(section) + "\n")
        # A session's own texts stay as they are.
        for line in _body(section, tr, ascii_only):
            write(line)
        roomy = bool(section.parts) or is_heading


def _heading(section: Section) -> str:
    facts = " · ".join(section.facts)
    if section.level == HEADING:
        return f"== {section.title}{' · ' if facts else ''}{facts} =="
    seq = f"[{section.seq}] " if section.seq is not None else ""
    nested = "> " if section.nested else ""
    return f"{seq}{nested}{section.title}" + (f" · {facts}" if facts else "")


def _body(section: Section, tr: Translator, ascii_only: bool) -> Iterator[str]:
    for part in section.parts:
        if part_label := getattr(part, "label", ""):
            yield f"  {tr.t('{name}:', name=part_label)}\n"
        yield from _lines(part, ascii_only)


def _lines(part: Part, ascii_only: bool) -> Iterator[str]:
    if isinstance(part, Items):
        for item in part.items:
            mark = GLYPHS[item.mark].text(ascii_only) if item.mark in GLYPHS else "-"
            note = clean_line(item.note)
            yield f"{_INDENT}{mark} {clean_line(item.text)}" + (f"  {note}" if note else "") + "\n"
        return
    for line in clean(part.text).strip("\n").split("\n"):
        yield f"{_INDENT}{line}\n" if line else "\n"


def _plain_signs(text: str) -> str:
    for sign, plain in _SIGNS.items():
        text = text.replace(sign, plain)
    return text
