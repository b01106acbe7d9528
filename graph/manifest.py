"""The folder of a columnar projection: Parquet files, and a manifest that says which of them are the tables.

A table is a base file with its index (``graph.row_index``) and, once rows have changed, a small file with the new rows
and one with the numbers of the rows of the base that are gone. A refresh writes new files beside the old ones and then
replaces the manifest in one step, so that a process that dies leaves the old tables whole. The files of the manifest
before this one stay until the next refresh, for readers that still hold it. Only files named by ``new_name`` are ever
removed.

To bring a small file to the disk takes longer than to write it, so a refresh does not wait for that: a process that
finds small files which it did not write checks their content, and where power was lost the table is made anew.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ontoloom.names import hash_id

FORMAT = 2
MANIFEST = "manifest.json"
OURS = re.compile(r"(type|relation)-.*-[0-9a-f]{16}\.(parquet|sqlite)|manifest\.json\.[0-9a-f]{8}\.tmp")
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TableFile:
    """One file: its name in the folder, rows, bytes, and the hash of its content."""

    name: str
    rows: int
    bytes: int
    hash: str


@dataclass(frozen=True, slots=True)
class TableFiles:
    """What a table is made of: the rows of ``base`` whose numbers are not in ``gone``, and those of ``delta``."""

    base: TableFile
    index: TableFile
    delta: TableFile | None = None
    gone: TableFile | None = None

    @property
    def small(self) -> list[TableFile]:
        return [file for file in (self.delta, self.gone) if file is not None]

    @property
    def all(self) -> list[TableFile]:
        return [self.base, self.index, *self.small]


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the tables are and what they were made from. ``time`` is that of the change, to know the store again."""

    change: int
    time: str
    ontology: str
    tables: dict[str, TableFiles] = field(default_factory=dict)
    format: int = FORMAT


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest, or None where there is none that can be used: absent, unreadable, or of another format."""
    try:
        data: Any = json.loads((folder / MANIFEST).read_text("utf-8"))
        if data["format"] != FORMAT:
            return None
        tables = {str(key): _table_files(entry) for key, entry in data.pop("tables").items()}
        return Manifest(tables=tables, **data)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        logger.warning("the manifest in %s cannot be read and is made anew: %s", folder, error)
        return None


def _table_files(entry: dict[str, Any]) -> TableFiles:
    delta, gone = (TableFile(**file) if file else None for file in (entry["delta"], entry["gone"]))
    return TableFiles(TableFile(**entry["base"]), TableFile(**entry["index"]), delta, gone)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Replaces the manifest in one step."""
    temporary = folder / f"{MANIFEST}.{secrets.token_hex(4)}.tmp"
    with temporary.open("w", encoding="utf-8") as file:
        json.dump(asdict(manifest), file, ensure_ascii=False, indent=1)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, folder / MANIFEST)
    sync_folder(folder)


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def new_name(key: str, suffix: str) -> str:
    """A file name for a table (``type Model``) that no file has had: readable, and safe whatever the table's name."""
    of, _, name = key.partition(" ")
    readable = re.sub(r"[^A-Za-z0-9_]", "", name)[:40]
    return f"{of}-{readable}-{hash_id(key)[:8]}{secrets.token_hex(4)}.{suffix}"


def describe_file(path: Path, *, rows: int, synced: bool = True) -> TableFile:
    """A written file, brought to the disk unless told otherwise."""
    with path.open("rb") as file:
        if synced:
            os.fsync(file.fileno())
        digest = hashlib.file_digest(file, "blake2b").hexdigest()[:32]
    return TableFile(path.name, rows, path.stat().st_size, digest)


def is_whole(folder: Path, files: Iterable[TableFile], *, thorough: bool = False) -> bool:
    """Whether files are there with their size, and when ``thorough`` with their content."""
    try:
        for file in files:
            path = folder / file.name
            if path.stat().st_size != file.bytes:
                return False
            if thorough and describe_file(path, rows=file.rows, synced=False).hash != file.hash:
                return False
    except OSError:
        return False
    return True


def remove_leftovers(folder: Path, manifest: Manifest | None) -> None:
    """Removes our files that the manifest does not name: of older manifests, and of refreshes that died."""
    kept = {file.name for files in manifest.tables.values() for file in files.all} if manifest else set()
    for path in folder.iterdir():
        if OURS.fullmatch(path.name) and path.name not in kept:
            path.unlink(missing_ok=True)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Only one process at a time refreshes a folder; the lock goes when its holder does, killed or not."""
    with (folder / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
