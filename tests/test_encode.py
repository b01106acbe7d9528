from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.encode import (
    decode_attributes,
    decode_claim,
    decode_value,
    encode_attributes,
    encode_claim,
    plain_attributes,
    value_kind,
)
from graph.ladybug_session import pack
from ontoloom.records import Attributes, Claim, EntityRef, Mention, Value, canonical_text

values = st.one_of(
    st.text(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.booleans(), st.dates()
)
anything = st.text(st.characters(), max_size=5)  # lone surrogates too: models write them


@given(values)
def test_a_value_comes_back_from_its_kind_and_text(value: Value) -> None:
    found = decode_value(value_kind(value), canonical_text(value))
    assert found == value
    assert type(found) is type(value)


@given(st.dictionaries(st.text(min_size=1), st.lists(st.one_of(values, st.builds(EntityRef, st.text())), min_size=1)))
def test_attributes_come_back(many: dict[str, list[EntityRef | Value]]) -> None:
    attributes: Attributes = tuple((name, value) for name, found in sorted(many.items()) for value in found)
    decoded = decode_attributes(encode_attributes(attributes))
    assert repr(decoded) == repr(attributes)


def test_attributes_have_one_spelling() -> None:
    attributes: Attributes = (("a", EntityRef("x1")), ("b", date(2024, 5, 1)), ("c", "é"), ("c", 2.5), ("d", True))
    text = encode_attributes(attributes)
    assert text == '{"a":{"@":"x1"},"b":{"date":"2024-05-01"},"c":["é",2.5],"d":true}'
    assert plain_attributes(text) == '{"a":{"@":"x1"},"b":"2024-05-01","c":["é",2.5],"d":true}'
    assert (encode_attributes(()), decode_attributes("{}"), plain_attributes("{}")) == ("{}", (), "{}")


mentions = st.builds(Mention, anything, st.none() | anything)
claims = st.builds(
    Claim,
    subject=mentions,
    relation=anything,
    object=mentions | values | anything,
    start=st.integers(),
    end=st.integers(),
    extractor=anything,
    source=anything,
    confidence=st.floats(0, 1),
    attributes=st.lists(st.tuples(anything, mentions | values), max_size=3).map(tuple),
)


@given(claims)
def test_a_claim_comes_back_whatever_it_holds(claim: Claim) -> None:
    text = encode_claim(claim)
    text.encode("ascii")
    assert repr(decode_claim(text)) == repr(claim)


@given(st.lists(st.lists(st.none() | st.text() | st.lists(st.text(min_size=1)), min_size=3, max_size=3), min_size=1))
def test_a_packed_row_can_be_taken_apart(rows: list[list[str | list[str] | None]]) -> None:
    signs, packed = pack(rows)

    def unpack(text: str, value: str | list[str] | None) -> str | list[str] | None:
        if isinstance(value, list):
            return [] if text == signs["void"] else text.split(signs["item"])
        return None if text == signs["void"] else "" if text == signs["empty"] else text

    for row, text in zip(rows, packed, strict=True):
        fields = text.split(signs["cut"])
        assert "" not in fields, "Ladybug drops what is empty"
        assert [unpack(field, value) for field, value in zip(fields, row, strict=True)] == row


@pytest.mark.parametrize(
    "value", [(2.5, "2.5"), (True, "true"), (10**30, f"1{'0' * 30}"), (date(1, 2, 3), "0001-02-03")]
)
def test_values_are_packed_as_casts_read_them(value: tuple[Value, str]) -> None:
    assert pack([[value[0]]])[1] == [value[1]]
