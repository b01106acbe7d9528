"""An ontology as a LinkML schema, in YAML.

Types are classes below a class of pages, which have an id, a name, aliases, sources and a description; records are
classes of their own, and so are the statements of relations with attributes, with the slot ``target``. What LinkML has
no word for is kept in annotations ``ontoloom_…``, and in those alone: how many subjects an object has, the policy for
conflicts, what is acyclic, identifying or a quantity, and what editors are offered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

from ontology.exports.portable_patterns import anchored
from ontology.exports.rdf_terms import VOCABULARY, default_base
from ontology.outline import bases as bases_of
from ontology.outline import by_head, field_name, how_many, is_record, keys, legal, own_attributes, topmost
from ontology.schema import Attribute, Cardinality, Described, EntityType, EnumValue, Ontology, Relation, ValueType
from ontology.strict_yaml import FORBIDDEN, ODD_SPACE
from ontology.write_yaml import value_text

Tree = dict[str, Any]

RANGES: dict[ValueType, str] = {
    "integer": "integer", "number": "double", "boolean": "boolean", "date": "date", "datetime": "datetime",
    "url": "uri",
}  # fmt: skip
"""Built-in types of LinkML; all else is ``string``."""
FLAGS = ("symmetric", "asymmetric", "transitive")
PAGE: Tree = {
    "id": {"identifier": True, "description": "The name of the page's file without .md."},
    "name": {"required": True},
    "aliases": {"multivalued": True},
    "source": {"multivalued": True, "range": "uri"},
    "description": {},
}


def to_linkml(ontology: Ontology, *, base: str = "") -> str:
    """The schema. ``base`` begins the IRIs of its elements, by default ``urn:ontoloom:NAME#``."""
    tree = _Schema(ontology).tree(base or default_base(ontology))
    return yaml.dump(tree, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=120)


class _Plain(yaml.SafeDumper):
    """Without anchors."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002  # as the base class has it
        return True


def _words(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Blanks and breaks that look like others are escaped, as the strict reader demands."""
    odd = ODD_SPACE.search(text) or FORBIDDEN.search(text)
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if odd else None)


_Plain.add_representer(str, _words)


class _Schema:
    """A schema being made. Names of classes that are no types are chosen so that they meet none."""

    def __init__(self, ontology: Ontology) -> None:
        self.ontology = ontology
        self.classes: dict[str, Tree] = {}
        self.slots: dict[str, Tree] = {}
        self.enums: dict[str, Tree] = {}
        self.taken = {*ontology.types, *ontology.relations, *(r.inverse for r in ontology.relations.values())}
        self.page = self._new("Page")

    def tree(self, base: str) -> Tree:
        """The whole schema."""
        ontology = self.ontology
        self.classes[self.page] = {"abstract": True, "annotations": {"ontoloom_role": "page"}, "attributes": PAGE}
        for one in ontology.types.values():
            self.classes[one.name] = self._class(one)
        for relation in ontology.relations.values():
            self._relation(relation)
        prefix = ontology.name
        return {
            "id": base.rstrip("#/"),
            "name": prefix,
            "version": ontology.version,
            **({"description": ontology.description} if ontology.description else {}),
            "prefixes": {"linkml": "https://w3id.org/linkml/", "ontoloom": VOCABULARY, prefix: base},
            "default_prefix": prefix,
            "imports": ["linkml:types"],
            "default_range": "string",
            "classes": self.classes,
            **({"slots": self.slots} if self.slots else {}),
            **({"enums": self.enums} if self.enums else {}),
        }

    def _new(self, name: str) -> str:
        found = legal(name, self.taken)
        self.taken.add(found)
        return found

    def _class(self, one: EntityType) -> Tree:
        tree = said(one)
        is_mixin = any(one.name in other.mixins for other in self.ontology.types.values())
        if one.parent or not is_mixin:
            tree["is_a"] = one.parent or self.page
        if one.mixins:
            tree["mixins"] = list(one.mixins)
        tree |= {key: True for key, holds in (("abstract", one.abstract), ("mixin", is_mixin)) if holds}
        if one.disjoint:
            tree["disjoint_with"] = list(one.disjoint)
        relations = [r.name for r in self.ontology.relations.values() if one.name in topmost(self.ontology, r.domain)]
        inverses = [
            r.inverse
            for r in self.ontology.relations.values()
            if r.inverse and one.name in topmost(self.ontology, r.range)
        ]
        if relations or inverses:
            tree["slots"] = relations + inverses
        attributes = {
            head: self._record(one, head) if is_record(fields) else self._attribute(one.name, fields[0])
            for head, fields in by_head(own_attributes(self.ontology, one.name)).items()
            if head != "name" or fields[0].pattern or fields[0].labels or fields[0].synonyms or fields[0].examples
        }
        if attributes:
            tree["attributes"] = attributes
        above = {key for up in bases_of(self.ontology, one.name) for key in keys(self.ontology.types[up])}
        unique = [key for key in keys(one) if key not in above and not any("." in part for part in key)]
        if unique:
            tree["unique_keys"] = {"_and_".join(key): {"unique_key_slots": list(key)} for key in unique}
        return tree

    def _record(self, one: EntityType, head: str) -> Tree:
        """A class of all fields that the type has in a record: a part of a class cannot be declared again."""
        every = [a for a in one.attributes.values() if a.name.startswith(f"{head}.")]
        name = self._new(f"{one.name}_{head}")
        self.classes[name] = {
            "annotations": {"ontoloom_role": "record"},
            "attributes": {field_name(a): self._attribute(f"{one.name}_{head}", a) for a in every},
        }
        required = {"required": True} if any(a.required for a in every) else {}
        return {"range": name, "inlined": True, **required}

    def _attribute(self, owner: str, attribute: Attribute) -> Tree:
        tree = said(attribute)
        annotations = tree.pop("annotations", {})
        if attribute.type == "enum":
            tree["range"] = self._enum(f"{owner}_{field_name(attribute)}", attribute.values)
        elif attribute.type == "reference":
            tree |= self._leads(attribute.targets)
        elif attribute.type in RANGES:
            tree["range"] = RANGES[attribute.type]
        tree |= _counts(how_many(attribute), many=attribute.many, required=attribute.required)
        if attribute.many and not attribute.required and attribute.at_least > 1:
            annotations["ontoloom_at_least"] = attribute.at_least
        if attribute.type in ("integer", "number"):
            limits = (("minimum_value", attribute.minimum), ("maximum_value", attribute.maximum))
            tree |= {key: _number(limit) for key, limit in limits if limit is not None}
        elif attribute.type == "quantity":
            limits = (("ontoloom_min", attribute.minimum), ("ontoloom_max", attribute.maximum))
            annotations |= {key: _number(limit) for key, limit in limits if limit is not None}
        if attribute.pattern is not None:
            pattern = anchored(attribute.pattern)
            tree |= {"pattern": pattern} if pattern else {}
            annotations |= {} if pattern else {"ontoloom_pattern": attribute.pattern}
        if attribute.unit:
            tree["unit"] = {"symbol": attribute.unit}
        if attribute.default is not None:
            annotations["ontoloom_default"] = value_text(attribute, attribute.default)
        if attribute.type in ("text", "quantity"):
            annotations["ontoloom_type"] = attribute.type
        annotations |= {f"ontoloom_{key}": True for key in ("identifying", "unique") if getattr(attribute, key)}
        return tree | ({"annotations": annotations} if annotations else {})

    def _enum(self, name: str, values: Sequence[EnumValue]) -> str:
        found = self._new(name)
        self.enums[found] = {"permissible_values": {value.name: said(value) for value in values}}
        return found

    def _leads(self, types: Sequence[str]) -> Tree:
        """Pages of these types, named by their ids."""
        named = topmost(self.ontology, types)
        if len(named) == 1:
            return {"range": named[0], "inlined": False}
        return {"range": self.page, "any_of": [{"range": name} for name in named], "inlined": False}

    def _relation(self, relation: Relation) -> None:
        tree = said(relation)
        annotations = tree.pop("annotations", {})
        tree |= self._statement(relation) if relation.attributes else self._leads(relation.range)
        alone = not relation.inverse and not relation.symmetric  # else other pages may state it
        least = relation.objects.least if alone else 0
        most = None if any(a.identifying for a in relation.attributes.values()) else relation.objects.most
        tree |= _counts(Cardinality(least, most), many=most != 1, required=least > 0)
        if relation.objects != Cardinality(least, most):
            annotations["ontoloom_objects"] = str(relation.objects)
        if relation.subjects != Cardinality():
            annotations["ontoloom_subjects"] = str(relation.subjects)
        if relation.conflict != "keep_all":
            annotations["ontoloom_conflict"] = relation.conflict
        tree |= {flag: True for flag in FLAGS if getattr(relation, flag)}
        if relation.acyclic:
            tree["irreflexive"] = True
            annotations["ontoloom_acyclic"] = True
        if relation.inverse:
            tree["inverse"] = relation.inverse
            self.slots[relation.inverse] = {
                "inverse": relation.name,
                **self._leads(relation.domain),
                **_counts(Cardinality(0, relation.subjects.most), many=relation.subjects.most != 1, required=False),
                "annotations": {"ontoloom_role": "inverse"},
            }
        tree |= {"annotations": annotations} if annotations else {}
        self.slots[relation.name] = {"domain_of": list(topmost(self.ontology, relation.domain)), **tree}

    def _statement(self, relation: Relation) -> Tree:
        """The class of what a relation with attributes leads to."""
        name = self._new(f"{relation.name}_statement")
        attributes = {"target": {**self._leads(relation.range), "required": True}}
        attributes |= {a.name: self._attribute(relation.name, a) for a in relation.attributes.values()}
        self.classes[name] = {"annotations": {"ontoloom_role": "statement"}, "attributes": attributes}
        return {"range": name, "inlined": True, "inlined_as_list": True}


def said(one: Described) -> Tree:
    """What people read of an element."""
    tree: Tree = {}
    labels = dict(one.labels)
    plain = labels.pop("", "")
    if plain:
        tree["title"] = plain
    if one.description:
        tree["description"] = one.description
    tagged = dict.fromkeys(labels.items(), "title")
    tagged |= {(tag, word): "alias" for tag, words in one.translations for word in words if (tag, word) not in tagged}
    aliases = [word for word in one.synonyms if word != plain and word not in {word for _, word in tagged}]
    if aliases:
        tree["aliases"] = aliases
    if tagged:
        tree["structured_aliases"] = [
            {"literal_form": word, "in_language": tag, "predicate": "EXACT_SYNONYM"}
            | ({"categories": ["ontoloom:label"]} if kind == "title" else {})
            for (tag, word), kind in tagged.items()
        ]
    if one.examples:
        tree["examples"] = [{"value": example} for example in one.examples]
    if one.deprecated is not None:
        since, use = one.deprecated.since, one.deprecated.use
        words = [f"since {since}" if since else "", f"use {use}" if use else ""]
        tree["deprecated"] = "; ".join(filter(None, words))
    return tree


def _counts(count: Cardinality, *, many: bool, required: bool) -> Tree:
    tree: Tree = {"required": True} if required else {}
    if many:
        tree["multivalued"] = True
        limits = (
            ("minimum_cardinality", count.least if count.least > 1 else None),
            ("maximum_cardinality", count.most),
        )
        tree |= {key: limit for key, limit in limits if limit is not None}
    return tree


def _number(number: float) -> int | float:
    return int(number) if float(number).is_integer() and abs(number) < 2**63 else number
