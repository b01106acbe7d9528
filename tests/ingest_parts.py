"""What tests of ingestion share: a small ontology, documents and pages made of strings, extractors made of a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ingest.judge import Trust
from ingest.known import KnownNames
from ontology.page_reader import parse_page
from ontology.read import compile_ontology
from ontology.schema import Ontology
from ontoloom.protocols import Reading
from ontoloom.records import Claim, Document, Mention, Passage, Section, Value

COMPANIES = """
ontology: companies
version: 1.0.0
description: Companies and the people who work at them.
types:
  Person:
    attributes:
      born: {type: integer, min: 1800, max: 2100, synonyms: [born]}
  Company:
    synonyms: [organization]
    attributes:
      founded: {type: integer, min: 1000, max: 2100, synonyms: [established]}
      staff: {type: integer, min: 0, unit: people, synonyms: [employees]}
      sector: {type: enum, values: {energy: {}, software: {synonyms: [programs]}}, synonyms: [sells]}
  City: {}
relations:
  works_at:
    domain: Person
    range: Company
    synonyms: [works at, hired by]
    attributes:
      since: {type: integer, min: 1900, max: 2100}
  owns:
    domain: [Person, Company]
    range: Company
    synonyms: [owner of]
    attributes:
      share: {type: number, min: 0, max: 100, unit: percent}
  based_in: {domain: Company, range: City, synonyms: [headquartered in]}
  beats:
    domain: Company
    range: Company
    synonyms: [outsells]
    attributes:
      market: {type: reference, to: City, identifying: true}
      lead: {type: number, unit: points}
"""


def companies() -> Ontology:
    ontology, findings = compile_ontology(COMPANIES, file="ontology.yaml")
    assert ontology is not None, findings
    return ontology


def make_document(text: str, *, name: str = "a.txt", title: str = "") -> Document:
    """A document with its title, if any, as the first line, and all the rest as its body."""
    sections = [Section("title", 0, len(title))] if title else []
    whole = f"{title}\n\n{text}" if title else text
    start = len(whole) - len(text)
    return Document(name, name, title, whole, (*sections, Section("body", start, len(whole))))


def make_page(name: str, front_matter: str, prose: str = "") -> Document:
    """A wiki page; ``front_matter`` is its YAML."""
    head = f"---\n{front_matter.strip()}\n---\n"
    text = head + prose
    sections = (Section("body", len(head), len(text)),) if prose else ()
    return Document(f"wiki/{name}.md", f"wiki/{name}.md", name, text, sections, kind="page")


def known_names(ontology: Ontology, *pages: Document) -> KnownNames:
    parsed = []
    for document in pages:
        page, findings = parse_page(document.text, file=document.id, ontology=ontology)
        assert page is not None, findings
        parsed.append((document.id, page))
    return KnownNames(parsed)


def claim_in(
    document: Document,
    subject: str,
    relation: str,
    target: Mention | Value,
    *,
    attributes: tuple[tuple[str, Mention | Value], ...] = (),
    types: tuple[str | None, str | None] = (None, None),
) -> Claim:
    """A claim that points at the whole document. A string is a mention; give other values as they are."""
    mention = Mention(target, types[1]) if isinstance(target, str) else target
    end = len(document.text)
    return Claim(Mention(subject, types[0]), relation, mention, 0, end, "test", "test", attributes=attributes)


class Pattern:
    """An extractor of ``(?P<s>…)`` and ``(?P<o>…)`` by relation, as a plug-in might be written."""

    name = "pattern"
    trust: Trust = "exact"

    def __init__(
        self, patterns: Mapping[str, str], *, types: Mapping[str, tuple[str | None, str | None]] | None = None
    ) -> None:
        self.fingerprint = repr(sorted(patterns.items()))
        self._patterns = {relation: re.compile(pattern) for relation, pattern in patterns.items()}
        self._types = types or {}
        self.read: list[str] = []

    def extract(self, batch: Sequence[tuple[Document, Sequence[Passage]]]) -> list[Reading]:
        self.read += [document.id for document, _ in batch]
        return [Reading(tuple(self._claims(passages))) for _, passages in batch]

    def _claims(self, passages: Iterable[Passage]) -> Iterable[Claim]:
        for passage in passages:
            for relation, pattern in self._patterns.items():
                for match in pattern.finditer(passage.text):
                    start, end = passage.start + match.start(), passage.start + match.end()
                    subject_type, object_type = self._types.get(relation, (None, None))
                    is_value = object_type == "value"
                    target = match["o"] if is_value else Mention(match["o"], object_type)
                    yield Claim(Mention(match["s"], subject_type), relation, target, start, end, self.name, relation)
