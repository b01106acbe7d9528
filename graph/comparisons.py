"""Comparisons and conditions.

A column that holds many values is compared by its values: ``=``, ``IN``, ``LIKE`` hold when they hold for any value,
``<>``, ``NOT IN``, ``NOT LIKE`` when they hold for no value. No value is known where the column is NULL, and then
neither holds. All other uses of such a column as one value are errors.
"""

from __future__ import annotations

from sqlglot import exp

from graph.comparable import make_comparable
from graph.functions import BOOLEAN, FAMILY_WORDS
from graph.guard import at, spelled
from graph.many import VALUE, any_in_rows, call, contains, over_values
from graph.resolve import Handler, condition, many_values, resolve, resolve_one
from graph.scopes import Scope
from graph.tables import Kind

COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<=", exp.NullSafeEQ: "IS",
    exp.NullSafeNEQ: "IS",
}  # fmt: skip


def compare(node: exp.Expr, scope: Scope) -> Kind:
    """``=`` and its like. With many values on one side, or both, ``=`` means any value and ``<>`` none."""
    left, right = node.this, node.expression
    if isinstance(right, exp.Any) and not isinstance(right.this, (exp.Query, exp.Tuple)):
        right.replace(right.this.unnest())
        right = node.expression
        if not isinstance(node, exp.EQ):
            raise at(node, f"{COMPARISONS[type(node)]} ANY(list) is not allowed; only = ANY(list) is", code="forbidden")
    if isinstance(left, exp.Tuple) and isinstance(right, exp.Tuple):
        compare_rows(left, row_kinds(left, scope), right, row_kinds(right, scope))
        return BOOLEAN
    kinds = [resolve(left, scope), resolve(right, scope)]
    left, right = node.this, node.expression
    make_comparable(left, kinds[0], right, kinds[1])
    left, right = node.this, node.expression
    if not (kinds[0].many or kinds[1].many):
        return BOOLEAN
    if not isinstance(node, (exp.EQ, exp.NEQ)) or isinstance(right, (exp.Any, exp.All)):
        raise many_values(left if kinds[0].many else right)
    if kinds[0].many and kinds[1].many:
        anyone: exp.Expr = call("list_has_any", left, right)
    else:
        anyone = contains(left, right, kinds[0]) if kinds[0].many else contains(right, left, kinds[1])
    node.replace(exp.Not(this=anyone) if isinstance(node, exp.NEQ) else anyone)
    return BOOLEAN


def resolve_in(node: exp.Expr, scope: Scope) -> Kind:
    if isinstance(node.this, exp.Tuple):
        return row_in(node, scope)
    kind = resolve(node.this, scope)
    if node.args.get("field") is not None:
        raise at(node, "IN takes values in brackets or a subquery; for a list use = ANY(list)", code="syntax")
    if node.args.get("query") is not None:
        return in_subquery(node, scope, kind)
    for place, item in enumerate(list(node.expressions)):
        item_kind = resolve_one(item, scope)
        make_comparable(node.this, kind, node.expressions[place], item_kind)
    if kind.many:
        values = node.this
        node.replace(exp.paren(exp.or_(*(contains(values, item, kind) for item in node.expressions))))
    return BOOLEAN


def in_subquery(node: exp.Expr, scope: Scope, kind: Kind) -> Kind:
    inner = resolve_one(node.args["query"], scope)
    make_comparable(node.this, kind, node.args["query"], inner)
    if kind.many:
        node.replace(any_in_rows(node.this, node.args["query"]))
    return BOOLEAN


def row_in(node: exp.Expr, scope: Scope) -> Kind:
    """``(a, b) IN ((1, 2), (3, 4))`` or ``IN (SELECT a, b …)``."""
    kinds, query = row_kinds(node.this, scope), node.args.get("query")
    if query is not None:
        compare_rows(node.this, kinds, query, [c.kind for c in scope.rewrite(query, scope)])
    for item in list(node.expressions):
        if not isinstance(item, exp.Tuple):
            raise at(item, f"{spelled(item)} is not a row like {spelled(node.this)}", code="type")
        compare_rows(node.this, kinds, item, row_kinds(item, scope))
    return BOOLEAN


def row_kinds(row: exp.Expr, scope: Scope) -> list[Kind]:
    return [resolve_one(item, scope) for item in list(row.expressions)]


def compare_rows(row: exp.Expr, kinds: list[Kind], other: exp.Expr, other_kinds: list[Kind]) -> None:
    """``(a, b)`` with another row, or with the rows of a query: column by column."""
    if len(kinds) != len(other_kinds):
        raise at(other, f"the two sides have {len(kinds)} and {len(other_kinds)} columns", code="columns")
    for place, (kind, other_kind) in enumerate(zip(kinds, other_kinds, strict=True)):
        if other_kind.many:
            raise many_values(other)
        value = other.expressions[place] if isinstance(other, exp.Tuple) else other
        make_comparable(row.expressions[place], kind, value, other_kind)


def resolve_like(node: exp.Expr, scope: Scope) -> Kind:
    """LIKE, ILIKE, SIMILAR TO, with ESCAPE or without."""
    like = node.this if isinstance(node, exp.Escape) else node
    kind = resolve(like.this, scope)
    pattern = resolve_one(like.expression, scope)
    if isinstance(node, exp.Escape):
        resolve_one(node.expression, scope)
    for side, family in ((like.this, kind.family), (like.expression, pattern.family)):
        if family not in ("text", "unknown", "null"):
            raise at(side, f"LIKE compares texts; {spelled(side)} is {FAMILY_WORDS[family]}", code="type")
    if kind.many:
        values = like.this.copy()
        like.this.replace(exp.column(exp.to_identifier(VALUE, quoted=True)))
        negated = like.args.pop("negate", None)  # sqlglot keeps the NOT of NOT LIKE within
        anyone: exp.Expr = call("list_bool_or", call("list_transform", values, over_values(node.copy())))
        node.replace(exp.Not(this=anyone) if negated else anyone)
    return BOOLEAN


def resolve_between(node: exp.Expr, scope: Scope) -> Kind:
    kind = resolve_one(node.this, scope)
    for name in ("low", "high"):
        other = resolve_one(node.args[name], scope)
        make_comparable(node.this, kind, node.args[name], other)
    return BOOLEAN


def resolve_is(node: exp.Expr, scope: Scope) -> Kind:
    """``IS NULL`` asks whether a value is known, so it takes columns of many values too."""
    kind = resolve(node.this, scope)
    if kind.many and not isinstance(node.expression, exp.Null):
        raise many_values(node.this)
    return BOOLEAN


# Conditions


def resolve_connector(node: exp.Expr, scope: Scope) -> Kind:
    """AND, OR; long chains are taken in one step, so that they may be as long as they like."""
    for operand in list(node.flatten()):
        condition(operand, scope)
    return BOOLEAN


def resolve_not(node: exp.Expr, scope: Scope) -> Kind:
    condition(node.this, scope)
    return BOOLEAN


COMPARISON_HANDLERS: dict[type[exp.Expr], Handler] = {
    **dict.fromkeys(COMPARISONS, compare),
    **dict.fromkeys((exp.And, exp.Or), resolve_connector),
    **dict.fromkeys((exp.Like, exp.ILike, exp.SimilarTo, exp.Escape), resolve_like),
    exp.In: resolve_in,
    exp.Is: resolve_is,
    exp.Not: resolve_not,
    exp.Between: resolve_between,
    exp.Where: lambda node, scope: condition(node.this, scope),
    exp.Having: lambda node, scope: condition(node.this, scope),
    exp.Qualify: lambda node, scope: condition(node.this, scope),
}
