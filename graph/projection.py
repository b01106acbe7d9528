"""The columnar projection that SELECT reads: one Parquet file for each type and each relation of the ontology.

It is brought up to the store's last change from the change log: only tables that a change touches are written again.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import duckdb
import pyarrow as pa

from graph.manifest import (
    Manifest,
    TableFile,
    describe_file,
    is_whole,
    locked,
    new_name,
    read_manifest,
    remove_leftovers,
    sync_folder,
    write_manifest,
)
from graph.pivot import insert, stage_attribute, stage_relation, stage_type, staging, text, write_relation, write_type
from graph.store import Change, Store
from graph.tables import Table, describe
from ontology.schema import Relation
from ontoloom.errors import ProjectionError
from ontoloom.progress import OnProgress, Progress, silent

MANY = 50_000
"""With more changed entities and triples than this, all tables are written again without asking which."""


class ColumnarProjection:
    """Parquet tables of a store in a folder (``graph.tables`` has their columns). Not for several threads at once."""

    name = "columns"

    def __init__(self, store: Store, folder: Path, *, on_progress: OnProgress = silent) -> None:
        self._store = store
        self._ontology = store.ontology
        self.folder = folder.resolve()
        self._on_progress = on_progress
        self._tables = {t.key: t for t in describe(store.ontology)}
        self._manifest: Manifest | None = None

    @property
    def tables(self) -> list[Table]:
        return list(self._tables.values())

    def path(self, table: Table) -> str:
        """The file of a table, written so that DuckDB's ``read_parquet`` takes it for itself and not for a pattern."""
        assert self._manifest is not None, "refresh first"
        return pattern(self.folder / self._manifest.tables[table.key].name)

    def refresh(self) -> int:
        """Brings the tables up to the store's last change and gives its number. Raises ProjectionError."""
        last = self._store.last_change()
        if self._manifest is not None and self._manifest.change == last and self._is_current():
            return last
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with locked(self.folder):
                self._manifest = self._bring_up(last)
        except OSError as error:
            self._fail(error)
        return last

    def repair(self) -> bool:
        """Makes anew the tables whose files are not what was written; says whether there were any."""
        found = read_manifest(self.folder)
        if found is not None and all(is_whole(self.folder, entry, thorough=True) for entry in found.tables.values()):
            return False
        if found is not None:
            damaged = {k for k, entry in found.tables.items() if not is_whole(self.folder, entry, thorough=True)}
            kept = {k: entry for k, entry in found.tables.items() if k not in damaged}
            write_manifest(self.folder, replace(found, tables=kept))
        self._manifest = None
        self.refresh()
        return True

    def _is_current(self) -> bool:
        manifest = self._manifest
        return manifest is not None and all(is_whole(self.folder, entry) for entry in manifest.tables.values())

    def _bring_up(self, last: int) -> Manifest:
        shutil.rmtree(self.folder / ".spill", ignore_errors=True)
        old = read_manifest(self.folder)
        base = old if old is not None and self._fits(old, last) else None
        kept = {k: e for k, e in base.tables.items() if k in self._tables and is_whole(self.folder, e)} if base else {}
        stale = set(self._tables) - set(kept)
        if base is not None and base.change < last:
            stale |= self._touched(self._store.changes(base.change), kept)
        if base is not None and not stale and base.change == last:
            return base
        remove_leftovers(self.folder, old)
        written = self._write(stale, kept) if stale else {}
        manifest = Manifest(last, self._time_of(last), self._stamp, {**kept, **written})
        write_manifest(self.folder, manifest)
        return manifest

    @property
    def _stamp(self) -> str:
        return f"{self._ontology.stamp} {self._ontology.hash}"

    def _fits(self, manifest: Manifest, last: int) -> bool:
        """Whether a manifest was made from this store, under this ontology."""
        return (
            manifest.ontology == self._stamp
            and manifest.change <= last
            and self._time_of(manifest.change) == manifest.time
        )

    def _time_of(self, change: int) -> str:
        found = next(iter(self._store.changes(change - 1)), None) if change else None
        return found.time.isoformat() if found is not None and found.number == change else ""

    # What a change touches

    def _touched(self, changes: Iterable[Change], kept: dict[str, TableFile]) -> set[str]:
        entities: set[str] = set()
        triples: set[str] = set()
        for change in changes:
            entities.update(change.entities)
            triples.update(change.triples)
            if len(entities) + len(triples) > MANY:
                return set(self._tables)
        return self._touched_by_triples(triples, kept) | self._touched_by_entities(entities, kept)

    def _touched_by_triples(self, ids: set[str], kept: dict[str, TableFile]) -> set[str]:
        touched: set[str] = set()
        for batch in self._store.scan_triples(ids=sorted(ids)) if ids else ():
            for relation, subject_type, target in zip(
                *(batch.column(name).to_pylist() for name in ("relation", "subject_type", "object")), strict=True
            ):
                touched.add(f"type {subject_type}" if target is None else f"relation {relation}")
        return (touched | self._holding(ids, kept)) & set(self._tables)

    def _touched_by_entities(self, ids: set[str], kept: dict[str, TableFile]) -> set[str]:
        """The types of entities, and where a name changed the relations that may show it."""
        now = self._store.entities(sorted(ids)) if ids else {}
        touched = {f"type {entity.type}" for entity in now.values()}
        for key, entity_id, name in self._rows(ids, kept):
            touched.add(key)
            if entity_id not in now or now[entity_id].name != name:
                type_name = key.removeprefix("type ")
                touched |= {f"relation {r.name}" for r in self._ontology.relations.values() if type_name in ends(r)}
        return touched & set(self._tables)

    def _holding(self, ids: set[str], kept: dict[str, TableFile]) -> set[str]:
        """The tables that hold a triple now: for triples that are gone, all that tells where they were."""
        with lookup(ids) as connection:
            return {
                key
                for key, entry in kept.items()
                if connection.execute(
                    f"""SELECT 1 FROM read_parquet({text(pattern(self.folder / entry.name))})
                    WHERE {"_id IN (FROM wanted)" if key.startswith("relation ") else LISTED} LIMIT 1"""
                ).fetchone()
            }

    def _rows(self, ids: set[str], kept: dict[str, TableFile]) -> list[tuple[str, str, str]]:
        """Table, id and name of the entities as the tables hold them."""
        with lookup(ids) as connection:
            return [
                (key, *row)
                for key, entry in kept.items()
                if key.startswith("type ")
                for row in connection.execute(
                    f"""SELECT _id, name FROM read_parquet({text(pattern(self.folder / entry.name))})
                    WHERE _id IN (FROM wanted)"""
                ).fetchall()
            ]

    # Writing

    def _write(self, stale: set[str], kept: dict[str, TableFile]) -> dict[str, TableFile]:
        written: dict[str, TableFile] = {}
        types = [t for t in self._ontology.types.values() if f"type {t.name}" in stale]
        relations = [r for r in self._ontology.relations.values() if f"relation {r.name}" in stale]
        with staging(self.folder / ".spill") as connection:
            for entity_type in types:
                stage_type(connection, self._store, entity_type.name)
            for name in sorted({name for t in types for name in t.attributes}):
                stage_attribute(connection, self._store, name)
            for entity_type in types:
                table, path = self._begin(f"type {entity_type.name}", len(written), len(stale))
                rows = write_type(connection, entity_type, table, path)
                written[table.key] = describe_file(path, rows=rows)
            connection.execute("DROP TABLE said; DROP TABLE entities")
            for relation in relations:
                table, path = self._begin(f"relation {relation.name}", len(written), len(stale))
                stage_relation(connection, self._store, relation)
                files = {**kept, **written}
                names = [pattern(self.folder / files[f"type {t}"].name) for t in sorted(ends(relation))]
                rows = write_relation(connection, relation, table, names, path)
                written[table.key] = describe_file(path, rows=rows)
        sync_folder(self.folder)
        self._on_progress(Progress("tables", len(stale), len(stale)))
        return written

    def _begin(self, key: str, done: int, total: int) -> tuple[Table, Path]:
        self._on_progress(Progress("tables", done, total, key))
        return self._tables[key], self.folder / new_name(key)

    def _fail(self, error: OSError) -> NoReturn:
        message = f"the tables for SELECT cannot be written to {self.folder}: {error.strerror or error}"
        raise ProjectionError(message, hint="make room or choose another folder") from error


LISTED = "list_has_any(_triples, (SELECT list(id) FROM wanted))"


def ends(relation: Relation) -> set[str]:
    """The types of which a relation's table shows names."""
    targets = {t for a in relation.attributes.values() for t in a.targets}
    return {*relation.domain, *relation.range, *targets}


@contextmanager
def lookup(ids: set[str]) -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB with the table ``wanted`` of ids."""
    connection = duckdb.connect(":memory:")
    try:
        connection.execute("CREATE TABLE wanted (id VARCHAR)")
        insert(connection, "INSERT INTO wanted FROM batch", pa.table({"id": pa.array(sorted(ids), pa.string())}))
        yield connection
    finally:
        connection.close()


def pattern(path: Path) -> str:
    """A path for DuckDB, which takes ``*``, ``?`` and ``[`` for a pattern."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(path))
