"""What becomes of entities and triples when documents change: each that differs afterwards, before and after.

Whoever reads edges of many nodes asks ``UNWIND $ids AS x MATCH (n) WHERE n.id = x OPTIONAL MATCH (n)-[…]-()``. Without
OPTIONAL, Ladybug's planner joins with a scan of every edge there is (100 ids among 300,000 edges: 600 ms against 4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from graph.derive import Naming, Spelling, derive_naming, prevailing
from graph.encode import Statement
from graph.ladybug_said import Said, Stated
from graph.ladybug_session import Session
from graph.verify import Verified
from ontoloom.records import EntityRef, canonical_text

What = TypeVar("What")


class Typed(NamedTuple):
    """The type of an entity, and how it is named; None before it was."""

    type: str
    naming: Naming | None


class Ends(NamedTuple):
    """What never changes of a triple with its id."""

    subject: str
    subject_type: str
    relation: str
    object: str | None
    object_type: str | None
    value: str | None


@dataclass(frozen=True, slots=True)
class Revised(Generic[What]):
    """``before`` is None for what is new, ``after`` for what is gone; equal where only its documents differ."""

    before: What | None
    after: What | None


def read_types(session: Session, old: Said, put: Sequence[Verified]) -> dict[str, Typed]:
    """All entities that old or new documents name. Raises ValueError where one changes its type."""
    given = [(entity.id, entity.type) for one in put for entity in one.entities.values()]
    rows = session.look_up(
        "UNWIND $ids AS x MATCH (e:_Entity) WHERE e.id = x RETURN e.id, e.type, e.name, e.aliases, e.page",
        sorted({entity for entity, _ in given} | old.entities.keys()),
    )
    types = {row[0]: Typed(row[1], Naming(row[2], tuple(row[3]), row[4])) for row in rows}
    for entity, type_name in given:
        known = types.setdefault(entity, Typed(type_name, None)).type
        if known != type_name:
            raise ValueError(f"entity {entity!r} is a {known}, not a {type_name}")
    return types


def revise_entities(session: Session, old: Said, new: Said, types: Mapping[str, Typed]) -> dict[str, Revised[Naming]]:
    """The entities that differ once documents that said ``old`` say ``new``."""
    touched = [
        i for i in sorted(old.entities.keys() | new.entities.keys()) if old.entities.get(i) != new.entities.get(i)
    ]
    spellings = _count_spellings(session, [i for i in touched if types[i].naming is not None])
    revised = {}
    for entity in touched:
        was, now = old.entities.get(entity, {}), new.entities.get(entity, {})
        counts = spellings.get(entity, Counter[Spelling]())
        counts.subtract(was.values())
        counts.update(now.values())
        left = +counts
        change = Revised(types[entity].naming, derive_naming(left) if left else None)
        if change.before != change.after or was.keys() != now.keys():
            revised[entity] = change
    return revised


def revise_triples(session: Session, old: Said, new: Said) -> dict[str, Revised[Statement]]:
    """The triples that differ once documents that said ``old`` say ``new``."""
    touched = [i for i in sorted(old.triples.keys() | new.triples.keys()) if old.triples.get(i) != new.triples.get(i)]
    rows = session.look_up(
        "UNWIND $ids AS x MATCH (t:_Triple) WHERE t.id = x RETURN t.id, t.kind, t.attributes, t.identifying", touched
    )
    before: dict[str, Statement] = {row[0]: (row[1], row[2], row[3]) for row in rows}
    statements = _count_statements(session, list(before))
    revised = {}
    for triple in touched:
        was, now = old.triples.get(triple, {}), new.triples.get(triple, {})
        change = Revised(before.get(triple), _holding(statements.get(triple), was, now))
        evidence = [{d: stated.evidence for d, stated in side.items()} for side in (was, now)]
        if change.before != change.after or evidence[0] != evidence[1]:
            revised[triple] = change
    return revised


def _holding(
    stored: Counter[tuple[Statement, str | None]] | None, was: Mapping[str, Stated], now: Mapping[str, Stated]
) -> Statement | None:
    """The statement that holds, of those stored, less what documents said, and with what they say now."""
    if stored is None and len(now) == 1:  # most triples are new, and said by one document
        return next(iter(now.values())).statement
    counts = stored or Counter[tuple[Statement, str | None]]()
    counts.subtract((stated.statement, stated.page) for stated in was.values())
    counts.update((stated.statement, stated.page) for stated in now.values())
    left = +counts
    return prevailing(left)[0] if left else None


def _count_spellings(session: Session, ids: Sequence[str]) -> dict[str, Counter[Spelling]]:
    """How many documents spell each stored entity how."""
    spellings: dict[str, Counter[Spelling]] = {}
    for entity, name, aliases, page, documents in session.look_up(
        "UNWIND $ids AS x MATCH (e:_Entity) WHERE e.id = x OPTIONAL MATCH (e)<-[n:_NAMES]-(d:_Document) "
        "RETURN e.id, n.name, n.aliases, CASE WHEN n.defines THEN d.id END, count(*)",
        ids,
    ):
        spellings.setdefault(entity, Counter())[Spelling(name, tuple(aliases), page)] = documents
    return spellings


def _count_statements(session: Session, ids: Sequence[str]) -> dict[str, Counter[tuple[Statement, str | None]]]:
    """How many documents state each stored triple how."""
    statements: dict[str, Counter[tuple[Statement, str | None]]] = {}
    for triple, kind, attributes, identifying, page, documents in session.look_up(
        "UNWIND $ids AS x MATCH (t:_Triple) WHERE t.id = x OPTIONAL MATCH (t)-[v:_EVIDENCE]->(d:_Document) "
        "RETURN t.id, v.kind, v.attributes, v.identifying, CASE WHEN d.kind = 'page' THEN d.id END, "
        "count(DISTINCT d.id)",
        ids,
    ):
        statements.setdefault(triple, Counter())[(kind, attributes, identifying), page] = documents
    return statements


def read_ends(session: Session, ids: Sequence[str]) -> dict[str, Ends]:
    """The ends of stored triples."""
    rows = session.look_up(
        "UNWIND $ids AS x MATCH (t:_Triple) WHERE t.id = x "
        "RETURN t.id, t.subject, t.subject_type, t.relation, t.object, t.object_type, t.value",
        ids,
    )
    return {row[0]: Ends(*row[1:]) for row in rows}


def extracted_ends(extractions: Sequence[Verified], types: Mapping[str, Typed]) -> dict[str, Ends]:
    """The ends of the triples of extractions, given the types of their entities."""
    ends = {}
    for triple_id, triple in (pair for one in extractions for pair in one.triples.items()):
        target = triple.object.id if isinstance(triple.object, EntityRef) else None
        value = None if target else canonical_text(triple.object)
        subject_type, object_type = types[triple.subject].type, types[target].type if target else None
        ends[triple_id] = Ends(triple.subject, subject_type, triple.relation, target, object_type, value)
    return ends
