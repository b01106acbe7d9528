"""FROM: puts tables, subqueries, UNNEST and VALUES in reach, and tables of the ontology in the place of files."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from graph.catalogue import Catalogue
from graph.guard import at, spelled
from graph.resolve import condition, many_values, resolve, resolve_one
from graph.scopes import Scope, Source, as_column, find, fold
from graph.tables import NUMBER, Column
from graph.views import INFORMATION_SCHEMA
from graph.walks import WALKS


def add_from(node: exp.Expr, scope: Scope, catalogue: Catalogue) -> None:
    """Puts a table, subquery, UNNEST or VALUES in reach."""
    if isinstance(node, exp.Table):
        add_table(node, scope, catalogue)
    elif isinstance(node, exp.Lateral):
        add_lateral(node, scope)
    elif isinstance(node, exp.Unnest):
        add_unnest(node, scope)
    elif isinstance(node, exp.Values):
        kinds = [resolve_one(cell, scope) for row in node.expressions for cell in list(row.expressions)]
        width = len(node.expressions[0].expressions)
        add_derived(node, [Column(f"col{i}", kinds[i], f"col{i}") for i in range(width)], scope)
    elif isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table):
        if node.alias:
            raise at(node, "a join in brackets takes no name", code="syntax")
        add_from(node.this, scope, catalogue)
    elif isinstance(node, exp.Subquery):
        add_derived(node, scope.rewrite(node, scope), scope)
    else:
        raise at(node, f"{spelled(node)} is not a table", code="forbidden")
    for join in node.args.get("joins") or []:
        add_join(join, scope, catalogue)


def add_table(node: exp.Table, scope: Scope, catalogue: Catalogue) -> None:
    version = node.args.get("version")
    if isinstance(node.this, exp.Anonymous):
        check_now(version, node.this.name)
        return add_function(node, scope, catalogue)
    named = catalogue.named.get(fold(node.name)) if not node.args.get("db") else None
    if named is not None:
        check_now(version, node.name)
        return add_derived(node, named, scope)
    table = catalogue.find(node)
    alias = node.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        raise at(alias.args["columns"][0], "rename the columns of a table in the SELECT list", code="syntax")
    if table.name.startswith(INFORMATION_SCHEMA):
        check_now(version, table.name)
    source = scope.add(node.alias or node.name, list(table.columns), node)
    put_rows(node, catalogue.rows(table, catalogue.change(node)), source)
    return None


def check_now(version: exp.Expr | None, name: str) -> None:
    if version is not None:
        raise at(version, f"AS OF stands behind a type or relation, and {name} is none", code="syntax")


def put_rows(node: exp.Table, rows: exp.Expr, source: Source) -> None:
    """Puts what a table's rows are read from in its place."""
    for part in ("db", "catalog", "version"):
        node.set(part, None)
    node.set("this", rows)
    node.set("alias", exp.TableAlias(this=exp.to_identifier(source.internal, quoted=True)))


def add_function(node: exp.Table, scope: Scope, catalogue: Catalogue) -> None:
    """A table function: a walk is computed here and now, all others when the statement is run."""
    name = node.this.name.lower()
    if name not in WALKS:
        for argument in list(node.this.expressions):
            resolve_one(argument, scope)
        return add_derived(node, [Column(name, NUMBER, name)], scope)
    columns, rows = catalogue.walk(node.this)
    alias = node.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        raise at(alias.args["columns"][0], "rename the columns of a walk in the SELECT list", code="syntax")
    put_rows(node, rows, scope.add(node.alias or name, columns, node))
    return None


def add_derived(node: exp.Expr, columns: list[Column], scope: Scope) -> None:
    """A table that the statement itself makes; ``AS t(a, b)`` names its columns."""
    name = node.alias or (node.name if isinstance(node, exp.Table) else "") or "subquery"
    if isinstance(node, exp.Table) and isinstance(node.this, exp.Anonymous):
        name = node.alias or node.this.name
    columns = renamed(columns, node)
    source = scope.add(name, columns, node)
    identifiers = [exp.to_identifier(c.stored, quoted=True) for c in columns]
    node.set("alias", exp.TableAlias(this=exp.to_identifier(source.internal, quoted=True), columns=identifiers))


def add_unnest(node: exp.Unnest, scope: Scope) -> None:
    """``UNNEST(list) AS t(value)``, or ``AS value``: a row for each value, of the kind of the values."""
    columns = [Column("unnest", resolve(item, scope).element, "unnest") for item in list(node.expressions)]
    ordinality = node.args.get("offset")
    if len(columns) > 1:
        raise at(node, "UNNEST takes one list here", code="columns")
    alias = node.args.get("alias")
    if alias is not None and not alias.args.get("columns") and alias.this is not None:
        columns = [replace(c, name=alias.name, stored=alias.name) for c in columns]
    if ordinality:  # sqlglot keeps the name that the statement gives it, the last one in AS t(value, place)
        place = ordinality.name if isinstance(ordinality, exp.Identifier) else "ordinality"
        columns.append(Column(place, NUMBER, place))
        node.set("offset", True)
    add_derived(node, columns, scope)


def add_lateral(node: exp.Lateral, scope: Scope) -> None:
    if not isinstance(node.this, exp.Subquery):
        raise at(node, "LATERAL takes a subquery", code="forbidden")
    add_derived(node, scope.rewrite(node.this, scope), scope)


def add_join(join: exp.Join, scope: Scope, catalogue: Catalogue) -> None:
    """A join: ON sees both sides, USING and NATURAL make columns one, SEMI and ANTI show the left side only."""
    before = list(scope.sources)
    add_from(join.this, scope, catalogue)
    added = scope.sources[len(before) :]
    if str(join.args.get("method") or "").upper() == "NATURAL":
        join.set("method", None)
        seen = {fold(c.name) for s in before for c in s.visible()}
        common = [c.name for s in added for c in s.visible() if fold(c.name) in seen]
        if not common:
            raise at(join, "NATURAL JOIN finds no column of the same name", code="syntax")
        join.set("using", [exp.to_identifier(name, quoted=True) for name in common])
    if join.args.get("using"):
        merge_columns(join, before, added, scope)
    if join.args.get("on") is not None:
        condition(join.args["on"], scope)
    if str(join.args.get("kind") or "").upper() in ("SEMI", "ANTI"):
        scope.sources = before


def merge_columns(join: exp.Join, before: list[Source], added: list[Source], scope: Scope) -> None:
    """USING: each name must be one column on either side, of single values."""
    identifiers = []
    for node in join.args["using"]:
        column = as_column(node)
        left = find(column, Scope(scope.rewrite, None, before, scope.merged))
        right = find(column, Scope(scope.rewrite, None, added))
        if left.kind.many or right.kind.many:
            raise many_values(node, node.name)
        assert left.source is not None
        assert left.column is not None
        scope.merged[fold(node.name)] = left.source, left.column
        identifiers.append(exp.to_identifier(left.column.stored, quoted=True))
    join.set("using", identifiers)


def renamed(columns: list[Column], node: exp.Expr) -> list[Column]:
    alias = node.args.get("alias")
    if alias is None:
        return columns
    names = [n.name for n in alias.args.get("columns") or []]
    if len(names) > len(columns):
        raise at(alias, f"{len(names)} names for {len(columns)} columns", code="columns")
    return [Column(n, c.kind, n) for n, c in zip(names, columns, strict=False)] + columns[len(names) :]
