"""Wiki pages as claims: what their front matter states, with the words of the page as evidence."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ingest.known import KnownNames
from ontology.findings import Finding, did_you_mean
from ontology.page_reader import parse_page
from ontology.pages import Page, PageRef, Statement
from ontology.schema import Ontology
from ontoloom.names import entity_id
from ontoloom.records import Claim, Document, Entity, Failure, Mention, Value

EXTRACTOR = "page"


@dataclass(frozen=True, slots=True)
class Unlinked:
    """A claim that names a page which is not there."""

    claim: Claim
    message: str


def read_page(document: Document, ontology: Ontology) -> Page | tuple[Failure, ...]:
    """The page that a document of kind ``page`` holds, or a failure for each error found in it."""
    page, findings = parse_page(document.text, file=document.id, ontology=ontology)
    errors = [finding for finding in findings if finding.severity == "error"]
    if page is None or errors:
        return tuple(_failure(finding) for finding in errors) or (Failure("1:1", "no-page", "this is no wiki page"),)
    return page


def _failure(finding: Finding) -> Failure:
    return Failure(f"{finding.line}:{finding.column}", finding.code, str(finding))


def page_entity(document: Document, page: Page) -> Entity:
    """The entity that a page is about."""
    return Entity(entity_id(page.type, page.name), page.type, page.name, page.aliases, document.id)


def claims_of(page: Page, known: KnownNames) -> tuple[list[Claim], list[Unlinked]]:
    """What a page states, its name first, and apart from that what it says of pages that are not there."""
    claims = [_claim(page, "name", page.name, (), page.name_span)]
    unlinked: list[Unlinked] = []
    for statement in page.statements:
        missing = [ref.id for ref in _references(statement) if known.page(ref.id) is None]
        attributes = tuple((name, _value(value, known)) for name, value in statement.attributes)
        span = statement.start, statement.end
        target = _value(statement.object, known)
        claim = _claim(page, statement.key, target, attributes, span)
        if statement.inverse and isinstance(target, Mention):
            claim = replace(claim, subject=target, object=claim.subject)
        if missing:
            hint = did_you_mean(missing[0], known.page_ids())
            unlinked.append(Unlinked(claim, f"there is no page '{missing[0]}'" + (f"; {hint}" if hint else "")))
        else:
            claims.append(claim)
    return claims, unlinked


def references_of(page: Page) -> frozenset[str]:
    """The ids of the pages that a page refers to."""
    return frozenset(ref.id for statement in page.statements for ref in _references(statement))


def _references(statement: Statement) -> list[PageRef]:
    values = [statement.object, *(value for _, value in statement.attributes)]
    return [value for value in values if isinstance(value, PageRef)]


def _value(value: Value | PageRef, known: KnownNames) -> Value | Mention:
    if not isinstance(value, PageRef):
        return value
    target = known.page(value.id)
    return Mention(target.name, target.type) if target else Mention(value.id)


def _claim(
    page: Page,
    key: str,
    target: Value | Mention,
    attributes: tuple[tuple[str, Value | Mention], ...],
    span: tuple[int, int],
) -> Claim:
    return Claim(
        subject=Mention(page.name, page.type),
        relation=key,
        object=target,
        start=span[0],
        end=span[1],
        extractor=EXTRACTOR,
        source=EXTRACTOR,
        attributes=attributes,
    )
