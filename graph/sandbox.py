"""A DuckDB that can read the Parquet files of one folder and nothing else: no network, no settings, no other file.

The guard refuses what is not harmless before anything comes here; this is the second wall.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import duckdb
import pyarrow as pa

MEMORY = "1GB"


@lru_cache(maxsize=8)
def open_sandbox(folder: Path) -> duckdb.DuckDBPyConnection:
    """The sandbox of a folder; kept, since opening one takes longer than most statements. Use cursors of it."""
    settings: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": MEMORY,
        "threads": min(8, os.cpu_count() or 1),
        "temp_directory": "",
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "python_enable_replacements": False,
    }
    connection = duckdb.connect(":memory:", config=settings)
    allowed = str(folder).replace("'", "''")
    connection.execute(f"SET allowed_directories = ['{allowed}/']")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def run(folder: Path, sql: str, *, timeout: float) -> pa.Table:
    """All rows of a statement. Raises duckdb.Error; duckdb.InterruptException after ``timeout`` seconds."""
    with interrupted_after(open_sandbox(folder).cursor(), timeout) as cursor:
        table: pa.Table = cursor.sql(sql).to_arrow_table()
    return table


@contextmanager
def interrupted_after(cursor: duckdb.DuckDBPyConnection, seconds: float) -> Iterator[duckdb.DuckDBPyConnection]:
    """Interrupts what runs on the cursor when the time is up.

    It does so again and again until it ends: an interrupt that comes before a statement has begun is lost.
    """
    ended = threading.Event()

    def watch() -> None:
        wait = seconds
        while not ended.wait(wait):
            cursor.interrupt()
            wait = 0.05

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield cursor
    finally:
        ended.set()
        watcher.join()
        cursor.close()
