"""The columnar projection that SELECT reads: a table in Parquet for each type and each relation of the ontology.

It is brought up to the store's last change from the change log, row by row; tables of the past are made when they are
asked for.
"""

from __future__ import annotations

import logging
import shutil
import sqlite3
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

import duckdb

from graph.build_tables import build_relations, build_types
from graph.catch_up import Held, catch_up, is_too_much
from graph.manifest import (
    Manifest,
    TableFiles,
    is_whole,
    locked,
    read_manifest,
    remove_leftovers,
    write_manifest,
)
from graph.past_tables import is_sound, past_table
from graph.pivot import NAMES, open_duckdb
from graph.store import Store
from graph.table_files import scan_file, select, source, write_table
from graph.tables import Table, describe
from ontoloom.errors import ProjectionError, QueryError
from ontoloom.progress import OnProgress, Progress, silent

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Since:
    """What changed since a manifest was written, and the time of the last change."""

    time: str
    entities: set[str]
    triples: set[str]


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
        self._past: set[Path] = set()
        self._times: list[datetime] = []
        self._duckdb: duckdb.DuckDBPyConnection | None = None

    @property
    def tables(self) -> list[Table]:
        return list(self._tables.values())

    @property
    def change(self) -> int:
        """The change that the tables were last brought up to; 0 before the first refresh."""
        return self._manifest.change if self._manifest is not None else 0

    def source(self, table: Table, at: int | None = None) -> str:
        """SQL text of a FROM item with the stored columns of a table, as it is or as it was just after change ``at``.

        Holds until the next refresh but one. Raises QueryError where there is no such change.
        """
        manifest = self._manifest
        assert manifest is not None, "refresh first"
        if at is None or at == manifest.change:
            return source(self.folder, manifest.tables[table.key])
        if not 0 <= at < manifest.change:
            raise QueryError(f"there is no change {at}: the last one is {manifest.change}", code="no-change")
        time = self._time_of(at)
        try:
            path = past_table(self.folder / "past", self._store, table, at, time=time, in_use=self._past)
        except (OSError, duckdb.IOException) as error:
            self._fail(error)
        self._past.add(path)
        return scan_file(path)

    def change_at(self, time: datetime) -> int:
        """The last change at or before a time (UTC where it names no zone). Raises QueryError where there is none."""
        time = time if time.tzinfo else time.replace(tzinfo=UTC)
        times = self._change_times()
        if not times or time < times[0]:
            begin = f"the first change was at {times[0].isoformat()}" if times else "nothing was ever written"
            raise QueryError(f"the graph was empty at {time.isoformat()}: {begin}", code="no-change")
        return bisect_right(times, time)

    def refresh(self) -> int:
        """Brings the tables up to the store's last change and gives its number. Raises ProjectionError."""
        last = self._store.last_change()
        self._past.clear()
        if self._manifest is not None and self._manifest.change == last and self._is_current():
            return last
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with locked(self.folder):
                self._manifest = self._bring_up(last)
        except (OSError, duckdb.IOException, sqlite3.OperationalError) as error:
            self._fail(error)
        return last

    def repair(self) -> bool:
        """Makes anew the tables whose files are not what was written; says whether there were any.

        So it does where other processes have refreshed the tables so often that those read last are gone.
        """
        damaged_past = [path for path in self._past if not is_sound(path)]
        for path in damaged_past:
            path.unlink(missing_ok=True)
        found = read_manifest(self.folder)
        known = found.tables.items() if found is not None else ()
        whole = {key: files for key, files in known if is_whole(self.folder, files.all, thorough=True)}
        if found is not None and len(whole) == len(found.tables):
            if found == self._manifest:
                return bool(damaged_past)
        elif found is not None:
            write_manifest(self.folder, replace(found, tables=whole))
        self._manifest = None
        self.refresh()
        return True

    def _is_current(self) -> bool:
        manifest = self._manifest
        return manifest is not None and all(is_whole(self.folder, files.all) for files in manifest.tables.values())

    def _bring_up(self, last: int) -> Manifest:
        shutil.rmtree(self.folder / ".spill", ignore_errors=True)
        old = read_manifest(self.folder)
        since = self._since(old, last) if old is not None else None
        whole = self._whole(old) if old is not None and since is not None else {}
        if old is not None and since is not None and old.change == last and len(whole) == len(self._tables):
            return old
        remove_leftovers(self.folder, old)
        if since is not None and (since.entities or since.triples):
            whole = self._catch_up(whole, since)
        files = {**whole, **self._build(whole)}
        time = since.time if since is not None else self._time_of(last)
        manifest = Manifest(last, time, self._stamp, files)
        write_manifest(self.folder, manifest)
        return manifest

    def _whole(self, manifest: Manifest) -> dict[str, TableFiles]:
        """The tables of a manifest that can be read."""
        known = {key: files for key, files in manifest.tables.items() if key in self._tables}
        if manifest != self._manifest:  # whoever wrote it did not wait for small files to be on the disk
            known = {k: files for k, files in known.items() if is_whole(self.folder, files.small, thorough=True)}
        return {key: files for key, files in known.items() if is_whole(self.folder, files.all)}

    # What changed

    @property
    def _stamp(self) -> str:
        return f"{self._ontology.stamp} {self._ontology.hash}"

    def _since(self, manifest: Manifest, last: int) -> Since | None:
        """What changed since a manifest; None where it was made from another store or ontology, or where it is a lot.

        The store is known again by the time of the change that the manifest stands at, unless we wrote it ourselves.
        """
        if manifest.ontology != self._stamp or manifest.change > last:
            return None
        if manifest != self._manifest and self._time_of(manifest.change) != manifest.time:
            return None
        found = Since(manifest.time, set(), set())
        rows = sum(files.base.rows for files in manifest.tables.values())
        for change in self._store.changes(manifest.change):
            found = replace(found, time=change.time.isoformat())
            found.entities.update(change.entities)
            found.triples.update(change.triples)
            if is_too_much(len(found.entities) + len(found.triples), rows):
                return None
        return found

    def _time_of(self, change: int) -> str:
        """The time of a change; empty before the first."""
        return self._change_times()[change - 1].isoformat() if change else ""

    def _change_times(self) -> list[datetime]:
        """The time of each change, in order. Changes are numbered from 1 on."""
        if len(self._times) < self._store.last_change():
            self._times = [time for _, time in self._store.change_times()]
        return self._times

    # Writing

    def _connection(self) -> duckdb.DuckDBPyConnection:
        """A DuckDB to catch up with; kept, since to open one takes longer than to bring up a table."""
        if self._duckdb is None:
            self._duckdb = open_duckdb(self.folder / ".spill")
        return self._duckdb

    def _catch_up(self, files: Mapping[str, TableFiles], since: Since) -> dict[str, TableFiles]:
        self._on_progress(Progress("tables", 0, len(files), "rows that changed"))
        held = Held(self._connection(), self._store, self.folder, self._tables, files)
        try:
            found = catch_up(held, since.entities, since.triples)
        except (duckdb.Error, sqlite3.Error) as error:
            sound = {key: entry for key, entry in files.items() if is_whole(self.folder, entry.all, thorough=True)}
            if len(sound) == len(files):
                raise
            logger.warning("tables in %s are damaged and are made anew: %s", self.folder, error)
            return self._catch_up(sound, since)
        self._on_progress(Progress("tables", len(files), len(files)))
        return found

    def _build(self, whole: Mapping[str, TableFiles]) -> dict[str, TableFiles]:
        """The tables that are not there, or have to be made anew."""
        stale = [table for key, table in self._tables.items() if key not in whole]
        built: dict[str, TableFiles] = {}
        if not stale:
            return built
        with open_duckdb(self.folder / ".spill") as connection:

            def write(table: Table, rows: str) -> None:
                self._on_progress(Progress("tables", len(built), len(stale), table.key))
                built[table.key] = write_table(connection, self.folder, table, rows)

            build_types(connection, self._store, self._ontology, [t for t in stale if t.of == "type"], write)
            relations = [t for t in stale if t.of == "relation"]
            connection.execute(f"CREATE TABLE names ({NAMES})")
            for key, files in {**whole, **built}.items() if relations else ():
                if self._tables[key].of == "type":
                    connection.execute(f"INSERT INTO names {select(self.folder, files, '_id, name')}")
            build_relations(connection, self._store, self._ontology, relations, write)
        self._on_progress(Progress("tables", len(stale), len(stale)))
        return built

    def _fail(self, error: Exception) -> NoReturn:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error).splitlines()[0]
        message = f"the tables for SELECT cannot be written to {self.folder}: {reason}"
        raise ProjectionError(message, hint="make room or choose another folder") from error
