"""Writes a revision to a Ladybug store, within a transaction that is open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graph import record
from graph.ladybug_session import Session, quote
from graph.record import Batch, Row, Table
from graph.revise import Revision
from graph.revision_rows import Gone, gone, inserts, replaced_view_edges, touched, updates
from ontology.schema import Ontology

LONG_TEXT = 2**20
"""Texts that would be copied too often on the way in rows: one of 50 MB must fit into the buffer pool."""
TEXT = [name for name, _ in record.DOCUMENT.columns].index("text")


def write(session: Session, ontology: Ontology, revision: Revision) -> None:
    """Deletes what goes, changes what stays, adds what comes."""
    _delete_edges(session, revision)
    _delete_nodes(session, gone(revision))
    for table, ids in touched(revision).items():
        if ids:
            statement = f"UNWIND $ids AS x MATCH (n:{quote(table.name)}) WHERE n.id = x SET n.updated = $number"
            session.run(statement, ids=ids, number=revision.number)
    texts: dict[str, str] = {}
    for table, rows in _take_long_texts(updates(revision), texts):
        session.update(table, rows)
    session.insert(_take_long_texts(inserts(ontology, revision), texts), size=revision.size)
    for document, text in texts.items():
        session.run("MATCH (d:_Document) WHERE d.id = $id SET d.text = $text", id=document, text=text)


def _take_long_texts(batch: Batch, taken: dict[str, str]) -> Iterator[tuple[Table, Sequence[Row]]]:
    """The batch without long texts of documents, which are ``taken``, by document."""
    for table, rows in batch:
        if table is record.DOCUMENT:
            long = {row[0]: row[TEXT] for row in rows if len(row[TEXT]) > LONG_TEXT}
            taken.update(long)
            rows = [(*row[:TEXT], "", *row[TEXT + 1 :]) if row[0] in long else row for row in rows]
        yield table, rows


def _delete_edges(session: Session, revision: Revision) -> None:
    """Deletes the edges of what documents said, and those of the view that say something else now."""
    if revision.known:
        of_document = "UNWIND $ids AS x MATCH (d:_Document) WHERE d.id = x OPTIONAL MATCH (d)"
        session.run(f"{of_document}-[r:_NAMES]->(:_Entity) DELETE r", ids=revision.known)
        session.run(f"{of_document}<-[r:_EVIDENCE]-(:_Triple) DELETE r", ids=revision.known)
        session.run(f"{of_document}-[:_REFUSED]->(q:_Quarantined) DETACH DELETE q", ids=revision.known)
    if revision.cleared_entities:
        of_entity = "UNWIND $ids AS x MATCH (e:_Entity) WHERE e.id = x OPTIONAL MATCH (e)"
        session.run(f"{of_entity}<-[r:_NAMES]-(:_Document) DELETE r", ids=revision.cleared_entities)
    if revision.cleared_triples:
        of_triple = "UNWIND $ids AS x MATCH (t:_Triple) WHERE t.id = x OPTIONAL MATCH (t)"
        session.run(f"{of_triple}-[r:_EVIDENCE]->(:_Document) DELETE r", ids=revision.cleared_triples)
    for (relation, subject_type, object_type), triples in replaced_view_edges(revision).items():
        session.run(
            f"UNWIND $rows AS x MATCH (a:{quote(subject_type)}) WHERE a.id = x.a "
            f"OPTIONAL MATCH (a)-[r:{quote(relation)}]->(:{quote(object_type)}) WHERE r._triple = x.t DELETE r",
            rows=[{"a": revision.ends[t].subject, "t": t} for t in triples],
        )


def _delete_nodes(session: Session, nodes: Gone) -> None:
    _delete(session, record.TRIPLE.name, nodes.triples)
    for type_name, entities in nodes.entities.items():
        _delete(session, type_name, entities)
        _delete(session, record.ENTITY.name, entities)
    _delete(session, record.NAME.name, nodes.names)
    _delete(session, record.DOCUMENT.name, nodes.documents)


def _delete(session: Session, table: str, ids: Sequence[str]) -> None:
    if ids:
        session.run(f"UNWIND $ids AS x MATCH (n:{quote(table)}) WHERE n.id = x DETACH DELETE n", ids=ids)
