"""Published tables in files: a folder of Parquet files, or one DuckDB database. Written aside, then swapped in."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from graph.manifest import sync_folder
from graph.pivot import quoted, text
from graph.publish import PUBLICATION, Publication, PublishedTable, ReadTable
from ontoloom.errors import ProjectionError

SQL_TYPES = {
    "text": "VARCHAR", "bigint": "BIGINT", "double": "DOUBLE", "boolean": "BOOLEAN", "date": "DATE",
    "timestamp": "TIMESTAMP",
}  # fmt: skip


class ParquetTarget:
    """A folder with one Parquet file a table, and ``_publication.json``."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)

    @property
    def name(self) -> str:
        return str(self._folder)

    def write(self, tables: Sequence[PublishedTable], publication: Publication, read: ReadTable) -> list[str]:
        folder = self._folder
        with _aside(folder) as aside:
            _refuse_others(folder)
            aside.mkdir(parents=True)
            for table in tables:
                path = aside / f"{table.name}.parquet"
                with pq.ParquetWriter(path, table.schema, compression="zstd") as writer:
                    for batch in read(table):
                        writer.write_batch(batch)
                _sync(path)
            record = asdict(publication) | {"time": publication.time.isoformat(), "tables": [t.name for t in tables]}
            (aside / f"{PUBLICATION}.json").write_text(json.dumps(record, ensure_ascii=False, indent=1), "utf-8")
            _sync(aside / f"{PUBLICATION}.json")
            sync_folder(aside)
            _swap(aside, folder)
        return []


class DuckDBTarget:
    """A DuckDB database with keys and comments, and the table ``_publication``."""

    def __init__(self, file: str) -> None:
        self._file = Path(file)

    @property
    def name(self) -> str:
        return str(self._file)

    def write(self, tables: Sequence[PublishedTable], publication: Publication, read: ReadTable) -> list[str]:
        with _aside(self._file) as aside:
            _refuse_other_file(self._file)
            aside.parent.mkdir(parents=True, exist_ok=True)
            with duckdb.connect(str(aside), config={"autoinstall_known_extensions": False}) as connection:
                for table in tables:
                    connection.execute(create_statement(table))
                    for batch in read(table):
                        connection.register("batch", pa.Table.from_batches([batch]))
                        connection.execute(f"INSERT INTO {quoted(table.name)} FROM batch")
                    for statement in comments(table):
                        connection.execute(statement)
                row = pa.Table.from_pylist([asdict(publication)])
                connection.register("batch", row)
                connection.execute(f"CREATE TABLE {quoted(PUBLICATION)} AS FROM batch")
            _sync(aside)
            os.replace(aside, self._file)
            sync_folder(self._file.resolve().parent)
        return []


def create_statement(table: PublishedTable) -> str:
    parts = [f"{quoted(c.name)} {SQL_TYPES[c.type]}{'[]' * c.many}" for c in table.columns]
    parts += ["PRIMARY KEY (_id)"]
    parts += [f"FOREIGN KEY ({quoted(c)}) REFERENCES {quoted(to)} (_id)" for c, to in table.references]
    return f"CREATE TABLE {quoted(table.name)} ({', '.join(parts)})"


def comments(table: PublishedTable) -> Iterator[str]:
    if table.comment:
        yield f"COMMENT ON TABLE {quoted(table.name)} IS {text(table.comment)}"
    for column in table.columns:
        if column.comment:
            yield f"COMMENT ON COLUMN {quoted(table.name)}.{quoted(column.name)} IS {text(column.comment)}"


# Files


@contextmanager
def _aside(target: Path) -> Iterator[Path]:
    """A path beside the target to write to; nothing is left there afterwards."""
    aside = target.parent / f".{target.name}.{secrets.token_hex(4)}"
    try:
        yield aside
    except OSError as error:
        message = f"cannot publish to {target}: {error.strerror or error}"
        raise ProjectionError(message, hint="make room or choose another place") from error
    finally:
        if aside.is_dir():
            shutil.rmtree(aside, ignore_errors=True)
        for path in (aside, Path(f"{aside}.wal")):
            path.unlink(missing_ok=True)


def _refuse_others(folder: Path) -> None:
    """What was not published is not replaced."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise ProjectionError(f"{folder} is there already and is no folder", hint="choose another place")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / f"{PUBLICATION}.json").is_file():
        raise ProjectionError(f"{folder} holds other files, which would be lost", hint="name an empty or a new folder")


def _refuse_other_file(path: Path) -> None:
    if not path.exists():
        return
    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            known = connection.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = ?", [PUBLICATION]).fetchone()
    except duckdb.Error:
        known = None
    if known is None:
        message = f"{path} is there already and was not published from a graph"
        raise ProjectionError(message, hint="choose another place")


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


AT_CWD, EXCHANGE = -100, 2
"""Of Linux's renameat2(2): paths are relative to the working folder; the two change places."""


def _swap(fresh: Path, folder: Path) -> None:
    """Puts a folder in the place of another in one step; the other is then where the first one was."""
    if not folder.exists():
        os.replace(fresh, folder)
    else:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.renameat2(AT_CWD, os.fsencode(fresh), AT_CWD, os.fsencode(folder), EXCHANGE) != 0:
            code = ctypes.get_errno()
            hint = "; the file system cannot exchange folders" if code in (errno.EINVAL, errno.ENOSYS) else ""
            raise OSError(code, os.strerror(code) + hint)
    sync_folder(folder.resolve().parent)
