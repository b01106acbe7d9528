"""``ontology.yaml`` → :class:`Ontology`. The language is described in ``docs/ontology.md``.

Every fault is a finding with line, column and code; an ontology with an error in it is not given out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, replace
from pathlib import Path

from yaml.nodes import Node

from ontology.attributes import (
    LABEL_KEYS,
    NAME_ATTRIBUTE,
    PAGE_KEYS,
    check_names,
    read_attributes,
    read_labels,
    read_types,
)  # fmt: skip
from ontology.findings import Finding, FindingsError, shown
from ontology.inherit import inherit
from ontology.schema import Attribute, EntityType, Ontology, Relation, with_subtypes
from ontology.shapes import Entries, Entry, read_mapping, read_word
from ontology.strict_yaml import Source, compose, read_source
from ontoloom.names import hash_id

TOP_KEYS = ("ontology", "version", "description", "types", "relations")
TYPE_KEYS = ("is_a", "attributes", *LABEL_KEYS)
RELATION_KEYS = ("domain", "range", "cardinality", "attributes", *LABEL_KEYS)
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?", re.ASCII)


def read_ontology(path: Path) -> Ontology:
    """The ontology in a file. Raises FindingsError with all that is wrong with it."""
    source = read_source(path)
    ontology, findings = compile_ontology(source.text, file=source.file)
    if ontology is None:
        raise FindingsError(findings)
    return ontology


def compile_ontology(text: str, *, file: str) -> tuple[Ontology | None, list[Finding]]:
    """The ontology that a text states, None where it has an error, and all findings in the order of the text."""
    source = Source(file, text)
    root = compose(source, block_indent=2)
    ontology = None
    if root is not None:
        ontology = _read_ontology(source, root)
    elif not source.failed:
        source.error(0, "empty-file", "the file says nothing", "begin with 'ontology:', 'version:' and 'types:'")
    return (None if source.failed else ontology), sorted(source.findings)


def _read_ontology(source: Source, root: Node) -> Ontology:
    found = read_mapping(source, (root, root), "an ontology", known=TOP_KEYS, required=("ontology", "version", "types"))
    declared = read_mapping(source, found["types"], "types") if "types" in found else {}
    related = read_mapping(source, found["relations"], "relations") if "relations" in found else {}
    check_names(source, [key for key, _ in declared.values()], "type")
    check_names(source, [key for key, _ in related.values()], "relation", taken=PAGE_KEYS)
    types = {name: _read_type(source, name, entry, declared) for name, entry in declared.items()}
    types = inherit(source, types, declared)
    relations = {name: _read_relation(source, name, entry, types) for name, entry in related.items()}
    _check_clashes(source, types, relations, related)
    ontology = Ontology(
        name=_read_name(source, found["ontology"]) if "ontology" in found else "",
        version=_read_version(source, found["version"]) if "version" in found else "",
        hash="",
        types=types,
        relations=relations,
        description=read_labels(source, {k: v for k, v in found.items() if k == "description"})[0],
    )
    return replace(ontology, hash=hash_id("ontology", json.dumps(asdict(ontology), sort_keys=True)))


def _read_name(source: Source, entry: Entry) -> str:
    name = read_word(source, entry)
    if name is not None and not NAME.fullmatch(name):
        fix = "begin with a letter; use letters, digits, - and _"
        source.error(entry[1], "bad-name", f"{shown(name)} cannot name an ontology", fix)
    return name or ""


def _read_version(source: Source, entry: Entry) -> str:
    """A semantic version without build metadata, whose place the hash takes."""
    version = read_word(source, entry)
    if version is not None and not VERSION.fullmatch(version):
        padded = ".".join([*version.split("."), "0", "0"][:3])
        fix = f"write {padded}" if VERSION.fullmatch(padded) else "write three numbers, as in 1.0.0"
        source.error(entry[1], "bad-version", f"{shown(version)} is no semantic version", fix)
    return version or ""


def _read_type(source: Source, name: str, entry: Entry, types: Collection[str]) -> EntityType:
    found = read_mapping(source, entry, f"type '{name}'", known=TYPE_KEYS, may_be_empty=True)
    description, synonyms = read_labels(source, found)
    declared = read_attributes(source, found["attributes"], place="type", types=types) if "attributes" in found else {}
    parent = read_word(source, found["is_a"]) if "is_a" in found else None
    return EntityType(name, {"name": NAME_ATTRIBUTE} | declared, description, synonyms, parent or "")


def _read_relation(source: Source, name: str, entry: Entry, types: Mapping[str, EntityType]) -> Relation:
    found = read_mapping(source, entry, f"relation '{name}'", known=RELATION_KEYS, required=("domain", "range"))
    description, synonyms = read_labels(source, found)
    attributes: dict[str, Attribute] = {}
    if "attributes" in found:
        attributes = read_attributes(source, found["attributes"], place="relation", types=types)
    return Relation(
        name=name,
        domain=with_subtypes(types, read_types(source, found["domain"], types)) if "domain" in found else (),
        range=with_subtypes(types, read_types(source, found["range"], types)) if "range" in found else (),
        functional=_read_cardinality(source, found) == "one",
        attributes={n: replace(a, targets=with_subtypes(types, a.targets)) for n, a in attributes.items()},
        description=description,
        synonyms=synonyms,
    )


def _read_cardinality(source: Source, found: Entries) -> str:
    word = read_word(source, found["cardinality"]) if "cardinality" in found else None
    if word is not None and word not in ("one", "many"):
        message = f"'cardinality' is one or many, not {shown(word)}"
        source.error(found["cardinality"][1], "bad-cardinality", message, "write one or many")
    return word or "many"


def _check_clashes(
    source: Source, types: dict[str, EntityType], relations: dict[str, Relation], related: Entries
) -> None:
    """A relation may not be called like a type (both are tables), nor like an attribute of a type it starts at."""
    folded = {name.casefold(): name for name in types}
    for name, relation in relations.items():
        key = related[name][0]
        if name.casefold() in folded:
            message = f"'{name}' names a relation and the type '{folded[name.casefold()]}'"
            source.error(key, "name-clash", message, "rename one of the two")
        for type_name in relation.domain:
            attributes = types[type_name].attributes if type_name in types else {}
            parent = types[type_name].parent if type_name in types else ""
            reported = types[parent].attributes if parent in relation.domain else {}
            if name.casefold() in {a.partition(".")[0].casefold() for a in attributes if a not in reported}:
                message = f"'{name}' names a relation and an attribute of {type_name}, where it starts"
                source.error(key, "name-clash", message, "rename one of the two")
