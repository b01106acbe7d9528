"""Answers of Cypher as Arrow tables, the same whichever database gave them.

A column whose values are all booleans, numbers, texts, dates or times, or lists of one of these, is of that type. All
else is JSON text: nodes are objects with ``_labels``, relationships with ``_type``, and beside that their properties;
paths are objects with ``nodes`` and ``relationships``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import count
from typing import Any

import pyarrow as pa


def node(labels: Iterable[str], properties: Mapping[str, Any]) -> dict[str, Any]:
    """A node as a value of an answer; what is null counts as absent."""
    return {"_labels": sorted(labels)} | _present(properties)


def relationship(kind: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """A relationship as a value of an answer."""
    return {"_type": kind} | _present(properties)


def path(nodes: Iterable[Mapping[str, Any]], relationships: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """A path as a value of an answer, of nodes and relationships that were made here."""
    return {"nodes": list(nodes), "relationships": list(relationships)}


def _present(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in properties.items() if value is not None}


def to_table(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> pa.Table:
    """An answer with those columns; a name that is there twice gets a number."""
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return pa.Table.from_arrays([to_array(column) for column in columns], names=unique(names))


def unique(names: Iterable[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        found.append(next(n for n in _numbered(name) if n not in found))
    return found


def _numbered(name: str) -> Iterable[str]:
    yield name
    yield from (f"{name}_{number}" for number in count(1))


TYPES: tuple[tuple[type, pa.DataType], ...] = (
    (bool, pa.bool_()),
    (int, pa.int64()),
    (float, pa.float64()),
    (str, pa.string()),
    (datetime, pa.timestamp("us")),
    (date, pa.date32()),
)


def to_array(values: Iterable[Any]) -> pa.Array[Any]:
    """Values as a column."""
    plain = [_plain(value) for value in values]
    kind = column_type(plain)
    if kind is None:
        return pa.array([None if value is None else to_json(value) for value in plain], pa.string())
    return pa.array(plain, kind)


def column_type(values: Sequence[Any]) -> pa.DataType | None:
    """The type that all values have; None where there is none, so that JSON it must be."""
    present = [value for value in values if value is not None]
    if present and all(isinstance(value, list) for value in present):
        inner = [item for value in present for item in value]
        if any(isinstance(item, list) for item in inner):
            return None
        item_type = column_type(inner)
        return None if item_type is None else pa.list_(item_type)
    kinds = {_type_of(value) for value in present}
    if kinds == {pa.int64(), pa.float64()}:
        return pa.float64()
    return kinds.pop() if len(kinds) == 1 else None if kinds else pa.string()


def _type_of(value: Any) -> pa.DataType | None:
    kind = next((arrow for python, arrow in TYPES if isinstance(value, python)), None)
    if kind == pa.int64() and not -(2**63) <= value < 2**63:
        return None
    return kind


def _plain(value: Any) -> Any:
    """A value of a type that Arrow or JSON has: times with a zone, durations and the like as text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, datetime):
        return value if value.tzinfo is None else value.isoformat()
    if isinstance(value, date):
        return value
    if isinstance(value, bytes | bytearray):
        return value.hex()
    return value.isoformat() if isinstance(value, time) else str(value)


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=_as_text)


def _as_text(value: date | timedelta) -> str:
    return value.isoformat() if isinstance(value, date) else str(value)
