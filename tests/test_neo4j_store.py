"""The store on a real Neo4j, of both lines: its view, what it finds at its location, faults, crashes, other writers."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from graph_examples import (
    ONTOLOGY,
    RELATIONS,
    TYPES,
    beats,
    entity_type,
    link,
    literal,
    make_ontology,
    named,
    ref,
    refused,
    relation,
    says,
)
from neo4j_parts import LiveServer
from neo4j_proxy import CuttingProxy
from reference_store import ReferenceStore
from stores_under_test import content, everything

from graph.neo4j import Neo4jStore, open_neo4j
from graph.neo4j_schema import constraints
from graph.neo4j_session import Session, read_location, require_version
from graph.open import open_store
from graph.store import Fault, Store
from ontology.schema import Attribute, Ontology
from ontoloom.errors import QueryError, StoreError
from ontoloom.records import Extraction, Value

ROUNDS = int(os.environ.get("ONTOLOOM_SOAK", "3"))
ACME, MMLU, ALL = named("Organization", "Acme"), named("Benchmark", "MMLU"), named("Model", "All")
A, B = named("Model", "A"), named("Model", "B")


def document(number: int) -> Extraction:
    """Each names one entity of its own and two that all name; a half-written one would be told by its counts."""
    own, name = named("Model", f"M{number}"), f"{number}.md"
    made, beaten = link(own, "developed_by", ACME), beats(own, ALL, ("score_delta", number / 10))
    return says(name, own, ALL, ACME, made, beaten, literal(own, "context_length", number + 1), refused(name))


@pytest.fixture(params=["neo4j_server", "neo4j_2026_server"], ids=["5.26", "2026"])
def server(request: pytest.FixtureRequest) -> LiveServer:
    found: LiveServer = request.getfixturevalue(request.param)
    found.empty()
    return found


@pytest.fixture
def store(server: LiveServer) -> Iterator[Neo4jStore]:
    with open_neo4j(server.location, ONTOLOGY) as opened:
        yield opened


def cypher(server: LiveServer, query: str, **parameters: Any) -> list[list[Any]]:
    with server.driver() as driver:
        return [record.values() for record in driver.execute_query(query, parameters).records]


# One behaviour


def live(store: Store) -> None:
    """Writes, rewrites, deletes and merges, with values of every kind."""
    values: list[tuple[str, Value]] = [
        ("score_delta", 2),
        ("attempts", 2**70),
        ("measured", date(2024, 5, 1)),
        ("verified", True),
    ]
    store.write([document(1), document(2), says("a.md", A, B, MMLU, beats(A, B, ("benchmark", ref(MMLU)), *values))])
    store.write([document(3), says("wiki.md", named("Model", "the A", "A!", key="A", page="wiki.md"), kind="page")])
    store.write([says("1.md", A, literal(A, "motto", ""), fingerprint="f2")])
    store.delete(["2.md"])
    store.merge(B.id, ALL.id, reason="the same")
    store.merge(ALL.id, A.id)
    store.unmerge(B.id)


def test_it_holds_what_the_embedded_store_holds(store: Neo4jStore, tmp_path: Path) -> None:
    reference = ReferenceStore(ONTOLOGY)
    with open_store(tmp_path / "ladybug", ONTOLOGY) as ladybug:
        for one in (store, ladybug, reference):
            live(one)
        assert store.digest() == ladybug.digest() == reference.digest()
        assert everything(store) == everything(ladybug)
        assert content(store) == content(reference)


def test_a_reader_sees_what_others_commit(server: LiveServer, store: Neo4jStore) -> None:
    with open_store(server.location, ONTOLOGY, read_only=True) as reader:
        assert reader.last_change() == 0
        assert store.write([document(1)]) == 1
        assert reader.last_change() == 1
        assert list(reader.documents()) == ["1.md"]
        with pytest.raises(StoreError, match="was opened for reading only"):
            reader.write([document(2)])
        assert reader.last_change() == 1


def test_several_writers_wait_for_each_other(server: LiveServer, store: Neo4jStore) -> None:
    def write(numbers: range) -> None:
        with open_neo4j(server.location, ONTOLOGY) as own:
            numbered.extend(own.write([document(number)]) for number in numbers)

    numbered: list[int] = []
    threads = [threading.Thread(target=write, args=(range(start, 12, 3),)) for start in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(numbered) == list(range(1, 13))
    assert [change.number for change in store.changes(0)] == list(range(1, 13))
    assert {len(change.documents) for change in store.changes(0)} == {1}
    expected = ReferenceStore(ONTOLOGY)
    expected.write([document(number) for number in range(12)])
    assert store.digest() == expected.digest()


def test_merges_of_another_writer_are_heeded(server: LiveServer, store: Neo4jStore) -> None:
    store.write([says("a.md", A, B)])
    with open_neo4j(server.location, ONTOLOGY) as other:
        other.merge(A.id, B.id)
    store.write([says("b.md", A, literal(A, "motto", "mine"))])
    assert {triple.subject for triple in store.neighbours([B.id])} == {B.id}
    with open_neo4j(server.location, ONTOLOGY) as other:
        other.unmerge(A.id)
    store.write([says("c.md", A, literal(A, "open", True))])
    assert {triple.subject for triple in store.neighbours([A.id])} == {A.id}


def test_large_scans_are_streamed_in_the_order_of_an_index(
    server: LiveServer, store: Neo4jStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, dict[str, Any]]] = []
    stream = Session.stream

    def spy(self: Session, query: str, *, chunk: int = 100, **parameters: Any) -> Iterator[list[list[Any]]]:
        asked.append((query, parameters))
        return stream(self, query, chunk=chunk, **parameters)

    monkeypatch.setattr(Session, "stream", spy)
    store.write([document(number) for number in range(5)])
    assert [len(batch) for batch in store.scan_triples(batch_rows=4)] == [4, 4, 4, 3]
    assert [len(batch) for batch in store.scan_entities(batch_rows=4)] == [4, 3]
    list(store.scan_entities("Model"))
    list(store.scan_triples("superior_to"))
    assert len(asked) == 6
    for query, parameters in asked:
        if "STARTS WITH" not in query or "NOT" in query:  # but for the few whose keys are hashes
            assert not {"Sort", "EagerAggregation", "Eager", "Top"} & operators(server, query, parameters), query


def operators(server: LiveServer, query: str, parameters: dict[str, Any]) -> set[str]:
    """The operators of the plan of a query."""

    def names(plan: Any) -> Iterator[str]:
        yield plan["operatorType"].split("@")[0]
        for child in plan.get("children", ()):
            yield from names(child)

    with server.driver() as driver:
        return set(names(driver.execute_query(f"EXPLAIN {query}", parameters).summary.plan))


# The view for people who write Cypher


def test_entities_carry_their_type_and_relations_their_attributes(server: LiveServer, store: Neo4jStore) -> None:
    values: list[tuple[str, Value]] = [
        ("score_delta", 2),
        ("attempts", 2**70),
        ("measured", date(2024, 5, 1)),
        ("notes", "x"),
        ("notes", "y"),
    ]
    best = beats(A, B, ("benchmark", ref(MMLU)), *values)
    store.write([says("a.md", A, B, MMLU, best)])
    query = "MATCH (a:Model)-[r:superior_to]->(b:Model) RETURN a.name, properties(r), b.name"
    ((winner, found, loser),) = cypher(server, query)
    assert (winner, loser) == ("A", "B")
    assert found.pop("measured").to_native() == date(2024, 5, 1)
    assert found == {"_triple": best.id, "benchmark": MMLU.id, "score_delta": 2.0, "notes": ["x", "y"]}
    assert type(found["score_delta"]) is float
    store.write(
        [says("a.md", A, B, MMLU, beats(A, B, ("benchmark", ref(MMLU)), ("score_delta", 3.5)), fingerprint="2")]
    )
    assert [row[1]["score_delta"] for row in cypher(server, query)] == [3.5]
    store.write([says("b.md", named("Model", "other", key="A", page="b.md"), kind="page")])
    assert cypher(server, "MATCH (a:Model) WHERE (a)-[:superior_to]->() RETURN a.name, a.aliases") == [["other", ["A"]]]
    store.delete(["a.md"])
    assert cypher(server, "MATCH ()-[r:superior_to]->() RETURN r") == []
    assert cypher(server, "MATCH (n:Model) RETURN labels(n)") == [[["_Entity", "Model"]]]


def test_names_in_the_ontology_may_be_anything(server: LiveServer) -> None:
    odd = "x`) DETACH DELETE (n"
    ontology = make_ontology(
        "9", types=(entity_type(odd),), relations=(relation(odd, (odd,), (odd,), Attribute(odd, "string")),)
    )
    one, other = named(odd, "one"), named(odd, "other")
    said = says("a.md", one, other, link(one, odd, other, (odd, "yes")))
    with open_neo4j(server.location, ontology) as store:
        store.write([said])
        assert len(list(store.scan_entities(odd))) == 1
        assert list(store.faults()) == []
    assert cypher(server, "MATCH (a)-[r]->(b) WHERE type(r) = $odd RETURN labels(a), r[$odd]", odd=odd) == [
        [["_Entity", odd], "yes"]
    ]
    for reserved in (
        make_ontology("2", types=(entity_type("_Triple"),), relations=()),
        make_ontology("2", relations=(relation("_ABOUT", ("Model",), ("Model",)),)),
        make_ontology("2", relations=(relation("r", ("Model",), ("Model",), Attribute("_triple", "string")),)),
    ):
        with pytest.raises(StoreError, match="the graph store uses the name '_"):
            open_neo4j(server.location, reserved)


# The ontology that it was made under


def test_a_wider_ontology_is_taken_up(server: LiveServer, store: Neo4jStore) -> None:
    store.write([document(1)])
    digest = store.digest()
    made_by = relation("developed_by", ("Model", "Benchmark"), ("Organization", "Person"), Attribute("year", "integer"))
    wider = make_ontology("2.0.0", types=(*TYPES, entity_type("Person")), relations=(*RELATIONS[::2], made_by))
    ada, model = named("Person", "Ada"), named("Model", "New")
    with open_neo4j(server.location, wider) as opened:
        assert opened.digest() == digest
        opened.write([says("2.md", ada, model, link(model, "developed_by", ada, ("year", 2024)))])
        assert opened.counts().entities["Person"] == 1
    query = "MATCH (m:Model)-[r:developed_by]->(p:Person) RETURN m.name, r.year, p.name"
    assert cypher(server, query) == [["New", 2024, "Ada"]]
    with pytest.raises(StoreError, match=r"is under ontology 2.0.0\+2.0.0000 now \(open it again\)"):
        store.write([document(2)])


def test_what_a_narrower_ontology_has_no_word_for_can_still_be_read_and_removed(
    server: LiveServer, store: Neo4jStore
) -> None:
    store.write([document(1), document(2)])
    digest = store.digest()
    narrower = make_ontology("3.0.0", types=TYPES[:1], relations=(RELATIONS[0], RELATIONS[2]))
    with open_neo4j(server.location, narrower) as opened:
        assert opened.digest() == digest
        assert opened.entities([ACME.id]) == {ACME.id: ACME}
        assert [len(batch) for batch in opened.scan_entities("Organization")] == [1]
        opened.write([says("1.md", named("Model", "M1"), fingerprint="f2")])
        assert len(opened.neighbours([ACME.id])) == 1
        opened.delete(["2.md"])
        assert opened.entities([ACME.id]) == {}
        assert dict(opened.counts().triples) == {}
    assert cypher(server, "MATCH (o:Organization) RETURN o") == []
    assert cypher(server, "MATCH ()-[r:developed_by]->() RETURN r") == []


def test_an_attribute_of_another_type_asks_for_an_empty_database(server: LiveServer, store: Neo4jStore) -> None:
    store.write([document(1)])
    retyped = relation("superior_to", ("Model",), ("Model",), Attribute("score_delta", "text"))
    with pytest.raises(StoreError, match=r"'superior_to.score_delta' was DOUBLE and is STRING now \(use an empty"):
        open_neo4j(server.location, make_ontology("2", relations=(retyped,)))


def test_enterprise_is_asked_for_more() -> None:
    def rules(ontology: Ontology, edition: str) -> list[str]:
        return [statement.partition(" IF NOT EXISTS ")[2] for _, statement in constraints(ontology, edition)]

    small = make_ontology(
        types=(entity_type("A`b"),),
        relations=(relation("r", ("A`b",), ("A`b",), Attribute("n", "number"), Attribute("s", "string", many=True)),),
    )
    community, enterprise = rules(small, "community"), rules(small, "enterprise")
    assert "FOR (n:`_Document`) REQUIRE n.key IS UNIQUE" in community
    assert "FOR (n:`_Triple`) REQUIRE n.id IS UNIQUE" in community
    assert "FOR (n:`A``b`) REQUIRE n.key IS UNIQUE" in community
    assert [rule for rule in enterprise if rule not in community] == [
        "FOR (n:`A``b`) REQUIRE n.name IS NOT NULL",
        "FOR (n:`A``b`) REQUIRE n.name IS :: STRING",
        "FOR ()-[r:`r`]-() REQUIRE r._triple IS NOT NULL",
        "FOR ()-[r:`r`]-() REQUIRE r.`_triple` IS :: STRING",
        "FOR ()-[r:`r`]-() REQUIRE r.`n` IS :: FLOAT",
        "FOR ()-[r:`r`]-() REQUIRE r.`s` IS :: LIST<STRING NOT NULL>",
    ]


# What is found at the location


def test_what_is_no_store_is_refused_with_what_to_do(server: LiveServer) -> None:
    with pytest.raises(StoreError, match=r"is empty \(run 'ontoloom ingest' first\)"):
        open_neo4j(server.location, ONTOLOGY, read_only=True)
    cypher(server, "CREATE (:Person:`O'x` {name: 'Ada'})")
    with pytest.raises(StoreError, match=r"holds nodes that are not ontoloom's \(labelled 'Person', 'O'x'\)"):
        open_neo4j(server.location, ONTOLOGY)
    assert cypher(server, "MATCH (n) RETURN count(*)") == [[1]]
    server.empty()
    open_neo4j(server.location, ONTOLOGY).close()
    cypher(server, "MATCH (m:_Meta {id: 'format'}) SET m.value = '0'")
    with pytest.raises(StoreError, match=r"has format 0, this ontoloom writes \d+ \(use an empty database\)"):
        open_neo4j(server.location, ONTOLOGY)


def test_what_cannot_be_reached_is_said_in_one_line(server: LiveServer) -> None:
    with pytest.raises(StoreError, match=r"/nope: there is no such database"):
        open_neo4j(f"{server.location}/nope", ONTOLOGY)
    for location in ("bolt://127.0.0.1:1", "neo4j://127.0.0.1:1", f"bolt+s://127.0.0.1:{server.process.port}"):
        with pytest.raises(StoreError) as caught:
            open_neo4j(location, ONTOLOGY)
        assert str(caught.value) == f"no Neo4j answers at {location} (start it: ontoloom neo4j up)"
    store = open_neo4j(f"{server.url}/neo4j", ONTOLOGY)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="is closed"):
        store.counts()


@pytest.mark.parametrize("location", ["neo4j://", "neo4j://u:secret@h/a/b", "bolt://h:port", "neo4j://u:secret@h?x=1"])
def test_an_address_that_is_none_is_refused_without_its_password(location: str) -> None:
    with pytest.raises(StoreError, match="is no address of a database") as caught:
        read_location(location)
    assert "secret" not in str(caught.value)


def test_the_password_comes_from_the_address_or_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ONTOLOOM_NEO4J_PASSWORD", raising=False)
    found = read_location("neo4j+s://ada:p%40ss%2F@[::1]:7/my%20graph")
    assert (found.url, found.auth, found.database) == ("neo4j+s://[::1]:7", ("ada", "p@ss/"), "my graph")
    assert "p@ss" not in found.where
    assert read_location("bolt://ada@host").auth is None
    monkeypatch.setenv("ONTOLOOM_NEO4J_PASSWORD", "open sesame")
    assert read_location("bolt://ada@host").auth == ("ada", "open sesame")
    assert read_location("bolt://host").auth == ("neo4j", "open sesame")


def test_an_older_server_is_told_what_it_lacks() -> None:
    for version in ("5.26.0", "5.27-aura", "2026.05.0"):
        require_version(version, "here")
    for version in ("4.4.40", "5.25.1"):
        with pytest.raises(StoreError, match=rf"here runs Neo4j {version}, which lacks .* \(use Neo4j 5.26 or later\)"):
            require_version(version, "here")


# Cypher of users


def test_cypher_reads_and_nothing_else(store: Neo4jStore) -> None:
    store.write([document(1)])

    def run(query: str, *, timeout: float = 60, **parameters: object) -> list[dict[str, Any]]:
        return store.cypher(query, parameters, max_rows=3, timeout=timeout).to_pylist()

    assert run("UNWIND range(1, 10) AS x RETURN x * $by AS y", by=2) == [{"y": 2}, {"y": 4}, {"y": 6}]
    assert run("MATCH (m:Model)-[r:developed_by]->(o) RETURN m.name AS model, type(r) AS how, o.name AS by") == [
        {"model": "M1", "how": "developed_by", "by": "Acme"}
    ]
    (found,) = run("MATCH (o:Organization) RETURN o")
    assert found["o"].startswith('{"_labels": ["Organization", "_Entity"], ')
    assert run("RETURN date('2024-05-01') AS d, duration('P1D') AS t, null AS n, {a: [1]} AS m") == [
        {"d": date(2024, 5, 1), "t": "P1D", "n": None, "m": '{"a": [1]}'}
    ]
    for query in (
        "CREATE (n)",
        "MATCH (n) DETACH DELETE n",
        "CREATE INDEX x FOR (n:X) ON (n.y)",
        "MATCH (n) SET n.x = 1",
    ):
        with pytest.raises(QueryError) as caught:
            run(query)
        assert caught.value.code == "not-read-only"
    with pytest.raises(QueryError) as caught:
        run("RETURN 1 AS x\nRETRUN 2")
    assert (caught.value.line, caught.value.column, caught.value.code) == (2, 1, "execution")
    with pytest.raises(QueryError, match=r"longer than 0\.5 seconds"):
        run("UNWIND range(1, 1000000000) AS x UNWIND range(1, 1000) AS y RETURN count(*)", timeout=0.5)
    assert store.counts().documents == 1


# What others write behind our back

DAMAGE: dict[str, set[tuple[str, str | None]]] = {
    "CREATE (:Person)": {("stray-label", "Person"), ("stray-node", None)},
    "CREATE ()": {("stray-node", None)},
    "CREATE (:Model {key: 'x'})": {("stray-node", None)},
    "MATCH (e:_Entity {name: 'Acme'}) SET e:Person": {("stray-label", "Person")},
    "MATCH (e:_Entity {name: 'Acme'}) SET e:Model": {("view-entity", ACME.id)},
    "MATCH (e:_Entity {name: 'Acme'}) REMOVE e:Organization": {("view-entity", ACME.id)},
    "MATCH (e:_Entity {name: 'Acme'}) SET e.colour = 'red'": {("stray-property", "_Entity.colour")},
    "MATCH (a:Model {name: 'M1'}), (b:Model {name: 'All'}) CREATE (a)-[:KNOWS]->(b)": {("stray-type", "KNOWS")},
    "MATCH (a:Model {name: 'All'}), (b:Model {name: 'M1'}) CREATE (a)-[:superior_to]->(b)": {("view-triple", None)},
    "MATCH ()-[r:superior_to]->() DELETE r": {("view-triple", None)},
    "MATCH (a)-[r:superior_to]->(b) CREATE (a)-[s:superior_to]->(b) SET s = r": {("view-triple", None)},
    "MATCH ()-[r:superior_to]->() SET r.score_delta = 9": {("view-triple", None)},
    "MATCH ()-[r:superior_to]->() REMOVE r.score_delta": {("view-triple", None)},
    "MATCH ()-[r:developed_by]->() SET r.since = 1": {("stray-property", "developed_by.since")},
    "MATCH (t:_Triple {relation: 'context_length'})-[r:_EVIDENCE]->() DELETE r": {("triple-without-evidence", None)},
    "MATCH (t:_Triple {relation: 'context_length'})-[r:_ABOUT]->() DELETE r": {("loose-triple", None)},
    "MATCH (:_Document)-[r:_NAMES]->(e {name: 'Acme'}) DELETE r": {("orphan-entity", ACME.id)},
    "MATCH ()-[r:_REFUSED]->() DELETE r": {("loose-claim", None)},
    "DROP CONSTRAINT ontoloom_Triple": {("missing-constraint", "ontoloom_Triple")},
}  # fmt: skip


def test_what_others_changed_is_found(server: LiveServer, store: Neo4jStore) -> None:
    for damage, expected in DAMAGE.items():
        server.clear()
        with open_neo4j(server.location, ONTOLOGY) as damaged:
            damaged.write([document(1)])
            assert list(damaged.faults()) == []
            cypher(server, damage)
            found = list(damaged.faults())
        assert {fault.code for fault in found} == {code for code, _ in expected}, damage
        for code, where in expected:
            assert where is None or any(fault.code == code and fault.where == where for fault in found), damage
        assert all(isinstance(fault, Fault) and "\n" not in fault.message for fault in found)


# Faults


@pytest.fixture
def proxy(server: LiveServer) -> Iterator[CuttingProxy]:
    with closing(CuttingProxy(server.process.port)) as between:
        yield between


def test_a_commit_whose_answer_is_lost_is_made_once(server: LiveServer, proxy: CuttingProxy) -> None:
    with open_neo4j(proxy.url, ONTOLOGY) as store:
        proxy.cuts = 1
        assert store.write([says("a.md", A, B)]) == 1
        proxy.cuts = 2
        assert store.merge(A.id, B.id) == 2
        proxy.cuts = 1
        assert store.unmerge(A.id) == 3
        proxy.cuts = 1
        assert store.delete(["a.md"]) == 4
        assert proxy.cut >= 4
        assert [change.number for change in store.changes(0)] == [1, 2, 3, 4]
        assert len(store.merges()) == 1


def test_a_server_that_is_killed_again_and_again_loses_nothing(server: LiveServer, store: Neo4jStore) -> None:
    acknowledged: list[int] = []
    stop = threading.Event()
    failed: list[BaseException] = []

    def write() -> None:
        try:
            while not stop.is_set():
                assert store.write([document(len(acknowledged))]) == len(acknowledged) + 1
                acknowledged.append(len(acknowledged))
        except BaseException as error:  # noqa: BLE001  # told by the test
            failed.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    for _ in range(ROUNDS):
        wait_for_more(acknowledged, writer)
        server.kill()
        told = len(acknowledged)
        server.restart()
        with open_neo4j(server.location, ONTOLOGY, read_only=True) as reader:
            assert len(reader.documents()) >= told
        wait_for_more(acknowledged, writer)
    stop.set()
    writer.join()
    assert not failed
    expected = ReferenceStore(ONTOLOGY)
    for number in acknowledged:
        expected.write([document(number)])
    assert store.digest() == expected.digest()
    assert store.counts() == expected.counts()
    assert [c.documents for c in store.changes(0)] == [c.documents for c in expected.changes(0)]
    assert list(store.faults()) == []


def wait_for_more(acknowledged: list[int], writer: threading.Thread) -> None:
    """Returns when a few more writes are acknowledged, or there is nobody who writes."""
    target = len(acknowledged) + 3
    while len(acknowledged) < target and writer.is_alive():
        time.sleep(0.01)
