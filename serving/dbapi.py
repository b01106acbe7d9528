"""SELECT over a graph through Python's DB-API 2.0 (PEP 249), for pandas, notebooks and whatever speaks it.

::

    import serving.dbapi as ontoloom

    with ontoloom.connect("path/to/project") as connection:  # or "http://127.0.0.1:8000", of `ontoloom serve`
        cursor = connection.cursor()
        cursor.execute("SELECT name FROM Model WHERE training_method = ?", ["DPO"])
        print(cursor.fetchall())

Parameters are ``?`` by order, or ``$name`` and ``:name`` where a mapping is given. A graph is only ever read, so
``commit`` and ``rollback`` do nothing. Values of list columns are lists. Exceptions::

    Exception
    ├── Warning
    └── Error                       carries the ``code``, ``line`` and ``column`` of an OntoloomError
        ├── InterfaceError          a closed cursor or connection, or one that has no rows
        └── DatabaseError
            ├── DataError           more rows than the connection takes
            ├── OperationalError    no store or service, or out of time or memory, or cancelled
            ├── IntegrityError      (never raised)
            ├── InternalError       an answer that cannot be read
            ├── ProgrammingError    a statement or a parameter that does not hold
            └── NotSupportedError   what only a writer could do
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, RLock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol, Self, TypeAlias

from ontoloom.errors import OntoloomError, QueryError

if TYPE_CHECKING:
    import pyarrow as pa

    from graph.bind import Parameters
    from graph.prepare import AsOf
    from serving.arrow_stream import Rows

apilevel: Final = "2.0"
threadsafety: Final = 2
"""Threads may share the module and connections; a connection runs one statement at a time."""
paramstyle: Final = "qmark"

Row: TypeAlias = tuple[Any, ...]
Described: TypeAlias = tuple[str, str, None, None, None, None, bool]
MOST_ROWS = 1_000_000


class Warning(Exception):  # the name that PEP 249 demands
    """Of what was done all the same. Never raised."""


class Error(Exception):
    """Any error of this module."""

    def __init__(self, message: str, *, code: str = "", line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.line = line
        self.column = column


class InterfaceError(Error):
    """The module was used in a way that it is not made for."""


class DatabaseError(Error):
    """What the graph answers with."""


class DataError(DatabaseError):
    """A result that is not what was asked for: it has more rows than the connection takes."""


class OperationalError(DatabaseError):
    """What has nothing to do with the statement: no store, no service, no time, no memory."""


class IntegrityError(DatabaseError):
    """Never raised: nothing is written."""


class InternalError(DatabaseError):
    """An answer that cannot be read."""


class ProgrammingError(DatabaseError):
    """A statement or parameters that do not hold."""


class NotSupportedError(DatabaseError):
    """A graph is only read here."""


# Types


class TypeObject:
    """Equal to the type codes in a cursor's description that are of its kind."""

    def __init__(self, *codes: str) -> None:
        self.codes = frozenset(codes)

    def __eq__(self, other: object) -> bool:
        return other in self.codes if isinstance(other, str) else self is other

    def __hash__(self) -> int:
        return hash(self.codes)


STRING = TypeObject("string", "text", "enum", "url", "reference")
BINARY = TypeObject()
NUMBER = TypeObject("integer", "number")
DATETIME = TypeObject("date", "timestamp")
ROWID = TypeObject()
BOOLEAN = TypeObject("boolean")
"""Beyond the PEP."""

Date = datetime.date
Time = datetime.time
Timestamp = datetime.datetime
Binary = bytes


def DateFromTicks(ticks: float) -> datetime.date:  # the name that PEP 249 demands
    return Date(*time.localtime(ticks)[:3])


def TimeFromTicks(ticks: float) -> datetime.time:  # the name that PEP 249 demands
    return Time(*time.localtime(ticks)[3:6])


def TimestampFromTicks(ticks: float) -> datetime.datetime:  # the name that PEP 249 demands
    return Timestamp(*time.localtime(ticks)[:6])


# Connections


class Transport(Protocol):
    """How statements reach a graph. ``run`` is called by one thread at a time; it raises OntoloomError."""

    def run(self, sql: str, parameters: Parameters, *, max_rows: int, cancelled: Event) -> Rows: ...

    def close(self) -> None: ...


def connect(
    target: str | Path = ".",
    *,
    timeout: float = 30.0,
    max_rows: int = MOST_ROWS,
    as_of: AsOf | str | None = None,
) -> Connection:
    """A connection to the project in a folder, or to a running ``ontoloom serve`` at ``http://host:port``.

    A statement may take ``timeout`` seconds; one with more than ``max_rows`` rows is an error. ``as_of`` (a change
    number or a time) reads the graph as it was. Raises OperationalError where there is nothing to connect to.
    """
    with _translated():
        if str(target).startswith(("http://", "https://")):
            from serving.dbapi_http import HttpTransport

            return Connection(HttpTransport(str(target), timeout=timeout, as_of=as_of), max_rows)
        from serving.dbapi_local import LocalTransport

        return Connection(LocalTransport(Path(target), timeout=timeout, as_of=as_of), max_rows)


class Connection:
    """A way to a graph; made by ``connect``. As a context manager it is closed at the end."""

    Warning, Error, InterfaceError, DatabaseError = Warning, Error, InterfaceError, DatabaseError
    DataError, OperationalError, IntegrityError = DataError, OperationalError, IntegrityError
    InternalError, ProgrammingError, NotSupportedError = InternalError, ProgrammingError, NotSupportedError

    def __init__(self, transport: Transport, max_rows: int) -> None:
        self._transport: Transport | None = transport
        self._lock = RLock()
        self._max_rows = max_rows

    def cursor(self) -> Cursor:
        self._opened()
        return Cursor(self)

    def execute(self, sql: str, parameters: Parameters = ()) -> Cursor:
        """A new cursor with the rows of a statement. Beyond the PEP."""
        return self.cursor().execute(sql, parameters)

    def commit(self) -> None:
        """Does nothing: nothing was written."""
        self._opened()

    def rollback(self) -> None:
        """Does nothing: nothing was written."""
        self._opened()

    def close(self) -> None:
        """Ends the connection; twice is harmless."""
        with self._lock:
            if self._transport is not None:
                self._transport.close()
                self._transport = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _opened(self) -> Transport:
        if self._transport is None:
            raise InterfaceError("the connection is closed")
        return self._transport

    def _run(self, sql: str, parameters: Parameters, cancelled: Event) -> Rows:
        with self._lock, _translated():
            found = self._opened().run(sql, parameters, max_rows=self._max_rows, cancelled=cancelled)
        if found.truncated:
            message = f"the result has more than {self._max_rows:,} rows; add a LIMIT, or connect(…, max_rows=…)"
            raise DataError(message, code="too-many-rows")
        return found


# Cursors


class Cursor:
    """Runs statements of a connection, and hands out their rows as tuples."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.arraysize = 1
        self._answer: Rows | None = None
        self._rows: Iterator[Row] = iter(())
        self._at = 0
        self._closed = False
        self._cancelled = Event()

    @property
    def description(self) -> list[Described] | None:
        """Of each column its name and type (``integer``, ``list of enum`` …); None where there are no rows."""
        if self._answer is None:
            return None
        return [(name, kind, None, None, None, None, True) for name, kind in self._answer.columns]

    @property
    def rowcount(self) -> int:
        return -1 if self._answer is None else int(self._answer.rows.num_rows)

    @property
    def rownumber(self) -> int | None:
        """Of the next row, from 0. An extension that the PEP names."""
        return None if self._answer is None else self._at

    @property
    def change(self) -> int | None:
        """The number of the change of the graph that the rows are of. Beyond the PEP."""
        return None if self._answer is None else self._answer.change

    def execute(self, operation: str, parameters: Parameters = ()) -> Self:
        """Runs a SELECT, or EXPLAIN SELECT. Raises the errors that the module names."""
        self._open()
        self._answer, self._rows, self._at = None, iter(()), 0
        self._cancelled = Event()
        self._answer = self.connection._run(operation, parameters, self._cancelled)
        self._rows = tuples(self._answer.rows)
        return self

    def executemany(self, operation: str, seq_of_parameters: Sequence[Parameters]) -> NoReturn:  # noqa: ARG002  # PEP 249
        """Of use to writers only. Raises NotSupportedError."""
        raise NotSupportedError("a SELECT is run with one set of parameters at a time")

    def callproc(self, procname: str, parameters: Sequence[Any] = ()) -> NoReturn:  # noqa: ARG002  # PEP 249
        """There are no procedures. Raises NotSupportedError."""
        raise NotSupportedError("there are no procedures")

    def cancel(self) -> None:
        """Stops the statement that another thread runs on this cursor. Beyond the PEP."""
        self._cancelled.set()

    def fetchone(self) -> Row | None:
        self._found()
        row = next(self._rows, None)
        self._at += row is not None
        return row

    def fetchmany(self, size: int | None = None) -> list[Row]:
        wanted = range(self.arraysize if size is None else size)
        return [row for _ in wanted if (row := self.fetchone()) is not None]

    def fetchall(self) -> list[Row]:
        self._found()
        rows = list(self._rows)
        self._at += len(rows)
        return rows

    def fetch_arrow(self) -> pa.Table:
        """All rows of the statement as an Arrow table, wherever the cursor stands. Beyond the PEP."""
        return self._found().rows

    def setinputsizes(self, sizes: Sequence[Any]) -> None:
        """Does nothing, as the PEP allows."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Does nothing, as the PEP allows."""

    def close(self) -> None:
        self._closed, self._answer, self._rows = True, None, iter(())

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Row:
        row = self.fetchone()
        if row is None:
            raise StopIteration
        return row

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> None:
        if self._closed:
            raise InterfaceError("the cursor is closed")

    def _found(self) -> Rows:
        self._open()
        if self._answer is None:
            raise InterfaceError("no statement has been run on this cursor")
        return self._answer


def tuples(rows: pa.Table) -> Iterator[Row]:
    """The rows of a table, turned into Python's values batch by batch."""
    for batch in rows.to_batches(max_chunksize=1_000):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


# Errors


@contextmanager
def _translated() -> Iterator[None]:
    """What is an OntoloomError within becomes an error of this module."""
    try:
        yield
    except OntoloomError as error:
        raise translate(error) from None


OPERATIONAL = ("timeout", "memory", "cancelled", "unreachable")
KINDS: Mapping[str, type[DatabaseError]] = {
    **dict.fromkeys(OPERATIONAL, OperationalError),
    "unreadable-answer": InternalError,
}


def translate(error: OntoloomError) -> Error:
    """The error of this module that an OntoloomError is."""
    place = (error.line, error.column) if isinstance(error, QueryError) else (0, 0)
    kind = KINDS.get(error.code, ProgrammingError if isinstance(error, QueryError) else OperationalError)
    return kind(str(error), code=error.code, line=place[0], column=place[1])
