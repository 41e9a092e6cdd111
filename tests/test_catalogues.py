"""The catalogues hold every message of the source, whole and well written, and nothing else."""

import ast
import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message

from locales.update import (
    PLURAL_FORMS,
    ROOT,
    TEMPLATE,
    catalogue_path,
    catalogue_text,
    extracted,
    messages,
    read,
    template_text,
    updated,
)
from tui.i18n import LANGS

CJK = "\u3400-\u9fff\uff00-\uffef\u3000-\u303f"
# A half-width mark that touches a Chinese character; a closing one may stand at the end of the sentence.
HALF_WIDTH = re.compile(f"[{CJK}][,;:!?()]|[,;:!?()][{CJK}]|[{CJK}]\\.(?:[{CJK}]|$)")


@pytest.fixture(scope="module")
def source() -> Catalog:
    return extracted()


@pytest.fixture(params=LANGS)
def lang(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def catalogue(lang: str) -> Catalog:
    return read(ROOT / catalogue_path(lang), lang)


def keys(catalogue: Catalog) -> set[tuple[str | None, str]]:
    return {(message.context, forms(message.id)[0]) for message in messages(catalogue)}


def forms(text: object) -> tuple[str, ...]:
    """The forms of an id or a translation: one, or as many as it has plurals."""
    if isinstance(text, str):
        return (text,)
    return tuple(text) if isinstance(text, list | tuple) else ("",)


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def faults(catalogue: Catalog) -> list[str]:
    """What is wrong with the translations, one sentence each."""
    found: list[str] = []
    for message in messages(catalogue):
        ids, texts = forms(message.id), forms(message.string)
        if message.fuzzy:
            found.append(f"fuzzy: {ids[0]}")
        if not all(texts):
            found.append(f"empty: {ids[0]}")
            continue
        if len(ids) == 2 and len(texts) != catalogue.num_plurals:
            found.append(f"plural forms: {ids[0]}")
        found += [f"placeholders: {ids[0]}" for text in texts if not agrees(message, text)]
    return found


def agrees(message: Message, text: str) -> bool:
    """Whether a translation has the fields of its message; a form for one may leave the number out."""
    ids = forms(message.id)
    wanted = fields(ids[-1])
    return fields(text) == wanted or (len(ids) == 2 and fields(text) | {"n"} == wanted)


def half_width(text: str) -> list[str]:
    return HALF_WIDTH.findall(re.sub(r"`[^`]*`", "``", text))


def test_the_catalogues_are_those_of_the_program() -> None:
    assert tuple(PLURAL_FORMS) == LANGS


def test_every_message_of_the_source_is_in_the_template_and_no_other(source: Catalog) -> None:
    assert keys(read(ROOT / TEMPLATE)) == keys(source), "run: make locales"


def test_every_message_of_the_source_is_in_the_catalogue_and_no_other(
    catalogue: Catalog, source: Catalog
) -> None:
    assert keys(catalogue) - keys(source) == set(), "unused; run: make locales"
    assert keys(source) - keys(catalogue) == set(), "missing; run: make locales"
    assert not catalogue.obsolete


def test_plurals_of_the_source_are_plurals_in_the_catalogue(catalogue: Catalog, source: Catalog) -> None:
    for message in messages(source):
        known = catalogue.get(message.id, message.context)
        assert known is not None and known.id == message.id


def test_every_message_is_translated_whole(catalogue: Catalog) -> None:
    assert faults(catalogue) == []


def test_the_template_is_what_make_locales_writes(source: Catalog) -> None:
    assert (ROOT / TEMPLATE).read_text(encoding="utf-8") == template_text(source), "run: make locales"


def test_the_catalogue_is_what_make_locales_writes(lang: str, catalogue: Catalog, source: Catalog) -> None:
    written = (ROOT / catalogue_path(lang)).read_text(encoding="utf-8")
    assert written == catalogue_text(lang, updated(lang, source, catalogue)), "run: make locales"


def test_chinese_sentences_have_full_width_punctuation() -> None:
    catalogue = read(ROOT / catalogue_path("zh"), "zh")
    texts = [text for message in messages(catalogue) for text in forms(message.string)]
    assert [text for text in texts if half_width(text)] == []


def test_english_reads_its_own_keys() -> None:
    for message in messages(read(ROOT / catalogue_path("en"), "en")):
        assert message.string == message.id


def test_no_message_is_put_together_before_it_is_looked_up() -> None:
    """An f-string or a sum is no key: it would read English in every language."""
    built = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for path in sorted((ROOT / "tui").rglob("*.py"))
        for call in message_calls(path)
        if any(isinstance(argument, ast.JoinedStr | ast.BinOp) for argument in call.args[:2])
    ]
    assert built == []


def message_calls(path: Path) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(func=ast.Attribute(attr="t" | "p")) | ast.Call(func=ast.Name(id="N_")):
                yield node
            case ast.Call(func=ast.Attribute(attr="n"), args=[_, _, _]):
                yield ast.Call(func=node.func, args=node.args[:2], keywords=[], lineno=node.lineno)
            case _:
                pass


# What follows shows that the checks above can fail.


def planted(lang: str, **entry: object) -> Catalog:
    catalogue = Catalog(locale=lang, fuzzy=False)
    catalogue.add(**entry)  # type: ignore[arg-type]
    return catalogue


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ({"id": "{n} of {m}", "string": "{m}"}, "placeholders: {n} of {m}"),
        ({"id": "fern", "string": ""}, "empty: fern"),
        ({"id": "fern", "string": "蕨", "flags": ["fuzzy"]}, "fuzzy: fern"),
        ({"id": ("{n} fern", "{n} ferns"), "string": ("{n} 株", "{n} 株")}, "plural forms: {n} fern"),
        ({"id": ("{n} fern", "{n} ferns"), "string": ("{x} 株",)}, "placeholders: {n} fern"),
    ],
)
def test_a_faulty_translation_is_found(entry: dict[str, object], fault: str) -> None:
    assert faults(planted("zh", **entry)) == [fault]


@pytest.mark.parametrize("text", ["新增,移除", "工具(saltmarsh)", "完成.", "注意:无", "第 1 行，无效!好"])
def test_half_width_punctuation_in_chinese_is_found(text: str) -> None:
    assert half_width(text)


@pytest.mark.parametrize(
    "text", ["新增 12 个，移除 3 个", "1.2 秒", "{n} 毫秒", "config.toml 无效", "用 `f(x)` 打开"]
)
def test_chinese_around_figures_and_code_passes(text: str) -> None:
    assert not half_width(text)


def test_messages_are_extracted_from_every_form_of_call(tmp_path: Path) -> None:
    module = tmp_path / "tui" / "screen.py"
    module.parent.mkdir()
    module.write_text(
        "tr.t('one {x}', x=1)\ntr.n('{n} fern', '{n} ferns', 2)\ntr.p('bed', 'lily')\n"
        "KIND = N_('kind')\ntr.t(\n    'long '\n    'sentence',\n)\n",
        encoding="utf-8",
    )
    assert keys(extracted(tmp_path)) == {
        (None, "one {x}"),
        (None, "{n} fern"),
        ("bed", "lily"),
        (None, "kind"),
        (None, "long sentence"),
    }


def test_updating_keeps_translations_and_drops_what_is_unused() -> None:
    source = planted("en", id="fern")
    old = Catalog(locale="zh", fuzzy=False)
    old.add("fern", "蕨")
    old.add("moss", "苔")
    assert [(message.id, message.string) for message in messages(updated("zh", source, old))] == [
        ("fern", "蕨")
    ]
