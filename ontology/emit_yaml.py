"""Mappings, lists and words → YAML that our strict reader takes back as it was, and that people like to read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from ontology.plain_yaml import NULLS
from ontology.strict_yaml import FORBIDDEN, ODD_SPACE

Tree: TypeAlias = "str | Sequence[Tree] | Mapping[str, Tree]"

WIDTH = 120
LINES = ("types", "relations", "attributes", "fields", "values")
"""Keys whose mappings have a line for each entry, however short they are."""
APART = ("types", "relations")
"""Keys whose blocks have a blank line in front."""

# What is more than a plain word to YAML, anywhere and within brackets.
SPECIAL = re.compile(r"[\-?:](?=\s|$)|[,\[\]{}#&*!|>'\"%@`]|\.\.\.|---|.*?(?::(?:\s|$)|\s#|[\t\n\r])", re.DOTALL)
SPECIAL_WITHIN = re.compile(r"[?:]|.*?[,?\[\]{}]", re.DOTALL)
UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")
SHORT_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def emit(tree: Mapping[str, Tree]) -> str:
    """A document. Blocks of several lines below ``types:`` and the like are set apart by blank lines."""
    lines: list[str] = []
    for key, value in tree.items():
        if key in APART and lines:
            lines.append("")
        lines += _entry(key, value, 0)
    return "\n".join(lines) + "\n"


def scalar(text: str, *, within: bool = False) -> str:
    """A word, in quotes where YAML or its strict reader would take it for something else, as ``within`` brackets."""
    if FORBIDDEN.search(text) or UNPRINTABLE.search(text):
        return '"' + "".join(_escaped(c) for c in text) + '"'
    plain = text not in (*NULLS, "", "<<") and text == text.strip() and not ODD_SPACE.search(text)
    if plain and not SPECIAL.match(text) and not (within and SPECIAL_WITHIN.match(text)):
        return text
    if "'" in text or not ('"' in text or "\\" in text):
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return f"'{text}'"


def _escaped(sign: str) -> str:
    if sign in SHORT_ESCAPES:
        return SHORT_ESCAPES[sign]
    if not (FORBIDDEN.match(sign) or UNPRINTABLE.match(sign)):
        return sign
    code = ord(sign)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _entry(key: str, value: Tree, indent: int) -> Iterator[str]:
    head = f"{' ' * indent}{scalar(key)}:"
    flow = None if isinstance(value, Mapping) and value and key in LINES else _flow(value)
    if flow is not None and (isinstance(value, str) or len(head) + 1 + len(flow) <= WIDTH):
        yield f"{head} {flow}"
    elif isinstance(value, Mapping):
        yield head
        yield from _block(value, indent + 2, apart=key == "types")
    elif not isinstance(value, str):
        yield head
        for item in value:
            yield from _item(item, indent + 2)


def _block(value: Mapping[str, Tree], indent: int, *, apart: bool = False) -> Iterator[str]:
    """The entries of a mapping; those of several lines are ``apart`` from what is next to them."""
    before = 0
    for key, inner in value.items():
        lines = list(_entry(key, inner, indent))
        if apart and before and (before > 1 or len(lines) > 1):
            yield ""
        yield from lines
        before = len(lines)


def _item(item: Tree, indent: int) -> Iterator[str]:
    """An item of a list; a mapping begins on the line of its dash."""
    flow = _flow(item)
    if flow is not None and (not isinstance(item, Mapping) or indent + 2 + len(flow) <= WIDTH):
        yield f"{' ' * indent}- {flow}"
    elif isinstance(item, Mapping):
        first, *rest = _block(item, indent + 2)
        yield f"{' ' * indent}- {first.lstrip()}"
        yield from rest


def _flow(value: Tree, *, within: bool = False) -> str | None:
    """A value on one line; None where some part of it is to have lines of its own."""
    if isinstance(value, str):
        return scalar(value, within=within)
    if isinstance(value, Mapping):
        inner = {k: None if k in LINES and isinstance(v, Mapping) else _flow(v, within=True) for k, v in value.items()}
        parts = [part and f"{scalar(key, within=True)}: {part}" for key, part in inner.items()]
        return None if None in parts else "{" + ", ".join(part for part in parts if part) + "}"
    items = [_flow(item, within=True) for item in value]
    return None if None in items else "[" + ", ".join(item for item in items if item) + "]"
