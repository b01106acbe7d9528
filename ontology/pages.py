"""Wiki pages: Markdown with YAML front matter that states what the ontology has words for.

A page is an instance of a type. Its front matter is read strictly; the prose below it is left to extractors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ontology.attributes import NAME_ATTRIBUTE, PAGE_KEYS
from ontology.findings import Finding, did_you_mean, shown
from ontology.schema import Attribute, Described, EntityType, Ontology, Relation
from ontology.shapes import Entries, Entry, read_mapping, read_word, read_words
from ontology.strict_yaml import CONFLICT, Source, compose, end, kind, start
from ontology.values import BadValue, read_value
from ontoloom.names import name_key
from ontoloom.records import Value, canonical_text

OPENING = re.compile(r"\ufeff?---[ \t]*(?:\r\n|\n|\r)")
CLOSING = re.compile(r"(?<=[\r\n])---[ \t]*(?:\r\n|\n|\r|\Z)")
SOURCE = Attribute("source", "url")
NO_FRONT_MATTER = "begin the file with a line ---, then type: and name:, then a line ---"


@dataclass(frozen=True, slots=True)
class PageRef:
    """Another page, by its id. ``start`` is where the page's text names it."""

    id: str
    start: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Statement:
    """One attribute or relation of the page's entity.

    ``object`` is a canonical value for an attribute, a :class:`PageRef` for a relation; ``attributes`` are those of
    the relation, sorted by name. ``inverse``: it is stated from the other side, so that the page that it refers to is
    the subject, and this one the object. ``page_text[start:end]`` are the words that state it: ``key: value``, or the
    item of a list.
    """

    key: str
    object: Value | PageRef
    attributes: tuple[tuple[str, Value | PageRef], ...]
    start: int
    end: int
    inverse: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it was read; ``id`` is the file's stem. Spans are code-point offsets into the page's text.

    ``name_span`` covers ``name: …``. ``label_starts`` says where the name and then each alias is written.
    ``body_start`` is where the prose begins.
    """

    id: str
    file: str
    type: str
    name: str
    aliases: tuple[str, ...]
    statements: tuple[Statement, ...]
    sources: tuple[str, ...]
    body_start: int
    name_span: tuple[int, int]
    label_starts: tuple[int, ...] = ()
    description: str = ""


def parse_page(text: str, *, file: str, ontology: Ontology) -> tuple[Page | None, list[Finding]]:
    """A page and all findings in the order of the text.

    A page comes back wherever its type and name can be told, with the statements that hold, also beside findings: so
    that pages can be checked against each other. Only a page without errors should be believed.
    """
    source = Source(file, text)
    page = _read_page(source, ontology)
    return page, sorted(source.findings)


def _read_page(source: Source, ontology: Ontology) -> Page | None:
    closing = _find_front_matter(source)
    if closing is None:
        return None
    for match in CONFLICT.finditer(source.text, closing.end()):
        if match.group().startswith("<"):
            source.error(match.start(), "merge-conflict", "a merge conflict was left in the prose", "choose one side")
    root = compose(source, end=closing.start())
    if root is None:
        if not source.failed:
            source.error(0, "missing-key", "the front matter is empty", "add 'type:' and 'name:'")
        return None
    found = read_mapping(source, (root, root), "the front matter")
    if not isinstance(root, MappingNode):
        return None
    return _read_front_matter(source, ontology, found, closing.end())


def _find_front_matter(source: Source) -> re.Match[str] | None:
    """The line that closes the front matter."""
    opening = OPENING.match(source.text)
    if not source.text.strip("\ufeff \t\r\n"):
        source.error(0, "empty-file", "the page is empty", NO_FRONT_MATTER)
    elif opening is None:
        at = re.search(r"^---[ \t]*\r?$", source.text, re.MULTILINE)
        early = at is not None and not source.text[: at.start()].strip()
        fix = "move the line --- to the top of the file" if early else NO_FRONT_MATTER
        source.error(0, "no-front-matter", "the page does not begin with front matter", fix)
    else:
        closing = CLOSING.search(source.text, opening.end())
        if closing is None:
            source.error(0, "unclosed-front-matter", "no line --- closes the front matter", "add a line ---")
        return closing
    return None


def _read_front_matter(source: Source, ontology: Ontology, found: Entries, body_start: int) -> Page | None:
    for key in ("type", "name"):
        if key not in found and not source.partial:
            source.error(0, "missing-key", f"the page lacks the key '{key}'", f"add '{key}:'")
    type_name = read_word(source, found["type"]) if "type" in found else None
    entity_type = ontology.types.get(type_name or "")
    if type_name is not None and entity_type is None:
        fix = did_you_mean(type_name, list(ontology.types))
        source.error(found["type"][1], "unknown-type", f"there is no type {shown(type_name)}", fix)
    elif entity_type is not None:
        _check_type(source, ontology, entity_type, found["type"][1])
    name = _read_name(source, found["name"], entity_type) if "name" in found else None
    aliases = read_words(source, found["aliases"]) if "aliases" in found else []
    sources = _read_sources(source, found["source"]) if "source" in found else ()
    description = read_word(source, found["description"]) if "description" in found else None
    if entity_type is None:
        return None
    statements = tuple(_read_statements(source, ontology, entity_type, found))
    if name is None:
        return None
    name_key_node, name_node = found["name"]
    return Page(
        id=PurePath(source.file).stem,
        file=source.file,
        type=entity_type.name,
        name=name,
        aliases=tuple(word for word, _ in aliases),
        statements=statements,
        sources=sources,
        body_start=body_start,
        name_span=(start(name_key_node), end(source.text, name_node)),
        label_starts=(start(name_node), *(start(node) for _, node in aliases)),
        description=" ".join((description or "").split()),
    )


def _check_type(source: Source, ontology: Ontology, entity_type: EntityType, node: Node) -> None:
    if entity_type.abstract:
        below = ontology.concrete(ontology.subtypes(entity_type.name))
        fix = f"write {' or '.join(below)}" if below else ""
        message = f"{entity_type.name} is abstract: nothing is that alone"
        source.error(node, "abstract-type", message, fix)
    _check_deprecated(source, node, f"the type {entity_type.name}", entity_type)


def _check_deprecated(source: Source, node: Node, what: str, described: Described) -> None:
    if described.deprecated is not None:
        since = f" since {described.deprecated.since}" if described.deprecated.since else ""
        fix = f"use {described.deprecated.use}" if described.deprecated.use else ""
        source.warn(node, "deprecated", f"{what} should not be used any more{since}", fix)


def _read_name(source: Source, entry: Entry, entity_type: EntityType | None) -> str | None:
    attribute = entity_type.attributes["name"] if entity_type else NAME_ATTRIBUTE
    value = _read_scalar(source, attribute, entry)
    return None if value is None else str(value)


def _read_sources(source: Source, entry: Entry) -> tuple[str, ...]:
    words = read_words(source, entry, or_one=True)
    values = [_read_scalar(source, SOURCE, (entry[0], node)) for _, node in words]
    return tuple(str(value) for value in values if value is not None)


def _read_statements(
    source: Source, ontology: Ontology, entity_type: EntityType, found: Entries
) -> Iterator[Statement]:
    records = entity_type.records()
    for name, entry in found.items():
        if name in PAGE_KEYS:
            continue
        relation = ontology.relations.get(name)
        inverse = ontology.inverses.get(name)
        if name in entity_type.attributes and "." not in name:
            yield from _read_attribute(source, entity_type.attributes[name], entry)
        elif name in records:
            yield from _read_record(source, entity_type, name, entry, records[name])
        elif relation is not None and entity_type.name in relation.domain:
            yield from _read_relation(source, relation, entry)
        elif inverse is not None and entity_type.name in inverse.range:
            yield from _read_relation(source, inverse, entry, inverse=True)
        else:
            _report_key(source, ontology, entity_type, entry[0])
    if source.partial:
        return
    for attribute in entity_type.attributes.values():
        if attribute.required and attribute.name != "name" and not _is_stated(attribute.name, found):
            message = f"{entity_type.name} needs the attribute '{attribute.name}'"
            source.error(0, "missing-attribute", message, f"add '{attribute.name}:'")


def _is_stated(name: str, found: Entries) -> bool:
    record, dot, part = name.partition(".")
    if not dot or record not in found:
        return record in found
    fields = found[record][1]
    return isinstance(fields, MappingNode) and any(
        isinstance(key, ScalarNode) and key.value == part for key, _ in fields.value
    )


def _report_key(source: Source, ontology: Ontology, entity_type: EntityType, key: ScalarNode) -> None:
    """A key that the type has no word for: why, and what was perhaps meant."""
    name = key.value
    relation, inverse = ontology.relations.get(name), ontology.inverses.get(name)
    if relation is not None or inverse is not None:
        starts = relation.domain if relation is not None else inverse.range if inverse is not None else ()
        message = f"'{name}' starts at {' or '.join(starts)}, not at {entity_type.name}"
        source.error(key, "wrong-domain", message, "state it on the page at its other end, or remove it")
        return
    own = [a.partition(".")[0] for a in entity_type.attributes]
    own += [r.name for r in ontology.relations.values() if entity_type.name in r.domain]
    own += [r.inverse for r in ontology.relations.values() if r.inverse and entity_type.name in r.range]
    others = [t.name for t in ontology.types_with_attribute(name)]
    if "." in name and name in entity_type.attributes:
        record, _, part = name.partition(".")
        fix = f"write {record}: {{{part}: …}}"
    else:
        fix = did_you_mean(name, list(dict.fromkeys([*own, *PAGE_KEYS])))
    where = f"; it is one of {', '.join(others)}" if others and "." not in name else ""
    source.error(key, "unknown-attribute", f"{entity_type.name} has no attribute or relation {shown(name)}{where}", fix)


def _read_attribute(source: Source, attribute: Attribute, entry: Entry) -> Iterator[Statement]:
    key, node = entry
    if attribute.deprecated is not None:
        _check_deprecated(source, key, f"the attribute '{attribute.name}'", attribute)
    if not isinstance(node, SequenceNode):
        value = _read_scalar(source, attribute, entry)
        if value is not None:
            _check_count(source, node, attribute, 1)
            yield Statement(attribute.name, value, (), start(key), end(source.text, node))
        return
    if not attribute.many:
        _report_several(source, node, attribute.name)
    elif not node.value:
        source.error(key, "empty-value", f"'{attribute.name}' is an empty list", "fill it in or leave it out")
    seen: set[Value] = set()
    for item in node.value:
        value = _read_scalar(source, attribute, (item, item))
        if value is None:
            continue
        if value in seen:
            source.error(item, "duplicate-value", f"{kind(item)} is there twice", "keep one")
            continue
        seen.add(value)
        yield Statement(attribute.name, value, (), start(item), end(source.text, item))
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
    fix = f"write {first}" if first and len(node.value) == 1 else "keep one"
    source.error(node, "too-many-values", f"'{name}' has one value, not a list", fix)


def _read_scalar(source: Source, attribute: Attribute, entry: Entry) -> Value | None:
    word = read_word(source, entry)
    if word is None:
        return None
    try:
        value = read_value(attribute, word)
    except BadValue as bad:
        source.error(entry[1], bad.code, bad.message, bad.fix)
        return None
    for one in attribute.values:
        if one.deprecated is not None and one.name == value:
            _check_deprecated(source, entry[1], f"the value {shown(one.name)}", one)
    return value


def _read_record(
    source: Source, entity_type: EntityType, name: str, entry: Entry, fields: list[str]
) -> Iterator[Statement]:
    for field_name, field_entry in read_mapping(source, entry, f"'{name}'", known=fields).items():
        yield from _read_attribute(source, entity_type.attributes[f"{name}.{field_name}"], field_entry)


def _read_relation(source: Source, relation: Relation, entry: Entry, *, inverse: bool = False) -> Iterator[Statement]:
    """Statements of a relation, or with ``inverse`` those that are made from its object's side."""
    key, node = entry
    name, limit = (relation.inverse, relation.subjects) if inverse else (relation.name, relation.objects)
    if relation.deprecated is not None:
        _check_deprecated(source, key, f"the relation '{name}'", relation)
    items = node.value if isinstance(node, SequenceNode) else [node]
    if not items:
        source.error(key, "empty-value", f"'{name}' is an empty list", "fill it in or leave it out")
    seen: set[tuple[object, ...]] = set()
    targets: set[str] = set()
    for item in items:
        pair: Entry = (item, item) if isinstance(node, SequenceNode) else entry
        read = _read_target(source, relation, pair)
        if read is None:
            continue
        target, attributes = read
        identity = (target, *(pair for pair in attributes if relation.attributes[pair[0]].identifying))
        if identity in seen:
            message = f"'{name}: {target.id}' is stated twice"
            source.error(item, "duplicate-value", message, "keep one, or tell them apart by an identifying attribute")
            continue
        targets.add(target.id)
        if limit.most is not None and len(targets) > limit.most:
            most = "one page" if limit.most == 1 else f"{limit.most} pages at most"
            source.error(item, "too-many-values", f"'{name}' leads to {most}", "keep one" if limit.most == 1 else "")
        else:
            yield Statement(relation.name, target, attributes, start(pair[0]), end(source.text, item), inverse)
        seen.add(identity)


def _read_target(
    source: Source, relation: Relation, entry: Entry
) -> tuple[PageRef, tuple[tuple[str, Value | PageRef], ...]] | None:
    """A page id alone, or a mapping with ``target`` and the relation's attributes."""
    if not isinstance(entry[1], MappingNode):
        target = _read_reference(source, entry)
        if target is not None:
            _check_required(source, relation, entry, ())
        return None if target is None else (target, ())
    known = ("target", *relation.attributes)
    found = read_mapping(source, entry, f"'{relation.name}'", known=known, required=("target",))
    _check_required(source, relation, entry, found)
    target = _read_reference(source, found["target"]) if "target" in found else None
    attributes: list[tuple[str, Value | PageRef]] = []
    for name in sorted(found.keys() - {"target"}):
        attributes += [(name, value) for value in _read_values(source, relation.attributes[name], found[name])]
    return None if target is None else (target, tuple(attributes))


def _read_values(source: Source, attribute: Attribute, entry: Entry) -> list[Value | PageRef]:
    """The value of a relation's attribute; of one that holds many its values, by their text."""
    key, node = entry
    items = [entry]
    if attribute.many and isinstance(node, SequenceNode):
        items = [(item, item) for item in node.value]
        if not items:
            source.error(key, "empty-value", f"'{attribute.name}' is an empty list", "fill it in or leave it out")
    values: dict[str, Value | PageRef] = {}
    for item in items:
        reference = attribute.type == "reference"
        value = _read_reference(source, item) if reference else _read_scalar(source, attribute, item)
        if value is None:
            continue
        text = value.id if isinstance(value, PageRef) else canonical_text(value)
        if text in values:
            source.error(item[1], "duplicate-value", f"{kind(item[1])} is there twice", "keep one")
        values[text] = value
    return [values[text] for text in sorted(values)]


def _check_required(source: Source, relation: Relation, entry: Entry, found: object) -> None:
    stated = found if isinstance(found, dict) else {}
    for attribute in relation.attributes.values():
        if attribute.required and attribute.name not in stated:
            message = f"'{relation.name}' needs the attribute '{attribute.name}'"
            source.error(entry[1], "missing-attribute", message, f"write {{target: …, {attribute.name}: …}}")


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


def names_of(page: Page) -> Iterator[tuple[str, str, int]]:
    """Name and aliases of a page: key for comparison, spelling, where it is written."""
    for name, at in zip((page.name, *page.aliases), page.label_starts, strict=True):
        yield name_key(name), name, at
