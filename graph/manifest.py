"""The folder of a columnar projection: Parquet files, and a manifest that says which of them are the tables.

A refresh writes new files beside the old ones and then replaces the manifest in one step, so that a process that dies
leaves the old tables whole. The files of the manifest before this one stay until the next refresh, for readers that
still hold it. Only files named by ``new_name`` are ever removed.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ontoloom.names import hash_id

FORMAT = 1
MANIFEST = "manifest.json"
OURS = re.compile(r"(type|relation)-.*-[0-9a-f]{16}\.parquet|manifest\.json\.[0-9a-f]{8}\.tmp")
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TableFile:
    """One Parquet file: its name in the folder, rows, bytes, and the hash of its content."""

    name: str
    rows: int
    bytes: int
    hash: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the tables are and what they were made from. ``time`` is that of the change, to know the store again."""

    change: int
    time: str
    ontology: str
    tables: dict[str, TableFile] = field(default_factory=dict)
    format: int = FORMAT


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest, or None where there is none that can be used: absent, unreadable, or of another format."""
    try:
        data: Any = json.loads((folder / MANIFEST).read_text("utf-8"))
        tables = {str(key): TableFile(**entry) for key, entry in data.pop("tables").items()}
        manifest = Manifest(tables=tables, **data)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        logger.warning("the manifest in %s cannot be read and is made anew: %s", folder, error)
        return None
    return manifest if manifest.format == FORMAT else None


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Replaces the manifest in one step, once the files that it names are on the disk."""
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


def new_name(key: str) -> str:
    """A file name for a table (``type Model``) that no file has had: readable, and safe whatever the table's name."""
    of, _, name = key.partition(" ")
    readable = re.sub(r"[^A-Za-z0-9_]", "", name)[:40]
    return f"{of}-{readable}-{hash_id(key)[:8]}{secrets.token_hex(4)}.parquet"


def describe_file(path: Path, *, rows: int) -> TableFile:
    """A written file, brought to the disk."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        digest = hashlib.file_digest(file, "blake2b").hexdigest()[:32]
    return TableFile(path.name, rows, path.stat().st_size, digest)


def is_whole(folder: Path, entry: TableFile, *, thorough: bool = False) -> bool:
    """Whether a table's file is there with its size, and when ``thorough`` with its content."""
    path = folder / entry.name
    try:
        if path.stat().st_size != entry.bytes:
            return False
        return not thorough or describe_file(path, rows=entry.rows).hash == entry.hash
    except OSError:
        return False


def remove_leftovers(folder: Path, manifest: Manifest | None) -> None:
    """Removes our files that the manifest does not name: of older manifests, and of refreshes that died."""
    kept = {entry.name for entry in manifest.tables.values()} if manifest else set()
    for path in folder.iterdir():
        if OURS.fullmatch(path.name) and path.name not in kept:
            path.unlink(missing_ok=True)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Only one process at a time refreshes a folder; the lock goes when its holder does, killed or not."""
    with (folder / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
