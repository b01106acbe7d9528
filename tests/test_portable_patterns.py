from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ontology.exports.portable_patterns import anchored, unanchored
from ontology.values import compile_pattern, pattern_fault

PIECES = st.sampled_from(
    ["a", "é", "٣", "[A-Z]", r"\d", r"\w+", r"\s*", r"[^\d]", r"[\w.-]", r"\.", "(?:x|y)", "(b)", "|", "?", "[[]",
     "[]a]", r"\S", "{2}", r"[a\]b]", r"\-"]
)  # fmt: skip


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("[A-Z].*", "^(?:[A-Z].*)$"),
        (r"\d+|x", "^(?:[0-9]+|x)$"),
        (r"[\w.]\W", "^(?:[0-9A-Za-z_.][^0-9A-Za-z_])$"),
        (r"a\.b\-c", r"^(?:a\.b\-c)$"),
        ("[]a[]", r"^(?:[\]a\[])$"),
        ("(?:a)(b)", "^(?:(?:a)(b))$"),
        ("(?i)x", None),
        (r"\pL", None),
        (r"\Qa\E", None),
        (r"\Ax\z", None),
        ("[[:alpha:]]", None),
        ("(?P<n>x)", None),
        (r"[^\D]", None),
    ],
)
def test_patterns_for_others(pattern: str, found: str | None) -> None:
    assert anchored(pattern) == found


@given(st.lists(PIECES, min_size=1, max_size=5).map("".join), st.text("aéxy٣7B _.-[]b\n", max_size=6))
def test_they_mean_the_same(pattern: str, text: str) -> None:
    assume(pattern_fault(pattern) is None)
    found = anchored(pattern)
    assert found is not None
    assume(not text.endswith("\n"))  # Python's $ looks over one
    assert bool(re.search(found, text)) == bool(compile_pattern(pattern).fullmatch(text))


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("^(?:[A-Z].*)$", "[A-Z].*"),
        ("^[a-z]{2}$", "[a-z]{2}"),
        ("^(?:a)(?:b)$", "(?:a)(?:b)"),
        ("^a|b$", "(?s:.*)(?:^a|b$)(?s:.*)"),
        ("^(?:a|b)$", "a|b"),
        ("^https?://", "(?s:.*)(?:^https?://)(?s:.*)"),
        (r"^a\$", r"(?s:.*)(?:^a\$)(?s:.*)"),
    ],
)
def test_patterns_of_others(pattern: str, found: str) -> None:
    assert unanchored(pattern) == found
    for text in ("ab", "a", "b", "Xy", "https://x", "a$", "a$c", ""):
        assert bool(compile_pattern(found).fullmatch(text)) == bool(re.search(pattern, text))


@given(st.lists(PIECES, min_size=1, max_size=5).map("".join))
def test_what_goes_out_comes_back(pattern: str) -> None:
    assume(pattern_fault(pattern) is None)
    found = anchored(pattern)
    assert found is not None
    back = unanchored(found)
    assert anchored(back) == found
