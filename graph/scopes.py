"""What names mean at a place of a statement: the tables in reach, their columns, and the names given in SELECT."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Protocol

from sqlglot import exp

from graph.guard import at, spelled
from graph.tables import Column, Kind
from ontology.findings import did_you_mean
from ontoloom.errors import QueryError

MAIN = "main"
"""The schema of all tables but those of ``information_schema``."""


@dataclass(frozen=True, slots=True)
class Source:
    """A table in FROM. ``alias`` is what the statement calls it, ``internal`` what it is called when it is run."""

    alias: str
    internal: str
    columns: dict[str, Column]
    """By folded name, hidden ones included."""

    def visible(self) -> list[Column]:
        return [c for c in self.columns.values() if not c.hidden]


class Rewrite(Protocol):
    """Rewrites a query in place and gives its columns."""

    def __call__(self, query: exp.Expr, parent: Scope | None) -> list[Column]: ...


@dataclass(slots=True)
class Scope:
    """The names of one SELECT while it is rewritten, within those of the SELECT around it."""

    rewrite: Rewrite
    parent: Scope | None = None
    sources: list[Source] = field(default_factory=list)
    merged: dict[str, tuple[Source, Column]] = field(default_factory=dict)
    """Columns that USING has made one; they are written without a table."""
    outputs: dict[str, list[Kind]] = field(default_factory=dict)
    """Columns of the SELECT list by folded name."""

    def outward(self) -> Iterator[Scope]:
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def add(self, alias: str, columns: list[Column], node: exp.Expr) -> Source:
        """A table in reach from here on. Its internal name is unique, so that no inner table can hide an outer one."""
        if any(fold(s.alias) == fold(alias) for s in self.sources):
            raise at(node, f"'{alias}' is there twice; give one of them another name", code="ambiguous")
        taken = {fold(s.internal) for scope in self.outward() for s in scope.sources}
        names = chain([alias], (f"{alias}_{number}" for number in count(2)))
        internal = next(name for name in names if fold(name) not in taken)
        source = Source(alias, internal, {fold(c.name): c for c in columns})
        self.sources.append(source)
        return source


@dataclass(frozen=True, slots=True)
class Found:
    """What a name means: a column of a source, a merged column, or (``column`` None) a name given in SELECT."""

    kind: Kind
    source: Source | None = None
    column: Column | None = None
    merged: bool = False

    def expression(self, name: str) -> exp.Column:
        if self.column is None:
            return exp.column(exp.to_identifier(name, quoted=True))
        return self.stored(self.column.stored, bare=self.merged)

    def stored(self, name: str, *, bare: bool = False) -> exp.Column:
        """A column of the source as it is stored."""
        table = exp.to_identifier(self.source.internal, quoted=True) if self.source and not bare else None
        return exp.column(exp.to_identifier(name, quoted=True), table=table, copy=False)


def fold(name: str) -> str:
    """The form under which names are compared: as in SQL, case makes no difference."""
    return name.casefold()


def find(node: exp.Column, scope: Scope) -> Found:
    """What a column stands for. Raises QueryError at its place: unknown, ambiguous, or a record."""
    parts = [part.name for part in node.parts]
    if len(parts) > 2 and fold(parts[0]) == MAIN and not any(fold(s.alias) == MAIN for s in scope.sources):
        parts = parts[1:]  # main.Model.name, as programs write it that read information_schema
    for level in scope.outward():
        found = find_here(node, parts, level)
        if found is not None:
            return found
    raise unknown(node, parts, scope)


def find_here(node: exp.Column, parts: list[str], scope: Scope) -> Found | None:
    """``name``, ``record.field``, ``table.name`` or ``table.record.field`` among the names of one SELECT."""
    name = fold(".".join(parts))
    if name in scope.merged:
        source, column = scope.merged[name]
        return Found(column.kind, source, column, merged=True)
    hits = [(s, s.columns[name]) for s in scope.sources if name in s.columns]
    if len(parts) > 1:
        table, rest = fold(parts[0]), fold(".".join(parts[1:]))
        hits += [(s, s.columns[rest]) for s in scope.sources if fold(s.alias) == table and rest in s.columns]
    if len(hits) > 1:
        writings = [f"{s.alias}.{c.name}" for s, c in hits]
        text = spelled(node)
        raise at(node, f"'{text}' is ambiguous; write {' or '.join(writings)}", code="ambiguous")
    if hits:
        return Found(hits[0][1].kind, *hits[0])
    return find_output(node, name, scope) if len(parts) == 1 else None


def find_output(node: exp.Column, name: str, scope: Scope) -> Found | None:
    """A name that the SELECT list gives."""
    kinds = scope.outputs.get(name)
    if kinds and len(kinds) > 1:
        raise at(node, f"'{node.name}' names {len(kinds)} columns; give them names with AS", code="ambiguous")
    return Found(kinds[0]) if kinds else None


def as_column(node: exp.Expr) -> exp.Column:
    """USING and EXCLUDE hold bare names or columns."""
    column = node if isinstance(node, exp.Column) else exp.column(node.copy())
    column.meta.update(node.meta)
    return column


def unknown(node: exp.Column, parts: list[str], scope: Scope) -> QueryError:
    text = spelled(node)
    sources = [s for level in scope.outward() for s in level.sources]
    owner = next((s for s in sources if len(parts) > 1 and fold(s.alias) == fold(parts[0])), None)
    fields = record_fields(parts, sources)
    if fields:
        proposal = f"name one of its fields: {', '.join(fields)}"
        return at(node, f"'{text}' is a record; {proposal}", code="record")
    if owner is None and len(parts) > 1 and not record_fields(parts[:1], sources):
        proposal = did_you_mean(parts[0], sorted({s.alias for s in sources}))
        return at(node, joined(f"there is no table '{parts[0]}' here", proposal), code="unknown-table")
    if node.this.args.get("quoted") and len(parts) == 1:
        return at(node, f"there is no column '{text}'; a text is written '{parts[0]}'", code="unknown-column")
    known = [c.name for s in ([owner] if owner else sources) for c in s.columns.values() if not c.hidden]
    name = ".".join(parts[1:] if owner else parts)
    where = f" in {owner.alias}" if owner else ""
    proposal = did_you_mean(name, list(dict.fromkeys(known)))
    return at(node, joined(f"there is no column '{name}'{where}", proposal), code="unknown-column")


def record_fields(parts: list[str], sources: list[Source]) -> list[str]:
    """The fields of the record of that name."""
    names = [fold(".".join(parts)) + "."]
    if len(parts) > 1:
        names.append(fold(".".join(parts[1:])) + ".")
    return [c.name for s in sources for key, c in s.columns.items() if key.startswith(tuple(names))]


def joined(message: str, proposal: str) -> str:
    return f"{message}; {proposal}" if proposal else message
