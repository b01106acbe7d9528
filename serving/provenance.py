"""A SELECT that also says where each value comes from: for each column of a table, ``provenance(column)`` beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from threading import Event

from sqlglot import exp

from graph.guard import DIALECT, parse
from graph.projection import ColumnarProjection
from graph.select import Selection, select
from graph.store import Store
from graph.tables import Table, describe
from ontology.schema import Ontology
from ontoloom.errors import QueryError

MARK = "source of "


@dataclass(frozen=True, slots=True)
class Sourced:
    """A selection with, for each row, the citations of its values by column; columns without a source are left out."""

    selection: Selection
    sources: list[dict[str, list[str]]]


def select_with_sources(
    store: Store,
    projection: ColumnarProjection,
    sql: str,
    *,
    max_rows: int = 10_000,
    timeout: float = 30.0,
    cancelled: Event | None = None,
    read: Callable[[str], exp.Query] = parse,
) -> Sourced:
    """As ``graph.select.select``, and says where each value comes from: of rows that are rows of a table."""

    def read_asking(sql: str) -> exp.Query:
        return ask_for_sources(read(sql), store.ontology)

    found = select(store, projection, sql, max_rows=max_rows, timeout=timeout, cancelled=cancelled, read=read_asking)
    names = [column.name for column in found.columns if column.name.startswith(MARK)]
    rows = found.rows.select(names).to_pylist() if names else [{} for _ in range(found.rows.num_rows)]
    sources = [{name.removeprefix(MARK): row[name] for name in names if row[name]} for row in rows]
    kept = [column for column in found.columns if column.name not in names]
    return Sourced(Selection(kept, found.rows.select([c.name for c in kept]), found.truncated), sources)


def ask_for_sources(statement: exp.Query, ontology: Ontology) -> exp.Query:
    """The statement with a column of citations for each of its columns that is one of a table."""
    if not isinstance(statement, exp.Select) or statement.args.get("group") or statement.args.get("distinct"):
        raise QueryError(
            "where values come from can be said of a plain SELECT only", hint="without GROUP BY, DISTINCT, UNION"
        )
    tables = list(_tables(statement, ontology))
    added = [
        exp.alias_(exp.Anonymous(this="provenance", expressions=[column]), MARK + name, quoted=True)
        for projection in statement.expressions
        for name, column in _columns(projection, tables)
    ]
    return statement.select(*added)


def _tables(statement: exp.Select, ontology: Ontology) -> Iterator[tuple[str, Table]]:
    """The tables of FROM and JOIN, under the names by which columns refer to them."""
    known = {table.name.casefold(): table for table in describe(ontology)}
    for node in (statement.args.get("from_"), *statement.args.get("joins", ())):
        source = node.this if node is not None else None
        if isinstance(source, exp.Table) and source.name.casefold() in known:
            yield source.alias_or_name, known[source.name.casefold()]


def _columns(projection: exp.Expr, tables: Sequence[tuple[str, Table]]) -> Iterator[tuple[str, exp.Expr]]:
    """Output names with the columns that they show; nothing for what is computed."""
    shown = projection.unalias()
    if isinstance(shown, exp.Star) or (isinstance(shown, exp.Column) and isinstance(shown.this, exp.Star)):
        of = shown.table if isinstance(shown, exp.Column) else ""
        for name, table in tables:
            if of.casefold() in ("", name.casefold()):
                yield from ((c.name, _reference(name, c.name)) for c in table.columns if c.citations)
    elif isinstance(shown, exp.Column | exp.Dot) and _has_source(shown, tables):
        yield projection.output_name or shown.sql(dialect=DIALECT), shown.copy()


def _reference(table: str, column: str) -> exp.Expr:
    names = [exp.to_identifier(part, quoted=True) for part in (table, *column.split("."))]
    return exp.column(*reversed(names))


def _has_source(column: exp.Column | exp.Dot, tables: Sequence[tuple[str, Table]]) -> bool:
    spelled = ".".join(part.name for part in column.parts).casefold()
    return any(
        c.citations and spelled in (c.name.casefold(), f"{name}.{c.name}".casefold())
        for name, table in tables
        for c in table.columns
    )
