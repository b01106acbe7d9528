"""The nouns that flow through ontoloom, one word per thing.

``Document → Passage → Claim → Triple (+ Evidence) → Chunk → Hit → Answer (+ Citation)``

Every span is a half-open range ``[start, end)`` of Unicode code points of the document's text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from ontoloom.names import hash_id

# What a literal object, or an attribute of a relation, can hold once it is canonical.
Value = str | int | float | bool | date


@dataclass(frozen=True, slots=True)
class EntityRef:
    """An entity as the object of a triple, or as the value of one of its attributes."""

    id: str


Attributes = tuple[tuple[str, EntityRef | Value], ...]
"""Attributes of a relation as pairs sorted by name: hashable, and equal whatever order they were read in."""


@dataclass(frozen=True, slots=True)
class Section:
    """A named part of a document, such as ``title``, ``abstract`` or ``body``."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Document:
    """A text with the sections that extraction policies speak of.

    ``id`` is what people read in citations: the path below the ingested folder, or
    ``file#row`` for a record of a table. ``text`` is what offsets count in. ``kind`` is ``page``
    for wiki pages, whose front matter is trusted, else ``document``. ``hash`` is the content hash.
    """

    id: str
    source: str
    title: str
    text: str
    sections: tuple[Section, ...]
    kind: Literal["document", "page"] = "document"
    language: str = "en"

    @property
    def hash(self) -> str:
        spans = [f"{s.name}:{s.start}:{s.end}" for s in self.sections]
        return hash_id(self.id, self.source, self.title, self.kind, self.language, *spans, self.text)


@dataclass(frozen=True, slots=True)
class Passage:
    """A span of a document that an extractor reads at once; it lies within one section."""

    document: str
    section: str
    start: int
    end: int
    text: str

    @property
    def id(self) -> str:
        return hash_id(self.document, str(self.start), self.text)


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity as a text names it. ``type`` is what the extractor takes it for; None when it doesn't know."""

    name: str
    type: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """What an extractor says it read; not yet believed.

    ``object`` is a :class:`Mention` for a relation between entities and a raw value for an attribute.
    ``start`` and ``end`` are in the document's text and cover the words that state the claim.
    ``source`` names the rule, or the hash of model, prompt and parameters.
    """

    subject: Mention
    relation: str
    object: Mention | Value
    start: int
    end: int
    extractor: str
    source: str
    confidence: float = 1.0
    attributes: tuple[tuple[str, Mention | Value], ...] = ()


@dataclass(frozen=True, slots=True)
class Entity:
    """A canonical thing. ``page`` is the document id of the wiki page that defines it, if any.

    Within an :class:`Extraction` the name is the spelling that this document uses, and the aliases those that it
    declares; the store derives the entity's own name from all of its documents (see ``graph.store``).
    """

    id: str
    type: str
    name: str
    aliases: tuple[str, ...] = ()
    page: str | None = None


@dataclass(frozen=True, slots=True)
class Triple:
    """A claim that the ontology admits, in canonical form.

    ``subject`` is an entity id. ``identifying`` names the attributes that take part in the id, so that
    "beats it on MMLU" and "beats it on GSM8K" are two triples while a corrected score is the same one.
    """

    subject: str
    relation: str
    object: EntityRef | Value
    attributes: Attributes = ()
    identifying: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        obj = canonical_text(self.object)
        keys = [f"{name}={canonical_text(value)}" for name, value in self.attributes if name in self.identifying]
        return hash_id(self.subject, self.relation, obj, *keys)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where a triple was read: one span of one document, by one extractor."""

    triple: str
    document: str
    start: int
    end: int
    extractor: str
    source: str
    confidence: float
    ontology_version: str

    @property
    def id(self) -> str:
        return hash_id(self.triple, self.document, str(self.start), str(self.end), self.extractor, self.source)


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A claim that was not admitted, kept whole so that it can be replayed when the ontology changes.

    ``code`` is a stable reason such as ``unknown-relation``; ``message`` says it in one line.
    """

    document: str
    claim: Claim
    code: str
    message: str
    ontology_version: str

    @property
    def id(self) -> str:
        claim = self.claim
        return hash_id(self.document, self.code, self.message, repr(claim))


@dataclass(frozen=True, slots=True)
class Failure:
    """A part of a document that could not be read to its end: ``where`` is a passage's span."""

    where: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """All that reading one document came to; what the store writes as one whole.

    ``entities`` holds those that the triples name, new or known. ``status`` is ``admitted`` when a triple was,
    ``empty`` when nothing was found, ``quarantined`` when all that was found was refused, ``failed`` when a part
    could not be read (what the other parts gave is kept).
    """

    document: Document
    entities: tuple[Entity, ...] = ()
    triples: tuple[Triple, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()
    failures: tuple[Failure, ...] = ()
    fingerprint: str = ""
    """Hash of everything that the result depends on besides the text: ontology, rules, model, prompt, policy."""

    @property
    def status(self) -> Literal["admitted", "empty", "quarantined", "failed"]:
        if self.failures:
            return "failed"
        if self.triples:
            return "admitted"
        return "quarantined" if self.quarantined else "empty"


@dataclass(frozen=True, slots=True)
class Aligned:
    """A text after the LLM's tokenizer. ``ids`` runs from BOS to EOS; ``text`` is what the embedder is given."""

    ids: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """The text that a triple is embedded as, with the token ids of that text in the LLM's vocabulary."""

    triple: str
    text: str
    ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Citation:
    """A span of a document; written ``document:start-end``."""

    document: str
    start: int
    end: int

    def __str__(self) -> str:
        return f"{self.document}:{self.start}-{self.end}"


@dataclass(frozen=True, slots=True)
class Hit:
    """A found triple: its chunk, its score, which searchers found it, and the spans it rests on."""

    chunk: Chunk
    score: float
    found_by: tuple[str, ...]
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an answer with the spans that support it."""

    text: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, or the reason for giving none: ``declined`` is empty when there are sentences."""

    question: str
    sentences: tuple[Sentence, ...] = ()
    declined: str = ""
    answerer: str = ""
    hits: tuple[Hit, ...] = field(default=(), repr=False)


def canonical_text(value: EntityRef | Value) -> str:
    """One spelling per value: ``true``, ``131072``, ``2.3``, ``2024-05-01``, ``@entity``.

    A whole float is written as an integer, so that 80 and 80.0 are one value.
    """
    if isinstance(value, EntityRef):
        return f"@{value.id}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.isoformat() if isinstance(value, date) else str(value)
