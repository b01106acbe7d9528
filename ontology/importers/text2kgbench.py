"""Ontologies of Text2KGBench, JSON files of concepts and relations, as ``ontology.yaml``.

Relations that lead to numbers, dates or strings become attributes. What the file leaves open is decided and noted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ontology.attributes import NAME_ATTRIBUTE, PAGE_KEYS
from ontology.importers.imported import written
from ontology.importers.legal_names import Names, called, ontology_name
from ontology.schema import Attribute, EntityType, Ontology, Relation, ValueType
from ontoloom.errors import OntologyError

LITERALS: Mapping[str, ValueType] = {"string": "string", "number": "number", "date": "date", "year": "integer"}
"""Ranges that are no concepts, case aside."""
WIKIDATA = re.compile(r"[PQ][0-9]+")


def import_text2kgbench(text: str, *, file: str = "ontology.json") -> tuple[str, list[str]]:
    """The text of ``ontology.yaml``, and notes of what was odd and what was made of it.

    Raises OntologyError where the text is no JSON, or has no concepts.
    """
    data = _read(text, file)
    reading = _Reading()
    for concept in data["concepts"]:
        reading.concept(_word(concept, "qid"), _word(concept, "label"))
    for relation in data.get("relations", []):
        for end in ("domain", "range"):
            reading.undeclared(_word(relation, end), _word(relation, "label"), end)
    reading.properties = Names([*PAGE_KEYS, *reading.types])
    for relation in data.get("relations", []):
        reading.relation(*(_word(relation, key) for key in ("pid", "label", "domain", "range")))
    ontology = Ontology(
        name=ontology_name(_word(data, "id") or _word(data, "title")),
        version="1.0.0",
        hash="",
        types=reading.types,
        relations=reading.relations,
        description=_word(data, "title"),
    )
    return written(ontology, reading.notes)


def _read(text: str, file: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except ValueError as error:
        raise OntologyError(f"{file} is no JSON: {error}", code="bad-import") from None
    if not (isinstance(data, dict) and isinstance(data.get("concepts"), list) and data["concepts"]):
        raise OntologyError(f"{file} has no list of concepts", code="bad-import", hint="is it of Text2KGBench?")
    return data


def _word(entry: object, key: str) -> str:
    """A value as one line; empty where there is none."""
    value = entry.get(key) if isinstance(entry, dict) else None
    return " ".join(str(value).split()) if value is not None else ""


@dataclass(slots=True)
class _Reading:
    """What has been read so far. ``names`` and ``labels`` are of concepts by their ids, ``made`` of relations."""

    types: dict[str, EntityType] = field(default_factory=dict)
    relations: dict[str, Relation] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    made: dict[tuple[str, str, bool], str] = field(default_factory=dict)
    concepts: Names = field(default_factory=Names)
    properties: Names = field(default_factory=Names)

    def concept(self, identifier: str, label: str) -> None:
        """A concept; one that is there already gives its label as a synonym."""
        name = self.names.get(identifier)
        if name is None:
            name = self.names[identifier] = self.concepts.pick(label or identifier, prefix="Type", fallback=identifier)
            self.types[name] = _typed(name, label, identifier)
            if identifier.casefold() in LITERALS:
                self.notes.append(f"'{label}' is a concept here, so that its values are pages")
            return
        known = self.types[name]
        if label in (name, *known.synonyms):
            self.notes.append(f"the concept '{label}' is there twice")
        else:
            self.types[name] = replace(known, synonyms=(*known.synonyms, label))
            self.notes.append(f"the concept {identifier} is there twice; '{label}' became a synonym of {name}")

    def undeclared(self, identifier: str, label: str, end: str) -> None:
        """An end of a relation that is no concept of the file becomes a type, unless it is a type of value."""
        if identifier in self.names or not identifier or (end == "range" and identifier.casefold() in LITERALS):
            return
        name = self.names[identifier] = self.concepts.pick(identifier, prefix="Type")
        self.types[name] = _typed(name, identifier, identifier)
        self.notes.append(f"'{identifier}', the {end} of '{label}', is no concept of the file; a type was made of it")

    def relation(self, identifier: str, label: str, domain: str, range_: str) -> None:
        """A relation, or an attribute where its range is a type of value."""
        subject, target = self.names.get(domain), self.names.get(range_)
        if subject is None:
            self.notes.append(f"'{label}' was left out, as nothing is said of its domain")
            return
        key = (identifier, label, target is not None)
        name = self.made.get(key)
        if name is None:
            name = self.made[key] = self.properties.pick(label or identifier, prefix="has", fallback=identifier)
        else:
            self.notes.append(f"'{label}' is there twice; what it joins was put together")
        said = called(name, label, description=_of_wikidata(identifier))
        if target is not None:
            known = self.relations.get(name) or replace(Relation(name, (), ()), **said)
            ends = _with(known.domain, subject), _with(known.range, target)
            self.relations[name] = replace(known, domain=ends[0], range=ends[1])
            return
        if not range_:
            self.notes.append(f"nothing is said of the range of '{label}'; it became an attribute that is a string")
        attribute = replace(Attribute(name, LITERALS.get(range_.casefold(), "string"), many=True), **said)
        entity_type = self.types[subject]
        self.types[subject] = replace(entity_type, attributes={**entity_type.attributes, name: attribute})


def _typed(name: str, label: str, identifier: str) -> EntityType:
    said = called(name, label, description=_of_wikidata(identifier))
    return EntityType(name, {"name": NAME_ATTRIBUTE}, **said)


def _of_wikidata(identifier: str) -> str:
    return f"{identifier} of Wikidata." if WIKIDATA.fullmatch(identifier) else ""


def _with(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*names, name)))
