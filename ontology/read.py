"""``ontology.yaml`` → :class:`Ontology`. The language is described in ``docs/ontology.md``.

Every fault is a finding with line, column and code; an ontology with an error in it is not given out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

from yaml.nodes import MappingNode, Node

from ontology.entity_types import read_entity_types
from ontology.findings import Finding, FindingsError, shown
from ontology.imports import Imported, Importing, read_imports
from ontology.labels import check_version, read_description
from ontology.relations import read_relations
from ontology.schema import EntityType, Ontology, Relation, with_subtypes
from ontology.shapes import Entries, Entry, read_mapping, read_word
from ontology.strict_yaml import Source, compose, entries, read_source
from ontoloom.names import hash_id

TOP_KEYS = ("ontology", "version", "description", "imports", "types", "relations")
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


def read_ontology(path: Path) -> Ontology:
    """The ontology in a file. Raises FindingsError with all that is wrong with it."""
    source = read_source(path)
    ontology, findings = compile_ontology(source.text, file=source.file)
    if ontology is None:
        raise FindingsError(findings)
    return ontology


def compile_ontology(text: str, *, file: str) -> tuple[Ontology | None, list[Finding]]:
    """The ontology that a text states, None where it has an error, and all findings in the order of the text.

    Files that it imports are read from disk, and their findings are among them.
    """
    ontology, findings = _compile(Source(file, text), Importing())
    return ontology, sorted(findings)


def _compile(source: Source, importing: Importing) -> tuple[Ontology | None, list[Finding]]:
    root = compose(source, block_indent=2)
    ontology = None
    if root is not None:
        ontology = _read_ontology(source, root, importing)
    elif not source.failed:
        source.error(0, "empty-file", "the file says nothing", "begin with 'ontology:', 'version:' and 'types:'")
    return (None if source.failed else ontology), source.findings


def _read_ontology(source: Source, root: Node, importing: Importing) -> Ontology:
    imports = isinstance(root, MappingNode) and "imports" in entries(root)
    required = ("ontology", "version") if imports else ("ontology", "version", "types")
    found = read_mapping(source, (root, root), "an ontology", known=TOP_KEYS, required=required)
    imported = read_imports(source, found["imports"], importing, _compile) if "imports" in found else Imported()
    declared = read_mapping(source, found["types"], "types") if "types" in found else {}
    related = read_mapping(source, found["relations"], "relations") if "relations" in found else {}
    declared = _without_imported(source, declared, imported, "type")
    related = _without_imported(source, related, imported, "relation")
    types = read_entity_types(source, declared, imported.types)
    relations = {**imported.relations, **read_relations(source, related, types)}
    relations = {name: _with_subtypes(relation, types) for name, relation in relations.items()}
    _check_clashes(source, types, relations, related)
    ontology = Ontology(
        name=_read_name(source, found["ontology"]) if "ontology" in found else "",
        version=_read_version(source, found["version"]) if "version" in found else "",
        hash="",
        types=types,
        relations=relations,
        description=read_description(source, found),
    )
    said = {name: value for name, value in asdict(ontology).items() if name != "inverses"}
    hashed = hash_id("ontology", json.dumps(said, sort_keys=True, default=str))
    return replace(ontology, hash=hashed, imports=tuple(imported.files))


def _read_name(source: Source, entry: Entry) -> str:
    name = read_word(source, entry)
    if name is not None and not NAME.fullmatch(name):
        fix = "begin with a letter; use letters, digits, - and _"
        source.error(entry[1], "bad-name", f"{shown(name)} cannot name an ontology", fix)
    return name or ""


def _read_version(source: Source, entry: Entry) -> str:
    version = read_word(source, entry)
    if version is not None:
        check_version(source, entry[1], version)
    return version or ""


def _without_imported(source: Source, declared: Entries, imported: Imported, what: str) -> Entries:
    """What is declared here and not there: an import cannot be changed."""
    taken = {name.casefold(): name for name in (imported.types if what == "type" else imported.relations)}
    kept = {}
    for name, entry in declared.items():
        other = taken.get(name.casefold())
        if other is None:
            kept[name] = entry
        else:
            message = f"the {what} '{other}' is imported already"
            source.error(entry[0], "name-clash", message, "choose another name, or import with a prefix")
    return kept


def _with_subtypes(relation: Relation, types: Mapping[str, EntityType]) -> Relation:
    """A relation with the subtypes of the types that it names."""
    attributes = {n: replace(a, targets=with_subtypes(types, a.targets)) for n, a in relation.attributes.items()}
    domain, leads = with_subtypes(types, relation.domain), with_subtypes(types, relation.range)
    return replace(relation, domain=domain, range=leads, attributes=attributes)


def _check_clashes(
    source: Source, types: Mapping[str, EntityType], relations: Mapping[str, Relation], related: Entries
) -> None:
    """A relation may not be called like a type (both are tables), nor like an attribute of a type it starts at."""
    folded = {name.casefold(): name for name in types}
    for name, (key, _) in related.items():
        relation = relations[name]
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
