"""How two declarations of attributes differ, whatever they are attributes of; and two sets of labels."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from ontology.compare.renames import guess_renames, same_attribute_shape
from ontology.findings import shown
from ontology.quantities import NotInUnit, between
from ontology.schema import NUMERIC, Attribute, Deprecation, Described
from ontology.values import BadValue, read_value
from ontoloom.records import canonical_text

TEXTS = ("string", "text")
WITH_PATTERN = (*TEXTS, "url")


class Found(NamedTuple):
    """A change that does not know yet where it stands. ``path`` leads to it from what has the attribute.

    ``attribute`` and ``value`` are what it touches, ``lacking`` where it touches what does not have the attribute.
    """

    kind: str
    path: str
    message: str
    hint: str = ""
    attribute: str = ""
    value: str = ""
    lacking: bool = False


def compare_attributes(
    old: Mapping[str, Attribute], new: Mapping[str, Attribute], kept: Collection[str]
) -> Iterator[Found]:
    """All differences of the attributes of one thing. ``kept`` are the types that both ontologies have."""
    removed = {name: one for name, one in old.items() if name not in new}
    added = {name: one for name, one in new.items() if name not in old}
    renames = guess_renames(removed, added, same_attribute_shape)
    for name in removed:
        hint = f"perhaps renamed to '{renames[name]}': write a migration" if name in renames else ""
        yield Found("attribute-removed", name, f"was {described(removed[name])}", hint, name)
    for name, one in added.items():
        kind = "required-attribute-added" if one.required else "attribute-added"
        yield Found(kind, name, f"is {described(one)}", attribute=name, lacking=True)
    for name in old.keys() & new.keys():
        if old[name] != new[name]:
            yield from compare_attribute(old[name], new[name], kept)


def compare_attribute(old: Attribute, new: Attribute, kept: Collection[str]) -> Iterator[Found]:
    """All differences of one attribute; of a type of value, only those that both types can have."""
    name = old.name
    yield from compare_labels(old, new, name, attribute=name)
    if old.type != new.type:
        kind = "attribute-type-widened" if _reads_the_same(old, new) else "attribute-type-changed"
        yield Found(kind, name, f"was {described(old)}, is {described(new)}", attribute=name)
    yield from _compare_flags(old, new)
    yield from _compare_counts(old, new)
    if old.type in NUMERIC and new.type in NUMERIC:
        yield from _compare_units(old, new)
        yield from compare_limits("minimum", name, old.minimum, new.minimum, attribute=name)
        yield from compare_limits("maximum", name, old.maximum, new.maximum, attribute=name)
    if old.type in WITH_PATTERN and new.type in WITH_PATTERN and old.pattern != new.pattern:
        yield _pattern(old, new)
    if old.type == new.type == "enum":
        yield from _compare_values(old, new)
    if old.type == new.type == "reference":
        yield from _compare_targets(old, new, kept)
    if old.default != new.default:
        was, now = ("none" if d is None else shown(canonical_text(d)) for d in (old.default, new.default))
        yield Found("default-changed", name, f"was {was}, is {now}")


def compare_labels(
    old: Described, new: Described, path: str, *, attribute: str = "", value: str = ""
) -> Iterator[Found]:
    """All differences in what people read. A word counts once, whether it is a label, a synonym or both."""
    if old.description != new.description:
        yield Found("description-changed", path, f"was {_quoted(old.description)}, is {_quoted(new.description)}")
    for kind, one, other in (("synonym-removed", old, new), ("synonym-added", new, old)):
        words = [word for word in one.synonyms if word not in other.synonyms]
        if words:
            yield Found(kind, path, ", ".join(_word(one, word) for word in words))
    both = set(old.synonyms) & set(new.synonyms)
    if any(_spoken(old, word) != _spoken(new, word) for word in both):
        words = sorted(word for word in both if _spoken(old, word) != _spoken(new, word))
        yield Found("label-changed", path, f"is {', '.join(_word(new, word) for word in words)}")
    if set(old.examples) != set(new.examples):
        yield Found("examples-changed", path, f"is {', '.join(map(shown, new.examples)) or 'none'}")
    if old.deprecated != new.deprecated:
        found = _deprecation(old.deprecated, new.deprecated, path)
        yield found._replace(attribute=attribute, value=value)


def compare_limits(
    what: str, path: str, old: float | None, new: float | None, *, attribute: str = "", none: str = "none"
) -> Iterator[Found]:
    """A limit below (``minimum``, ``fewest…``) or above that has moved; None is no limit."""
    if old == new:
        return
    below = what.startswith(("minimum", "fewest"))
    nowhere = float("-inf" if below else "inf")
    raised = (nowhere if new is None else new) > (nowhere if old is None else old)
    was, now = (none if limit is None else canonical_text(limit) for limit in (old, new))
    yield Found(f"{what}-{'raised' if raised else 'lowered'}", path, f"was {was}, is {now}", attribute=attribute)


def described(attribute: Attribute) -> str:
    """What an attribute holds, in a few words: ``required integer in tokens``."""
    words = ["required"] if attribute.required else []
    words += ["identifying"] if attribute.identifying else []
    words += ["many"] if attribute.many else []
    words.append(attribute.type)
    words += [f"in {attribute.unit}"] if attribute.unit else []
    words += [f"to {' or '.join(attribute.targets)}"] if attribute.targets else []
    return " ".join(words)


def _reads_the_same(old: Attribute, new: Attribute) -> bool:
    """Whether all values are values of the new type too, and stay the same: those of an enum that becomes text."""
    if old.type != "enum" or new.type not in TEXTS:
        return False
    try:
        return all(read_value(new, value.name) == value.name for value in old.values)
    except BadValue:
        return False


def _compare_flags(old: Attribute, new: Attribute) -> Iterator[Found]:
    name = old.name
    if old.required != new.required:
        kind, message = ("attribute-required", "must be") if new.required else ("attribute-optional", "need not be")
        yield Found(kind, name, f"{message} stated", attribute=name, lacking=new.required)
    if old.identifying != new.identifying:
        kind = "identifying" if new.identifying else "not-identifying"
        message = "two facts" if new.identifying else "one fact with two values"
        yield Found(f"attribute-{kind}", name, f"statements that differ in it are {message}", attribute=name)


def _compare_counts(old: Attribute, new: Attribute) -> Iterator[Found]:
    """How many values there are. The limit is one at least, as it holds only where there are any."""
    name = old.name
    if old.many != new.many:
        kind, message = ("many", "one value, is a list") if new.many else ("single", "a list, is one value")
        yield Found(f"attribute-{kind}", name, f"was {message}", attribute=name)
    elif old.many:
        fewest = max(1, old.at_least), max(1, new.at_least)
        yield from compare_limits("fewest-values", name, *fewest, attribute=name)
        yield from compare_limits("most-values", name, old.at_most, new.at_most, attribute=name, none="any")


def _compare_units(old: Attribute, new: Attribute) -> Iterator[Found]:
    if old.unit == new.unit:
        return
    was, now = old.unit or "none", new.unit or "none"
    hint = ""
    if old.unit and new.unit:
        try:
            factor, offset = between(old.unit, new.unit)
        except NotInUnit:
            hint = "one cannot be converted to the other"
        else:
            more = f" and add {float(offset):g}" if offset else ""
            same = factor == 1 and offset == 0
            hint = "another word for the same unit" if same else f"multiply by {float(factor):g}{more}"
    yield Found("unit-changed", old.name, f"was {was}, is {now}", hint, attribute=old.name)


def _pattern(old: Attribute, new: Attribute) -> Found:
    was, now = ("none" if p is None else shown(p) for p in (old.pattern, new.pattern))
    kind = "added" if old.pattern is None else "removed" if new.pattern is None else "changed"
    return Found(f"pattern-{kind}", old.name, f"was {was}, is {now}", attribute=old.name)


def _compare_values(old: Attribute, new: Attribute) -> Iterator[Found]:
    before, after = ({value.name: value for value in one.values} for one in (old, new))
    removed = {name: value for name, value in before.items() if name not in after}
    added = {name: value for name, value in after.items() if name not in before}
    renames = guess_renames(removed, added)
    for name in removed:
        hint = f"perhaps renamed to {shown(renames[name])}: write a migration" if name in renames else ""
        yield Found("enum-value-removed", old.name, shown(name), hint, old.name, name)
    for name in added:
        yield Found("enum-value-added", old.name, shown(name), attribute=old.name)
    for name in before.keys() & after.keys():
        yield from compare_labels(before[name], after[name], f"{old.name}.{name}", attribute=old.name, value=name)


def _compare_targets(old: Attribute, new: Attribute, kept: Collection[str]) -> Iterator[Found]:
    """Types that are gone, or new, are reported themselves."""
    lost = [t for t in old.targets if t in kept and t not in new.targets]
    gained = [t for t in new.targets if t in kept and t not in old.targets]
    if lost:
        yield Found("targets-narrowed", old.name, f"may not name {' or '.join(lost)}", attribute=old.name)
    if gained:
        yield Found("targets-widened", old.name, f"may name {' or '.join(gained)}", attribute=old.name)


def _spoken(described: Described, word: str) -> set[tuple[str, str]]:
    """In which languages a word is the label, and in which it is a word for the thing."""
    found = {("label", tag) for tag, label in described.labels if label == word}
    return found | {("word", tag) for tag, words in described.translations if word in words}


def _word(described: Described, word: str) -> str:
    """A word with the languages that it is of."""
    tags = sorted({tag for _, tag in _spoken(described, word) if tag})
    return f"{shown(word)} ({', '.join(tags)})" if tags else shown(word)


def _deprecation(old: Deprecation | None, new: Deprecation | None, path: str) -> Found:
    if new is None:
        return Found("undeprecated", path, "may be used again")
    since = f"since {new.since}" if new.since else "from now on"
    message = f"{since}, use {new.use}" if new.use else since
    return Found("deprecated" if old is None else "deprecation-changed", path, message)


def _quoted(text: str) -> str:
    return shown(text) if text else "none"
