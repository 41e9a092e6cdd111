"""Messages, numbers, times and sizes in the reader's language.

Messages come from gettext catalogues whose keys are the English sentences; a missing translation falls back
to them. Numbers, dates and relative times follow CLDR through Babel. Babel takes about 33 ms to import, so
what English and Chinese write alike (integers under 1000, one decimal, whole percent) is written here; the
tests hold it equal to Babel's. Nothing here raises for a number or a time: what cannot be told is "–".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tui.resources import shipped

if TYPE_CHECKING:
    from datetime import datetime

LANGS: Final = ("en", "zh")
ABSENT: Final = "–"
# Beyond these a value is no measure but damage (a time in 3,000 years, a count of 10^18).
_MAX_COUNT: Final = 10**18
_MAX_MS: Final = 10**14
_JUST_NOW_MS: Final = 45_000


class Translator:
    """The words, numbers and times of one language."""

    __slots__ = ("_catalogue", "lang")

    def __init__(self, lang: str, catalogue: NullTranslations) -> None:
        self.lang: Final = lang
        self._catalogue: Final = catalogue

    def t(self, message: str, /, **fields: object) -> str:
        """Return the message in this language with its `{fields}` filled in."""
        # gettext answers "" with the catalogue's header.
        return self._catalogue.gettext(message).format(**fields) if message else ""

    def n(self, one: str, many: str, count: int, /, **fields: object) -> str:
        """Return the plural form for `count`; `{n}` in it is the localised number."""
        return self._catalogue.ngettext(one, many, count).format(n=self.number(count), **fields)

    def p(self, context: str, message: str, /, **fields: object) -> str:
        """Return the message as `context` says it: one English word may be several in another language."""
        return self._catalogue.pgettext(context, message).format(**fields)

    def number(self, value: int | float) -> str:
        """Return the number with the language's grouping: 12,345."""
        if not _is_sane(value, _MAX_COUNT):
            return ABSENT
        if isinstance(value, int) and -1000 < value < 1000:
            return str(value)
        from babel.numbers import format_decimal

        return format_decimal(value, locale=self.lang)

    def compact(self, value: int) -> str:
        """Return a count in at most three figures, as engineers write tokens: 999, 3.7k, 120k, 1.2M."""
        if not _is_sane(value, _MAX_COUNT):
            return ABSENT
        figures, step = _three_figures(abs(value), steps=3)
        match step:
            case 0:
                text = figures
            case 1:
                text = self.t("{n}k", n=figures)
            case 2:
                text = self.t("{n}M", n=figures)
            case _:
                text = self.t("{n}B", n=figures)
        return _signed(value, text)

    def percent(self, share: float) -> str:
        """Return a share of 1 in whole percent: 54%."""
        if not _is_sane(share, _MAX_COUNT):
            return ABSENT
        if -10 < share < 10:
            return f"{round(share * 100)}%"
        from babel.numbers import format_percent

        return format_percent(share, locale=self.lang)

    def duration(self, ms: int | float) -> str:
        """Return a duration in the two units that matter: 12 ms, 1.2 s, 3 min 5 s, 2 h 3 min, 1 d 4 h.

        A negative one keeps its sign: the clock of the machine that wrote the log went back.
        """
        if not _is_sane(ms, _MAX_MS):
            return ABSENT
        return _signed(round(ms), self._elapsed(round(abs(ms))))

    def _elapsed(self, ms: int) -> str:
        if ms < 100:
            return self.t("{n} ms", n=ms)
        if ms < 59_950:
            return self.t("{n} s", n=_tenths((ms + 50) // 100))
        seconds = (ms + 500) // 1000
        if seconds < 3600:
            minutes, rest = divmod(seconds, 60)
            return self.t("{min} min {s} s", min=minutes, s=rest) if rest else self.t("{n} min", n=minutes)
        whole_minutes = (seconds + 30) // 60
        if whole_minutes < 24 * 60:
            hours, rest = divmod(whole_minutes, 60)
            return self.t("{h} h {min} min", h=hours, min=rest) if rest else self.t("{n} h", n=hours)
        days, rest = divmod((whole_minutes + 30) // 60, 24)
        shown = self.number(days)
        return self.t("{d} d {h} h", d=shown, h=rest) if rest else self.t("{n} d", n=shown)

    def size(self, n_bytes: int) -> str:
        """Return a number of bytes in decimal units: 512 B, 14.5 MB."""
        if not _is_sane(n_bytes, _MAX_COUNT):
            return ABSENT
        figures, step = _three_figures(abs(n_bytes), steps=4)
        match step:
            case 0:
                text = self.t("{n} B", n=figures)
            case 1:
                text = self.t("{n} kB", n=figures)
            case 2:
                text = self.t("{n} MB", n=figures)
            case 3:
                text = self.t("{n} GB", n=figures)
            case _:
                text = self.t("{n} TB", n=figures)
        return _signed(n_bytes, text)

    def clock(self, ms: int | float) -> str:
        """Return the local time of day of a moment (milliseconds since the epoch): 14:35:07."""
        return _at(ms, lambda moment: moment.strftime("%H:%M:%S"))

    def date_time(self, ms: int | float) -> str:
        """Return the local date and time of a moment (milliseconds since the epoch)."""

        def written(moment: datetime) -> str:
            from babel.dates import format_date

            date = format_date(moment.date(), "medium", locale=self.lang)
            time = moment.strftime("%H:%M:%S")
            return self.t("{date}, {time}", date=date, time=time)

        return _at(ms, written)

    def relative(self, ms: int | float, now_ms: int | float) -> str:
        """Return how far a moment is from now: "3 hours ago"; both in milliseconds since the epoch."""
        if not (_is_sane(ms, _MAX_MS) and _is_sane(now_ms, _MAX_MS)):
            return ABSENT
        if abs(ms - now_ms) < _JUST_NOW_MS:
            return self.t("just now")
        from datetime import timedelta

        from babel.dates import format_timedelta

        distance = timedelta(milliseconds=ms - now_ms)
        return _spaced(format_timedelta(distance, add_direction=True, locale=self.lang))

    def join(self, items: Sequence[str]) -> str:
        """Return the items as a plain list: "a, b", in Chinese "a、b"."""
        return self.p("between the items of a list", ", ").join(items)


@lru_cache(maxsize=len(LANGS))
def translator(lang: str) -> Translator:
    """Return the translator of "en" or "zh"; any other language reads English."""
    known = lang if lang in LANGS else "en"
    return Translator(known, _catalogue(known))


def detect_lang(environ: Mapping[str, str]) -> str:
    """Return the language that the first set variable of LC_ALL, LC_MESSAGES and LANG asks for."""
    names = ("LC_ALL", "LC_MESSAGES", "LANG")
    wanted = next((environ[name] for name in names if environ.get(name)), "")
    return "zh" if wanted.lower().startswith("zh") else "en"


def N_(message: str) -> str:
    """Mark a constant for extraction; it is translated where it is shown."""
    return message


def _catalogue(lang: str) -> NullTranslations:
    source = shipped("locales") / lang / "LC_MESSAGES" / "messages.po"
    compiled = source.with_suffix(".mo")
    if _is_current(compiled, source):
        with compiled.open("rb") as binary:
            return GNUTranslations(binary)
    return _compiled_in_memory(source, lang) if source.is_file() else NullTranslations()


def _is_current(compiled: Path, source: Path) -> bool:
    if not compiled.is_file():
        return False
    return not source.is_file() or source.stat().st_mtime_ns <= compiled.stat().st_mtime_ns


def _compiled_in_memory(source: Path, lang: str) -> NullTranslations:
    """A checkout whose catalogue was not compiled since it changed still speaks the language."""
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    with source.open("rb") as text:
        catalogue = read_po(text, locale=lang)
    binary = BytesIO()
    write_mo(binary, catalogue)
    binary.seek(0)
    return GNUTranslations(binary)


def _is_sane(value: int | float, limit: int) -> bool:
    # An int is compared as one: math.isfinite() overflows on an int beyond the floats.
    return (isinstance(value, int) or math.isfinite(value)) and -limit < value < limit


def _signed(value: int, text: str) -> str:
    return f"-{text}" if value < 0 else text


def _tenths(value: int) -> str:
    return f"{value // 10}.{value % 10}"


def _three_figures(value: int, steps: int) -> tuple[str, int]:
    """Return at most three figures of a count and how often 1000 was taken out of it (`steps` at most)."""
    if value < 1000:
        return str(value), 0
    for step in range(1, steps + 1):
        unit = 1000**step
        tenths = (value * 10 + unit // 2) // unit
        if tenths < 1000:
            return _tenths(tenths), step
        # 999,950 is "1.0M" and not "1000k".
        if (whole := (value + unit // 2) // unit) < 1000:
            return str(whole), step
    return f"{value // 1000**steps:,}", steps


def _at(ms: int | float, write: Callable[[datetime], str]) -> str:
    """Write a moment in local time, or "–" where no calendar reaches."""
    from datetime import datetime

    if not _is_sane(ms, _MAX_MS):
        return ABSENT
    try:
        return write(datetime.fromtimestamp(ms // 1000))
    except (OverflowError, OSError, ValueError):
        return ABSENT


def _spaced(text: str) -> str:
    """Put a space between a figure and a Chinese character, as the whole interface does and CLDR does not."""
    import re

    return re.sub(r"(?<=[0-9])(?=[\u4e00-\u9fff])", " ", text)
