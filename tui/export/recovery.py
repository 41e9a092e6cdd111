"""The draft of a summary as Markdown: what a fresh session begins with, after a person has corrected it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from tui.blocks.clean import clean_line
from tui.blocks.wording_doctor import finding_text
from tui.blocks.wording_names import name_text
from tui.export.json_text import Write
from tui.export.markdown_export import write_markdown
from tui.export.sections import HEADING, Front, Item, Items, Markup, Part, Prose, Section
from tui.i18n import LANGS, N_, Translator, translator
from tui.nodes.doctor import Examination
from tui.nodes.recovery import Effect, FileUse, RecoveryDraft
from tui.nodes.recovery import Item as Entry

_HEAD: Final = 4_000
"""How many characters of a summary can name its original."""
GOAL: Final = N_("Goal")
DONE: Final = N_("Done")
OPEN: Final = N_("Open")
FILES: Final = N_("Changed files and key paths")
TESTS: Final = N_("Test state")
EFFECTS: Final = N_("Side effects that must not be repeated")
FROM_THE_LOG: Final = N_(
    "A draft from the log alone. Correct it before a fresh session gets it: a log does not know what "
    "happened outside, nor what was meant."
)
_RESUME: Final = N_("Resume: {title}")
_CHECKPOINT: Final = N_("Checkpoint: {title}")


class Origin(NamedTuple):
    """What a summary says of the session it is of; empty and None where it does not."""

    session: str = ""
    seq: int | None = None
    is_checkpoint: bool = False


def write_recovery(
    write: Write,
    draft: RecoveryDraft,
    found: Examination | None,
    tr: Translator,
    *,
    checkpoint: bool = False,
) -> None:
    """Write the draft as Markdown with headings in the reader's language; `found` says why it is left.

    A checkpoint is the draft of a session that is sound.
    """
    write_markdown(write, _front(draft, tr, checkpoint=checkpoint), _sections(draft, found, tr), tr)


def recovery_text(
    draft: RecoveryDraft, tr: Translator, found: Examination | None = None, *, checkpoint: bool = False
) -> str:
    """Return the draft as one text."""
    pieces: list[str] = []
    write_recovery(pieces.append, draft, found, tr, checkpoint=checkpoint)
    return "".join(pieces)


def origin_of(text: str) -> Origin:
    """Return what a summary says of its original, in whatever language."""
    head = text[:_HEAD]
    is_checkpoint = any(head.lstrip().startswith(f"# {prefix}") for prefix in _prefixes(_CHECKPOINT))
    for lang in LANGS:
        pattern = re.escape(_origin(translator(lang), "\0", "\1"))
        pattern = pattern.replace(re.escape("\0"), r"([\w\\-]{1,200})")
        pattern = pattern.replace(re.escape("\1"), r"(\d{1,15})")
        if found := re.search(pattern, head):
            return Origin(found[1].replace("\\", ""), int(found[2]), is_checkpoint)
    return Origin(is_checkpoint=is_checkpoint)


def bare_title(title: str) -> str:
    """Return a session's title without what a summary of an earlier session has put before it."""
    prefixes = (*_prefixes(_RESUME), *_prefixes(_CHECKPOINT))
    while True:
        title = title.lstrip("# ")
        prefix = next((prefix for prefix in prefixes if title.startswith(prefix)), None)
        if prefix is None:
            return title
        title = title.removeprefix(prefix)


def _prefixes(message: str) -> tuple[str, ...]:
    return tuple(translator(lang).t(message, title="").rstrip() for lang in LANGS)


def _origin(tr: Translator, session: str, seq: object) -> str:
    return tr.t("{session}, up to event {seq}; it stays as it is", session=session, seq=seq)


def _front(draft: RecoveryDraft, tr: Translator, *, checkpoint: bool) -> Front:
    facts = [
        (tr.t("Original"), _origin(tr, draft.session, draft.last_seq)),
        (tr.t("Log"), draft.path),
    ]
    if draft.cwd:
        facts.append((tr.t("Workspace"), draft.cwd))
    if draft.model:
        route = tr.t("{model} at {provider}", model=draft.model, provider=draft.provider)
        facts.append((tr.t("Route"), route))
    title = tr.t(
        _CHECKPOINT if checkpoint else _RESUME, title=bare_title(clean_line(draft.title)) or draft.session
    )
    return Front(
        title=title,
        facts=tuple((name, clean_line(value)) for name, value in facts),
        damage=(tr.t(FROM_THE_LOG),),
    )


def _sections(draft: RecoveryDraft, found: Examination | None, tr: Translator) -> Iterator[Section]:
    nothing = tr.t("Nothing was found in the log.")
    yield _section(tr.t(GOAL), _entries(tr, draft.goal), nothing)
    if draft.summary is not None:
        yield _section(tr.t("What an earlier compaction kept"), [Markup(draft.summary.text)], nothing)
    yield _section(tr.t(DONE), _entries(tr, draft.done), nothing)
    yield _section(tr.t(OPEN), _entries(tr, draft.open), nothing)
    yield _section(tr.t(FILES), _files(tr, draft.files), nothing)
    yield _section(tr.t(TESTS), _effects(tr, draft.tests), tr.t("No test run was found in the log."))
    effects = _effects(tr, draft.effects)
    if draft.older_effects:
        older = tr.n(
            "{n} older call is not listed here; it stands in the log.",
            "{n} older calls are not listed here; they stand in the log.",
            draft.older_effects,
        )
        effects.append(Items((Item("", older),)))
    yield _section(
        tr.t(EFFECTS),
        effects,
        tr.t("No call that may have changed something was found in the log."),
    )
    if draft.answer is not None:
        yield _section(tr.t("The latest answer"), [Markup(draft.answer.text)], nothing)
    if found is not None:
        yield _section(
            tr.t("Why the original is left"),
            [Prose("\n".join(finding_text(tr, finding) for finding in found.findings))]
            if found.findings
            else [],
            tr.t("Nothing is wrong with this session."),
        )
    yield _section(tr.t("Tools at the end of the original"), _tools(draft.tools), nothing)
    yield _section(tr.t("First steps"), [_first_steps(tr)], nothing)


def _section(title: str, parts: list[Part], otherwise: str) -> Section:
    return Section(
        glyph="turn", title=title, level=HEADING, parts=tuple(parts), facts=() if parts else (otherwise,)
    )


def _entries(tr: Translator, entries: Iterable[Entry]) -> list[Part]:
    items = [
        Item("", clean_line(entry.text), _joined(tr.t("event {seq}", seq=entry.seq), _note(tr, entry)))
        for entry in entries
    ]
    return [Items(tuple(items))] if items else []


def _note(tr: Translator, entry: Entry) -> str:
    words = {
        "pending": tr.t("not begun"),
        "in_progress": tr.t("begun"),
        "error": tr.t("the turn failed"),
        "aborted": tr.t("stopped"),
        "interrupted": tr.t("interrupted"),
        "max-tokens": tr.t("cut off"),
        "blocked": tr.t("blocked"),
        "open": tr.t("no end in the log"),
        "queued": tr.t("still waiting"),
    }
    return words.get(entry.note) or clean_line(entry.note)


def _files(tr: Translator, files: Iterable[FileUse]) -> list[Part]:
    items = [
        Item(
            "",
            clean_line(use.path),
            _joined(
                tr.t("may be changed") if use.changed else "",
                tr.n("{n} call", "{n} calls", use.calls),
                tr.t("event {seq}", seq=use.seq),
            ),
        )
        for use in files
    ]
    return [Items(tuple(items))] if items else []


def _effects(tr: Translator, effects: Iterable[Effect]) -> list[Part]:
    outcomes = {
        "done": tr.t("done"),
        "failed": tr.t("failed"),
        "unknown": tr.t("outcome unknown: look before it is done again"),
    }
    items = [
        Item(
            "",
            f"{name_text(effect.tool)} {clean_line(effect.arguments)}".strip(),
            _joined(
                outcomes[effect.outcome],
                tr.n("{n} call", "{n} calls", effect.calls) if effect.calls > 1 else "",
                tr.t("event {seq}", seq=effect.seq),
            ),
        )
        for effect in effects
    ]
    return [Items(tuple(items))] if items else []


def _tools(names: Iterable[str]) -> list[Part]:
    items = tuple(Item("", name_text(name)) for name in names)
    return [Items(items)] if items else []


def _first_steps(tr: Translator) -> Part:
    return Items(
        (
            Item(
                "", tr.t("Begin with a check that only reads: are the files and results above as described?")
            ),
            Item("", tr.t("Write and run nothing before a person has seen that check.")),
            Item("", tr.t("Repeat none of the side effects above without asking.")),
        )
    )


def _joined(*parts: str) -> str:
    return " · ".join(part for part in parts if part)
