"""Turns a statement over types and relations into one over Parquet files, names resolved and ``*`` spelled out."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from graph.catalogue import Catalogue
from graph.comparisons import COMPARISON_HANDLERS
from graph.expressions import EXPRESSION_HANDLERS
from graph.from_clause import add_from, add_join, renamed
from graph.guard import at, spelled, written
from graph.resolve import HANDLERS, many_values, resolve, resolve_one
from graph.scopes import Scope, as_column, find, fold, joined
from graph.tables import UNKNOWN, Column, Kind
from ontology.findings import did_you_mean

HANDLERS.update(EXPRESSION_HANDLERS | COMPARISON_HANDLERS)


def rewrite(query: exp.Expr, catalogue: Catalogue, parent: Scope | None = None) -> list[Column]:
    """Rewrites a query in place; gives its columns. Raises QueryError at what cannot be."""
    catalogue = rewrite_with(query, catalogue, parent)
    if isinstance(query, exp.Subquery):
        return rewrite_modifiers(query, rewrite(query.this, catalogue, parent), catalogue, parent)
    if isinstance(query, exp.SetOperation):
        left, right = (rewrite(side, catalogue, parent) for side in (query.this, query.expression))
        columns = unite(query, left, right)
        return rewrite_modifiers(query, columns, catalogue, parent)
    if isinstance(query, exp.Select):
        return rewrite_select(query, catalogue, parent)
    raise at(query, f"{spelled(query)} is not a query", code="forbidden")


def rewrite_with(query: exp.Expr, catalogue: Catalogue, parent: Scope | None) -> Catalogue:
    """The queries that WITH names; a recursive one is known by the columns of its first part."""
    clause = query.args.get("with_")
    if clause is None:
        return catalogue
    for cte in clause.expressions:
        name, body = fold(cte.alias), cte.this
        if clause.args.get("recursive") and isinstance(body, exp.Union):
            first = renamed(rewrite(body.this, catalogue, parent), cte)
            inner = replace(catalogue, named={**catalogue.named, name: first})
            columns = unite(body, first, rewrite(body.expression, inner, parent))
        else:
            columns = renamed(rewrite(body, catalogue, parent), cte)
        catalogue = replace(catalogue, named={**catalogue.named, name: columns})
    return catalogue


def unite(query: exp.SetOperation, left: list[Column], right: list[Column]) -> list[Column]:
    """The columns of a set operation: the names of its left side."""
    if query.args.get("by_name"):
        known = {fold(c.name) for c in left}
        return left + [c for c in right if fold(c.name) not in known]
    if len(left) != len(right):
        raise at(query.expression, f"the two sides have {len(left)} and {len(right)} columns", code="columns")
    for a, b in zip(left, right, strict=True):
        if a.kind.many != b.kind.many and UNKNOWN not in (a.kind, b.kind):
            raise at(query.expression, f"'{a.name}' holds many values on one side only", code="many-values")
    return [
        a if a.kind == b.kind else replace(a, kind=loosened(a.kind, b.kind)) for a, b in zip(left, right, strict=True)
    ]


def loosened(left: Kind, right: Kind) -> Kind:
    if left == right or left.family == "null":
        return right
    same = left.family == right.family or right.family == "null"
    return Kind(left.family if same else "unknown", left.many)


def rewrite_modifiers(
    query: exp.Expr, columns: list[Column], catalogue: Catalogue, parent: Scope | None
) -> list[Column]:
    """ORDER BY, LIMIT and OFFSET of what is not a SELECT itself: only its columns are in reach."""
    scope = new_scope(catalogue, parent)
    for column in columns:
        scope.outputs.setdefault(fold(column.name), []).append(column.kind)
    rewrite_order(query, scope, columns)
    rewrite_limits(query, scope)
    return columns


def new_scope(catalogue: Catalogue, parent: Scope | None) -> Scope:
    return Scope(lambda query, scope: rewrite(query, catalogue, scope), parent)


# SELECT


def rewrite_select(select: exp.Select, catalogue: Catalogue, parent: Scope | None) -> list[Column]:
    scope = new_scope(catalogue, parent)
    if select.args.get("from_") is not None:
        add_from(select.args["from_"].this, scope, catalogue)
    for join in select.args.get("joins") or []:
        add_join(join, scope, catalogue)
    for lateral in select.args.get("laterals") or []:
        add_from(lateral, scope, catalogue)
    columns = rewrite_projections(select, scope)
    for clause in ("where", "having", "qualify"):
        if select.args.get(clause) is not None:
            resolve(select.args[clause], scope)
    rewrite_group(select, scope, columns)
    rewrite_distinct(select, scope)
    for window in select.args.get("windows") or []:
        resolve(window, scope)
    rewrite_order(select, scope, columns)
    rewrite_limits(select, scope)
    return columns


def rewrite_projections(select: exp.Select, scope: Scope) -> list[Column]:
    """The SELECT list: stars spelled out, each column under a name of its own."""
    columns: list[Column] = []
    named: list[exp.Expr] = []
    for item in list(select.expressions):
        for node, name in expand_star(item, scope) if is_star(item) else [(item, output_name(item, scope))]:
            holder = node if isinstance(node, exp.Alias) else exp.Alias(this=node)
            kind = resolve(holder.this, scope)
            scope.outputs.setdefault(fold(name), []).append(kind)
            unique = unique_name(name, columns)
            columns.append(Column(unique, kind, unique))
            holder.set("alias", exp.to_identifier(unique, quoted=True))
            named.append(holder)
    select.set("expressions", named)
    return columns


def is_star(item: exp.Expr) -> bool:
    return isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star))


def output_name(item: exp.Expr, scope: Scope) -> str:
    """The name of an unnamed column: that of the column it shows (``record.field`` whole), else its text."""
    if isinstance(item, exp.Alias):
        return item.alias
    if isinstance(item, exp.Column):
        found = find(item, scope)
        return found.column.name if found.column else item.name
    return written(item)


def unique_name(name: str, columns: list[Column]) -> str:
    taken = {fold(c.name) for c in columns}
    return next(n for n in (name, *(f"{name}_{i}" for i in range(1, len(columns) + 2))) if fold(n) not in taken)


def expand_star(item: exp.Expr, scope: Scope) -> list[tuple[exp.Expr, str]]:
    """``*`` or ``t.*`` as columns: the visible ones, those that USING made one only once, EXCLUDE left out."""
    star = item if isinstance(item, exp.Star) else item.this
    sources = scope.sources
    if isinstance(item, exp.Column):
        sources = [s for s in sources if fold(s.alias) == fold(item.table)]
        if not sources:
            proposal = did_you_mean(item.table, [s.alias for s in scope.sources])
            raise at(item, joined(f"there is no table '{item.table}' here", proposal), code="unknown-table")
    if not sources:
        raise at(item, "* needs a table in FROM", code="syntax")
    left_out = excluded(star, scope)
    found: dict[tuple[str, str], tuple[exp.Expr, str]] = {}
    for source in sources:
        for column in source.visible():
            key = fold(column.name)
            merged = isinstance(item, exp.Star) and key in scope.merged
            if key not in left_out:
                parts = (column.name,) if merged else (column.name, source.alias)
                node = exp.column(*(exp.to_identifier(p, quoted=True) for p in parts))
                found.setdefault(("", key) if merged else (source.internal, key), (node, column.name))
    return list(found.values())


def excluded(star: exp.Expr, scope: Scope) -> set[str]:
    """The folded names that EXCLUDE leaves out, each of which must be there."""
    names = set()
    for node in star.args.get("except_") or []:
        if isinstance(node, exp.Identifier):
            node = as_column(node)
        found = find(node, scope)
        names.add(fold(found.column.name if found.column else node.name))
    return names


def rewrite_group(select: exp.Select, scope: Scope, columns: list[Column]) -> None:
    group = select.args.get("group")
    if group is None:
        return
    for item in list(group.expressions):
        check_ordinal(item, columns)
        place = unnested_output(item, scope, columns)
        if place is not None:
            item.replace(exp.Literal.number(place))
        else:
            resolve_one(item, scope)
    if group.args.get("all"):
        check_single(select, columns)


def unnested_output(item: exp.Expr, scope: Scope, columns: list[Column]) -> int | None:
    """The place of ``UNNEST(x) AS x`` when the statement groups by ``x``, which would else be the column of lists."""
    if not isinstance(item, exp.Column) or item.table:
        return None
    places = [i for i, c in enumerate(columns, 1) if fold(c.name) == fold(item.name) and not c.kind.many]
    return places[0] if len(places) == 1 and find(item, scope).kind.many else None


def rewrite_distinct(select: exp.Select, scope: Scope) -> None:
    distinct = select.args.get("distinct")
    if distinct is not None and distinct.args.get("on") is not None:
        resolve_one(distinct.args["on"], scope)


def check_single(select: exp.Select, columns: list[Column]) -> None:
    """GROUP BY ALL groups by every column that does not aggregate."""
    for column, projection in zip(columns, select.expressions, strict=True):
        if column.kind.many and not projection.find(exp.Anonymous):
            raise many_values(projection, column.name)


def check_ordinal(item: exp.Expr, columns: list[Column]) -> None:
    """``GROUP BY 2``, ``ORDER BY 2``: the second column, which must be there and hold single values."""
    if isinstance(item, exp.Literal) and not item.is_string:
        number = int(item.this) if item.this.isdigit() else 0
        if not 1 <= number <= len(columns):
            raise at(item, f"there is no column number {item.this}; there are {len(columns)}", code="unknown-column")
        if columns[number - 1].kind.many:
            raise many_values(item, columns[number - 1].name)


def rewrite_order(query: exp.Expr, scope: Scope, columns: list[Column]) -> None:
    """ORDER BY: a bare name is a column of the SELECT list if there is one, else one of a table."""
    order = query.args.get("order")
    for ordered in order.expressions if order is not None else []:
        check_ordinal(ordered.this, columns)
        node = ordered.this
        if isinstance(node, exp.Var) and any(c.kind.many for c in columns):
            raise many_values(ordered, next(c.name for c in columns if c.kind.many))
        if isinstance(node, exp.Column) and not node.table and fold(node.name) in scope.outputs:
            own = Scope(scope.rewrite, None, outputs=scope.outputs)
            resolve_one(node, own)
        else:
            resolve_one(node, scope)


def rewrite_limits(query: exp.Expr, scope: Scope) -> None:
    for clause in ("limit", "offset"):
        if query.args.get(clause) is not None:
            for child in list(query.args[clause].iter_expressions()):
                if not isinstance(child, exp.LimitOptions):
                    resolve_one(child, scope)
