"""The embedded graph store, on Ladybug: one file, one writer, any number of readers."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import ladybug
import pyarrow as pa

from graph import ladybug_rows as rows
from graph.digest import digest
from graph.ladybug_faults import find_faults
from graph.ladybug_reads import LadybugReads
from graph.ladybug_schema import prepare
from graph.ladybug_session import Session
from graph.ladybug_write import write
from graph.past import past_batch
from graph.restate import in_order, restate
from graph.revise import Reads, Revision, holding, merge, merged, replace, unmerge
from graph.store import NAMING_COLUMNS, STATING_COLUMNS, Change, Counts, DocumentState, Fault, Merge
from graph.verify import Verified, verify
from ontology.schema import Ontology
from ontoloom.errors import StoreError
from ontoloom.records import Document, Entity, Evidence, Extraction, Quarantined, Triple
from ontoloom.uncollected import uncollected

BUFFER_POOL = 512 * 2**20
CHECKPOINT = 64 * 2**20
"""Bytes that the log may reach: a fifth less work for a writer of small transactions than with the 16 MB of default."""
LOG_SHARE = 3
"""What part of the store's size the log may reach where that is more: a checkpoint writes most of the store anew, so
that after a fixed number of bytes each, writing would take longer the more there is. The price is paid by who opens a
store whose writer is at work or was killed: reading the log takes 7 s for 64 MB."""
COPY_ROWS = 50_000
"""Fewer rows than this are written faster one by one: a commit after COPY takes a second, more in a larger store."""
COPY_SHARE = 4
"""What part of the buffer pool rows for COPY may take (see ``Session``)."""
RESTATED = 200
"""Documents that are read at once to be given as they were written."""
ANSWERED = 200_000
"""Edges that an answer may be about; that of a million would fill the buffer pool."""
ENTITIES = "MATCH (e:_Entity) RETURN count(*)"
NAMINGS = "MATCH (:_Document)-[n:_NAMES]->(:_Entity) RETURN count(*)"
EVIDENCE = "MATCH (:_Triple)-[v:_EVIDENCE]->(:_Document) RETURN count(*)"
PATIENCE = 10.0
"""Seconds for which a reader tries again while a writer checkpoints."""


def open_ladybug(
    location: str,
    ontology: Ontology,
    *,
    read_only: bool = False,
    buffer_pool_size: int = BUFFER_POOL,
    copy_rows: int = COPY_ROWS,
) -> LadybugStore:
    """Opens the database at a path or ``ladybug://path``, and makes it where there is none, unless ``read_only``.

    A reader sees what was committed when it opened. ``buffer_pool_size`` is in bytes; a transaction must fit into it.
    A batch of ``copy_rows`` rows goes through COPY. Raises StoreError.
    """
    path = Path(location.removeprefix("ladybug://")).expanduser()
    if read_only and not path.exists():
        raise StoreError(f"there is no graph store at {path}", hint="run 'ontoloom ingest' first", code="no-store")
    if not read_only:
        path.parent.mkdir(parents=True, exist_ok=True)
    database = open_database(path, read_only=read_only, buffer_pool_size=buffer_pool_size)
    session = Session(database, where=str(path), copy_rows=copy_rows, copy_bytes=buffer_pool_size // COPY_SHARE)
    try:
        prepare(session, ontology, where=str(path), read_only=read_only)
        return LadybugStore(database, session, ontology, where=str(path), read_only=read_only)
    except BaseException:
        session.close()
        database.close()
        raise


def open_database(path: Path, *, read_only: bool, buffer_pool_size: int) -> ladybug.Database:
    give_up = time.monotonic() + (PATIENCE if read_only else 0)
    while True:
        try:
            return ladybug.Database(
                path, read_only=read_only, buffer_pool_size=buffer_pool_size, checkpoint_threshold=log_limit(path)
            )
        except RuntimeError as error:
            if time.monotonic() > give_up:
                raise _cannot_open(path, str(error)) from error
        time.sleep(0.05)


def log_limit(path: Path) -> int:
    """The bytes of log after which there is a checkpoint."""
    return max(CHECKPOINT, path.stat().st_size // LOG_SHARE) if path.exists() else CHECKPOINT


def _cannot_open(path: Path, reason: str) -> StoreError:
    """What the database says, as something that a person can act on."""
    if "Could not set lock" in reason:
        holder = re.search(r"Lock is held by PID (\d+)", reason)
        who = f"process {holder[1]}" if holder else "another process"
        hint = "wait until it is done, end it, or let a running 'ontoloom serve' do the work"
        return StoreError(f"{path} is being written by {who}", hint=hint, code="store-locked")
    if ".wal" in reason and "does not match" in reason:
        hint = f"if {path} was deleted or replaced on purpose, delete {path}.wal too"
        return StoreError(f"{path}.wal is the log of another store", hint=hint, code="store-stale-log")
    if "cannot be a directory" in reason:
        return StoreError(f"{path} is a folder, not a graph store", hint="name a file", code="not-a-store")
    if "not a valid" in reason:
        return StoreError(f"{path} is not a Ladybug database", hint="give another path", code="not-a-store")
    return StoreError(f"{path} cannot be opened: {reason.strip().splitlines()[0]}", code="store-open")


class LadybugStore:
    """A ``graph.store.Store``. Opened by ``open_ladybug``."""

    def __init__(
        self, database: ladybug.Database, session: Session, ontology: Ontology, *, where: str, read_only: bool
    ) -> None:
        self.ontology = ontology
        self._database = database
        self._open: Session | None = session
        self._where = where
        self._read_only = read_only
        self._last: int = session.rows("MATCH (c:_Change) RETURN coalesce(max(c.id), 0)")[0][0]
        self._merged = merged(self.merges())
        self._log_limit = log_limit(Path(where))

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
        with uncollected():
            return self._replace(put=verify(extractions, self.ontology))

    def delete(self, documents: Sequence[str]) -> int:
        return self._replace(remove=documents)

    def _replace(self, *, put: Sequence[Verified] = (), remove: Sequence[str] = ()) -> int:
        return self._change(lambda reads, number: replace(reads, number, put, remove) if put or remove else None)

    def merge(self, entity: str, into: str, *, reason: str = "") -> int:
        return self._change(lambda reads, number: merge(reads, number, entity, into, reason))

    def unmerge(self, entity: str) -> int:
        return self._change(lambda reads, number: unmerge(reads, number, holding(self.merges(), entity)))

    def merges(self) -> list[Merge]:
        return [Merge(*row) for row in self._session.rows(f"MATCH (m:_Merge) RETURN {rows.MERGE} ORDER BY m.id")]

    def _change(self, plan: Callable[[Reads, int], Revision | None]) -> int:
        """Makes the next change, in one transaction. Where nothing differs, there is none."""
        if self._read_only:
            raise StoreError(f"{self._where} was opened for reading only", code="store-read-only")
        with self._session.transaction():
            revision = plan(LadybugReads(self._session, self._merged), self._last + 1)
            if revision is not None:
                write(self._session, self.ontology, revision)
        if revision is not None:
            self._last = revision.number
            self._limit_log()
            if revision.merge is not None:
                self._merged = merged(self.merges())
        return self._last

    def _limit_log(self) -> None:
        limit = log_limit(Path(self._where))
        if limit != self._log_limit:
            self._session.run(f"CALL checkpoint_threshold={limit}")
            self._log_limit = limit

    # Documents and changes

    def last_change(self) -> int:
        return self._last

    def changes(self, since: int) -> Iterator[Change]:
        # Numbers have no gaps. Looked up by key, the ids of other changes are not read: a bulk load's are a million.
        query = f"UNWIND range($since + 1, $last) AS x MATCH (c:_Change) WHERE c.id = x RETURN {rows.CHANGE_ROW}"
        found = self._session.rows(query, since=since, last=self._last) if since < self._last else []
        for number, when, *ids in sorted(found):
            documents, entities, triples = map(tuple, ids)
            yield Change(number, when.replace(tzinfo=UTC), documents, entities, triples)

    def change_times(self) -> list[tuple[int, datetime]]:
        found = self._session.rows("MATCH (c:_Change) RETURN c.id, c.time ORDER BY c.id")
        return [(number, when.replace(tzinfo=UTC)) for number, when in found]

    def documents(self) -> dict[str, DocumentState]:
        found = self._session.rows(f"MATCH (d:_Document) RETURN {rows.DOCUMENT_STATE}")
        return {row[0]: rows.document_state(row) for row in sorted(found)}

    def document(self, document_id: str) -> Document | None:
        query = f"MATCH (d:_Document) WHERE d.id = $id RETURN {rows.DOCUMENT}"
        return next((rows.document(row) for row in self._session.rows(query, id=document_id)), None)

    def extractions(self, documents: Sequence[str] | None = None) -> Iterator[Extraction]:
        states = self.documents()
        chosen = sorted(states if documents is None else states.keys() & set(documents))
        reads = LadybugReads(self._session, self._merged)
        for start in range(0, len(chosen), RESTATED):
            ids = chosen[start : start + RESTATED]
            found = self._session.look_up(
                f"UNWIND $ids AS x MATCH (d:_Document) WHERE d.id = x RETURN {rows.DOCUMENT}", ids
            )
            refused = self._session.look_up(
                "UNWIND $ids AS x MATCH (d:_Document) WHERE d.id = x OPTIONAL MATCH (d)-[:_REFUSED]->(q:_Quarantined) "
                f"RETURN {rows.QUARANTINED}",
                ids,
            )
            claims = [rows.quarantined(row) for row in refused if row[1] is not None]
            yield from restate(reads, [rows.document(row) for row in found], states, claims)

    def quarantined(self, document: str | None = None) -> Iterator[Quarantined]:
        chosen, parameters = _equal("d.id", document)
        query = f"MATCH (d:_Document)-[:_REFUSED]->(q:_Quarantined){_where(chosen)} RETURN {rows.QUARANTINED}"
        return iter(in_order(rows.quarantined(row) for row in self._session.rows(query, **parameters)))

    # Entities

    def named(self, keys: Sequence[str]) -> dict[str, list[Entity]]:
        query = "UNWIND $keys AS x MATCH (n:_Name) WHERE n.id = x RETURN n.id, n.entities"
        ids = dict(self._session.rows(query, keys=sorted(set(keys))))
        known = self.entities(sorted({i for found in ids.values() for i in found}))
        return {key: [known[i] for i in found] for key, found in ids.items()}

    def names(self) -> Iterator[tuple[str, str, str]]:
        query = f"MATCH (e:_Entity){{}} RETURN {rows.ENTITY_ROW}"
        for entity_id, entity_type, name, aliases, _ in self._sorted("e.id", ENTITIES, query):
            yield name, entity_id, entity_type
            yield from ((alias, entity_id, entity_type) for alias in aliases)

    def entities(self, ids: Sequence[str]) -> dict[str, Entity]:
        query = f"UNWIND $ids AS x MATCH (e:_Entity) WHERE e.id = x RETURN {rows.ENTITY_ROW}"
        return {row[0]: rows.entity(row) for row in self._session.rows(query, ids=sorted(set(ids)))}

    def scan_entities(
        self, entity_type: str | None = None, *, ids: Sequence[str] | None = None, batch_rows: int = 10_000
    ) -> Iterator[pa.RecordBatch]:
        type_is, parameters = _equal("e.type", entity_type)
        if ids is not None:
            start = f"UNWIND $ids AS x MATCH (e:_Entity){_where('e.id = x', type_is)} "
            both = f"{start} OPTIONAL MATCH (d:_Document)-[:_NAMES]->(e)"
            yield from self._scan_entities(start, both, parameters | {"ids": sorted(set(ids))}, batch_rows)
            return
        for part in self._parts("e.id", NAMINGS):
            chosen = _where(type_is, part)
            both = f"MATCH (d:_Document)-[:_NAMES]->(e:_Entity){chosen}"
            yield from self._scan_entities(f"MATCH (e:_Entity){chosen}", both, parameters, batch_rows)

    def _scan_entities(
        self, one: str, both: str, parameters: Mapping[str, object], batch_rows: int
    ) -> Iterator[pa.RecordBatch]:
        entities = self._session.table(f"{one} RETURN {rows.ENTITY_SCAN}", **parameters)
        documents = self._session.table(f"{both} RETURN e.id, d.id, 0", **parameters)
        return rows.entity_batches(entities, documents, batch_rows)

    # Triples

    def triples(self, ids: Sequence[str]) -> dict[str, Triple]:
        query = f"UNWIND $ids AS x MATCH (t:_Triple) WHERE t.id = x RETURN {rows.TRIPLE_ROW}"
        return {row[0]: rows.triple(row) for row in self._session.rows(query, ids=sorted(set(ids)))}

    def evidence(self, triples: Sequence[str]) -> dict[str, list[Evidence]]:
        query = (
            "UNWIND $ids AS x MATCH (t:_Triple) WHERE t.id = x OPTIONAL MATCH (t)-[v:_EVIDENCE]->(d:_Document) "
            f"RETURN t.id, {rows.EVIDENCE_ROW}"
        )
        found: dict[str, list[Evidence]] = {}
        # A set: two pieces that documents said of two triples may be one of a triple that a merge has made.
        for triple, *piece in sorted({tuple(row) for row in self._session.rows(query, ids=sorted(set(triples)))}):
            found.setdefault(triple, []).append(Evidence(triple, *piece))
        return found

    def neighbours(self, entities: Sequence[str], *, limit: int = 1000) -> list[Triple]:
        query = f"MATCH (e:_Entity)<-[:_ABOUT]-(t:_Triple) WHERE e.id = $id RETURN {rows.TRIPLE_ROW}"
        found: dict[str, list[Any]] = {}
        for entity in set(entities):  # one by one: a tenth of the time of UNWIND with DISTINCT
            about = self._session.rows(f"{query} LIMIT {limit + 1}", id=entity)
            if len(about) > limit:  # only a hub is worth the database's ORDER BY, which takes five times as long
                about = self._session.rows(f"{query} ORDER BY t.id LIMIT {limit}", id=entity)
            found |= {row[0]: row for row in about}
        return [rows.triple(found[triple]) for triple in sorted(found)[:limit]]

    def scan_triples(
        self, relation: str | None = None, *, ids: Sequence[str] | None = None, batch_rows: int = 10_000
    ) -> Iterator[pa.RecordBatch]:
        relation_is, parameters = _equal("t.relation", relation)
        if ids is not None:
            start = f"UNWIND $ids AS x MATCH (t:_Triple){_where('t.id = x', relation_is)} "
            both = f"{start} OPTIONAL MATCH (t)-[v:_EVIDENCE]->(d:_Document)"
            yield from self._scan_triples(start, both, parameters | {"ids": sorted(set(ids))}, batch_rows)
            return
        for part in self._parts("t.id", EVIDENCE):
            chosen = _where(relation_is, part)
            both = f"MATCH (t:_Triple)-[v:_EVIDENCE]->(d:_Document){chosen}"
            yield from self._scan_triples(f"MATCH (t:_Triple){chosen}", both, parameters, batch_rows)

    def _scan_triples(
        self, one: str, both: str, parameters: Mapping[str, object], batch_rows: int
    ) -> Iterator[pa.RecordBatch]:
        triples = self._session.table(f"{one} RETURN {rows.TRIPLE_SCAN}", **parameters)
        citations = self._session.table(f"{both} RETURN {rows.CITATION}", **parameters)
        return rows.triple_batches(triples, citations, batch_rows)

    def _parts(self, column: str, count: str) -> list[str]:
        """Conditions that cut what there is into parts by an id, in order, for the buffer pool holds a whole answer."""
        number = -(-self._session.rows(count)[0][0] // ANSWERED) or 1
        bounds = [f"'{place * 256 // number:02x}'" for place in range(1, number)]
        above = ["", *(f"{column} >= {bound}" for bound in bounds)]
        below = [*(f"{column} < {bound}" for bound in bounds), ""]
        return [" AND ".join(filter(None, pair)) for pair in zip(above, below, strict=True)]

    # The past

    def scan_namings(self, at: int, *, batch_rows: int = 10_000) -> Iterator[pa.RecordBatch]:
        for part in self._parts("e.id", NAMINGS):
            chosen = _where("n.since <= $at", part)
            query = f"MATCH (d:_Document)-[n:_NAMES]->(e:_Entity){chosen} RETURN {rows.NAMING_SCAN}"
            yield from rows.batches_of(self._session.table(query, at=at), NAMING_COLUMNS, batch_rows)
        yield from self._past("naming", NAMING_COLUMNS, at, batch_rows)

    def scan_statings(self, at: int, *, batch_rows: int = 10_000) -> Iterator[pa.RecordBatch]:
        for part in self._parts("t.id", EVIDENCE):
            chosen = _where("v.since <= $at", part)
            query = f"MATCH (t:_Triple)-[v:_EVIDENCE]->(d:_Document){chosen} RETURN {rows.STATING_SCAN}"
            yield from rows.batches_of(self._session.table(query, at=at), STATING_COLUMNS, batch_rows)
        yield from self._past("stating", STATING_COLUMNS, at, batch_rows)

    def _past(self, kind: str, schema: pa.Schema, at: int, batch_rows: int) -> Iterator[pa.RecordBatch]:
        """Edges that were there at a change and are not there any more."""
        query = "MATCH (p:_Past) WHERE p.since <= $at AND p.until > $at AND p.kind = $kind RETURN p.row"
        found = [row[0] for row in self._session.rows(query, at=at, kind=kind)]
        for start in range(0, len(found), batch_rows):
            yield past_batch(found[start : start + batch_rows], schema)

    # The whole

    def counts(self) -> Counts:
        count = self._session.rows
        types = dict(count("MATCH (e:_Entity) RETURN e.type, count(*)"))
        return Counts(
            documents=count("MATCH (d:_Document) RETURN count(*)")[0][0],
            entities=dict.fromkeys(self.ontology.types, 0) | types,
            triples=dict(count("MATCH (t:_Triple) RETURN t.relation, count(*)")),
            evidence=count(EVIDENCE)[0][0],
            quarantined=dict(count("MATCH (q:_Quarantined) RETURN q.code, count(*)")),
        )

    def digest(self) -> str:
        entities = self._sorted("e.id", ENTITIES, f"MATCH (e:_Entity){{}} RETURN {rows.ENTITY_ROW}")
        triples = self._sorted("t.id", EVIDENCE, f"MATCH (t:_Triple){{}} RETURN {rows.TRIPLE_ROW}")
        pieces = f"MATCH (t:_Triple)-[v:_EVIDENCE]->(d:_Document){{}} RETURN v.id, t.id, {rows.EVIDENCE_ROW}"
        return digest(
            self.documents().values(),
            (rows.entity(row) for row in entities),
            (rows.triple(row) for row in triples),
            (Evidence(*row[1:]) for row in self._sorted("v.id", EVIDENCE, pieces)),
        )

    def _sorted(self, column: str, count: str, query: str) -> Iterator[tuple[Any, ...]]:
        """The rows of an answer by their first column, which is ``column``; the query has a gap for conditions."""
        for part in self._parts(column, count):
            answer = self._session.table(query.format(_where(part)))
            for batch in rows.sort_by_first(answer).to_batches(max_chunksize=10_000):
                yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    def faults(self) -> Iterator[Fault]:
        return find_faults(self._session, self.ontology)

    def cypher(self, query: str, parameters: Mapping[str, object], *, max_rows: int, timeout: float) -> pa.Table:
        from graph.ladybug_cypher import run_cypher

        return run_cypher(Path(self._where), query, parameters, max_rows=max_rows, timeout=timeout)

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._database.close()
            self._open = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _equal(column: str, value: str | None) -> tuple[str, dict[str, object]]:
    """The condition that a column has a value, with its parameter; none where no value is given."""
    return ("", {}) if value is None else (f"{column} = $value", {"value": value})


def _where(*conditions: str) -> str:
    """The conditions that are not empty, as a clause."""
    found = " AND ".join(filter(None, conditions))
    return f" WHERE {found}" if found else ""
