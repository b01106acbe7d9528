"""Moves what documents said from one place to another store, a few documents at a time: the graph follows from it.

What was moved before is found there and left alone, so that a copy that was cut off goes on when it is started again.
The past of the source is not moved: the changes of the target are its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from graph.store import Merge, Store
from ontoloom.errors import StoreError
from ontoloom.progress import OnProgress, Progress, silent
from ontoloom.records import Document, Entity, Extraction

ROWS = 50_000
"""Triples and pieces of evidence that are written in one transaction."""
CHARACTERS = 20_000_000
"""Code points of text that are written in one transaction."""
READ = 1_000
"""Documents that are read from a store at once."""


class Source(Protocol):
    """Where a graph comes from: a store, or a file."""

    def said(self) -> dict[str, str]:
        """The content hash of each document (``DocumentState.said``)."""

    def extractions(self, documents: Sequence[str]) -> Iterator[Extraction]:
        """What documents said; their ids are given in order."""

    def merges(self) -> list[Merge]:
        """The merges that hold, in the order in which they were made."""

    def digest(self) -> str:
        """The digest that a store has once all of it is there."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy came to. ``unchanged`` documents were there already, ``removed`` ones are not in the source."""

    written: int
    unchanged: int
    removed: int
    merges: int
    digest: str


def copy(source: Store, target: Store, *, replace: bool = False, on_progress: OnProgress = silent) -> Copied:
    """Makes the graph in ``target`` that of ``source``, and compares their digests.

    Documents and merges of the target that the source does not have, or has otherwise, are an error before anything is
    written; with ``replace`` they make way. Raises StoreError also where the source changes meanwhile.
    """
    last = source.last_change()
    copied = transfer(StoreSource(source), target, replace=replace, on_progress=on_progress)
    if source.last_change() != last:
        raise StoreError("the source changed while it was copied", hint="copy again", code="copy-moving")
    return copied


@dataclass(frozen=True, slots=True)
class StoreSource:
    """An open store as a ``Source``."""

    store: Store

    def said(self) -> dict[str, str]:
        return {document: state.said for document, state in self.store.documents().items()}

    def extractions(self, documents: Sequence[str]) -> Iterator[Extraction]:
        for start in range(0, len(documents), READ):
            yield from self.store.extractions(documents[start : start + READ])

    def merges(self) -> list[Merge]:
        return holding(self.store)

    def digest(self) -> str:
        return self.store.digest()


def holding(store: Store) -> list[Merge]:
    """The merges that hold, in the order in which they were made."""
    return [merge for merge in store.merges() if merge.undone is None]


@dataclass(frozen=True, slots=True)
class Plan:
    """What lies between a source and a target. Documents are ids; ``surplus`` and ``undone`` are only in the target."""

    missing: list[str]
    differing: list[str]
    unchanged: int
    surplus: list[str]
    merges: int
    """How many merges are to be made."""
    undone: list[Merge]


def compare(source: Source, target: Store) -> Plan:
    """What ``transfer`` would do. Nothing is changed."""
    said, there, merges = source.said(), StoreSource(target).said(), source.merges()
    wanted, held = {(m.entity, m.into) for m in merges}, holding(target)
    return Plan(
        missing=sorted(said.keys() - there.keys()),
        differing=sorted(d for d in said.keys() & there.keys() if there[d] != said[d]),
        unchanged=sum(there.get(document) == content for document, content in said.items()),
        surplus=sorted(there.keys() - said.keys() - {_scaffold_id(said)}),
        merges=len(merges) - _prefix(merges, held),
        undone=[merge for merge in held if (merge.entity, merge.into) not in wanted],
    )


def transfer(source: Source, target: Store, *, replace: bool, on_progress: OnProgress = silent) -> Copied:
    """``copy``, from anything that can tell what documents said."""
    plan, scaffold = compare(source, target), _scaffold_id(source.said())
    if not replace:
        _refuse_other_content(plan)
    surplus = plan.surplus + [scaffold] * (target.document(scaffold) is not None)
    for start in range(0, len(surplus), READ):
        target.delete(surplus[start : start + READ])
    for merge in reversed(plan.undone):
        target.unmerge(merge.entity)
    written = sorted(plan.missing + plan.differing)
    _write(source.extractions(written), target, len(written), on_progress)
    merges = _merge(source.merges(), target, scaffold, on_progress)
    on_progress(Progress("compare digests", 0, 1))
    digest = target.digest()
    if digest != source.digest():
        hint = "look for the fault in both: ontoloom store verify"
        raise StoreError("the copy differs from its source", hint=hint, code="copy-differs")
    on_progress(Progress("compare digests", 1, 1))
    return Copied(len(written), plan.unchanged, len(plan.surplus), merges, digest)


def _refuse_other_content(plan: Plan) -> None:
    found = [
        (plan.surplus, "document that the source does not have, '{}'"),
        (plan.differing, "document that says something else in the source, '{}'"),
        ([merge.name for merge in plan.undone], "merge that the source does not have, of '{}'"),
    ]
    for names, what in found:
        if names:
            more = f", and {len(names) - 1:,} more" if len(names) > 1 else ""
            hint = "copy with --replace to have the source's alone, or into an empty store"
            raise StoreError(f"the target holds a {what.format(names[0])}{more}", hint=hint, code="copy-other-content")


def _write(extractions: Iterable[Extraction], target: Store, total: int, on_progress: OnProgress) -> None:
    done = 0
    on_progress(Progress("copy documents", 0, total))
    for batch in _batches(extractions):
        try:
            target.write(batch)
        except ValueError as error:  # what the source holds was written under another ontology
            hint = "open both stores under the ontology that the documents were read with, or ingest them again"
            raise StoreError(f"the target's ontology does not admit {error}", hint=hint, code="copy-ontology") from None
        done += len(batch)
        on_progress(Progress("copy documents", done, total, batch[-1].document.id))


def _batches(extractions: Iterable[Extraction]) -> Iterator[list[Extraction]]:
    """Whole documents, as many as a transaction takes well."""
    batch: list[Extraction] = []
    rows = characters = 0
    for extraction in extractions:
        batch.append(extraction)
        rows += len(extraction.triples) + len(extraction.evidence) + len(extraction.entities) + 1
        characters += len(extraction.document.text)
        if rows >= ROWS or characters >= CHARACTERS:
            yield batch
            batch, rows, characters = [], 0, 0
    if batch:
        yield batch


# Merges


def _merge(merges: Sequence[Merge], target: Store, scaffold: str, on_progress: OnProgress) -> int:
    """Makes the merges that are not there, in order.

    A merge may be of entities that no document names any more: a document that does is there for as long as it takes.
    """
    missing = merges[_undo_to_prefix(merges, target) :]
    types = {entity: merge.type for merge in missing for entity in (merge.entity, merge.into)}
    unknown = types.keys() - target.entities(sorted(types)).keys()
    if unknown:
        names = {merge.entity: merge.name for merge in missing}
        entities = tuple(Entity(entity, types[entity], names.get(entity, entity)) for entity in sorted(unknown))
        text = "Names what merges are of."
        target.write([Extraction(Document(scaffold, scaffold, scaffold, text, ()), entities)])
    for done, merge in enumerate(missing):
        on_progress(Progress("copy merges", done, len(missing), merge.name))
        target.merge(merge.entity, merge.into, reason=merge.reason)
    if unknown:
        target.delete([scaffold])
    on_progress(Progress("copy merges", len(missing), len(missing)))
    return len(missing)


def _undo_to_prefix(merges: Sequence[Merge], target: Store) -> int:
    """Takes back what was merged out of order, for merges can be made in their own order alone; says how many hold."""
    held = holding(target)
    kept = {merge.entity for merge in merges[: _prefix(merges, held)]}
    for merge in reversed(held):
        if merge.entity not in kept:
            target.unmerge(merge.entity)
    return len(kept)


def _prefix(merges: Sequence[Merge], held: Sequence[Merge]) -> int:
    """How many merges, from the first, are among those that hold."""
    pairs = {(merge.entity, merge.into) for merge in held}
    return next((n for n, merge in enumerate(merges) if (merge.entity, merge.into) not in pairs), len(merges))


def _scaffold_id(documents: Iterable[str]) -> str:
    """The same whenever the same documents are copied, and none of them."""
    known, name = set(documents), "(merges that are being copied)"
    while name in known:
        name += "'"
    return name
