"""Puts saved views into a statement: each becomes a query of its WITH, once for each time that it is named.

Whatever is wrong within a view is said where the statement names the view.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from graph.bind import Scalar
from graph.guard import MAX_NODES, SPAN, at, parse, spelled
from graph.saved_views import BadValueError, View, ViewParameter, Views, convert, spell
from graph.scopes import fold
from ontology.findings import did_you_mean
from ontoloom.errors import QueryError

PREFIX = "view "


def expand(query: exp.Query, views: Views, *, within: Sequence[View] = ()) -> exp.Query:
    """Replaces the views that a query names, in place. Raises QueryError at a call that does not fit its view.

    ``within`` are the views that are being replaced already, from the outermost.
    """
    for node in list(query.find_all(exp.Table)):
        is_call = isinstance(node.this, exp.Anonymous)
        view = views.get(fold(node.this.name)) if not node.args.get("db") else None
        if view is None or (not is_call and is_named_by_with(node, view.name)):
            continue
        if view in within:
            trail = " → ".join(v.name for v in (*within[within.index(view) :], view))
            raise at(node, f"the view {view.name} reads itself: {trail}", code="view-cycle")
        add_cte(query, node, read(node, view, views, within), view.name)
        if sum(1 for _ in query.walk()) > MAX_NODES:
            raise at(node, f"with its views the statement has more than {MAX_NODES:,} parts", code="size")
    return query


def read(node: exp.Table, view: View, views: Views, within: Sequence[View]) -> exp.Query:
    """The statement of a view with the arguments of a call."""
    if view.fault:
        raise at(node, f"the view {view.name} does not hold: {view.fault}", code="view")
    values = arguments(node, view)
    try:
        body = parse(view.sql, parameters=values, amend=lambda query: expand(query, views, within=[*within, view]))
    except QueryError as error:
        if error.code == "view-cycle":
            raise at(node, error.message, code=error.code) from None
        where = f"{view.file}:{error.line}:{error.column}: " if error.line else ""
        raise at(node, f"the view {view.name} does not hold: {where}{error.message}", code="view") from None
    span = next((n.meta[SPAN] for n in node.walk() if SPAN in n.meta), None)
    for part in body.walk():
        part.meta.pop(SPAN, None)
        if span is not None:
            part.meta[SPAN] = span
    if node.args.get("version") is not None:
        read_as_of(body, node.args["version"])
    return body


def add_cte(query: exp.Query, node: exp.Table, body: exp.Query, name: str) -> None:
    """Names a view's statement in WITH, by a name that no statement writes by chance, and lets a table be it."""
    clause = query.args.get("with_") or exp.With(expressions=[])
    views = sum(1 for cte in clause.expressions if cte.alias.startswith(PREFIX))
    internal = exp.to_identifier(f"{PREFIX}{name} {views + 1}", quoted=True)
    cte = exp.CTE(this=body, alias=exp.TableAlias(this=internal.copy()))
    clause.set("expressions", [*clause.expressions[:views], cte, *clause.expressions[views:]])
    query.set("with_", clause)
    internal.meta.update(node.meta)
    alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(name))
    if alias.this is None:
        alias.set("this", exp.to_identifier(name))
    node.set("alias", alias)
    node.set("this", internal)
    node.set("version", None)


def read_as_of(query: exp.Expr, version: exp.Expr) -> None:
    """Lets the tables of a query be read as they were, in place; those that say so themselves stay as they are."""
    for node in query.find_all(exp.Table):
        stands = isinstance(node.this, exp.Anonymous) or node.args.get("db") or node.args.get("version")
        if not stands and not is_named_by_with(node, node.name):
            node.set("version", version.copy())


def is_named_by_with(node: exp.Expr, name: str) -> bool:
    """Whether a WITH around a node gives that name to a query that the node can read."""
    inner: exp.Expr = node
    while inner.parent is not None:
        outer = inner.parent
        clause, known = outer.args.get("with_"), []
        if isinstance(outer, exp.With):
            place = next(i for i, cte in enumerate(outer.expressions) if cte is inner)
            known = outer.expressions[: place + bool(outer.args.get("recursive"))]
        elif clause is not None and clause is not inner:
            known = clause.expressions
        if any(fold(cte.alias) == fold(name) for cte in known):
            return True
        inner = outer
    return False


# Arguments


def arguments(node: exp.Table, view: View) -> Mapping[str, Scalar]:
    """The values of a view's parameters in a call: by name, by order, or their defaults."""
    given = dict(spelled_arguments(node, view)) if isinstance(node.this, exp.Anonymous) else {}
    values: dict[str, Scalar] = {}
    for parameter in view.parameters:
        argument = given.get(parameter.name)
        if argument is None and parameter.required:
            hint = f"{view.name}({', '.join(p.spelled for p in view.parameters)})"
            raise at(node, f"the view {view.name} needs '{parameter.name}'", code="arguments", hint=hint)
        values[parameter.name] = parameter.default if argument is None else value_of(argument, parameter, node)
    return values


def spelled_arguments(node: exp.Table, view: View) -> list[tuple[str, exp.Expr]]:
    names = [p.name for p in view.parameters]
    found: list[tuple[str, exp.Expr]] = []
    for place, argument in enumerate(node.this.expressions):
        is_named = isinstance(argument, exp.Kwarg | exp.PropertyEQ)
        if not is_named and place >= len(names):
            raise at(argument, f"the view {view.name} takes {len(names)} arguments", code="arguments")
        name = argument.this.name if is_named else names[place]
        known = next((n for n in names if fold(n) == fold(name)), None)
        if known is None:
            hint = did_you_mean(name, names)
            raise at(argument, f"the view {view.name} has no parameter '{name}'", code="arguments", hint=hint)
        if known in dict(found):
            raise at(argument, f"'{known}' is given twice", code="arguments")
        if not is_named and any(n not in names[:place] for n, _ in found):
            raise at(argument, "arguments without a name come first", code="arguments")
        found.append((known, argument.expression if is_named else argument))
    return found


def value_of(node: exp.Expr, parameter: ViewParameter, call: exp.Table) -> Scalar:
    try:
        return convert(constant(node), parameter)
    except BadValueError as error:
        place = node if SPAN in node.meta else call  # NULL, TRUE and FALSE have none
        raise at(place, str(error), code="arguments") from None


def constant(node: exp.Expr) -> Scalar:
    """The value of a constant: a literal, perhaps negative, perhaps cast."""
    inner = node.unnest()
    if isinstance(inner, exp.Cast):
        inner = inner.this
    if isinstance(inner, exp.Neg):
        value = constant(inner.this)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return -value
    if isinstance(inner, exp.Literal):
        if inner.is_string:
            return inner.name
        return int(inner.name) if inner.name.isdigit() else float(inner.name)
    if isinstance(inner, exp.Boolean):
        return bool(inner.this)
    if isinstance(inner, exp.Null):
        return None
    raise BadValueError(f"an argument is a constant, and {spelled(node)} is none")


def call(view: View) -> str:
    """How a view is written in FROM, with its defaults."""
    if not view.parameters:
        return view.name
    shown = (p.name if p.required else f"{p.name} => {spell(p.default)}" for p in view.parameters)
    return f"{view.name}({', '.join(shown)})"
