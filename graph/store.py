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

Documents are kept as they were written, with the ids that they *said*. A merge says that one entity is another; it maps
what documents said, before and after it, to what the graph holds, so that taking it back restores what was. Nothing
that was once said is forgotten: what a document no longer says is kept with the changes between which it did.
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
    """What the store knows of a document without its text; equal hash and fingerprint mean there is nothing to do.

    ``said`` is the ``graph.digest.content_hash`` of all that was written of it.
    """

    id: str
    hash: str
    fingerprint: str
    status: str
    kind: str
    title: str
    failures: tuple[Failure, ...] = ()
    said: str = ""


@dataclass(frozen=True, slots=True)
class Merge:
    """That ``entity`` is ``into``, made by the change ``made`` and taken back by ``undone``, or None while it holds.

    ``name`` is what the entity was called when it was merged, ``reason`` who or what says so.
    """

    entity: str
    into: str
    type: str
    name: str
    reason: str
    made: int
    undone: int | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """Something in the database that a store would not have written, or that it wrote and is gone.

    ``code`` is stable (``stray-label``, ``orphan-entity`` …), ``where`` an id or a name, ``message`` one line.
    """

    code: str
    where: str
    message: str


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
        ("type", pa.string()),
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

_naming: dict[str, pa.DataType] = {
    "document": pa.string(),
    "defines": pa.bool_(),
    "entity": pa.string(),
    "type": pa.string(),
    "name": pa.string(),
    "aliases": pa.list_(pa.string()),
}
NAMING_COLUMNS = pa.schema(_naming)
"""How documents name entities. ``defines``: the document is the entity's wiki page."""

_stating: dict[str, pa.DataType] = {
    "document": pa.string(),
    "page": pa.bool_(),
    "triple": pa.string(),
    "said": pa.string(),
    "subject": pa.string(),
    "subject_type": pa.string(),
    "relation": pa.string(),
    "object": pa.string(),
    "object_type": pa.string(),
    "value": pa.string(),
    "kind": pa.string(),
    "attributes": pa.string(),
    "identifying": pa.string(),
    "start": pa.int64(),
    "end": pa.int64(),
    "confidence": pa.float64(),
}
STATING_COLUMNS = pa.schema(_stating)
"""What documents state, one row a piece of evidence, with the triple that it is evidence of as the document states it
(``graph.encode``). ``page``: the document is a wiki page. Ids are those that the graph held, merges applied; ``said``
is the triple's id as the document said it, another where a merge plays a part."""


class Store(Protocol):
    """An open store with the ontology that it was opened under. Not safe for use by several threads at once."""

    ontology: Ontology

    def write(self, extractions: Sequence[Extraction]) -> int:
        """Puts documents, replacing what the same document ids said before, all in one transaction.

        Returns the change number. What was there before and is said again is left as it is. Raises StoreError.
        """

    def delete(self, documents: Sequence[str]) -> int:
        """Removes documents and what rested on them alone. An unknown id is an error, and nothing is removed."""

    def merge(self, entity: str, into: str, *, reason: str = "") -> int:
        """Makes one entity of two of the same type: what documents say of ``entity`` is said of ``into``.

        Returns the change number. Raises StoreError where one of them is not in the store, or their types differ.
        """

    def unmerge(self, entity: str) -> int:
        """Takes the merge of ``entity`` back. Raises StoreError where there is none that holds."""

    def merges(self) -> list[Merge]:
        """Every merge that was ever made, in order, those that were taken back included."""

    def last_change(self) -> int:
        """The number of the last committed change; 0 for an empty store."""

    def changes(self, since: int) -> Iterator[Change]:
        """Changes with a number above ``since``, in order."""

    def change_times(self) -> list[tuple[int, datetime]]:
        """The number and the time of every change, in order."""

    def documents(self) -> dict[str, DocumentState]:
        """Every document by id."""

    def document(self, document_id: str) -> Document | None:
        """A document with its text."""

    def extractions(self, documents: Sequence[str] | None = None) -> Iterator[Extraction]:
        """What documents said, all or some, by document id, as it was written: a store given all of them is equal."""

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

    def scan_entities(
        self, entity_type: str | None = None, *, ids: Sequence[str] | None = None, batch_rows: int = 10_000
    ) -> Iterator[pa.RecordBatch]:
        """Entities as ENTITY_COLUMNS: all, those of one type, or those with the given ids; by id."""

    def scan_triples(
        self, relation: str | None = None, *, ids: Sequence[str] | None = None, batch_rows: int = 10_000
    ) -> Iterator[pa.RecordBatch]:
        """Triples as TRIPLE_COLUMNS: all, those of one relation or attribute, or those with the given ids; by id."""

    def scan_namings(self, at: int, *, batch_rows: int = 10_000) -> Iterator[pa.RecordBatch]:
        """How documents named entities just after change ``at``, as NAMING_COLUMNS, in no particular order."""

    def scan_statings(self, at: int, *, batch_rows: int = 10_000) -> Iterator[pa.RecordBatch]:
        """What documents stated just after change ``at``, as STATING_COLUMNS, in no particular order."""

    def quarantined(self, document: str | None = None) -> Iterator[Quarantined]:
        """Claims that were not admitted, by document id and span."""

    def counts(self) -> Counts:
        """How much there is of everything."""

    def digest(self) -> str:
        """A hash over sorted documents, entities, triples and evidence; no times, change numbers or logs."""

    def faults(self) -> Iterator[Fault]:
        """What this sort of database can hold that no store would have written, and what its own tables lack.

        ``graph.inspect`` adds what can be told from the protocol alone.
        """

    def cypher(self, query: str, parameters: Mapping[str, object], *, max_rows: int, timeout: float) -> pa.Table:
        """Runs a query that ``graph.cypher`` has let through, for reading only. At most ``max_rows`` rows.

        ``timeout`` is in seconds. Raises QueryError.
        """

    def close(self) -> None:
        """Releases the store; twice is harmless."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
