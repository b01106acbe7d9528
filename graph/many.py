"""SQL for columns that hold many values: whether any of them is what it is compared with."""

from __future__ import annotations

from sqlglot import exp

from graph.tables import Kind

VALUE = "_value"
"""The parameter of the lambdas that run over the values of a column."""


def call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=[a.copy() for a in arguments])


def contains(values: exp.Expr, value: exp.Expr, kind: Kind) -> exp.Expr:
    """Whether one of the values is that value; NULL when either is."""
    if kind.family == "date" and isinstance(value, exp.Literal):
        is_moment = kind.attribute is not None and kind.attribute.type == "datetime"
        value = exp.cast(value.copy(), "timestamp" if is_moment else "date")
    return call("list_contains", values, value)


def any_in_rows(values: exp.Expr, query: exp.Expr) -> exp.Expr:
    """``values IN (SELECT …)``: TRUE for any value; else NULL where a row is NULL or no value is known; else FALSE.

    The rows are gathered into a list, and the lambda is there to name that list, so that it is made once.
    """
    row = exp.to_identifier("_row", quoted=True)
    rows = exp.Subquery(this=query.unnest(), alias=exp.TableAlias(this=exp.to_identifier("_rows"), columns=[row]))
    gathered = exp.Subquery(this=exp.select(call("list", exp.column(row))).from_(rows))
    name = exp.column(exp.to_identifier(VALUE, quoted=True))
    unknown = exp.or_(is_null(values), exp.NEQ(this=call("len", name), expression=call("list_count", name)))
    cases = [(is_null(name), exp.false()), (call("list_has_any", values, name), exp.true()), (unknown, exp.null())]
    case = exp.Case(ifs=[exp.If(this=test, true=result) for test, result in cases], default=exp.false())
    answers = call("list_transform", exp.Array(expressions=[gathered]), over_values(case))
    return call("list_extract", answers, exp.Literal.number(1))


def over_values(body: exp.Expr) -> exp.Lambda:
    return exp.Lambda(this=body, expressions=[exp.to_identifier(VALUE, quoted=True)])


def is_null(node: exp.Expr) -> exp.Expr:
    return exp.Is(this=node.copy(), expression=exp.null())
