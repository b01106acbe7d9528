"""Expressions: each has a kind, which the handler for its sort of node tells.

The handlers are in ``graph.expressions`` and ``graph.comparisons`` and call back here; ``graph.rewrite`` puts them in.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from graph.functions import FAMILY_WORDS
from graph.guard import at, spelled
from graph.scopes import Scope
from graph.tables import UNKNOWN, Kind
from ontoloom.errors import QueryError

Handler = Callable[[exp.Expr, Scope], Kind]
HANDLERS: dict[type[exp.Expr], Handler] = {}


def resolve(node: exp.Expr, scope: Scope) -> Kind:
    """The kind of an expression, which is rewritten in place. Raises QueryError at what does not fit."""
    handler = HANDLERS.get(type(node))
    return handler(node, scope) if handler else scalars(node, scope)


def scalars(node: exp.Expr, scope: Scope, *, kind: Kind = UNKNOWN) -> Kind:
    """An expression of which nothing is known but that its parts are single values."""
    for child in list(node.iter_expressions()):
        resolve_one(child, scope)
    return kind


def resolve_one(node: exp.Expr, scope: Scope) -> Kind:
    """As ``resolve``, for a place where a single value belongs."""
    kind = resolve(node, scope)
    if kind.many:
        raise many_values(node)
    return kind


def many_values(node: exp.Expr, text: str = "") -> QueryError:
    text = text or spelled(node)
    hint = f"compare it with =, <>, IN or LIKE, or use UNNEST({text}) in SELECT or FROM"
    return at(node, f"'{text}' holds many values", code="many-values", hint=hint)


def condition(node: exp.Expr, scope: Scope) -> Kind:
    """A place where true or false belongs."""
    kind = resolve_one(node, scope)
    if kind.family not in ("boolean", "unknown", "null"):
        raise at(node, f"'{spelled(node)}' is {FAMILY_WORDS[kind.family]}, not a condition", code="type")
    return kind
