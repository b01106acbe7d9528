"""The store protocol in plain dictionaries: every answer is worked out anew from the documents as they were written.

Slow and obviously right. Other stores are compared with it, and tests of what lies above a store can use it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

import pyarrow as pa

from graph.digest import content_hash, digest
from graph.encode import encode_attributes, plain_attributes, statement
from graph.store import ENTITY_COLUMNS, TRIPLE_COLUMNS, Change, Counts, DocumentState
from graph.verify import Verified, verify
from ontology.schema import Ontology
from ontoloom.errors import StoreError
from ontoloom.names import name_key
from ontoloom.records import (
    Citation,
    Document,
    Entity,
    EntityRef,
    Evidence,
    Extraction,
    Quarantined,
    Triple,
    canonical_text,
)


class ReferenceStore:
    def __init__(self, ontology: Ontology) -> None:
        self.ontology = ontology
        self._said: dict[str, Verified] = {}
        self._changes: list[Change] = []
        self._updated: dict[str, int] = {}

    # Writing

    def write(self, extractions: Sequence[Extraction]) -> int:
        said = verify(extractions, self.ontology)
        types = {entity_id: entity.type for entity_id, entity in self._entities().items()}
        for extraction in extractions:
            for entity in extraction.entities:
                if types.setdefault(entity.id, entity.type) != entity.type:
                    raise ValueError(f"entity {entity.id!r} is a {types[entity.id]}, not a {entity.type}")
        return self._commit(self._said | {s.extraction.document.id: s for s in said})

    def delete(self, documents: Sequence[str]) -> int:
        unknown = sorted(set(documents) - self._said.keys())
        if unknown:
            raise StoreError(f"there is no document '{unknown[0]}' in the store", code="unknown-document")
        return self._commit({d: s for d, s in self._said.items() if d not in documents})

    def _commit(self, said: dict[str, Verified]) -> int:
        old, old_entities, old_triples = self._said, self._entity_rows(), self._triple_rows()
        self._said = said
        documents = different(hashes(old), hashes(said))
        entities = different(old_entities, self._entity_rows())
        triples = different(old_triples, self._triple_rows())
        if documents:
            number = len(self._changes) + 1
            self._changes.append(Change(number, datetime.now(UTC), documents, entities, triples))
            self._updated |= dict.fromkeys(entities + triples, number)
        return len(self._changes)

    # Documents and changes

    def last_change(self) -> int:
        return len(self._changes)

    def changes(self, since: int) -> Iterator[Change]:
        return iter([change for change in self._changes if change.number > since])

    def documents(self) -> dict[str, DocumentState]:
        return {
            d.id: DocumentState(d.id, d.hash, e.fingerprint, e.status, d.kind, d.title, e.failures)
            for d, e in ((s.extraction.document, s.extraction) for _, s in sorted(self._said.items()))
        }

    def document(self, document_id: str) -> Document | None:
        return self._said[document_id].extraction.document if document_id in self._said else None

    def quarantined(self, document: str | None = None) -> Iterator[Quarantined]:
        found = [q for d, s in self._said.items() if document in (None, d) for q in s.quarantined.values()]
        return iter(sorted(found, key=lambda q: (q.document, q.claim.start, q.claim.end, q.id)))

    # Entities

    def _entities(self) -> dict[str, Entity]:
        namings: dict[str, list[tuple[Document, Entity]]] = {}
        for said in self._said.values():
            for entity in said.entities.values():
                namings.setdefault(entity.id, []).append((said.extraction.document, entity))
        return {entity_id: merge_namings(namings[entity_id]) for entity_id in sorted(namings)}

    def _entity_rows(self) -> dict[str, tuple[Entity, list[str]]]:
        return {
            entity_id: (entity, sorted(d for d, said in self._said.items() if entity_id in said.entities))
            for entity_id, entity in self._entities().items()
        }

    def entities(self, ids: Sequence[str]) -> dict[str, Entity]:
        known = self._entities()
        return {entity_id: known[entity_id] for entity_id in ids if entity_id in known}

    def names(self) -> Iterator[tuple[str, str, str]]:
        return iter([(n, e.id, e.type) for e in self._entities().values() for n in (e.name, *e.aliases)])

    def named(self, keys: Sequence[str]) -> dict[str, list[Entity]]:
        found: dict[str, list[Entity]] = {}
        for entity in self._entities().values():
            for key in {name_key(name) for name in (entity.name, *entity.aliases)} & set(keys):
                found.setdefault(key, []).append(entity)
        return found

    def scan_entities(self, entity_type: str, *, batch_rows: int = 10_000) -> Iterator[pa.RecordBatch]:
        rows: list[dict[str, object]] = [
            {"id": e.id, "name": e.name, "aliases": e.aliases, "page": e.page, "documents": documents}
            | {"updated": self._updated[e.id]}
            for e, documents in self._entity_rows().values()
            if e.type == entity_type
        ]
        return batches(rows, ENTITY_COLUMNS, batch_rows)

    # Triples

    def _triples(self) -> dict[str, Triple]:
        statements: dict[str, list[tuple[Document, Triple]]] = {}
        for said in self._said.values():
            for triple_id, triple in said.triples.items():
                statements.setdefault(triple_id, []).append((said.extraction.document, triple))
        return {triple_id: choose_statement(statements[triple_id]) for triple_id in sorted(statements)}

    def _evidence(self) -> dict[str, list[Evidence]]:
        found: dict[str, list[Evidence]] = {}
        for said in self._said.values():
            for evidence in said.evidence.values():
                found.setdefault(evidence.triple, []).append(evidence)
        for pieces in found.values():
            pieces.sort(key=lambda e: (e.document, e.start, e.end, e.extractor, e.source))
        return found

    def _triple_rows(self) -> dict[str, tuple[Triple, tuple[str, ...], list[Evidence]]]:
        evidence = self._evidence()
        return {i: (triple, statement(triple), evidence[i]) for i, triple in self._triples().items()}

    def triples(self, ids: Sequence[str]) -> dict[str, Triple]:
        known = self._triples()
        return {triple_id: known[triple_id] for triple_id in ids if triple_id in known}

    def evidence(self, triples: Sequence[str]) -> dict[str, list[Evidence]]:
        known = self._evidence()
        return {triple_id: known[triple_id] for triple_id in triples if triple_id in known}

    def neighbours(self, entities: Sequence[str], *, limit: int = 1000) -> list[Triple]:
        found = [
            t
            for t in self._triples().values()
            if t.subject in entities or (isinstance(t.object, EntityRef) and t.object.id in entities)
        ]
        return found[:limit]

    def scan_triples(
        self, relation: str | None = None, *, ids: Sequence[str] | None = None, batch_rows: int = 10_000
    ) -> Iterator[pa.RecordBatch]:
        entities = self._entities()
        rows: list[dict[str, object]] = []
        for triple_id, (triple, _, evidence) in self._triple_rows().items():
            if relation in (None, triple.relation) and (ids is None or triple_id in ids):
                target = triple.object.id if isinstance(triple.object, EntityRef) else None
                rows.append(
                    {
                        "id": triple_id,
                        "subject": triple.subject,
                        "subject_type": entities[triple.subject].type,
                        "relation": triple.relation,
                        "object": target,
                        "object_type": entities[target].type if target else None,
                        "value": None if target else canonical_text(triple.object),
                        "attributes": plain_attributes(encode_attributes(triple.attributes)),
                        "evidence": sorted({str(Citation(e.document, e.start, e.end)) for e in evidence}),
                        "confidence": max(e.confidence for e in evidence),
                        "updated": self._updated[triple_id],
                    }
                )
        return batches(rows, TRIPLE_COLUMNS, batch_rows)

    # The whole

    def counts(self) -> Counts:
        types = Counter(e.type for e in self._entities().values())
        codes = Counter(q.code for q in self.quarantined())
        return Counts(
            documents=len(self._said),
            entities={name: types[name] for name in self.ontology.types},
            triples=Counter(t.relation for t in self._triples().values()),
            evidence=sum(len(pieces) for pieces in self._evidence().values()),
            quarantined=codes,
        )

    def digest(self) -> str:
        evidence = sorted((piece for pieces in self._evidence().values() for piece in pieces), key=lambda e: e.id)
        return digest(self.documents().values(), self._entities().values(), self._triples().values(), evidence)

    def close(self) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def merge_namings(namings: Sequence[tuple[Document, Entity]]) -> Entity:
    """One entity from all documents that name it, as ``graph.store`` says."""
    pages = sorted((d.id, e.name) for d, e in namings if e.page == d.id)
    uses = Counter(e.name for _, e in namings)
    name = pages[0][1] if pages else min(uses, key=lambda n: (-uses[n], n))
    spellings = set(uses) | {alias for _, e in namings for alias in e.aliases}
    first = namings[0][1]
    return Entity(first.id, first.type, name, tuple(sorted(spellings - {name})), pages[0][0] if pages else None)


def choose_statement(statements: Sequence[tuple[Document, Triple]]) -> Triple:
    """One triple from all that state it: the first page's, else the one that most state, the smallest of equals."""
    pages = sorted((d.id, statement(t)) for d, t in statements if d.kind == "page")
    uses = Counter(statement(t) for _, t in statements)
    chosen = pages[0][1] if pages else min(uses, key=lambda said: (-uses[said], said))
    return next(t for _, t in statements if statement(t) == chosen)


def hashes(said: dict[str, Verified]) -> dict[str, str]:
    return {document: content_hash(one) for document, one in said.items()}


def different(old: Mapping[str, object], new: Mapping[str, object]) -> tuple[str, ...]:
    """The ids whose items differ, appeared or vanished, sorted."""
    return tuple(sorted(i for i in old.keys() | new.keys() if old.get(i) != new.get(i)))


def batches(rows: list[dict[str, object]], schema: pa.Schema, batch_rows: int) -> Iterator[pa.RecordBatch]:
    return iter(pa.Table.from_pylist(rows, schema=schema).to_batches(max_chunksize=batch_rows))
