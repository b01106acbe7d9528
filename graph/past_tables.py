"""Tables of the graph as it was after a change, one Parquet file each, kept for when they are asked for again.

The past does not change, so that a file holds for good: its name says what it was made from, and its content's hash.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Set
from pathlib import Path

from graph.as_of import Past
from graph.build_tables import build_relations, build_types
from graph.manifest import describe_file, locked, sync_folder
from graph.pivot import ORDER, copy, open_duckdb
from graph.store import Store
from graph.tables import Table
from ontoloom.names import hash_id

FORMAT = 1
KEPT = 32
"""How many tables of the past are kept: those that were asked for last."""


def past_table(folder: Path, store: Store, table: Table, at: int, *, time: str, in_use: Set[Path]) -> Path:
    """The file of a table as it was just after change ``at``, made unless there is one.

    ``time`` is that of the change, by which the store is known again. Files ``in_use`` are kept, however many.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made_from = hash_id(str(FORMAT), store.ontology.stamp, store.ontology.hash, table.key, str(at), time)
    with locked(folder):
        path = next(folder.glob(f"{made_from}-*.parquet"), None) or make(folder, store, table, at, made_from)
        os.utime(path)
        remove_oldest(folder, in_use | {path})
    return path


def make(folder: Path, store: Store, table: Table, at: int, name: str) -> Path:
    temporary = folder / f"{name}.{secrets.token_hex(4)}.tmp"
    with open_duckdb(folder / ".spill") as connection:
        past = Past(connection, store, table, at)

        def write(table: Table, rows: str) -> None:
            copy(connection, f"FROM ({rows}) ORDER BY {ORDER[table.of]}", temporary)

        if table.of == "type":
            build_types(connection, past, store.ontology, [table], write)
        else:
            connection.execute("CREATE VIEW names AS SELECT id, name FROM entities_then")
            build_relations(connection, past, store.ontology, [table], write)
    path = folder / f"{name}-{describe_file(temporary, rows=0).hash}.parquet"
    temporary.rename(path)
    sync_folder(folder)
    return path


def is_sound(path: Path) -> bool:
    """Whether a file holds what was written."""
    try:
        return path.stem.rpartition("-")[2] == describe_file(path, rows=0, synced=False).hash
    except OSError:
        return False


def remove_oldest(folder: Path, in_use: Set[Path]) -> None:
    """Removes the tables that were not asked for longest, and what makers that died have left behind."""
    for leftover in folder.glob("*.tmp"):
        leftover.unlink()
    tables = sorted(folder.glob("*.parquet"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    for path in tables[KEPT:]:
        if path not in in_use:
            path.unlink()
