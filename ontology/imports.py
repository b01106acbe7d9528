"""``imports``: other ontologies, whose types and relations can be used here under a prefix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from yaml.nodes import MappingNode, Node, SequenceNode

from ontology.findings import Finding, FindingsError, shown
from ontology.schema import Attribute, Deprecation, EntityType, Ontology, Relation, least_types
from ontology.shapes import Entry, read_mapping, read_word
from ontology.strict_yaml import Source, read_source

MOST_FILES = 64
"""Files that may import each other in a row."""
MOST_NAMES = 10_000
"""Types and relations that may be imported: a few files that import the next one twice make as many as one likes."""


@dataclass(frozen=True, slots=True)
class Importing:
    """The files that import the one being read, the outermost first; and what files came to that were read before."""

    files: tuple[Path, ...] = ()
    known: dict[Path, Ontology | None] = field(default_factory=dict)


Compile = Callable[[Source, Importing], tuple[Ontology | None, list[Finding]]]
Named = TypeVar("Named", EntityType, Relation)


@dataclass(slots=True)
class Imported:
    """What was imported, under its new names, and all files that it came from."""

    types: dict[str, EntityType] = field(default_factory=dict)
    relations: dict[str, Relation] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)


def read_imports(source: Source, entry: Entry, importing: Importing, compile_source: Compile) -> Imported:
    """Reads what a file imports. Findings of the other files are added to the source's, under their own names."""
    imported, here = Imported(), Path(source.file)
    seen: set[tuple[Path, str]] = set()
    if isinstance(entry[1], SequenceNode) and not entry[1].value:
        source.error(entry[0], "empty-value", "'imports' is an empty list", "fill it in or leave it out")
    for item in entry[1].value if isinstance(entry[1], SequenceNode) else [entry[1]]:
        name, prefix = _read_import(source, (item if item is not entry[1] else entry[0], item))
        if name is None:
            continue
        path = here.parent / name
        if (path.resolve(), prefix) in seen:
            source.error(item, "duplicate-value", f"{name} is imported twice", "remove one")
            continue
        seen.add((path.resolve(), prefix))
        if path.resolve() in {one.resolve() for one in (*importing.files, here)}:
            chain = " imports ".join(one.name for one in (*importing.files, here, path))
            source.error(item, "cyclic-import", f"the file would import itself: {chain}", "remove one import")
            continue
        if len(importing.files) > MOST_FILES:
            message = f"more than {MOST_FILES} files import each other in a row"
            source.error(item, "too-deep", message, "import fewer files")
            continue
        ontology = _compile_once(source, item, name, importing, compile_source)
        if ontology is None:
            source.partial = True  # what it would have declared is missing
            continue
        _add(source, item, imported, with_prefix(ontology, prefix))
        imported.files += [name, *(str(Path(name).parent / other) for other in ontology.imports)]
    imported.files = list(dict.fromkeys(imported.files))
    return imported


def _compile_once(
    source: Source, item: Node, name: str, importing: Importing, compile_source: Compile
) -> Ontology | None:
    """The ontology in a file; None, after reporting, where it cannot be read or has an error."""
    path = Path(source.file).parent / name
    resolved = path.resolve()
    if resolved not in importing.known:
        try:
            inner = read_source(path)
        except FindingsError as error:
            found = error.findings[0]
            fix = "paths are relative to this file" if found.code == "unreadable" else found.fix
            source.error(item, "bad-import", f"{name} cannot be imported: {found.message}", fix)
            return None
        files = (*importing.files, Path(source.file))
        importing.known[resolved], findings = compile_source(inner, Importing(files, importing.known))
        source.findings += findings
    if importing.known[resolved] is None:
        source.error(item, "bad-import", f"{name} cannot be imported: it has errors", "mend it first")
    return importing.known[resolved]


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
    known: dict[str, EntityType | Relation] = {**imported.types, **imported.relations}
    given: dict[str, EntityType | Relation] = {**ontology.types, **ontology.relations}
    if len(known) + len(given) > MOST_NAMES:
        message = f"more than {MOST_NAMES:,} types and relations are imported"
        source.error(item, "too-large", message, "import fewer files")
        return
    types = {**imported.types, **ontology.types}
    taken = {name.casefold(): _as_declared(one, types) for name, one in known.items()}
    given = {name: _as_declared(one, types) for name, one in given.items()}
    clashes = [name for name, one in given.items() if taken.get(name.casefold(), one) != one]  # of one file, it is one
    for name in clashes[:1]:
        message = f"'{name}' is imported twice"
        source.error(item, "name-clash", message, "give one of the files another prefix")
    imported.types = {**ontology.types, **imported.types}
    imported.relations = {**ontology.relations, **imported.relations}


def _as_declared(one: EntityType | Relation, types: Mapping[str, EntityType]) -> EntityType | Relation:
    """A relation with the types that it names, less those below them, of which each importing file may add some."""
    if isinstance(one, EntityType):
        return one
    attributes = {n: replace(a, targets=least_types(types, a.targets)) for n, a in one.attributes.items()}
    domain, leads = least_types(types, one.domain), least_types(types, one.range)
    return replace(one, domain=domain, range=leads, attributes=attributes)


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
