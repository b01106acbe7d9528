"""Makes the sides of a comparison alike, quantities in one unit, and refuses those that could never be equal."""

from __future__ import annotations

from datetime import date, datetime

from sqlglot import exp

from graph.functions import FAMILY_WORDS
from graph.guard import at, spelled
from graph.tables import Kind
from ontology.findings import did_you_mean
from ontology.quantities import NotInUnit, between, in_unit
from ontology.schema import Attribute
from ontology.values import BadValue, read_value

NUMERIC = Attribute("number", "number")


def make_comparable(left: exp.Expr, left_kind: Kind, right: exp.Expr, right_kind: Kind) -> None:
    """Puts quantities into the unit of the other side, in place of what stands there.

    Raises QueryError at a literal that the other side can never be, and where two sides are of different families or
    count different things.
    """
    for node, kind, other, other_kind in ((right, right_kind, left, left_kind), (left, left_kind, right, right_kind)):
        literal = literal_of(node)
        if literal is not None and literal_of(other) is None:
            return make_literal_comparable(literal, kind, other, other_kind)
    families = {left_kind.family, right_kind.family} - {"unknown", "null"}
    if len(families) == 2:
        names = [f"{spelled(n)} is {FAMILY_WORDS[k.family]}" for n, k in ((left, left_kind), (right, right_kind))]
        raise at(right, f"these cannot be compared: {names[0]}, {names[1]}", code="type")
    if left_kind.unit and right_kind.unit and left_kind.unit != right_kind.unit:
        convert(right, right_kind, left, left_kind)
    return None


def convert(node: exp.Expr, kind: Kind, other: exp.Expr, other_kind: Kind) -> None:
    """Puts in the place of an expression the same in the unit of another."""
    counted = f"{words_for(node)} counts {kind.unit}, {words_for(other)} {other_kind.unit}"
    try:
        factor, offset = between(kind.unit, other_kind.unit)
    except NotInUnit:
        raise at(node, f"these cannot be compared: {counted}", code="unit") from None
    if factor == 1 and offset == 0:
        return
    if (
        kind.many
        or isinstance(node, (exp.Any, exp.All))
        or (isinstance(node.parent, exp.In) and node.arg_key == "query")
    ):
        raise at(node, f"{counted}; multiply one of them to bring it into the unit of the other", code="unit")
    whole = 1 / factor == (1 / factor).to_integral_value()
    scaled = exp.Div if whole else exp.Mul
    number = exp.Literal.number(format(1 / factor if whole else factor, "f"))
    converted: exp.Expr = scaled(this=exp.paren(node.copy()), expression=number)
    if offset:
        converted = exp.Add(this=converted, expression=exp.Literal.number(format(offset, "f")))
    node.replace(exp.paren(converted))


def literal_of(node: exp.Expr) -> exp.Literal | None:
    bare = node.unnest()
    if isinstance(bare, exp.Neg):
        bare = bare.this
    return bare if isinstance(bare, exp.Literal) else None


def words_for(node: exp.Expr) -> str:
    return "the subquery" if node.find(exp.Query) else spelled(node)


def make_literal_comparable(literal: exp.Literal, kind: Kind, other: exp.Expr, other_kind: Kind) -> None:
    attribute, family, value = other_kind.attribute, other_kind.family, literal.this
    if attribute is not None and attribute.type == "enum" and kind.family == "text":
        values = [v.name for v in attribute.values]
        if value not in values:
            proposal = did_you_mean(value, values)
            message = f"'{value}' is not a {attribute.name}" + (f"; {proposal}" if proposal else "")
            raise at(literal, message, code="unknown-value")
        return
    if family == "date" and kind.family == "text":
        if not is_date(value):
            raise at(literal, f"'{value}' is not a date; write a date such as '2024-05-01'", code="type")
        return
    if family in ("unknown", "null", kind.family) or kind.family in ("unknown", "null"):
        return
    if other_kind.unit and kind.family == "text" and put_in_unit(literal, other, other_kind.unit):
        return
    message = f"{spelled(other)} is {FAMILY_WORDS[family]} and cannot be compared with {spelled(literal)}"
    raise at(literal, f"{message}; {advice_for(value, other_kind)}", code="type")


def put_in_unit(literal: exp.Literal, other: exp.Expr, unit: str) -> bool:
    """Puts the number in the place of a text such as ``'24 GB'``; says whether it is one."""
    try:
        number = in_unit(literal.this, unit)
    except NotInUnit:
        message = f"{spelled(other)} counts {unit}, and '{literal.this}' cannot be converted to that"
        raise at(literal, message, code="unit") from None
    if number is not None:
        place = exp.Literal.number(abs(number))
        literal.replace(exp.paren(exp.Neg(this=place)) if number < 0 else place)
    return number is not None


def advice_for(value: str, kind: Kind) -> str:
    """What to write instead of a literal; the ontology knows that ``128K`` tokens are 131072."""
    if kind.family == "number" and not is_number(value):
        try:
            read_value(kind.attribute or NUMERIC, value)
        except BadValue as error:
            return error.fix or "write a number"
    advice = {"number": "write it without quotes", "text": f"write '{value}'", "boolean": "write TRUE or FALSE"}
    return advice.get(kind.family, "write a date such as '2024-05-01'")


def is_date(text: str) -> bool:
    try:
        date.fromisoformat(text[:10])
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return len(text) >= 10


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
