"""The JSON schema of an answer, compiled from the ontology for one passage: only what is legal can be written.

An answer is ``{"triples":[{"r":relation,"s":subject,"o":object,…}, …]}``. Each relation and attribute is a branch of
its own, with ``r`` as a constant in front (so that a decoder knows the branch before it masks the rest), ends chosen
from the names that stand in the passage, and literals from the values that stand in it. A name whose type is known is
offered only where that type is legal. So every string is bounded, and so is the whole answer.

Measured with SmolLM2-135M on abstracts of AI papers: bounded free strings cost 0.5 to 2.8 s to compile, and not one of
37 triples had its words from the passage (most were those of the examples); with choices a grammar compiles in 0.01
to 0.4 s, and all do.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ingest.cues import Cues
from ingest.literals import find_literals
from ontology.schema import Attribute, Ontology, Relation
from ontoloom.names import name_key
from ontoloom.records import canonical_text

Schema = dict[str, Any]

_NAME_REACH = 80


@dataclass(frozen=True, slots=True)
class Choices:
    """What a passage offers: its text, the names in it, and the types of those that are known."""

    text: str
    names: Sequence[str]
    types: Mapping[str, frozenset[str]]

    def of(self, types: Sequence[str]) -> tuple[str, ...]:
        """The names that may be of one of ``types``."""
        return tuple(n for n in self.names if n not in self.types or self.types[n] & set(types))

    def is_part_of_a_name(self, start: int, end: int) -> bool:
        """Whether a number is one in a name, such as the 13B of Llama 2 13B."""
        before, after = max(0, start - _NAME_REACH), end + _NAME_REACH
        around = self.text[before:after]
        spans = (span for name in self.names for span in _places(name, around))
        return any(first + before <= start and end <= last + before for first, last in spans)


def compile_answer(
    ontology: Ontology, choices: Choices, *, cues: Cues | None = None, most_triples: int = 6
) -> Schema | None:
    """The schema of an answer about one passage; None when nothing could be said with the names and values in it.

    ``cues``: only relations and attributes that the passage has a word for are offered.
    """
    definitions: dict[str, Schema] = {}
    branches: list[Schema] = []
    for relation in ontology.relations.values():
        if cues is None or cues.tell(relation.name, choices.text):
            branches += _relation_branches(relation, choices, cues, definitions)
    for name in dict.fromkeys(a for t in ontology.types.values() for a in t.attributes if a != "name"):
        if cues is None or cues.tell(name, choices.text):
            branches += _attribute_branches(ontology, name, choices, cues, definitions)
    if not branches:
        return None
    triples = {"type": "array", "items": {"anyOf": branches}, "maxItems": most_triples}
    return {**_object({"triples": triples}), "$defs": definitions}


def _relation_branches(
    relation: Relation, choices: Choices, cues: Cues | None, definitions: dict[str, Schema]
) -> list[Schema]:
    """One branch for all subjects that may have the same objects: nothing is put in relation to itself."""
    objects = choices.of(relation.range)
    groups: dict[tuple[str, ...], list[str]] = {}
    for subject in choices.of(relation.domain):
        others = tuple(name for name in objects if name_key(name) != name_key(subject))
        if others:
            groups.setdefault(others, []).append(subject)
    optional = {
        attribute.name: options
        for attribute in relation.attributes.values()
        if (options := _values(attribute, choices, cues, definitions)) is not None
    }
    return [
        _object(
            {
                "r": {"const": relation.name},
                "s": _define(tuple(subjects), definitions),
                **_type_of("st", relation.domain),
                "o": _define(others, definitions),
                **_type_of("ot", relation.range),
            },
            optional,
        )
        for others, subjects in groups.items()
    ]


def _places(name: str, text: str) -> Iterator[tuple[int, int]]:
    at = text.find(name)
    while at >= 0:
        yield at, at + len(name)
        at = text.find(name, at + 1)


def _type_of(key: str, types: Sequence[str]) -> dict[str, Schema]:
    """A choice of type, only where the relation leaves one."""
    return {key: {"enum": list(types)}} if len(types) > 1 else {}


def _attribute_branches(
    ontology: Ontology, name: str, choices: Choices, cues: Cues | None, definitions: dict[str, Schema]
) -> list[Schema]:
    holders = tuple(t.name for t in ontology.types_with_attribute(name))
    subjects = choices.of(holders)
    options = _values(ontology.types[holders[0]].attributes[name], choices, cues, definitions)
    if not subjects or options is None:
        return []
    properties = {"r": {"const": name}, "s": _define(subjects, definitions), **_type_of("st", holders)}
    return [_object({**properties, "o": options})]


def _values(attribute: Attribute, choices: Choices, cues: Cues | None, definitions: dict[str, Schema]) -> Schema | None:
    """What may be written as a value of the attribute; None when the passage states no such value."""
    if attribute.type == "boolean":
        return {"enum": ["true", "false"]}
    if attribute.type == "reference":
        # A wrong one would make another triple of it, so only what is known for certain is offered.
        options = tuple(n for n in choices.of(attribute.targets) if n in choices.types or attribute.required)
    elif attribute.type in ("string", "text"):
        options = tuple(choices.names)
    else:
        stated = (s for s in find_literals(attribute, choices.text) if not choices.is_part_of_a_name(s.start, s.end))
        meant = [s for s in stated if cues is None or cues.may_count(attribute.name, s.noun)]
        unit = f" {attribute.unit}" if attribute.type == "quantity" else ""
        options = tuple(dict.fromkeys(canonical_text(s.value) + unit for s in meant))
    return _define(options, definitions) if options else None


def _define(options: tuple[str, ...], definitions: dict[str, Schema]) -> Schema:
    """A reference to the enum of ``options``, shared between the branches that offer the same."""
    for name, definition in definitions.items():
        if definition["enum"] == list(options):
            return {"$ref": f"#/$defs/{name}"}
    name = f"e{len(definitions)}"
    definitions[name] = {"enum": list(options)}
    return {"$ref": f"#/$defs/{name}"}


def _object(required: dict[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def write_answer(triples: Sequence[Mapping[str, str]]) -> str:
    """An answer as the grammar writes it, byte for byte: no blanks after ``,`` and ``:``, no escapes of letters."""
    return json.dumps({"triples": list(triples)}, ensure_ascii=False, separators=(",", ":"))
