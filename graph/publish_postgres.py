"""Published tables in a schema of PostgreSQL, with keys, foreign keys and comments.

All of it is one transaction: the tables are made and filled in a schema of their own, and take the place of the old
ones at its end. Rows are copied frozen, so that a reader whose snapshot is older than the rows sees them as soon as it
sees the tables; the old tables are locked all at once and without waiting in between, so that no reader has read some
of the old ones and then reads the new ones, and none waits for more than the swap itself.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from typing import Any

from graph.publish import PUBLICATION, Publication, PublishedColumn, PublishedTable, ReadTable
from ontoloom.errors import ProjectionError

try:
    import psycopg
    from psycopg import sql
except ImportError as error:
    raise ProjectionError("PostgreSQL needs the package psycopg", hint="pip install 'ontoloom[postgres]'") from error

APPLICATION = "ontoloom publish"
PATIENCE = 60.0
"""Seconds for which the swap waits for transactions that have read the old tables."""
LONGEST_NAME = 63
"""Bytes; PostgreSQL cuts what is longer."""
SQL_TYPES = {
    "text": "text", "bigint": "int8", "double": "float8", "boolean": "bool", "date": "date", "timestamp": "timestamp",
}  # fmt: skip
OURS = "Published by ontoloom."
"""Every comment on a published table begins with it: only such tables are ever replaced."""

Connection = psycopg.Connection[tuple[Any, ...]]


@dataclass(slots=True)
class PostgresTarget:
    """A schema of a database; made where it is not there. Other tables in it are left alone."""

    address: str
    schema: str
    patience: float = PATIENCE

    @property
    def name(self) -> str:
        return f"{without_password(self.address)} schema {self.schema}"

    def write(self, tables: Sequence[PublishedTable], publication: Publication, read: ReadTable) -> list[str]:
        check_names(self.schema, tables)
        notes: list[str] = []
        with (
            readable_errors(self.name),
            psycopg.connect(self.address, application_name="ontoloom publish") as connection,
        ):
            take_turn(connection, self.schema)
            staging = f"{self.schema[:40]}_{secrets.token_hex(8)}"
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(staging)))
            for table in tables:
                replaced = fill(connection, staging, table, read)
                if replaced:
                    notes.append(f"{table.name}: in {replaced} values U+0000, which PostgreSQL cannot hold, is U+FFFD")
            add_keys(connection, staging, tables)
            write_publication(connection, staging, publication)
            swap(connection, staging, self.schema, [*(t.name for t in tables), PUBLICATION], self.patience)
        return notes


def without_password(address: str) -> str:
    return re.sub(r"(://[^:/@]*):[^@/]*@", r"\1:***@", address).partition("?")[0]


def check_names(schema: str, tables: Sequence[PublishedTable]) -> None:
    names = [schema, *(t.name for t in tables), *(c.name for t in tables for c in t.columns)]
    long = next((name for name in names if len(name.encode()) > LONGEST_NAME), None)
    if long is not None:
        raise ProjectionError(f"'{long}' is too long for a name in PostgreSQL", hint=f"at most {LONGEST_NAME} bytes")


@contextmanager
def readable_errors(target: str) -> Iterator[None]:
    """PostgreSQL's errors in one line, with what to do."""
    try:
        yield
    except psycopg.errors.DependentObjectsStillExist as error:
        detail = (error.diag.message_detail or "").splitlines()[0]
        message = f"{target}: something of yours rests on a table that would be replaced: {detail}"
        raise ProjectionError(
            message, hint="drop it and make it anew afterwards, or publish to another --schema"
        ) from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise ProjectionError(f"{target}: {one_line(error)}", hint="grant it to the user, or use another") from error
    except psycopg.Error as error:
        raise ProjectionError(f"{target}: {one_line(error)}", hint="nothing was changed there") from error


def one_line(error: psycopg.Error) -> str:
    return (error.diag.message_primary or str(error)).strip().splitlines()[0]


def take_turn(connection: Connection, schema: str) -> None:
    """One publication at a time into a schema."""
    query = "SELECT pg_try_advisory_xact_lock(hashtextextended('ontoloom publish ' || %s, 0))"
    found = connection.execute(query, [schema]).fetchone()
    if found is None or not found[0]:
        raise ProjectionError(f"somebody else is publishing to the schema {schema}", hint="try again when it is done")


# Writing


def fill(connection: Connection, schema: str, table: PublishedTable, read: ReadTable) -> int:
    """Makes a table and copies its rows; gives the number of values in which U+0000 had to be replaced."""
    columns = [
        sql.SQL("{} {}").format(sql.Identifier(c.name), sql.SQL(SQL_TYPES[c.type] + "[]" * c.many))
        for c in table.columns
    ]
    target = sql.Identifier(schema, table.name)
    connection.execute(sql.SQL("CREATE TABLE {} ({})").format(target, sql.SQL(", ").join(columns)))
    for statement in comments(schema, table):
        connection.execute(statement)
    replaced = 0
    copy_it = sql.SQL("COPY {} FROM STDIN (FORMAT BINARY, FREEZE)").format(target)
    with connection.cursor() as cursor, cursor.copy(copy_it) as copy:
        copy.set_types([SQL_TYPES[c.type] + "[]" * c.many for c in table.columns])
        for batch in read(table):
            values = [column.to_pylist() for column in batch.columns]
            for place, column in enumerate(table.columns):
                replaced += without_nul(values[place], column)
            for row in zip(*values, strict=True):
                copy.write_row(row)
    connection.execute(sql.SQL("ANALYZE {}").format(target))
    return replaced


def without_nul(values: list[Any], column: PublishedColumn) -> int:
    """Replaces U+0000 in texts, in place; gives the number of values that held it."""
    if column.type != "text":
        return 0
    found = 0
    for place, value in enumerate(values):
        if value is None or not any("\x00" in item for item in (value if column.many else (value,))):
            continue
        found += 1
        clean = [item.replace("\x00", "\ufffd") for item in (value if column.many else (value,))]
        values[place] = clean if column.many else clean[0]
    return found


def comments(schema: str, table: PublishedTable) -> Iterator[sql.Composed]:
    target = sql.Identifier(schema, table.name)
    yield sql.SQL("COMMENT ON TABLE {} IS {}").format(target, sql.Literal(f"{OURS} {table.comment}".strip()))
    for column in table.columns:
        if column.comment:
            place = sql.Identifier(schema, table.name, column.name)
            yield sql.SQL("COMMENT ON COLUMN {} IS {}").format(place, sql.Literal(column.comment))


def add_keys(connection: Connection, schema: str, tables: Sequence[PublishedTable]) -> None:
    for table in tables:
        target = sql.Identifier(schema, table.name)
        connection.execute(sql.SQL("ALTER TABLE {} ADD PRIMARY KEY (_id)").format(target))
    for table in tables:
        for column, to in table.references:
            connection.execute(
                sql.SQL("ALTER TABLE {} ADD FOREIGN KEY ({}) REFERENCES {} (_id)").format(
                    sql.Identifier(schema, table.name), sql.Identifier(column), sql.Identifier(schema, to)
                )
            )
        for column in {c.name for c in table.columns} & {"_subject_id", "_object_id"}:
            index = sql.SQL("CREATE INDEX ON {} ({})")
            connection.execute(index.format(sql.Identifier(schema, table.name), sql.Identifier(column)))


def write_publication(connection: Connection, schema: str, publication: Publication) -> None:
    target = sql.Identifier(schema, PUBLICATION)
    columns = sql.SQL("ontology text, version text, change int8, time timestamp")
    connection.execute(sql.SQL("CREATE TABLE {} ({})").format(target, columns))
    connection.execute(sql.SQL("COMMENT ON TABLE {} IS {}").format(target, sql.Literal(OURS)))
    copy_it = sql.SQL("COPY {} FROM STDIN (FREEZE)").format(target)
    with connection.cursor() as cursor, cursor.copy(copy_it) as copy:
        copy.write_row(astuple(publication))


# Swapping


def swap(connection: Connection, staging: str, schema: str, names: Sequence[str], patience: float) -> None:
    """Puts the tables of a schema in the place of the published ones of another, with what others may do with them."""
    connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(schema)))
    refuse_others(connection, schema, names)
    old = published(connection, schema)
    grants = granted(connection, schema, old)
    if old:
        targets = sql.SQL(", ").join(sql.Identifier(schema, name) for name in old)
        lock(connection, targets, patience)
        connection.execute(sql.SQL("DROP TABLE {}").format(targets))
    for name in names:
        move = sql.SQL("ALTER TABLE {} SET SCHEMA {}").format(sql.Identifier(staging, name), sql.Identifier(schema))
        connection.execute(move)
    for name, privilege, grantee in grants:
        if name in names:
            target = sql.Identifier(schema, name)
            who = sql.Identifier(grantee) if grantee else sql.SQL("PUBLIC")
            connection.execute(sql.SQL("GRANT {} ON {} TO {}").format(sql.SQL(privilege), target, who))
    connection.execute(sql.SQL("DROP SCHEMA {}").format(sql.Identifier(staging)))


def published(connection: Connection, schema: str) -> list[str]:
    """The tables in a schema that were published before."""
    query = """SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = %s AND c.relkind = 'r' AND starts_with(obj_description(c.oid, 'pg_class'), %s)
        ORDER BY c.relname"""
    return [name for (name,) in connection.execute(query, [schema, OURS])]


def refuse_others(connection: Connection, schema: str, names: Sequence[str]) -> None:
    query = """SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = %s AND c.relname = ANY(%s)
          AND NOT coalesce(starts_with(obj_description(c.oid, 'pg_class'), %s), FALSE) LIMIT 1"""
    found = connection.execute(query, [schema, list(names), OURS]).fetchone()
    if found is not None:
        message = f"the schema {schema} has a table '{found[0]}' that was not published from a graph"
        raise ProjectionError(message, hint="publish to another --schema")


def granted(connection: Connection, schema: str, names: Sequence[str]) -> list[tuple[str, str, str]]:
    """Table, privilege and role (empty for all) of what the owner of published tables lets others do."""
    query = """SELECT c.relname, acl.privilege_type, coalesce(r.rolname, '')
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, aclexplode(c.relacl) acl
        LEFT JOIN pg_roles r ON r.oid = acl.grantee
        WHERE n.nspname = %s AND c.relname = ANY(%s) AND acl.grantee <> c.relowner"""
    return [
        (str(name), str(privilege), str(who))
        for name, privilege, who in connection.execute(query, [schema, list(names)])
    ]


def lock(connection: Connection, targets: sql.Composed, patience: float) -> None:
    """Locks all tables or none, again and again: nobody waits for us while we wait for somebody."""
    give_up = time.monotonic() + patience
    while True:
        try:
            with connection.transaction():
                connection.execute(sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE NOWAIT").format(targets))
                return
        except psycopg.errors.LockNotAvailable:
            if time.monotonic() > give_up:
                message = f"for {patience:g} seconds there was always somebody reading the tables"
                raise ProjectionError(message, hint="end their transactions, or try again later") from None
        time.sleep(0.05)
