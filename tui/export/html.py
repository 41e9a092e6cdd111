"""A view as one HTML file: no script, nothing loaded from anywhere, light and dark, fit for paper.

Every text is escaped; of Markdown only what markdown-it makes of it with HTML and pictures switched off.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from tui.blocks.clean import clean, clean_line
from tui.blocks.code import MAX_CHARS as MAX_CODE_CHARS
from tui.blocks.code import highlight_code
from tui.blocks.glyphs import GLYPHS
from tui.blocks.markdown import MAX_BRACKETS, MAX_CHARS, MAX_NESTING
from tui.export.json_text import Write
from tui.export.looks import DARK, LIGHT, role_rules, variables
from tui.export.sections import HEADING, Code, Front, Items, Markup, Part, Prose, Section
from tui.i18n import Translator

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict

_FOLDED_CHARS = 1_200
"""Characters of arguments or a result from which on it comes folded."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def write_html(write: Write, front: Front, sections: Iterable[Section], tr: Translator) -> None:
    """Write a view as an HTML file."""
    title = escape(front.title)
    lang = "zh-CN" if tr.lang == "zh" else "en"
    write(
        f'<!DOCTYPE html>\n<html lang="{lang}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{_style()}</style>\n</head>\n<body>\n"
        f"<header>\n<h1>{title}</h1>\n<dl>\n"
    )
    for name, value in front.facts:
        write(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>\n")
    write("</dl>\n")
    for sentence in front.damage:
        write(f'<p class="fault">{escape(sentence)}</p>\n')
    write("</header>\n<main>\n")
    seen: set[int] = set()
    for section in sections:
        for piece in _section(section, seen):
            write(piece)
    write("</main>\n</body>\n</html>\n")


def _section(section: Section, seen: set[int]) -> Iterator[str]:
    facts = escape(" · ".join(section.facts))
    small = f"<small>{facts}</small>" if facts else ""
    if section.level == HEADING:
        yield f'<h2 class="r-turn"><span>{escape(section.title)}</span>{small}</h2>\n'
        return
    glyph = GLYPHS.get(section.glyph, GLYPHS["event"])
    classes = ["tool-change"] * (section.glyph == "tool-change")
    classes += ["row"] * (not section.parts) + ["nested"] * section.nested + ["faint"] * section.faint
    anchor = ""
    if section.seq is not None and section.seq not in seen:
        seen.add(section.seq)
        anchor = f' id="seq-{section.seq}"'
    title = escape(section.title)
    if anchor:
        title = f'<a href="#seq-{section.seq}">{title}</a>'
    seq = f"{section.seq}" + (" · " if facts else "") if section.seq is not None else ""
    yield (
        f'<section{anchor} class="{" ".join(classes)}">\n<h3 class="r-{glyph.role}">'
        f'<span class="glyph">{escape(glyph.glyph)}</span>{title}<small>{seq}{facts}</small></h3>\n'
    )
    for part in section.parts:
        yield from _part(part, section.glyph)
    yield "</section>\n"


def _part(part: Part, kind: str) -> Iterator[str]:
    label = getattr(part, "label", "")
    match part:
        case Items(items=items):
            yield f'<div class="label">{escape(label)}</div>\n' if label else ""
            yield '<ul class="tools">\n'
            for item in items:
                glyph = GLYPHS.get(item.mark, GLYPHS["event"])
                name, note = escape(clean_line(item.text)), escape(clean_line(item.note))
                mark = f'<i class="r-{glyph.role}">{escape(glyph.glyph)}</i>'
                yield f"<li>{mark} <b>{name}</b> <span>{note}</span></li>\n"
            yield "</ul>\n"
        case Markup(text=text):
            yield f'<div class="said">{markdown(text)}</div>\n'
        case Prose(text=text):
            said = "said r-reasoning" if kind == "reasoning" else "said"
            body = escape(clean(text).strip("\n"))
            yield f'<div class="label">{escape(label)}</div>\n' if label else ""
            yield f'<div class="{said}"><pre class="prose">{body}</pre></div>\n'
        case Code(text=text, language=language):
            code = f"<pre>{highlighted(text, language)}</pre>"
            if label and len(text) > _FOLDED_CHARS:
                yield f"<details><summary>{escape(label)}</summary>{code}</details>\n"
            else:
                yield (f'<div class="label">{escape(label)}</div>' if label else "") + code + "\n"


def markdown(text: str) -> str:
    """Return Markdown as HTML without raw HTML or pictures; as it stands where it is too much to parse."""
    text = clean(text).strip("\n")
    if len(text) > MAX_CHARS or text.count("[") > MAX_BRACKETS:
        return f'<pre class="prose">{escape(text)}</pre>'
    return _parser().render(text)


def highlighted(text: str, language: str) -> str:
    """Return code as HTML with a class for each role."""
    text = clean(text).strip("\n")
    if not language or len(text) > MAX_CODE_CHARS:
        return escape(text)
    widest = max(len(line) for line in text.split("\n"))
    rows = highlight_code(text, language, 2 * widest + 1)
    return "\n".join(
        "".join(
            f'<span class="r-{span.role.split()[0]}">{escape(span.text)}</span>'
            if span.role
            else escape(span.text)
            for span in row.spans
        )
        for row in rows
    )


@cache
def _style() -> str:
    page = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    light, dark = variables(LIGHT), variables(DARK)
    return (
        f":root{{color-scheme:light dark;{light}}}\n@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
        f"@media print{{:root{{{light}}}}}\n{page}\n{role_rules('color')}\n"
    )


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING})
    parser.enable(["table", "strikethrough"]).disable("image")
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("link_open", _link)
    return parser


def _fence(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    token = tokens[index]
    language = token.info.split()[0] if token.info.split() else ""
    return f"<pre><code>{highlighted(token.content, language)}</code></pre>\n"


def _link(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    token = tokens[index]
    address = str(token.attrs.get("href", ""))
    if not address.lower().startswith(("http://", "https://", "mailto:")):
        # A place on the reader's own machine is none that an answer should lead to.
        return "<a>"
    token.attrs = {"href": address, "rel": "noopener noreferrer"}
    return str(renderer.renderToken(tokens, index, options, env))


__all__ = ["highlighted", "markdown", "write_html"]
