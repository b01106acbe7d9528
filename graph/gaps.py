"""Words for which the ontology has none: what claims were refused for, counted, with a patch that would admit them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from ontology.emit_yaml import Tree, emit
from ontology.schema import Ontology
from ontology.values import DATE, INTEGER, NUMBER
from ontoloom.records import Mention, Quarantined, Value

MOST_TYPES = 3
"""Types that a patch names at each end of a relation: those that are most often meant."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A word that claims used. ``of`` is the type or relation that lacks it, empty for a type or relation.

    ``examples`` are some of the claims. ``patch`` is YAML for ``ontology.yaml``, a proposal to be looked over: types at
    the ends of relations, and those of values, are those that the claims had.
    """

    kind: str
    name: str
    of: str
    count: int
    documents: int
    examples: tuple[Quarantined, ...]
    patch: str


Key = tuple[str, str, str]


def find_gaps(quarantined: Iterable[Quarantined], ontology: Ontology, *, examples: int = 3) -> list[Gap]:
    """The words that refused claims used and the ontology lacks, those of most claims first."""
    claims: dict[Key, list[Quarantined]] = {}
    for item in quarantined:
        for key in dict.fromkeys(_words(item, ontology)):
            claims.setdefault(key, []).append(item)
    gaps = [_gap(key, items, ontology, examples) for key, items in claims.items()]
    return sorted(gaps, key=lambda gap: (-gap.count, gap.kind, gap.of, gap.name))


def _words(item: Quarantined, ontology: Ontology) -> Iterator[Key]:
    """Kind, name and owner of what a claim was refused for."""
    claim = item.claim
    if item.code == "unknown-relation":
        yield "relation", claim.relation, ""
    elif item.code == "unknown-attribute":
        yield "attribute", claim.relation, claim.subject.type or ""
    elif item.code == "unknown-relation-attribute" and claim.relation in ontology.relations:
        known = ontology.relations[claim.relation].attributes
        yield from (("relation attribute", name, claim.relation) for name, _ in claim.attributes if name not in known)
    elif item.code == "unknown-type":
        mentions = (claim.subject, *([claim.object] if isinstance(claim.object, Mention) else []))
        yield from (("type", m.type, "") for m in mentions if m.type and m.type not in ontology.types)


def _gap(key: Key, items: Sequence[Quarantined], ontology: Ontology, examples: int) -> Gap:
    kind, name, of = key
    documents = len({item.document for item in items})
    return Gap(kind, name, of, len(items), documents, tuple(items[:examples]), emit(_patch(key, items, ontology)))


def _patch(key: Key, items: Sequence[Quarantined], ontology: Ontology) -> Mapping[str, Tree]:
    kind, name, of = key
    if kind == "type":
        return {"types": {name: {"description": "…"}}}
    if kind == "relation":
        ends = {
            "domain": _types([item.claim.subject for item in items], ontology),
            "range": _types([i.claim.object for i in items if isinstance(i.claim.object, Mention)], ontology),
        }
        return {"relations": {name: {**ends, "description": "…"}}}
    if kind == "attribute":
        values = [item.claim.object for item in items]
        return {"types": {of or "…": {"attributes": {name: {"type": _value_type(values)}}}}}
    given = [value for item in items for attribute, value in item.claim.attributes if attribute == name]
    return {"relations": {of: {"attributes": {name: {"type": _value_type(given)}}}}}


def _types(mentions: Sequence[Mention], ontology: Ontology) -> Tree:
    counts = Counter(m.type for m in mentions if m.type in ontology.types)
    common = [str(name) for name, _ in counts.most_common(MOST_TYPES)]
    return common[0] if len(common) == 1 else common or "…"


def _value_type(values: Sequence[Mention | Value]) -> str:
    """The narrowest type of value that all of them have."""
    texts = [str(value).strip() for value in values if not isinstance(value, Mention)]
    if not texts:
        return "string"
    if all(text in ("True", "False", "true", "false") for text in texts):
        return "boolean"
    if all(INTEGER.fullmatch(text) for text in texts):
        return "integer"
    if all(NUMBER.fullmatch(text) for text in texts):
        return "number"
    return "date" if all(DATE.fullmatch(text) and _is_day(text) for text in texts) else "string"


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
