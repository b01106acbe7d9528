"""The parts of a LinkML schema: classes with their slots as they are in force, enums and types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ontology.findings import FindingsError
from ontology.importers.legal_names import Said, called
from ontology.labels import LANGUAGE, VERSION
from ontology.schema import Deprecation
from ontology.strict_yaml import Source, compose, entries, is_absent, is_null
from ontology.values import NUMBER
from ontoloom.errors import OntologyError

Tree: TypeAlias = dict[str, Any]

SAID = (
    "description", "title", "aliases", "structured_aliases", "examples", "deprecated", "annotations", "name",
)  # fmt: skip
TOP_KEYS = (
    "id", "name", "title", "version", "description", "prefixes", "default_prefix", "default_range", "imports",
    "classes", "slots", "enums", "types", "license",
)  # fmt: skip
CLASS_KEYS = (
    *SAID, "is_a", "mixins", "mixin", "abstract", "slots", "attributes", "slot_usage", "unique_keys",
    "disjoint_with", "tree_root",
)  # fmt: skip
SLOT_KEYS = (
    *SAID, "range", "any_of", "required", "multivalued", "identifier", "key", "minimum_value", "maximum_value",
    "pattern", "unit", "ifabsent", "owner", "minimum_cardinality", "maximum_cardinality", "inverse", "symmetric",
    "asymmetric", "transitive", "irreflexive", "inlined", "inlined_as_list", "domain_of", "domain",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Slot:
    """A slot as it is in force in a class."""

    name: str
    tree: Tree

    def annotation(self, key: str) -> object:
        """What our exporter notes of it; None where that is not there."""
        return _annotation(self.tree, key)


class Schema:
    """A schema as it was read. ``notes`` tells of keys that have no counterpart here."""

    def __init__(self, top: Tree) -> None:
        self.top = top
        self.notes: list[str] = []
        self.classes, self.slots, self.enums, self.types = (
            {name: tree or {} for name, tree in (top.get(key) or {}).items()}
            for key in ("classes", "slots", "enums", "types")
        )
        self._note_keys("the schema", top, TOP_KEYS)
        for name, tree in self.classes.items():
            self._note_keys(f"the class '{name}'", tree, CLASS_KEYS)
            for slot, inner in (tree.get("attributes") or {}).items():
                self._note_keys(f"the slot '{slot}'", inner or {}, SLOT_KEYS)
        for name, tree in self.slots.items():
            self._note_keys(f"the slot '{name}'", tree, SLOT_KEYS)
        others = [name for name in words(top.get("imports")) if name != "linkml:types"]
        self.notes += [f"'{name}' is imported, which is not read" for name in others]
        below = {str(tree.get("is_a") or "") for tree in self.classes.values()}
        self._parts = {name for name in self.classes if self._is_part(name, below)}

    def _note_keys(self, where: str, tree: Tree, known: Iterable[str]) -> None:
        unknown = [key for key in tree if key not in known]
        if unknown:
            self.notes.append(f"{where}: not kept: {', '.join(unknown)}")

    def slots_of(self, name: str, *, inherited: bool = False) -> list[Slot]:
        """The slots that a class names itself, or with those of its ancestors, as they are in force there."""
        tree = self.classes.get(name) or {}
        ups = [str(up) for up in (tree.get("is_a"), *words(tree.get("mixins"))) if up]
        above = {slot.name: slot for up in ups for slot in self.slots_of(up, inherited=True)} if name != "" else {}
        usage = tree.get("slot_usage") or {}
        own: dict[str, Tree] = {slot: self.slots.get(slot) or {} for slot in words(tree.get("slots"))}
        own |= {slot: inner or {} for slot, inner in (tree.get("attributes") or {}).items()}
        own |= {slot: above[slot].tree for slot in usage if slot in above and slot not in own}
        found = {slot: Slot(slot, {**inner, **(usage.get(slot) or {})}) for slot, inner in own.items()}
        return list({**above, **found}.values() if inherited else found.values())

    def is_part(self, name: str) -> bool:
        """Whether a class is of records, of statements or of pages as such, and so no type."""
        return name in self._parts

    def _is_part(self, name: str, below: set[str]) -> bool:
        tree = self.classes[name]
        role = _annotation(tree, "role")
        if role in ("page", "record", "statement"):
            return True
        if tree.get("is_a") or tree.get("mixins") or name in below or flag(tree.get("mixin")):
            return False
        if flag(tree.get("tree_root")):
            self.notes.append(f"the class '{name}' was left out: it is the root that holds all others")
            return True
        slots = self.slots_of(name)
        users = [slot for owner in self.classes for slot in self.slots_of(owner) if slot.tree.get("range") == name]
        single = bool(users) and not any(flag(slot.tree.get("multivalued")) for slot in users)
        scalar = bool(slots) and not any(one in self.classes for slot in slots for one in self.ranges(slot))
        return single and scalar and not any(self.is_identifier(slot) for slot in slots)

    def ranges(self, slot: Slot) -> list[str]:
        """What a slot leads to, one by one."""
        any_of = [str(part["range"]) for part in slot.tree.get("any_of") or [] if (part or {}).get("range")]
        return any_of or [str(slot.tree.get("range") or self.top.get("default_range") or "string")]

    def leads(self, slot: Slot) -> bool:
        """Whether a slot leads to classes that are no records."""
        return any(name in self.classes for name in self.ranges(slot)) and self.record(slot) is None

    def record(self, slot: Slot) -> list[Slot] | None:
        """The slots of the record that a slot holds; None where it holds none."""
        name = self.ranges(slot)[0]
        role = _annotation(self.classes.get(name) or {}, "role")
        return self.slots_of(name) if name in self._parts and role in (None, "record") else None

    def statement(self, slot: Slot) -> tuple[Slot, list[Slot]] | None:
        """The slot ``target`` of the statements that a slot leads to, and the others."""
        tree = self.classes.get(self.ranges(slot)[0]) or {}
        if _annotation(tree, "role") != "statement":
            return None
        slots = self.slots_of(self.ranges(slot)[0])
        target = next((one for one in slots if one.name == "target"), None)
        return (target, [one for one in slots if one is not target]) if target else None

    def is_identifier(self, slot: Slot) -> bool:
        return flag(slot.tree.get("identifier")) or flag(slot.tree.get("key"))

    def is_ours(self, slot: Slot) -> bool:
        """Whether a slot is of the class of pages that our exporter writes."""
        return any(_annotation(tree, "role") == "page" for tree in self.classes.values()) and slot.name != "type"

    def built_in(self, name: str) -> str:
        """The built-in type that a type is."""
        seen: set[str] = set()
        while name in self.types and name not in seen:
            seen.add(name)
            name = str(self.types[name].get("typeof") or self.types[name].get("base") or "string")
        return {"str": "string", "int": "integer", "Bool": "boolean", "XSDDate": "date"}.get(name, name)

    def pattern_of(self, slot: Slot) -> object:
        """The pattern of the type that a slot has."""
        tree = self.types.get(self.ranges(slot)[0]) or {}
        return tree.get("pattern")


def read_schema(text: str, file: str) -> Schema:
    """A schema as it stands. Raises FindingsError, or OntologyError where the text is no mapping."""
    source = Source(file, text)
    root = compose(source)
    if source.failed:
        raise FindingsError(source.findings)
    top = _plain(root) if root is not None else None
    if not isinstance(top, dict):
        raise OntologyError(f"{file} is no mapping", code="bad-import", hint="is it a LinkML schema?")
    return Schema(top)


def _plain(node: Node) -> Any:
    """A tree of plain words; what is absent or null is None."""
    if isinstance(node, MappingNode):
        return {key: _plain(value) for key, (_, value) in entries(node).items()}
    if isinstance(node, SequenceNode):
        return [_plain(item) for item in node.value]
    return None if is_absent(node) or is_null(node) else node.value if isinstance(node, ScalarNode) else None


def _annotation(tree: Tree, key: str) -> object:
    found = (tree.get("annotations") or {}).get(f"ontoloom_{key}")
    return found.get("value") if isinstance(found, dict) else found


def words(value: object) -> list[str]:
    """A list of words; a single one may stand for it, and a mapping for its keys."""
    if value is None:
        return []
    return [str(item) for item in value] if isinstance(value, list | dict) else [str(value)]


def flag(value: object) -> bool:
    return str(value).lower() == "true"


def number(value: object) -> float | None:
    return float(str(value)) if value is not None and NUMBER.fullmatch(str(value)) else None


def said(name: str, label: str, tree: Tree, names: Mapping[str, str], notes: list[str], version: str) -> Said:
    """What people read of an element. ``names`` are what may be used in place of a deprecated one."""
    title = str(tree.get("title") or (label if label != name else ""))
    known = called(name, title, description=str(tree.get("description") or ""), synonyms=words(tree.get("aliases")))
    tagged: dict[str, list[str]] = {}
    labels = list(known["labels"])
    for one in tree.get("structured_aliases") or []:
        tag, word = str(one.get("in_language") or ""), " ".join(str(one.get("literal_form") or "").split())
        if word and "ontoloom:label" in words(one.get("categories")) and LANGUAGE.fullmatch(tag):
            labels.append((tag, word))
        elif word:
            tagged.setdefault(tag if LANGUAGE.fullmatch(tag) else "", []).append(word)
    if len({bool(tag) for tag, _ in labels}) > 1:
        labels = [pair for pair in labels if pair[0]]
    plain = [*known["synonyms"], *tagged.pop("", [])]
    plain = [word for word in dict.fromkeys(plain) if word not in {w for _, w in labels}]
    if tagged and plain:
        plain, tagged = [*plain, *(word for more in tagged.values() for word in more)], {}
        notes.append(f"'{label}': the languages of its other words are not kept")
    every = dict.fromkeys([*(w for _, w in labels), *plain, *(w for more in tagged.values() for w in more)])
    examples = [one.get("value") if isinstance(one, dict) else one for one in tree.get("examples") or []]
    return Said(
        description=known["description"],
        synonyms=tuple(every),
        labels=tuple(labels),
        translations=tuple((tag, tuple(more)) for tag, more in tagged.items()),
        examples=tuple(str(one).strip() for one in examples if one is not None and str(one).strip()),
        deprecated=_deprecation(label, tree, names, notes, version),
    )


def _deprecation(
    label: str, tree: Tree, names: Mapping[str, str], notes: list[str], version: str
) -> Deprecation | None:
    text = tree.get("deprecated")
    if text is None:
        return None
    match = re.fullmatch(r"(?:since (\S+?))?(?:(?:^|; )use (\S+))?", str(text))
    since, use = (match[1] or "", match[2] or "") if match else ("", "")
    if use and use not in names:
        notes.append(f"'{label}': what is to be used in its place is not kept: {use}")
    use = names.get(use, "")
    if VERSION.fullmatch(since) or use:
        return Deprecation(since if VERSION.fullmatch(since) else "", use)
    notes.append(f"'{label}' is deprecated, as of this version: {text}")
    return Deprecation(since=version)
