"""What has changed between two ontologies, what of it breaks pages, claims or queries, and which version it demands.

The kinds of change, and why each breaks something or does not, are in ``docs/diff.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ontology.compare.entity_types import compare_types
from ontology.compare.relations import compare_relations
from ontology.compare.renames import guess_renames, same_type_shape
from ontology.compare.rules import Change, change
from ontology.compare.versions import STEPS, Step, is_enough, raised, read_version, shift
from ontology.findings import shown
from ontology.schema import Ontology


@dataclass(frozen=True, slots=True)
class Difference:
    """All changes from one ontology to another, sorted by where they are and by kind.

    ``old_version`` and ``new_version`` are what the ontologies state.
    """

    name: str
    old_version: str
    new_version: str
    changes: tuple[Change, ...]

    @property
    def breaking(self) -> tuple[Change, ...]:
        """Those that break something."""
        return tuple(change for change in self.changes if change.breaking)

    @property
    def step(self) -> Step:
        """The part of the version that is to be raised. Below 1.0.0 it is ``minor`` for what breaks, else ``patch``."""
        strongest = max((STEPS.index(change.step) for change in self.changes), default=0)
        return shift(STEPS[strongest], read_version(self.old_version))

    @property
    def least(self) -> str:
        """The lowest version, early ones aside, that the new ontology may have."""
        return str(raised(read_version(self.old_version), self.step))

    @property
    def enough(self) -> bool:
        """Whether the new ontology's version is raised by the step, or by more."""
        return is_enough(read_version(self.old_version), read_version(self.new_version), self.step)

    @property
    def shortfall(self) -> str:
        """Why the version is not enough, and what would be; empty where it is."""
        if self.enough:
            return ""
        if read_version(self.new_version).order() < read_version(self.old_version).order():
            return f"version {self.new_version} is before {self.old_version}; write {self.least} or later"
        count = len(self.breaking)
        why = f"{count} breaking change{'s' * (count != 1)}" if count else "what has changed"
        rise = "is not raised" if self.new_version == self.old_version else f"raises {self.old_version} too little"
        return f"version {self.new_version} {rise} for {why}; write {self.least} or later"


def diff(old: Ontology, new: Ontology) -> Difference:
    """What has changed from ``old`` to ``new``.

    Order means nothing, nor does by which of several ways the same is said (a mixin that is inherited anyway, a key of
    one attribute or a unique one). What a type inherits is reported where it is declared.
    """
    removed = {name: one for name, one in old.types.items() if name not in new.types}
    added = {name: one for name, one in new.types.items() if name not in old.types}
    renames = guess_renames(removed, added, same_type_shape)
    changes = [
        *_compare_whole(old, new),
        *compare_types(old, new, renames),
        *compare_relations(old, new, renames),
    ]
    ordered = sorted(changes, key=lambda one: (one.where.casefold(), one.where, one.kind, one.message))
    return Difference(new.name, old.version, new.version, tuple(ordered))


def _compare_whole(old: Ontology, new: Ontology) -> Iterator[Change]:
    """What is said of the ontology itself."""
    where = new.name
    if old.name != new.name:
        yield change("ontology-renamed", where, f"was {old.name}")
    if old.version != new.version:
        yield change("version-changed", where, f"was {old.version}, is {new.version}")
    if old.description != new.description:
        was, now = (shown(text) if text else "none" for text in (old.description, new.description))
        yield change("ontology-described", where, f"was {was}, is {now}")
    if set(old.imports) != set(new.imports):
        parts = [f"no more {name}" for name in old.imports if name not in new.imports]
        parts += [f"now {name}" for name in new.imports if name not in old.imports]
        yield change("imports-changed", where, ", ".join(parts))
