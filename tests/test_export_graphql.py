from __future__ import annotations

import pytest
from export_parts import EXAMPLES, assert_golden, compiled, example, ontologies
from graphql import GraphQLSchema, build_schema, parse, validate, validate_schema
from graphql.type import GraphQLInterfaceType, GraphQLObjectType
from hypothesis import given, settings

from ontology.exports.graphql import to_graphql
from ontology.schema import Ontology


def schema_of(ontology: Ontology) -> GraphQLSchema:
    schema = build_schema(to_graphql(ontology))
    assert validate_schema(schema) == []
    return schema


@pytest.mark.parametrize("name", EXAMPLES)
def test_golden(name: str) -> None:
    ontology = example(name)
    assert_golden(f"{name}.graphql", to_graphql(ontology))
    schema_of(ontology)


def test_queries_that_people_would_ask_are_valid() -> None:
    query = """{
      work_list(first: 5) {
        name
        language
        ... on Book { isbn id_ class }
        ... on Book { lent_to { since vouched_by { ... on Reader { card } } } }
        ... on Book { lent_to { target { borrows { target { ... on Page { name } } } } } }
        ... on Priced { price owned_by { ... on Page { name } } }
        sequel_of { continued_by(first: 1) { extent { pages } } }
      }
      book_by_publisher_and_edition(publisher: "Penguin", edition: 2) { class }
      page(id: "ulysses") { name }
    }"""
    assert validate(schema_of(example("library")), parse(query)) == []


def test_abstract_types_cannot_be_met() -> None:
    schema = schema_of(example("library"))
    assert isinstance(schema.type_map["Priced"], GraphQLInterfaceType)
    assert isinstance(schema.type_map["Work"], GraphQLObjectType)
    assert {t.name for t in schema.get_possible_types(schema.type_map["AnyWork"])} == {"Work", "Book", "Film"}  # type: ignore[arg-type]  # of that kind


def test_large_integers_do_not_overflow() -> None:
    limits = "{type: integer, min: -5, max: 2147483647}"
    unlimited = "{type: integer, min: 0}"
    text = to_graphql(compiled(f"types:\n  T:\n    attributes:\n      a: {limits}\n      b: {unlimited}\n"))
    assert "a: Int\n" in text
    assert "b: Long\n" in text


def test_records_and_enums_of_a_family_are_one() -> None:
    ontology = compiled("""types:
  M: {abstract: true, attributes: {e: {type: enum, values: [a]}, r: {type: record, fields: {x: {type: date}}}}}
  N: {abstract: true, attributes: {e: {type: enum, values: [a]}, r: {type: record, fields: {x: {type: date}}}}}
  A: {mixins: [N, M], attributes: {r: {type: record, fields: {y: {type: date, required: true}}}}}
  B: {mixins: [N]}
  C: {attributes: {e: {type: enum, values: [b]}}}
""")
    schema = schema_of(ontology)
    text = to_graphql(ontology)
    assert "enum ME {\n  a\n}" in text
    assert "enum CE {\n  b\n}" in text
    assert "type MR {\n  x: Date\n  y: Date\n}" in text
    assert str(schema.type_map["A"].fields["r"].type) == "MR!"  # type: ignore[attr-defined]  # of that kind


@settings(max_examples=40, deadline=None)
@given(ontologies())
def test_whatever_the_names_the_schema_is_valid(ontology: Ontology) -> None:
    schema = schema_of(ontology)
    fields = schema.query_type.fields if schema.query_type else {}
    assert len(fields) >= 1 + 2 * len(ontology.types)
