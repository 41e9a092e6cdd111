"""Extracts the messages of `tui/` and brings the catalogues up to date: `python -m locales.update`.

Written for small diffs: entries are sorted, named by file without line, and carry no dates or tool versions.
English is filled in from its own keys. What no longer stands in the source is dropped; what is new and not
yet translated is listed.
"""

import sys
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Final

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

ROOT: Final = Path(__file__).parent.parent
TEMPLATE: Final = Path("locales/messages.pot")
KEYWORDS: Final[Mapping[str, tuple[int | tuple[int, str], ...] | None]] = {
    "t": None,
    "n": (1, 2),
    "p": ((1, "c"), 2),
    "N_": None,
}
PLURAL_FORMS: Final = {
    "en": "nplurals=2; plural=(n != 1);",
    "zh": "nplurals=1; plural=0;",
}


def catalogue_path(lang: str) -> Path:
    """Return where the catalogue of a language lies, relative to the repository."""
    return Path("locales") / lang / "LC_MESSAGES" / "messages.po"


def extracted(root: Path = ROOT) -> Catalog:
    """Return a catalogue of every message in the source under `root`."""
    catalogue = Catalog(fuzzy=False)
    found = extract_from_dir(str(root / "tui"), method_map=[("**.py", "python")], keywords=KEYWORDS)
    for name, _line, message, _comments, context in found:
        catalogue.add(message, locations=[(f"tui/{Path(name).as_posix()}", None)], context=context)
    return catalogue


def template_text(catalogue: Catalog) -> str:
    """Return the text of `messages.pot`."""
    return _header({}) + _entries(catalogue)


def updated(lang: str, source: Catalog, old: Catalog | None) -> Catalog:
    """Return the messages of `source` with what `old` says of them; English says its own keys."""
    catalogue = Catalog(locale=lang, fuzzy=False)
    for message in messages(source):
        known = old.get(message.id, message.context) if old is not None else None
        text = message.id if lang == "en" else known.string if known is not None and not known.fuzzy else None
        catalogue.add(message.id, text, locations=message.locations, context=message.context)
    return catalogue


def catalogue_text(lang: str, catalogue: Catalog) -> str:
    """Return the text of a language's `messages.po`."""
    return _header({"Language": lang, "Plural-Forms": PLURAL_FORMS[lang]}) + _entries(catalogue)


def messages(catalogue: Catalog) -> Iterator[Message]:
    """Walk the messages of a catalogue without its header."""
    return (message for message in catalogue if message.id)


def read(path: Path, lang: str | None = None) -> Catalog:
    """Read a `.pot` or `.po` file."""
    with path.open("rb") as text:
        return read_po(text, locale=lang)


def _header(fields: Mapping[str, str]) -> str:
    charset = {"Content-Type": "text/plain; charset=utf-8", "Content-Transfer-Encoding": "8bit"}
    lines = "".join(f'"{name}: {value}\\n"\n' for name, value in {**fields, **charset}.items())
    return f'# Messages of dsh-tui; "make locales" keeps them.\nmsgid ""\nmsgstr ""\n{lines}\n'


def _entries(catalogue: Catalog) -> str:
    text = BytesIO()
    write_po(text, catalogue, width=0, omit_header=True, sort_output=True, include_lineno=False)
    return text.getvalue().decode("utf-8").strip("\n") + "\n"


def main() -> int:
    """Write the template and every catalogue; return 0."""
    source = extracted()
    (ROOT / TEMPLATE).write_text(template_text(source), encoding="utf-8")
    for lang in PLURAL_FORMS:
        path = ROOT / catalogue_path(lang)
        catalogue = updated(lang, source, read(path, lang) if path.is_file() else None)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(catalogue_text(lang, catalogue), encoding="utf-8")
        for message in messages(catalogue):
            if not message.string or (isinstance(message.string, tuple) and not all(message.string)):
                print(f"{path.relative_to(ROOT)}: not translated: {message.id!r}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
