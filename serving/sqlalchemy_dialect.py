"""A SQLAlchemy dialect over ``serving.dbapi``, so that ``pandas.read_sql``, reflection and Core selects work.

``ontoloom:///path/to/project`` (four slashes for an absolute path, as with SQLite) reads a project's own store,
``ontoloom+http://host:port`` asks a running ``ontoloom serve``. ``?as_of=12`` reads the graph as it was;
``?timeout=60`` and ``?max_rows=1000`` are limits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from sqlalchemy import ARRAY, URL, BigInteger, Boolean, Connection, Date, Double, Row, String, text, types
from sqlalchemy.engine import default, reflection
from sqlalchemy.engine.interfaces import ConnectArgsType, DBAPIModule
from sqlalchemy.exc import NoSuchTableError
from sqlalchemy.pool import Pool, QueuePool, StaticPool
from sqlalchemy.sql import compiler

Type = types.TypeEngine[Any]
TYPES: Mapping[str, type[Type]] = {"BIGINT": BigInteger, "DOUBLE": Double, "BOOLEAN": Boolean, "DATE": Date}
MAIN = "main"
"""The one schema; tables are named without it."""


class OntoloomCompiler(compiler.SQLCompiler):
    """What SELECT writes in another way than SQLAlchemy's default."""

    def limit_clause(self, select: Any, **kw: Any) -> str:
        """OFFSET stands alone where there is no LIMIT."""
        limit, offset = select._limit_clause, select._offset_clause
        written = f"\n LIMIT {self.process(limit, **kw)}" if limit is not None else ""
        return written + (f" OFFSET {self.process(offset, **kw)}" if offset is not None else "")

    def visit_ilike_op_binary(self, binary: Any, *_: Any, **kw: Any) -> str:
        return self._like("ILIKE", binary, **kw)

    def visit_not_ilike_op_binary(self, binary: Any, *_: Any, **kw: Any) -> str:
        return self._like("NOT ILIKE", binary, **kw)

    def _like(self, word: str, binary: Any, **kw: Any) -> str:
        escape = binary.modifiers.get("escape")
        written = f"{binary.left._compiler_dispatch(self, **kw)} {word} {binary.right._compiler_dispatch(self, **kw)}"
        return written + (f" ESCAPE {self.render_literal_value(escape, types.STRINGTYPE)}" if escape else "")


class OntoloomTypes(compiler.GenericTypeCompiler):
    """Types that CAST may name."""

    def visit_ARRAY(self, type_: Any, **kw: Any) -> str:  # SQLAlchemy's name
        return f"{self.process(type_.item_type, **kw)}[]"

    def visit_DATETIME(self, *_: Any, **__: Any) -> str:  # SQLAlchemy's name
        return "TIMESTAMP"


class OntoloomDialect(default.DefaultDialect):
    """A project in a folder. One connection serves all threads, which take turns: a store is opened once."""

    name = "ontoloom"
    driver = "local"
    supports_statement_cache = True
    supports_native_boolean = True
    supports_alter = False
    supports_sane_rowcount = False
    supports_default_values = False
    supports_simple_order_by_label = True
    default_paramstyle = "qmark"
    statement_compiler = OntoloomCompiler
    type_compiler_cls = OntoloomTypes
    max_identifier_length = 1_000
    returns_native_bytes = True
    poolclass: ClassVar[type[Pool]] = StaticPool

    @classmethod
    def import_dbapi(cls) -> DBAPIModule:
        from serving import dbapi

        return dbapi  # type: ignore[return-value]  # PEP 249 leaves open what SQLAlchemy's protocol fixes

    @classmethod
    def get_pool_class(cls, url: URL) -> type[Pool]:  # noqa: ARG003  # the base class names it
        return cls.poolclass

    def create_connect_args(self, url: URL) -> ConnectArgsType:
        return (self.target(url),), self.options(url)

    def target(self, url: URL) -> str:
        return url.database or "."

    def options(self, url: URL) -> dict[str, Any]:
        readers: dict[str, type] = {"as_of": str, "timeout": float, "max_rows": int}
        return {name: readers[name](value) for name, value in url.query.items() if name in readers}

    # There is nothing to begin, and nothing to find out at the start.

    def do_begin(self, *_: Any) -> None: ...

    def initialize(self, *_: Any) -> None: ...

    # Reflection

    def get_schema_names(self, *_: Any, **__: Any) -> list[str]:
        return [MAIN]

    def get_table_names(self, connection: Connection, schema: str | None = None, **kw: Any) -> list[str]:
        return [name for name, row in self._tables(connection, schema, **kw).items() if row.kind != "view"]

    def get_view_names(self, connection: Connection, schema: str | None = None, **kw: Any) -> list[str]:
        return [name for name, row in self._tables(connection, schema, **kw).items() if row.kind == "view"]

    def has_table(self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any) -> bool:
        return table_name in self._tables(connection, schema, **kw)

    def get_table_comment(self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        return {"text": self._table(connection, table_name, schema, **kw).description}

    def get_columns(self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        self._table(connection, table_name, schema, **kw)
        return [
            {
                "name": row.column_name,
                "type": type_of(row.data_type),
                "nullable": row.is_nullable == "YES",
                "default": None,
                "comment": row.description,
            }
            for row in self._columns(connection, **kw)[table_name]
        ]

    def get_pk_constraint(self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        is_view = self._table(connection, table_name, schema, **kw).kind == "view"
        return {"name": None, "constrained_columns": [] if is_view else ["_id"]}

    def get_foreign_keys(self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        """The ends of a relation, where each is of one type."""
        row = self._table(connection, table_name, schema, **kw)
        ends = (("_subject_id", row.subjects), ("_object_id", row.objects)) if row.kind == "relation" else ()
        return [
            {
                "name": None,
                "constrained_columns": [column],
                "referred_schema": None,
                "referred_table": named[0],
                "referred_columns": ["_id"],
                "options": {},
            }
            for column, named in ends
            if len(named) == 1
        ]

    def get_indexes(self, *_: Any, **__: Any) -> Any:
        return []

    def get_unique_constraints(self, *_: Any, **__: Any) -> Any:
        return []

    def get_check_constraints(self, *_: Any, **__: Any) -> Any:
        return []

    def _table(self, connection: Connection, name: str, schema: str | None, **kw: Any) -> Row[Any]:
        found = self._tables(connection, schema, **kw).get(name)
        if found is None:
            raise NoSuchTableError(name)
        return found

    @reflection.cache
    def _tables(self, connection: Connection, schema: str | None = None, **_: Any) -> dict[str, Row[Any]]:
        query = "SELECT table_name, kind, subjects, objects, description FROM information_schema.tables"
        rows = connection.execute(text(f"{query} WHERE table_schema = '{MAIN}'")) if schema in (None, MAIN) else ()
        return {row.table_name: row for row in rows}

    @reflection.cache
    def _columns(self, connection: Connection, **_: Any) -> Mapping[str, Sequence[Row[Any]]]:
        query = "SELECT table_name, column_name, data_type, is_nullable, description FROM information_schema.columns"
        found: dict[str, list[Row[Any]]] = defaultdict(list)
        for row in connection.execute(text(f"{query} WHERE table_schema = '{MAIN}' ORDER BY ordinal_position")):
            found[row.table_name].append(row)
        return found


class OntoloomHttpDialect(OntoloomDialect):
    """A running ``ontoloom serve``."""

    driver = "http"
    supports_statement_cache = True
    poolclass: ClassVar[type[Pool]] = QueuePool

    def target(self, url: URL) -> str:
        host = f"[{url.host}]" if ":" in (url.host or "") else url.host or "127.0.0.1"
        return f"http://{host}:{url.port or 8000}"


def type_of(data_type: str) -> Type:
    """``BIGINT``, ``VARCHAR[]`` … as SQLAlchemy's type."""
    one = TYPES.get(data_type.removesuffix("[]"), String)()
    return ARRAY(one) if data_type.endswith("[]") else one
