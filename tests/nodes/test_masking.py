"""What a draft hands on holds no keys: known shapes, named values, headers, addresses, private keys."""

from __future__ import annotations

from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.nodes.masking import MASK, masked

# Put together here, so that no search for keys finds one in this file.
KEY = "sk" + "-" + "moss0fern1lichen2bed3"
DASHES = "-" * 5
PRIVATE = f"{DASHES}BEGIN PRIVATE KEY{DASHES}\nbW9zcw==\n{DASHES}END PRIVATE KEY{DASHES}"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"use {KEY} now", f"use {MASK} now"),
        (f"curl -H 'Authorization: Bearer {KEY}'", None),
        ('{"password": "wet moss", "bed": 3}', f'{{"password": "{MASK}", "bed": 3}}'),
        (r'{"command": "x \"api_key\": \"wetmoss\" y"}', None),
        ("export CREEK_API_KEY=wetmoss && run", f"export CREEK_API_KEY={MASK} && run"),
        ("CREEK_KEY=wetmoss1\nBED=fern", f"CREEK_KEY={MASK}\nBED=fern"),
        ("mysql --password wetmoss -h x", f"mysql --password {MASK} -h x"),
        ("https://ana:wetmoss@example.org/x", f"https://ana:{MASK}@example.org/x"),
        (f"a\n{PRIVATE}\nb", f"a\n{MASK}\nb"),
        ("token: wetmoss1", f"token: {MASK}"),
        ("ey" + "Jhbgciabc" + ".eyJzdWIabc.c2lnbg", MASK),
    ],
)
def test_what_looks_like_a_secret_is_taken_out(text: str, kept: str | None) -> None:
    told = masked(text)
    assert MASK in told
    for secret in (KEY, "wet moss", "wetmoss", "wetmoss1", "bW9zcw"):
        assert secret not in told
    assert kept is None or told == kept


@pytest.mark.parametrize(
    "text",
    [
        "Label the moss: first bed, then fern.",
        '{"path": "src/token.py", "max_tokens": 4096}',
        "export API_KEY=$CREEK_KEY",
        "CREEK_KEY=$(pass creek) PRIMARY_KEY=id",
        "the password is asked for; the secret garden opens at nine",
        "https://example.org:8080/path@2",
        "session-5f0a2cef0e464d38951cbd14e256ded4, up to event 83",
        "tokens: 12,345",
        "tests/test_auth.py::test_login PASSED",
        "author: Ana of the greenhouse",
    ],
)
def test_what_is_none_stays(text: str) -> None:
    assert masked(text) == text


@given(st.text(max_size=400))
def test_masking_twice_is_masking_once(text: str) -> None:
    once = masked(text)
    assert masked(once) == once


@pytest.mark.parametrize("piece", ["a_", "-", "token", "eyJ", "x://", 'password:"', "\\\\", "auth: "])
def test_long_texts_take_no_longer_than_their_length(piece: str) -> None:
    begun = perf_counter()
    masked(piece * (100_000 // len(piece)))
    assert perf_counter() - begun < 3
