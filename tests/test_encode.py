from datetime import date

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
from graph.ladybug_session import SAME, pack
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


KINDS = ["STRING?", "STRING", "STRING[]"]
rows = st.tuples(st.none() | st.text(), st.text(min_size=1), st.lists(st.text(min_size=1)))


@given(st.lists(rows, min_size=1), st.integers(1, 12))
def test_a_packed_row_can_be_taken_apart(many: list[tuple[str | None, str, list[str]]], times: int) -> None:
    many = [row for row in many for _ in range(times)]
    signs, packed, same = pack(list(zip(*many, strict=True)), KINDS)
    for row, text in zip(many, packed.split(signs.line), strict=True):
        written = iter(text.split(signs.cut))
        fields = [None if place in same else next(written) for place in range(3)]
        assert "" not in fields, "Ladybug drops what is empty"
        maybe = None if fields[0] == signs.void else "" if fields[0] == signs.empty else fields[0]
        items = [] if fields[2] == signs.void else (fields[2] or "").split(signs.item)
        assert tuple(same.get(place, value) for place, value in enumerate((maybe, fields[1], items))) == row
    assert all(len({repr(row[place]) for row in many}) == 1 for place in same)
    assert not same or len(many) == 1 or len(many) >= SAME


def test_values_are_packed_as_casts_read_them() -> None:
    values: list[list[object]] = [[2.5], [True], [10**12], [date(1, 2, 3)], [None], [[date(1, 2, 3), date(4, 5, 6)]]]
    signs, packed, same = pack(
        [column * 2 for column in values], ["DOUBLE?", "BOOL?", "INT64?", "DATE?", "INT64?", "DATE[]"]
    )
    assert signs == ("\x1b", "\x1c", "\x1d", "\x1e", "\x1f")
    assert packed.split(signs.line)[0] == "\x1c".join(
        ["2.5", "true", f"1{'0' * 12}", "0001-02-03", "\x1e", "0001-02-03\x1d0004-05-06"]
    )
    assert not same


def test_what_is_the_same_in_many_rows_is_packed_once() -> None:
    columns: list[list[object]] = [list("abcdefghij"), [1] * 10, [None] * 10, [[]] * 10, [["x"]] * 10, [0.0, -0.0] * 5]
    signs, packed, same = pack(columns, ["STRING", "DOUBLE", "STRING?", "STRING[]", "STRING[]", "DOUBLE"])
    assert same == {1: 1.0, 2: None, 3: []}
    assert packed.split(signs.line)[1].split(signs.cut) == ["b", "x", "-0.0"]
