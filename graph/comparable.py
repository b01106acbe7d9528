"""Refuses comparisons that can never hold: a literal that an attribute cannot have, two families of values."""

from __future__ import annotations

from datetime import date, datetime

from sqlglot import exp

from graph.functions import FAMILY_WORDS
from graph.guard import at, spelled
from graph.tables import Kind
from ontology.findings import did_you_mean
from ontology.schema import Attribute
from ontology.values import BadValue, read_value

NUMERIC = Attribute("number", "number")


def check_comparable(left: exp.Expr, left_kind: Kind, right: exp.Expr, right_kind: Kind) -> None:
    """Raises QueryError at a literal that the other side can never be, or where two sides are of different families."""
    for node, kind, other, other_kind in ((right, right_kind, left, left_kind), (left, left_kind, right, right_kind)):
        literal = literal_of(node)
        if literal is not None and literal_of(other) is None:
            return check_literal(literal, kind, other, other_kind)
    families = {left_kind.family, right_kind.family} - {"unknown", "null"}
    if len(families) == 2:
        names = [f"{spelled(n)} is {FAMILY_WORDS[k.family]}" for n, k in ((left, left_kind), (right, right_kind))]
        raise at(right, f"these cannot be compared: {names[0]}, {names[1]}", code="type")
    return None


def literal_of(node: exp.Expr) -> exp.Literal | None:
    bare = node.unnest()
    if isinstance(bare, exp.Neg):
        bare = bare.this
    return bare if isinstance(bare, exp.Literal) else None


def check_literal(literal: exp.Literal, kind: Kind, other: exp.Expr, other_kind: Kind) -> None:
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
    message = f"{spelled(other)} is {FAMILY_WORDS[family]} and cannot be compared with {spelled(literal)}"
    raise at(literal, f"{message}; {advice_for(value, other_kind)}", code="type")


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
