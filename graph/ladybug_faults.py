"""What a Ladybug database holds that no store would have written, and what its own tables lack."""

from __future__ import annotations

from collections.abc import Iterator

from graph.ladybug_session import Session, quote
from graph.record import RECORD, TRIPLE_KEY
from graph.store import Fault
from ontology.schema import Ontology

LOOSE = (
    ("orphan-entity", "_Entity", "<-[:_NAMES]-(:_Document)", "no document names it"),
    ("triple-without-evidence", "_Triple", "-[:_EVIDENCE]->(:_Document)", "no evidence is left of it"),
    ("loose-triple", "_Triple", "-[:_ABOUT]->(:_Entity)", "it is tied to no entity"),
    ("loose-claim", "_Quarantined", "<-[:_REFUSED]-(:_Document)", "it is of no document"),
)
"""Code, table, the edge that each of its nodes must have, and what it means where there is none."""


def find_faults(session: Session, ontology: Ontology) -> Iterator[Fault]:
    """Foreign tables, nodes that hang on nothing, and a view that contradicts the record."""
    tables = dict(session.rows("CALL show_tables() RETURN name, type"))
    types = sorted(name for name, kind in tables.items() if kind == "NODE" and not _is_record(name))
    relations = sorted(name for name, kind in tables.items() if kind == "REL" and not _is_record(name))
    for name in types + relations:
        if name not in ontology.types and name not in ontology.relations:
            yield Fault("stray-table", name, "this table is not of the ontology")
    for code, table, edge, message in LOOSE:
        for row in session.rows(f"MATCH (n:{table}) WHERE NOT EXISTS {{ MATCH (n){edge} }} RETURN n.id ORDER BY n.id"):
            yield Fault(code, row[0], message)
    for name in types:
        if name in ontology.types:
            yield from _compare_type(session, name)
    for name in relations:
        if name in ontology.relations:
            yield from _compare_relation(session, name)


def _is_record(name: str) -> bool:
    return any(table.name == name for table in RECORD)


def _compare_type(session: Session, name: str) -> Iterator[Fault]:
    columns = "n.id, n.name, n.aliases, n.page"
    shown = {row[0]: row for row in session.rows(f"MATCH (n:{quote(name)}) RETURN {columns}")}
    held = {row[0]: row for row in session.rows(f"MATCH (n:_Entity) WHERE n.type = $type RETURN {columns}", type=name)}
    yield from _compare(shown, held, "view-entity", f"the table {name}")


def _compare_relation(session: Session, name: str) -> Iterator[Fault]:
    edges = session.rows(f"MATCH (a)-[r:{quote(name)}]->(b) RETURN r.{TRIPLE_KEY}, a.id, b.id")
    triples = session.rows(
        "MATCH (t:_Triple) WHERE t.relation = $name AND t.object IS NOT NULL RETURN t.id, t.subject, t.object",
        name=name,
    )
    seen: set[str] = set()
    for row in edges:
        if row[0] in seen:
            yield Fault("view-triple", str(row[0]), f"{name} has more than one edge of it")
        seen.add(row[0])
    yield from _compare({r[0]: r for r in edges}, {r[0]: r for r in triples}, "view-triple", f"the table {name}")


def _compare(shown: dict[str, list[object]], held: dict[str, list[object]], code: str, where: str) -> Iterator[Fault]:
    for key in sorted(map(str, shown.keys() | held.keys())):
        if key not in held:
            yield Fault(code, key, f"{where} holds what the record does not")
        elif key not in shown:
            yield Fault(code, key, f"{where} lacks what the record holds")
        elif shown[key] != held[key]:
            yield Fault(code, key, f"{where} says something else than the record")
