"""What kinds of change there are between two ontologies, and what each comes to. ``docs/diff.md`` says why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ontology.compare.versions import Step


class Rule(NamedTuple):
    """What every change of a kind comes to.

    ``step`` is the part of a version of 1.0.0 or later that it raises; ``major`` is what breaks something. ``again``:
    extractors look for other words or values now. ``codes`` are the refusals that it may lift, ``relation_codes`` those
    of an attribute of a relation where they differ.
    """

    step: Step
    again: bool = False
    codes: tuple[str, ...] = ()
    relation_codes: tuple[str, ...] | None = None


BREAKS, ALLOWS, DESCRIBES, NOTES = Rule("major"), Rule("minor"), Rule("patch"), Rule("none")
LIFTS_VALUES = Rule("minor", codes=("bad-value",))
NEW_ATTRIBUTE = (("unknown-attribute", "not-an-entity"), ("unknown-relation-attribute",))

RULES: Mapping[str, Rule] = {
    # the ontology as a whole
    "version-changed": NOTES,
    "imports-changed": NOTES,
    "ontology-renamed": Rule("patch", again=True),
    "ontology-described": Rule("patch", again=True),
    # what people read about anything, and what finds it
    "description-changed": DESCRIBES,
    "label-changed": DESCRIBES,
    "examples-changed": DESCRIBES,
    "synonym-added": Rule("minor", again=True),
    "synonym-removed": Rule("minor", again=True),
    "deprecated": ALLOWS,
    "undeprecated": ALLOWS,
    "deprecation-changed": DESCRIBES,
    # types
    "type-added": Rule("minor", again=True, codes=("unknown-type",)),
    "type-removed": BREAKS,
    "is_a-added": Rule("major", again=True),
    "is_a-removed": Rule("major", again=True),
    "type-abstract": Rule("major", again=True),
    "type-concrete": Rule("minor", again=True, codes=("abstract-type",)),
    "disjoint-added": BREAKS,
    "disjoint-removed": ALLOWS,
    "key-added": BREAKS,
    "key-removed": ALLOWS,
    # attributes, of types as of relations
    "attribute-added": Rule("minor", True, *NEW_ATTRIBUTE),
    "required-attribute-added": Rule("major", True, *NEW_ATTRIBUTE),
    "attribute-removed": Rule("major", relation_codes=("missing-attribute",)),
    "attribute-type-changed": Rule(
        "major", True, ("bad-value",), ("bad-value", "not-a-literal", "not-an-entity", "wrong-range")
    ),
    "attribute-type-widened": Rule("minor", True, ("bad-value",)),
    "attribute-required": BREAKS,
    "attribute-optional": Rule("minor", relation_codes=("missing-attribute",)),
    "attribute-many": Rule("major", relation_codes=("bad-value",)),
    "attribute-single": BREAKS,
    "fewest-values-raised": BREAKS,
    "fewest-values-lowered": ALLOWS,
    "most-values-lowered": BREAKS,
    "most-values-raised": ALLOWS,
    "attribute-identifying": BREAKS,
    "attribute-not-identifying": BREAKS,
    "unit-changed": Rule("major", True, ("bad-value",)),
    "minimum-raised": BREAKS,
    "minimum-lowered": Rule("minor", True, ("bad-value",)),
    "maximum-lowered": BREAKS,
    "maximum-raised": Rule("minor", True, ("bad-value",)),
    "pattern-added": BREAKS,
    "pattern-changed": Rule("major", codes=("bad-value",)),
    "pattern-removed": LIFTS_VALUES,
    "enum-value-added": Rule("minor", True, ("bad-value",)),
    "enum-value-removed": BREAKS,
    "targets-widened": Rule("minor", True, ("wrong-range",)),
    "targets-narrowed": BREAKS,
    "default-changed": DESCRIBES,
    # relations
    "relation-added": Rule(
        "minor", True, ("unknown-relation", "unknown-attribute", "not-a-literal", "unknown-relation-attribute")
    ),
    "relation-removed": BREAKS,
    "domain-widened": Rule("minor", True, ("wrong-domain", "reversed", "not-a-literal", "unknown-relation-attribute")),
    "domain-narrowed": BREAKS,
    "range-widened": Rule("minor", True, ("wrong-range", "reversed")),
    "range-narrowed": BREAKS,
    "fewest-objects-raised": BREAKS,
    "fewest-objects-lowered": ALLOWS,
    "most-objects-lowered": BREAKS,
    "most-objects-raised": ALLOWS,
    "fewest-subjects-raised": BREAKS,
    "fewest-subjects-lowered": ALLOWS,
    "most-subjects-lowered": BREAKS,
    "most-subjects-raised": ALLOWS,
    "inverse-added": ALLOWS,
    "inverse-removed": BREAKS,
    "inverse-changed": BREAKS,
    "symmetric-added": BREAKS,
    "symmetric-removed": BREAKS,
    "asymmetric-added": BREAKS,
    "asymmetric-removed": ALLOWS,
    "transitive-added": BREAKS,
    "transitive-removed": BREAKS,
    "acyclic-added": BREAKS,
    "acyclic-removed": ALLOWS,
    "conflict-changed": BREAKS,
    "conflict-loosened": ALLOWS,
}
"""Every kind of change. A kind that breaks nothing never breaks anything: what depends is two kinds."""


@dataclass(frozen=True, slots=True)
class Touches:
    """What to count in data written under the old ontology, to see how much a change concerns; names are those of old.

    - ``types`` alone: the things of exactly these types (subtypes are among them where they count).
    - ``types`` and ``attribute``: the values of the attribute that such things have; with ``value``, only this value.
    - ``relation``: its triples; with ``subjects`` or ``objects``, only those with a thing of these types at that end;
      with ``attribute``, only those that state this attribute of the relation, with ``value`` only as this value.
    - ``lacking``: the other way round. With ``types``, the things that have no value of the attribute; with
      ``subjects`` or ``objects``, the things of these types at that end of no triple; else the triples that lack the
      attribute.

    All empty: nothing that was written is concerned. It is the most that a change can concern: of values that a limit
    or pattern may refuse, all are counted.
    """

    types: tuple[str, ...] = ()
    attribute: str = ""
    value: str = ""
    relation: str = ""
    subjects: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    lacking: bool = False

    def __bool__(self) -> bool:
        return bool(self.types or self.relation)


@dataclass(frozen=True, slots=True)
class Reread:
    """What a change means for documents that were read under the old ontology.

    ``again``: extractors look for other words or values now, so that documents may give other claims. ``codes`` are
    those of ``ontology.admit`` under which claims were refused that may pass now: those whose relation (or attribute)
    is one of ``names``, and whose subject or object is of one of ``types`` or of no known type; empty stands for any.
    """

    again: bool = False
    codes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change: its kind, a key of RULES; where it is, as ``Model.context_length``; and what it is in words.

    ``hint`` is what was perhaps meant, or what to do; empty when there is no proposal.
    """

    kind: str
    where: str
    message: str
    hint: str = ""
    touches: Touches = Touches()
    extraction: Reread = Reread()

    @property
    def step(self) -> Step:
        """The part of a version of 1.0.0 or later that it raises."""
        return RULES[self.kind].step

    @property
    def breaking(self) -> bool:
        """Whether a page, claim or query that was valid may be invalid now, or mean something else."""
        return self.step == "major"

    def __str__(self) -> str:
        proposal = f"; {self.hint}" if self.hint else ""
        return f"{self.where}: {self.kind}: {self.message}{proposal}"


def change(
    kind: str,
    where: str,
    message: str,
    *,
    hint: str = "",
    touches: Touches | None = None,
    names: tuple[str, ...] = (),
    types: tuple[str, ...] = (),
    of_relation: bool = False,
) -> Change:
    """A change of a kind. ``names`` and ``types`` say which refused claims it may let pass.

    Only what breaks something touches what was written, and what is deprecated, so that one sees how much is to move.
    """
    rule = RULES[kind]
    told = touches if touches and (rule.step == "major" or kind == "deprecated") else Touches()
    codes = rule.relation_codes if of_relation and rule.relation_codes is not None else rule.codes
    reread = Reread(rule.again, codes, names if codes else (), types if codes else ())
    return Change(kind=kind, where=where, message=message, hint=hint, touches=told, extraction=reread)
