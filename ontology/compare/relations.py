"""How the relations of two ontologies differ: their ends, how many there may be, what follows from them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from ontology.compare.attributes import Found, compare_attributes, compare_labels, compare_limits
from ontology.compare.renames import guess_renames, same_relation_shape
from ontology.compare.rules import Change, Touches, change
from ontology.relations import FLAGS
from ontology.schema import Cardinality, Ontology, Relation

MEANS = {
    "symmetric": "it holds both ways",
    "asymmetric": "it never holds both ways",
    "transitive": "what is reached in several steps is reached",
    "acyclic": "it never leads back",
}


class End(NamedTuple):
    """One end of a relation, and how many there are at the other end of one thing."""

    name: Literal["domain", "range"]
    counted: Literal["objects", "subjects"]
    verb: str


ENDS = (End("domain", "objects", "start at"), End("range", "subjects", "lead to"))


def compare_relations(old: Ontology, new: Ontology, renamed_types: Mapping[str, str]) -> Iterator[Change]:
    """All differences of relations. ``renamed_types`` are removed types with what they were perhaps renamed to."""
    kept = [name for name in old.types if name in new.types]
    removed = {name: one for name, one in old.relations.items() if name not in new.relations}
    added = {name: one for name, one in new.relations.items() if name not in old.relations}
    renames = guess_renames(removed, added, same_relation_shape(renamed_types))
    inverses = {r.inverse: name for name, r in new.relations.items() if r.inverse}
    for name, relation in removed.items():
        hint = f"perhaps renamed to '{renames[name]}': write a migration" if name in renames else ""
        if name in inverses:
            hint = f"it is the inverse of '{inverses[name]}' now: write a migration"
        yield change("relation-removed", name, f"was {ends(relation)}", hint=hint, touches=Touches(relation=name))
    for name, relation in added.items():
        yield change("relation-added", name, f"is {ends(relation)}", names=(name,))
        for end in ENDS:
            yield from _compare_least(None, relation, end, kept)
    for name, relation in old.relations.items():
        if name in new.relations and relation != new.relations[name]:
            yield from _compare_relation(relation, new.relations[name], kept)


def ends(relation: Relation) -> str:
    """From which types to which, the subtypes of those that it names included: ``from Model to Paper or Venue``."""
    return f"from {' or '.join(relation.domain)} to {' or '.join(relation.range)}"


def _compare_relation(old: Relation, new: Relation, kept: Sequence[str]) -> Iterator[Change]:
    name = old.name
    for end in ENDS:
        yield from _compare_end(old, new, end, kept)
    found = [
        *compare_labels(old, new, ""),
        *_compare_inverse(old, new),
        *_compare_rules(old, new),
        *compare_attributes(old.attributes, new.attributes, kept),
    ]
    for one in found:
        where = f"{name}.{one.path}" if one.path else name
        touches = Touches(relation=name, attribute=one.attribute, value=one.value, lacking=one.lacking)
        if one.kind == "required-attribute-added":  # which no triple has
            touches = Touches(relation=name)
        yield change(
            one.kind, where, one.message, hint=one.hint, touches=touches, names=(name,), of_relation=bool(one.attribute)
        )


def _compare_end(old: Relation, new: Relation, end: End, kept: Collection[str]) -> Iterator[Change]:
    """The types at an end, and how many there are at the other. Types that are gone or new are reported themselves."""
    name = old.name
    before, after = _types(old, end), _types(new, end)
    lost = tuple(t for t in before if t in kept and t not in after)
    gained = tuple(t for t in after if t in kept and t not in before)
    if lost:
        yield change(
            f"{end.name}-narrowed", name, f"may not {end.verb} {' or '.join(lost)}", touches=_at(end, name, lost)
        )
    if gained:
        message = f"may {end.verb} {' or '.join(gained)}"
        yield change(f"{end.name}-widened", name, message, names=(name,), types=gained)
    yield from _compare_least(old, new, end, kept)
    for one in compare_limits(
        f"most-{end.counted}", "", _counts(old, end).most, _counts(new, end).most, none="any number"
    ):
        yield change(one.kind, name, one.message, touches=Touches(relation=name))


def _compare_least(old: Relation | None, new: Relation, end: End, kept: Collection[str]) -> Iterator[Change]:
    """How many there must be, for the types that both ontologies have: where they come to an end, too."""
    now = _counts(new, end).least
    after = _types(new, end)
    groups: dict[int, list[str]] = {}
    for one in after:
        if one in kept:
            stood = old is not None and one in _types(old, end)
            groups.setdefault(_counts(old, end).least if old is not None and stood else 0, []).append(one)
    for was, types in groups.items():
        for found in compare_limits(f"fewest-{end.counted}", "", was, now):
            whose = "" if len(types) == len(after) else f" for {' and '.join(types)}"
            touches = Touches(types=tuple(types))
            if old is not None and now == 1:  # else those that have some may have too few
                touches = _at(end, new.name, tuple(types), lacking=True)
            yield change(found.kind, new.name, found.message + whose, touches=touches)


def _at(end: End, relation: str, types: tuple[str, ...], *, lacking: bool = False) -> Touches:
    if end.name == "domain":
        return Touches(relation=relation, subjects=types, lacking=lacking)
    return Touches(relation=relation, objects=types, lacking=lacking)


def _compare_inverse(old: Relation, new: Relation) -> Iterator[Found]:
    if old.inverse != new.inverse:
        kind = "changed" if old.inverse and new.inverse else "added" if new.inverse else "removed"
        yield Found(f"inverse-{kind}", "", f"was {old.inverse or 'none'}, is {new.inverse or 'none'}")


def _compare_rules(old: Relation, new: Relation) -> Iterator[Found]:
    """Flags, and what happens where documents give more objects than there may be."""
    for flag in FLAGS:
        if getattr(old, flag) != getattr(new, flag):
            kind = "added" if getattr(new, flag) else "removed"
            yield Found(f"{flag}-{kind}", "", MEANS[flag] if kind == "added" else f"not any more that {MEANS[flag]}")
    if old.conflict != new.conflict:
        kind = "conflict-loosened" if old.conflict == "error" else "conflict-changed"
        yield Found(kind, "", f"was {old.conflict}, is {new.conflict}")


def _types(relation: Relation, end: End) -> tuple[str, ...]:
    return relation.domain if end.name == "domain" else relation.range


def _counts(relation: Relation, end: End) -> Cardinality:
    return relation.objects if end.name == "domain" else relation.subjects
