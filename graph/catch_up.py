"""Brings the tables of a columnar projection up to changes of the store: only rows that a change touches are made anew.

A row of a type is made anew where its entity or one of its values changed; a row of a relation where its triple
changed, or where an entity that it names is called otherwise. An id has one type, or one relation, for good.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from graph.manifest import TableFiles
from graph.pivot import VALUE, links, quoted, reading, relation_rows, type_rows
from graph.row_index import Row, find_owners, find_places, find_rows
from graph.store import ENTITY_COLUMNS, TRIPLE_COLUMNS, Store
from graph.table_files import Renewal, read_places, renew, scan, select
from graph.tables import Table
from ontology.schema import Relation

FEW, MANY = 1_000, 100_000
"""Fewer touched rows than the one are always made anew row by row, more than the other never: they lie in memory."""
AT_ONCE = 2
"""Tables that are written at a time: a small one keeps one core busy."""


@dataclass(frozen=True, slots=True)
class Held:
    """The tables as they are, by key, and what they are read and brought up with."""

    connection: duckdb.DuckDBPyConnection
    store: Store
    folder: Path
    tables: Mapping[str, Table]
    files: Mapping[str, TableFiles]

    def types(self) -> list[Table]:
        return [self.tables[key] for key in self.files if self.tables[key].of == "type"]

    def relations(self) -> list[Table]:
        return [self.tables[key] for key in self.files if self.tables[key].of == "relation"]

    def index(self, table: Table) -> Path:
        return self.folder / self.files[table.key].index.name

    def triples(self, ids: Collection[str]) -> pa.Table:
        """Those that the store has."""
        batches = list(self.store.scan_triples(ids=sorted(ids))) if ids else []
        return pa.Table.from_batches(batches, TRIPLE_COLUMNS)

    def entities(self, ids: Collection[str]) -> pa.Table:
        """Those that the store has."""
        batches = list(self.store.scan_entities(ids=sorted(ids))) if ids else []
        return pa.Table.from_batches(batches, ENTITY_COLUMNS)


@dataclass(frozen=True, slots=True)
class Work:
    """One table to be renewed: the query for its new rows, and the links that it reads."""

    renewal: Renewal
    rows: str
    links: pa.Table | None = None


@dataclass(slots=True)
class Before:
    """Rows of a type's table as it is, by id of the entity, and the rows of its base that are gone without them."""

    rows: dict[str, Row] = field(default_factory=dict)
    places: set[int] = field(default_factory=set)


def catch_up(held: Held, entities: Collection[str], triples: Collection[str]) -> dict[str, TableFiles]:
    """The files of the tables once entities and triples have changed; tables that should be made anew are left out."""
    stored = held.triples(triples)
    lost = set(triples).difference(strings(stored["id"]))
    literal = stored.filter(pc.is_null(stored["object"]))
    shown = {*entities, *strings(literal["subject"]), *owners(held, lost)}
    now = held.entities(shown)
    before = {table.key: rows_before(held, table, shown, now) for table in held.types()}
    values = {triple for found in before.values() for row in found.rows.values() for triple in row.triples}
    showing = links_showing(held, renamed(before, now))
    many = {key for key, links in showing.items() if is_too_much(len(links), held.files[key].base.rows)}
    held = replace(held, files={key: files for key, files in held.files.items() if key not in many})
    more = values.union(*(links for key, links in showing.items() if key not in many))
    stored = pa.concat_tables([stored, held.triples(more.difference(triples))])
    work = [*type_work(held, before, now), *relation_work(held, lost, stored)]
    ids = pa.table({"id": pa.array({*shown, *lost, *strings(stored["id"])}, pa.string())})
    gone = [(one.renewal.table.key, place) for one in work for place in one.renewal.places]
    keys, places = pa.array([key for key, _ in gone], pa.string()), pa.array([place for _, place in gone], pa.int64())
    struck = pa.table({"key": keys, "place": places})
    said = stored.filter(pc.is_null(stored["object"])).select(VALUE)
    names = names_shown(held, now, work)
    with tables(held.connection, entities=now, said=said, names=names, renewed=ids, gone=struck):
        return {**held.files, **write(held, work)}


@contextmanager
def tables(connection: duckdb.DuckDBPyConnection, **rows: pa.Table) -> Iterator[None]:
    """Tables that all connections to the database can read; each reads them in half the time of Arrow tables."""
    for name, table in rows.items():
        with reading(connection, batch=table):
            connection.execute(f"CREATE OR REPLACE TABLE {name} AS FROM batch")
    try:
        yield
    finally:
        for name in rows:
            connection.execute(f"DROP TABLE {name}")


def is_too_much(touched: int, rows: int) -> bool:
    """Whether a table of so many rows is sooner made anew as a whole."""
    return touched > min(MANY, max(FEW, rows // 4))


def write(held: Held, work: Sequence[Work]) -> dict[str, TableFiles]:
    """The new files of tables."""

    def write_one(one: Work, connection: duckdb.DuckDBPyConnection) -> TableFiles:
        with connection, reading(connection, **({} if one.links is None else {"links": one.links})):
            return renew(connection, held.folder, one.renewal, one.rows)

    connections = [held.connection.cursor() for _ in work]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        written = list(pool.map(write_one, work, connections))
    return {one.renewal.table.key: files for one, files in zip(work, written, strict=True)}


# Types


def owners(held: Held, lost: Collection[str]) -> Iterator[str]:
    """The entities that have these triples as values, as the tables are."""
    if not lost:
        return
    wanted = pa.table({"id": pa.array(lost, pa.string())})
    for table in held.types():
        yield from find_owners(held.index(table), lost)
        delta = held.files[table.key].delta
        if delta is not None:
            with reading(held.connection, wanted=wanted):
                values = f"SELECT _id, unnest(_triples) AS triple FROM {scan(held.folder, delta)}"
                query = f"SELECT DISTINCT _id FROM ({values}) SEMI JOIN wanted ON wanted.id = triple"
                yield from (row[0] for row in held.connection.execute(query).fetchall())


def rows_before(held: Held, table: Table, shown: Collection[str], now: pa.Table) -> Before:
    """The rows that a type's table has of the entities shown."""
    types = dict(zip(strings(now["id"]), strings(now["type"]), strict=True))
    ids = [i for i in shown if types.get(i, table.name) == table.name]  # nothing tells the type of what is gone
    if not ids:
        return Before()
    files = held.files[table.key]
    indexed = find_rows(held.index(table), ids)
    gone = read_places(held.connection, held.folder, files)
    rows = {i: row for i, row in indexed.items() if row.place not in gone}
    if files.delta is not None:
        with reading(held.connection, wanted=pa.table({"id": pa.array(ids, pa.string())})):
            delta = f"{scan(held.folder, files.delta)} AS delta SEMI JOIN wanted ON wanted.id = delta._id"
            found = held.connection.execute(f"SELECT _id, NULL, name, _triples FROM {delta}").fetchall()
        rows |= {i: Row(*row) for i, *row in found}
    return Before(rows, gone | {row.place for row in indexed.values() if row.place is not None})


def type_work(held: Held, before: Mapping[str, Before], now: pa.Table) -> Iterator[Work]:
    for table in held.types():
        found = before[table.key]
        fresh = now.filter(pc.equal(now["type"], pa.scalar(table.name))).num_rows
        if fresh or found.rows:
            renewal = Renewal(table, held.files[table.key], found.places, fresh)
            yield Work(renewal, type_rows(held.store.ontology.types[table.name], table))


# Relations


def renamed(before: Mapping[str, Before], now: pa.Table) -> dict[str, str]:
    """The entities that the tables call otherwise than they are called now, with what they call them."""
    names = dict(zip(strings(now["id"]), strings(now["name"]), strict=True))
    known = ((i, row.name) for found in before.values() for i, row in found.rows.items())
    return {i: name for i, name in known if names.get(i, name) != name}


def links_showing(held: Held, entities: Mapping[str, str]) -> dict[str, set[str]]:
    """The triples whose rows show one of these names, by table. Of a reference, a row holds the name alone."""
    found: dict[str, set[str]] = {}
    if not entities:
        return found
    wanted = pa.table({"id": list(entities), "name": list(entities.values())})
    for table in held.relations():
        relation = held.store.ontology.relations[table.name]
        references = {name: relation.attributes[name].many for name in reference_names(relation)}
        ids, names = "(SELECT id FROM wanted)", "(SELECT list(name) FROM wanted)"
        conditions = [f"_subject_id IN {ids}", f"_object_id IN {ids}"]
        for name, many in references.items():
            conditions.append(f"list_has_any({quoted(name) if many else f'[{quoted(name)}]'}, {names})")
        columns = ", ".join(["_id", "_subject_id", "_object_id", *map(quoted, references)])
        rows = select(held.folder, held.files[table.key], columns)
        with reading(held.connection, wanted=wanted):
            query = f"SELECT _id FROM ({rows}) WHERE {' OR '.join(conditions)}"
            found[table.key] = {row[0] for row in held.connection.execute(query).fetchall()}
    return found


def reference_names(relation: Relation) -> list[str]:
    return [a.name for a in relation.attributes.values() if a.type == "reference"]


def relation_work(held: Held, lost: Collection[str], stored: pa.Table) -> Iterator[Work]:
    for table in held.relations():
        relation, files = held.store.ontology.relations[table.name], held.files[table.key]
        rows = links(relation, stored)
        ids = {*strings(rows["id"]), *lost}
        places = find_places(held.index(table), ids)
        if rows.num_rows or places or (ids and files.delta is not None):
            gone = places | read_places(held.connection, held.folder, files)
            yield Work(Renewal(table, files, gone, rows.num_rows), relation_rows(relation, table), rows)


def names_shown(held: Held, now: pa.Table, work: Iterable[Work]) -> pa.Table:
    """The names of the entities that links show, those of types that have a table."""
    known = zip(*(strings(now[column]) for column in ("id", "type", "name")), strict=True)
    names = {i: name for i, type_name, name in known if type_name in held.store.ontology.types}
    ids: set[str] = set()
    for table, rows in ((one.renewal.table, one.links) for one in work if one.links is not None):
        references = reference_names(held.store.ontology.relations[table.name])
        for column in (rows[name] for name in ("subject", "object", *references)):
            ids.update(strings(pc.list_flatten(column) if pa.types.is_list(column.type) else column))
    missing = sorted(ids - names.keys())
    entities = held.store.entities(missing) if missing else {}
    names |= {i: entity.name for i, entity in entities.items() if entity.type in held.store.ontology.types}
    return pa.table({"id": pa.array(names.keys(), pa.string()), "name": pa.array(names.values(), pa.string())})


def strings(column: pa.ChunkedArray[Any] | pa.Array[Any]) -> list[str]:
    """The texts of a column, without nulls."""
    return [str(value) for value in column.drop_null().to_pylist()]
