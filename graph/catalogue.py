"""What FROM may name: types with their subtypes, relations, views over them, and walks through the graph.

A table is made of SQL over the columnar projection; ``information_schema`` and walks are rows that are computed first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import pyarrow as pa
from sqlglot import exp

from graph.guard import at, spelled
from graph.pivot import quoted, text
from graph.projection import ColumnarProjection
from graph.scopes import MAIN, fold, joined
from graph.store import Store
from graph.tables import Column, Table, names_of_types
from graph.views import INFORMATION_SCHEMA, VIEWS, coverage_sql, information_rows
from graph.walks import walk
from ontology.findings import did_you_mean
from ontoloom.errors import QueryError

TYPE = "_type"
"""The column with the most specific type of the entity in a row. It is not stored, as a table is of one type."""

Named = Mapping[str, list[Column]]
"""What WITH has named so far: columns by folded name."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What can be read while one statement runs.

    ``stored`` are types and relations as the projection has them. ``given`` gathers the tables that were computed for
    the statement, by the names that it has for them when it is run, ``read`` all tables that it reads.
    """

    store: Store
    projection: ColumnarProjection
    stored: Sequence[Table]
    named: Named = field(default_factory=dict)
    given: dict[str, pa.Table] = field(default_factory=dict)
    read: list[Table] = field(default_factory=list)

    @property
    def tables(self) -> list[Table]:
        """Types, each with ``_type``, and relations."""
        return [self.typed(t) if t.of == "type" else t for t in self.stored]

    def typed(self, table: Table) -> Table:
        kind = names_of_types(self.store.ontology.subtypes(table.name))
        return replace(table, columns=(*table.columns, Column(TYPE, kind, TYPE, hidden=True)))

    def find(self, node: exp.Table) -> Table:
        """The table of a name, exactly or else with case aside. Raises QueryError at its place."""
        name, schema = node.name, fold(node.text("db"))
        if node.args.get("catalog") is None and schema == INFORMATION_SCHEMA:
            known = [t for t in VIEWS if t.name.startswith(f"{INFORMATION_SCHEMA}.")]
            found = [t for t in known if t.name == f"{schema}.{fold(name)}"]
        else:
            known = [] if schema not in ("", MAIN) else [*self.tables, *(t for t in VIEWS if "." not in t.name)]
            found = [t for t in known if t.name == name] or [t for t in known if fold(t.name) == fold(name)]
            found = [t for t in found if t.of != "view"] or found  # a type of that name hides the view
        if len(found) > 1:
            raise at(node, f"'{name}' may be {' or '.join(t.name for t in found)}", code="ambiguous")
        if not found:
            proposal = did_you_mean(f"{schema}.{name}" if schema else name, [t.name for t in known])
            raise at(node, joined(f"there is no table '{spelled_name(node)}'", proposal), code="unknown-table")
        return found[0]

    def rows(self, table: Table, change: int | None) -> exp.Expr:
        """What stands in FROM for a table, as it is or as it was just after a change.

        It is one node, however long its SQL, since trees are copied and walked more than once.
        """
        if not table.name.startswith(f"{INFORMATION_SCHEMA}."):
            return exp.Var(this=self.sql(table, change))
        self.given[table.name] = information_rows(table, self.store.ontology, [*self.tables, *VIEWS])
        self.read.append(table)
        return exp.to_identifier(table.name, quoted=True)

    def walk(self, node: exp.Anonymous) -> tuple[list[Column], exp.Identifier]:
        """The columns of a table function, and what stands in FROM for its rows."""
        columns, rows = walk(node, self.store)
        name = f"{node.name.lower()} {len(self.given)}"
        self.given[name] = rows
        self.read.append(Table(node.name.lower(), "view", tuple(columns)))
        return columns, exp.to_identifier(name, quoted=True)

    def sql(self, table: Table, change: int | None) -> str:
        """SQL of a FROM item. A type's rows are those of its subtypes too, each with its own type."""
        if table.of == "view":
            return coverage_sql(self.store.ontology, self.tables, lambda of: self.sql(of, change))
        if table.of == "relation":
            return self.source(table, table, change)
        types = {t.name: t for t in self.stored if t.of == "type"}
        columns = dict.fromkeys(
            name for c in table.columns if c.name != TYPE for name in (c.stored, c.citations) if name
        )
        below = self.store.ontology.subtypes(table.name)
        listed = ", ".join(map(quoted, columns)) if len(below) > 1 else "*"
        parts = (
            f"SELECT {listed}, {text(name)} AS {quoted(TYPE)} FROM {self.source(types[name], table, change)}"
            for name in below
        )
        return f"({' UNION ALL '.join(parts)})"

    def source(self, stored: Table, table: Table, change: int | None) -> str:
        """What is stored of a table."""
        self.read.append(table)
        return self.projection.source(stored, change)

    def change(self, node: exp.Table) -> int | None:
        """The change that ``AS OF`` names; None where it isn't there. Raises QueryError at its place."""
        version = node.args.get("version")
        if version is None:
            return None
        try:
            when = point_in_time(version.args["expression"])
            if isinstance(when, datetime):
                return self.projection.change_at(when)
            last = self.store.last_change()
            if not 1 <= when <= last:
                counted = f"changes are numbered from 1 to {last}" if last else "nothing was ever written"
                raise at(version, f"there is no change {when}; {counted}", code="no-change")
        except QueryError as error:
            raise error if error.line else at(version, error.message, code=error.code, hint=error.hint) from None
        return when


def point_in_time(node: exp.Expr) -> int | datetime:
    """A change number, or a time in UTC where it names no zone; a date is where the day begins."""
    value = node.this if isinstance(node, exp.Cast) else node
    if isinstance(value, exp.Literal) and isinstance(node, exp.Cast) and node.to.this in TIMES:
        try:
            return datetime.fromisoformat(value.this)
        except ValueError:
            raise at(value, f"'{value.this}' is no time; write 2026-11-30 12:00", code="type") from None
    if isinstance(node, exp.Literal) and not node.is_string and node.this.isdigit():
        return int(node.this)
    hint = "AS OF 12, AS OF TIMESTAMP '2026-11-30 12:00', AS OF DATE '2026-11-30'"
    raise at(node, f"AS OF takes the number of a change or a time, not {spelled(node)}", code="syntax", hint=hint)


TIMES = (exp.DType.DATE, exp.DType.TIMESTAMP, exp.DType.TIMESTAMPNTZ, exp.DType.TIMESTAMPTZ)


def spelled_name(node: exp.Table) -> str:
    return ".".join(part.name for part in node.parts)
