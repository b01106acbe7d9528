"""What a Neo4j database holds that no store would have written, and what its own nodes lack."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from neo4j.time import Date

from graph.encode import Statement
from graph.ladybug_faults import LOOSE
from graph.neo4j_schema import EDGES, KEYED, NODES, constraints
from graph.neo4j_session import Session, quote
from graph.neo4j_write import with_floats
from graph.record import RECORD, TRIPLE_KEY, relation_columns
from graph.revise import Revised, Revision
from graph.revision_rows import inserts
from graph.said import Ends
from graph.store import Fault
from ontology.schema import Ontology

OURS = " OR ".join(f"n:{table.name}" for table in NODES)


def find_faults(session: Session, ontology: Ontology) -> Iterator[Fault]:
    """Foreign labels, types, properties and nodes, nodes that hang on nothing, a view that contradicts the record."""
    yield from _find_missing_constraints(session, ontology)
    yield from _find_strays(session, ontology)
    for code, table, edge, message in LOOSE:
        yield from _each(session, code, message, f"MATCH (n:{table}) WHERE NOT EXISTS {{ (n){edge} }} RETURN n.id")
    # An entity has its own label and that of its type, where the ontology has the type.
    yield from _each(
        session,
        "view-entity",
        "its labels say something else than the record",
        "MATCH (n:_Entity) WHERE (n.type IN $types) <> (n.type IN labels(n)) "
        "OR any(label IN labels(n) WHERE label IN $types AND label <> n.type) RETURN n.id",
        types=list(ontology.types),
    )
    for name in ontology.relations:
        yield from _compare_relation(session, ontology, name)


def _each(session: Session, code: str, message: str, query: str, **parameters: Any) -> Iterator[Fault]:
    """A fault for each id in an answer."""
    for rows in session.stream(query, **parameters):
        for (found,) in rows:
            yield Fault(code, str(found), message)


def _find_missing_constraints(session: Session, ontology: Ontology) -> Iterator[Fault]:
    there = {row[0] for row in session.rows("SHOW CONSTRAINTS YIELD name RETURN name")}
    for name, _ in constraints(ontology, "community"):
        if name not in there:
            yield Fault("missing-constraint", name, "the database no longer guards what this constraint did")


def _find_strays(session: Session, ontology: Ontology) -> Iterator[Fault]:
    labels = {table.name for table in NODES} | ontology.types.keys()
    for (label,) in session.rows("MATCH (n) UNWIND labels(n) AS label RETURN DISTINCT label ORDER BY label"):
        if label not in labels:
            yield Fault("stray-label", label, "this label is not of the ontology")
    yield from _each(
        session, "stray-node", "this node is not of the record", f"MATCH (n) WHERE NOT ({OURS}) RETURN elementId(n)"
    )
    types = {table.name for table in EDGES} | ontology.relations.keys()
    for (kind,) in session.rows("MATCH ()-[r]->() RETURN DISTINCT type(r) AS kind ORDER BY kind"):
        if kind not in types:
            yield Fault("stray-type", kind, "this type of relationship is not of the ontology")
    known = {table.name: {name for name, _ in table.columns} for table in RECORD}
    known |= {name: {column for column, _ in relation_columns(r)} for name, r in ontology.relations.items()}
    known["_Change"].add("token")
    for name in known:
        extra = {"key"} if name in KEYED else set()
        of_edge = name in types
        where = f"MATCH ()-[n:{quote(name)}]->()" if of_edge else f"MATCH (n:{quote(name)})"
        query = f"{where} UNWIND keys(n) AS property RETURN DISTINCT property ORDER BY property"
        for (found,) in session.rows(query):
            if found not in known[name] | extra:
                yield Fault("stray-property", f"{name}.{found}", "this property is not of the record")


def _compare_relation(session: Session, ontology: Ontology, name: str) -> Iterator[Fault]:
    """The view's relationships for a relation, each against its triple."""
    edge = f"(a)-[r:{quote(name)}]->(b)"
    yield from _each(
        session,
        "view-triple",
        f"the view holds a {name} that the record does not",
        f"MATCH {edge} WHERE NOT EXISTS {{ MATCH (t:_Triple {{id: r.{TRIPLE_KEY}}}) "
        "WHERE t.relation = $name AND t.subject = a.id AND t.object = b.id } "
        f"RETURN coalesce(r.{TRIPLE_KEY}, elementId(r))",
        name=name,
    )
    yield from _each(
        session,
        "view-triple",
        f"the view holds a {name} more than once",
        f"MATCH {edge} WITH r.{TRIPLE_KEY} AS triple, count(*) AS times WHERE times > 1 RETURN triple",
    )
    yield from _each(
        session,
        "view-triple",
        f"the view lacks a {name} that the record holds",
        "MATCH (t:_Triple) WHERE t.relation = $name AND t.object IS NOT NULL AND NOT EXISTS { "
        f"MATCH (t)-[:_ABOUT]->(a:_Entity)-[r:{quote(name)}]->() WHERE r.{TRIPLE_KEY} = t.id }} RETURN t.id",
        name=name,
    )
    yield from _compare_attributes(session, ontology, name)


def _compare_attributes(session: Session, ontology: Ontology, name: str) -> Iterator[Fault]:
    """The attributes of the view's relationships, against those that the record states."""
    query = (
        f"MATCH (a)-[r:{quote(name)}]->(b) MATCH (t:_Triple {{id: r.{TRIPLE_KEY}}}) WHERE t.relation = $name RETURN "
        "t.id, [t.subject, t.subject_type, t.relation, t.object, t.object_type, t.value], "
        "[t.kind, t.attributes, t.identifying], properties(r)"
    )
    for rows in session.stream(query, name=name):
        ends = {row[0]: Ends(*row[1]) for row in rows}
        stated: dict[str, Revised[Statement]] = {row[0]: Revised(None, tuple(row[2])) for row in rows}
        shown = {row[0]: row[3] for row in rows}
        for table, expected in inserts(ontology, Revision(0, triples=stated, ends=ends)):
            if table.name == name:
                for row in with_floats(table, expected):
                    columns = zip((column for column, _ in table.columns), row[2:], strict=True)
                    if any(_plain(shown[row[2]].get(column)) != value for column, value in columns):
                        yield Fault("view-triple", row[2], f"the view says something else of a {name} than the record")


def _plain(value: Any) -> Any:
    """A value of the driver as Python has it."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.to_native() if isinstance(value, Date) else value
