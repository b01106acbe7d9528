"""The facts of pages that are written plainly and in which nothing is wrong, as nearly all are, read quickly.

Whatever is not plain (``ontology.plain_yaml``), or is wrong in any way, is left to ``ontology.page_reader``, whose page
has the same facts where both can read it, and which reports what is wrong: here nothing is ever reported.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection

from ontology.facts import Limits, Link, PageFacts, Reference, key_values, link_of, prose_links
from ontology.pages import PageRef
from ontology.plain_yaml import NULLS, Entry, Mapping, Node, NotPlain, read_entries, read_entry
from ontology.values import BadValue, read_value
from ontology.vocabulary import MOST_KNOWN, SOURCE, AttributeWord, RelationWord, Vocabularies, Vocabulary
from ontoloom.names import name_key
from ontoloom.records import Value, canonical_text


class PlainReader:
    """Reads plain pages of an ontology."""

    def __init__(self, vocabularies: Vocabularies, limits: Limits) -> None:
        self._vocabularies = vocabularies
        self._limits = limits

    def read(self, text: str, page_id: str) -> PageFacts | None:
        """The facts of a page; None where it is not plain, or not right."""
        end = text.find("\n---", 3)
        if end < 0 or not text.startswith("---\n") or not text.startswith("\n", end + 4) or "<<<<<<<" in text:
            return None
        try:
            return self._read(read_entries(text[4:end], 4), text, page_id, end + 5)
        except (NotPlain, BadValue, KeyError):
            return None

    def _read(self, found: dict[str, Entry], text: str, page_id: str, body_start: int) -> PageFacts:
        vocabulary = self._vocabulary(_word(read_entry(found.pop("type"))))
        words, keys, limited = vocabulary.words, self._limits.keys[vocabulary.type], self._limits.relations
        name_word = words["name"]
        assert type(name_word) is AttributeWord
        name_at = found["name"][0]
        name = read_entry(found.pop("name"))
        labels = [(str(_value(name_word, name)), name[1])]
        if "aliases" in found:
            labels += [(_word(alias), alias[1]) for alias in _items(read_entry(found.pop("aliases")))]
        if "source" in found:
            _check_sources(found.pop("source"))
        if "description" in found:
            _word(read_entry(found.pop("description")))
        references: list[Reference] = []
        links: list[Link] = []
        stated: dict[str, list[tuple[str, int]]] = {}
        for key, entry in found.items():
            word = words[key]
            if type(word) is AttributeWord:
                text_behind = entry[2]
                if text_behind in word.right and not keys:
                    continue
                values = _read_attribute(word, read_entry(entry))
                if text_behind and len(word.right) < MOST_KNOWN:
                    word.right.add(text_behind)
                if keys:
                    stated[key] = [(canonical_text(value), entry[0] if at is None else at) for value, at in values]
            elif type(word) is RelationWord:
                _read_relation(word, entry, references, links if word.relation.name in limited else None)
            else:
                assert type(word) is dict
                for part, (at, node) in _fields(read_entry(entry)).items():
                    values = _read_attribute(word[part], node)
                    stated[f"{key}.{part}"] = [(canonical_text(v), at if own is None else own) for v, own in values]
        _check_required(vocabulary, found, stated)
        page_links, file_links = prose_links(text, body_start)
        return PageFacts(
            page_id,
            vocabulary.type,
            labels[0][0],
            tuple((name_key(label), label, at) for label, at in labels),
            tuple(references),
            page_links,
            file_links,
            tuple(links),
            tuple(key_values(keys, stated, labels[0][0], name_at)),
        )

    def _vocabulary(self, type_name: str) -> Vocabulary:
        entity_type = self._vocabularies.ontology.types[type_name]
        if entity_type.abstract or entity_type.deprecated is not None:
            raise NotPlain
        return self._vocabularies.of(type_name)


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


def _check_sources(entry: Entry) -> None:
    node = read_entry(entry)
    for one in node[0] if type(node[0]) is list else [node]:
        _value(SOURCE, one)


def _check_required(vocabulary: Vocabulary, found: dict[str, Entry], stated: Collection[str]) -> None:
    for attribute in vocabulary.required:
        if attribute.name not in found and attribute.name not in stated:
            raise NotPlain


def _value(word: AttributeWord, node: Node) -> Value:
    raw = node[0]
    if type(raw) is str:
        value = word.known.get(raw)
        if value is not None:
            return value
    value = read_value(word.attribute, _word(node))
    choices = word.attribute.values
    if choices and any(one.deprecated is not None and one.name == value for one in choices):
        raise NotPlain
    if len(word.known) < MOST_KNOWN and raw not in NULLS:  # without quotes it would be nothing
        word.known[raw] = value
    return value


def _read_attribute(word: AttributeWord, node: Node) -> list[tuple[Value, int | None]]:
    """Values, and where they are stated; None for at the key."""
    attribute = word.attribute
    if attribute.deprecated is not None:
        raise NotPlain
    if type(node[0]) is not list:
        if attribute.at_least > 1:
            raise NotPlain
        return [(_value(word, node), None)]
    values: list[tuple[Value, int | None]] = [(_value(word, item), item[1]) for item in node[0]]
    few_enough = attribute.at_most is None or len(values) <= attribute.at_most
    different = len({value for value, _ in values})
    if not (attribute.many and attribute.at_least <= len(values) == different and few_enough):
        raise NotPlain
    return values


def _read_relation(word: RelationWord, entry: Entry, references: list[Reference], links: list[Link] | None) -> None:
    """Adds the pages that a relation leads to; to ``links`` where it has limits."""
    relation, inverse = word.relation, word.inverse
    if relation.deprecated is not None:
        raise NotPlain
    node = read_entry(entry)
    listed = type(node[0]) is list
    seen = []
    for item in node[0] if listed else [node]:
        attributes: list[tuple[str, Value | PageRef]] = []
        if type(item[0]) is dict:
            target = item[0]["target"][1]
            target_id = _word(target)
            references.append((target_id, target[1], relation.name, inverse, ""))
            attributes = _read_fields(word, item[0], references)
        else:
            target_id = _word(item)
            references.append((target_id, item[1], relation.name, inverse, ""))
        if word.required and not word.required <= {name for name, _ in attributes}:
            raise NotPlain
        if listed or links is not None:
            seen.append(link_of(relation, inverse, target_id, attributes, item[1] if listed else entry[0]))
    if listed:
        different = len({(link.target, link.identifying) for link in seen})
        if different < len(seen) or (word.limit.most or different) < different:
            raise NotPlain
    if links is not None:
        links += seen


def _read_fields(word: RelationWord, fields: Mapping, references: list[Reference]) -> list[tuple[str, Value | PageRef]]:
    """The attributes of a relation, by name."""
    found: list[tuple[str, Value | PageRef]] = []
    for name in sorted(fields):
        if name == "target":
            continue
        one, node = word.attributes[name], fields[name][1]
        if one.attribute.type == "reference":
            page_id = _word(node)
            references.append((page_id, node[1], word.relation.name, False, name))
            found.append((name, PageRef(page_id, node[1])))
        elif type(node[0]) is str:
            found.append((name, _value(one, node)))
        else:
            raise NotPlain
    return found
