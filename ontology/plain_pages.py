"""Reads pages that are written plainly and in which nothing is wrong, as nearly all are, in a third of the time.

Whatever is not plain (``ontology.plain_yaml``), or is wrong in any way, is left to ``ontology.page_reader``, which
gives the same page where both can read it, and reports what is wrong: here nothing is ever reported.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from ontology.pages import Page, PageRef, Statement, page_id
from ontology.plain_yaml import Mapping, Node, NotPlain, read_mapping
from ontology.values import BadValue, read_value
from ontology.vocabulary import MOST_KNOWN, SOURCE, AttributeWord, RelationWord, Vocabulary
from ontoloom.records import Value

Pairs = tuple[tuple[str, Value | PageRef], ...]


def read_plain_page(text: str, *, file: str, vocabulary: Callable[[str], Vocabulary | None]) -> Page | None:
    """The page that a text is, given what keys mean on pages of a type; None where it is not plain, or not right."""
    end = text.find("\n---", 3)
    if not text.startswith("---\n") or not text.startswith("\n", end + 4) or "<<<<<<<" in text:
        return None
    try:
        return _read(read_mapping(text[4:end], 4), file, vocabulary, end + 5)
    except (NotPlain, BadValue, KeyError):
        return None


def _read(found: Mapping, file: str, vocabulary: Callable[[str], Vocabulary | None], body_start: int) -> Page:
    name_at, name = found.pop("name")
    known = vocabulary(_word(found.pop("type")[1]))
    if known is None:
        raise NotPlain
    aliases = _items(found.pop("aliases")[1]) if "aliases" in found else []
    sources = found.pop("source")[1] if "source" in found else None
    description = _word(found.pop("description")[1]) if "description" in found else ""
    statements: list[Statement] = []
    for key, (at, node) in found.items():
        word = known.words[key]
        if type(word) is AttributeWord:
            _read_attribute(word, at, node, statements)
        elif type(word) is RelationWord:
            _read_relation(word, at, node, statements)
        else:
            assert type(word) is dict
            for part, (part_at, value) in _fields(node).items():
                _read_attribute(word[part], part_at, value, statements)
    for attribute in known.required:
        record, _, part = attribute.name.partition(".")
        if record not in found or (part and part not in found[record][1][0]):
            raise NotPlain
    name_word = known.words["name"]
    assert type(name_word) is AttributeWord
    return Page(
        page_id(file),
        file,
        known.type,
        str(_value(name_word, name)),
        tuple(map(_word, aliases)),
        tuple(statements),
        tuple(str(_value(SOURCE, one)) for one in (_items(sources) if type(sources[0]) is list else [sources]))
        if sources
        else (),
        body_start,
        (name_at, name[2]),
        (name[1], *(alias[1] for alias in aliases)),
        " ".join(description.split()),
    )


def _word(node: Node) -> str:
    """A word as ``ontology.shapes.read_word`` gives it."""
    if type(node[0]) is not str:
        raise NotPlain
    word = node[0].strip()
    if not word:
        raise NotPlain
    return word if word.isascii() else unicodedata.normalize("NFC", word)


def _items(node: Node) -> list[Node]:
    if type(node[0]) is not list:
        raise NotPlain
    return node[0]


def _fields(node: Node) -> Mapping:
    if type(node[0]) is not dict:
        raise NotPlain
    return node[0]


def _value(word: AttributeWord, node: Node) -> Value:
    raw = node[0]
    if type(raw) is str:
        value = word.known.get(raw)
        if value is not None:
            return value
    value = read_value(word.attribute, _word(node))
    if any(one.deprecated is not None and one.name == value for one in word.attribute.values):
        raise NotPlain
    if len(word.known) < MOST_KNOWN:
        word.known[raw] = value
    return value


def _read_attribute(word: AttributeWord, at: int, node: Node, out: list[Statement]) -> None:
    attribute = word.attribute
    if attribute.deprecated is not None:
        raise NotPlain
    if type(node[0]) is not list:
        if attribute.at_least > 1:
            raise NotPlain
        out.append(Statement(attribute.name, _value(word, node), (), at, node[2]))
        return
    values = [_value(word, item) for item in node[0]]
    if not attribute.many or not _are_so_many(word, values):
        raise NotPlain
    out += [Statement(attribute.name, v, (), i[1], i[2]) for v, i in zip(values, node[0], strict=True)]


def _are_so_many(word: AttributeWord, values: list[Value]) -> bool:
    """Whether there are as many different values as there should be."""
    attribute = word.attribute
    few_enough = attribute.at_most is None or len(values) <= attribute.at_most
    return attribute.at_least <= len(values) == len(set(values)) and few_enough


def _read_relation(word: RelationWord, at: int, node: Node, out: list[Statement]) -> None:
    relation = word.relation
    if relation.deprecated is not None:
        raise NotPlain
    if type(node[0]) is not list:
        out.append(Statement(relation.name, *_target(word, node), at, node[2], word.inverse))
        return
    most = word.limit.most
    seen = set()
    for item in node[0]:
        target, attributes = _target(word, item)
        seen.add((target.id, *(pair for pair in attributes if relation.attributes[pair[0]].identifying)))
        out.append(Statement(relation.name, target, attributes, item[1], item[2], word.inverse))
    if len(seen) < len(node[0]) or (most is not None and len(seen) > most):
        raise NotPlain


def _target(word: RelationWord, node: Node) -> tuple[PageRef, Pairs]:
    if type(node[0]) is not dict:
        if word.required:
            raise NotPlain
        return PageRef(_word(node), node[1]), ()
    fields = node[0]
    target = fields["target"][1]
    if not word.required <= fields.keys():
        raise NotPlain
    pairs = [
        (name, value)
        for name in sorted(fields)
        if name != "target"
        for value in _values(word.attributes[name], fields[name][1])
    ]
    return PageRef(_word(target), target[1]), tuple(pairs)


def _values(word: AttributeWord, node: Node) -> list[Value | PageRef]:
    """The value of a relation's attribute; of one that holds many its values, by their text."""
    attribute = word.attribute
    if type(node[0]) is list:
        raise NotPlain
    if attribute.type == "reference":
        return [PageRef(_word(node), node[1])]
    return [_value(word, node)]
