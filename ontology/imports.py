"""``imports``: other ontologies, whose types and relations can be used here under a prefix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from yaml.nodes import MappingNode, Node, SequenceNode

from ontology.findings import Finding, FindingsError, shown
from ontology.schema import Attribute, Deprecation, EntityType, Ontology, Relation
from ontology.shapes import Entry, read_mapping, read_word
from ontology.strict_yaml import Source, read_source

Compile = Callable[[Source, tuple[Path, ...]], tuple[Ontology | None, list[Finding]]]
"""Compiles a source that files import, the outermost first."""
Named = TypeVar("Named", EntityType, Relation)


@dataclass(slots=True)
class Imported:
    """What was imported, under its new names, and all files that it came from."""

    types: dict[str, EntityType] = field(default_factory=dict)
    relations: dict[str, Relation] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)


def read_imports(source: Source, entry: Entry, importing: tuple[Path, ...], compile_source: Compile) -> Imported:
    """Reads what a file imports. Findings of the other files are added to the source's, under their own names."""
    imported, here = Imported(), Path(source.file)
    for item in entry[1].value if isinstance(entry[1], SequenceNode) else [entry[1]]:
        name, prefix = _read_import(source, (entry[0], item))
        if name is None:
            continue
        path = here.parent / name
        if path.resolve() in {one.resolve() for one in (*importing, here)}:
            chain = " imports ".join(one.name for one in (*importing, here, path))
            source.error(item, "cyclic-import", f"the file would import itself: {chain}", "remove one import")
            continue
        try:
            inner = read_source(path)
        except FindingsError as error:
            message = f"{name} cannot be imported: {error.findings[0].message}"
            source.error(item, "bad-import", message, "paths are relative to this file")
            continue
        ontology, findings = compile_source(inner, (*importing, here))
        source.findings += findings
        if ontology is None:
            source.error(item, "bad-import", f"{name} cannot be imported: it has errors", "mend it first")
            continue
        _add(source, item, imported, with_prefix(ontology, prefix))
        imported.files += [name, *(str(Path(name).parent / other) for other in ontology.imports)]
    return imported


def _read_import(source: Source, entry: Entry) -> tuple[str | None, str]:
    """The path of a file, alone or with the prefix that its names are given."""
    if not isinstance(entry[1], MappingNode):
        return read_word(source, entry), ""
    found = read_mapping(source, entry, "an import", known=("file", "prefix"), required=("file",))
    prefix = read_word(source, found["prefix"]) if "prefix" in found else None
    if prefix is not None and not (prefix.isascii() and prefix.isidentifier() and prefix[0].isalpha()):
        message = f"{shown(prefix)} cannot begin names"
        source.error(found["prefix"][1], "bad-name", message, "use letters, digits and _, as in core_")
        prefix = None
    return (read_word(source, found["file"]) if "file" in found else None), prefix or ""


def _add(source: Source, item: Node, imported: Imported, ontology: Ontology) -> None:
    taken = {name.casefold() for name in (*imported.types, *imported.relations)}
    clashes = [name for name in (*ontology.types, *ontology.relations) if name.casefold() in taken]
    for name in clashes[:1]:
        message = f"'{name}' is imported twice"
        source.error(item, "name-clash", message, "give one of the files another prefix")
    imported.types = {**ontology.types, **imported.types}
    imported.relations = {**ontology.relations, **imported.relations}


def with_prefix(ontology: Ontology, prefix: str) -> Ontology:
    """The ontology with all its types and relations called otherwise."""
    if not prefix:
        return ontology

    def names(found: Iterable[str]) -> tuple[str, ...]:
        return tuple(prefix + name for name in found)

    def attributes(found: Mapping[str, Attribute]) -> dict[str, Attribute]:
        return {name: replace(one, targets=names(one.targets)) for name, one in found.items()}

    def renamed(one: Named) -> Named:
        use = one.deprecated.use if one.deprecated else ""
        deprecated = replace(one.deprecated or Deprecation(), use=prefix + use) if use else one.deprecated
        return replace(one, name=prefix + one.name, attributes=attributes(one.attributes), deprecated=deprecated)

    types = {
        prefix + name: replace(
            renamed(one),
            parent=one.parent and prefix + one.parent,
            mixins=names(one.mixins),
            disjoint=names(one.disjoint),
        )
        for name, one in ontology.types.items()
    }
    relations = {
        prefix + name: replace(
            renamed(one),
            domain=names(one.domain),
            range=names(one.range),
            inverse=one.inverse and prefix + one.inverse,
        )
        for name, one in ontology.relations.items()
    }
    return replace(ontology, types=types, relations=relations)
