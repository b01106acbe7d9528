"""Gives every expression of a statement its kind and checks it, and turns columns into stored columns.

A column that holds many values is compared by its values: ``=``, ``IN``, ``LIKE`` hold when they hold for any value,
``<>``, ``NOT IN``, ``NOT LIKE`` when they hold for no value. No value is known where the column is NULL, and then
neither holds. All other uses of such a column as one value are errors.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sqlglot import exp

from graph.comparable import check_comparable, check_literal, is_date, is_number
from graph.functions import BOOLEAN, DATE, FAMILY_WORDS, FUNCTIONS, Function
from graph.guard import at, spelled
from graph.many import VALUE, any_in_rows, call, contains, over_values
from graph.scopes import Scope, find
from graph.tables import NUMBER, TEXT, TEXTS, UNKNOWN, Family, Kind
from ontoloom.errors import QueryError

COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<=", exp.NullSafeEQ: "IS",
    exp.NullSafeNEQ: "IS",
}  # fmt: skip


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


def passes(node: exp.Expr, scope: Scope) -> Kind:
    return resolve(node.this, scope)


def leaf(_: exp.Expr, __: Scope) -> Kind:
    return UNKNOWN


# Columns, literals, subqueries


def resolve_column(node: exp.Expr, scope: Scope) -> Kind:
    assert isinstance(node, exp.Column)
    if isinstance(node.this, exp.Star):
        raise at(node, "t.* belongs in the SELECT list", code="forbidden")
    found = find(node, scope)
    replacement = found.expression(node.name)
    replacement.meta.update(node.meta)
    node.replace(replacement)
    return found.kind


def literal_kind(node: exp.Expr) -> Kind:
    return TEXT if isinstance(node, exp.Literal) and node.is_string else NUMBER


def resolve_subquery(node: exp.Expr, scope: Scope) -> Kind:
    columns = scope.rewrite(node, scope)
    if len(columns) != 1:
        raise at(node, f"a subquery used as a value has one column, not {len(columns)}", code="columns")
    return columns[0].kind


def resolve_exists(node: exp.Expr, scope: Scope) -> Kind:
    scope.rewrite(node.this, scope)
    return BOOLEAN


# Comparisons


def compare(node: exp.Expr, scope: Scope) -> Kind:
    """``=`` and its like. With many values on one side, or both, ``=`` means any value and ``<>`` none."""
    left, right = node.this, node.expression
    if isinstance(right, exp.Any) and not isinstance(right.this, (exp.Query, exp.Tuple)):
        right.replace(right.this.unnest())
        right = node.expression
        if not isinstance(node, exp.EQ):
            raise at(node, f"{COMPARISONS[type(node)]} ANY(list) is not allowed; only = ANY(list) is", code="forbidden")
    kinds = [resolve(left, scope), resolve(right, scope)]
    left, right = node.this, node.expression
    check_comparable(left, kinds[0], right, kinds[1])
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
    kind = resolve(node.this, scope)
    if node.args.get("field") is not None:
        raise at(node, "IN takes values in brackets or a subquery; for a list use = ANY(list)", code="syntax")
    if node.args.get("query") is not None:
        return in_subquery(node, scope, kind)
    for place, item in enumerate(list(node.expressions)):
        item_kind = resolve_one(item, scope)
        check_comparable(node.this, kind, node.expressions[place], item_kind)
    if kind.many:
        values = node.this
        node.replace(exp.paren(exp.or_(*(contains(values, item, kind) for item in node.expressions))))
    return BOOLEAN


def in_subquery(node: exp.Expr, scope: Scope, kind: Kind) -> Kind:
    inner = resolve_one(node.args["query"], scope)
    check_comparable(node.this, kind, node.args["query"], inner)
    if kind.many:
        node.replace(any_in_rows(node.this, node.args["query"]))
    return BOOLEAN


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


# Other operators


def resolve_is(node: exp.Expr, scope: Scope) -> Kind:
    """``IS NULL`` asks whether a value is known, so it takes columns of many values too."""
    kind = resolve(node.this, scope)
    if kind.many and not isinstance(node.expression, exp.Null):
        raise many_values(node.this)
    return BOOLEAN


def resolve_connector(node: exp.Expr, scope: Scope) -> Kind:
    """AND, OR; long chains are taken in one step, so that they may be as long as they like."""
    for operand in list(node.flatten()):
        condition(operand, scope)
    return BOOLEAN


def condition(node: exp.Expr, scope: Scope) -> Kind:
    """A place where true or false belongs."""
    kind = resolve_one(node, scope)
    if kind.family not in ("boolean", "unknown", "null"):
        raise at(node, f"'{spelled(node)}' is {FAMILY_WORDS[kind.family]}, not a condition", code="type")
    return kind


def resolve_not(node: exp.Expr, scope: Scope) -> Kind:
    condition(node.this, scope)
    return BOOLEAN


def resolve_between(node: exp.Expr, scope: Scope) -> Kind:
    kind = resolve_one(node.this, scope)
    for name in ("low", "high"):
        other = resolve_one(node.args[name], scope)
        check_comparable(node.this, kind, node.args[name], other)
    return BOOLEAN


def arithmetic(node: exp.Expr, scope: Scope) -> Kind:
    families: set[Family] = set()
    for side in ("this", "expression"):
        operand = node.args.get(side)
        if operand is None:
            continue
        family = resolve_one(operand, scope).family
        if family in ("text", "boolean"):
            message = f"{spelled(operand)} is {FAMILY_WORDS[family]} and cannot be reckoned with"
            raise at(operand, message, code="type")
        families.add(family)
    if "date" in families:
        return UNKNOWN if families == {"date"} else DATE  # a date less a date is days, a timestamp an interval
    return NUMBER if families == {"number"} else UNKNOWN


def resolve_case(node: exp.Expr, scope: Scope) -> Kind:
    """CASE gives what its branches give; ``CASE x WHEN value`` compares."""
    subject = node.args.get("this")
    subject_kind = resolve_one(subject, scope) if subject is not None else None
    kinds = []
    for branch in node.args["ifs"]:
        if subject_kind is None:
            condition(branch.this, scope)
        else:
            other = resolve_one(branch.this, scope)
            check_comparable(node.this, subject_kind, branch.this, other)
        kinds.append(resolve(branch.args["true"], scope))
    if node.args.get("default") is not None:
        kinds.append(resolve(node.args["default"], scope))
    return common(kinds)


def resolve_if(node: exp.Expr, scope: Scope) -> Kind:
    condition(node.this, scope)
    kinds = [resolve(node.args[name], scope) for name in ("true", "false") if node.args.get(name) is not None]
    return common(kinds)


def common(kinds: list[Kind]) -> Kind:
    """The kind of what may be any of several; the attribute is kept when it is the same for all."""
    known = [k for k in kinds if k.family != "null"]
    if not known:
        return Kind("null")
    first = known[0]
    if all(k == first for k in known):
        return first
    family = first.family if all(k.family == first.family for k in known) else "unknown"
    return Kind(family, first.many)


def resolve_cast(node: exp.Expr, scope: Scope) -> Kind:
    """``CAST(x AS type)``; a literal that the type does not have is an error at its place."""
    to = node.args["to"]
    family = cast_family(to)
    literal = node.this if isinstance(node.this, exp.Literal) and node.this.is_string else None
    resolve_one(node.this, scope)
    if literal is not None and isinstance(node, exp.Cast) and not isinstance(node, exp.TryCast):
        if to.this == exp.DType.DATE and not is_date(literal.this):
            raise at(literal, f"'{literal.this}' is not a date; write a date such as '2024-05-01'", code="type")
        if family == "number" and not is_number(literal.this):
            raise at(literal, f"'{literal.this}' is not a number", code="type")
    return Kind(family, many=to.this in (exp.DType.ARRAY, exp.DType.LIST))


def cast_family(to: exp.DataType) -> Family:
    if to.this in (exp.DType.ARRAY, exp.DType.LIST):
        return cast_family(to.expressions[0]) if to.expressions else "unknown"
    if to.this in exp.DataType.TEXT_TYPES:
        return "text"
    if to.this in exp.DataType.NUMERIC_TYPES:
        return "number"
    if to.this == exp.DType.BOOLEAN:
        return "boolean"
    return "date" if to.this in (exp.DType.DATE, exp.DType.TIMESTAMP) else "unknown"


def resolve_bracket(node: exp.Expr, scope: Scope) -> Kind:
    """``list[1]`` is one value, ``list[1:2]`` a list, ``text[1]`` a text."""
    kind = resolve(node.this, scope)
    for index in list(node.expressions):
        resolve_one(index, scope)
    return kind if isinstance(node.expressions[0], exp.Slice) else kind.element


def resolve_array(node: exp.Expr, scope: Scope) -> Kind:
    kinds = [resolve_one(item, scope) for item in list(node.expressions)]
    return Kind(common(kinds).family if kinds else "unknown", many=True)


def resolve_window(node: exp.Expr, scope: Scope) -> Kind:
    kind = resolve(node.this, scope) if not isinstance(node.this, exp.Identifier) else UNKNOWN
    for child in list(node.iter_expressions()):
        if child is not node.this:
            resolve_one(child, scope)
    return kind


def resolve_modified(node: exp.Expr, scope: Scope) -> Kind:
    """FILTER, WITHIN GROUP, ORDER BY and DISTINCT of a function: the kind is that of what they modify."""
    whole = isinstance(node, (exp.Filter, exp.WithinGroup))
    kind = UNKNOWN if node.this is None else resolve(node.this, scope) if whole else resolve_one(node.this, scope)
    for child in list(node.iter_expressions()):
        if child is not node.this:
            kind_of_child = resolve_one(child, scope)
            kind = kind_of_child if node.this is None else kind
    return kind


# Functions


def resolve_function(node: exp.Expr, scope: Scope) -> Kind:
    function, name = FUNCTIONS[node.name.lower()], node.name.lower()
    if name == "provenance":
        return resolve_provenance(node, scope)
    kinds = []
    for argument in list(node.expressions):
        kind = resolve(argument, scope) if function.lists else resolve_one(argument, scope)
        if function.takes != "any" and kind.family not in (function.takes, "unknown", "null"):
            message = f"{name} takes {FAMILY_WORDS[function.takes]}; {spelled(argument)} is {FAMILY_WORDS[kind.family]}"
            raise at(argument, message, code="type")
        kinds.append(kind)
    check_list_values(node, name, kinds)
    return given(function, kinds)


def check_list_values(node: exp.Expr, name: str, kinds: list[Kind]) -> None:
    """``list_contains(attribute, 'value')``: the value must be one that the attribute can have."""
    if name in ("list_contains", "array_contains", "list_has", "array_has") and len(kinds) == 2:
        check_comparable(node.expressions[0], kinds[0], node.expressions[1], kinds[1])
    elif name in ("list_has_any", "array_has_any", "list_has_all", "array_has_all") and len(kinds) == 2:
        for item in node.expressions[1].expressions if isinstance(node.expressions[1], exp.Array) else []:
            if isinstance(item, exp.Literal):
                check_literal(item, literal_kind(item), node.expressions[0], kinds[0])


def given(function: Function, kinds: list[Kind]) -> Kind:
    if isinstance(function.gives, Kind):
        return function.gives
    first = next((k for k in kinds if k.family != "null"), UNKNOWN)
    if function.gives == "first":
        return first
    return Kind(first.family, function.gives == "list", first.attribute)


def resolve_provenance(node: exp.Expr, scope: Scope) -> Kind:
    """``provenance(column)``: the citations of the value that the row has there."""
    column = node.expressions[0] if len(node.expressions) == 1 else None
    if not isinstance(column, exp.Column) or isinstance(column.this, exp.Star):
        raise at(node, "provenance takes one column of a table", code="provenance")
    found = find(column, scope)
    if found.column is None or not found.column.citations:
        text = spelled(column)
        hint = "call it where the table itself is in FROM, and give the result a name"
        raise at(column, f"where '{text}' comes from is not known here", code="provenance", hint=hint)
    node.replace(found.stored(found.column.citations))
    return TEXTS


HANDLERS: dict[type[exp.Expr], Callable[[exp.Expr, Scope], Kind]] = {
    **dict.fromkeys((exp.Identifier, exp.Var, exp.DataType, exp.Star), leaf),
    **dict.fromkeys(COMPARISONS, compare),
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg), arithmetic),
    **dict.fromkeys((exp.And, exp.Or), resolve_connector),
    **dict.fromkeys((exp.Like, exp.ILike, exp.SimilarTo, exp.Escape), resolve_like),
    **dict.fromkeys((exp.Paren, exp.Alias), passes),
    **dict.fromkeys((exp.Cast, exp.TryCast), resolve_cast),
    **dict.fromkeys((exp.Filter, exp.WithinGroup, exp.Order, exp.Distinct), resolve_modified),
    **dict.fromkeys((exp.Subquery, exp.Select, exp.Union, exp.Intersect, exp.Except), resolve_subquery),
    exp.Column: resolve_column,
    exp.Literal: lambda node, _: literal_kind(node),
    exp.Boolean: lambda _, __: BOOLEAN,
    exp.Null: lambda _, __: Kind("null"),
    exp.CurrentDate: lambda _, __: DATE,
    exp.Exists: resolve_exists,
    exp.In: resolve_in,
    exp.Is: resolve_is,
    exp.Not: resolve_not,
    exp.Between: resolve_between,
    exp.DPipe: partial(scalars, kind=TEXT),
    exp.Interval: partial(scalars, kind=Kind("interval")),
    exp.Extract: partial(scalars, kind=NUMBER),
    exp.Where: lambda node, scope: condition(node.this, scope),
    exp.Having: lambda node, scope: condition(node.this, scope),
    exp.Qualify: lambda node, scope: condition(node.this, scope),
    exp.Case: resolve_case,
    exp.If: resolve_if,
    exp.Bracket: resolve_bracket,
    exp.Array: resolve_array,
    exp.Window: resolve_window,
    exp.Anonymous: resolve_function,
}
