"""The files of one table of a columnar projection: written, read as one table, and replaced row by row.

A row that is replaced or gone is struck out by its number in the base; new rows lie in the delta. Both files are small
and written again at each refresh; once they exceed a share of the base, all rows go into a new base.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import duckdb

from graph.manifest import TableFile, TableFiles, describe_file, new_name
from graph.pivot import ORDER, copy, text
from graph.row_index import write_index
from graph.tables import Table

SHARE = 0.05
"""The share of the base that its gone rows and those of the delta may come to, before all is written anew."""


def source(folder: Path, files: TableFiles) -> str:
    """SQL text of a FROM item: all rows of a table."""
    if files.delta is None and files.gone is None:
        return scan(folder, files.base)
    return f"({select(folder, files)})"


def select(folder: Path, files: TableFiles, columns: str = "*") -> str:
    """A query for columns of all rows."""
    query = f"SELECT {columns} FROM {scan(folder, files.base)} AS base"
    if files.gone is not None:
        query += f" ANTI JOIN {scan(folder, files.gone)} AS gone ON gone._place = base.file_row_number"
    if files.delta is not None:
        query += f" UNION ALL SELECT {columns} FROM {scan(folder, files.delta)} AS delta"
    return query


def scan(folder: Path, file: TableFile) -> str:
    return scan_file(folder / file.name)


def scan_file(path: Path) -> str:
    """A file as DuckDB reads it; it takes ``*``, ``?`` and ``[`` for a pattern."""
    escaped = "".join(f"[{c}]" if c in "*?[" else c for c in str(path))
    return f"read_parquet({text(escaped)})"


def write_table(connection: duckdb.DuckDBPyConnection, folder: Path, table: Table, rows: str) -> TableFiles:
    """Writes the rows of a query as a table."""
    base = write(connection, folder, table, f"FROM ({rows}) ORDER BY {ORDER[table.of]}")
    path = folder / new_name(table.key, "sqlite")
    write_index(connection, scan(folder, base), path, of_type=table.of == "type")
    return TableFiles(base, describe_file(path, rows=base.rows))


@dataclass(frozen=True, slots=True)
class Renewal:
    """What becomes of a table: rows go, and ``fresh`` rows at most come.

    ``places`` are the numbers of the rows in the base that are gone then, those that were gone before included.
    """

    table: Table
    files: TableFiles
    places: Collection[int]
    fresh: int

    @property
    def is_due(self) -> bool:
        """Whether so much has changed that all rows should go into a new base."""
        held = self.files.delta.rows if self.files.delta is not None else 0
        return self.fresh + len(self.places) + held > self.files.base.rows * SHARE


def renew(connection: duckdb.DuckDBPyConnection, folder: Path, renewal: Renewal, rows: str) -> TableFiles:
    """Writes what becomes of a table once the rows of a query come.

    The table ``renewed`` holds the ids of rows that go, ``gone`` the places in the base by the table's key.
    """
    files, table = renewal.files, renewal.table
    gone = f"(SELECT place AS _place FROM gone WHERE key = {text(table.key)})"
    query = f"FROM ({rows})"
    if files.delta is not None:
        query += f" UNION ALL FROM {scan(folder, files.delta)} AS delta ANTI JOIN renewed ON renewed.id = delta._id"
    if renewal.is_due:
        left = f"FROM {scan(folder, files.base)} AS base ANTI JOIN {gone} AS gone ON gone._place = base.file_row_number"
        return write_table(connection, folder, table, f"{query} UNION ALL {left}")
    delta = write(connection, folder, table, query, synced=False)
    struck = write(connection, folder, table, f"FROM {gone} ORDER BY _place", synced=False) if renewal.places else None
    return TableFiles(files.base, files.index, delta if delta.rows else None, struck)


def write(
    connection: duckdb.DuckDBPyConnection, folder: Path, table: Table, rows: str, *, synced: bool = True
) -> TableFile:
    path = folder / new_name(table.key, "parquet")
    return describe_file(path, rows=copy(connection, rows, path), synced=synced)


def read_places(connection: duckdb.DuckDBPyConnection, folder: Path, files: TableFiles) -> set[int]:
    """The numbers of the rows of the base that are gone."""
    if files.gone is None:
        return set()
    return {row[0] for row in connection.execute(f"FROM {scan(folder, files.gone)}").fetchall()}
