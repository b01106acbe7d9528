from __future__ import annotations

import pytest
from export_parts import compiled, example

from ontology.outline import (
    amount,
    around_type,
    by_head,
    concrete,
    declared_in,
    deprecation,
    details,
    families,
    how_many,
    keys,
    legal,
    limits,
    not_abstract,
    own_attributes,
    parents_first,
    record_parts,
    sentence,
    topmost,
)
from ontology.schema import Attribute, Cardinality, Deprecation

LIBRARY = example("library")
DIAMOND = compiled("""types:
  D: {is_a: B, mixins: [C]}
  B: {is_a: A, attributes: {x: {type: date, required: true}}}
  C: {abstract: true, attributes: {x: {type: date, required: true}, y: {type: date}}}
  A: {attributes: {x: {type: date}, z: {type: date}}}
  E: {attributes: {z: {type: date}}}
""")


def own(type_name: str) -> list[str]:
    return [attribute.name for attribute in own_attributes(DIAMOND, type_name)]


def test_types_stand_behind_what_they_are() -> None:
    assert parents_first(DIAMOND) == ("C", "A", "B", "D", "E")
    assert parents_first(LIBRARY) == tuple(LIBRARY.types)


def test_own_attributes_are_those_that_no_base_has_as_they_are() -> None:
    assert own("A") == ["name", "x", "z"]
    assert own("B") == ["x"]  # required here
    assert own("D") == []
    assert own("E") == ["name", "z"]


def test_where_an_attribute_is_declared() -> None:
    assert [declared_in(DIAMOND, "D", name) for name in ("x", "y", "z")] == ["B", "C", "A"]
    assert declared_in(LIBRARY, "Book", "name") == "Work"  # its pattern is that of Work
    assert declared_in(LIBRARY, "Book", "extent.pages") == "Work"


def test_what_meets_below_is_one_family() -> None:
    found = families(DIAMOND)
    assert {found[one, "x"] for one in "ABCD"} == {"C"}
    assert found["C", "y"] == found["D", "y"] == "C"
    assert found["E", "z"] == "E"


def test_ends_of_relations() -> None:
    assert topmost(LIBRARY, ("Work", "Book", "Film", "Reader")) == ("Work", "Reader")
    assert concrete(LIBRARY, ["Priced", "Reader"]) == ("Book", "Reader")
    assert not_abstract(LIBRARY, ["Reader", "Priced", "Book"]) == ("Book", "Reader")
    assert concrete(LIBRARY, ["Identified"]) == ("Book",)
    assert around_type(LIBRARY, None) == tuple(LIBRARY.types)
    assert around_type(LIBRARY, "Film") == ("Work", "Book", "Film", "Reader")


@pytest.mark.parametrize(
    ("least", "most", "words"),
    [
        (0, None, "any number"),
        (0, 1, "at most 1"),
        (1, 1, "exactly 1"),
        (1, None, "at least 1"),
        (2, 5, "2 to 5"),
    ],
)
def test_amounts(least: int, most: int | None, words: str) -> None:
    assert amount(Cardinality(least, most)) == words


def test_words_about_values() -> None:
    attribute = Attribute("a", "integer", many=True, unit="tokens", minimum=1.0, at_least=2, default=3, unique=True)
    assert limits(attribute) == "at least 1 tokens"
    assert details(attribute) == ["In tokens", "At least 2 values, if any", "No two have the same", "Editors offer 3"]
    assert how_many(attribute) == Cardinality(0, None)
    assert how_many(Attribute("a", "integer", many=True, required=True)) == Cardinality(1, None)
    assert how_many(Attribute("a", "integer", required=True)) == Cardinality(1, 1)
    assert limits(Attribute("a", "number", minimum=0.5, maximum=2.0)) == "from 0.5 to 2"
    assert limits(Attribute("a", "number", maximum=2.0)) == "at most 2"
    assert [sentence(text) for text in ("", "in GB")] == ["", "In GB."]
    assert deprecation(Deprecation("2.0.0", "Book")) == "since 2.0.0; use Book"
    assert deprecation(Deprecation()) == ""


def test_a_description_that_all_fields_share_is_that_of_their_record() -> None:
    extent = by_head(LIBRARY.types["Work"].attributes.values())["extent"]
    said, fields = record_parts(extent)
    assert said == "How large it is."
    assert [field.description for field in fields] == ["", "", ""]
    lent_to = tuple(LIBRARY.relations["lent_to"].attributes.values())
    assert record_parts(lent_to) == ("", lent_to)


def test_keys_and_names() -> None:
    assert keys(LIBRARY.types["Book"]) == (("isbn",), ("publisher", "edition"), ("shelf_mark",))
    assert legal("class", {"class", "class_"}) == "class__"
