"""Hashes by which contents are compared: of one extraction, and of a whole store."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter

from graph.encode import statement
from graph.store import DocumentState
from graph.verify import Verified
from ontoloom.names import hash_id
from ontoloom.records import Entity, Evidence, Triple, canonical_text


def content_hash(said: Verified) -> str:
    """Equal for extractions that say the same, in whatever order and however often they say it."""
    extraction, document = said.extraction, said.extraction.document
    failures = [(f.where, f.code, f.message) for f in extraction.failures]
    entities = [(e.id, e.type, e.name, sorted(set(e.aliases)), e.page == document.id) for e in said.entities.values()]
    evidence = [(i, float(e.confidence), e.ontology_version) for i, e in said.evidence.items()]
    refused = [(i, q.ontology_version) for i, q in said.quarantined.items()]
    parts = (sorted(entities), sorted(said.statements.items()), sorted(evidence), sorted(refused))
    return hash_id(json.dumps((document.hash, extraction.fingerprint, failures, *parts)))


def digest(
    documents: Iterable[DocumentState],
    entities: Iterable[Entity],
    triples: Iterable[Triple],
    evidence: Iterable[Evidence],
) -> str:
    """A hash over the whole of a store, each kind given in the order of its ids. Equal pieces of evidence count once.

    Messages of failures are left out: they may tell of times and addresses.
    """
    whole = hashlib.blake2b(digest_size=16)

    def add(*parts: str) -> None:
        whole.update(bytes.fromhex(hash_id(*parts)))

    for d in documents:
        failures = [part for f in d.failures for part in (f.where, f.code)]
        add("document", d.id, d.hash, d.fingerprint, d.status, *failures)
    for e in entities:
        add("entity", e.id, e.type, e.name, e.page or "", *e.aliases)
    for t in triples:
        add("triple", t.id, t.subject, t.relation, canonical_text(t.object), *statement(t))
    pieces = ((v.id, repr(float(v.confidence)), v.ontology_version) for v in evidence)
    for _, same in groupby(pieces, key=itemgetter(0)):
        for piece in sorted(set(same)):
            add("evidence", *piece)
    return whole.hexdigest()
