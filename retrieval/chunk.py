"""A triple as a text: readable on its own and complete, with the ontology's words in place of identifiers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from ontology.schema import Attribute, Ontology, Relation
from ontoloom.records import Entity, EntityRef, Triple, Value, canonical_text


@dataclass(frozen=True, slots=True)
class Wording:
    """``text`` says it all; ``statement`` leaves the type out; ``entities`` are those that it names, in order."""

    text: str
    statement: str
    entities: tuple[str, ...]


def word(triple: Triple, entities: Mapping[str, Entity], ontology: Ontology) -> Wording:
    """``Model Qwen2 72B superior to Llama 3 70B (benchmark MMLU, score delta 2.3 points)``.

    A literal follows its label with its unit: ``Model Zephyr 7B: hardware requirement: GPU memory 80 GB``. A label is
    the identifier with blanks, in the spelling of a synonym where one has the same letters (``GPU memory``).
    ``entities`` must hold every entity that the triple names.
    """
    subject = entities[triple.subject]
    relation = ontology.relations.get(triple.relation)
    attribute = ontology.attribute(subject.type, triple.relation)
    spelled = _spell(triple.object, entities, attribute)
    notes = [
        f"{label(name, relation.attributes.get(name) if relation else None)} "
        f"{_spell(value, entities, relation.attributes.get(name) if relation else None)}"
        for name, value in triple.attributes
    ]
    colon = "" if isinstance(triple.object, EntityRef) else ":"
    statement = f"{subject.name}{colon} {label(triple.relation, attribute or relation)} {spelled}"
    if notes:
        statement += f" ({', '.join(notes)})"
    return Wording(f"{spaced(subject.type)} {statement}", statement, tuple(mentioned(triple)))


def mentioned(triple: Triple) -> Sequence[str]:
    """Ids of the entities that a triple names: subject, object, and those in its attributes, each once."""
    values = (EntityRef(triple.subject), triple.object, *(value for _, value in triple.attributes))
    return list(dict.fromkeys(value.id for value in values if isinstance(value, EntityRef)))


def label(name: str, definition: Attribute | Relation | None = None) -> str:
    """``training method`` for ``training_method``; ``hardware requirement: GPU memory`` for a field of a record."""
    record, dot, field = name.partition(".")
    own = spaced(field if dot else record)
    synonyms: Iterable[str] = definition.synonyms if definition else ()
    spelled = next((s for s in synonyms if s.casefold() == own.casefold()), own)
    return f"{spaced(record)}: {spelled}" if dot else spelled


def spaced(identifier: str) -> str:
    """An identifier with blanks: ``Research_Group`` and ``ResearchGroup`` as ``Research Group``."""
    words = identifier.replace("_", " ").replace(".", " ")
    split = [f" {c}" if i and c.isupper() and words[i - 1].islower() else c for i, c in enumerate(words)]
    return "".join(split)


def _spell(value: EntityRef | Value, entities: Mapping[str, Entity], definition: Attribute | None) -> str:
    if isinstance(value, EntityRef):
        return entities[value.id].name
    if isinstance(value, bool):
        return "yes" if value else "no"
    unit = definition.unit if definition and not isinstance(value, str | date) else ""
    return f"{canonical_text(value)} {unit}".rstrip()
