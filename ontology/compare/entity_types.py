"""How the types of two ontologies differ. What a type has from another is reported where it comes from, once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from ontology.compare.attributes import Found, compare_attributes, compare_labels
from ontology.compare.rules import Change, Touches, change
from ontology.schema import EntityType, Ontology

Key = tuple[str, ...]


def compare_types(old: Ontology, new: Ontology, renames: Mapping[str, str]) -> Iterator[Change]:
    """All differences of types. ``renames`` are removed types with what they were perhaps renamed to."""
    for name in old.types:
        if name not in new.types:
            hint = f"perhaps renamed to '{renames[name]}': write a migration" if name in renames else ""
            touches = Touches(types=old.subtypes(name))
            yield change("type-removed", name, f"was {_kind(old, name)}", hint=hint, touches=touches)
    for name in new.types:
        if name not in old.types:
            yield change("type-added", name, f"is {_kind(new, name)}{_ends(new, name)}", types=(name,))
    kept = [name for name in old.types if name in new.types]
    inherited: dict[Found, list[str]] = {}
    for name in kept:
        before, after = old.types[name], new.types[name]
        for found in [*compare_labels(before, after, ""), *_compare_abstract(before, after)]:
            touches = Touches(types=(name,))
            yield change(found.kind, name, found.message, hint=found.hint, touches=touches, types=(name,))
        for found in [
            *_compare_ancestors(old, new, name),
            *compare_attributes(before.attributes, after.attributes, kept),
        ]:
            inherited.setdefault(found, []).append(name)
    # The types above a type in both ontologies: in only one, each of two could be above the other.
    above = {name: set(old.ancestors(name)).intersection(new.ancestors(name)) for name in kept}
    for found, names in inherited.items():
        yield from _where_it_begins(found, names, above)
    yield from _compare_keys(old, new, kept)
    yield from _compare_disjoint(old, new, kept)


def _where_it_begins(found: Found, names: Sequence[str], above: Mapping[str, set[str]]) -> Iterator[Change]:
    """A change of several types, told at those that have it from none of the others."""
    among = set(names)
    for root in (name for name in names if not above[name] & among):
        types = tuple(name for name in names if name == root or root in above[name])
        touches = Touches(types=types, attribute=found.attribute, value=found.value, lacking=found.lacking)
        if found.kind == "required-attribute-added":  # which no thing has
            touches = Touches(types=types)
        where = f"{root}.{found.path}" if found.path else root
        of = (found.attribute,) if found.attribute else ()
        yield change(found.kind, where, found.message, hint=found.hint, touches=touches, names=of, types=types)


def _kind(ontology: Ontology, name: str) -> str:
    """``an abstract type, a kind of Model and of Tool``."""
    one = ontology.types[name]
    ups = [up for up in (one.parent, *one.mixins) if up]
    what = "an abstract type" if one.abstract else "a type"
    return f"{what}, a kind of {' and of '.join(ups)}" if ups else what


def _ends(ontology: Ontology, name: str) -> str:
    """The relations that start at a new type, or lead there."""
    starts = [r.name for r in ontology.relations.values() if name in r.domain]
    leads = [r.name for r in ontology.relations.values() if name in r.range]
    parts = [f"with {', '.join(starts)}"] if starts else []
    parts += [f"at the end of {', '.join(leads)}"] if leads else []
    return "".join(f"; {part}" for part in parts)


def _compare_abstract(old: EntityType, new: EntityType) -> Iterator[Found]:
    if old.abstract != new.abstract:
        message = "nothing is of this type itself" if new.abstract else "things may be of this type itself"
        yield Found("type-abstract" if new.abstract else "type-concrete", "", message)


def _compare_ancestors(old: Ontology, new: Ontology, name: str) -> Iterator[Found]:
    """Of the types that both ontologies have; through which others it is one of them means nothing."""
    before, after = old.ancestors(name), new.ancestors(name)
    lost = [up for up in before if up in new.types and up not in after]
    gained = [up for up in after if up in old.types and up not in before]
    if lost:
        yield Found("is_a-removed", "", f"is no kind of {' or '.join(lost)} any more")
    if gained:
        yield Found("is_a-added", "", f"is a kind of {' and of '.join(gained)} now")


# Keys: an attribute that is unique is a key of one attribute.


def _keys(ontology: Ontology) -> list[tuple[str, Key]]:
    """Keys in force, each with the widest types that have it: things of their subtypes differ in it, too."""
    of = {name: _keys_of(one) for name, one in ontology.types.items()}
    return [(n, key) for n in of for key in of[n] if not any(key in of[up] for up in ontology.ancestors(n))]


def _keys_of(one: EntityType) -> list[Key]:
    unique = [(name,) for name, attribute in one.attributes.items() if attribute.unique]
    return list(dict.fromkeys([*(tuple(sorted(key)) for key in one.keys), *unique]))


def _compare_keys(old: Ontology, new: Ontology, kept: Sequence[str]) -> Iterator[Change]:
    for kind, one, other, verb in (("key-removed", old, new, "may"), ("key-added", new, old, "may not")):
        for owner, key in _keys(one):
            types = _bound(one, other, owner, key, kept)
            if types and not any(
                set(wider) <= set(key) and set(types) <= set(_below(other, name, kept)) for name, wider in _keys(other)
            ):
                where = f"{owner}.{key[0]}" if len(key) == 1 else owner
                touches = Touches(types=types, attribute=key[0] if len(key) == 1 else "")
                yield change(kind, where, f"two things {verb} have the same {' and '.join(key)}", touches=touches)


def _bound(one: Ontology, other: Ontology, owner: str, key: Key, kept: Sequence[str]) -> tuple[str, ...]:
    """The types that a key binds and whose things can have all of it, in both ontologies."""
    return tuple(t for t in _below(one, owner, kept) if all(name in other.types[t].attributes for name in key))


def _below(ontology: Ontology, name: str, kept: Iterable[str]) -> list[str]:
    """A type and those below it that both ontologies have."""
    return [t for t in kept if t == name or name in ontology.ancestors(t)]


# Disjoint types: also those below them are.


def _compare_disjoint(old: Ontology, new: Ontology, kept: Sequence[str]) -> Iterator[Change]:
    before, after = _disjoint(old, kept), _disjoint(new, kept)
    for kind, ontology, pairs, verb in (
        ("disjoint-removed", old, before - after, "may"),
        ("disjoint-added", new, after - before, "may not"),
    ):
        for pair in sorted(pairs):
            if not any(_implies(ontology, wider, pair) for wider in pairs - {pair}):
                touches = Touches(types=tuple(dict.fromkeys(t for name in pair for t in _below(old, name, kept))))
                yield change(kind, pair[0], f"{verb} be {pair[1]} as well", touches=touches)


def _disjoint(ontology: Ontology, kept: Sequence[str]) -> set[tuple[str, str]]:
    """All pairs of types of which nothing can be both."""
    declared = {frozenset((name, other)) for name, one in ontology.types.items() for other in one.disjoint}
    lines = {name: (name, *ontology.ancestors(name)) for name in kept}
    return {
        (one, other)
        for one, other in combinations(sorted(kept), 2)
        if declared and any(frozenset((up, far)) in declared for up in lines[one] for far in lines[other])
    }


def _implies(ontology: Ontology, wider: tuple[str, str], pair: tuple[str, str]) -> bool:
    lines = [{name, *ontology.ancestors(name)} for name in pair]
    return (wider[0] in lines[0] and wider[1] in lines[1]) or (wider[0] in lines[1] and wider[1] in lines[0])
