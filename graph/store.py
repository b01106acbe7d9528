"""The store protocol: the one way to the graph for everything above, whichever database is beneath.

The graph is the truth. A document is written or replaced as a whole, in one transaction with its entities, triples and
evidence; many documents may share a transaction. What is derived from several documents follows from what remains:

- a triple lives as long as it has evidence. Where documents state one triple differently (a corrected score), a page's
  statement holds (of several pages the first by document id), else the one that most documents make (the smallest of
  equals);
- an entity lives as long as a document names it. Its name is the one its wiki page gives it (of several pages the first
  by document id), else the spelling that most documents use (the smallest of equals); its aliases are all other
  spellings and all aliases that documents declare.

So the content of a store does not depend on the order in which documents came: ``digest`` is equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Protocol, Self

import pyarrow as pa

from ontology.schema import Ontology
from ontoloom.records import Document, Entity, Evidence, Extraction, Failure, Quarantined, Triple


@dataclass(frozen=True, slots=True)
class DocumentState:
    """What the store knows of a document without its text; equal hash and fingerprint mean there is nothing to do."""

    id: str
    hash: str
    fingerprint: str
    status: str
    kind: str
    title: str
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """One committed transaction: what a projection must look at again. Ids that no longer exist were removed."""

    number: int
    time: datetime
    documents: tuple[str, ...]
    entities: tuple[str, ...]
    triples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Counts:
    documents: int
    entities: Mapping[str, int]
    """By type, those with none included."""
    triples: Mapping[str, int]
    """By relation or attribute."""
    evidence: int
    quarantined: Mapping[str, int]
    """By reason code."""


ENTITY_COLUMNS = pa.schema(
    [
        ("id", pa.string()),
        ("name", pa.string()),
        ("aliases", pa.list_(pa.string())),
        ("page", pa.string()),
        ("documents", pa.list_(pa.string())),
        ("updated", pa.int64()),
    ]
)
"""``updated`` is the number of the change that last touched the row."""

TRIPLE_COLUMNS = pa.schema(
    [
        ("id", pa.string()),
        ("subject", pa.string()),
        ("subject_type", pa.string()),
        ("relation", pa.string()),
        ("object", pa.string()),
        ("object_type", pa.string()),
        ("value", pa.string()),
        ("attributes", pa.string()),
        ("evidence", pa.list_(pa.string())),
        ("confidence", pa.float64()),
        ("updated", pa.int64()),
    ]
)
"""``object`` and ``object_type`` are null for a literal, ``value`` (canonical text) is null for an entity.
``attributes`` is a JSON object in canonical form, with references as ``{"@": entity id}``. ``evidence`` holds the
citations, ``document:start-end``, sorted. ``confidence`` is the highest of the evidence."""


class Store(Protocol):
    """An open store with the ontology that it was opened under. Not safe for use by several threads at once."""

    ontology: Ontology

    def write(self, extractions: Sequence[Extraction]) -> int:
        """Puts documents, replacing what the same document ids said before, all in one transaction.

        Returns the change number. What was there before and is said again is left as it is. Raises StoreError.
        """

    def delete(self, documents: Sequence[str]) -> int:
        """Removes documents and what rested on them alone. An unknown id is an error, and nothing is removed."""

    def last_change(self) -> int:
        """The number of the last committed change; 0 for an empty store."""

    def changes(self, since: int) -> Iterator[Change]:
        """Changes with a number above ``since``, in order."""

    def documents(self) -> dict[str, DocumentState]:
        """Every document by id."""

    def document(self, document_id: str) -> Document | None:
        """A document with its text."""

    def named(self, keys: Sequence[str]) -> dict[str, list[Entity]]:
        """Entities by name key (``ontoloom.names.name_key``) of their name or an alias; keys of none are left out."""

    def names(self) -> Iterator[tuple[str, str, str]]:
        """Every (name or alias, entity id, entity type), for linkers that read texts."""

    def entities(self, ids: Sequence[str]) -> dict[str, Entity]:
        """Entities by id; unknown ids are left out."""

    def triples(self, ids: Sequence[str]) -> dict[str, Triple]:
        """Triples by id; unknown ids are left out."""

    def evidence(self, triples: Sequence[str]) -> dict[str, list[Evidence]]:
        """Evidence by triple id, sorted by document and span."""

    def neighbours(self, entities: Sequence[str], *, limit: int = 1000) -> list[Triple]:
        """Triples that have one of the entities as subject or object, literals included, in a stable order."""

    def scan_entities(self, entity_type: str, *, batch_rows: int = 10_000) -> Iterator[pa.RecordBatch]:
        """All entities of a type as ENTITY_COLUMNS."""

    def scan_triples(
        self, relation: str | None = None, *, ids: Sequence[str] | None = None, batch_rows: int = 10_000
    ) -> Iterator[pa.RecordBatch]:
        """Triples as TRIPLE_COLUMNS: all, those of one relation or attribute, or those with the given ids."""

    def quarantined(self, document: str | None = None) -> Iterator[Quarantined]:
        """Claims that were not admitted, by document id and span."""

    def counts(self) -> Counts:
        """How much there is of everything."""

    def digest(self) -> str:
        """A hash over sorted documents, entities, triples and evidence; no times, change numbers or logs."""

    def close(self) -> None:
        """Releases the store; twice is harmless."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
