"""The shapes that our YAML files are made of: mappings with known keys, words, lists of words, flags and numbers.

An entry is a key with its value, so that what is missing is reported where its key stands. Each function reports what
does not hold to the source and gives back what it could read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ontology.findings import Edit, did_you_mean, nearest, shown
from ontology.plain_yaml import NULLS
from ontology.strict_yaml import Source, end, entries, is_absent, is_null, is_plain, kind, start
from ontology.values import NUMBER

Entry = tuple[Node, Node]
FLAGS = {**dict.fromkeys(("true", "yes", "on", "y"), "true"), **dict.fromkeys(("false", "no", "off", "n"), "false")}
Entries = dict[str, tuple[ScalarNode, Node]]


def read_mapping(
    source: Source,
    entry: Entry,
    what: str,
    *,
    known: Collection[str] | None = None,
    required: Collection[str] = (),
    may_be_empty: bool = False,
) -> Entries:
    """The entries of a mapping; unknown keys are reported and left out. ``known`` None allows any key.

    ``may_be_empty`` allows ``{}``.
    """
    key, node = entry
    if not isinstance(node, MappingNode):
        if _has_value(source, entry):
            source.error(node, "wrong-shape", f"{what} must be a mapping, not {kind(node)}", "write 'key: value' lines")
        return {}
    if not node.value and not may_be_empty and not source.partial:
        source.error(key, "empty-value", f"{what} is empty", "fill it in or leave it out")
    found = entries(node)
    meant = set()
    for name in [name for name in found if known is not None and name not in known]:
        fix = did_you_mean(name, sorted(known or ()))
        meant.add(nearest(name, sorted(known or ())))
        source.error(found.pop(name)[0], "unknown-key", f"{what} has no key {shown(name)}", fix)
    for name in required:
        if name not in found and name not in meant and node.value and not source.partial:
            source.error(key, "missing-key", f"{what} lacks the key '{name}'", f"add '{name}:'")
    return found


def read_word(source: Source, entry: Entry) -> str | None:
    """A scalar with blanks at its ends removed, in Unicode form C."""
    key, node = entry
    if not isinstance(node, ScalarNode):
        source.error(node, "wrong-shape", f"{_named(key)} is one value, not {kind(node)}", "write one value")
        return None
    word = node.value.strip()
    if (not word or word in NULLS) and not _has_value(source, entry):
        return None
    return word if word.isascii() else unicodedata.normalize("NFC", word)


def read_words(source: Source, entry: Entry, *, or_one: bool = False) -> list[tuple[str, Node]]:
    """The words of a list, each with its node; ``or_one`` lets a single word stand for a list of one."""
    key, node = entry
    if isinstance(node, SequenceNode):
        if not node.value:
            source.error(key, "empty-value", f"{_named(key)} is an empty list", "fill it in or leave it out")
        items = [(item, read_word(source, (item, item))) for item in node.value]
        return [(word, item) for item, word in items if word is not None]
    if isinstance(node, ScalarNode) and not or_one and not is_absent(node):
        fix = f"write [{node.value.strip()}]" if len(node.value) < 60 else "write a list"
        edit = None
        if is_plain(node) and re.fullmatch(r"[\w .+-]*\w", node.value):
            edit = Edit(start(node), end(source.text, node), f"[{node.value}]")
        source.error(node, "wrong-shape", f"{_named(key)} is a list, not {kind(node)}", fix, edit=edit)
        return []
    if isinstance(node, MappingNode) and not or_one:
        source.error(node, "wrong-shape", f"{_named(key)} is a list, not {kind(node)}", "write a list")
        return []
    word = read_word(source, entry)
    return [] if word is None else [(word, node)]


def read_flag(source: Source, entry: Entry) -> bool:
    """``true`` or ``false``."""
    word = read_word(source, entry)
    if word is not None and word not in ("true", "false"):
        meant = FLAGS.get(word.lower())
        fix = f"write {meant}" if meant else "write true or false"
        source.error(entry[1], "not-a-boolean", f"{_named(entry[0])} is true or false, not {shown(word)}", fix)
    return word == "true"


def read_number(source: Source, entry: Entry) -> float | None:
    """A finite number."""
    word = read_word(source, entry)
    if word is None:
        return None
    if not NUMBER.fullmatch(word) or abs(float(word)) == float("inf"):
        source.error(entry[1], "not-a-number", f"{_named(entry[0])} is a number, not {shown(word)}", "write a number")
        return None
    return float(word)


def _has_value(source: Source, entry: Entry) -> bool:
    """Whether something was written; reports it when not, unless a syntax error may have swallowed it."""
    key, node = entry
    if is_absent(node) and source.partial:
        return False
    if is_null(node):
        fix = f"leave {'it' if key is node else 'the key'} out, or put quotes around the word"
        source.error(node, "null-value", f"{kind(node)} stands for no value in YAML", fix)
        return False
    if isinstance(node, ScalarNode) and not node.value.strip():
        at = key if is_absent(node) else node
        source.error(at, "empty-value", f"{_named(key)} is empty", "write a value or leave the key out")
        return False
    return True


def _named(key: Node) -> str:
    return f"'{key.value}'" if isinstance(key, ScalarNode) and len(key.value) < 60 and key.value else "the item"
