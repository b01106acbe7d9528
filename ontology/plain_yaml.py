"""The YAML that nearly all front matter is made of, read faster than by a YAML parser, and without making its nodes.

Understood are lines ``key: value``, and below ``key:`` lines ``- value``, ``- key: value`` or indented ``key: value``;
values are words of one line, quoted or not, or lists and mappings of them in brackets. Comments may stand behind or
between all that. Anything else, and all that ``ontology.strict_yaml`` would report, is ``NotPlain``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

NULLS = ("~", "null", "Null", "NULL")
"""YAML's words for nothing."""

Node = tuple[Any, int, int]
"""A word, a list of nodes or a ``Mapping``, and where it is written: the places of its first character and behind its
last."""
Mapping = dict[str, tuple[int, Node]]
"""Nodes by key, each with the place of the key."""
Line = tuple[int, str]
"""A line, and the place of its first character."""

KEY = r"[A-Za-z_][A-Za-z0-9_]*"
COMMENT = r"(?: +#.*)?"
# Within a word, a ":" has something behind it, and a "#" something in front of it. Nothing is tried twice (``++``).
WORD = r"(?:[^][\s,{}#&*!|>'\"%@`?:-]|-(?=[^][\s,{}]))(?:[^ :#]++|:(?=[^ ])|(?<=[^ ])#| ++(?=[^ #]))*+"
# Between brackets there are fewer.
SHORT_WORD = r"(?:[^][\s,{}#&*!|>'\"%@`?:-]|-(?=\w))(?:[^][ ,{}?:#]++|:(?=[\w/])|(?<=[^ ])#| ++(?=[^][ ,{}?:#]))*+"
QUOTED = r"\"[^\"\\]*\"|'[^']*'"
SCALAR = rf"(?:{SHORT_WORD}|{QUOTED})"
FIELDS = rf"\{{{KEY}: {SCALAR}(?:, {KEY}: {SCALAR})*\}}"
ITEM = rf"(?:{FIELDS}|{SCALAR})"

INLINE = re.compile(rf"({WORD}|{QUOTED}|{FIELDS}|\[{ITEM}(?:, {ITEM})*\]){COMMENT}")
ITEMS = re.compile(ITEM)
PAIRS = re.compile(rf"({KEY}): ({SCALAR})")


class NotPlain(Exception):
    """To be read by a YAML parser."""


Entry = tuple[int, int, str, list[Line]]
"""What is said under a key: the place of the key; the place and the text of what stands behind it; or, where that is
empty, the lines below."""


def read_entry(entry: Entry) -> Node:
    """Raises NotPlain."""
    _, begin, text, below = entry
    if not text:
        return _read_block(below)
    what, start, end = read_inline(text)
    if type(what) is str:
        return what, start + begin, end + begin
    return shift((what, start, end), begin)


def read_entries(text: str, at: int) -> dict[str, Entry]:
    """The keys of the mapping that a text states, which begins at a place. Raises NotPlain."""
    if not text.replace("\n", " ").isprintable():  # no tab, no control character, no blank but the ordinary
        raise NotPlain
    found: dict[str, Entry] = {}
    below: list[Line] | None = None
    for line in text.split("\n"):
        key, colon, value = line.partition(": ")
        if colon and value and key not in found and _is_key(key):
            found[key] = at, at + len(key) + 2, value, _NONE
            below = None
        elif not line or line.lstrip(" ")[:1] in ("", "#"):
            pass
        elif below is not None and line[0] in " -":
            below.append((at, line))
        else:
            key = line[:-1]
            if line[-1] != ":" or key in found or not _is_key(key):
                raise NotPlain
            below = []
            found[key] = at, 0, "", below
        at += len(line) + 1
    return found


_NONE: list[Line] = []


@lru_cache(maxsize=4096)
def _is_key(text: str) -> bool:
    return text.isidentifier() and text.isascii() and len(text) < 1000  # YAML allows 1024, with what follows


@lru_cache(maxsize=8192)
def read_inline(text: str) -> Node:
    """A value on one line; places count from its beginning. Raises NotPlain."""
    match = INLINE.fullmatch(text)
    if match is None:
        raise NotPlain
    end = match.end(1)
    first = text[0]
    if first == "[":
        nodes = [_read_item(item[0], item.start()) for item in ITEMS.finditer(text, 1, end - 1)]
        return nodes, 0, end
    return _read_item(match[1], 0)


def _read_item(text: str, at: int) -> Node:
    first, end = text[0], at + len(text)
    if first == "{":
        fields: Mapping = {}
        for match in PAIRS.finditer(text):
            if match[1] in fields:
                raise NotPlain
            fields[match[1]] = at + match.start(1), _read_item(match[2], at + match.start(2))
        return fields, at, end
    if first in "\"'":
        return text[1:-1], at, end
    if text in NULLS:
        raise NotPlain
    return text, at, end


def shift(node: Node, by: int) -> Node:
    """The node at a place that is further on."""
    what, start, end = node
    if type(what) is list:
        what = [shift(item, by) for item in what]
    elif type(what) is dict:
        what = {key: (at + by, shift(value, by)) for key, (at, value) in what.items()}
    return what, start + by, end + by


def _read_block(lines: list[Line]) -> Node:
    """The list or mapping that lines below a key state, each given with its place."""
    if not lines:
        raise NotPlain
    line = lines[0][1]
    column = len(line) - len(line.lstrip(" "))
    if line.startswith("- ", column):
        return _read_list(lines, column)
    if not column:
        raise NotPlain
    fields: Mapping = {}
    for at, line in lines:
        _read_field(fields, line, column, at)
    return _whole(fields)


def _read_list(lines: list[Line], column: int) -> Node:
    nodes: list[Node] = []
    fields: Mapping = {}
    margin = " " * column
    for at, line in lines:
        if not line.startswith(margin + "- "):
            if not fields:
                raise NotPlain
            _read_field(fields, line, column + 2, at)  # of a mapping whose first field stands behind the dash
            nodes[-1] = _whole(fields)
            continue
        fields = {}
        key, colon, _ = line[column + 2 :].partition(": ")
        if colon and _is_key(key):
            _read_field(fields, f"{margin}  {line[column + 2 :]}", column + 2, at)
            nodes.append(_whole(fields))
        else:
            nodes.append(shift(read_inline(line[column + 2 :]), at + column + 2))
    return nodes, lines[0][0] + column, nodes[-1][2]


def _read_field(fields: Mapping, line: str, column: int, at: int) -> None:
    """Adds a line ``key: value``; there must be fields already where the line is not the first of them."""
    key, colon, value = line[column:].partition(": ")
    if line[:column].strip(" ") or not (colon and value and _is_key(key)) or key in fields:
        raise NotPlain
    fields[key] = at + column, shift(read_inline(value), at + column + len(key) + 2)


def _whole(fields: Mapping) -> Node:
    first, last = next(iter(fields.values())), next(reversed(fields.values()))
    return fields, first[0], last[1][2]
