"""What is wrong in a store is found and named: whatever was changed behind its back, in either database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import ladybug
import pyarrow as pa
import pytest
from graph_examples import ONTOLOGY, beats, link, literal, make_ontology, named, ref, refused, says, span
from hypothesis import HealthCheck, given, settings
from neo4j_parts import LiveServer
from reference_store import ReferenceStore
from stores_under_test import MakeStore
from test_store_hostile import write_all
from test_store_property import histories, take

from graph.inspect import INFORMATION, inspect
from graph.open import open_store
from graph.store import Fault, Store
from ontoloom.progress import Progress

A, B, C, D = (named("Model", name) for name in "ABCD")
ACME, MMLU = named("Organization", "Acme"), named("Benchmark", "MMLU")
MADE, MEMORY = link(B, "developed_by", ACME), literal(C, "hardware.gpu_memory", 80.0)
BETTER = beats(B, C, ("benchmark", ref(MMLU)), ("score_delta", 2.0))


def fill(store: Store) -> None:
    store.write(
        [
            says("a.md", A, ACME, link(A, "developed_by", ACME), refused("a.md")),
            says("b.md", B, C, MMLU, ACME, BETTER, MADE, span(BETTER, "b.md", 2, 6), kind="page"),
            says("c.md", replace(C, aliases=("Cc",)), D, MEMORY),
        ]
    )
    store.merge(A.id, B.id)
    store.write([says("c.md", replace(C, aliases=("Cc",)), D, MEMORY, fingerprint="g")])


def found(store: Store) -> set[tuple[str, str]]:
    return {(fault.code, fault.where) for fault in inspect(store)}


# Nothing is wrong


def test_a_store_that_only_its_own_have_written_to_is_clean(make_store: MakeStore) -> None:
    store = make_store()
    assert list(inspect(store)) == []
    fill(store)
    assert list(inspect(store)) == []
    store.delete(["b.md"])
    store.unmerge(A.id)
    assert list(inspect(store)) == []
    write_all(store)
    assert list(inspect(store)) == []


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(past=histories)
def test_whatever_happened_there_is_no_fault(past: list[Any]) -> None:
    store = ReferenceStore(ONTOLOGY)
    for step in past:
        take(store, step)
    assert list(inspect(store)) == []


def test_versions_that_are_not_current_are_counted(tmp_path: Path) -> None:
    with open_store(tmp_path / "graph", ONTOLOGY) as store:
        fill(store)
    with open_store(tmp_path / "graph", make_ontology("2.0.0")) as store:
        (drift,) = inspect(store)
    assert drift == Fault(
        "version-drift", "1.0.0+1.0.0000", "4 pieces of evidence rest on this ontology; it is 2.0.0+2.0.0000 now"
    )
    assert drift.code in INFORMATION


def test_what_is_inspected_is_told(make_store: MakeStore) -> None:
    seen: list[Progress] = []
    store = ReferenceStore(ONTOLOGY)
    fill(store)
    list(inspect(store, on_progress=seen.append))
    assert [(p.step, p.done) for p in seen] == [
        ("inspect the database", 0), ("inspect documents", 3), ("inspect the graph", 0), ("inspect names", 5),
    ]  # fmt: skip


# Behind the store's back

Tampered = Callable[[str], Store]


@pytest.fixture(params=["ladybug", "neo4j"])
def tampered(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Tampered]:
    """A store that was filled, closed, changed by a query of someone else, and opened again."""
    opened: list[Store] = []
    location = str(tmp_path / "graph")
    if request.param == "neo4j":
        server: LiveServer = request.getfixturevalue("neo4j_server")
        server.clear()
        location = server.location

    def run(query: str) -> None:
        if request.param == "neo4j":
            with server.driver() as driver:
                driver.execute_query(query)
            return
        database = ladybug.Database(location)
        connection = ladybug.Connection(database)
        connection.execute(query)
        connection.close()
        database.close()

    def tamper(query: str) -> Store:
        with open_store(location, ONTOLOGY) as store:
            fill(store)
        run(query)
        opened.append(open_store(location, ONTOLOGY))
        return opened[-1]

    yield tamper
    for store in opened:
        store.close()


@dataclass(frozen=True, slots=True)
class Tampering:
    query: str
    faults: tuple[tuple[str, str], ...]


TAMPERINGS = {
    "a text": Tampering(
        "MATCH (d:_Document) WHERE d.id = 'a.md' SET d.text = 'Something else altogether.'",
        (("changed-document", "a.md"),),
    ),
    "a title": Tampering(
        "MATCH (d:_Document) WHERE d.id = 'a.md' SET d.title = 'Other'", (("changed-document", "a.md"),)
    ),
    "a status": Tampering(
        "MATCH (d:_Document) WHERE d.id = 'a.md' SET d.status = 'failed'", (("changed-document", "a.md"),)
    ),
    "a fingerprint": Tampering(
        "MATCH (d:_Document) WHERE d.id = 'c.md' SET d.fingerprint = 'h'", (("changed-document", "c.md"),)
    ),
    "sections that cannot be read": Tampering(
        "MATCH (d:_Document) WHERE d.id = 'b.md' SET d.sections = 'nonsense'",
        (("unreadable-document", "b.md"), ("triple-without-evidence", BETTER.id), ("wrong-entity", C.id)),
    ),
    "how a document spells a name": Tampering(
        "MATCH (d:_Document)-[n:_NAMES]->(e:_Entity) WHERE d.id = 'c.md' AND n.name = 'D' SET n.name = 'Dd'",
        (("changed-document", "c.md"), ("wrong-entity", D.id)),
    ),
    "the name of an entity": Tampering(
        f"MATCH (e:_Entity) WHERE e.id = '{C.id}' SET e.name = 'Hacked'",
        (("wrong-entity", C.id), ("wrong-name", C.id)),
    ),
    "the type of an entity": Tampering(
        f"MATCH (e:_Entity) WHERE e.id = '{ACME.id}' SET e.type = 'Benchmark'",
        (("changed-document", "a.md"), ("changed-document", "b.md"), ("loose-triple", MADE.id)),
    ),
    "where a name leads": Tampering(
        f"MATCH (n:_Name) WHERE n.id = 'cc' SET n.entities = ['{D.id}']", (("wrong-name", C.id), ("wrong-name", D.id))
    ),
    "a name that leads nowhere": Tampering(
        "MATCH (n:_Name) WHERE n.id = 'd' SET n.entities = ['nobody']", (("wrong-name", D.id),)
    ),
    "an entity that nobody names": Tampering(
        "CREATE (:_Entity {id: 'stray', type: 'Model', name: 'Stray', aliases: ['x'], updated: 1})",
        (("orphan-entity", "stray"),),
    ),
    "an entity that is gone": Tampering(
        f"MATCH (e:_Entity) WHERE e.id = '{C.id}' DETACH DELETE e",
        (("changed-document", "b.md"), ("changed-document", "c.md"), ("loose-triple", MEMORY.id)),
    ),
    "the value of a triple": Tampering(
        f"MATCH (t:_Triple) WHERE t.id = '{MEMORY.id}' SET t.value = '81'",
        (("changed-document", "c.md"), ("dangling-evidence", "c.md:0-5"), ("triple-without-evidence", MEMORY.id)),
    ),
    "the kind of a value": Tampering(
        f"MATCH (t:_Triple) WHERE t.id = '{MEMORY.id}' SET t.kind = 'integer'", (("wrong-triple", MEMORY.id),)
    ),
    "the attributes of a triple": Tampering(
        f"MATCH (t:_Triple) WHERE t.id = '{BETTER.id}' SET t.attributes = '{{}}'", (("wrong-triple", BETTER.id),)
    ),
    "what a document states": Tampering(
        f"MATCH (t:_Triple)-[v:_EVIDENCE]->(d:_Document) WHERE t.id = '{BETTER.id}' SET v.attributes = '{{}}'",
        (("changed-document", "b.md"), ("dangling-evidence", "b.md:2-6"), ("triple-without-evidence", BETTER.id)),
    ),
    "a triple that is gone": Tampering(
        f"MATCH (t:_Triple) WHERE t.id = '{BETTER.id}' DETACH DELETE t",
        (("changed-document", "b.md"), ("view-triple", BETTER.id)),
    ),
    "evidence that is gone": Tampering(
        f"MATCH (t:_Triple)-[v:_EVIDENCE]->(d:_Document) WHERE t.id = '{MEMORY.id}' DELETE v",
        (("changed-document", "c.md"), ("triple-without-evidence", MEMORY.id)),
    ),
    "evidence outside the text": Tampering(
        f"MATCH (t:_Triple)-[v:_EVIDENCE]->(d:_Document) WHERE t.id = '{MEMORY.id}' SET v.`end` = 999",
        (("changed-document", "c.md"), ("evidence-outside-text", "c.md:0-999")),
    ),
    "how sure a piece of evidence is": Tampering(
        f"MATCH (t:_Triple)-[v:_EVIDENCE]->(d:_Document) WHERE t.id = '{MEMORY.id}' SET v.confidence = 0.1",
        (("changed-document", "c.md"),),
    ),
    "a claim that was refused": Tampering("MATCH (q:_Quarantined) DETACH DELETE q", (("changed-document", "a.md"),)),
    "a document that is gone": Tampering(
        "MATCH (d:_Document) WHERE d.id = 'c.md' DETACH DELETE d",
        (("orphan-entity", D.id), ("triple-without-evidence", MEMORY.id), ("wrong-entity", C.id)),
    ),
    "a change that is gone": Tampering("MATCH (c:_Change) WHERE c.id = 2 DELETE c", (("broken-log", "2"),)),
    "since when something is said": Tampering(
        "MATCH (d:_Document)-[n:_NAMES]->(e:_Entity) WHERE d.id = 'c.md' SET n.since = 99",
        (("wrong-history", "c.md"),),
    ),
    "a merge that is gone": Tampering(
        "MATCH (m:_Merge) DELETE m", (("missing-entity", A.id), ("wrong-entity", B.id), ("wrong-triple", MADE.id))
    ),
    "merges in a circle": Tampering(
        f"MATCH (m:_Merge) SET m.into = '{A.id}'", (("merge-loop", A.id),)
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", TAMPERINGS)
def test_what_others_changed_is_found_and_named(what: str, tampered: Tampered) -> None:
    store = tampered(TAMPERINGS[what].query)
    faults = list(inspect(store))
    assert {(fault.code, fault.where) for fault in faults} >= set(TAMPERINGS[what].faults)
    assert len({(fault.code, fault.where) for fault in faults}) == len(faults), "each is told once"
    assert all(fault.message and "\n" not in fault.message for fault in faults)


# What a store itself may have wrong, whatever its database


class Lying:
    """A store that gives other answers than it should to some questions."""

    def __init__(self, **lies: Callable[[Any], Any]) -> None:
        self._truthful = ReferenceStore(ONTOLOGY)
        self._lies = lies
        fill(self._truthful)

    def __getattr__(self, question: str) -> Any:
        truth = getattr(self._truthful, question)
        if question not in self._lies:
            return truth
        return lambda *asked, **options: self._lies[question](truth(*asked, **options))


def lying(**lies: Callable[[Any], Any]) -> Store:
    return cast(Store, Lying(**lies))


def none(_: object) -> Iterator[pa.RecordBatch]:
    return iter(())


def broken(_: object) -> Iterator[Any]:
    raise KeyError("no such\ncolumn")


def test_faults_of_the_graph_are_told_apart() -> None:
    triples = {("missing-triple", t.id) for t in (MADE, BETTER, MEMORY)}
    assert found(lying(scan_triples=none)) == triples
    assert {code for code, _ in found(lying(scan_entities=none))} == {"missing-entity", "loose-triple"}
    assert found(lying(triples=lambda truth: truth | {MEMORY.id: replace(MEMORY, object=80)})) == {
        ("wrong-triple", MEMORY.id)
    }


def test_what_cannot_be_read_is_a_fault_and_not_the_end() -> None:
    faults = list(inspect(lying(scan_triples=broken)))
    assert faults == [
        Fault("unreadable-graph", "", "entities and triples cannot be read: KeyError: 'no such\\ncolumn'")
    ]
    one = lying(extractions=lambda truth: (e if e.document.id != "a.md" else broken(e) for e in truth))
    (unreadable,) = [fault for fault in inspect(one) if fault.code == "unreadable-document"]
    assert (unreadable.where, unreadable.message) == ("a.md", "it cannot be read: KeyError: 'no such\\ncolumn'")
    assert found(lying(extractions=lambda truth: [e for e in truth if e.document.id != "b.md"])) >= {
        ("unreadable-document", "b.md"), ("triple-without-evidence", BETTER.id),
    }  # fmt: skip
