"""Gives every expression of a statement its kind and checks it, and turns columns into stored columns."""

from __future__ import annotations

from functools import partial

from sqlglot import exp

from graph.comparable import is_date, is_number, make_comparable, make_literal_comparable
from graph.functions import BOOLEAN, DATE, FAMILY_WORDS, FUNCTIONS, Function
from graph.guard import at, spelled
from graph.resolve import Handler, condition, resolve, resolve_one, scalars
from graph.scopes import Scope, find
from graph.tables import NUMBER, TEXT, TEXTS, UNKNOWN, Family, Kind


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


# Operators


def arithmetic(node: exp.Expr, scope: Scope) -> Kind:
    families: set[Family] = set()
    units: list[str] = []
    for side in ("this", "expression"):
        operand = node.args.get(side)
        if operand is None:
            continue
        kind = resolve_one(operand, scope)
        family = kind.family
        if family in ("text", "boolean"):
            message = f"{spelled(operand)} is {FAMILY_WORDS[family]} and cannot be reckoned with"
            raise at(operand, message, code="type")
        families.add(family)
        units.append(kind.unit)
    if "date" in families:
        return UNKNOWN if families == {"date"} else DATE  # a date less a date is days, a timestamp an interval
    return Kind("number", unit=unit_of(node, units)) if families == {"number"} else UNKNOWN


def unit_of(node: exp.Expr, units: list[str]) -> str:
    """What a result counts: a sum the one unit that is in it, a multiple or a share that of the whole."""
    if isinstance(node, exp.Pow) or (isinstance(node, exp.Div | exp.IntDiv | exp.Mul) and all(units)):
        return ""
    if isinstance(node, exp.Div | exp.IntDiv):
        return units[0]
    return units[0] or units[-1] if len({u for u in units if u}) == 1 else ""


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
            make_comparable(node.this, subject_kind, branch.this, other)
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


def resolve_skipping(node: exp.Expr, scope: Scope) -> Kind:
    """A function of a window that passes over NULL: the kind is that of what it picks from."""
    kinds = [resolve_one(child, scope) for child in list(node.iter_expressions())]
    return kinds[0]


def resolve_worded(node: exp.Expr, scope: Scope, *, kind: Kind) -> Kind:
    """``substring``, ``trim``, ``position``: functions of a text with words between their arguments."""
    family = resolve_one(node.this, scope).family
    if family not in ("text", "unknown", "null"):
        raise at(node.this, f"{spelled(node.this)} is {FAMILY_WORDS[family]}, not text", code="type")
    for child in [c for c in node.iter_expressions() if c is not node.this]:
        resolve_one(child, scope)
    return kind


def resolve_quantified(node: exp.Expr, scope: Scope) -> Kind:
    """``ANY (SELECT …)``, ``ALL (SELECT …)``: one value at a time."""
    return resolve_one(node.this, scope)


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
    make_list_values_comparable(node, name, kinds)
    return given(function, kinds)


def make_list_values_comparable(node: exp.Expr, name: str, kinds: list[Kind]) -> None:
    """``list_contains(attribute, 'value')``: the value must be one that the attribute can have."""
    if name in ("list_contains", "array_contains", "list_has", "array_has") and len(kinds) == 2:
        make_comparable(node.expressions[0], kinds[0], node.expressions[1], kinds[1])
    elif name in ("list_has_any", "array_has_any", "list_has_all", "array_has_all") and len(kinds) == 2:
        for item in node.expressions[1].expressions if isinstance(node.expressions[1], exp.Array) else []:
            if isinstance(item, exp.Literal):
                make_literal_comparable(item, literal_kind(item), node.expressions[0], kinds[0])


def given(function: Function, kinds: list[Kind]) -> Kind:
    if isinstance(function.gives, Kind):
        return function.gives
    first = next((k for k in kinds if k.family != "null"), UNKNOWN)
    if function.gives == "measure":
        return Kind("number", unit=first.unit)
    if function.gives == "first":
        return first
    return Kind(first.family, function.gives == "list", first.attribute, first.unit)


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


EXPRESSION_HANDLERS: dict[type[exp.Expr], Handler] = {
    **dict.fromkeys((exp.Identifier, exp.Var, exp.DataType, exp.Star), leaf),
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Pow, exp.Neg), arithmetic),
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
    exp.DPipe: partial(scalars, kind=TEXT),
    exp.Interval: partial(scalars, kind=Kind("interval")),
    exp.Extract: partial(scalars, kind=NUMBER),
    exp.Case: resolve_case,
    exp.If: resolve_if,
    exp.Bracket: resolve_bracket,
    exp.Array: resolve_array,
    exp.Window: resolve_window,
    exp.IgnoreNulls: passes,
    **dict.fromkeys((exp.FirstValue, exp.LastValue, exp.NthValue, exp.Lag, exp.Lead), resolve_skipping),
    **dict.fromkeys((exp.Substring, exp.Trim), partial(resolve_worded, kind=TEXT)),
    exp.StrPosition: partial(resolve_worded, kind=NUMBER),
    **dict.fromkeys((exp.Any, exp.All), resolve_quantified),
    exp.Anonymous: resolve_function,
}
