from __future__ import annotations

import math
from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontology.schema import Attribute, EnumValue
from ontology.values import BadValue, Raw, pattern_fault, read_value
from ontoloom.errors import OntologyError
from ontoloom.records import Value, canonical_text

CONTEXT = Attribute("context_length", "integer", unit="tokens", minimum=1)
PARAMETERS = Attribute("parameters", "integer")
MEMORY = Attribute("memory", "number", unit="GB", minimum=0, maximum=1000)
METHOD = Attribute(
    "training_method",
    "enum",
    values=(EnumValue("DPO", synonyms=("direct preference optimization",)), EnumValue("SFT"), EnumValue("no")),
)
DAY = Attribute("released", "date")
FLAG = Attribute("open", "boolean")
URL = Attribute("url", "url")
STRING = Attribute("version", "string")
TEXT = Attribute("summary", "text")
LETTERS = Attribute("code", "string", pattern="[a-z]+|ab1")


@pytest.mark.parametrize(
    ("attribute", "raw", "value"),
    [
        (CONTEXT, "131072", 131072),
        (CONTEXT, "+7", 7),
        (CONTEXT, 8192, 8192),
        (CONTEXT, 8192.0, 8192),
        (PARAMETERS, "-3", -3),
        (PARAMETERS, str(2**63 - 1), 2**63 - 1),
        (MEMORY, "16", 16.0),
        (MEMORY, "1e2", 100.0),
        (MEMORY, ".5", 0.5),
        (MEMORY, 80, 80.0),
        (METHOD, "DPO", "DPO"),
        (METHOD, "no", "no"),
        (DAY, "2024-02-29", date(2024, 2, 29)),
        (DAY, date(2024, 5, 1), date(2024, 5, 1)),
        (FLAG, "true", True),
        (FLAG, False, False),
        (URL, "https://arxiv.org/abs/1706.03762", "https://arxiv.org/abs/1706.03762"),
        (STRING, "1.10", "1.10"),
        (STRING, "no", "no"),
        (STRING, "  San\n Francisco ", "San Francisco"),
        (STRING, "e\u0301", "\xe9"),
        (TEXT, "  one\n\n two ", "one\n\n two"),
        (LETTERS, "abc", "abc"),
    ],
)
def test_right_values_become_canonical(attribute: Attribute, raw: Raw, value: Value) -> None:
    read = read_value(attribute, raw)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("attribute", "raw", "code", "fix"),
    [
        (CONTEXT, "128K", "not-an-integer", "write 131072"),
        (CONTEXT, "128k tokens", "not-an-integer", "write 131072"),
        (CONTEXT, "1M", "not-an-integer", "write 1000000"),
        (PARAMETERS, "128K", "not-an-integer", "write 128000"),
        (PARAMETERS, "7.24B", "not-an-integer", "write 7240000000"),
        (PARAMETERS, "7,241", "not-an-integer", "write 7241"),
        (PARAMETERS, "7 241", "not-an-integer", "write 7241"),
        (PARAMETERS, "1e6", "not-an-integer", "write 1000000"),
        (PARAMETERS, "8.0", "not-an-integer", "write 8"),
        (PARAMETERS, "8.5", "not-an-integer", "write an integer"),
        (PARAMETERS, "007", "not-an-integer", "write 7"),
        (PARAMETERS, "１２", "not-an-integer", "write 12"),
        (PARAMETERS, "many", "not-an-integer", "write an integer"),
        (PARAMETERS, True, "not-an-integer", "write an integer"),
        (PARAMETERS, "9" * 5000, "out-of-range", "write a smaller number"),
        (PARAMETERS, 2**63, "out-of-range", "write a smaller number"),
        (CONTEXT, "0", "out-of-range", "write at least 1"),
        (MEMORY, "80 GB", "not-a-number", "write 80"),
        (MEMORY, "10,6", "not-a-number", "write 10.6"),
        (MEMORY, "0.5 TB", "not-a-number", "write the number alone, in GB"),
        (MEMORY, "nan", "not-a-number", "write a number"),
        (MEMORY, math.inf, "not-a-number", "write a number"),
        (MEMORY, 10**400, "not-a-number", "write a number"),
        (MEMORY, "1001", "out-of-range", "write at most 1000"),
        (METHOD, "dpo", "not-in-enum", "write DPO"),
        (METHOD, "Direct Preference Optimization", "not-in-enum", "write DPO"),
        (METHOD, "STF", "not-in-enum", "write SFT"),
        (METHOD, "quantum", "not-in-enum", "known: DPO, SFT, no"),
        (METHOD, False, "not-in-enum", "known: DPO, SFT, no"),
        (DAY, "2024-13-45", "not-a-date", "write a day that exists as YYYY-MM-DD"),
        (DAY, "2023-02-29", "not-a-date", "write a day that exists as YYYY-MM-DD"),
        (DAY, "2024/5/1", "not-a-date", "write 2024-05-01"),
        (DAY, "2024-05-01T00:00:00Z", "not-a-date", "write 2024-05-01"),
        (DAY, datetime(2024, 5, 1, 12), "not-a-date", "write 2024-05-01"),
        (DAY, "2024-05", "not-a-date", "write YYYY-MM-DD"),
        (FLAG, "yes", "not-a-boolean", "write true"),
        (FLAG, "No", "not-a-boolean", "write false"),
        (FLAG, "perhaps", "not-a-boolean", "write true or false"),
        (URL, "www.x.org", "not-a-url", "write https://www.x.org"),
        (URL, "https://x.org/a b", "not-a-url", "write the whole address, from https:// on"),
        (URL, "javascript:alert(1)", "not-a-url", "write the whole address, from https:// on"),
        (URL, "http://[", "not-a-url", "write the whole address, from https:// on"),
        (STRING, "", "empty-value", "write a value or leave it out"),
        (STRING, 1.1, "not-a-string", "write it in quotes"),
        (STRING, "a\0b", "bad-character", "remove it"),
        (LETTERS, "abc1", "pattern-mismatch", "write what matches [a-z]+|ab1"),
        (LETTERS, "1ab1", "pattern-mismatch", "write what matches [a-z]+|ab1"),
    ],
)
def test_wrong_values_are_refused_with_what_would_be_right(attribute: Attribute, raw: Raw, code: str, fix: str) -> None:
    with pytest.raises(BadValue) as caught:
        read_value(attribute, raw)
    assert (caught.value.code, caught.value.fix) == (code, fix)
    assert isinstance(caught.value, OntologyError)
    assert "\n" not in str(caught.value)


def test_a_reference_is_no_value() -> None:
    with pytest.raises(BadValue, match="names an entity") as caught:
        read_value(Attribute("benchmark", "reference", targets=("Benchmark",)), "MMLU")
    assert caught.value.fix == "name one of type Benchmark"


def test_minus_zero_is_zero() -> None:
    assert str(read_value(Attribute("n", "number"), -0.0)) == "0.0"


def test_a_pattern_takes_linear_time() -> None:
    assert pattern_fault("(a+)+b") is None
    with pytest.raises(BadValue):
        read_value(Attribute("s", "string", pattern="(a+)+b"), "a" * 5_000)
    assert pattern_fault("(") == "missing ): ("


@given(st.text(max_size=20) | st.integers() | st.floats() | st.booleans() | st.dates())
@pytest.mark.parametrize("attribute", [CONTEXT, MEMORY, METHOD, DAY, FLAG, URL, STRING, TEXT, LETTERS])
def test_a_value_is_canonical_or_refused(attribute: Attribute, raw: Raw) -> None:
    try:
        value = read_value(attribute, raw)
    except BadValue:
        return
    assert read_value(attribute, value) == value
    if attribute.type != "number":
        assert read_value(attribute, canonical_text(value)) == value


@given(st.integers(1_000, 9_000_000_000), st.sampled_from(["{:,}", "{:_}", "{} tokens", "{}.0", "0{}"]))
def test_the_fix_of_an_integer_is_right(number: int, form: str) -> None:
    with pytest.raises(BadValue) as caught:
        read_value(CONTEXT, form.format(number))
    assert caught.value.fix == f"write {number}"
