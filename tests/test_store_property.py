"""Random documents, rewritten and deleted at random, in the reference and in Ladybug: every answer is the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from graph_examples import ONTOLOGY, beats, link, literal, named, ref, refused, says, span
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from reference_store import ReferenceStore

from graph.ladybug import LadybugStore, open_ladybug
from graph.store import Store
from ontoloom.names import name_key
from ontoloom.records import Entity, Evidence, Extraction, Failure, Triple

DOCUMENTS = [f"d{i}" for i in range(5)]
MODELS = [named("Model", name) for name in ("A", "B", "C")]
MAKER, BENCHMARK = named("Organization", "A"), named("Benchmark", "D")
ENTITIES = [*MODELS, MAKER, BENCHMARK]
SPELLINGS = ["A", "a", "B", "x", "🙂"]


@st.composite
def triples(draw: st.DrawFn) -> Triple:
    subject, target = draw(st.sampled_from(MODELS)), draw(st.sampled_from(MODELS))
    kind = draw(st.sampled_from(["superior_to", "developed_by", "hardware.gpu_memory", "training_method", "released"]))
    if kind == "superior_to":
        attributes: list[tuple[str, Any]] = []
        if draw(st.booleans()):
            attributes.append(("benchmark", ref(BENCHMARK)))
        attributes += [("score_delta", draw(st.sampled_from([1, 1.0, 2.5])))] * draw(st.integers(0, 1))
        attributes += [("notes", note) for note in draw(st.lists(st.sampled_from("xy"), max_size=2))]
        attributes += [("attempts", draw(st.sampled_from([0, 2**63, -(10**30)])))] * draw(st.integers(0, 1))
        attributes += [("measured", date(2024, 5, 1))] * draw(st.integers(0, 1))
        return beats(subject, target, *attributes)
    if kind == "developed_by":
        return link(subject, kind, MAKER)
    values: dict[str, list[Any]] = {
        "hardware.gpu_memory": [80, 80.0, 0.5],
        "training_method": ["DPO", "SFT"],
        "released": [date(1, 1, 1)],
    }
    return literal(subject, kind, draw(st.sampled_from(values[kind])))


@st.composite
def extractions(draw: st.DrawFn, document: str) -> Extraction:
    stated: dict[str, Triple] = {t.id: t for t in draw(st.lists(triples(), max_size=4))}
    entities: list[Entity] = []
    for entity in ENTITIES:
        needed = any(entity.id in repr(triple) for triple in stated.values())
        if needed or draw(st.integers(0, 3)) == 0:
            name = draw(st.sampled_from(SPELLINGS))
            aliases = tuple(draw(st.lists(st.sampled_from(SPELLINGS), max_size=2)))
            page = document if draw(st.integers(0, 3)) == 0 else None
            entities.append(replace(entity, name=name, aliases=aliases, page=page))
    evidence: dict[str, Evidence] = {}
    for triple in stated.values():
        for start in draw(st.sets(st.integers(0, 3), min_size=1, max_size=2)):
            confidence = draw(st.sampled_from([0, 0.5, 1.0]))
            piece = span(triple, document, start, start + 2, confidence=confidence)
            evidence[piece.id] = piece
    other = [refused(document, start) for start in draw(st.sets(st.integers(0, 2), max_size=2))]
    failures = [Failure("0-2", "timeout", draw(st.sampled_from("mn")))] * draw(st.integers(0, 1))
    return says(
        document,
        *entities,
        *stated.values(),
        *evidence.values(),
        *other,
        *failures,
        kind=draw(st.sampled_from(["document", "page"])),
        text=draw(st.sampled_from(["some text", "other text"])),
        fingerprint=draw(st.sampled_from("fg")),
    )


@st.composite
def histories(draw: st.DrawFn) -> list[list[Extraction] | list[str]]:
    """Writes of a few documents at once, and deletions of documents that are there."""
    there: set[str] = set()
    steps: list[list[Extraction] | list[str]] = []
    for _ in range(draw(st.integers(1, 5))):
        chosen = sorted(draw(st.sets(st.sampled_from(DOCUMENTS), min_size=1, max_size=3)))
        if there & set(chosen) and draw(st.integers(0, 2)) == 0:
            gone = sorted(there & set(chosen))
            there -= set(gone)
            steps.append(gone)
        else:
            there |= set(chosen)
            steps.append([draw(extractions(document)) for document in chosen])
    return steps


@pytest.fixture(scope="module")
def ladybug_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LadybugStore]:
    with open_ladybug(str(tmp_path_factory.mktemp("property") / "store"), ONTOLOGY) as store:
        yield store


@pytest.fixture(scope="module")
def copying_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LadybugStore]:
    """Writes each row by COPY, as only large batches do otherwise."""
    with open_ladybug(str(tmp_path_factory.mktemp("property") / "store"), ONTOLOGY, copy_rows=1) as store:
        yield store


UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@settings(UNHURRIED, max_examples=40)
@given(history=histories(), data=st.data())
def test_every_answer_is_the_references(
    ladybug_store: LadybugStore, history: list[list[Extraction] | list[str]], data: st.DataObject
) -> None:
    reference = compare(ladybug_store, history)
    limit = data.draw(st.integers(0, 5))
    some = data.draw(st.lists(st.sampled_from([e.id for e in ENTITIES] + ["nope"]), max_size=3))
    assert ladybug_store.neighbours(some, limit=limit) == reference.neighbours(some, limit=limit)
    assert ladybug_store.entities(some) == reference.entities(some)


@settings(UNHURRIED, max_examples=10)
@given(history=histories())
def test_every_answer_is_the_references_when_rows_are_copied(
    copying_store: LadybugStore, history: list[list[Extraction] | list[str]]
) -> None:
    compare(copying_store, history)


def compare(store: LadybugStore, history: list[list[Extraction] | list[str]]) -> ReferenceStore:
    """Has a store and the reference live through the same, and compares all that they answer."""
    store.delete(list(store.documents()))
    start = store.last_change()
    reference = ReferenceStore(ONTOLOGY)
    for step in history:
        note(f"step: {step}")
        assert apply(store, step) - start == apply(reference, step)
    found, expected = answers(store, start), answers(reference, 0)
    for question, answer in expected.items():
        assert found[question] == answer, question
    return reference


@settings(UNHURRIED, max_examples=20)
@given(history=histories(), data=st.data())
def test_the_digest_depends_on_what_remains_alone(
    ladybug_store: LadybugStore, history: list[list[Extraction] | list[str]], data: st.DataObject
) -> None:
    ladybug_store.delete(list(ladybug_store.documents()))
    last: dict[str, Extraction] = {}
    for step in history:
        apply(ladybug_store, step)
        for item in step:
            if isinstance(item, str):
                del last[item]
            else:
                last[item.document.id] = item
    digest = ladybug_store.digest()
    ladybug_store.delete(list(ladybug_store.documents()))
    for document in data.draw(st.permutations(sorted(last))):
        ladybug_store.write([last[document]])
    assert ladybug_store.digest() == digest


def apply(store: Store, step: Sequence[Extraction] | Sequence[str]) -> int:
    written = [item for item in step if isinstance(item, Extraction)]
    return store.write(written) if written else store.delete([item for item in step if isinstance(item, str)])


def answers(store: Store, start: int) -> dict[str, Any]:
    """Every answer of a store, with changes numbered from ``start``."""
    tables = {e: scanned(store.scan_entities(e), start) for e in store.ontology.types}
    tables["triples"] = scanned(store.scan_triples(), start)
    ids = [row["id"] for row in tables["triples"]]
    for relation in ("superior_to", "released"):
        tables[relation] = scanned(store.scan_triples(relation), start)
    tables["some"] = scanned(store.scan_triples(ids=ids[::2]), start)
    return {
        **tables,
        "changes": [(c.number - start, c.documents, c.entities, c.triples) for c in store.changes(start)],
        "documents": store.documents(),
        "texts": [store.document(d) for d in store.documents()],
        "named": store.named([name_key(name) for name in SPELLINGS]),
        "names": sorted(store.names()),
        "triple records": {i: (t, repr(t)) for i, t in store.triples(ids).items()},
        "evidence": store.evidence(ids),
        "quarantined": list(store.quarantined()),
        "quarantined of one": list(store.quarantined(DOCUMENTS[0])),
        "counts": store.counts(),
        "digest": store.digest(),
    }


def scanned(batches: Iterator[Any], start: int) -> list[dict[str, Any]]:
    rows = [row for batch in batches for row in batch.to_pylist()]
    return [row | {"updated": row["updated"] - start} for row in rows]
