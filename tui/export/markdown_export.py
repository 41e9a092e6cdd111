"""A view as Markdown (CommonMark with tables).

Answers are set as quotations, which keeps an open fence or an open HTML block of theirs to themselves; an
answer that a reader's program might load or run something from stands in a fence instead. Fences are longer
than any fence inside.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tui.blocks.clean import clean, clean_line
from tui.export.json_text import Write
from tui.export.sections import HEADING, Code, Front, Item, Items, Markup, Part, Prose, Section
from tui.i18n import Translator

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!&$])")
_LEADING = re.compile(r"^(\s*(?:[0-9]{1,9}(?=[.)](?:\s|$)))?)([-+=.)])")
_TICKS = re.compile("`+|~+")
# Raw HTML, autolinks, pictures, schemes that run or read, and references, which hold for the whole file.
_ACTIVE = re.compile(
    r"<[a-z/!?]|&(?:lt|#)|!\[|(?:javascript|vbscript|data|file)\s*:|^[ >]*\[[^\]\n]+\]:",
    re.IGNORECASE | re.MULTILINE,
)


def write_markdown(write: Write, front: Front, sections: Iterable[Section], tr: Translator) -> None:
    """Write a view as Markdown."""
    write(f"# {escaped(front.title)}\n\n")
    for name, value in front.facts:
        bold = f"**{escaped(name)}**"
        fact = tr.t("{name}: {value}", name=bold, value=escaped(value))
        write(f"- {fact}\n")
    for sentence in front.damage:
        write(f"\n> **!** {escaped(sentence)}\n")
    in_list = False
    for section in sections:
        is_row = section.level != HEADING and not section.parts
        write("" if in_list and is_row else "\n")
        write(_heading(section, is_row=is_row))
        for part in section.parts:
            write("\n")
            for line in _lines(part, tr):
                write(line)
        in_list = is_row


def escaped(text: str) -> str:
    """Return a text of one line in which nothing is markup."""
    return _LEADING.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", clean_line(text)))


def fenced(text: str, language: str = "") -> Iterator[str]:
    """Yield the lines of a text in a fence that nothing inside can close."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}{language}\n"
    for line in text.split("\n"):
        yield f"{line}\n"
    yield f"{fence}\n"


def is_active(text: str) -> bool:
    """Whether Markdown may make a program load or run something."""
    return _ACTIVE.search(text) is not None


def _heading(section: Section, *, is_row: bool) -> str:
    facts = " · ".join(escaped(fact) for fact in section.facts)
    if section.level == HEADING:
        return f"## {escaped(section.title)}\n" + (f"\n{facts}\n" if facts else "")
    seq = f"`{section.seq}` " if section.seq is not None else ""
    title = escaped(section.title)
    if is_row:
        indent = "  " if section.nested else ""
        return f"{indent}- {seq}{title}" + (f" · *{facts}*" if facts else "") + "\n"
    return f"### {seq}{title}\n" + (f"\n*{facts}*\n" if facts else "")


def _lines(part: Part, tr: Translator) -> Iterator[str]:
    label = getattr(part, "label", "")
    if label:
        name = tr.t("{name}:", name=escaped(label))
        yield f"{name}\n\n"
    match part:
        case Items(items=items):
            for item in items:
                note = f" · {escaped(item.note)}" if item.note else ""
                yield f"- {_item(item)}{note}\n"
        case Markup(text=text):
            text = clean(text).strip("\n")
            if is_active(text):
                yield from fenced(text, "markdown")
            else:
                for line in text.split("\n"):
                    yield f"> {line}\n" if line else ">\n"
        case Prose(text=text):
            yield from fenced(clean(text).strip("\n"), "text")
        case Code(text=text, language=language):
            yield from fenced(clean(text).strip("\n"), language or "text")


_MARKS = {"added": "+", "removed": "−", "restored": "↺", "redefined": "≠"}


def _item(item: Item) -> str:
    """A tool's name as code behind its mark; any other entry as text."""
    mark, name = _MARKS.get(item.mark), clean_line(item.text)
    if mark is None or "`" in name or not name:
        return escaped(item.text)
    return f"{escaped(mark)} `{name}`"
