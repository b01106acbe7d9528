"""Writes a revision to a Neo4j store, within a transaction that is open.

Rows go in as lists in the order of their table's columns, some thousand to a statement. Labels, types and properties
come from the record and from the compiled ontology, all else is a parameter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from graph import record
from graph.neo4j_schema import KEYED, MERGED, is_plain, key, key_of
from graph.neo4j_session import ask, chunks, quote
from graph.record import NUMBER, Row, Table
from graph.revise import Revision
from graph.revision_rows import gone, inserts, replaced_view_edges, touched, updates
from ontology.schema import Ontology

if TYPE_CHECKING:
    from neo4j import ManagedTransaction

BATCH = 5_000
"""Rows to a statement."""
CHARACTERS = 4 * 2**20
"""Of texts to a statement, so that a message has room in the server's memory."""
RECORD = frozenset(table.name for table in record.RECORD)
TEXT = [name for name, _ in record.DOCUMENT.columns].index("text")
CHANGE = Table(record.CHANGE.name, (*record.CHANGE.columns, ("token", record.STRING)))
"""``token`` tells a transaction whose commit was not answered whether it took place."""
TYPE = [name for name, _ in record.ENTITY.columns].index("type")


def write(tx: ManagedTransaction, ontology: Ontology, revision: Revision, *, token: str) -> None:
    """Deletes what goes, changes what stays, adds what comes."""
    _delete_edges(tx, ontology, revision)
    nodes = gone(revision)
    _delete(tx, record.TRIPLE, nodes.triples)
    for entities in nodes.entities.values():
        _delete(tx, record.ENTITY, entities)
    _delete(tx, record.NAME, nodes.names)
    _delete(tx, record.DOCUMENT, nodes.documents)
    for table, ids in touched(revision).items():
        statement = (
            f"UNWIND $rows AS x MATCH (n:{quote(table.name)} {{{key_of(table.name)}: x}}) SET n.updated = $number"
        )
        _run(tx, statement, _keys(table, ids), number=revision.number)
    for table, rows in updates(revision):
        if table.name in RECORD:  # entities of the view are those of the record
            _run(tx, update_statement(table), _with_keys(table, rows), text=_text(table))
    for table, rows in inserts(ontology, revision):
        _insert(tx, ontology, table, rows, token)
    if revision.merge is not None:
        ask(tx, f"MERGE (m:_Meta {{id: '{MERGED}'}}) SET m.value = $value", value=str(revision.number))


def _insert(tx: ManagedTransaction, ontology: Ontology, table: Table, rows: Sequence[Row], token: str) -> None:
    if table.ends is not None:
        _run(tx, create_edge_statement(table), _edge_rows(table, rows))
    elif table is record.ENTITY:
        for type_name, group in _by_type(rows).items():
            label = type_name if type_name in ontology.types else ""
            _run(tx, create_statement(table, label), _with_keys(table, group))
    elif table is record.CHANGE:
        _run(tx, create_statement(CHANGE), [(*row, token) for row in rows])
    elif table.name in RECORD:
        _run(tx, create_statement(table), _with_keys(table, rows), text=_text(table))


def _run(
    tx: ManagedTransaction, statement: str, rows: Sequence[Any], *, text: int | None = None, **parameters: Any
) -> None:
    """Runs a statement over all rows. It is not waited for: the next rows are packed while the server works."""
    for some in chunks(rows, BATCH) if text is None else _cut_by_length(rows, text):
        tx.run(statement, {"rows": some, **parameters})


def _text(table: Table) -> int | None:
    """Which column holds texts that may be long."""
    return TEXT if table is record.DOCUMENT else None


def _cut_by_length(rows: Sequence[Row], text: int) -> Iterator[Sequence[Row]]:
    """Rows, so many at a time that their texts are not too long together."""
    begin = held = 0
    for place, row in enumerate(rows):
        if place > begin and (held + len(row[text]) > CHARACTERS or place - begin == BATCH):
            yield rows[begin:place]
            begin, held = place, 0
        held += len(row[text])
    if rows:
        yield rows[begin:]


def _delete_edges(tx: ManagedTransaction, ontology: Ontology, revision: Revision) -> None:
    """Deletes the edges of what documents said, and those of the view that say something else now."""
    documents, entities = _keys(record.DOCUMENT, revision.known), _keys(record.ENTITY, revision.cleared_entities)
    _run(tx, "UNWIND $rows AS x MATCH (:_Document {key: x})-[r:_NAMES]->() DELETE r", documents)
    _run(tx, "UNWIND $rows AS x MATCH (:_Document {key: x})<-[r:_EVIDENCE]-() DELETE r", documents)
    _run(tx, "UNWIND $rows AS x MATCH (:_Document {key: x})-[:_REFUSED]->(q) DETACH DELETE q", documents)
    _run(tx, "UNWIND $rows AS x MATCH (:_Entity {key: x})<-[r:_NAMES]-() DELETE r", entities)
    _run(tx, "UNWIND $rows AS x MATCH (:_Triple {id: x})-[r:_EVIDENCE]->() DELETE r", revision.cleared_triples)
    replaced: dict[str, list[Row]] = {}
    for (relation, _, _), triples in replaced_view_edges(revision).items():
        found = ((key(revision.ends[t].subject), key(revision.ends[t].object or ""), t) for t in triples)
        replaced.setdefault(relation, []).extend(found)
    for relation, rows in replaced.items():
        known = relation in ontology.relations
        typed, condition = (f":{quote(relation)}", "") if known else ("", "type(r) = $relation AND ")
        statement = (
            "UNWIND $rows AS x MATCH (a:_Entity {key: x[0]}) MATCH (b:_Entity {key: x[1]}) WITH x, a, b "
            f"MATCH (a)-[r{typed}]->(b) WHERE {condition}r._triple = x[2] DELETE r"
        )
        _run(tx, statement, rows, relation=relation)


def _delete(tx: ManagedTransaction, table: Table, ids: Sequence[str]) -> None:
    statement = f"UNWIND $rows AS x MATCH (n:{quote(table.name)} {{{key_of(table.name)}: x}}) DETACH DELETE n"
    _run(tx, statement, _keys(table, ids))


# Rows


def _keys(table: Table, ids: Sequence[str]) -> Sequence[str]:
    return list(map(key, ids)) if table.name in KEYED else ids


def _with_keys(table: Table, rows: Sequence[Row]) -> Sequence[Row]:
    """Rows of nodes, with the key behind them where it is not the id."""
    if table.name not in KEYED:
        return rows
    return [row if is_plain(row[0]) else (*row, key(row[0])) for row in rows]


def _edge_rows(table: Table, rows: Sequence[Row]) -> Sequence[Row]:
    """Rows of edges, with the keys of their ends."""
    left, right = (end in KEYED for end in _ends(table))
    odd = any((left and not is_plain(row[0])) or (right and not is_plain(row[1])) for row in rows)
    if odd:
        rows = [(key(r[0]) if left else r[0], key(r[1]) if right else r[1], *r[2:]) for r in rows]
    return with_floats(table, rows)


def with_floats(table: Table, rows: Sequence[Row]) -> Sequence[Row]:
    """Rows of edges with floats where their table has numbers, for to Neo4j an integer is something else."""
    numbers = [place for place, (_, kind) in enumerate(table.columns, 2) if kind.startswith(NUMBER)]
    return [_floats_at(row, numbers) for row in rows] if numbers else rows


def _floats_at(row: Row, places: Sequence[int]) -> Row:
    if all(type(row[place]) is float or row[place] is None for place in places):
        return row
    values = list(row)
    for place in places:
        value = values[place]
        values[place] = None if value is None else list(map(float, value)) if isinstance(value, list) else float(value)
    return values


def _by_type(rows: Sequence[Row]) -> Mapping[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[TYPE], []).append(row)
    return groups


# Statements


@lru_cache(maxsize=1024)
def create_statement(table: Table, label: str = "") -> str:
    """The statement that creates nodes from ``$rows``, with a label of the view if any."""
    labels = f":{quote(table.name)}" + (f":{quote(label)}" if label else "")
    return f"UNWIND $rows AS x CREATE ({labels} {{{_properties(table, 0)}}})"


@lru_cache(maxsize=1024)
def update_statement(table: Table) -> str:
    """The statement that sets all columns of nodes in ``$rows``."""
    found = f"{{{key_of(table.name)}: {_key(table)}}}"
    return f"UNWIND $rows AS x MATCH (n:{quote(table.name)} {found}) SET n += {{{_properties(table, 0)}}}"


@lru_cache(maxsize=1024)
def create_edge_statement(table: Table) -> str:
    """The statement that creates edges from ``$rows``, whose first two fields are the keys of the ends."""
    left, right = _ends(table)
    return (
        f"UNWIND $rows AS x MATCH (a:{quote(left)} {{{key_of(left)}: x[0]}}) "
        f"MATCH (b:{quote(right)} {{{key_of(right)}: x[1]}}) "
        f"CREATE (a)-[:{quote(table.name)} {{{_properties(table, 2)}}}]->(b)"
    )


def _ends(table: Table) -> tuple[str, str]:
    """The labels of the nodes that an edge lies between; those of the view are between entities."""
    assert table.ends is not None
    return table.ends if table.name in RECORD else (record.ENTITY.name, record.ENTITY.name)


def _properties(table: Table, start: int) -> str:
    pairs = [f"{quote(name)}: x[{place}]" for place, (name, _) in enumerate(table.columns, start)]
    if table.name in KEYED:
        pairs.append(f"key: {_key(table)}")
    return ", ".join(pairs)


def _key(table: Table) -> str:
    """The key in a row: behind its columns, or the first of them. Beyond the end of a list there is null."""
    return f"coalesce(x[{len(table.columns)}], x[0])" if table.name in KEYED else "x[0]"
