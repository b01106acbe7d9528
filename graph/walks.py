"""Walks through the graph as tables: ``neighbours('Qwen2', depth => 2)``, ``paths('Qwen2', 'BERT', max => 4)``.

Their arguments are constants, so they are computed before the rest of the statement, on the store itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from typing import Any, Literal

import pyarrow as pa
from sqlglot import exp

from graph.functions import BOOLEAN
from graph.guard import at, spelled
from graph.paths import neighbourhood, paths
from graph.scopes import joined
from graph.store import Store
from graph.tables import NUMBER, TEXT, TEXTS, Column, Kind, names_of_types
from ontology.findings import did_you_mean
from ontoloom.errors import QueryError
from ontoloom.names import name_key
from ontoloom.records import Entity, EntityRef, Triple

MOST_NEIGHBOURS = 100_000
MOST_PATHS = 10_000
"""Beyond these a walk is an error: an answer with something missing would pass for the whole."""
DEEPEST = 10


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a walk: an entity by its name, the type of one, or a number of steps."""

    name: str
    of: Literal["entity", "type", "steps"]
    default: int | None = None
    types: str = ""
    """Of an entity: the parameter with its type."""


@dataclass(frozen=True, slots=True)
class Walk:
    """A table function: what it takes, the columns that it gives, and how its rows are found."""

    parameters: tuple[Parameter, ...]
    columns: tuple[Column, ...]
    rows: Callable[[Store, Mapping[str, Any]], list[tuple[Any, ...]]]


def walk(node: exp.Anonymous, store: Store) -> tuple[list[Column], pa.Table]:
    """The columns and rows of a call. Raises QueryError at an argument, or where there is too much to walk through."""
    found = WALKS[node.name.lower()]
    given = read_arguments(node, found.parameters)
    types = {p.name: read_type(given[p.name], store) for p in found.parameters if p.of == "type" and p.name in given}
    values: dict[str, Any] = {p.name: p.default for p in found.parameters if p.of == "steps"}
    for parameter in found.parameters:
        argument = given.get(parameter.name)
        if parameter.of == "entity":
            if argument is None:
                raise at(node, f"{node.name} needs {usage(node.name, found)}", code="arguments")
            values[parameter.name] = read_entity(argument, store, types.get(parameter.types), parameter.types)
        elif parameter.of == "steps" and argument is not None:
            values[parameter.name] = read_steps(argument, parameter.name)
    try:
        rows = found.rows(store, values)
    except QueryError as error:
        raise at(node, error.message, code=error.code, hint=error.hint) from None
    kind = names_of_types(store.ontology.types)
    columns = [replace(c, kind=kind) if c.name == "type" else c for c in found.columns]
    return columns, to_arrow(found.columns, rows)


def to_arrow(columns: Sequence[Column], rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    types = [pa.float64() if c.name == "_confidence" else ARROW[c.kind] for c in columns]
    arrays = [pa.array(v, t) for v, t in zip(values, types, strict=True)]
    return pa.Table.from_arrays(arrays, names=[c.stored for c in columns])


ARROW: dict[Kind, pa.DataType] = {
    TEXT: pa.string(), TEXTS: pa.list_(pa.string()), NUMBER: pa.int64(), BOOLEAN: pa.bool_(),
}  # fmt: skip


# Arguments


def read_arguments(node: exp.Anonymous, parameters: Sequence[Parameter]) -> dict[str, exp.Expr]:
    """The constants by parameter: first those without a name, in order, then ``name => value`` or ``name := value``."""
    given: dict[str, exp.Expr] = {}
    names_begun = False
    for place, argument in enumerate(node.expressions):
        named = isinstance(argument, exp.Kwarg | exp.PropertyEQ)
        names_begun = names_begun or named
        if not named and (place >= len(parameters) or names_begun):
            raise at(argument, f"{node.name} takes {usage(node.name)}", code="arguments")
        name = argument.this.name.lower() if named else parameters[place].name
        if name not in {p.name for p in parameters}:
            proposal = did_you_mean(name, [p.name for p in parameters])
            raise at(argument, joined(f"{node.name} has no argument '{name}'", proposal), code="arguments")
        if name in given:
            raise at(argument, f"'{name}' is given twice", code="arguments")
        given[name] = argument.expression if named else argument
    return given


def usage(name: str, found: Walk | None = None) -> str:
    parameters = (found or WALKS[name.lower()]).parameters
    names = [f"'{p.name}'" for p in parameters if p.of == "entity"]
    names += [f"{p.name} => {p.default or '…'}" for p in parameters if p.of != "entity"]
    return f"{name.lower()}({', '.join(names)})"


def constant(node: exp.Expr, example: str, *, is_string: bool) -> str:
    bare = node.unnest()
    if isinstance(bare, exp.Literal) and bare.is_string == is_string:
        return str(bare.this)
    word = "a subquery" if node.find(exp.Query) else spelled(node)
    raise at(node, f"{word} is not a constant such as {example}", code="arguments")


def read_steps(node: exp.Expr, name: str) -> int:
    word = constant(node, "2", is_string=False)
    if not word.isdigit() or not 1 <= int(word) <= DEEPEST:
        raise at(node, f"{name} is a number from 1 to {DEEPEST}, not {word}", code="arguments")
    return int(word)


def read_type(node: exp.Expr, store: Store) -> str:
    name = constant(node, "'Model'", is_string=True)
    known = store.ontology.types
    found = [t for t in known if t == name] or [t for t in known if t.casefold() == name.casefold()]
    if len(found) != 1:
        message = joined(f"there is no type '{name}'", did_you_mean(name, list(known)))
        raise at(node, message, code="unknown-type")
    return found[0]


def read_entity(node: exp.Expr, store: Store, type_name: str | None, types: str) -> Entity:
    """The one entity of that name, alias or ``_id``, and of the type or one below it if a type is told."""
    name = constant(node, "'Qwen2'", is_string=True)
    legal = store.ontology.subtypes(type_name) if type_name else tuple(store.ontology.types)
    named: list[Entity] = [*store.named([name_key(name)]).get(name_key(name), ()), *store.entities([name]).values()]
    found = [entity for entity in named if entity.type in legal]
    if len(found) == 1:
        return found[0]
    if not found:
        of = f" of type {type_name}" if type_name else ""
        proposal = did_you_mean(name, similar(name, store, legal))
        raise at(node, joined(f"there is no '{name}'{of}", proposal), code="unknown-name")
    candidates = ", ".join(f"{e.name} ({e.type}, {e.id})" for e in sorted(found, key=lambda e: (e.type, e.name, e.id)))
    raise at(node, f"'{name}' may be {candidates}", code="ambiguous", hint=f"say {types} => '…', or give the id")


def similar(name: str, store: Store, types: Sequence[str]) -> list[str]:
    """The names that share most groups of three letters with a name: to compare it with every name would take long."""
    wanted = trigrams(name)
    names = {known for known, _, type_name in store.names() if type_name in types}
    return nlargest(50, sorted(names), key=lambda known: len(wanted & trigrams(known)))


def trigrams(text: str) -> set[str]:
    padded = f" {text.casefold()} "
    return {padded[i : i + 3] for i in range(len(padded) - 2)}


# Rows


def neighbour_rows(store: Store, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    start: Entity = values["entity"]
    found = neighbourhood(store, [start.id], depth=values["depth"], limit=MOST_NEIGHBOURS + 1)
    if len(found) > MOST_NEIGHBOURS:
        message = f"more than {MOST_NEIGHBOURS:,} entities lie within {values['depth']} of {start.name}"
        raise QueryError(message, hint="ask for a smaller depth", code="too-much-to-walk")
    told = Told(store, [triple for _, _, triple in found])
    return [(*told.of(e), distance, *told.ends(triple), e, *told.grounds(triple)) for e, distance, triple in found]


def path_rows(store: Store, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    start, end = values["start"], values["end"]
    found = paths(store, start.id, end.id, longest=values["max"], limit=MOST_PATHS + 1)
    if len(found) > MOST_PATHS:
        message = f"more than {MOST_PATHS:,} paths of at most {values['max']} lead from {start.name} to {end.name}"
        raise QueryError(message, hint="ask for shorter ones", code="too-much-to-walk")
    told, rows = Told(store, [triple for path in found for triple in path]), []
    for number, path in enumerate(found, 1):
        reached = start.id
        for step, triple in enumerate(path, 1):
            forward = triple.subject == reached
            reached = target(triple) if forward else triple.subject
            own = (number, len(path), step, *told.ends(triple), forward, triple.subject, target(triple))
            rows.append((*own, *told.grounds(triple)))
    return rows


class Told:
    """What the rows of a walk say of entities and triples, read from the store at once."""

    def __init__(self, store: Store, triples: Sequence[Triple]) -> None:
        ids = [{i for t in triples for i in (t.subject, target(t))}, {t.id for t in triples}]
        self._entities = {i: e for part in parts(ids[0]) for i, e in store.entities(part).items()}
        self._evidence = {i: found for part in parts(ids[1]) for i, found in store.evidence(part).items()}

    def of(self, entity: str) -> tuple[str, str]:
        return self._entities[entity].name, self._entities[entity].type

    def ends(self, triple: Triple) -> tuple[str, str, str]:
        return self.of(triple.subject)[0], triple.relation, self.of(target(triple))[0]

    def grounds(self, triple: Triple) -> tuple[str, list[str], list[str], float]:
        """The triple's id, citations, documents and confidence."""
        found = self._evidence.get(triple.id, [])
        citations = list(dict.fromkeys(f"{e.document}:{e.start}-{e.end}" for e in found))
        documents = sorted({e.document for e in found})
        return triple.id, citations, documents, max((e.confidence for e in found), default=0.0)


def parts(ids: Iterable[str], *, size: int = 5_000) -> Iterator[list[str]]:
    listed = sorted(ids)
    return (listed[i : i + size] for i in range(0, len(listed), size))


def target(triple: Triple) -> str:
    assert isinstance(triple.object, EntityRef)
    return triple.object.id


GROUNDS = (
    Column("_triple", TEXT, "_triple", hidden=True),
    Column("_evidence", TEXTS, "_evidence", hidden=True),
    Column("_documents", TEXTS, "_documents", hidden=True),
    Column("_confidence", NUMBER, "_confidence", hidden=True),
)
ENDS = tuple(Column(name, TEXT, name, "_evidence") for name in ("subject", "relation", "object"))
WALKS = {
    "neighbours": Walk(
        (
            Parameter("entity", "entity", types="type"),
            Parameter("depth", "steps", 1),
            Parameter("type", "type"),
        ),
        (
            Column("entity", TEXT, "entity", "_evidence"),
            Column("type", TEXT, "type"),
            Column("distance", NUMBER, "distance"),
            *ENDS,
            Column("_id", TEXT, "_id", hidden=True),
            *GROUNDS,
        ),
        neighbour_rows,
    ),
    "paths": Walk(
        (
            Parameter("start", "entity", types="start_type"),
            Parameter("end", "entity", types="end_type"),
            Parameter("max", "steps", 4),
            Parameter("start_type", "type"),
            Parameter("end_type", "type"),
        ),
        (
            Column("path", NUMBER, "path"),
            Column("length", NUMBER, "length"),
            Column("step", NUMBER, "step"),
            *ENDS,
            Column("forward", BOOLEAN, "forward"),
            Column("_subject_id", TEXT, "_subject_id", hidden=True),
            Column("_object_id", TEXT, "_object_id", hidden=True),
            *GROUNDS,
        ),
        path_rows,
    ),
}
"""By name. ``paths`` has a row for each step; ``forward`` tells whether it goes from the subject to the object."""
