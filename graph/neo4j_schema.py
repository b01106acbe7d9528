"""The schema of a Neo4j store: keys, constraints, and what it was made under.

The tables of ``graph.record`` are labels and relationship types of the same names. The view for those who write Cypher
lies on the same nodes: an entity also carries the label of its type, and for each triple between entities there is a
relationship of the relation's name between them, with ``_triple`` and typed attributes.

Neo4j indexes no long strings, and ids and names may be of any length. So nodes whose ids are given from outside have a
``key`` beside the ``id``: the id itself, or a hash of it where it is long. Uniqueness is on that.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from graph import record
from graph.neo4j_session import Session, ask, quote
from graph.record import BOOLEAN, DATE, INTEGER, NUMBER, STRING, plain_type, relation_columns
from ontology.schema import Ontology, Relation
from ontoloom.errors import StoreError
from ontoloom.names import hash_id

if TYPE_CHECKING:
    from neo4j import ManagedTransaction

LONGEST = 120
"""Characters of an id that is its own key."""
KEYED = frozenset({record.DOCUMENT.name, record.ENTITY.name, record.NAME.name})
NODES = tuple(table for table in record.RECORD if table.ends is None)
EDGES = tuple(table for table in record.RECORD if table.ends is not None)
FORMAT, ONTOLOGY, VIEW, MERGED = "format", "ontology", "view", "merged"
"""Ids of ``_Meta``: the format, the stamp of the ontology, the columns of the view, the last change with a merge."""
TYPES = {STRING: "STRING", INTEGER: "INTEGER", NUMBER: "FLOAT", BOOLEAN: "BOOLEAN", DATE: "DATE"}


def is_plain(node_id: str) -> bool:
    """Whether an id is its own key."""
    return len(node_id) <= LONGEST and not node_id.startswith("#")


def key(node_id: str) -> str:
    """What stands for an id in indexes."""
    return node_id if is_plain(node_id) else f"#{hash_id(node_id)}"


def key_of(table: str) -> str:
    """The property that is unique for the nodes of a table."""
    return "key" if table in KEYED else "id"


def prepare(session: Session, ontology: Ontology, *, edition: str, read_only: bool) -> None:
    """Makes what is missing. Raises StoreError where what is there cannot be used."""
    where = session.where
    meta = dict(session.rows("MATCH (m:_Meta) RETURN m.id, m.value"))
    if FORMAT not in meta:
        _refuse_foreign(session)
        if read_only:
            raise StoreError(f"{where} is empty", hint="run 'ontoloom ingest' first")
    elif meta[FORMAT] != record.FORMAT:
        hint = "use an empty database"
        raise StoreError(f"{where} has format {meta[FORMAT]}, this ontoloom writes {record.FORMAT}", hint=hint)
    if read_only or meta.get(ONTOLOGY) == ontology.stamp:
        return
    _refuse_clashes(ontology)
    columns = _widen(json.loads(meta.get(VIEW, "{}")), ontology, where)
    for _, statement in constraints(ontology, edition):
        session.alter(statement)
    session.alter("CALL db.awaitIndexes(600)")
    values = {FORMAT: record.FORMAT, ONTOLOGY: ontology.stamp, VIEW: json.dumps(columns)}

    def note(tx: ManagedTransaction) -> None:
        pairs = list(map(list, values.items()))
        ask(tx, "UNWIND $pairs AS x MERGE (m:_Meta {id: x[0]}) SET m.value = x[1]", pairs=pairs)

    session.write(note)


def constraints(ontology: Ontology, edition: str) -> Iterator[tuple[str, str]]:
    """Names of constraints, and the statements that make them: uniqueness and, in Enterprise, existence and types."""
    for table in NODES:
        yield _constraint(f"ontoloom{table.name}", f"(n:{quote(table.name)})", f"n.{key_of(table.name)} IS UNIQUE")
    for name in ontology.types:
        node = f"(n:{quote(name)})"
        yield _constraint(f"ontoloom_type_{name}", node, "n.key IS UNIQUE")
        if edition == "enterprise":
            yield _constraint(f"ontoloom_named_{name}", node, "n.name IS NOT NULL")
            yield _constraint(f"ontoloom_name_{name}", node, "n.name IS :: STRING")
    if edition == "enterprise":
        for relation in ontology.relations.values():
            yield from _relation_constraints(relation)


def _relation_constraints(relation: Relation) -> Iterator[tuple[str, str]]:
    edge = f"()-[r:{quote(relation.name)}]-()"
    yield _constraint(f"ontoloom_triple_{relation.name}", edge, f"r.{record.TRIPLE_KEY} IS NOT NULL")
    for column, kind in relation_columns(relation):
        base = TYPES[plain_type(kind).removesuffix("[]")]
        shown = f"LIST<{base} NOT NULL>" if kind.endswith("[]") else base
        yield _constraint(f"ontoloom_value_{relation.name}.{column}", edge, f"r.{quote(column)} IS :: {shown}")


def _constraint(name: str, what: str, rule: str) -> tuple[str, str]:
    return name, f"CREATE CONSTRAINT {quote(name)} IF NOT EXISTS FOR {what} REQUIRE {rule}"


def _refuse_foreign(session: Session) -> None:
    found = session.rows("MATCH (n) RETURN labels(n) LIMIT 1")
    if found:
        labels = ", ".join(f"'{label}'" for label in found[0][0]) or "nothing"
        message = f"{session.where} holds nodes that are not ontoloom's (labelled {labels})"
        raise StoreError(message, hint="give another database, or empty it", code="not-a-store")


def _refuse_clashes(ontology: Ontology) -> None:
    """Types share their names with labels of the record, relations with its edges, attributes with ``_triple``."""
    pairs = [(name, {table.name for table in NODES}) for name in ontology.types]
    pairs += [(name, {table.name for table in EDGES}) for name in ontology.relations]
    pairs += [(a, {record.TRIPLE_KEY}) for relation in ontology.relations.values() for a in relation.attributes]
    for name, taken in pairs:
        if name in taken:
            message = f"the graph store uses the name '{name}' itself"
            raise StoreError(message, hint="choose another in the ontology", code="store-names")


def _widen(columns: Mapping[str, Mapping[str, str]], ontology: Ontology, where: str) -> dict[str, dict[str, str]]:
    """The columns of the view, those of the ontology added to those that were there. Raises StoreError for a clash."""
    found = {name: dict(kinds) for name, kinds in columns.items()}
    for relation in ontology.relations.values():
        known = found.setdefault(relation.name, {})
        for column, kind in relation_columns(relation):
            was, now = known.setdefault(column, plain_type(kind)), plain_type(kind)
            if was != now:
                message = (
                    f"{where} was made under another ontology: '{relation.name}.{column}' was {was} and is {now} now"
                )
                raise StoreError(message, hint="use an empty database", code="store-ontology")
    return found
