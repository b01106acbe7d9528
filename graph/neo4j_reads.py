"""What a transaction reads from a Neo4j store (``graph.revise.Reads``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from graph.derive import Naming, Spelling
from graph.encode import Statement, encode_reference
from graph.ladybug_rows import MERGE
from graph.neo4j_schema import key
from graph.neo4j_session import Ask, chunks
from graph.revise import Statements, StoredDocument, Typed, merged
from graph.said import Ends, Said, Stating
from graph.store import Merge

STATING = (
    "d.id, d.kind = 'page', t.id, v.id, v.kind, v.attributes, v.identifying, v.start, v.end, v.extractor, "
    "v.source, v.confidence, v.ontology_version, v.said_triple, v.said_subject, v.said_object, v.said_attributes, "
    "v.since"
)
NAMING = "d.id, e.id, n.said_entity, n.name, n.aliases, n.defines, n.since"
DOCUMENTS = "UNWIND $ids AS x MATCH (d:_Document {key: x})"
ENTITIES = "UNWIND $ids AS x MATCH (e:_Entity {key: x})"
TRIPLES = "UNWIND $ids AS x MATCH (t:_Triple {id: x})"
NAMES = "UNWIND $ids AS x MATCH (n:_Name {key: x})"
MANY = 20_000
"""Ids that are asked for at once."""


class Neo4jReads:
    """Reads by ``ask``; ``merged`` is given where it is known."""

    def __init__(self, ask: Ask, merged: Mapping[str, str] | None = None) -> None:
        self._ask = ask
        self._merged = merged

    def stored(self, documents: Sequence[str]) -> dict[str, StoredDocument]:
        rows = self._look_up(f"{DOCUMENTS} RETURN d.id, d.kind, d.said", map(key, documents))
        return {document: StoredDocument(kind, said) for document, kind, said in rows}

    def said_by(self, documents: Mapping[str, StoredDocument]) -> Said:
        ids = list(map(key, documents))
        return said(
            self._look_up(f"{DOCUMENTS}-[n:_NAMES]->(e:_Entity) RETURN {NAMING}", ids),
            self._look_up(f"{DOCUMENTS}<-[v:_EVIDENCE]-(t:_Triple) RETURN {STATING}", ids),
        )

    def said_of(self, entities: Sequence[str], triples: Sequence[str]) -> Said:
        return said(
            self._look_up(f"{ENTITIES}<-[n:_NAMES]-(d:_Document) RETURN {NAMING}", map(key, entities)),
            self._look_up(f"{TRIPLES}-[v:_EVIDENCE]->(d:_Document) RETURN {STATING}", triples),
        )

    def typed(self, entities: Sequence[str]) -> dict[str, Typed]:
        rows = self._look_up(f"{ENTITIES} RETURN e.id, e.type, e.name, e.aliases, e.page", map(key, entities))
        return {row[0]: Typed(row[1], Naming(row[2], tuple(row[3]), row[4])) for row in rows}

    def spellings(self, entities: Sequence[str]) -> dict[str, Counter[Spelling]]:
        found: dict[str, Counter[Spelling]] = {}
        for entity, name, aliases, page, documents in self._look_up(
            f"{ENTITIES}<-[n:_NAMES]-(d:_Document) "
            "RETURN e.id, n.name, n.aliases, CASE WHEN n.defines THEN d.id END, count(*)",
            map(key, entities),
        ):
            found.setdefault(entity, Counter())[Spelling(name, tuple(aliases), page)] = documents
        return found

    def stated(self, triples: Sequence[str]) -> dict[str, Statement]:
        rows = self._look_up(f"{TRIPLES} RETURN t.id, t.kind, t.attributes, t.identifying", triples)
        return {row[0]: (row[1], row[2], row[3]) for row in rows}

    def statements(self, triples: Sequence[str]) -> dict[str, Statements]:
        found: dict[str, Statements] = {}
        for triple, kind, attributes, identifying, page, times in self._look_up(
            f"{TRIPLES}-[v:_EVIDENCE]->(d:_Document) "
            "RETURN t.id, v.kind, v.attributes, v.identifying, CASE WHEN d.kind = 'page' THEN d.id END, "
            "count(DISTINCT coalesce(v.said_triple, '') + d.id)",
            triples,
        ):
            found.setdefault(triple, Statements())[(kind, attributes, identifying), page] = times
        return found

    def ends(self, triples: Sequence[str]) -> dict[str, Ends]:
        columns = "t.id, t.subject, t.subject_type, t.relation, t.object, t.object_type, t.value"
        return {row[0]: Ends(*row[1:]) for row in self._look_up(f"{TRIPLES} RETURN {columns}", triples)}

    def triples_of(self, entity: str) -> list[str]:
        about = self._ask("MATCH (e:_Entity {key: $key})<-[:_ABOUT]-(t:_Triple) RETURN t.id", key=key(entity))
        # References in attributes have no edge: they are looked for in the text, which only a merge does.
        text = encode_reference(entity)
        named = self._ask("MATCH (t:_Triple) WHERE t.attributes CONTAINS $text RETURN t.id", text=text)
        return sorted({row[0] for row in (*about, *named)})

    def named(self, keys: Sequence[str]) -> dict[str, list[str]]:
        return dict(self._look_up(f"{NAMES} RETURN n.id, n.entities", map(key, keys)))

    def merges(self) -> list[Merge]:
        return [Merge(*row) for row in self._ask(f"MATCH (m:_Merge) RETURN {MERGE} ORDER BY m.id")]

    def merged(self) -> Mapping[str, str]:
        if self._merged is None:
            self._merged = merged(self.merges())
        return self._merged

    def _look_up(self, query: str, ids: Any) -> list[list[Any]]:
        """All rows of an answer about nodes given by ``$ids``."""
        found: list[list[Any]] = []
        for some in chunks(list(ids), MANY):
            found += self._ask(query, ids=some)
        return found


def said(namings: list[list[Any]], statings: list[list[Any]]) -> Said:
    """Rows of ``NAMING`` and ``STATING``."""
    found = Said()
    for row in namings:
        found.add_naming(*row)
    for row in statings:
        found.add_stating(Stating(*row))
    return found
