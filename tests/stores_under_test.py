"""The stores that the suites run over, and all that a store can be asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from graph_examples import ONTOLOGY
from neo4j_parts import LiveServer
from reference_store import ReferenceStore

from graph.digest import content_hash
from graph.ladybug import open_ladybug
from graph.open import open_store
from graph.store import Store
from graph.verify import verify
from ontoloom.names import name_key
from ontoloom.records import Extraction

MakeStore = Callable[[], Store]
"""An empty store. A server has room for one: what was made before may be closed and emptied by it."""


def open_emptied_neo4j(request: pytest.FixtureRequest, _: Path) -> Store:
    server: LiveServer = request.getfixturevalue("neo4j_server")
    server.clear()
    return open_store(server.location, ONTOLOGY)


MAKERS: dict[str, Callable[[pytest.FixtureRequest, Path], Store]] = {
    "reference": lambda _, __: ReferenceStore(ONTOLOGY),
    "ladybug": lambda _, path: open_store(path, ONTOLOGY),
    "ladybug-copy": lambda _, path: open_ladybug(str(path), ONTOLOGY, copy_rows=1),
    "neo4j": open_emptied_neo4j,
}


def rows(batches: Iterable[pa.RecordBatch]) -> list[dict[str, Any]]:
    return [row for batch in batches for row in batch.to_pylist()]


def unordered(batches: Iterable[pa.RecordBatch]) -> list[dict[str, Any]]:
    """The rows of a scan that promises no order."""
    return sorted(rows(batches), key=repr)


def scanned(batches: Iterable[pa.RecordBatch], since: int) -> list[dict[str, Any]]:
    return [row | {"updated": row["updated"] - since} for row in rows(batches)]


def everything(store: Store, *, since: int = 0) -> dict[str, Any]:
    """All that a store says of what it holds now, with change numbers counted from ``since``."""
    scans = {"entities": scanned(store.scan_entities(), since), "triples": scanned(store.scan_triples(), since)}
    entities, triples = ([row["id"] for row in scan] for scan in scans.values())
    relations = sorted({row["relation"] for row in scans["triples"]})
    last = store.last_change()
    return {
        **scans,
        **{name: scanned(store.scan_entities(name), since) for name in store.ontology.types},
        **{name: scanned(store.scan_triples(name), since) for name in relations},
        "some entities": scanned(store.scan_entities(ids=entities[::2]), since),
        "some triples": scanned(store.scan_triples(ids=triples[::2]), since),
        "documents": store.documents(),
        "texts": {document: store.document(document) for document in store.documents()},
        "said": {extraction.document.id: said_parts(extraction) for extraction in store.extractions()},
        "entity records": store.entities(entities),
        "triple records": {triple: (record, repr(record)) for triple, record in store.triples(triples).items()},
        "evidence": store.evidence(triples),
        "names": sorted(store.names()),
        "named": named_by(store, [name for name, _, _ in store.names()]),
        "neighbours": {entity: store.neighbours([entity]) for entity in entities},
        "quarantined": list(store.quarantined()),
        "counts": store.counts(),
        "digest": store.digest(),
        "namings": unordered(store.scan_namings(last)),
        "statings": unordered(store.scan_statings(last)),
        "faults": list(store.faults()),
    }


def content(store: Store) -> dict[str, Any]:
    """All that a store holds, without the numbers of the changes that brought it."""
    return {question: without_numbers(answer) for question, answer in everything(store).items()}


def without_numbers(answer: Any) -> Any:
    if isinstance(answer, list) and answer and isinstance(answer[0], dict):
        return [{column: value for column, value in row.items() if column != "updated"} for row in answer]
    return answer


def named_by(store: Store, names: Sequence[str]) -> dict[str, list[Any]]:
    found = store.named([name_key(name) for name in names])
    return {key: sorted(entities, key=lambda entity: entity.id) for key, entities in found.items()}


def history(store: Store, *, since: int = 0) -> list[tuple[Any, ...]]:
    """Every change, with what documents said just after it."""
    found: list[tuple[Any, ...]] = []
    for change in store.changes(since):
        said = unordered(store.scan_namings(change.number)), unordered(store.scan_statings(change.number))
        found.append((change.number - since, change.documents, change.entities, change.triples, *said))
    return found


def merges(store: Store, *, since: int = 0) -> list[tuple[Any, ...]]:
    return [
        (m.entity, m.into, m.type, m.name, m.reason, m.made - since, m.undone and m.undone - since)
        for m in store.merges()
        if m.made > since
    ]


def said_parts(extraction: Extraction) -> tuple[Any, ...]:
    """What a document said, in no order: an extraction may give its parts in any, and any of them several times."""
    document = extraction.document
    entities = {
        (e.id, e.type, e.name, tuple(sorted(set(e.aliases))), e.page == document.id) for e in extraction.entities
    }
    evidence = {repr(replace(piece, confidence=float(piece.confidence))) for piece in extraction.evidence}
    triples, refused = ({repr(part) for part in parts} for parts in (extraction.triples, extraction.quarantined))
    told = document, extraction.failures, extraction.fingerprint, content_hash(verify([extraction], ONTOLOGY)[0])
    return entities, triples, evidence, refused, *told
