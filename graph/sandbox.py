"""A DuckDB that can read the Parquet files of one folder and nothing else: no network, no settings, no other file.

The guard refuses what is not harmless before anything comes here; this is the second wall.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from time import monotonic
from types import MappingProxyType

import duckdb
import pyarrow as pa

MEMORY = "1 GB"
STEP = 0.05
"""Seconds between two looks at whether a statement is to be interrupted."""
NOTHING: Mapping[str, pa.Table] = MappingProxyType({})


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


def run(
    folder: Path,
    sql: str,
    *,
    timeout: float,
    given: Mapping[str, pa.Table] = NOTHING,
    cancelled: threading.Event | None = None,
) -> pa.Table:
    """All rows of a statement, which may read the tables that are ``given`` by name too.

    Raises duckdb.Error; duckdb.InterruptException after ``timeout`` seconds, and once ``cancelled`` is set.
    """
    with interrupted_after(open_sandbox(folder).cursor(), timeout, cancelled) as cursor:
        for name, rows in given.items():
            cursor.register(name, rows)
        table: pa.Table = cursor.sql(sql).to_arrow_table()
    return table


@contextmanager
def interrupted_after(
    cursor: duckdb.DuckDBPyConnection, seconds: float, cancelled: threading.Event | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Interrupts what runs on the cursor when the time is up, or soon after ``cancelled`` is set.

    It does so again and again until it ends: an interrupt that comes before a statement has begun is lost.
    """
    ended = threading.Event()
    end = monotonic() + seconds

    def watch() -> None:
        wait = seconds if cancelled is None else min(seconds, STEP)
        while not ended.wait(wait):
            if monotonic() >= end or (cancelled is not None and cancelled.is_set()):
                cursor.interrupt()
                wait = STEP
            else:
                wait = max(0.0, min(end - monotonic(), STEP))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield cursor
    finally:
        ended.set()
        watcher.join()
        cursor.close()
