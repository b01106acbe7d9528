"""Looks for what is wrong in a store: what others wrote into its database, and what it should hold and does not.

Everything is worked out again from what documents said: their content hashes, the graph that follows from them
(``graph.recompute``), and what is known of the last change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from graph.copy import holding
from graph.digest import content_hash
from graph.encode import statement
from graph.recompute import Recomputed, recomputing
from graph.said import follow, map_triple
from graph.store import DocumentState, Fault, Store
from graph.verify import Verified
from ontoloom.errors import StoreError
from ontoloom.names import name_key
from ontoloom.progress import OnProgress, Progress, silent
from ontoloom.records import Entity, EntityRef, Extraction, Triple, canonical_text

READ = 500
"""Documents, entities or triples that are asked for at once."""
UNREADABLE = (StoreError, ValueError, LookupError, TypeError, AttributeError, pa.ArrowException)
"""What reading a store can come to in which others have written."""
INFORMATION = frozenset({"version-drift"})
"""Codes of what is good to know, and no fault."""


def inspect(store: Store, *, on_progress: OnProgress = silent) -> Iterator[Fault]:
    """Every fault that can be found, as it is found, each once. Those of ``INFORMATION`` are none."""
    seen: set[tuple[str, str]] = set()
    for fault in _inspect(store, on_progress):
        if (fault.code, fault.where) not in seen:
            seen.add((fault.code, fault.where))
            yield fault


def _inspect(store: Store, on_progress: OnProgress) -> Iterator[Fault]:
    on_progress(Progress("inspect the database", 0))
    yield from store.faults()
    yield from _inspect_log(store)
    versions: Counter[str] = Counter()
    with recomputing() as recomputed:
        yield from _inspect_documents(store, recomputed, versions, on_progress)
        on_progress(Progress("inspect the graph", 0))
        yield from _inspect_graph(store, recomputed)
    yield from _inspect_names(store, on_progress)
    for version, pieces in sorted(versions.items()):
        if version != store.ontology.stamp:
            message = f"{pieces:,} pieces of evidence rest on this ontology; it is {store.ontology.stamp} now"
            yield Fault("version-drift", version, message)


def _inspect_log(store: Store) -> Iterator[Fault]:
    numbers = [number for number, _ in store.change_times()]
    expected = list(range(1, store.last_change() + 1))
    if numbers != expected:
        where = min(set(numbers) ^ set(expected), default=0)
        yield Fault("broken-log", str(where), "the numbers of the change log are not 1, 2, 3 … to the last")


# Documents


def _inspect_documents(
    store: Store, recomputed: Recomputed, versions: Counter[str], on_progress: OnProgress
) -> Iterator[Fault]:
    """Faults of documents, one by one; hands on what they say with merges applied."""
    states, into = store.documents(), dict[str, str]()
    listed = list(states)
    try:
        into = _follow({merge.entity: merge.into for merge in holding(store)})
    except StoreError as error:
        yield Fault("merge-loop", error.message, "merges that hold lead back to where they began")
    done = 0
    for start in range(0, len(states), READ):
        ids = listed[start : start + READ]
        read, unreadable = _read(store, ids)
        yield from unreadable
        parts = [_by_id(extraction) for extraction in read]
        for one in parts:
            yield from _inspect_document(one, states[one.extraction.document.id])
            versions.update(piece.ontology_version for piece in one.evidence.values())
        recomputed.add("naming", [row for one in parts for row in _naming_rows(one, into)])
        recomputed.add("stating", [row for one in parts for row in _stating_rows(one, into)])
        done += len(ids)
        on_progress(Progress("inspect documents", done, len(states), ids[-1]))


def _follow(merged: Mapping[str, str]) -> dict[str, str]:
    """``graph.said.follow``, of merges that might go round in a circle. Raises StoreError with one that does."""
    for entity in merged:
        passed, at = {entity}, entity
        while at in merged:
            at = merged[at]
            if at in passed:
                raise StoreError(entity, code="merge-loop")
            passed.add(at)
    return follow(merged)


def _read(store: Store, ids: Sequence[str]) -> tuple[list[Extraction], list[Fault]]:
    """What documents said; where that cannot be read, the documents of which it can't."""
    try:
        found = list(store.extractions(ids))
    except UNREADABLE as error:
        if len(ids) == 1:
            message = f"it cannot be read: {type(error).__name__}: {' '.join(str(error).split())}"
            return [], [Fault("unreadable-document", ids[0], message)]
        halves = [_read(store, half) for half in (ids[: len(ids) // 2], ids[len(ids) // 2 :])]
        return [one for read, _ in halves for one in read], [fault for _, faults in halves for fault in faults]
    there = {extraction.document.id for extraction in found}
    return found, [Fault("unreadable-document", i, "it is listed, but not there") for i in ids if i not in there]


def _inspect_document(one: Verified, state: DocumentState) -> Iterator[Fault]:
    document = one.extraction.document
    if document.hash != state.hash:
        yield Fault("changed-document", document.id, "its text, title or sections are not what was written")
    elif content_hash(one) != state.said:
        yield Fault("changed-document", document.id, "what it says is not what was written")
    elif one.extraction.status != state.status:
        yield Fault("changed-document", document.id, f"it is {one.extraction.status}, its status {state.status}")
    for piece in one.evidence.values():
        where = f"{document.id}:{piece.start}-{piece.end}"
        if not 0 <= piece.start < piece.end <= len(document.text):
            yield Fault("evidence-outside-text", where, f"the text is {len(document.text)} long")
        if piece.triple not in one.triples:
            yield Fault("dangling-evidence", where, "it is evidence of a triple that the document does not state")


def _by_id(extraction: Extraction) -> Verified:
    """An extraction with its parts by id, whether or not the ontology of today admits it."""
    return Verified(
        extraction,
        {entity.id: entity for entity in extraction.entities},
        {triple.id: triple for triple in extraction.triples},
        {triple.id: statement(triple) for triple in extraction.triples},
        {piece.id: piece for piece in extraction.evidence},
        {claim.id: claim for claim in extraction.quarantined},
    )


def _naming_rows(one: Verified, into: Mapping[str, str]) -> Iterator[tuple[Any, ...]]:
    document = one.extraction.document.id
    for entity, e in one.entities.items():
        yield document, e.page == document, into.get(entity, entity), e.type, e.name, sorted(set(e.aliases))


def _stating_rows(one: Verified, into: Mapping[str, str]) -> Iterator[tuple[Any, ...]]:
    document, types = one.extraction.document, {entity: e.type for entity, e in one.entities.items()}
    held = {said: _stating(triple, types, into) for said, triple in one.triples.items()}
    for piece in one.evidence.values():
        if piece.triple in held:
            triple, *rest = held[piece.triple]
            place = piece.start, piece.end, float(piece.confidence)
            yield document.id, document.kind == "page", triple, piece.triple, *rest, *place


def _stating(triple: Triple, types: Mapping[str, str], into: Mapping[str, str]) -> tuple[Any, ...]:
    held, _ = map_triple(triple, into)
    ends: tuple[Any, ...] = (None, None, canonical_text(held.object))
    if isinstance(held.object, EntityRef) and isinstance(triple.object, EntityRef):
        ends = held.object.id, types.get(triple.object.id), None
    return held.id, held.subject, types.get(triple.subject), held.relation, *ends, *statement(held)


# The graph


def _inspect_graph(store: Store, recomputed: Recomputed) -> Iterator[Fault]:
    """What is known of the last change, and the graph, against what documents say."""
    last = store.last_change()
    try:
        for table, scan in (("naming", store.scan_namings), ("stating", store.scan_statings)):
            for document in recomputed.other_history(table, partial(scan, last)):
                yield Fault("wrong-history", document, f"what is known of change {last} is not what it says")
        for entity, wrong in recomputed.other_entities(store.scan_entities):
            yield _difference("entity", entity, wrong, "no document names it")
        for triple, wrong in recomputed.other_triples(partial(_scan_triples, store)):
            yield _difference("triple", triple, wrong, "no evidence is left of it")
        for triple in recomputed.loose_triples():
            yield Fault("loose-triple", triple, "its subject or its object is not in the graph")
    except UNREADABLE as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        yield Fault("unreadable-graph", "", f"entities and triples cannot be read: {reason}")


def _difference(kind: str, where: str, wrong: Sequence[str] | None, nothing: str) -> Fault:
    if wrong is None:
        return Fault({"entity": "orphan-entity", "triple": "triple-without-evidence"}[kind], where, nothing)
    if wrong == ["id"]:
        return Fault(f"missing-{kind}", where, "documents speak of it, and it is not there")
    return Fault(f"wrong-{kind}", where, f"another {', '.join(wrong)} than follows from what documents say")


def _scan_triples(store: Store) -> Iterator[pa.RecordBatch]:
    """All triples, with the kinds of their values and the attributes that are in their ids."""
    for batch in store.scan_triples(batch_rows=READ):
        ids = [str(triple) for triple in batch.column("id").to_pylist()]
        records = store.triples(ids)
        statements = [statement(records[i]) if i in records else ("", "", "") for i in ids]
        for name, place in (("kind", 0), ("identifying", 2)):
            batch = batch.append_column(name, pa.array([one[place] for one in statements], pa.string()))
        yield batch


def _inspect_names(store: Store, on_progress: OnProgress) -> Iterator[Fault]:
    """Every name leads to the entities that have it, and to no other."""
    done = 0
    for batch in store.scan_entities(batch_rows=READ):
        columns = (batch.column(name).to_pylist() for name in ("id", "name", "aliases"))
        keys = {entity: {name_key(n) for n in (name, *aliases)} for entity, name, aliases in zip(*columns, strict=True)}
        found = _named(store, sorted(set().union(*keys.values())))
        for entity, own in keys.items():
            for key in sorted(own):
                if entity not in {one.id for one in found.get(key, ())}:
                    yield Fault("wrong-name", entity, f"the name {key[:80]!r} does not lead to it")
        for key, entities in found.items():
            for one in entities:
                if key not in {name_key(name) for name in (one.name, *one.aliases)}:
                    yield Fault("wrong-name", one.id, f"{key[:80]!r} leads to it and is no name of it")
        done += len(keys)
        on_progress(Progress("inspect names", done))


def _named(store: Store, keys: Sequence[str]) -> dict[str, list[Entity]]:
    """``Store.named``, without the keys that cannot be followed."""
    try:
        return store.named(keys)
    except UNREADABLE:
        if len(keys) == 1:
            return {}
        middle = len(keys) // 2
        return _named(store, keys[:middle]) | _named(store, keys[middle:])
