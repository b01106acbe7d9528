"""Sessions with a Neo4j server: where it is, whether it will do, queries, transactions, and errors in one line."""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlsplit

from neo4j import READ_ACCESS, WRITE_ACCESS, GraphDatabase, NotificationMinimumSeverity
from neo4j.exceptions import (
    AuthError,
    ConfigurationError,
    DriverError,
    GqlError,
    IncompleteCommit,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)

from ontoloom.errors import StoreError

if TYPE_CHECKING:
    from neo4j import Driver, ManagedTransaction
    from neo4j import Session as DriverSession

PASSWORD = "ONTOLOOM_NEO4J_PASSWORD"
OLDEST = (5, 26)
PATIENCE = 120.0
"""Seconds for which a transaction is tried again while the server is gone, restarts, or is busy with another."""
FETCH = 10_000
Done = TypeVar("Done")
logger = logging.getLogger(__name__)
Ask = Callable[..., list[list[Any]]]
"""Runs a query with named parameters and gives all rows of its answer."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a database is. ``url`` is as the driver takes it, ``where`` as people read it, without the password."""

    url: str
    auth: tuple[str, str] | None
    database: str | None
    where: str


def read_location(location: str) -> Address:
    """``neo4j://user:password@host:port/database``, of which all but the host may be left out. Raises StoreError.

    The password may also be in the variable ONTOLOOM_NEO4J_PASSWORD; without one, no credentials are sent.
    """
    parts = urlsplit(location)
    try:
        port, host = parts.port, parts.hostname
    except ValueError:
        port = host = None
    if not host or parts.query or parts.fragment or parts.path.count("/") > 1:
        hint = "write neo4j://user@host:7687/database"
        raise StoreError(f"{_without_password(location)} is no address of a database", hint=hint, code="store-address")
    at = f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{f':{port}' if port else ''}"
    user, password = unquote(parts.username or "neo4j"), unquote(parts.password or "") or os.environ.get(PASSWORD, "")
    database = unquote(parts.path.strip("/")) or None
    where = f"{at}/{database}" if database else at
    return Address(at, (user, password) if password else None, database, where)


def _without_password(location: str) -> str:
    return re.sub(r"(//[^/@:]*):[^/@]*@", r"\1:…@", location)


class Session:
    """A driver for one database. Reads see what this session wrote, on a cluster too."""

    def __init__(self, address: Address) -> None:
        with stating(address.where):
            self._driver: Driver = GraphDatabase.driver(
                address.url,
                auth=address.auth,
                connection_timeout=10.0,
                max_transaction_retry_time=0,  # it takes a want of memory for something that passes: see _retry
                notifications_min_severity=NotificationMinimumSeverity.OFF,
            )
        self.where = address.where
        self._database = address.database

    def close(self) -> None:
        self._driver.close()

    def check_server(self) -> str:
        """The edition of the server. Raises StoreError, at once, where it can't be reached, and where it is too old."""
        query = (
            "CALL dbms.components() YIELD name, versions, edition WHERE name = 'Neo4j Kernel' RETURN versions, edition"
        )
        ((versions, edition),) = next(self.stream(query))
        require_version(versions[0], self.where)
        return str(edition)

    def rows(self, query: str, **parameters: Any) -> list[list[Any]]:
        """All rows of an answer; asked again where the server was away."""

        def once() -> list[list[Any]]:
            with self._session(READ_ACCESS) as session:
                return session.execute_read(lambda tx: ask(tx, query, **parameters))

        return self._retry(once)

    def stream(self, query: str, *, chunk: int = FETCH, **parameters: Any) -> Iterator[list[list[Any]]]:
        """The rows of an answer as they come, ``chunk`` at a time."""
        with stating(self.where), self._session(READ_ACCESS, fetch=chunk) as session:
            result = session.run(query, parameters)
            while records := result.fetch(chunk):
                yield [record.values() for record in records]

    def kind_of(self, query: str, parameters: Mapping[str, object], *, timeout: float) -> str:
        """What the server takes a query for, without running it: ``r`` for one that reads. Raises Neo4jError."""
        with self._session(READ_ACCESS) as session, session.begin_transaction(timeout=timeout) as tx:
            summary = tx.run(f"EXPLAIN {query}", dict(parameters)).consume()
            return str(summary.query_type)

    def read(
        self, query: str, parameters: Mapping[str, object], *, max_rows: int, timeout: float
    ) -> tuple[list[str], list[list[Any]]]:
        """The columns and the first rows of an answer, within ``timeout`` seconds. Raises Neo4jError."""
        with (
            self._session(READ_ACCESS, fetch=min(FETCH, max_rows)) as session,
            session.begin_transaction(timeout=timeout) as tx,
        ):
            result = tx.run(query, dict(parameters))
            return list(result.keys()), [record.values() for record in result.fetch(max_rows)]

    def alter(self, statement: str) -> None:
        """Changes the schema, in a transaction of its own: Neo4j knows none of schema and data."""
        with stating(self.where), self._session(WRITE_ACCESS) as session:
            session.run(statement).consume()

    def write(self, work: Callable[[ManagedTransaction], Done]) -> Done:
        """Has ``work`` write in a transaction, again and again until one is committed or it raises anything else.

        Where the connection is lost during the commit, nobody knows whether it took place, and ``work`` is called
        again: it must find out.
        """

        def once() -> Done:
            with self._session(WRITE_ACCESS) as session:
                return session.execute_write(work)

        return self._retry(once)

    def _retry(self, action: Callable[[], Done]) -> Done:
        """Tries again what may succeed later: after a commit of unknown end too, but not for want of memory."""
        give_up = time.monotonic() + PATIENCE
        for attempt, pause in enumerate(chain((0.1, 0.3, 1.0), repeat(2.0))):
            try:
                return action()
            except (DriverError, Neo4jError) as error:
                passing = error.is_retryable() or isinstance(error, IncompleteCommit)
                if not passing or is_out_of_memory(error) or time.monotonic() > give_up:
                    raise explained(error, self.where) from error
                level = logging.INFO if attempt else logging.WARNING
                logger.log(level, "%s: tries again for up to %d s: %s", self.where, PATIENCE, _first_line(error))
            time.sleep(pause)
        raise AssertionError("pauses never end")

    def _session(self, mode: str, *, fetch: int = FETCH) -> DriverSession:
        return self._driver.session(
            database=self._database,
            default_access_mode=mode,
            fetch_size=fetch,
            bookmark_manager=self._driver.execute_query_bookmark_manager,
        )


def ask(tx: ManagedTransaction, query: str, **parameters: Any) -> list[list[Any]]:
    """All rows of an answer within a transaction."""
    return tx.run(query, parameters).values()


def require_version(version: str, where: str) -> None:
    """Raises StoreError where a server is older than what the store was made for."""
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    if numbers < OLDEST:
        message = (
            f"{where} runs Neo4j {version}, which lacks what the store needs: its planner, its Bolt protocol and its "
            f"constraints as of {'.'.join(map(str, OLDEST))}"
        )
        raise StoreError(message, hint="use Neo4j 5.26 or later", code="store-version")


@contextmanager
def stating(where: str) -> Iterator[None]:
    """What the driver and the server say becomes a StoreError that names the store."""
    try:
        yield
    except (DriverError, Neo4jError) as error:
        raise explained(error, where) from error


def explained(error: DriverError | Neo4jError, where: str) -> StoreError:
    """What went wrong, as something that a person can act on."""
    code = (error.code or "") if isinstance(error, Neo4jError) else ""
    if isinstance(error, AuthError):
        hint = f"set {PASSWORD}, and name the user: neo4j://user@host"
        return StoreError(f"{where} does not accept the user or the password", hint=hint, code="store-password")
    if code.endswith("DatabaseNotFound"):
        return StoreError(f"{where}: there is no such database", hint="Community has one: neo4j", code="no-store")
    if isinstance(error, ServiceUnavailable | SessionExpired):
        hint = "start it: ontoloom neo4j up"
        return StoreError(f"no Neo4j answers at {where}", hint=hint, code="store-unreachable")
    if isinstance(error, ConfigurationError):
        return StoreError(f"{where}: {_first_line(error)}", code="store-address")
    if is_out_of_memory(error):
        message = f"{where}: the server has too little memory for what is written or asked at once"
        return StoreError(message, hint="give it more, or write fewer documents at once", code="store-memory")
    return StoreError(f"{where}: the database refused a statement: {_first_line(error)}", code="store-statement")


def is_out_of_memory(error: GqlError) -> bool:
    code = (error.code or "") if isinstance(error, Neo4jError) else ""
    return "OutOfMemory" in code or "MemoryLimit" in code


def _first_line(error: GqlError) -> str:
    message = getattr(error, "message", None) or str(error)
    return str(message).strip().splitlines()[0]


def quote(name: str) -> str:
    """A label, type or property as Cypher writes it."""
    return "`" + name.replace("`", "``") + "`"


def chunks(rows: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    """The rows, so many at a time."""
    for start in range(0, len(rows), size):
        yield rows[start : start + size]
