from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import pytest
from export_parts import EXAMPLES, assert_golden, compiled, example, ontologies
from hypothesis import given, settings

from ontology.exports.neo4j import to_neo4j
from ontology.schema import Ontology

if TYPE_CHECKING:
    from neo4j_parts import LiveServer

EDITIONS: tuple[Literal["community", "enterprise"], ...] = ("community", "enterprise")
NAME = r"`[\w.+]+`"
STATEMENT = re.compile(
    rf"""//\ .*
    | CREATE\ INDEX\ {NAME}\ IF\ NOT\ EXISTS\ FOR\ \(n:{NAME}\)\ ON\ \(n\.`name`\);
    | CREATE\ CONSTRAINT\ {NAME}\ IF\ NOT\ EXISTS\ FOR\ (\(n:{NAME}\)|\(\)-\[r:{NAME}\]-\(\))\ REQUIRE
      \ ([nr]\.{NAME}|\(n\.{NAME}(,\ n\.{NAME})+\))\ (IS\ UNIQUE|IS\ NOT\ NULL|IS\ ::\ [A-Z <>]+);
    """,
    re.VERBOSE,
)


def statements(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and not line.startswith("//")]


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_golden(name: str, edition: Literal["community", "enterprise"]) -> None:
    assert_golden(f"{name}-{edition}.cypher", to_neo4j(example(name), edition))


def test_community_is_a_part_of_enterprise() -> None:
    community, enterprise = (statements(to_neo4j(example("library"), edition)) for edition in EDITIONS)
    assert set(community) < set(enterprise)
    assert not any("IS NOT NULL" in line or "IS ::" in line for line in community)


def test_what_is_inherited_is_stated_once() -> None:
    found = statements(to_neo4j(example("library"), "enterprise"))
    assert [line for line in found if "shelf_mark" in line and "UNIQUE" in line] == [
        "CREATE CONSTRAINT `unique.Identified.shelf_mark` IF NOT EXISTS FOR (n:`Identified`) "
        "REQUIRE n.`shelf_mark` IS UNIQUE;"
    ]
    assert [line.split()[2] for line in found if "created" in line] == ["`type.Work.created`", "`exists.Film.created`"]


def test_lists_cannot_be_unique() -> None:
    text = to_neo4j(compiled("types:\n  T:\n    attributes:\n      a: {type: string, many: true, unique: true}\n"))
    assert "// T.a: that its values are unique cannot be stated" in text
    assert "IS UNIQUE" not in text


@settings(max_examples=40, deadline=None)
@given(ontologies())
def test_statements_are_legal_and_their_names_differ(ontology: Ontology) -> None:
    for edition in EDITIONS:
        text = to_neo4j(ontology, edition)
        assert all(STATEMENT.fullmatch(line) for line in text.splitlines() if line)
        names = [line.split("`")[1] for line in statements(text)]
        assert len(names) == len(set(names))


@pytest.mark.parametrize("fixture", ["neo4j_server", "neo4j_2026_server"])
def test_a_real_neo4j_takes_them_twice_and_keeps_to_them(fixture: str, request: pytest.FixtureRequest) -> None:
    from neo4j.exceptions import ConstraintError, Neo4jError

    server: LiveServer = request.getfixturevalue(fixture)
    server.empty()
    try:
        with server.driver() as driver:
            community, enterprise = (statements(to_neo4j(example("library"), edition)) for edition in EDITIONS)
            for statement in community * 2:
                driver.execute_query(statement)
            made = driver.execute_query("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name").records
            assert {record["name"] for record in made} == {line.split("`")[1] for line in community}
            driver.execute_query("CREATE (:Book {publisher: 'Penguin', edition: 1}), (:Book {publisher: 'Penguin'})")
            with pytest.raises(ConstraintError):
                driver.execute_query("CREATE (:Book {publisher: 'Penguin', edition: 1})")
            for statement in enterprise:
                if statement not in community:  # it refuses the edition, and not the grammar
                    with pytest.raises(Neo4jError, match="Enterprise Edition"):
                        driver.execute_query(statement)
    finally:
        server.empty()
