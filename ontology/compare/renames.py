"""Which of the names that are gone were perhaps given to something that is new: a guess, for people to decide on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import TypeVar

from ontology.schema import Attribute, Described, EntityType, Relation
from ontoloom.names import name_key

Thing = TypeVar("Thing", bound=Described)


def guess_renames(
    removed: Mapping[str, Thing],
    added: Mapping[str, Thing],
    same_shape: Callable[[Thing, Thing], bool] = lambda _one, _other: True,
) -> dict[str, str]:
    """Removed names with the added one that each has become, perhaps; none is named twice.

    Two are perhaps one where they have the same shape and besides words for each other, the same description or, for
    want of these, similar names. The strongest signs are followed first.
    """
    words = {id(one): _words(name, one) for name, one in (*removed.items(), *added.items())}
    folded = {name.casefold(): name for name in added}
    signs = []
    for name, one in removed.items():
        told = [(_sign(one, other, words[id(one)], words[id(other)]), to) for to, other in added.items()]
        told = [(sign, to) for sign, to in told if sign and same_shape(one, added[to])]
        if not told:
            near = get_close_matches(name.casefold(), list(folded), n=3, cutoff=0.6)
            told = [(3, folded[to]) for to in near if same_shape(one, added[folded[to]])]
        signs += [(sign, name, to) for sign, to in told]
    found: dict[str, str] = {}
    taken: set[str] = set()
    for _, name, to in sorted(signs):
        if name not in found and to not in taken:
            found[name] = to
            taken.add(to)
    return found


def _words(name: str, one: Described) -> list[str]:
    """The key of the name, then those of the synonyms."""
    return [name_key(word) for word in (name, *one.synonyms)]


def _sign(one: Described, other: Described, words: Sequence[str], other_words: Sequence[str]) -> int:
    """How strong a sign there is beside the names: 1 for the strongest, 0 for none."""
    if words[0] in other_words or other_words[0] in words:
        return 1
    shared = any(word in other_words for word in words)
    return 2 if shared or (one.description and one.description == other.description) else 0


def same_attribute_shape(one: Attribute, other: Attribute) -> bool:
    """Whether what one attribute holds could be what the other holds."""
    alike = (one.type, one.many, one.unit, one.identifying) == (other.type, other.many, other.unit, other.identifying)
    return alike and overlap({v.name for v in one.values}, {v.name for v in other.values})


def same_type_shape(one: EntityType, other: EntityType) -> bool:
    """Whether two types have about the same attributes."""
    return one.abstract == other.abstract and overlap(set(one.attributes), set(other.attributes))


def same_relation_shape(renamed: Mapping[str, str]) -> Callable[[Relation, Relation], bool]:
    """Whether two relations have about the same ends, types being perhaps renamed."""

    def same(one: Relation, other: Relation) -> bool:
        ends = ((one.domain, other.domain), (one.range, other.range))
        return all(overlap({renamed.get(t, t) for t in types}, set(others)) for types, others in ends)

    return same


def overlap(one: Collection[str], other: Collection[str]) -> bool:
    """Whether two sets have at least half of their elements in common; two empty ones have."""
    return 2 * len(set(one) & set(other)) >= len(set(one) | set(other))
