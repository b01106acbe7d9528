"""The Movies set: SELECT under an ontology of our own gives the rows that its Cypher gives on a real Neo4j."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from movies_parts import (
    Answer,
    Link,
    Node,
    Question,
    ask,
    chosen,
    each,
    extractions,
    load_graph,
    movies_ontology,
    read_graph,
    read_questions,
)
from neo4j_parts import LiveServer

from graph.open import open_store
from graph.projection import ColumnarProjection
from graph.select import select
from graph.store import Store

Row = tuple[Any, ...]
Select = Callable[[str], list[Row]]
LINES = [entry["line"] for entry in chosen()]
KINDS = {
    "Simple Retrieval Queries": 21,
    "Complex Retrieval Queries": 21,
    "Simple Aggregation Queries": 20,
    "Complex Aggregation Queries": 26,
    "Pathfinding Queries": 21,
    "Verbose query": 15,
}
"""How many questions of each kind are compared."""
HOPS = {
    "how far from Kevin Bacon": (
        """MATCH (start:Person {name: 'Kevin Bacon'}), (p:Person) WHERE p <> start
        MATCH path = shortestPath((start)-[:ACTED_IN*..8]-(p)) RETURN p.name, length(path) / 2""",
        """WITH RECURSIVE reached(name, steps) AS (
          SELECT 'Kevin Bacon', 0
          UNION
          SELECT b.subject, steps + 1 FROM reached r
          JOIN acted_in a ON a.subject = r.name JOIN acted_in b ON b.object = a.object WHERE steps < 4
        ) SELECT name, min(steps) FROM reached GROUP BY name HAVING min(steps) > 0""",
    ),
    "who follows whom, over others too": (
        "MATCH path = (p:Person)-[:FOLLOWS*]->(q:Person) RETURN p.name, q.name, length(path)",
        """WITH RECURSIVE led(name, leader, steps) AS (
          SELECT subject, object, 1 FROM follows
          UNION ALL
          SELECT led.name, f.object, steps + 1 FROM led JOIN follows f ON f.subject = led.leader
        ) SELECT * FROM led""",
    ),
    "who might act with Tom Hanks": (
        """MATCH (tom:Person {name: 'Tom Hanks'})-[:ACTED_IN]->()<-[:ACTED_IN]-(a)-[:ACTED_IN]->()<-[:ACTED_IN]-(b)
        WHERE b <> tom AND NOT (tom)-[:ACTED_IN]->()<-[:ACTED_IN]-(b) RETURN b.name, count(*)""",
        """WITH together AS (
          SELECT a.subject AS one, b.subject AS other FROM acted_in a
          JOIN acted_in b ON b.object = a.object AND b.subject <> a.subject
        ) SELECT n.other, count(*) FROM together t JOIN together n ON n.one = t.other
        WHERE t.one = 'Tom Hanks' AND n.other <> 'Tom Hanks'
          AND n.other NOT IN (SELECT other FROM together WHERE one = 'Tom Hanks')
        GROUP BY n.other""",
    ),
    "what lies within three steps of Emil Eifrem": (
        """MATCH (start:Person {name: 'Emil Eifrem'}), (n) WHERE n <> start
        MATCH path = shortestPath((start)-[*..3]-(n)) RETURN labels(n)[0], coalesce(n.title, n.name), length(path)""",
        "SELECT type, entity, distance FROM neighbours('Emil Eifrem', depth => 3)",
    ),
    "every way of at most four steps from Tom Hanks to Keanu Reeves": (
        """MATCH path = (:Person {name: 'Tom Hanks'})-[*..4]-(:Person {name: 'Keanu Reeves'})
        WHERE all(n IN nodes(path) WHERE single(m IN nodes(path) WHERE m = n))
        RETURN [r IN relationships(path) | toLower(type(r))], [n IN tail(nodes(path)) | coalesce(n.title, n.name)]""",
        """SELECT array_agg(relation ORDER BY step),
          array_agg(CASE WHEN forward THEN object ELSE subject END ORDER BY step)
        FROM paths('Tom Hanks', 'Keanu Reeves', max => 4) GROUP BY path""",
    ),
    "how short the shortest ways from Kevin Bacon to Meg Ryan are, and how many": (
        """MATCH path = allShortestPaths((:Person {name: 'Kevin Bacon'})-[*]-(:Person {name: 'Meg Ryan'}))
        RETURN length(path), count(*)""",
        """SELECT length, count(DISTINCT path) FROM paths('Kevin Bacon', 'Meg Ryan', max => 6)
        GROUP BY length ORDER BY length LIMIT 1""",
    ),
}
"""The set's own pathfinding questions lead over one relation; these lead over several."""


@dataclass(frozen=True, slots=True)
class Movies:
    """The graph as Neo4j holds it, the questions by line, and what Cypher answers them and those over several hops."""

    nodes: Sequence[Node]
    links: Sequence[Link]
    questions: dict[int, Question]
    answers: dict[int, Answer]
    hops: dict[str, Answer]


@pytest.fixture(scope="module")
def movies(data: Path, neo4j_server: LiveServer) -> Movies:
    """The Movies graph in a real Neo4j, asked all there is to ask, and deleted: the server is shared."""
    questions = {question.line: question for question in read_questions(data)}
    neo4j_server.empty()
    with neo4j_server.driver() as driver, driver.session() as session:
        load_graph(session, (data / "movies" / "movies.cypher").read_text("utf-8"))
        nodes, links = read_graph(session)
        answers = {line: ask(session, question.cypher) for line, question in questions.items()}
        hops = {name: ask(session, cypher) for name, (cypher, _) in HOPS.items()}
    neo4j_server.empty()
    return Movies(nodes, links, questions, answers, hops)


@pytest.fixture(scope="module")
def embedded(movies: Movies, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("movies") / "graph", movies_ontology()) as store:
        store.write(extractions(store.ontology, movies.nodes, movies.links))
        yield store


@pytest.fixture(scope="module")
def served(movies: Movies, neo4j_server: LiveServer) -> Iterator[Store]:
    with open_store(neo4j_server.location, movies_ontology()) as store:
        store.write(extractions(store.ontology, movies.nodes, movies.links))
        yield store
    neo4j_server.empty()


@pytest.fixture(scope="module")
def embedded_select(embedded: Store, tmp_path_factory: pytest.TempPathFactory) -> Select:
    return selecting(embedded, tmp_path_factory.mktemp("movies-embedded") / "columns")


@pytest.fixture(scope="module")
def served_select(served: Store, tmp_path_factory: pytest.TempPathFactory) -> Select:
    return selecting(served, tmp_path_factory.mktemp("movies-served") / "columns")


def selecting(store: Store, folder: Path) -> Select:
    projection = ColumnarProjection(store, folder)

    def rows(sql: str) -> list[Row]:
        selection = select(store, projection, sql)
        assert not selection.truncated
        return list(zip(*(column.to_pylist() for column in selection.rows.columns), strict=True))

    return rows


# Comparing rows


def check(answer: Answer, rows: list[Row]) -> None:
    """Raises AssertionError unless the rows are those of the answer, in its order where there is one."""
    ours, theirs = rows, answer.rows
    if not answer.is_ordered:
        ours, theirs = sorted(ours, key=sort_key), sorted(theirs, key=sort_key)
    assert len(ours) == len(theirs)
    assert [row for row in zip(ours, theirs, strict=True) if not alike(*row)] == []


def sort_key(value: Any) -> str:
    """Rows that differ in the last digits of a float have one place in a sorted list."""
    if isinstance(value, list | tuple):
        return f"[{','.join(map(sort_key, value))}]"
    return f"{value:.6g}" if isinstance(value, float) else repr(value)


def alike(left: Any, right: Any) -> bool:
    """Equal values of one type; floats to a relative difference of 1e-9."""
    if type(left) is not type(right):
        return False
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(alike, left, right))
    return math.isclose(left, right, rel_tol=1e-9) if isinstance(left, float) else bool(left == right)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (("a", 1), ("a", 1), True),
        (("a", 1), ("a", 1.0), False),
        ((1,), (True,), False),
        ((0.1 + 0.2,), (0.3,), True),
        ((0.3,), (0.30001,), False),
        ((["a", "b"],), (["b", "a"],), False),
        ((None,), ("None",), False),
    ],
)
def test_rows_are_told_apart(left: Row, right: Row, same: bool) -> None:
    assert alike(left, right) is same
    if same:
        check(Answer([left, right], is_ordered=False), [right, left])
    else:
        with pytest.raises(AssertionError):
            check(Answer([left], is_ordered=False), [right])
    with pytest.raises(AssertionError):
        check(Answer([left, left], is_ordered=False), [left])


# The set


def test_enough_questions_of_each_kind_are_compared(movies: Movies) -> None:
    assert Counter(question.kind for question in movies.questions.values()) == KINDS
    assert len(LINES) == len(movies.questions) == sum(KINDS.values())


def test_a_limit_cuts_where_the_order_tells_rows_apart(movies: Movies) -> None:
    limited = 0
    for line, question in movies.questions.items():
        found = re.search(r"LIMIT (\d+)", question.cypher)
        if found is not None:
            limited += 1
            assert "ORDER BY" in question.cypher, f"line {line} has LIMIT without ORDER BY"
            kept = movies.answers[line].keys[: int(found[1]) + 1]
            assert len(kept) == len(set(kept)), f"line {line}: {kept}"
    assert limited == 24


def test_the_graph_is_whole_under_our_ontology(movies: Movies, embedded: Store) -> None:
    counts = embedded.counts()
    assert counts.entities == {"Person": 133, "Movie": 38} == Counter(node.type for node in movies.nodes)
    attributes = Counter(name for node in movies.nodes for name in node.attributes)
    assert counts.triples == {**Counter(link.relation for link in movies.links), **attributes}
    assert counts.triples == {
        **{"acted_in": 172, "directed": 44, "produced": 15, "wrote": 10, "reviewed": 9, "follows": 3},
        **{"born": 128, "released": 38, "tagline": 37},
    }
    assert (counts.documents, counts.evidence, counts.quarantined) == (171, sum(counts.triples.values()), {})


def test_documents_state_what_they_are_evidence_of(movies: Movies) -> None:
    names = {(node.type, node.name) for node in movies.nodes}
    for extraction in extractions(movies_ontology(), movies.nodes, movies.links):
        shown = {entity.id: entity.name for entity in extraction.entities}
        assert names >= {(entity.type, entity.name) for entity in extraction.entities}
        for triple, evidence in zip(extraction.triples, extraction.evidence, strict=True):
            words = extraction.document.text[evidence.start : evidence.end]
            values = [triple.object, *(value for _, value in triple.attributes)]
            said = [shown[triple.subject], *(shown.get(getattr(value, "id", ""), str(value)) for value in values)]
            assert evidence.triple == triple.id
            assert [part for part in said if part not in words] == []


@pytest.mark.parametrize("line", LINES)
def test_select_gives_the_rows_of_cypher(line: int, movies: Movies, embedded_select: Select) -> None:
    check(movies.answers[line], embedded_select(movies.questions[line].select))


@pytest.mark.parametrize("line", LINES[::5])
def test_select_over_neo4j_gives_the_rows_of_cypher(line: int, movies: Movies, served_select: Select) -> None:
    """Every fifth question: the tables that SELECT reads are made in one way, whichever store is beneath."""
    check(movies.answers[line], served_select(movies.questions[line].select))


@pytest.mark.parametrize("name", HOPS)
@pytest.mark.parametrize("select_name", ["embedded_select", "served_select"])
def test_select_gives_the_rows_of_cypher_over_several_hops(
    name: str, select_name: str, movies: Movies, request: pytest.FixtureRequest
) -> None:
    rows: Select = request.getfixturevalue(select_name)
    assert movies.hops[name].rows
    check(movies.hops[name], rows(HOPS[name][1]))


def test_both_stores_hold_the_same(embedded: Store, served: Store) -> None:
    assert served.digest() == embedded.digest()
    assert served.counts() == embedded.counts()


def test_roles_are_a_set_to_us(movies: Movies, embedded_select: Select) -> None:
    """Neo4j keeps a list in the order in which it was written, so no question compares a list of several roles."""
    written = {
        (link.subject.name, link.object.name): sorted(map(str, each(link.attributes["roles"])))
        for link in movies.links
        if link.relation == "acted_in"
    }
    rows = embedded_select("SELECT subject, object, roles FROM acted_in")
    assert {(subject, target): roles for subject, target, roles in rows} == written
    assert max(map(len, written.values())) == 6
