"""Ways to open the project's store: to write, to read, to try something on a copy, to build it anew."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from graph.open import open_store
from graph.store import Store
from ontology.schema import Ontology
from ontoloom.errors import SettingsError, StoreError
from serving.processes import identity
from serving.settings import Settings


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that holds the store for writing. ``url`` is that of a service, which takes jobs with ``token``."""

    pid: int
    identity: str
    command: str
    url: str = ""
    token: str = ""


@contextmanager
def writing(settings: Settings, ontology: Ontology, *, command: str, url: str = "", token: str = "") -> Iterator[Store]:
    """The store, open for writing; a note beside it, for this user's eyes alone, tells other commands who holds it."""
    try:
        store = open_store(settings.store_location, ontology)
    except StoreError as error:
        raise _naming_holder(error, settings) from error
    note = _note(settings)
    with store:
        note.parent.mkdir(parents=True, exist_ok=True)
        held = Holder(os.getpid(), identity(os.getpid()) or "", command, url, token)
        note.unlink(missing_ok=True)
        with open(note, "x", opener=lambda path, flags: os.open(path, flags, 0o600), encoding="utf-8") as file:
            json.dump(asdict(held), file)
        try:
            yield store
        finally:
            note.unlink(missing_ok=True)


def holder(settings: Settings) -> Holder | None:
    """The process that holds the store for writing, where one is alive that said so."""
    try:
        found = Holder(**json.loads(_note(settings).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return found if identity(found.pid) == found.identity else None


def _note(settings: Settings) -> Path:
    return settings.within(settings.derived) / "writer.json"


def reading(settings: Settings, ontology: Ontology) -> Store:
    """The store as it was last committed; a writer may be at work beside it."""
    return open_store(settings.store_location, ontology, read_only=True)


def _naming_holder(error: StoreError, settings: Settings) -> StoreError:
    held = holder(settings)
    if error.code != "store-locked" or held is None:
        return error
    at = f" at {held.url}" if held.url else ""
    message = f"{settings.store_location}: 'ontoloom {held.command}' (process {held.pid}){at} is writing to the store"
    hint = "'ontoloom ingest' hands its job to it; for this, stop it first" if held.url else "wait until it is done"
    return StoreError(message, hint=hint, code=error.code)


@contextmanager
def rehearsing(settings: Settings, ontology: Ontology) -> Iterator[Store]:
    """A copy of the store, thrown away afterwards; an empty one where the store is on a server."""
    with tempfile.TemporaryDirectory(prefix="ontoloom-") as folder:
        copied = Path(folder) / "graph"
        if "://" not in settings.store_location and Path(settings.store_location).exists():
            with writing(settings, ontology, command="ingest --dry-run"):
                for suffix in ("", ".wal"):
                    source = Path(settings.store_location + suffix)
                    if source.exists():
                        shutil.copyfile(source, f"{copied}{suffix}")
        with open_store(copied, ontology) as store:
            yield store


@contextmanager
def rebuilding(settings: Settings, ontology: Ontology) -> Iterator[Store]:
    """A new store beside the old one, which it replaces at the end."""
    location = settings.store_location
    if "://" in location:
        raise SettingsError(f"a store on a server cannot be rebuilt in place: {location}", hint="use an empty database")
    fresh = Path(location + ".new")
    with writing(settings, ontology, command="ingest --rebuild"):
        _remove_store(fresh)
        with open_store(fresh, ontology) as store:
            yield store
    _remove_store(Path(location))
    for suffix in (".wal", ""):
        if os.path.exists(f"{fresh}{suffix}"):
            os.replace(f"{fresh}{suffix}", f"{location}{suffix}")


def _remove_store(path: Path) -> None:
    for suffix in (".wal", ""):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
