"""Reads wiki pages against an ontology. Every fault is a finding at its place; what holds beside it is still read.

A check of many pages reads most of them by ``ontology.plain_pages``, and here only what it leaves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ontology.attributes import NAME_ATTRIBUTE, PAGE_KEYS
from ontology.emit_yaml import scalar
from ontology.findings import Edit, Finding, did_you_mean, shown
from ontology.pages import Page, PageRef, Statement, page_id
from ontology.plain_yaml import NULLS
from ontology.schema import Attribute, Described, EntityType, Ontology
from ontology.shapes import Entries, Entry, read_mapping, read_word, read_words
from ontology.strict_yaml import CONFLICT, Source, compose, end, kind, start
from ontology.values import BadValue, read_value, written
from ontology.vocabulary import MOST_KNOWN, SOURCE, AttributeWord, RelationWord, Vocabularies, Word
from ontoloom.records import Value, canonical_text

OPENING = re.compile(r"\ufeff?---[ \t]*(?:\r\n|\n|\r)")
CLOSING = re.compile(r"(?<=[\r\n])---[ \t]*(?:\r\n|\n|\r|\Z)")
NO_FRONT_MATTER = "begin the file with a line ---, then type: and name:, then a line ---"


class PageReader:
    """Reads pages against an ontology."""

    def __init__(self, vocabularies: Vocabularies) -> None:
        self._ontology = vocabularies.ontology
        self._vocabularies = vocabularies

    def read(self, text: str, *, file: str) -> tuple[Page | None, list[Finding]]:
        """A page and all findings in the order of the text.

        A page comes back wherever its type and name can be told, with the statements that hold, also beside findings:
        so that pages can be checked against each other. Only a page without errors should be believed.
        """
        source = Source(file, text)
        closing = find_front_matter(source)
        page = None if closing is None else self._read_front_matter(source, *closing)
        return page, sorted(source.findings)

    def _read_front_matter(self, source: Source, until: int, body_start: int) -> Page | None:
        for match in CONFLICT.finditer(source.text, body_start):
            if match.group().startswith("<"):
                message = "a merge conflict was left in the prose"
                source.error(match.start(), "merge-conflict", message, "choose one side")
        root = compose(source, end=until)
        if root is None:
            if not source.failed:
                source.error(0, "missing-key", "the front matter is empty", "add 'type:' and 'name:'")
            return None
        found = read_mapping(source, (root, root), "the front matter")
        return self._read_page(source, found, until, body_start) if isinstance(root, MappingNode) else None

    def _read_page(self, source: Source, found: Entries, until: int, body_start: int) -> Page | None:
        for key in ("type", "name"):
            if key not in found and not source.partial:
                source.error(0, "missing-key", f"the page lacks the key '{key}'", f"add '{key}:'")
        entity_type = self._read_type(source, found["type"]) if "type" in found else None
        words = self._vocabularies.of(entity_type.name).words if entity_type else {}
        name = _read_name(source, found["name"], words) if "name" in found else None
        aliases = read_words(source, found["aliases"]) if "aliases" in found else []
        sources = _read_sources(source, found["source"]) if "source" in found else ()
        description = read_word(source, found["description"]) if "description" in found else None
        if entity_type is None:
            return None
        statements = self._read_statements(source, entity_type, found, until)
        if name is None:
            return None
        name_key_node, name_node = found["name"]
        return Page(
            id=page_id(source.file),
            file=source.file,
            type=entity_type.name,
            name=name,
            aliases=tuple(word for word, _ in aliases),
            statements=tuple(statements),
            sources=sources,
            body_start=body_start,
            name_span=(start(name_key_node), end(source.text, name_node)),
            label_starts=(start(name_node), *(start(node) for _, node in aliases)),
            description=" ".join((description or "").split()),
        )

    def _read_type(self, source: Source, entry: Entry) -> EntityType | None:
        name, types = read_word(source, entry), self._ontology.types
        entity_type = types.get(name or "")
        if entity_type is None:
            if name is not None:
                meant = [one.name for one in types.values() if name.casefold() in map(str.casefold, one.synonyms)]
                fix = f"did you mean '{meant[0]}'?" if meant else did_you_mean(name, list(types))
                source.error(entry[1], "unknown-type", f"there is no type {shown(name)}", fix)
            return None
        if entity_type.abstract:
            below = self._ontology.concrete(self._ontology.subtypes(entity_type.name))
            fix = f"write {' or '.join(below)}" if below else ""
            message = f"{entity_type.name} is abstract: nothing is that alone"
            source.error(entry[1], "abstract-type", message, fix)
        _check_deprecated(source, entry[1], f"the type {entity_type.name}", entity_type)
        return entity_type

    def _read_statements(self, source: Source, entity_type: EntityType, found: Entries, until: int) -> list[Statement]:
        vocabulary, out = self._vocabularies.of(entity_type.name), list[Statement]()
        for name, entry in found.items():
            if name in PAGE_KEYS:
                continue
            word = vocabulary.words.get(name)
            if type(word) is AttributeWord:
                _read_attribute(source, word, entry, out)
            elif type(word) is RelationWord:
                _read_relation(source, word, entry, out)
            elif type(word) is dict:
                for part, field_entry in read_mapping(source, entry, f"'{name}'", known=word).items():
                    _read_attribute(source, word[part], field_entry, out)
            else:
                self._report_key(source, entity_type, entry[0])
        for attribute in vocabulary.required:
            if not source.partial and not _is_stated(attribute.name, found):
                _report_missing(source, entity_type, attribute, until)
        return out

    def _report_key(self, source: Source, entity_type: EntityType, key: ScalarNode) -> None:
        """A key that the type has no word for: why, and what was perhaps meant."""
        name, ontology = key.value, self._ontology
        relation, inverse = ontology.relations.get(name), ontology.inverses.get(name)
        starts = relation.domain if relation is not None else inverse.range if inverse is not None else ()
        if starts:
            message = f"'{name}' starts at {' or '.join(starts)}, not at {entity_type.name}"
            source.error(key, "wrong-domain", message, "state it on the page at its other end, or remove it")
            return
        others = [t.name for t in ontology.types_with_attribute(name)]
        if "." in name and name in entity_type.attributes:
            record, _, part = name.partition(".")
            fix = f"write {record}: {{{part}: …}}"
        else:
            fix = did_you_mean(name, [*self._vocabularies.of(entity_type.name).words, *PAGE_KEYS])
        where = f"; it is one of {', '.join(others)}" if others and "." not in name else ""
        message = f"{entity_type.name} has no attribute or relation {shown(name)}{where}"
        source.error(key, "unknown-attribute", message, fix)


def parse_page(text: str, *, file: str, ontology: Ontology) -> tuple[Page | None, list[Finding]]:
    """One page (see ``PageReader.read``)."""
    return PageReader(Vocabularies(ontology)).read(text, file=file)


def find_front_matter(source: Source) -> tuple[int, int] | None:
    """Where the front matter ends, and where the prose begins."""
    text = source.text
    opening = OPENING.match(text)
    if opening is not None:
        closing = CLOSING.search(text, opening.end())
        if closing is not None:
            return closing.span()
        source.error(0, "unclosed-front-matter", "no line --- closes the front matter", "add a line ---")
    elif CONFLICT.match(text):
        source.error(0, "merge-conflict", "a merge conflict was left in the file", "choose one side")
    elif not text.strip("\ufeff \t\r\n"):
        source.error(0, "empty-file", "the page is empty", NO_FRONT_MATTER)
    else:
        at = re.search(r"^---[ \t]*\r?$", text, re.MULTILINE)
        early = at is not None and not text[: at.start()].strip()
        fix = "move the line --- to the top of the file" if early else NO_FRONT_MATTER
        source.error(0, "no-front-matter", "the page does not begin with front matter", fix)
    return None


def _check_deprecated(source: Source, node: Node, what: str, described: Described) -> None:
    if described.deprecated is not None:
        since = f" since {described.deprecated.since}" if described.deprecated.since else ""
        fix = f"use {described.deprecated.use}" if described.deprecated.use else ""
        source.warn(node, "deprecated", f"{what} should not be used any more{since}", fix)


def _read_name(source: Source, entry: Entry, words: Mapping[str, Word]) -> str | None:
    word = words.get("name")
    value = _read_scalar(source, word if isinstance(word, AttributeWord) else AttributeWord(NAME_ATTRIBUTE), entry)
    return None if value is None else str(value)


def _read_sources(source: Source, entry: Entry) -> tuple[str, ...]:
    words = read_words(source, entry, or_one=True)
    values = [_read_scalar(source, SOURCE, (entry[0], node)) for _, node in words]
    return tuple(str(value) for value in values if value is not None)


def _is_stated(name: str, found: Entries) -> bool:
    record, dot, part = name.partition(".")
    if not dot or record not in found:
        return record in found
    fields = found[record][1]
    return isinstance(fields, MappingNode) and any(
        isinstance(key, ScalarNode) and key.value == part for key, _ in fields.value
    )


def _report_missing(source: Source, entity_type: EntityType, attribute: Attribute, until: int) -> None:
    message = f"{entity_type.name} needs the attribute '{attribute.name}'"
    fix, edit = f"add '{attribute.name}:'", None
    if attribute.default is not None and "." not in attribute.name:
        line = f"{attribute.name}: {scalar(written(attribute))}"
        fix, edit = f"add '{line}'", Edit(until, until, f"{line}\n")
    source.error(0, "missing-attribute", message, fix, edit=edit)


# Attributes


def _read_scalar(source: Source, word: AttributeWord, entry: Entry) -> Value | None:
    node, attribute = entry[1], word.attribute
    raw = node.value if isinstance(node, ScalarNode) else None
    value = word.known.get(raw) if raw is not None else None
    if value is not None:
        return value
    text = read_word(source, entry)
    if text is None:
        return None
    try:
        value = read_value(attribute, text)
    except BadValue as bad:
        edit = Edit(start(node), end(source.text, node), scalar(bad.meant, within=True)) if bad.meant else None
        source.error(node, bad.code, bad.message, bad.fix, edit=edit)
        return None
    deprecated = next((one for one in attribute.values if one.deprecated is not None and one.name == value), None)
    if deprecated is not None:
        _check_deprecated(source, node, f"the value {shown(deprecated.name)}", deprecated)
    elif raw is not None and raw not in NULLS and len(word.known) < MOST_KNOWN:  # without quotes it would be nothing
        word.known[raw] = value
    return value


def _read_attribute(source: Source, word: AttributeWord, entry: Entry, out: list[Statement]) -> None:
    (key, node), attribute = entry, word.attribute
    if attribute.deprecated is not None:
        _check_deprecated(source, key, f"the attribute '{attribute.name}'", attribute)
    if not isinstance(node, SequenceNode):
        value = _read_scalar(source, word, entry)
        if value is not None:
            if attribute.at_least > 1:
                _check_count(source, node, attribute, 1)
            out.append(Statement(attribute.name, value, (), start(key), end(source.text, node)))
        return
    if not attribute.many:
        _report_several(source, node, attribute.name)
    elif not node.value:
        source.error(key, "empty-value", f"'{attribute.name}' is an empty list", "fill it in or leave it out")
    seen: set[Value] = set()
    for item in node.value:
        value = _read_scalar(source, word, (item, item))
        if value is None:
            continue
        if value in seen:
            source.error(item, "duplicate-value", f"{kind(item)} is there twice", "keep one")
            continue
        seen.add(value)
        out.append(Statement(attribute.name, value, (), start(item), end(source.text, item)))
    if attribute.many and len(seen) == len(node.value) > 0:
        _check_count(source, node, attribute, len(seen))


def _check_count(source: Source, node: Node, attribute: Attribute, count: int) -> None:
    """Whether there are as many values as there should be where there are any."""
    if count < attribute.at_least:
        message = f"'{attribute.name}' has {count}, and should have at least {attribute.at_least}"
        source.error(node, "too-few-values", message, "add values, or leave it out")
    elif attribute.at_most is not None and count > attribute.at_most:
        message = f"'{attribute.name}' has {count} values, and should have at most {attribute.at_most}"
        source.error(node, "too-many-values", message, "remove some")


def _report_several(source: Source, node: SequenceNode, name: str) -> None:
    first = node.value[0].value if node.value and isinstance(node.value[0], ScalarNode) else ""
    alone = bool(first) and len(node.value) == 1
    edit = None
    if alone and node.flow_style:
        item = node.value[0]
        edit = Edit(start(node), end(source.text, node), source.text[start(item) : end(source.text, item)])
    fix = f"write {first}" if alone else "keep one"
    source.error(node, "too-many-values", f"'{name}' has one value, not a list", fix, edit=edit)


# Relations


def _read_relation(source: Source, word: RelationWord, entry: Entry, out: list[Statement]) -> None:
    (key, node), relation = entry, word.relation
    if relation.deprecated is not None:
        _check_deprecated(source, key, f"the relation '{word.name}'", relation)
    if not isinstance(node, SequenceNode):
        read = _read_target(source, word, entry)
        if read is not None:
            out.append(Statement(relation.name, *read, start(key), end(source.text, node), word.inverse))
        return
    if not node.value:
        source.error(key, "empty-value", f"'{word.name}' is an empty list", "fill it in or leave it out")
    seen: set[tuple[object, ...]] = set()
    targets: set[str] = set()
    most = word.limit.most
    for item in node.value:
        read = _read_target(source, word, (item, item))
        if read is None:
            continue
        target, attributes = read
        identity = (target.id, *(pair for pair in attributes if relation.attributes[pair[0]].identifying))
        if identity in seen:
            message = f"'{word.name}: {target.id}' is stated twice"
            apart = any(one.attribute.identifying for one in word.attributes.values())
            fix = "keep one, or tell them apart by an identifying attribute" if apart else "keep one"
            source.error(item, "duplicate-value", message, fix)
            continue
        seen.add(identity)
        targets.add(target.id)
        if most is not None and len(targets) > most:
            limit, fix = ("one page", "keep one") if most == 1 else (f"{most} pages at most", "remove some")
            source.error(item, "too-many-values", f"'{word.name}' leads to {limit}", fix)
        else:
            out.append(Statement(relation.name, *read, start(item), end(source.text, item), word.inverse))


def _read_target(
    source: Source, word: RelationWord, entry: Entry
) -> tuple[PageRef, tuple[tuple[str, Value | PageRef], ...]] | None:
    """A page id alone, or a mapping with ``target`` and the relation's attributes."""
    if not isinstance(entry[1], MappingNode):
        target = _read_reference(source, entry)
        if target is not None:
            _check_required(source, word, entry, ())
        return None if target is None else (target, ())
    known = ("target", *word.attributes)
    found = read_mapping(source, entry, f"'{word.name}'", known=known, required=("target",))
    _check_required(source, word, entry, found)
    target = _read_reference(source, found["target"]) if "target" in found else None
    attributes: list[tuple[str, Value | PageRef]] = []
    for name in sorted(found):
        if name != "target":
            attributes += [(name, value) for value in _read_values(source, word.attributes[name], found[name])]
    return None if target is None else (target, tuple(attributes))


def _read_values(source: Source, word: AttributeWord, entry: Entry) -> list[Value | PageRef]:
    """The value of a relation's attribute; of one that holds many its values, by their text."""
    (key, node), attribute = entry, word.attribute
    is_reference = attribute.type == "reference"
    if not attribute.many or not isinstance(node, SequenceNode):
        value = _read_reference(source, entry) if is_reference else _read_scalar(source, word, entry)
        return [] if value is None else [value]
    if not node.value:
        source.error(key, "empty-value", f"'{attribute.name}' is an empty list", "fill it in or leave it out")
    values: dict[str, Value | PageRef] = {}
    for item in node.value:
        pair: Entry = (item, item)
        value = _read_reference(source, pair) if is_reference else _read_scalar(source, word, pair)
        if value is None:
            continue
        text = value.id if isinstance(value, PageRef) else canonical_text(value)
        if text in values:
            source.error(item, "duplicate-value", f"{kind(item)} is there twice", "keep one")
        values[text] = value
    if node.value and len(values) == len(node.value):
        _check_count(source, node, attribute, len(values))
    return [values[text] for text in sorted(values)]


def _check_required(source: Source, word: RelationWord, entry: Entry, found: object) -> None:
    stated = found if isinstance(found, dict) else {}
    for name in word.attributes:
        if name in word.required and name not in stated:
            message = f"'{word.name}' needs the attribute '{name}'"
            source.error(entry[1], "missing-attribute", message, f"write {{target: …, {name}: …}}")


def _read_reference(source: Source, entry: Entry) -> PageRef | None:
    """The id of a page; ``[[id]]``, which YAML takes for lists, is named as the likely mistake."""
    node = entry[1]
    while isinstance(node, SequenceNode) and len(node.value) == 1:
        node = node.value[0]
    if node is not entry[1] and isinstance(node, ScalarNode):
        source.error(entry[1], "wrong-shape", "a page is named by its id alone", f"write {node.value}")
        return None
    word = read_word(source, entry)
    return None if word is None else PageRef(word, start(node))
