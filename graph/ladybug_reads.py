"""What a transaction reads from a Ladybug store (``graph.revise.Reads``).

Whoever reads edges of many nodes asks ``UNWIND $ids AS x MATCH (n) WHERE n.id = x OPTIONAL MATCH (n)-[…]-()``. Without
OPTIONAL, Ladybug's planner joins with a scan of every edge there is (100 ids among 300,000 edges: 600 ms against 4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from graph.derive import Naming, Spelling
from graph.encode import Statement, encode_reference
from graph.ladybug_session import Session
from graph.revise import Statements, StoredDocument, Typed
from graph.said import Ends, Said, Stating

STATING = (
    "d.id, d.kind = 'page', t.id, v.id, v.kind, v.attributes, v.identifying, v.`start`, v.`end`, v.extractor, "
    "v.source, v.confidence, v.ontology_version, v.said_triple, v.said_subject, v.said_object, v.said_attributes, "
    "v.since"
)
NAMING = "d.id, e.id, n.said_entity, n.name, n.aliases, n.defines, n.since"


class LadybugReads:
    """Reads through a session. ``merged`` is what each merged entity was merged into, for the merges that hold."""

    def __init__(self, session: Session, merged: Mapping[str, str]) -> None:
        self._look_up = session.look_up
        self._rows = session.rows
        self._merged = merged

    def stored(self, documents: Sequence[str]) -> dict[str, StoredDocument]:
        query = "UNWIND $ids AS x MATCH (d:_Document) WHERE d.id = x RETURN d.id, d.kind, d.said"
        return {document: StoredDocument(kind, said) for document, kind, said in self._look_up(query, documents)}

    def said_by(self, documents: Mapping[str, StoredDocument]) -> Said:
        start = "UNWIND $ids AS x MATCH (d:_Document) WHERE d.id = x OPTIONAL MATCH"
        ids = list(documents)
        return _said(
            self._look_up(f"{start} (d)-[n:_NAMES]->(e:_Entity) RETURN {NAMING}", ids),
            self._look_up(f"{start} (d)<-[v:_EVIDENCE]-(t:_Triple) RETURN {STATING}", ids),
        )

    def said_of(self, entities: Sequence[str], triples: Sequence[str]) -> Said:
        start = "UNWIND $ids AS x MATCH"
        return _said(
            self._look_up(
                f"{start} (e:_Entity) WHERE e.id = x OPTIONAL MATCH (d:_Document)-[n:_NAMES]->(e) RETURN {NAMING}",
                entities,
            ),
            self._look_up(
                f"{start} (t:_Triple) WHERE t.id = x OPTIONAL MATCH (t)-[v:_EVIDENCE]->(d:_Document) RETURN {STATING}",
                triples,
            ),
        )

    def typed(self, entities: Sequence[str]) -> dict[str, Typed]:
        query = "UNWIND $ids AS x MATCH (e:_Entity) WHERE e.id = x RETURN e.id, e.type, e.name, e.aliases, e.page"
        return {r[0]: Typed(r[1], Naming(r[2], tuple(r[3]), r[4])) for r in self._look_up(query, entities)}

    def spellings(self, entities: Sequence[str]) -> dict[str, Counter[Spelling]]:
        found: dict[str, Counter[Spelling]] = {}
        for entity, name, aliases, page, documents in self._look_up(
            "UNWIND $ids AS x MATCH (e:_Entity) WHERE e.id = x OPTIONAL MATCH (e)<-[n:_NAMES]-(d:_Document) "
            "RETURN e.id, n.name, n.aliases, CASE WHEN n.defines THEN d.id END, count(*)",
            entities,
        ):
            found.setdefault(entity, Counter())[Spelling(name, tuple(aliases), page)] = documents
        return found

    def stated(self, triples: Sequence[str]) -> dict[str, Statement]:
        query = "UNWIND $ids AS x MATCH (t:_Triple) WHERE t.id = x RETURN t.id, t.kind, t.attributes, t.identifying"
        return {row[0]: (row[1], row[2], row[3]) for row in self._look_up(query, triples)}

    def statements(self, triples: Sequence[str]) -> dict[str, Statements]:
        found: dict[str, Statements] = {}
        for triple, kind, attributes, identifying, page, times in self._look_up(
            "UNWIND $ids AS x MATCH (t:_Triple) WHERE t.id = x OPTIONAL MATCH (t)-[v:_EVIDENCE]->(d:_Document) "
            "RETURN t.id, v.kind, v.attributes, v.identifying, CASE WHEN d.kind = 'page' THEN d.id END, "
            "count(DISTINCT CASE WHEN v.said_triple IS NULL THEN d.id ELSE v.said_triple + d.id END)",
            triples,
        ):
            found.setdefault(triple, Statements())[(kind, attributes, identifying), page] = times
        return found

    def ends(self, triples: Sequence[str]) -> dict[str, Ends]:
        query = (
            "UNWIND $ids AS x MATCH (t:_Triple) WHERE t.id = x "
            "RETURN t.id, t.subject, t.subject_type, t.relation, t.object, t.object_type, t.value"
        )
        return {row[0]: Ends(*row[1:]) for row in self._look_up(query, triples)}

    def triples_of(self, entity: str) -> list[str]:
        about = "MATCH (e:_Entity)<-[:_ABOUT]-(t:_Triple) WHERE e.id = $id RETURN t.id"
        # References in attributes have no edge: they are looked for in the text, which only a merge does.
        named = "MATCH (t:_Triple) WHERE contains(t.attributes, $text) RETURN t.id"
        found = self._rows(about, id=entity) + self._rows(named, text=encode_reference(entity))
        return sorted({row[0] for row in found})

    def named(self, keys: Sequence[str]) -> dict[str, list[str]]:
        query = "UNWIND $ids AS x MATCH (n:_Name) WHERE n.id = x RETURN n.id, n.entities"
        return dict(self._look_up(query, keys))

    def merged(self) -> Mapping[str, str]:
        return self._merged


def _said(namings: list[list[object]], statings: list[list[object]]) -> Said:
    """Rows of ``NAMING`` and ``STATING``; a node without such edges has a row of nothing."""
    said = Said()
    for document, entity, *rest in namings:
        if document is not None and entity is not None:
            said.add_naming(document, entity, *rest)  # type: ignore[arg-type]  # as NAMING names them
    for row in statings:
        if row[0] is not None and row[2] is not None:
            said.add_stating(Stating(*row))  # type: ignore[arg-type]  # as STATING names them
    return said
