"""Where the rows of a base file lie, by id: a SQLite file, written once beside it and never changed.

A refresh that looks up a thousand ids finds them here in milliseconds; in the Parquet file it would read every id.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import duckdb

SCHEMA = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE rows (id TEXT PRIMARY KEY, place INTEGER NOT NULL, name TEXT, triples TEXT) WITHOUT ROWID;
CREATE TABLE owners (triple TEXT PRIMARY KEY, id TEXT NOT NULL) WITHOUT ROWID;
"""
"""``name`` and ``triples`` (ids of values, parted by blanks) are those of an entity; ``owners`` leads back to it."""


class Row(NamedTuple):
    """A row of a type's table: its number in the base file, the entity's name, and the ids of its values."""

    place: int | None
    name: str
    triples: list[str]


def write_index(connection: duckdb.DuckDBPyConnection, scan: str, path: Path, *, of_type: bool) -> None:
    """Writes the index of the base file that ``scan`` reads."""
    columns = "name, array_to_string(_triples, ' ')" if of_type else "NULL, NULL"
    with closing(sqlite3.connect(path, isolation_level=None)) as index:
        index.executescript(SCHEMA)
        index.execute("BEGIN")
        rows = f"SELECT _id, base.file_row_number, {columns} FROM {scan} AS base ORDER BY encode(_id)"
        for some in fetch(connection, rows):
            index.executemany("INSERT INTO rows VALUES (?, ?, ?, ?)", some)
        if of_type:
            owners = f"SELECT unnest(_triples) AS triple, _id FROM {scan} ORDER BY encode(triple)"
            for some in fetch(connection, owners):
                index.executemany("INSERT INTO owners VALUES (?, ?)", some)
        index.execute("COMMIT")


def fetch(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[list[tuple[object, ...]]]:
    found = connection.execute(query)
    while some := found.fetchmany(10_000):
        yield some


@contextmanager
def open_index(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as index:
        yield index


def find_places(path: Path, ids: Iterable[str]) -> set[int]:
    """The numbers of the rows with these ids."""
    with open_index(path) as index:
        found = (index.execute("SELECT place FROM rows WHERE id = ?", (i,)).fetchone() for i in ids)
        return {row[0] for row in found if row is not None}


def find_rows(path: Path, ids: Iterable[str]) -> dict[str, Row]:
    """The rows with these ids."""
    with open_index(path) as index:
        query = "SELECT place, name, triples FROM rows WHERE id = ?"
        found = ((i, index.execute(query, (i,)).fetchone()) for i in ids)
        return {i: Row(row[0], row[1], row[2].split()) for i, row in found if row is not None}


def find_owners(path: Path, triples: Iterable[str]) -> set[str]:
    """The entities that these triples are values of."""
    with open_index(path) as index:
        found = (index.execute("SELECT id FROM owners WHERE triple = ?", (t,)).fetchone() for t in triples)
        return {row[0] for row in found if row is not None}
