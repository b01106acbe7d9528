"""Mentions to entities: one entity for all spellings of a name, of the type that the claim, the pages or the document
tell.

An entity is known by its wiki page, else it is made from its type and name, so its id needs no look-up and does not
depend on what was read before. A name whose type nothing tells stays unresolved: nothing is guessed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ingest.company import names_organizations, without_company_form
from ingest.known import Known, KnownNames
from ontology.schema import Ontology
from ontoloom.names import entity_id, name_key
from ontoloom.records import Claim, Entity, Mention

RESOLVER_VERSION = "1"
"""To be raised when mentions resolve differently, so that documents are read again."""


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Why a mention is no entity: ``ambiguous-type`` or ``ambiguous-name``, said in one line."""

    code: str
    message: str


class Resolver:
    """Resolves the mentions of one document, given all of its claims.

    A type that one claim states for a name holds for the same name in the others.
    """

    def __init__(self, ontology: Ontology, known: KnownNames, claims: Sequence[Claim]) -> None:
        self._ontology = ontology
        self._known = known
        self._stated: dict[str, set[str]] = {}
        ends = [ends_of(ontology, claim) for claim in claims]
        for mention, legal in (end for of_claim in ends for end in of_claim):
            if mention.type in legal:
                self._stated.setdefault(self._key(mention.name), set()).add(str(mention.type))
        # What a relation with one possible type implies counts only where no claim says the type outright, and not
        # from a claim that cannot hold.
        plausible = [of_claim for of_claim in ends if all(self._may_be(*end) for end in of_claim)]
        for mention, legal in (end for of_claim in plausible for end in of_claim):
            implied = ontology.widest(legal)
            if mention.type is None and implied is not None:
                self._stated.setdefault(self._key(mention.name), {implied})

    def _may_be(self, mention: Mention, legal: Sequence[str]) -> bool:
        """Whether nothing speaks against a mention being of one of the types."""
        told = self._stated.get(self._key(mention.name), set())
        if mention.type is not None:
            told = {mention.type}
        else:
            told = told or {known.type for known in self._known.look_up(mention.name)}
        return not told or bool(told & set(legal))

    def resolve(self, mention: Mention, legal: Sequence[str]) -> Entity | Unresolved:
        """The entity of a mention at an end of a relation where types ``legal`` may stand.

        The entity may still be of another type than that: then it is known so, and the ontology refuses the claim.
        """
        known = self._known.look_up(mention.name)
        compatible = [k for k in known if k.type in legal]
        fitting = [k for k in compatible if k.type == mention.type] or compatible
        if len({k.id for k in fitting}) > 1:
            fitting = [k for k in fitting if name_key(k.name) == name_key(mention.name)]
        if len({k.id for k in fitting}) == 1:
            return self._entity(mention, fitting[0].type, fitting[0])
        if compatible and (mention.type is None or any(k.type == mention.type for k in compatible)):
            pages = ", ".join(sorted(k.page for k in compatible))
            return Unresolved("ambiguous-name", f"'{mention.name}' may be any of the pages {pages}")
        if mention.type is not None:
            return self._entity(mention, mention.type)
        if known:
            return self._entity(mention, known[0].type, known[0])
        return self._infer(mention, legal)

    def _infer(self, mention: Mention, legal: Sequence[str]) -> Entity | Unresolved:
        stated = self._stated.get(self._key(mention.name), set())
        fitting = sorted(stated & set(legal))
        fitting = [t for t in fitting if not set(self._ontology.subtypes(t)[1:]) & stated]  # the most specific ones
        if len(fitting) == 1:
            return self._entity(mention, fitting[0])
        if stated and not fitting:
            return self._entity(mention, min(stated))
        widest = self._ontology.widest(legal)
        if widest is not None and not fitting:
            return self._entity(mention, widest)
        types = " or ".join(fitting or legal) or "of any type"
        return Unresolved("ambiguous-type", f"nothing tells whether '{mention.name}' is {types}")

    def _entity(self, mention: Mention, type_name: str, known: Known | None = None) -> Entity:
        name = " ".join(mention.name.split())
        if known is not None:
            entity = known.id
        else:
            synonyms = self._ontology.types[type_name].synonyms if type_name in self._ontology.types else ()
            is_organization = names_organizations(type_name, synonyms)
            entity = entity_id(type_name, without_company_form(name, is_organization=is_organization))
        return Entity(entity, type_name, name)

    @staticmethod
    def _key(name: str) -> str:
        return name_key(without_company_form(name))


def ends_of(ontology: Ontology, claim: Claim) -> list[tuple[Mention, tuple[str, ...]]]:
    """The mentions of a claim with the types that may stand there: subject, object, then attributes in order."""
    relation = ontology.relations.get(claim.relation)
    holders = tuple(t.name for t in ontology.types_with_attribute(claim.relation))
    ends = [(claim.subject, relation.domain if relation else holders)]
    if isinstance(claim.object, Mention):
        ends.append((claim.object, relation.range if relation else ()))
    for name, value in claim.attributes:
        if isinstance(value, Mention):
            attribute = relation.attributes.get(name) if relation else None
            ends.append((value, attribute.targets if attribute else ()))
    return ends


def merge_spellings(entities: Iterable[Entity]) -> tuple[Entity, ...]:
    """One entity for each id, sorted: named as the document spells it most often (the smallest of equals), with its
    other spellings and all declared aliases as aliases."""
    spellings: dict[str, Counter[str]] = {}
    aliases: dict[str, set[str]] = {}
    first: dict[str, Entity] = {}
    for entity in entities:
        kept = first.setdefault(entity.id, entity)
        if entity.page is not None and kept.page is None:
            first[entity.id] = entity
        spellings.setdefault(entity.id, Counter())[entity.name] += 1
        aliases.setdefault(entity.id, set()).update(entity.aliases)
    merged = []
    for key in sorted(first):
        entity, uses = first[key], spellings[key]
        name = entity.name if entity.page else min(uses, key=lambda spelling: (-uses[spelling], spelling))
        others = sorted((aliases[key] | set(uses)) - {name})
        merged.append(Entity(key, entity.type, name, tuple(others), entity.page))
    return tuple(merged)
