"""Which section of a document goes to which extractors, and running them over a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol, runtime_checkable

from ingest.judge import Heard, Trust
from ingest.known import KnownNames
from ingest.resolve import RESOLVER_VERSION
from ingest.split import split
from ingest.verify import VERIFY_VERSION
from ontology.schema import Ontology
from ontoloom.names import hash_id
from ontoloom.protocols import Extractor
from ontoloom.records import Document, Failure, Passage


@runtime_checkable
class Trusted(Protocol):
    """An extractor that says how far its claims are trusted; those of others are looked for in the text."""

    trust: Trust


Policy = Mapping[str, Sequence[Extractor]]
"""Extractors by section name; those of ``ANY`` read the sections that are not named."""

MakePolicy = Callable[[KnownNames], Policy]
"""Extractors that know names need the pages first, so a policy may be given as a function of them. Their fingerprints
must not depend on the names: those that matter to a document are in the document's own."""

ANY = "*"
PROSE = "body"
"""The section whose extractors read the prose of wiki pages."""


def make_policy(policy: Policy | MakePolicy, known: KnownNames) -> Policy:
    """The policy itself, made where it is a function of the known names."""
    return policy(known) if callable(policy) else policy


def default_policy(*, rules: Sequence[Extractor], llm: Extractor | None = None) -> Policy:
    """Rules everywhere, and the LLM on title and abstract only, where it pays."""
    careful = (*rules, llm) if llm is not None else tuple(rules)
    return {"title": careful, "abstract": careful, ANY: tuple(rules)}


def fingerprint_policy(policy: Policy, ontology: Ontology) -> str:
    """A hash of all that reading depends on besides the text and the known names."""
    parts = [
        f"{section}={extractor.name}:{extractor.fingerprint}"
        for section in sorted(policy)
        for extractor in policy[section]
    ]
    return hash_id("policy", ontology.hash, RESOLVER_VERSION, VERIFY_VERSION, *parts)


def extractors_of(policy: Policy) -> list[Extractor]:
    """Each extractor once, in the order in which sections name them."""
    return list({id(extractor): extractor for section in policy.values() for extractor in section}.values())


def run_extractors(
    policy: Policy, documents: Sequence[tuple[Document, int]]
) -> list[tuple[list[Heard], list[Failure]]]:
    """What all extractors heard in each document, given with the offset at which its prose begins."""
    passages = [_passages(document, prose) for document, prose in documents]
    heard: list[tuple[list[Heard], list[Failure]]] = [([], []) for _ in documents]
    for extractor in extractors_of(policy):
        chosen = [
            (index, mine)
            for index, (document, _) in enumerate(documents)
            if (mine := [p for p in passages[index] if _reads(policy, extractor, p, document)])
        ]
        if not chosen:
            continue
        trust = extractor.trust if isinstance(extractor, Trusted) else "found"
        readings = extractor.extract([(documents[index][0], mine) for index, mine in chosen])
        for (index, _), reading in zip(chosen, readings, strict=True):
            heard[index][0].extend(Heard(claim, trust) for claim in reading.claims)
            heard[index][1].extend(reading.failures)
    return heard


def _passages(document: Document, prose: int) -> list[Passage]:
    return [passage for passage in split(document) if passage.start >= prose]


def _reads(policy: Policy, extractor: Extractor, passage: Passage, document: Document) -> bool:
    section = PROSE if document.kind == "page" else passage.section
    readers: Iterable[Extractor] = policy.get(section, policy.get(ANY, ()))
    return any(reader is extractor for reader in readers)
