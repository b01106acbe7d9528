"""Which columns of a table, or keys of a JSON record, make up a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ontology.findings import FindingsError, did_you_mean
from ontology.strict_yaml import Source, compose, entries, kind, read_source
from ontoloom.errors import InputError

FIELDS = ("id", "title", "abstract", "body", "source", "language", "labels")


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """Column names by what they hold. Columns of ``abstract`` and ``body`` are joined in the order given.

    ``labels`` pairs a column that holds a list of strings with the column that holds the label of each, as structured
    abstracts have them (``METHODS``, ``RESULTS``); a label is written before its part.
    """

    id: str | None = None
    title: str | None = None
    abstract: tuple[str, ...] = ()
    body: tuple[str, ...] = ()
    source: str | None = None
    language: str | None = None
    labels: tuple[tuple[str, str], ...] = ()

    def sections(self) -> Iterator[tuple[str, str]]:
        """(section, column) in the order of the document's text."""
        if self.title is not None:
            yield "title", self.title
        yield from (("abstract", column) for column in self.abstract)
        yield from (("body", column) for column in self.body)

    def columns(self) -> list[str]:
        """Every column named, once."""
        named = [self.id, *(column for _, column in self.sections()), self.source, self.language]
        return list(dict.fromkeys(c for c in (*named, *(label for _, label in self.labels)) if c is not None))


GUESSES = {
    "id": ("id", "key", "identifier"),
    "title": ("title", "headline", "name"),
    "abstract": ("abstract", "summary"),
    "body": ("body", "text", "content"),
    "source": ("source", "url", "link"),
    "language": ("language", "lang"),
}


def guess_mapping(columns: Iterable[str]) -> ColumnMapping:
    """A mapping by the usual names, case aside. Raises InputError when no column looks like text."""
    by_name: dict[str, str] = {}
    for column in columns:
        by_name.setdefault(column.strip().casefold(), column)
    found = {field: next((by_name[n] for n in names if n in by_name), None) for field, names in GUESSES.items()}
    if not any(found[field] for field in ("title", "abstract", "body")):
        known = ", ".join(by_name.values())
        raise InputError(f"none of the columns looks like a text: {known}", hint="say which is: --map body=COLUMN")
    return _mapping([(field, column) for field, column in found.items() if column is not None])


def parse_mapping(pairs: Sequence[str]) -> ColumnMapping:
    """A mapping from ``field=COLUMN`` strings, as ``--map`` takes them.

    ``abstract`` and ``body`` may be given several times; ``labels.COLUMN=LABELS`` names the labels of a list column.
    Raises InputError.
    """
    split = []
    for pair in pairs:
        field, equals, column = pair.partition("=")
        if not equals or not column:
            raise InputError(f"--map {pair}: not of the form field=COLUMN", hint=f"fields: {', '.join(FIELDS)}")
        split.append((field, column))
    return _mapping(split)


def read_mapping(path: Path) -> ColumnMapping:
    """A mapping from a YAML file with the keys of :class:`ColumnMapping`. Raises FindingsError."""
    source = read_source(path)
    root = compose(source)
    if isinstance(root, MappingNode):
        pairs = list(_pairs(source, root))
    elif not source.failed:
        source.error(root or 0, "bad-mapping", "a mapping of fields to columns is expected", "write 'title: COLUMN'")
    if source.failed:
        raise FindingsError(source.findings)
    try:
        return _mapping(pairs)
    except InputError as error:
        raise InputError(f"{path}: {error.message}", hint=error.hint) from None


def check_columns(mapping: ColumnMapping, columns: Sequence[str], *, where: str) -> None:
    """Raises InputError when a mapped column is not among ``columns``, or there twice."""
    for column in mapping.columns():
        count = columns.count(column)
        if count == 0:
            hint = did_you_mean(column, columns) or f"known: {', '.join(columns)}"
            raise InputError(f"{where}: there is no column '{column}'", code="missing-column", hint=hint)
        if count > 1:
            raise InputError(f"{where}: {count} columns are named '{column}'", hint="rename one of them")


def _pairs(source: Source, root: MappingNode) -> Iterator[tuple[str, str]]:
    for field, (key, value) in entries(root).items():
        if field not in FIELDS:
            source.error(key, "unknown-key", f"unknown field '{field}'", did_you_mean(field, FIELDS))
        elif field == "labels" and isinstance(value, MappingNode):
            yield from ((f"labels.{column}", text) for column, (_, n) in entries(value).items() for text in _names(n))
        else:
            names = _names(value)
            if not names or field == "labels":
                source.error(value, "bad-mapping", f"{kind(value)} is no column", "write the name of a column")
            yield from ((field, name) for name in names)


def _names(node: Node) -> list[str]:
    nodes = node.value if isinstance(node, SequenceNode) else [node]
    return [n.value for n in nodes if isinstance(n, ScalarNode) and n.value]


def _mapping(pairs: Sequence[tuple[str, str]]) -> ColumnMapping:
    single: dict[str, str] = {}
    many: dict[str, list[str]] = {"abstract": [], "body": []}
    labels: list[tuple[str, str]] = []
    for field, column in pairs:
        name, dot, of = field.partition(".")
        if name == "labels" and dot:
            labels.append((of, column))
        elif field in many:
            many[field].append(column)
        elif field in single:
            raise InputError(f"'{field}' is mapped twice: to '{single[field]}' and '{column}'", hint="keep one")
        elif field in FIELDS and field != "labels":
            single[field] = column
        else:
            hint = "write labels.COLUMN=LABELS" if field == "labels" else did_you_mean(field, FIELDS)
            raise InputError(f"unknown field '{field}' in the column mapping", hint=hint)
    mapping = ColumnMapping(
        id=single.get("id"),
        title=single.get("title"),
        abstract=tuple(many["abstract"]),
        body=tuple(many["body"]),
        source=single.get("source"),
        language=single.get("language"),
        labels=tuple(labels),
    )
    _check_complete(mapping)
    return mapping


def _check_complete(mapping: ColumnMapping) -> None:
    if not any(mapping.sections()):
        raise InputError("the column mapping names no text", hint="map a title, abstract or body")
    unknown = [of for of, _ in mapping.labels if of not in (*mapping.abstract, *mapping.body)]
    if unknown:
        raise InputError(f"labels of '{unknown[0]}', which is not mapped", hint="map it to abstract or body")
