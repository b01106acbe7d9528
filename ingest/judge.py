"""From claims to an extraction: each claim is verified, resolved and admitted, or quarantined with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Literal

from ingest.cues import Cues
from ingest.known import KnownNames
from ingest.resolve import Resolver, Unresolved, ends_of, merge_spellings
from ingest.verify import Unverified, verify
from ontology.admit import Refusal, admit
from ontology.schema import Ontology
from ontoloom.records import (
    Claim,
    Document,
    Entity,
    EntityRef,
    Evidence,
    Extraction,
    Failure,
    Mention,
    Quarantined,
    Triple,
    Value,
)

Trust = Literal["page", "exact", "found", "cued"]


@dataclass(frozen=True, slots=True)
class Heard:
    """A claim, and how far its extractor is trusted.

    ``page``: the page itself states it, nothing is left to verify. ``exact``: the span is a rule's match. ``found``:
    the words must be looked for. ``cued``, for small models: the evidence must also have a word for the relation, and
    one of the names must be known, from a page or from what others read in the document.
    """

    claim: Claim
    trust: Trust = "found"


@dataclass(frozen=True, slots=True)
class _Refused:
    claim: Claim
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class _Admitted:
    claim: Claim
    triple: Triple
    entities: tuple[Entity, ...]


def judge(
    document: Document,
    heard: Iterable[Heard],
    *,
    ontology: Ontology,
    known: KnownNames,
    cues: Cues,
    page: Entity | None = None,
    refused: Sequence[tuple[Claim, str, str]] = (),
    failures: Sequence[Failure] = (),
    fingerprint: str = "",
) -> Extraction:
    """What a document comes to. ``page`` is the entity that it defines; ``refused`` are claims with code and message
    that were refused before. The order of ``heard`` doesn't matter."""
    outcomes = [(_verify(item, document, ontology, cues), item.trust) for item in sorted(heard, key=_rank)]
    resolver = Resolver(ontology, known, [outcome for outcome, _ in outcomes if isinstance(outcome, Claim)])
    settled: list[_Admitted | _Refused] = [_Refused(*parts) for parts in refused]
    familiar: set[str] = set()
    for outcome, trust in outcomes:
        item = _settle(outcome, resolver, ontology) if isinstance(outcome, Claim) else outcome
        if isinstance(item, _Admitted) and trust != "cued":
            familiar.update(entity.id for entity in item.entities)
        elif isinstance(item, _Admitted):
            item = _demand_familiar(item, familiar, known)
        settled.append(item)
    admitted = [s for s in settled if isinstance(s, _Admitted)]
    entities = [e for a in admitted for e in a.entities]
    return Extraction(
        document=document,
        entities=merge_spellings([page, *entities] if page else entities),
        triples=_merge_triples(admitted),
        evidence=_gather_evidence(document, admitted, ontology),
        quarantined=_quarantine(document, settled, ontology),
        failures=tuple(failures),
        fingerprint=fingerprint,
    )


def _rank(heard: Heard) -> tuple[object, ...]:
    """The most trusted first, so that what they tell of names holds for the others."""
    claim = heard.claim
    return heard.trust == "cued", -claim.confidence, claim.start, claim.end, claim.extractor, claim.source, repr(claim)


def _verify(heard: Heard, document: Document, ontology: Ontology, cues: Cues) -> Claim | _Refused:
    if heard.trust == "page":
        return heard.claim
    wanted = cues if heard.trust == "cued" else None
    checked = verify(heard.claim, document, ontology, exact=heard.trust == "exact", cues=wanted)
    return _Refused(heard.claim, checked.code, checked.message) if isinstance(checked, Unverified) else checked


def _demand_familiar(item: _Admitted, familiar: Set[str], known: KnownNames) -> _Admitted | _Refused:
    """The claim, unless none of its names is known otherwise: a small model puts any two new names together."""
    target = item.triple.object
    ends = {item.triple.subject, *([target.id] if isinstance(target, EntityRef) else [])}
    named = [entity for entity in item.entities if entity.id in ends]
    for entity in named:
        if entity.id in familiar or any(entity.id == found.id for found in known.look_up(entity.name)):
            return item
    names = " and ".join(f"'{entity.name}'" for entity in named)
    return _Refused(item.claim, "unknown-names", f"no page and no rule knows {names}")


def _settle(claim: Claim, resolver: Resolver, ontology: Ontology) -> _Admitted | _Refused:
    resolved: list[Entity] = []
    for mention, legal in ends_of(ontology, claim):
        entity = resolver.resolve(mention, legal) if legal else _unknown_end(mention, ontology)
        if isinstance(entity, Unresolved):
            return _Refused(claim, entity.code, entity.message)
        resolved.append(entity)
    entities = iter(resolved)
    subject = next(entities)
    target: Entity | Value = next(entities) if isinstance(claim.object, Mention) else claim.object
    attributes = [(name, next(entities) if isinstance(value, Mention) else value) for name, value in claim.attributes]
    said = admit(ontology, relation=claim.relation, subject=subject, object=target, attributes=attributes)
    if isinstance(said, Refusal):
        return _Refused(claim, said.code, said.message)
    if isinstance(target, Entity) and target.id == subject.id:
        return _Refused(claim, "self-reference", f"'{subject.name}' is put in relation '{claim.relation}' to itself")
    return _Admitted(claim, said, tuple(resolved))


def _unknown_end(mention: Mention, ontology: Ontology) -> Entity:
    """A stand-in where the ontology has no such relation: admission refuses the claim and says why."""
    type_name = mention.type or next(iter(ontology.types))
    return Entity("", type_name, mention.name)


def _merge_triples(admitted: Sequence[_Admitted]) -> tuple[Triple, ...]:
    """One triple for each id; attributes that do not identify it are taken from the most trusted that gives them."""
    merged: dict[str, Triple] = {}
    for item in admitted:
        first = merged.setdefault(item.triple.id, item.triple)
        attributes = dict(item.triple.attributes) | dict(first.attributes)
        merged[item.triple.id] = replace(first, attributes=tuple(sorted(attributes.items(), key=lambda pair: pair[0])))
    return tuple(merged[key] for key in sorted(merged))


def _gather_evidence(document: Document, admitted: Sequence[_Admitted], ontology: Ontology) -> tuple[Evidence, ...]:
    found: dict[str, Evidence] = {}
    for item in admitted:
        claim = item.claim
        evidence = Evidence(
            triple=item.triple.id,
            document=document.id,
            start=claim.start,
            end=claim.end,
            extractor=claim.extractor,
            source=claim.source,
            confidence=claim.confidence,
            ontology_version=ontology.stamp,
        )
        found.setdefault(evidence.id, evidence)
    return tuple(found[key] for key in sorted(found))


def _quarantine(
    document: Document, settled: Sequence[_Admitted | _Refused], ontology: Ontology
) -> tuple[Quarantined, ...]:
    found: dict[str, Quarantined] = {}
    for item in settled:
        if isinstance(item, _Refused):
            kept = Quarantined(document.id, item.claim, item.code, item.message, ontology.stamp)
            found.setdefault(kept.id, kept)
    return tuple(found[key] for key in sorted(found))
