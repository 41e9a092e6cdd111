"""Words, numbers, times and sizes in both languages."""

import subprocess
import sys

import pytest
from babel.numbers import format_decimal, format_percent

from tui.i18n import ABSENT, LANGS, N_, detect_lang, translator

EN = translator("en")
ZH = translator("zh")

# 2025-11-30 14:35:07 UTC; the environment of the tests is in UTC.
MOMENT = 1_764_513_307_000
HOUR = 3_600_000


@pytest.mark.parametrize(
    ("ms", "english", "chinese"),
    [
        (0, "0 ms", "0 毫秒"),
        (12, "12 ms", "12 毫秒"),
        (99, "99 ms", "99 毫秒"),
        (100, "0.1 s", "0.1 秒"),
        (400, "0.4 s", "0.4 秒"),
        (1234, "1.2 s", "1.2 秒"),
        (59_949, "59.9 s", "59.9 秒"),
        (59_950, "1 min", "1 分钟"),
        (185_000, "3 min 5 s", "3 分 5 秒"),
        (3_599_600, "1 h", "1 小时"),
        (7_380_000, "2 h 3 min", "2 小时 3 分"),
        (24 * HOUR, "1 d", "1 天"),
        (28 * HOUR, "1 d 4 h", "1 天 4 小时"),
        (-1500, "-1.5 s", "-1.5 秒"),
    ],
)
def test_a_duration_is_told_in_the_two_units_that_matter(ms: int, english: str, chinese: str) -> None:
    assert (EN.duration(ms), ZH.duration(ms)) == (english, chinese)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1.0k"),
        (3700, "3.7k"),
        (99_949, "99.9k"),
        (99_950, "100k"),
        (999_499, "999k"),
        (999_500, "1.0M"),
        (1_200_000, "1.2M"),
        (5_000_000_000, "5.0B"),
        (-3700, "-3.7k"),
    ],
)
def test_tokens_are_told_in_at_most_three_figures(count: int, text: str) -> None:
    assert (EN.compact(count), ZH.compact(count)) == (text, text)


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [(0, "0 B"), (512, "512 B"), (1000, "1.0 kB"), (14_500_000, "14.5 MB"), (2_000_000_000, "2.0 GB")],
)
def test_sizes_are_told_in_decimal_units(n_bytes: int, text: str) -> None:
    assert (EN.size(n_bytes), ZH.size(n_bytes)) == (text, text)


@pytest.mark.parametrize("lang", LANGS)
def test_what_is_written_without_babel_is_what_babel_writes(lang: str) -> None:
    tr = translator(lang)
    for value in (-999, -1, 0, 7, 999):
        assert tr.number(value) == format_decimal(value, locale=lang)
    for share in (0, 0.004, 0.07, 0.54, 0.996, 1, 1.5, -0.2):
        assert tr.percent(share) == format_percent(share, locale=lang)
    assert tr.duration(1200).split()[0] == format_decimal(1.2, locale=lang)
    assert tr.compact(-3700) == format_decimal(-3.7, locale=lang) + "k"


def test_large_numbers_are_grouped() -> None:
    assert EN.number(12_345) == ZH.number(12_345) == "12,345"
    assert EN.number(-1_234_567) == "-1,234,567"
    assert EN.percent(12.5) == "1,250%"


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), float("-inf"), 1e18, -1e18, 10**400, -(10**400), 10**18]
)
def test_damaged_times_and_counts_are_told_as_absent(lang: str, value: float) -> None:
    tr = translator(lang)
    assert tr.duration(value) == ABSENT
    assert tr.clock(value) == ABSENT
    assert tr.date_time(value) == ABSENT
    assert tr.relative(value, MOMENT) == ABSENT
    assert tr.relative(MOMENT, value) == ABSENT
    assert tr.number(value) == ABSENT
    assert tr.percent(value) == ABSENT
    assert tr.compact(value) == ABSENT  # type: ignore[arg-type]
    assert tr.size(value) == ABSENT  # type: ignore[arg-type]


def test_a_moment_beyond_the_calendar_is_told_as_absent() -> None:
    # The year 1 begins at -62,135,596,800 s, the year 9999 ends at 253,402,300,799 s.
    assert EN.clock(-62_135_596_801_000 - 24 * HOUR) == ABSENT
    assert EN.date_time(99_999_999_999_999) != ""


def test_moments_are_told_in_local_time() -> None:
    assert EN.clock(MOMENT) == ZH.clock(MOMENT) == "14:35:07"
    assert EN.clock(MOMENT + 999) == "14:35:07"
    assert EN.date_time(MOMENT) == "Nov 30, 2025, 14:35:07"
    assert ZH.date_time(MOMENT) == "2025年11月30日 14:35:07"


def test_the_time_zone_of_the_environment_counts() -> None:
    program = f"from tui.i18n import translator; print(translator('en').clock({MOMENT}))"
    done = subprocess.run(
        [sys.executable, "-c", program], env={"TZ": "CST-8"}, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "22:35:07"


@pytest.mark.parametrize(
    ("distance", "english", "chinese"),
    [
        (0, "just now", "刚刚"),
        (-44_000, "just now", "刚刚"),
        (44_000, "just now", "刚刚"),
        (-60_000, "1 minute ago", "1 分钟前"),
        (-3 * HOUR, "3 hours ago", "3 小时前"),
        (-25 * HOUR, "1 day ago", "1 天前"),
        (3 * HOUR, "in 3 hours", "3 小时后"),
    ],
)
def test_distances_in_time_are_told_in_words(distance: int, english: str, chinese: str) -> None:
    assert EN.relative(MOMENT + distance, MOMENT) == english
    assert ZH.relative(MOMENT + distance, MOMENT) == chinese


def test_lists_are_joined_as_the_language_does() -> None:
    assert (EN.join(["a", "b", "c"]), ZH.join(["a", "b", "c"])) == ("a, b, c", "a、b、c")
    assert EN.join([]) == ""


def test_a_message_without_translation_reads_english() -> None:
    assert ZH.t("no such message, {name}", name="fern") == "no such message, fern"
    assert ZH.n("{n} no such fern", "{n} no such ferns", 2) == "2 no such ferns"
    assert ZH.p("garden", "no such bed") == "no such bed"


def test_the_empty_message_is_empty() -> None:
    assert ZH.t("") == ""


def test_a_field_is_never_read_as_a_pattern() -> None:
    assert EN.t("{file}: {reason}", file="{0}", reason="%s {x}") == "{0}: %s {x}"


def test_plural_forms_follow_the_count() -> None:
    forms = [EN.n("{n} fern in {bed}", "{n} ferns in {bed}", count, bed="b") for count in (0, 1, 2, 1200)]
    assert forms == ["0 ferns in b", "1 fern in b", "2 ferns in b", "1,200 ferns in b"]


def test_an_unknown_language_reads_english() -> None:
    assert translator("fr").lang == "en"


def test_a_marked_constant_is_unchanged() -> None:
    assert N_("fern") == "fern"


@pytest.mark.parametrize(
    ("environ", "lang"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "en_GB.UTF-8", "LC_MESSAGES": "zh_TW"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": ""}, "zh"),
        ({"LANG": "de_DE"}, "en"),
    ],
)
def test_the_language_is_taken_from_the_first_locale_variable_that_is_set(
    environ: dict[str, str], lang: str
) -> None:
    assert detect_lang(environ) == lang


def test_short_forms_are_told_without_importing_babel() -> None:
    program = """if True:
        import sys
        from tui.i18n import translator
        tr = translator("zh")
        tr.t("just now"), tr.number(14), tr.compact(3700), tr.percent(0.5), tr.duration(1200)
        tr.clock(0), tr.size(5), tr.join("ab")
        sys.exit(any(name.split(".")[0] == "babel" for name in sys.modules))
    """
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
