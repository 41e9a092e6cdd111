"""The technical facts of the session layer (`Damage.reason`, `SessionError.detail`) in the reader's language.

The session layer states them in plain English and knows no catalogue. A fact that is not known here, such as
what the zstd library says, stands as it is.
"""

from __future__ import annotations

import re
from typing import Final

from tui.blocks.clean import clean_line
from tui.i18n import N_, Translator
from tui.os_reasons import os_reason

_REASONS: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern, re.DOTALL), message)
    for pattern, message in (
        # Lines and events (reader, irregular).
        (r"a blank line", N_("a blank line")),
        (r"the line is broken off by a bad frame", N_("the line is broken off by a bad frame")),
        (r"no event type", N_("no event type")),
        (r"(?P<type>.+) without a sequence number", N_("{type} without a sequence number")),
        (r"not JSON: .*", N_("not JSON")),
        (r"its time is not a whole number", N_("its time is not a whole number")),
        (r"it has no data", N_("it has no data")),
        (
            r"its envelope has a key that does not belong there: (?P<key>.+)",
            N_("its envelope has a key that does not belong there: {key}"),
        ),
        (
            r"(?P<type>\S+) has a payload of another shape: (?P<detail>.+)",
            N_("{type} has a payload of another shape: {detail}"),
        ),
        # Headers.
        (r"the file begins with a byte order mark", N_("the file begins with a byte order mark")),
        (r"the header has no session id", N_("the header has no session id")),
        (r"the header has no format version", N_("the header has no format version")),
        (r"the header has an unknown key (?P<key>.+)", N_("the header has an unknown key {key}")),
        (r'"(?P<key>\w+)" in the header is missing', N_('"{key}" in the header is missing')),
        (
            r'"cwd" in the header is not an absolute path',
            N_('"cwd" in the header is not an absolute path'),
        ),
        (r"the header line is cut after (?P<n>\d+) bytes", N_("the header line is cut after {n} bytes")),
        (
            r"the first line that can be read is an event \((?P<type>.+)\)",
            N_("the first line that can be read is an event ({type})"),
        ),
        (r"the first line is not JSON: .*", N_("the first line is not JSON")),
        (r"the first line is not a JSON object", N_("the first line is not a JSON object")),
        (r"the first line is nested too deeply", N_("the first line is nested too deeply")),
        (r'the first line has no "type": "session"', N_('the first line has no "type": "session"')),
        (
            r"the file has no JSON line at its beginning",
            N_("the file has no JSON line at its beginning"),
        ),
        (r"this file is never opened", N_("this file is never opened")),
        # Frames.
        (r".*[Dd]ata doesn't match checksum", N_("its checksum does not match")),
    )
)


def reason_text(tr: Translator, reason: str) -> str:
    """A technical fact, cleaned; in the reader's language where it is one of ours."""
    told = clean_line(reason)
    for pattern, message in _REASONS:
        found = pattern.fullmatch(told)
        if found is not None:
            return tr.t(message, **found.groupdict())
    from tui.blocks.wording_rules import rule_text

    return rule_text(tr, told) or os_reason(tr, told)
