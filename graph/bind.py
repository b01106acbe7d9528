"""Puts values in the place of a statement's parameters: ``?`` by order, ``$name`` and ``:name`` by name.

Values become tokens of their own after the statement has been cut into tokens, so that no value is ever read as SQL;
each stands where its parameter stood, so that errors point there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from math import isfinite
from typing import TypeAlias

from sqlglot.tokenizer_core import Token, TokenType

from ontology.findings import did_you_mean
from ontoloom.errors import QueryError

Scalar: TypeAlias = str | int | float | Decimal | bool | date | None
Value: TypeAlias = Scalar | Sequence[Scalar]
Parameters: TypeAlias = Sequence[Value] | Mapping[str, Value]

ENDS_OPERAND = frozenset(
    (
        TokenType.VAR, TokenType.IDENTIFIER, TokenType.NUMBER, TokenType.STRING, TokenType.R_PAREN,
        TokenType.R_BRACKET, TokenType.L_BRACKET, TokenType.PLACEHOLDER,
    )
)  # fmt: skip
"""What stands before the colon of a slice; before that of a parameter stands an operator or an opening bracket."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter among tokens, ``length`` of them from ``first`` on. ``name`` is empty for ``?``."""

    first: int
    length: int
    name: str


def bind(tokens: Sequence[Token], parameters: Parameters) -> list[Token]:
    """The tokens with values in place of parameters. Raises QueryError where the two do not fit together."""
    found = list(find_parameters(tokens))
    values = _named(tokens, found, parameters) if isinstance(parameters, Mapping) else _ordered(found, parameters)
    bound: list[Token] = []
    end = 0
    for parameter, value in zip(found, values, strict=True):
        bound += tokens[end : parameter.first]
        is_in = parameter.first > 0 and tokens[parameter.first - 1].token_type == TokenType.IN
        bound += written(value, tokens[parameter.first], is_in=is_in)
        end = parameter.first + parameter.length
    return bound + list(tokens[end:])


def find_parameters(tokens: Sequence[Token]) -> Iterator[Parameter]:
    """The parameters in the order in which they stand."""
    for place, token in enumerate(tokens):
        if token.token_type == TokenType.PLACEHOLDER:
            yield Parameter(place, 1, "")
            continue
        before = tokens[place - 1].token_type if place else None
        after = tokens[place + 1] if place + 1 < len(tokens) else token
        colon = token.token_type == TokenType.COLON and before not in ENDS_OPERAND
        if (colon or token.text == "$") and after.start == token.end + 1:
            yield Parameter(place, 2, after.text)


def _ordered(found: Sequence[Parameter], values: Sequence[Value]) -> list[Value]:
    named = next((p for p in found if p.name and not p.name.isdigit()), None)
    if named is not None:
        raise QueryError(f"no value is given for the parameter '{named.name}'", code="parameters")
    numbered = [int(p.name) for p in found if p.name]
    if numbered and len(numbered) < len(found):
        raise QueryError("a statement has either ? or $1, $2 …, not both", code="parameters")
    wanted = max(numbered, default=0) if numbered else len(found)
    if wanted != len(values):
        raise QueryError(
            f"the statement has {wanted} parameters, and {len(values)} values are given", code="parameters"
        )
    return [values[number - 1] for number in numbered] if numbered else list(values)


def _named(tokens: Sequence[Token], found: Sequence[Parameter], values: Mapping[str, Value]) -> list[Value]:
    for parameter in found:
        if parameter.name not in values:
            token = tokens[parameter.first]
            what = f"the parameter '{parameter.name}'" if parameter.name else "?; name it: $name"
            message = f"no value is given for {what}"
            hint = did_you_mean(parameter.name, list(values)) if parameter.name else ""
            raise QueryError(message, code="parameters", hint=hint, line=token.line, column=token.col)
    names = [p.name for p in found]
    unknown = next((name for name in values if name not in names), None)
    if unknown is not None:
        message = f"the statement has no parameter '{unknown}'"
        raise QueryError(message, code="parameters", hint=did_you_mean(unknown, list(dict.fromkeys(names))))
    return [values[name] for name in names]


def written(value: Value, at: Token, *, is_in: bool = False) -> list[Token]:
    """A value as tokens at the place of one; a list behind IN in round brackets. Raises QueryError at what is none."""

    def token(kind: TokenType, text: str) -> Token:
        return Token(kind, text, at.line, at.col, at.start, at.end)

    if isinstance(value, str):
        return [token(TokenType.STRING, value)]
    if value is None:
        return [token(TokenType.NULL, "NULL")]
    if isinstance(value, bool):
        return [token(TokenType.TRUE, "TRUE") if value else token(TokenType.FALSE, "FALSE")]
    if isinstance(value, int | float | Decimal) and isfinite(value):
        number = token(TokenType.NUMBER, f"{abs(value):f}" if isinstance(value, Decimal) else repr(abs(value)))
        minus = [token(TokenType.L_PAREN, "("), token(TokenType.DASH, "-"), number, token(TokenType.R_PAREN, ")")]
        return minus if value < 0 else [number]
    if isinstance(value, date):
        kind = (TokenType.TIMESTAMP, "TIMESTAMP") if isinstance(value, datetime) else (TokenType.DATE, "DATE")
        return [
            token(TokenType.VAR, "CAST"), token(TokenType.L_PAREN, "("), token(TokenType.STRING, value.isoformat()),
            token(TokenType.ALIAS, "AS"), token(*kind), token(TokenType.R_PAREN, ")"),
        ]  # fmt: skip
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        items = [part for item in value for part in (token(TokenType.COMMA, ","), *written(item, at))][1:]
        if is_in and not items:  # IN () is no SQL
            no_row = (TokenType.SELECT, TokenType.NULL, TokenType.WHERE, TokenType.FALSE)
            items = [token(kind, kind.name) for kind in no_row]
        if is_in:
            return [token(TokenType.L_PAREN, "("), *items, token(TokenType.R_PAREN, ")")]
        return [token(TokenType.L_BRACKET, "["), *items, token(TokenType.R_BRACKET, "]")]
    message = f"a value of type {type(value).__name__} cannot be a parameter"
    hint = "give a text, a number, true or false, a date, NULL, or a list of these"
    raise QueryError(message, code="parameters", hint=hint, line=at.line, column=at.col)
