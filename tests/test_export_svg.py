from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from export_parts import EXAMPLES, HOSTILE, assert_golden, compiled, example, ontologies
from hypothesis import given, settings

from ontology.exports.markup import cut, escaped, width_of
from ontology.exports.svg import to_svg
from ontology.schema import Ontology
from ontoloom.errors import OntologyError

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> list[str]:
    return ["".join(one.itertext()) for one in ElementTree.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize("name", EXAMPLES)
def test_golden(name: str) -> None:
    assert_golden(f"{name}.svg", to_svg(example(name)))


def test_it_needs_nothing_beside_itself() -> None:
    svg = to_svg(example("ai-infra"))
    assert not re.search(r"<script|@import|url\(|href=|src=", svg)
    assert "prefers-color-scheme: dark" in svg
    root = ElementTree.fromstring(svg)
    assert root.get("aria-label") == "Types of ai-infra with their attributes and relations"
    assert [one.text for one in root if one.tag == f"{SVG}desc"] == [example("ai-infra").description]


def test_every_type_attribute_and_relation_is_there_as_text() -> None:
    ontology = example("library")
    found = texts(to_svg(ontology))
    assert set(ontology.types) <= set(found)
    assert {"made_by / made", "similar_to", "lent_to / borrows"} <= set(found)
    assert {"Reader [1..*]", "integer [*], min", "Work | Identified | Priced"} <= set(found)


def test_tooltips_tell_descriptions() -> None:
    titles = [one.text or "" for one in ElementTree.fromstring(to_svg(example("library"))).iter(f"{SVG}title")]
    assert "shelf_mark: Where it stands. No two have the same." in titles
    assert any(title.startswith("class: Called like a word of Python. Deprecated since 1.5.0") for title in titles)


def test_around_a_type() -> None:
    svg = to_svg(example("library"), around="Reader")
    assert_golden("library-reader.svg", svg)
    assert "isbn" not in texts(svg)
    assert "card" in texts(svg)
    with pytest.raises(OntologyError, match="there is no type 'Nobody'"):
        to_svg(example("library"), around="Nobody")


def test_linked_names_lead_to_their_types() -> None:
    assert '<a href="#type-Book">' in to_svg(example("library"), linked=True)


def test_long_texts_are_cut_and_told_whole() -> None:
    name = "an_attribute_whose_name_is_much_longer_than_any_box_of_the_diagram_could_ever_be_made"
    svg = to_svg(compiled(f"types:\n  T:\n    attributes:\n      {name}: {{type: integer, unit: {'x' * 90}}}\n"))
    assert not any(width_of(text) > 330 for text in texts(svg))
    assert f"<title>{name}: In xxx" in svg


def test_what_xml_cannot_hold_is_replaced() -> None:
    assert escaped("a\x00\ufffe<\"'&") == "a\ufffd\ufffd&lt;&quot;&#x27;&amp;"
    assert cut("模型模型模型", 40) == "模型…"
    assert cut("", 0) == ""


@settings(max_examples=40, deadline=None)
@given(ontologies())
def test_whatever_the_texts_it_is_well_formed(ontology: Ontology) -> None:
    svg = to_svg(ontology)
    ElementTree.fromstring(svg)
    assert "<script" not in svg
    assert svg == to_svg(ontology)
    described = {one.description for one in ontology.types.values()}
    assert described <= set(HOSTILE)
