"""The graph store on a Neo4j server, 5.26 and later, Community too: any number of readers, one writer at a time.

Others may write to the same database while it is open, so nothing of it is remembered between calls. A transaction that
writes locks one node first, and reads what it goes by, the number of the last change included, behind that lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from heapq import merge as merge_sorted
from itertools import chain, islice
from operator import itemgetter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

import pyarrow as pa

from graph import ladybug_rows as rows
from graph.digest import digest
from graph.neo4j_cypher import run_cypher
from graph.neo4j_faults import find_faults
from graph.neo4j_reads import DOCUMENTS, ENTITIES, TRIPLES, Neo4jReads
from graph.neo4j_rows import ENTITY_SCAN, TRIPLE_SCAN, entity_batch, record_batch, triple_batch
from graph.neo4j_schema import FORMAT, MERGED, ONTOLOGY, key, prepare
from graph.neo4j_session import FETCH, Ask, Session, ask, chunks, quote, read_location
from graph.neo4j_write import write
from graph.past import past_batch
from graph.restate import in_order, restate
from graph.revise import Revision, holding, merge, replace, unmerge
from graph.store import NAMING_COLUMNS, STATING_COLUMNS, Change, Counts, DocumentState, Fault, Merge
from graph.verify import verify
from ontology.schema import Ontology
from ontoloom.errors import StoreError
from ontoloom.records import Document, Entity, Evidence, Extraction, Quarantined, Triple

if TYPE_CHECKING:
    from neo4j import ManagedTransaction

RESTATED = 200
"""Documents that are read at once to be given as they were written."""
LAST = "MATCH (c:_Change) WHERE c.id > 0 RETURN c.id ORDER BY c.id DESC LIMIT 1"
MADE = "MATCH (c:_Change) WHERE c.id > $id AND c.token = $token RETURN c.id"
LOCK = "MATCH (m:_Meta {id: $id}) SET m.value = m.value WITH m MATCH (n:_Meta) RETURN n.id, n.value"
EVIDENCE: dict[str, pa.DataType] = {
    **dict.fromkeys(("id", "triple", "document"), pa.string()),
    **dict.fromkeys(("start", "end"), pa.int64()),
    **dict.fromkeys(("extractor", "source"), pa.string()),
    "confidence": pa.float64(),
    "ontology_version": pa.string(),
}


def open_neo4j(location: str, ontology: Ontology, *, read_only: bool = False) -> Neo4jStore:
    """Opens the database at ``neo4j://user@host:port/database`` (``graph.neo4j_session.read_location``).

    An empty database is made a store, unless ``read_only``. Raises StoreError.
    """
    session = Session(read_location(location))
    try:
        edition = session.check_server()
        prepare(session, ontology, edition=edition, read_only=read_only)
        return Neo4jStore(session, ontology, read_only=read_only)
    except BaseException:
        session.close()
        raise


class Neo4jStore:
    """A ``graph.store.Store``. Opened by ``open_neo4j``."""

    def __init__(self, session: Session, ontology: Ontology, *, read_only: bool) -> None:
        self.ontology = ontology
        self._open: Session | None = session
        self._where = session.where
        self._read_only = read_only
        self._merged: dict[str, Mapping[str, str]] = {}
        """What each merged entity was merged into, by the last change with a merge."""

    @property
    def _session(self) -> Session:
        if self._open is None:
            raise StoreError(f"{self._where} is closed", code="store-closed")
        return self._open

    # Writing

    def write(self, extractions: Sequence[Extraction]) -> int:
        """See ``Store.write``. An extraction that is stored as it is given is skipped; where all are, nothing changes.

        Raises ValueError for an extraction that contradicts itself or the ontology (``graph.verify``).
        """
        put = verify(extractions, self.ontology)
        return self._change(lambda reads, number: replace(reads, number, put, []) if put else None)

    def delete(self, documents: Sequence[str]) -> int:
        return self._change(lambda reads, number: replace(reads, number, [], documents) if documents else None)

    def merge(self, entity: str, into: str, *, reason: str = "") -> int:
        return self._change(lambda reads, number: merge(reads, number, entity, into, reason))

    def unmerge(self, entity: str) -> int:
        return self._change(lambda reads, number: unmerge(reads, number, holding(reads.merges(), entity)))

    def merges(self) -> list[Merge]:
        return Neo4jReads(self._session.rows).merges()

    def _change(self, plan: Callable[[Neo4jReads, int], Revision | None]) -> int:
        """Makes the next change, in one transaction and once, however often it is tried. Where nothing differs, none.

        A change carries a token: a transaction whose commit was not answered finds by it whether it took place.
        """
        if self._read_only:
            raise StoreError(f"{self._where} was opened for reading only", code="store-read-only")
        token = uuid4().hex
        first: int | None = None

        def work(tx: ManagedTransaction) -> int:
            nonlocal first
            answer = partial(ask, tx)
            version = self._lock(answer)
            last = int(next((row[0] for row in answer(LAST)), 0))
            first = last if first is None else first
            if first < last and (made := answer(MADE, id=first, token=token)):
                return int(made[0][0])
            reads = Neo4jReads(answer, self._merged.get(version))
            revision = plan(reads, last + 1)
            self._merged = {version: reads.merged()}
            if revision is None:
                return last
            write(tx, self.ontology, revision, token=token)
            return revision.number

        return self._session.write(work)

    def _lock(self, answer: Ask) -> str:
        """Waits for its turn to write; returns the number of the last change to merges."""
        meta = dict(answer(LOCK, id=FORMAT))
        if meta.get(ONTOLOGY) != self.ontology.stamp:
            found = f"is under ontology {meta[ONTOLOGY]} now" if ONTOLOGY in meta else "was emptied"
            raise StoreError(f"{self._where} {found}", hint="open it again", code="store-changed")
        return str(meta.get(MERGED, ""))

    # Documents and changes

    def last_change(self) -> int:
        return int(next((row[0] for row in self._session.rows(LAST)), 0))

    def changes(self, since: int) -> Iterator[Change]:
        query = f"MATCH (c:_Change) WHERE c.id > $since RETURN {rows.CHANGE_ROW} ORDER BY c.id"
        for number, when, *ids in chain.from_iterable(self._session.stream(query, chunk=100, since=since)):
            documents, entities, triples = map(tuple, ids)
            yield Change(number, when.to_native().replace(tzinfo=UTC), documents, entities, triples)

    def change_times(self) -> list[tuple[int, datetime]]:
        found = self._session.rows("MATCH (c:_Change) RETURN c.id, c.time ORDER BY c.id")
        return [(number, when.to_native().replace(tzinfo=UTC)) for number, when in found]

    def documents(self) -> dict[str, DocumentState]:
        found = self._session.rows(f"MATCH (d:_Document) RETURN {rows.DOCUMENT_STATE}")
        return {row[0]: rows.document_state(row) for row in sorted(found)}

    def document(self, document_id: str) -> Document | None:
        found = self._session.rows(f"{DOCUMENTS} RETURN {rows.DOCUMENT}", ids=[key(document_id)])
        return rows.document(found[0]) if found else None

    def extractions(self, documents: Sequence[str] | None = None) -> Iterator[Extraction]:
        states = self.documents()
        chosen = sorted(states if documents is None else states.keys() & set(documents))
        answer = self._session.rows
        for some in chunks(chosen, RESTATED):
            ids = list(map(key, some))
            found = map(rows.document, answer(f"{DOCUMENTS} RETURN {rows.DOCUMENT}", ids=ids))
            refused = answer(f"{DOCUMENTS}-[:_REFUSED]->(q:_Quarantined) RETURN {rows.QUARANTINED}", ids=ids)
            yield from restate(Neo4jReads(answer), list(found), states, list(map(rows.quarantined, refused)))

    def quarantined(self, document: str | None = None) -> Iterator[Quarantined]:
        start = "MATCH (d:_Document)" if document is None else DOCUMENTS
        query = f"{start}-[:_REFUSED]->(q:_Quarantined) RETURN {rows.QUARANTINED}"
        found = self._session.rows(query, ids=[] if document is None else [key(document)])
        return iter(in_order(map(rows.quarantined, found)))

    # Entities

    def named(self, keys: Sequence[str]) -> dict[str, list[Entity]]:
        ids = Neo4jReads(self._session.rows).named(sorted(set(keys)))
        known = self.entities(sorted({i for found in ids.values() for i in found}))
        return {name: [known[i] for i in found] for name, found in ids.items()}

    def names(self) -> Iterator[tuple[str, str, str]]:
        query = "MATCH (e:_Entity) RETURN e.id, e.type, e.name, e.aliases"
        for entity_id, entity_type, name, aliases in chain.from_iterable(self._session.stream(query)):
            yield name, entity_id, entity_type
            yield from ((alias, entity_id, entity_type) for alias in aliases)

    def entities(self, ids: Sequence[str]) -> dict[str, Entity]:
        found = self._by_key(f"{ENTITIES} RETURN {rows.ENTITY_ROW}", ids)
        return {row[0]: rows.entity(row) for row in found}

    def scan_entities(
        self, entity_type: str | None = None, *, ids: Sequence[str] | None = None, batch_rows: int = 10_000
    ) -> Iterator[pa.RecordBatch]:
        typed = "" if entity_type is None else " AND e.type = $type"
        if ids is not None:
            query = f"{ENTITIES} WHERE true{typed} RETURN {ENTITY_SCAN}"
            return self._scan_ids(query, ids, entity_batch, batch_rows, type=entity_type)
        label = "_Entity" if entity_type is None or entity_type not in self.ontology.types else entity_type
        found = self._in_order(f"MATCH (e:{quote(label)}) WHERE e:_Entity{typed}", ENTITY_SCAN, type=entity_type)
        return map(entity_batch, batched(found, batch_rows))

    # Triples

    def triples(self, ids: Sequence[str]) -> dict[str, Triple]:
        found = self._by_id(f"{TRIPLES} RETURN {rows.TRIPLE_ROW}", ids)
        return {row[0]: rows.triple(row) for row in found}

    def evidence(self, triples: Sequence[str]) -> dict[str, list[Evidence]]:
        found: dict[str, list[Evidence]] = {}
        query = f"{TRIPLES}-[v:_EVIDENCE]->(d:_Document) RETURN t.id, {rows.EVIDENCE_ROW}"
        for row in sorted(set(map(tuple, self._by_id(query, triples)))):
            found.setdefault(row[0], []).append(Evidence(*row))
        return found

    def neighbours(self, entities: Sequence[str], *, limit: int = 1000) -> list[Triple]:
        query = f"{ENTITIES}<-[:_ABOUT]-(t:_Triple) WITH DISTINCT t RETURN {rows.TRIPLE_ROW} ORDER BY t.id LIMIT $limit"
        found = self._session.rows(query, ids=list(map(key, set(entities))), limit=limit)
        return list(map(rows.triple, found))

    def scan_triples(
        self, relation: str | None = None, *, ids: Sequence[str] | None = None, batch_rows: int = 10_000
    ) -> Iterator[pa.RecordBatch]:
        chosen = "" if relation is None else " AND t.relation = $relation"
        if ids is not None:
            query = f"{TRIPLES} WHERE true{chosen} RETURN {TRIPLE_SCAN}"
            return self._scan_ids(query, ids, triple_batch, batch_rows, relation=relation)
        query = f"MATCH (t:_Triple) WHERE t.id >= ''{chosen} RETURN {TRIPLE_SCAN} ORDER BY t.id"
        return map(triple_batch, self._session.stream(query, chunk=batch_rows, relation=relation))

    def _by_id(self, query: str, ids: Sequence[str]) -> list[list[Any]]:
        return self._session.rows(query, ids=sorted(set(ids))) if ids else []

    def _by_key(self, query: str, ids: Sequence[str]) -> list[list[Any]]:
        return self._by_id(query, list(map(key, ids)))

    def _scan_ids(
        self,
        query: str,
        ids: Sequence[str],
        batch: Callable[[Sequence[list[Any]]], pa.RecordBatch],
        batch_rows: int,
        **parameters: Any,
    ) -> Iterator[pa.RecordBatch]:
        """Nodes with given ids, by id."""
        for some in chunks(sorted(set(ids)), batch_rows):
            if found := self._session.rows(query, ids=list(map(key, some)), **parameters):
                yield batch(sorted(found, key=itemgetter(0)))

    def _in_order(self, query: str, columns: str, **parameters: Any) -> Iterator[list[Any]]:
        """Entities by id: the order of the index on their keys, with those mixed in whose keys are hashes."""
        plain = f"{query} AND e.key >= '' AND NOT e.key STARTS WITH '#' RETURN {columns} ORDER BY e.key"
        hashed = f"{query} AND e.key STARTS WITH '#' RETURN {columns} ORDER BY e.id"
        streams = [chain.from_iterable(self._session.stream(q, **parameters)) for q in (plain, hashed)]
        return merge_sorted(*streams, key=itemgetter(0))

    # The past

    def scan_namings(self, at: int, *, batch_rows: int = 10_000) -> Iterator[pa.RecordBatch]:
        query = f"MATCH (d:_Document)-[n:_NAMES]->(e:_Entity) WHERE n.since <= $at RETURN {rows.NAMING_SCAN}"
        return self._scan_past(query, "naming", NAMING_COLUMNS, at, batch_rows)

    def scan_statings(self, at: int, *, batch_rows: int = 10_000) -> Iterator[pa.RecordBatch]:
        query = f"MATCH (t:_Triple)-[v:_EVIDENCE]->(d:_Document) WHERE v.since <= $at RETURN {rows.STATING_SCAN}"
        return self._scan_past(query, "stating", STATING_COLUMNS, at, batch_rows)

    def _scan_past(
        self, query: str, kind: str, schema: pa.Schema, at: int, batch_rows: int
    ) -> Iterator[pa.RecordBatch]:
        """Edges that were there at a change: those that are there still, and those that are not."""
        for some in self._session.stream(query, chunk=batch_rows, at=at):
            yield record_batch(some, schema)
        gone = "MATCH (p:_Past) WHERE p.since <= $at AND p.until > $at AND p.kind = $kind RETURN p.row"
        for some in self._session.stream(gone, chunk=batch_rows, at=at, kind=kind):
            yield past_batch([row[0] for row in some], schema)

    # The whole

    def counts(self) -> Counts:
        count = self._session.rows
        types = dict(count("MATCH (e:_Entity) RETURN e.type, count(*)"))
        return Counts(
            documents=count("MATCH (d:_Document) RETURN count(*)")[0][0],
            entities=dict.fromkeys(self.ontology.types, 0) | types,
            triples=dict(count("MATCH (t:_Triple) RETURN t.relation, count(*)")),
            evidence=count("MATCH ()-[v:_EVIDENCE]->() RETURN count(v)")[0][0],
            quarantined=dict(count("MATCH (q:_Quarantined) RETURN q.code, count(*)")),
        )

    def digest(self) -> str:
        triples = self._session.stream(f"MATCH (t:_Triple) WHERE t.id >= '' RETURN {rows.TRIPLE_ROW} ORDER BY t.id")
        entities = self._in_order("MATCH (e:_Entity) WHERE true", rows.ENTITY_ROW)
        return digest(
            self.documents().values(),
            map(rows.entity, entities),
            map(rows.triple, chain.from_iterable(triples)),
            self._evidence_by_id(),
        )

    def _evidence_by_id(self) -> Iterator[Evidence]:
        """All evidence in the order of its ids, for which there is no index: sorted here, in Arrow's small rows."""
        query = f"MATCH (t:_Triple)-[v:_EVIDENCE]->(d:_Document) RETURN v.id, t.id, {rows.EVIDENCE_ROW}"
        schema = pa.schema(EVIDENCE)
        found = [record_batch(some, schema) for some in self._session.stream(query)]
        for batch in pa.Table.from_batches(found, schema).sort_by("id").to_batches(max_chunksize=FETCH):
            for _, *row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                yield Evidence(*row)

    def faults(self) -> Iterator[Fault]:
        return find_faults(self._session, self.ontology)

    def cypher(self, query: str, parameters: Mapping[str, object], *, max_rows: int, timeout: float) -> pa.Table:
        return run_cypher(self._session, query, parameters, max_rows=max_rows, timeout=timeout)

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def batched(found: Iterator[list[Any]], size: int) -> Iterator[list[list[Any]]]:
    """The rows, ``size`` at a time."""
    while some := list(islice(found, size)):
        yield some
