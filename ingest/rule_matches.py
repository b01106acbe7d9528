"""From a pattern's match to claims: who the subject is, what the captures say, which words state it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from ingest.rule_language import DOCUMENT, NEAREST, End, Literal, Rule
from ingest.rule_patterns import Filler, compile_expression
from ingest.rule_sentences import CleanSentence, Marked, Named, Reading, governor
from ingest.rule_values import to_value, trim_name
from ontology.schema import Ontology
from ontoloom.names import name_key
from ontoloom.records import Claim, Document, Mention, Value

INFERRED = 0.8
"""What is left of a rule's confidence when an end of the claim is a pronoun or comes from the sentence before."""

_LEADS_TO_SUBJECT = re.compile(r"[^,;]{0,30}, (?:the )?")
_Span = tuple[int, int]
_Attribute = tuple[str, "Found | Value"]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern of a rule with its guards."""

    rule: Rule
    source: str
    expression: Any
    groups: Mapping[str, int]
    fillers: Mapping[str, Filler]
    require: tuple[Any, ...]
    unless: tuple[Any, ...]
    unless_inside: tuple[Any, ...]
    unless_captured: Mapping[str, tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Context:
    """Where a match was found. ``topic`` holds what the document's title names."""

    ontology: Ontology
    ruleset: str
    document: Document
    section: str
    sentence: CleanSentence
    topic: Sequence[Reading]


@dataclass(frozen=True, slots=True)
class Found:
    """An entity found for an end. ``place`` is its span in the sentence when its words belong to the claim's."""

    mention: Mention
    entity: str = ""
    place: _Span | None = None
    inferred: bool = False

    def is_same(self, other: Found) -> bool:
        if self.entity and other.entity:
            return self.entity == other.entity
        return name_key(self.mention.name) == name_key(other.mention.name)


def read_matches(context: Context, pattern: Pattern, marked: Marked) -> Iterator[Claim]:
    """The claims of all matches of a pattern in a marked sentence that passes its guards."""
    guards_hold = all(guard.search(marked.text) for guard in pattern.require)
    if not guards_hold or any(guard.search(marked.text) for guard in pattern.unless):
        return
    for match in pattern.expression.finditer(marked.text):
        yield from _Match(context, pattern, marked, match).claims()


def without_repeats(claims: Iterable[Claim]) -> list[Claim]:
    """Claims of one sentence, in order, without those that another says with the same or more attributes."""
    kept: list[Claim] = []
    for claim in claims:
        same = [k for k in kept if _states(k) == _states(claim)]
        if any(set(claim.attributes) <= set(k.attributes) for k in same):
            continue
        kept = [k for k in kept if k not in same or not set(k.attributes) < set(claim.attributes)]
        kept.append(claim)
    return kept


def _states(claim: Claim) -> tuple[object, ...]:
    return claim.subject, claim.relation, claim.object


@dataclass(frozen=True, slots=True)
class _Match:
    context: Context
    pattern: Pattern
    marked: Marked
    match: Any

    def claims(self) -> Iterator[Claim]:
        rule = self.pattern.rule
        if any(self._is_refused(role, guards) for role, guards in self.pattern.unless_captured.items()):
            return
        subjects = self._ends("subject", rule.subject)
        objects: Sequence[Found | Value]
        if isinstance(rule.object, End):
            objects = self._ends("object", rule.object)
        else:
            objects = self._values("value", rule.object)
        if not subjects or not objects:
            return
        choices = [choice for name, meaning in rule.attributes.items() if (choice := self._attribute(name, meaning))]
        for (subject, object_), attributes in product(product(subjects, objects), product(*choices)):
            if isinstance(object_, Found) and object_.is_same(subject):
                continue
            claim = self._claim(subject, object_, attributes)
            if claim:
                yield claim

    def _claim(self, subject: Found, object_: Found | Value, attributes: Sequence[_Attribute]) -> Claim | None:
        """The claim, unless a guard forbids some words of those that state it."""
        rule, context = self.pattern.rule, self.context
        found = [f for f in (subject, object_, *(value for _, value in attributes)) if isinstance(f, Found)]
        words = self._words([f.place for f in found if f.place])
        if any(guard.search(self.marked.between(*words)) for guard in self.pattern.unless_inside):
            return None
        start, end = context.sentence.span(*words)
        return Claim(
            subject=subject.mention,
            relation=rule.relation,
            object=object_.mention if isinstance(object_, Found) else object_,
            start=start,
            end=end,
            extractor="rules",
            source=f"{context.ruleset}/{rule.name}",
            confidence=round(rule.confidence * (INFERRED if any(f.inferred for f in found) else 1), 6),
            attributes=tuple(sorted((name, v.mention if isinstance(v, Found) else v) for name, v in attributes)),
        )

    def _words(self, places: Sequence[_Span]) -> _Span:
        """From the first to the last word of the sentence that takes part."""
        plain = [self.marked.plain(*self.match.span()), *places]
        start, end = min(p[0] for p in plain), max(p[1] for p in plain)
        text = self.context.sentence.text
        start += len(text[start:end]) - len(text[start:end].lstrip())
        return start, start + len(text[start:end].rstrip())

    def _ends(self, role: str, end: End) -> list[Found]:
        filler = self.pattern.fillers.get(role)
        if filler is not None:
            span = self._capture(role)
            return self._named_in(span, filler) if span else []
        if end.name is not None:
            return [Found(Mention(end.name, self.context.ontology.widest(end.types)))]
        for origin in end.origin or (NEAREST,):
            found = self._nearest(end) if origin == NEAREST else self._topic(end) if origin == DOCUMENT else None
            if found:
                return [found]
        return []

    def _values(self, role: str, literal: Literal) -> list[Value]:
        if literal.constant is not None:
            return [literal.constant]
        span = self._capture(role)
        if span is None:
            return []
        unit_span = self._capture("unit")
        unit = self._plain(unit_span) if unit_span else None
        filler = self.pattern.fillers.get(role)
        spans = self._units(span, filler.unit) if filler and filler.unit else [span]
        return list(dict.fromkeys(to_value(literal, self._plain(s), unit=unit) for s in spans))

    def _attribute(self, name: str, meaning: End | Literal) -> list[_Attribute]:
        found = self._ends(name, meaning) if isinstance(meaning, End) else self._values(name, meaning)
        return [(name, value) for value in found]

    def _named_in(self, span: _Span, filler: Filler) -> list[Found]:
        spans = self._units(span, filler.unit) if filler.unit else [span]
        found = (self._entity(s, filler) for s in spans)
        return [entity for entity in found if entity]

    def _entity(self, span: _Span, filler: Filler) -> Found | None:
        """What a capture names: a known name, or a new one where the slot takes those."""
        named = self.marked.names.get(span[0])
        if named and span[1] == span[0] + 1:
            return _known(named, frozenset(filler.types))
        if not filler.new:
            return None
        name = trim_name(self._plain(span))
        return (
            Found(Mention(name, self.context.ontology.widest(filler.types)), place=self.marked.plain(*span))
            if name
            else None
        )

    def _nearest(self, end: End) -> Found | None:
        """The name before the match that governs it, else the one that follows a comma right after it."""
        types = frozenset(end.types)
        taken = [self.marked.plain(*span) for role in self.pattern.groups if (span := self._capture(role))]
        start = self.marked.plain(*self.match.span())[0]
        names = [
            named
            for named in self.context.sentence.names
            if named.of(types) and not any(a < named.end and named.start < b for a, b in taken)
        ]
        chosen = governor(self.context.sentence.text, [named for named in names if named.end <= start], start)
        if chosen is None:
            # "With 7 billion parameters, Mistral 7B is small."
            stop = self.marked.plain(*self.match.span())[1]
            ahead = (named for named in names if named.start >= stop)
            chosen = next(
                (n for n in ahead if _LEADS_TO_SUBJECT.fullmatch(self.context.sentence.text, stop, n.start)), None
            )
        return _known(chosen, types) if chosen else None

    def _topic(self, end: End) -> Found | None:
        """What the document is about: the one entity of the right type that its title names, else its title."""
        readings = {r.entity: r for r in self.context.topic if r.type in end.types}
        if len(readings) == 1:
            reading = next(iter(readings.values()))
            return Found(Mention(reading.name, reading.type), reading.entity)
        title = self.context.document.title
        return Found(Mention(title, self.context.ontology.widest(end.types))) if end.new and title else None

    def _capture(self, role: str) -> _Span | None:
        group = self.pattern.groups.get(role)
        if group is None:
            return None
        start, end = self.match.span(group)
        return (start, end) if end > start >= 0 else None

    def _is_refused(self, role: str, guards: Sequence[Any]) -> bool:
        span = self._capture(role)
        return span is not None and any(guard.search(self._plain(span)) for guard in guards)

    def _plain(self, span: _Span) -> str:
        start, end = self.marked.plain(*span)
        return self.context.sentence.text[start:end]

    def _units(self, span: _Span, unit: str) -> list[_Span]:
        return [m.span() for m in compile_expression(unit).finditer(self.marked.text, *span)]


def _known(named: Named, types: frozenset[str]) -> Found | None:
    """The entity of a known name; its type stays open when the name could be of several."""
    readings = named.of(types)
    if not readings:
        return None
    first = readings[0]
    kinds = {reading.type for reading in readings}
    if len({reading.name for reading in readings}) > 1:
        return None
    entity = first.entity if len({reading.entity for reading in readings}) == 1 else ""
    mention = Mention(first.name, first.type if len(kinds) == 1 else None)
    return Found(mention, entity, (named.start, named.end), named.inferred)
