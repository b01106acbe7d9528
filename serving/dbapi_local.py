"""Statements of the DB-API on the project in a folder: its store is opened for reading, and again when it has moved."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from graph.prepare import AsOf, read_as_of_text, reader
from graph.select import select
from serving import wiring
from serving.access import reading
from serving.arrow_stream import Rows
from serving.settings import Settings, read_settings

if TYPE_CHECKING:
    from graph.bind import Parameters
    from graph.projection import ColumnarProjection
    from graph.store import Store


class LocalTransport:
    """Every statement sees what was last committed, by whichever process."""

    def __init__(self, project: Path, *, timeout: float, as_of: AsOf | str | None) -> None:
        self._settings = read_settings({"project": project})
        self._timeout = timeout
        self._as_of = read_as_of_text(as_of) if isinstance(as_of, str) else as_of
        self._ontology = wiring.find_ontology(self._settings)
        self._opened: tuple[Store, ColumnarProjection] | None = None
        self._stamp: object = None
        self._reopen()

    def run(self, sql: str, parameters: Parameters, *, max_rows: int, cancelled: Event) -> Rows:
        store, columns = self._reopen()
        views = wiring.find_views(self._settings, self._ontology)
        read = reader(parameters=parameters, views=views, as_of=self._as_of)
        found = select(store, columns, sql, max_rows=max_rows, timeout=self._timeout, cancelled=cancelled, read=read)
        described = [(column.name, column.type) for column in found.columns]
        return Rows(described, found.rows, found.truncated, columns.change)

    def close(self) -> None:
        if self._opened is not None:
            self._opened[0].close()
            self._opened = None

    def _reopen(self) -> tuple[Store, ColumnarProjection]:
        """The store as it is now: a reader of an embedded one sees only what was there when it opened."""
        stamp = stamp_of(self._settings)
        if self._opened is None or stamp != self._stamp:
            self.close()
            store = reading(self._settings, self._ontology)
            self._opened = store, wiring.open_columns(self._settings, store)
            self._stamp = stamp
        return self._opened


def stamp_of(settings: Settings) -> object:
    """Differs whenever an embedded store has been written to; the same for a store on a server, which is never old."""
    if "://" in settings.store_location:
        return None
    found = []
    for suffix in ("", ".wal"):
        try:
            status = os.stat(settings.store_location + suffix)
            found.append((status.st_ino, status.st_size, status.st_mtime_ns))
        except FileNotFoundError:
            found.append((0, 0, 0))
    return tuple(found)
