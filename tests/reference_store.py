"""The store protocol in plain dictionaries: every answer is worked out anew from the documents as they were written.

Slow and obviously right. Other stores are compared with it, and tests of what lies above a store can use it. Documents
are kept as they said it; ``_mapped`` is what they say once the merges that hold are applied, and all else follows
from that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

import pyarrow as pa

from graph.digest import content_hash, digest
from graph.encode import encode_attributes, plain_attributes, statement
from graph.store import (
    ENTITY_COLUMNS,
    NAMING_COLUMNS,
    STATING_COLUMNS,
    TRIPLE_COLUMNS,
    Change,
    Counts,
    DocumentState,
    Fault,
    Merge,
)
from graph.verify import Verified, verify
from ontology.schema import Ontology
from ontoloom.errors import QueryError, StoreError
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
    Value,
    canonical_text,
)


@dataclass(frozen=True, slots=True)
class Mapped:
    """What one document says once merges are applied: one naming for each entity that it said, one statement for each
    triple that it said, and pieces of evidence, each with the triple that it is for and that triple's id as said.
    """

    document: Document
    namings: list[Entity]
    statements: list[Triple]
    evidence: list[tuple[Triple, str, Evidence]]


class ReferenceStore:
    def __init__(self, ontology: Ontology) -> None:
        self.ontology = ontology
        self._said: dict[str, Verified] = {}
        self._merges: list[Merge] = []
        self._changes: list[Change] = []
        self._updated: dict[str, int] = {}
        self._namings: list[list[dict[str, object]]] = [[]]
        self._statings: list[list[dict[str, object]]] = [[]]

    # Writing

    def write(self, extractions: Sequence[Extraction]) -> int:
        said = verify(extractions, self.ontology)
        types = {entity_id: entity.type for entity_id, entity in self._entities().items()}
        for extraction in extractions:
            for entity in extraction.entities:
                known = types.setdefault(self._target(entity.id), entity.type)
                if known != entity.type:
                    raise ValueError(f"entity {entity.id!r} is a {known}, not a {entity.type}")
        return self._commit(self._said | {s.extraction.document.id: s for s in said}, self._merges)

    def delete(self, documents: Sequence[str]) -> int:
        unknown = sorted(set(documents) - self._said.keys())
        if unknown:
            raise StoreError(f"there is no document '{unknown[0]}' in the store", code="unknown-document")
        return self._commit({d: s for d, s in self._said.items() if d not in documents}, self._merges)

    def merge(self, entity: str, into: str, *, reason: str = "") -> int:
        known = self._entities()
        for one in (entity, into):
            if one not in known:
                raise StoreError(f"there is no entity '{one}' in the store", code="unknown-entity")
        if entity == into:
            raise StoreError(f"'{entity}' cannot be merged into itself", code="merge-same")
        merged, kept = known[entity], known[into]
        if merged.type != kept.type:
            raise StoreError(f"{merged.name} is a {merged.type}, {kept.name} a {kept.type}", code="merge-types")
        made = Merge(entity, into, merged.type, merged.name, reason, len(self._changes) + 1)
        return self._commit(self._said, [*self._merges, made])

    def unmerge(self, entity: str) -> int:
        if not any(m.entity == entity and m.undone is None for m in self._merges):
            raise StoreError(f"'{entity}' is not merged into another entity", code="not-merged")
        number = len(self._changes) + 1
        merges = [replace(m, undone=number) if m.entity == entity and m.undone is None else m for m in self._merges]
        return self._commit(self._said, merges)

    def merges(self) -> list[Merge]:
        return list(self._merges)

    def _commit(self, said: dict[str, Verified], merges: list[Merge]) -> int:
        old, old_entities, old_triples = (self._said, self._merges), self._entity_rows(), self._triple_rows()
        self._said, self._merges = said, merges
        documents = different(hashes(old[0]), hashes(said))
        entities = different(old_entities, self._entity_rows())
        triples = different(old_triples, self._triple_rows())
        if documents or merges != old[1]:
            number = len(self._changes) + 1
            self._changes.append(Change(number, datetime.now(UTC), documents, entities, triples))
            self._updated |= dict.fromkeys(entities + triples, number)
            self._namings.append(self._naming_rows())
            self._statings.append(self._stating_rows())
        return len(self._changes)

    # What documents say with merges applied

    def _target(self, entity: str) -> str:
        """What an entity is in the end: itself, or what it was merged into, and that perhaps again."""
        holding = {m.entity: m.into for m in self._merges if m.undone is None}
        while entity in holding:
            entity = holding[entity]
        return entity

    def _map_triple(self, triple: Triple) -> Triple:
        def mapped(value: EntityRef | Value) -> EntityRef | Value:
            return EntityRef(self._target(value.id)) if isinstance(value, EntityRef) else value

        return replace(
            triple,
            subject=self._target(triple.subject),
            object=mapped(triple.object),
            attributes=tuple((name, mapped(value)) for name, value in triple.attributes),
        )

    def _mapped(self) -> list[Mapped]:
        """By document id."""
        found = []
        for _, said in sorted(self._said.items()):
            triples = {i: self._map_triple(triple) for i, triple in said.triples.items()}
            pieces = [
                (triples[e.triple], e.triple, replace(e, triple=triples[e.triple].id)) for e in said.evidence.values()
            ]
            namings = [replace(e, id=self._target(e.id)) for e in said.entities.values()]
            found.append(Mapped(said.extraction.document, namings, list(triples.values()), pieces))
        return found

    # History

    def _naming_rows(self) -> list[dict[str, object]]:
        return [
            {"document": one.document.id, "defines": e.page == one.document.id, "entity": e.id, "type": e.type}
            | {"name": e.name, "aliases": sorted(set(e.aliases))}
            for one in self._mapped()
            for e in one.namings
        ]

    def _stating_rows(self) -> list[dict[str, object]]:
        types = {entity_id: entity.type for entity_id, entity in self._entities().items()}
        return [
            {"document": one.document.id, "page": one.document.kind == "page", "triple": piece.triple}
            | {"said": said}
            | ends(triple, types)
            | dict(zip(("kind", "attributes", "identifying"), statement(triple), strict=True))
            | {"start": piece.start, "end": piece.end, "confidence": piece.confidence}
            for one in self._mapped()
            for triple, said, piece in one.evidence
        ]

    def scan_namings(self, at: int, *, batch_rows: int = 10_000) -> Iterator[pa.RecordBatch]:
        return batches(self._namings[max(0, min(at, len(self._changes)))], NAMING_COLUMNS, batch_rows)

    def scan_statings(self, at: int, *, batch_rows: int = 10_000) -> Iterator[pa.RecordBatch]:
        return batches(self._statings[max(0, min(at, len(self._changes)))], STATING_COLUMNS, batch_rows)

    # Documents and changes

    def last_change(self) -> int:
        return len(self._changes)

    def changes(self, since: int) -> Iterator[Change]:
        return iter([change for change in self._changes if change.number > since])

    def change_times(self) -> list[tuple[int, datetime]]:
        return [(change.number, change.time) for change in self._changes]

    def documents(self) -> dict[str, DocumentState]:
        return {
            d.id: DocumentState(d.id, d.hash, e.fingerprint, e.status, d.kind, d.title, e.failures, content_hash(s))
            for d, e, s in ((s.extraction.document, s.extraction, s) for _, s in sorted(self._said.items()))
        }

    def document(self, document_id: str) -> Document | None:
        return self._said[document_id].extraction.document if document_id in self._said else None

    def extractions(self, documents: Sequence[str] | None = None) -> Iterator[Extraction]:
        return iter([s.extraction for d, s in sorted(self._said.items()) if documents is None or d in documents])

    def quarantined(self, document: str | None = None) -> Iterator[Quarantined]:
        found = [q for d, s in self._said.items() if document in (None, d) for q in s.quarantined.values()]
        return iter(sorted(found, key=lambda q: (q.document, q.claim.start, q.claim.end, q.id)))

    # Entities

    def _entities(self) -> dict[str, Entity]:
        namings: dict[str, list[tuple[Document, Entity]]] = {}
        for one in self._mapped():
            for entity in one.namings:
                namings.setdefault(entity.id, []).append((one.document, entity))
        return {entity_id: merge_namings(namings[entity_id]) for entity_id in sorted(namings)}

    def _entity_rows(self) -> dict[str, tuple[Entity, list[str]]]:
        mapped = self._mapped()
        return {
            entity_id: (entity, [one.document.id for one in mapped if any(e.id == entity_id for e in one.namings)])
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

    def scan_entities(
        self, entity_type: str | None = None, *, ids: Sequence[str] | None = None, batch_rows: int = 10_000
    ) -> Iterator[pa.RecordBatch]:
        rows: list[dict[str, object]] = [
            {"id": e.id, "type": e.type, "name": e.name, "aliases": e.aliases, "page": e.page}
            | {"documents": documents, "updated": self._updated[e.id]}
            for e, documents in self._entity_rows().values()
            if entity_type in (None, e.type) and (ids is None or e.id in ids)
        ]
        return batches(rows, ENTITY_COLUMNS, batch_rows)

    # Triples

    def _triples(self) -> dict[str, Triple]:
        statements: dict[str, list[tuple[Document, Triple]]] = {}
        for one in self._mapped():
            for triple in one.statements:
                statements.setdefault(triple.id, []).append((one.document, triple))
        return {triple_id: choose_statement(statements[triple_id]) for triple_id in sorted(statements)}

    def _evidence(self) -> dict[str, list[Evidence]]:
        found: dict[str, set[Evidence]] = {}
        for one in self._mapped():
            for _, _, piece in one.evidence:
                found.setdefault(piece.triple, set()).add(piece)
        return {triple: sorted(pieces, key=evidence_order) for triple, pieces in found.items()}

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
        types = {entity_id: entity.type for entity_id, entity in self._entities().items()}
        rows: list[dict[str, object]] = []
        for triple_id, (triple, _, evidence) in self._triple_rows().items():
            if relation in (None, triple.relation) and (ids is None or triple_id in ids):
                rows.append(
                    {"id": triple_id}
                    | ends(triple, types)
                    | {
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
            evidence=sum(len(said.evidence) for said in self._said.values()),
            quarantined=codes,
        )

    def digest(self) -> str:
        pieces = {piece for found in self._evidence().values() for piece in found}
        evidence = sorted(pieces, key=lambda e: (e.id, e.confidence, e.ontology_version))
        return digest(self.documents().values(), self._entities().values(), self._triples().values(), evidence)

    def faults(self) -> Iterator[Fault]:
        return iter(())

    def cypher(self, query: str, parameters: Mapping[str, object], *, max_rows: int, timeout: float) -> pa.Table:
        del query, parameters, max_rows, timeout
        raise QueryError("the reference knows no Cypher")

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


def ends(triple: Triple, types: Mapping[str, str]) -> dict[str, object]:
    """The columns that scans have for the two ends of a triple."""
    target = triple.object.id if isinstance(triple.object, EntityRef) else None
    return {
        "subject": triple.subject,
        "subject_type": types[triple.subject],
        "relation": triple.relation,
        "object": target,
        "object_type": types[target] if target else None,
        "value": None if target else canonical_text(triple.object),
    }


def evidence_order(piece: Evidence) -> tuple[object, ...]:
    """By document and span, and all else that tells pieces of a triple's evidence apart."""
    return (
        piece.document, piece.start, piece.end, piece.extractor, piece.source, piece.confidence, piece.ontology_version
    )  # fmt: skip


def hashes(said: dict[str, Verified]) -> dict[str, str]:
    return {document: content_hash(one) for document, one in said.items()}


def different(old: Mapping[str, object], new: Mapping[str, object]) -> tuple[str, ...]:
    """The ids whose items differ, appeared or vanished, sorted."""
    return tuple(sorted(i for i in old.keys() | new.keys() if old.get(i) != new.get(i)))


def batches(rows: list[dict[str, object]], schema: pa.Schema, batch_rows: int) -> Iterator[pa.RecordBatch]:
    return iter(pa.Table.from_pylist(rows, schema=schema).to_batches(max_chunksize=batch_rows))
