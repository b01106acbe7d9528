"""What a transaction changes, whichever database holds the record: worked out before anything is written.

A store reads what is stored (``Reads``), asks ``replace``, ``merge`` or ``unmerge`` for the ``Revision`` that follows,
and writes its rows (``graph.revision_rows``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, Protocol, TypeVar

from graph.derive import Naming, Spelling, derive_naming, prevailing
from graph.digest import content_hash
from graph.encode import Statement
from graph.said import Ends, Key, Said, Stated, extracted_said, follow, map_triple, remap
from graph.store import Merge
from graph.verify import Verified
from ontoloom.errors import StoreError
from ontoloom.records import EntityRef, canonical_text

What = TypeVar("What")
Statements = Counter[tuple[Statement, str | None]]
"""How many documents state a triple how; each statement with its page's id, where a page makes it."""


class Typed(NamedTuple):
    """The type of an entity, and how it is named; None before it was."""

    type: str
    naming: Naming | None


class StoredDocument(NamedTuple):
    """``said`` is its ``content_hash``."""

    kind: str
    said: str


class Revised(NamedTuple, Generic[What]):
    """``before`` is None for what is new, ``after`` for what is gone; equal where only its documents differ."""

    before: What | None
    after: What | None


class Reads(Protocol):
    """What a transaction reads. Ids that are not stored are left out of every answer."""

    def stored(self, documents: Sequence[str]) -> dict[str, StoredDocument]: ...

    def said_by(self, documents: Mapping[str, StoredDocument]) -> Said:
        """All that documents say."""

    def said_of(self, entities: Sequence[str], triples: Sequence[str]) -> Said:
        """How all documents name entities, and what they state of triples."""

    def typed(self, entities: Sequence[str]) -> dict[str, Typed]: ...

    def spellings(self, entities: Sequence[str]) -> dict[str, Counter[Spelling]]:
        """How many namings of each entity spell it how."""

    def stated(self, triples: Sequence[str]) -> dict[str, Statement]:
        """The statement that holds of each triple."""

    def statements(self, triples: Sequence[str]) -> dict[str, Statements]:
        """How often each triple is stated how: once for each document and triple as said."""

    def ends(self, triples: Sequence[str]) -> dict[str, Ends]: ...

    def triples_of(self, entity: str) -> list[str]:
        """The triples that speak of an entity: as subject, as object or in an attribute."""

    def named(self, keys: Sequence[str]) -> dict[str, list[str]]:
        """Entities by name key."""

    def merged(self) -> Mapping[str, str]:
        """What each merged entity was merged into, for the merges that hold."""


@dataclass(frozen=True, slots=True)
class Revision:
    """All that one transaction changes.

    ``put`` is by content hash, which the store keeps to tell what it is given again. All edges of the documents in
    ``known`` go, as do those of ``cleared`` entities and triples; ``said`` holds the edges that come, ``before`` those
    that were. ``removed`` are the documents that go altogether.
    """

    number: int
    put: Mapping[str, Verified] = field(default_factory=dict)
    known: Sequence[str] = ()
    removed: Sequence[str] = ()
    cleared_entities: Sequence[str] = ()
    cleared_triples: Sequence[str] = ()
    before: Said = field(default_factory=Said)
    said: Said = field(default_factory=Said)
    types: Mapping[str, Typed] = field(default_factory=dict)
    entities: Mapping[str, Revised[Naming]] = field(default_factory=dict)
    triples: Mapping[str, Revised[Statement]] = field(default_factory=dict)
    ends: Mapping[str, Ends] = field(default_factory=dict)
    names: Mapping[str, tuple[list[str], list[str]]] = field(default_factory=dict)
    """By name key that leads elsewhere than it did: the entities that it led to, and those that it leads to now."""
    merge: Merge | None = None
    """The merge that is made, or, with ``undone``, taken back."""

    @property
    def size(self) -> int:
        """About how many rows it brings."""
        refused = sum(len(one.quarantined) for one in self.put.values())
        return 5 * len(self.triples) + 4 * len(self.entities) + 2 * refused + len(self.put)


def replace(reads: Reads, number: int, put: Sequence[Verified], remove: Sequence[str]) -> Revision | None:
    """What change ``number`` comes to that puts and removes documents; None where nothing differs.

    Raises StoreError for a document to remove that isn't there, ValueError for an entity that changes its type.
    """
    given = {content_hash(one): one for one in put}
    removed = sorted(set(remove))
    stored = reads.stored([*(one.extraction.document.id for one in put), *removed])
    for document in removed:
        if document not in stored:
            raise StoreError(f"there is no document '{document}' in the store", code="unknown-document")
    same = {document.said for document in stored.values()}
    given = {said: one for said, one in given.items() if said not in same}
    if not given and not removed:
        return None
    changed = [*(one.extraction.document.id for one in given.values()), *removed]
    known = {document: stored[document] for document in changed if document in stored}
    into = follow(reads.merged())
    old = reads.said_by(known) if known else Said()
    new = extracted_said(list(given.values()), into)
    types = read_types(reads, old, list(given.values()), into)
    triples = revise_triples(reads, old, new)
    ends = extracted_ends(list(given.values()), types, into)
    told = triples.keys() | {t for t, stated in old.triples.items() if stated != new.triples.get(t)}
    ends = {t: ends[t] for t in told if t in ends} | reads.ends(sorted(told - ends.keys()))
    entities = revise_entities(reads, old, new, types)
    return Revision(
        number,
        put=given,
        known=list(known),
        removed=removed,
        before=old,
        said=new,
        types=types,
        entities=entities,
        triples=triples,
        ends=ends,
        names=revise_names(reads, entities),
    )


# Merges


def merge(reads: Reads, number: int, entity: str, into: str, reason: str) -> Revision:
    """What change ``number`` comes to that merges an entity into another. Raises StoreError where it cannot be."""
    types = reads.typed([entity, into])
    for one in (entity, into):
        if one not in types:
            raise StoreError(f"there is no entity '{one}' in the store", code="unknown-entity")
    if entity == into:
        raise StoreError(f"entity '{entity}' cannot be merged into itself", code="merge-same")
    if types[entity].type != types[into].type:
        message = f"a {types[entity].type} cannot be merged into a {types[into].type}"
        raise StoreError(message, hint="only entities of one type can be the same", code="merge-types")
    naming = types[entity].naming
    assert naming is not None, "stored entities have a name"
    made = Merge(entity, into, types[entity].type, naming.name, reason, number)
    return _move(reads, made, [entity, into], {**reads.merged(), entity: into}, types)


def unmerge(reads: Reads, number: int, made: Merge) -> Revision:
    """What change ``number`` comes to that takes back a merge that holds."""
    merged = dict(reads.merged())
    holder = follow(merged)[made.entity]
    del merged[made.entity]
    undone = Merge(made.entity, made.into, made.type, made.name, made.reason, made.made, undone=number)
    types = reads.typed([holder]) | {made.entity: Typed(made.type, None)}
    return _move(reads, undone, [holder], merged, types)


def merged(merges: Sequence[Merge]) -> dict[str, str]:
    """What each merged entity was merged into, for the merges that hold."""
    return {one.entity: one.into for one in merges if one.undone is None}


def holding(merges: Sequence[Merge], entity: str) -> Merge:
    """The merge of an entity that holds. Raises StoreError where there is none."""
    for one in merges:
        if one.entity == entity and one.undone is None:
            return one
    raise StoreError(f"entity '{entity}' is not merged into another", code="not-merged")


def _move(
    reads: Reads, change: Merge, of: Sequence[str], merged: Mapping[str, str], types: Mapping[str, Typed]
) -> Revision:
    """Moves the edges of entities, and of triples that speak of them, to where they belong once entities are merged."""
    number = change.made if change.undone is None else change.undone
    into = follow(merged)
    touched = sorted({triple for entity in of for triple in reads.triples_of(entity)})
    old = reads.said_of(of, touched)
    new, new_ends = remap(old, reads.ends(touched), into)
    moved = _differing(old.triples, new.triples)
    old = Said(old.entities, {t: old.triples[t] for t in moved if t in old.triples}, old.since)
    new = Said(new.entities, {t: new.triples[t] for t in moved if t in new.triples}, old.since)
    entities = revise_entities(reads, old, new, types)
    ends = reads.ends([t for t in moved if t in old.triples]) | {t: new_ends[t] for t in moved if t in new_ends}
    return Revision(
        number,
        cleared_entities=[e for e in of if e in old.entities],
        cleared_triples=[t for t in moved if t in old.triples],
        before=old,
        said=new,
        types=types,
        entities=entities,
        triples=revise_triples(reads, old, new),
        ends=ends,
        names=revise_names(reads, entities),
        merge=change,
    )


# What follows


def read_types(reads: Reads, old: Said, put: Sequence[Verified], into: Mapping[str, str]) -> dict[str, Typed]:
    """All entities that old or new documents name. Raises ValueError where one changes its type."""
    given = [(into.get(e.id, e.id), e.type) for one in put for e in one.entities.values()]
    types = reads.typed(sorted({entity for entity, _ in given} | old.entities.keys()))
    for entity, type_name in given:
        known = types.setdefault(entity, Typed(type_name, None)).type
        if known != type_name:
            raise ValueError(f"entity {entity!r} is a {known}, not a {type_name}")
    return types


def revise_entities(reads: Reads, old: Said, new: Said, types: Mapping[str, Typed]) -> dict[str, Revised[Naming]]:
    """The entities that differ once documents that said ``old`` say ``new``."""
    touched = _differing(old.entities, new.entities)
    settled = {i for i in touched if _confirms(types[i].naming, old.entities.get(i), new.entities.get(i, {}))}
    spellings = reads.spellings([i for i in touched if types[i].naming is not None and i not in settled])
    revised = {}
    for entity in touched:
        was, now, known = old.entities.get(entity, {}), new.entities.get(entity, {}), types[entity].naming
        change = Revised(known, known if entity in settled else _naming(spellings.get(entity), was, now))
        if change.before != change.after or _documents(was) != _documents(now):
            revised[entity] = change
    return revised


def _confirms(known: Naming | None, was: Mapping[Key, Spelling] | None, now: Mapping[Key, Spelling]) -> bool:
    """Whether documents that named an entity not at all before now name it as it is known already.

    Most do, and nothing follows from how many they are: what most documents say only gets more.
    """
    if known is None or was:
        return False
    every = {known.name, *known.aliases}
    names = every if known.page is not None else {known.name}  # a page's word holds whatever others say
    return all(s.page is None and s.name in names and every.issuperset(s.aliases) for s in now.values())


def _naming(
    stored: Counter[Spelling] | None, was: Mapping[Key, Spelling], now: Mapping[Key, Spelling]
) -> Naming | None:
    """The naming that follows from the spellings stored, less those that were, and with those that are now."""
    if stored is None and len(now) == 1:  # most new entities are named by one document
        ((name, aliases, page),) = now.values()
        return Naming(name, tuple(sorted({*aliases} - {name})), page)
    counts = stored or Counter[Spelling]()
    counts.subtract(was.values())
    counts.update(now.values())
    left = +counts
    return derive_naming(left) if left else None


def _differing(old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    """The keys whose values differ, sorted."""
    return sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key)) if old else sorted(new)


def _documents(keys: Iterable[Key]) -> set[str]:
    return {document for document, _ in keys}


def revise_triples(reads: Reads, old: Said, new: Said) -> dict[str, Revised[Statement]]:
    """The triples that differ once documents that said ``old`` say ``new``."""
    touched = _differing(old.triples, new.triples)
    before = reads.stated(touched)
    statements = reads.statements(list(before))
    revised = {}
    for triple in touched:
        was, now = old.triples.get(triple, {}), new.triples.get(triple, {})
        change = Revised(before.get(triple), _holding(statements.get(triple), was, now))
        if change.before != change.after or _evidence(was) != _evidence(now):
            revised[triple] = change
    return revised


def _evidence(said: Mapping[Key, Stated]) -> set[object]:
    return {piece for stated in said.values() for piece in stated.evidence.values()}


def _holding(stored: Statements | None, was: Mapping[Key, Stated], now: Mapping[Key, Stated]) -> Statement | None:
    """The statement that holds, of those stored, less what documents said, and with what they say now."""
    if stored is None and len(now) == 1:  # most triples are new, and said by one document
        return next(iter(now.values())).statement
    counts = stored or Statements()
    counts.subtract((stated.statement, stated.page) for stated in was.values())
    counts.update((stated.statement, stated.page) for stated in now.values())
    left = +counts
    return prevailing(left)[0] if left else None


def revise_names(reads: Reads, entities: Mapping[str, Revised[Naming]]) -> dict[str, tuple[list[str], list[str]]]:
    """The name keys that lead elsewhere once entities are named anew."""
    gained: dict[str, set[str]] = {}
    lost: dict[str, set[str]] = {}
    for entity, revised in entities.items():
        before = revised.before.keys() if revised.before else set()
        after = revised.after.keys() if revised.after else set()
        for key in after - before:
            gained.setdefault(key, set()).add(entity)
        for key in before - after:
            lost.setdefault(key, set()).add(entity)
    keys = sorted(gained.keys() | lost.keys())
    stored = reads.named(keys)
    return {
        key: (stored.get(key, []), sorted((set(stored.get(key, ())) - lost.get(key, set())) | gained.get(key, set())))
        for key in keys
    }


def extracted_ends(
    extractions: Sequence[Verified], types: Mapping[str, Typed], into: Mapping[str, str]
) -> dict[str, Ends]:
    """The ends of the triples of extractions, by id in the graph, given the types of their entities."""
    ends = {}
    for triple_id, triple in (pair for one in extractions for pair in one.triples.items()):
        held_id = triple_id
        if into:
            triple, said = map_triple(triple, into)
            held_id = triple_id if said is None else triple.id
        target = triple.object.id if isinstance(triple.object, EntityRef) else None
        value = None if target else canonical_text(triple.object)
        object_type = types[target].type if target else None
        ends[held_id] = Ends(triple.subject, types[triple.subject].type, triple.relation, target, object_type, value)
    return ends
