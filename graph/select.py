"""SELECT over what the graph says: typed tables, one for each type and relation, no LLM involved.

``select`` reads one statement with sqlglot, refuses what is not harmless (``guard``), resolves its names against the
ontology (``rewrite``), brings the columnar projection up to the last change, and runs it in a DuckDB that can read
nothing else (``sandbox``). ``docs/select.md`` says what a statement may hold.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any, TypeAlias

import duckdb
import pyarrow as pa
from sqlglot import ErrorLevel, exp
from sqlglot.errors import UnsupportedError

from graph.catalogue import Catalogue
from graph.explain import plan_lines
from graph.guard import DIALECT, at, parse, without_explain
from graph.projection import ColumnarProjection
from graph.rewrite import rewrite
from graph.sandbox import MEMORY, run
from graph.store import Store
from graph.tables import Column as Output
from ontoloom.errors import QueryError

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a result. ``type`` is ``integer``, ``enum``, ``list of string`` …; names are unique."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Selection:
    """A result. ``truncated``: there are more rows than were asked for."""

    columns: list[Column]
    rows: pa.Table
    truncated: bool


def select(
    store: Store,
    projection: ColumnarProjection,
    sql: str,
    *,
    max_rows: int = 10_000,
    timeout: float = 30.0,
    cancelled: Event | None = None,
    read: Callable[[str], exp.Query] = parse,
) -> Selection:
    """Runs one SELECT statement, or says with EXPLAIN before it how it would be run.

    ``timeout`` is in seconds. The result holds at most ``max_rows`` rows. Another thread stops the statement by
    setting ``cancelled``. ``read`` reads the statement (``graph.prepare``: parameters, saved views, a past state).
    Raises QueryError with line and column at whatever cannot be run.
    """
    sql, explained = without_explain(sql)
    statement = read(sql)
    limits = Limits(max_rows, timeout, cancelled)
    projection.refresh()
    work = explain_statement if explained else run_statement
    try:
        return work(store, projection, statement, limits)
    except duckdb.Error as error:
        if isinstance(error, STOPPED) or not projection.repair():
            raise readable_error(error, statement, projection, limits) from None
    try:
        return work(store, projection, statement, limits)
    except duckdb.Error as error:
        raise readable_error(error, statement, projection, limits) from None


@dataclass(frozen=True, slots=True)
class Limits:
    """When a statement is stopped: rows, seconds, and what another thread sets."""

    rows: int
    seconds: float
    cancelled: Event | None

    @property
    def is_cancelled(self) -> bool:
        return self.cancelled is not None and self.cancelled.is_set()


STOPPED = (duckdb.InterruptException, duckdb.OutOfMemoryException)


def run_statement(store: Store, projection: ColumnarProjection, statement: exp.Query, limits: Limits) -> Selection:
    catalogue = Catalogue(store, projection, projection.tables)
    text, outputs = compile_statement(statement, catalogue, limits.rows + 1)
    rows = tidy(run_text(catalogue, text, limits), outputs)
    columns = [Column(o.name, result_type(o, f.type)) for o, f in zip(outputs, rows.schema, strict=True)]
    return Selection(columns, rows.slice(0, limits.rows), rows.num_rows > limits.rows)


def explain_statement(store: Store, projection: ColumnarProjection, statement: exp.Query, limits: Limits) -> Selection:
    """The plan of a statement as one column of lines."""
    catalogue = Catalogue(store, projection, projection.tables)
    text, _ = compile_statement(statement, catalogue, None)
    plan = run_text(catalogue, f"EXPLAIN (FORMAT JSON) {text}", limits).column(1)[0].as_py()
    lines = pa.array(plan_lines(plan, catalogue.read), pa.string())
    return Selection([Column("plan", "string")], pa.table({"plan": lines}), truncated=False)


def run_text(catalogue: Catalogue, text: str, limits: Limits) -> pa.Table:
    if limits.is_cancelled:
        raise QueryError(CANCELLED, code="cancelled")
    folder = catalogue.projection.folder
    return run(folder, text, timeout=limits.seconds, given=catalogue.given, cancelled=limits.cancelled)


def compile_statement(statement: exp.Query, catalogue: Catalogue, rows: int | None) -> tuple[str, list[Output]]:
    """SQL for the sandbox, of at most so many rows, and the columns of the result."""
    try:
        query = statement.copy()
        outputs = rewrite(query, catalogue)
        query = query if rows is None else limited(query, rows)
        text = query.sql(
            dialect=DIALECT,
            copy=False,
            comments=False,
            normalize_functions=False,
            unsupported_level=ErrorLevel.RAISE,
        )
    except RecursionError:
        raise QueryError("the statement is nested too deeply", code="size") from None
    except UnsupportedError as error:
        raise QueryError(f"the statement cannot be run: {one_line(str(error))}", code="forbidden") from None
    return text, outputs


def limited(query: exp.Query, rows: int) -> exp.Query:
    """The query with at most that many rows; on its own LIMIT where it can be, so that its order is kept."""
    limit = query.args.get("limit")
    count = limit.expression if isinstance(limit, exp.Limit) and not limit.args.get("limit_options") else None
    if limit is None:
        return query.limit(rows, copy=False)
    if isinstance(count, exp.Literal) and count.this.isdigit():
        return query.limit(min(rows, int(count.this)), copy=False)
    return exp.select("*").from_(query.subquery("limited", copy=False)).limit(rows)


def tidy(table: pa.Table, outputs: Sequence[Output]) -> pa.Table:
    """The rows under the names of the statement, decimals as integers or floats."""
    columns = [plain(column) for column in table.columns]
    return pa.Table.from_arrays(columns, names=[o.name for o in outputs])


def plain(column: Values) -> Values:
    """DuckDB's sums and literals are decimals; here whole ones are integers where they fit, all others floats."""
    if not pa.types.is_decimal(column.type):
        return column
    if column.type.scale == 0:
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:
            return column.cast(pa.float64())
    return column.cast(pa.float64())


Values: TypeAlias = "pa.ChunkedArray[Any]"
ARROW_TYPES = (
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_integer, "integer"),
    (pa.types.is_floating, "number"),
    (pa.types.is_date, "date"),
    (pa.types.is_timestamp, "timestamp"),
    (pa.types.is_string, "string"),
)


def result_type(output: Output, arrow: pa.DataType) -> str:
    """The type of a result column: the ontology's where an attribute is shown as it is, else that of the rows."""
    is_list = pa.types.is_list(arrow)
    if output.kind.attribute is not None and output.kind.many == is_list:
        return output.type
    if is_list:
        return f"list of {result_type(output, arrow.field(0).type)}"
    return next((name for test, name in ARROW_TYPES if test(arrow)), str(arrow))


# Errors


def readable_error(
    error: duckdb.Error, statement: exp.Query, projection: ColumnarProjection, limits: Limits
) -> QueryError:
    """DuckDB's error as one line, at the function it speaks of, without names that are not the statement's."""
    if isinstance(error, duckdb.InterruptException):
        if limits.is_cancelled:
            return QueryError(CANCELLED, code="cancelled")
        hint = "narrow it down with WHERE, or allow more time"
        return QueryError(f"the statement took longer than {limits.seconds:g} seconds", code="timeout", hint=hint)
    if isinstance(error, duckdb.OutOfMemoryException):
        hint = "narrow it down with WHERE, or let fewer rows be sorted, grouped or gathered at once"
        return QueryError(f"the statement needs more than {MEMORY} of memory", code="memory", hint=hint)
    message = one_line(str(error))
    if any(word in message for word in INTERNAL) or str(projection.folder) in message:
        logger.debug("SELECT: %s", error)
        message = "a function or comparison in it does not fit its values"
    called = re.search(r"(\w+)\(", message)
    names = (n for n in statement.find_all(exp.Anonymous) if called and n.name.lower() == called[1].lower())
    node, message = next(names, None), f"the statement cannot be run: {message}"
    if node is not None:
        return at(node, message, code="execution")
    return QueryError(message, code="execution")


CANCELLED = "the statement was cancelled"
INTERNAL = ("_value", "_row", "list_bool_or", "list_transform", "read_parquet", "_citations.", ".parquet")


def one_line(message: str) -> str:
    """The first sentence of DuckDB's message, without the kind of error before it and the statement after it."""
    first = message.strip().split("\n")[0].split(" You might need to")[0].split(" Candidate ")[0]
    return re.sub(r"^[A-Z][A-Za-z ]* Error: ", "", first).strip().rstrip("!.")
