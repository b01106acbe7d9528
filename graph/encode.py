"""How literal values and attributes are written in a store: one text per value, and the way back.

Attributes are a JSON object with sorted names; a name that is given several times holds a list. A reference is
``{"@": entity id}`` and a date ``{"date": "2024-05-01"}``, so that what is read back is what was written.
"""

from __future__ import annotations

import json
from datetime import date
from functools import lru_cache
from typing import Any

from ontoloom.records import Attributes, Claim, EntityRef, Mention, Triple, Value

ENTITY = "entity"
Statement = tuple[str, str, str]
"""What documents may say differently of one triple: the kind of its value, its attributes, and which are in its id."""

_to_text = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode
KINDS = {EntityRef: ENTITY, str: "string", bool: "boolean", int: "integer", float: "number", date: "date"}


def value_kind(value: EntityRef | Value) -> str:
    """``entity``, ``string``, ``boolean``, ``integer``, ``number`` or ``date``; what ``decode_value`` must be told."""
    return KINDS[type(value)]


def decode_value(kind: str, text: str) -> Value:
    """The value of that kind whose ``canonical_text`` is ``text``."""
    if kind == "string":
        return text
    if kind == "boolean":
        return text == "true"
    if kind == "integer":
        return int(text)
    return float(text) if kind == "number" else date.fromisoformat(text)


def statement(triple: Triple) -> Statement:
    """What a document says of a triple besides its id."""
    return value_kind(triple.object), encode_attributes(triple.attributes), ",".join(triple.identifying)


def encode_attributes(attributes: Attributes) -> str:
    """Attributes as compact JSON; ``{}`` for none."""
    found: dict[str, list[str]] = {}
    for name, value in attributes:
        found.setdefault(name, []).append(_encode(value))
    texts = {name: values[0] if len(values) == 1 else f"[{','.join(values)}]" for name, values in found.items()}
    members = (f"{_encode(name)}:{texts[name]}" for name in sorted(texts))
    return f"{{{','.join(members)}}}"


def _encode(value: EntityRef | Value) -> str:
    """A value as JSON. An encoder of the library is set up anew for each dictionary: most values are none."""
    plain = _to_json(value)
    return repr(plain) if type(plain) in (int, float) else _to_text(plain)


def encode_reference(entity: str) -> str:
    """A reference to an entity, as the JSON of attributes holds it."""
    return _to_text({"@": entity})


@lru_cache(maxsize=4096)
def decode_attributes(text: str) -> Attributes:
    """The attributes that ``encode_attributes`` wrote."""
    if text == "{}":
        return ()
    pairs = []
    for name, value in json.loads(text).items():
        pairs += [(name, _from_json(one)) for one in (value if isinstance(value, list) else [value])]
    return tuple(pairs)


def plain_attributes(text: str) -> str:
    """Attributes as ``TRIPLE_COLUMNS`` shows them: dates are strings there, references stay ``{"@": …}``."""
    if '{"date":' not in text:
        return text
    pairs = decode_attributes(text)
    return encode_attributes(tuple((n, v.isoformat() if isinstance(v, date) else v) for n, v in pairs))


def encode_claim(claim: Claim) -> str:
    """A claim as JSON, in ASCII: what an extractor made up may hold anything."""
    parts = {name: getattr(claim, name) for name in Claim.__slots__}
    parts |= {"subject": _mention(claim.subject), "object": _mention(claim.object)}
    parts["attributes"] = [(name, _mention(value)) for name, value in claim.attributes]
    return json.dumps(parts, separators=(",", ":"))


def decode_claim(text: str) -> Claim:
    """The claim that ``encode_claim`` wrote."""
    parts = json.loads(text)
    parts |= {"subject": _mentioned(parts["subject"]), "object": _mentioned(parts["object"])}
    parts["attributes"] = tuple((name, _mentioned(value)) for name, value in parts["attributes"])
    return Claim(**parts)


def _mention(value: Mention | Value) -> Any:
    return {"name": value.name, "type": value.type} if isinstance(value, Mention) else _to_json(value)


def _mentioned(value: Any) -> Any:
    return Mention(**value) if isinstance(value, dict) and "name" in value else _from_json(value)


def _to_json(value: EntityRef | Value) -> Any:
    if isinstance(value, EntityRef):
        return {"@": value.id}
    return {"date": value.isoformat()} if isinstance(value, date) else value


def _from_json(value: Any) -> EntityRef | Value:
    if isinstance(value, dict):
        return EntityRef(value["@"]) if "@" in value else date.fromisoformat(value["date"])
    plain: Value = value
    return plain
