"""What a vector index stands at: chunks, views, cached vectors and its manifest, in one SQLite file.

A commit of this file is what swaps one state of the index for the next: the file of base vectors that the manifest
names is complete before the commit and never changed afterwards.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ontoloom.errors import ProjectionError
from ontoloom.protocols import Vectors
from ontoloom.records import Chunk
from retrieval.nearest import REBUILD, Ids

SCHEMA = """
CREATE TABLE manifest (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE chunk (id INTEGER PRIMARY KEY, triple TEXT NOT NULL UNIQUE, text TEXT NOT NULL, ids BLOB NOT NULL,
                    key BLOB NOT NULL, in_base INTEGER NOT NULL DEFAULT 0);
CREATE INDEX chunk_delta ON chunk (id) WHERE in_base = 0;
CREATE TABLE view (chunk INTEGER NOT NULL, document TEXT NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL,
                   text TEXT NOT NULL, key BLOB NOT NULL, PRIMARY KEY (chunk, document, start, end)) WITHOUT ROWID;
CREATE TABLE mention (entity TEXT NOT NULL, chunk INTEGER NOT NULL, PRIMARY KEY (entity, chunk)) WITHOUT ROWID;
CREATE INDEX mention_chunk ON mention (chunk);
CREATE TABLE name (entity TEXT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE vector (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE dead (id INTEGER PRIMARY KEY);
"""
BATCH = 500
"""Values bound to one statement, and rows read at once."""


@dataclass(frozen=True, slots=True)
class View:
    """A piece of evidence of a chunk: its span, and the sentence around it as one line of words."""

    document: str
    start: int
    end: int
    text: str
    key: bytes


@dataclass(frozen=True, slots=True)
class Row:
    """All that is kept of one triple. ``key`` is the hash of what was embedded; ``names`` are those that it says."""

    id: int
    chunk: Chunk
    key: bytes
    views: tuple[View, ...]
    names: Mapping[str, str]


class Ledger:
    """An open ledger. Raises ProjectionError where the file is not one of ours."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection = sqlite3.connect(path, isolation_level=None, timeout=30, check_same_thread=False)
        try:
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=FULL")  # the base that a lost commit names may be gone
            with self.writing():
                if not self._connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
                    for statement in SCHEMA.split(";"):
                        self._connection.execute(statement)
            self.manifest()
        except sqlite3.DatabaseError as error:
            self._connection.close()
            raise ProjectionError(f"{path}: not an index that can be read: {error}", hint=REBUILD) from error

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction: all that happens within is kept, or on an error nothing."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """All that is read within belongs to one state, whatever others commit meanwhile."""
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.execute("COMMIT")

    def version(self) -> int:
        """A number that differs once another connection has committed."""
        outside: int = self._connection.execute("PRAGMA data_version").fetchone()[0]
        return outside

    # The manifest

    def manifest(self) -> dict[str, str]:
        return dict(self._connection.execute("SELECT key, value FROM manifest"))

    def set_manifest(self, **values: str) -> None:
        self._connection.executemany("INSERT OR REPLACE INTO manifest VALUES (?, ?)", values.items())

    # Chunks

    def put(self, row: Row) -> None:
        """Adds or replaces a row. Raises ProjectionError where another triple has the same 63-bit id."""
        chunk = row.chunk
        old = self._connection.execute("SELECT triple, key, in_base FROM chunk WHERE id = ?", (row.id,)).fetchone()
        if old and old[0] != chunk.triple:
            raise ProjectionError(f"triples {old[0]} and {chunk.triple} share the number {row.id} in the vector index")
        in_base = bool(old and old[2] and old[1] == row.key)
        if old and old[2] and not in_base:
            self._connection.execute("INSERT OR IGNORE INTO dead VALUES (?)", (row.id,))
        ids = np.asarray(chunk.ids, dtype=np.int32).tobytes()
        self._forget(row.id)
        self._connection.execute(
            "INSERT INTO chunk VALUES (?, ?, ?, ?, ?, ?)", (row.id, chunk.triple, chunk.text, ids, row.key, in_base)
        )
        views = [(row.id, v.document, v.start, v.end, v.text, v.key) for v in row.views]
        self._connection.executemany("INSERT INTO view VALUES (?, ?, ?, ?, ?, ?)", views)
        self._connection.executemany("INSERT INTO mention VALUES (?, ?)", [(entity, row.id) for entity in row.names])
        self._connection.executemany("INSERT OR REPLACE INTO name VALUES (?, ?)", row.names.items())

    def remove(self, number: int) -> None:
        """Removes a chunk, if it is there; its vector in the base is dead from now on."""
        self._connection.execute(
            "INSERT OR IGNORE INTO dead SELECT id FROM chunk WHERE id = ? AND in_base = 1", (number,)
        )
        self._forget(number)

    def _forget(self, number: int) -> None:
        for statement in ("chunk WHERE id", "view WHERE chunk", "mention WHERE chunk"):
            self._connection.execute(f"DELETE FROM {statement} = ?", (number,))

    def numbers(self) -> Iterator[int]:
        """The ids of all chunks."""
        return (number for (number,) in self._connection.execute("SELECT id FROM chunk ORDER BY id").fetchall())

    def live(self) -> set[tuple[int, str]]:
        """(id, hash of what was embedded) of every chunk: two indexes are equal when these are."""
        return {(number, key.hex()) for number, key in self._connection.execute("SELECT id, key FROM chunk")}

    def chunks(self, numbers: Sequence[int]) -> dict[int, Chunk]:
        found = self._select("SELECT id, triple, text, ids FROM chunk WHERE id IN", numbers)
        return {n: Chunk(triple, text, tuple(np.frombuffer(ids, np.int32).tolist())) for n, triple, text, ids in found}

    def triples(self, numbers: Sequence[int]) -> dict[int, str]:
        """Triple ids by number."""
        return dict(self._select("SELECT id, triple FROM chunk WHERE id IN", numbers))

    def views(self, numbers: Sequence[int]) -> dict[int, list[View]]:
        """Evidence by chunk, in the order of documents and spans."""
        found: dict[int, list[View]] = {}
        query = "SELECT chunk, document, start, end, text, key FROM view WHERE chunk IN"
        for number, *rest in sorted(self._select(query, numbers)):
            found.setdefault(number, []).append(View(*rest))
        return found

    def keys(self, numbers: Sequence[int]) -> dict[int, bytes]:
        return dict(self._select("SELECT id, key FROM chunk WHERE id IN", numbers))

    # Names, so that a renamed entity's chunks are written anew

    def names(self, entities: Sequence[str]) -> dict[str, str]:
        """The name with which chunks mention an entity."""
        return dict(self._select("SELECT entity, name FROM name WHERE entity IN", entities))

    def mentioning(self, entities: Sequence[str]) -> set[str]:
        """Triples whose chunks name one of the entities."""
        query = "SELECT triple FROM mention JOIN chunk ON chunk.id = mention.chunk WHERE entity IN"
        return {triple for (triple,) in self._select(query, entities)}

    # Vectors by what was embedded

    def unknown(self, keys: Iterable[bytes]) -> list[bytes]:
        """Those keys that no vector is kept for."""
        wanted = list(dict.fromkeys(keys))
        known = {key for (key,) in self._select("SELECT key FROM vector WHERE key IN", wanted)}
        return [key for key in wanted if key not in known]

    def keep(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        rows = [(key, vector.tobytes()) for key, vector in zip(keys, vectors, strict=True)]
        self._connection.execute("SAVEPOINT keep")  # within a transaction or on its own: one commit, not one a row
        self._connection.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?)", rows)
        self._connection.execute("RELEASE keep")

    def vectors(self, keys: Sequence[bytes]) -> dict[bytes, Vectors]:
        """Vectors (each of the embedder's dimension) by key."""
        found = self._select("SELECT key, vector FROM vector WHERE key IN", list(dict.fromkeys(keys)))
        return {key: np.frombuffer(vector, np.float32) for key, vector in found}

    def stored(self, *, delta: bool, dimension: int) -> Iterator[tuple[Ids, Vectors]]:
        """Ids and vectors in batches, sorted by id: of all chunks, or of those that are not in the base."""
        condition = "WHERE in_base = 0" if delta else ""
        cursor = self._connection.execute(
            f"SELECT chunk.id, vector FROM chunk JOIN vector USING (key) {condition} ORDER BY chunk.id"
        )
        while rows := cursor.fetchmany(BATCH):
            vectors = np.frombuffer(b"".join(vector for _, vector in rows), np.float32)
            yield np.array([number for number, _ in rows], np.int64), vectors.reshape(len(rows), dimension)

    # Base, delta and the dead

    def sizes(self) -> tuple[int, int, int]:
        """How many vectors the base holds, how many of them are dead, and how many chunks wait in the delta."""
        in_base, delta = self._connection.execute("SELECT total(in_base), total(1 - in_base) FROM chunk").fetchone()
        (dead,) = self._connection.execute("SELECT count(*) FROM dead").fetchone()
        return int(in_base) + dead, dead, int(delta)

    def dead(self) -> Ids:
        return np.array([n for (n,) in self._connection.execute("SELECT id FROM dead ORDER BY id")], np.int64)

    def rebase(self, base: str) -> None:
        """All chunks are in the new base; what no chunk needs any more is dropped."""
        self._connection.execute("UPDATE chunk SET in_base = 1 WHERE in_base = 0")
        self._connection.execute("DELETE FROM dead")
        self._connection.execute(
            "DELETE FROM vector WHERE key NOT IN (SELECT key FROM chunk UNION SELECT key FROM view)"
        )
        self._connection.execute("DELETE FROM name WHERE entity NOT IN (SELECT entity FROM mention)")
        self.set_manifest(base=base)

    def clear(self) -> None:
        """Forgets all but the vectors, which are kept by what was embedded and by which model."""
        for table in ("manifest", "chunk", "view", "mention", "name", "dead"):
            self._connection.execute(f"DELETE FROM {table}")

    def _select(self, query: str, values: Sequence[int] | Sequence[str] | Sequence[bytes]) -> Iterator[tuple[Any, ...]]:
        for start in range(0, len(values), BATCH):
            batch = values[start : start + BATCH]
            yield from self._connection.execute(f"{query} ({','.join('?' * len(batch))})", batch).fetchall()
