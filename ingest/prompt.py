"""The words in which the LLM is asked to read a passage."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ontology.schema import Attribute, Ontology

PROMPT_VERSION = "1"
"""To be raised with every change of what a prompt says, so that documents are read again."""

# What chat templates use to mark turns; within a passage it would end the passage and begin a turn of its own.
_MARKS = re.compile(r"<\|[^|<>\n]{0,40}\|>|</?s>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>")


def build_messages(
    ontology: Ontology, *, shots: Sequence[tuple[str, str]], title: str, text: str
) -> tuple[tuple[str, str], ...]:
    """Turns as (role, content). All but the last are the same for every passage, so engines keep them cached."""
    turns = [("system", describe_task(ontology))]
    for question, answer in shots:
        turns += [("user", question), ("assistant", answer)]
    passage = f"{title}\n\n{text}" if title else text
    return (*turns, ("user", _MARKS.sub(" ", passage)))


def describe_task(ontology: Ontology) -> str:
    """The task and the ontology, one line a relation and attribute."""
    lines = [
        f"{r.name}: {_either(r.domain)} -> {_either(r.range)}{_with(r.attributes.values())}"
        for r in ontology.relations.values()
    ]
    for name in dict.fromkeys(a for t in ontology.types.values() for a in t.attributes if a != "name"):
        holders = [t.name for t in ontology.types_with_attribute(name)]
        attribute = ontology.types[holders[0]].attributes[name]
        lines.append(f"{name}: {_either(holders)} -> {_kind(attribute)}")
    subject = (ontology.description or ontology.name).rstrip(".")
    return (
        f"You read texts about {subject} and write what they state, as JSON.\n"
        "Only these can be written, as relation: type of subject -> type of object or value.\n"
        + "\n".join(lines)
        + '\nThe answer is {"triples":[{"r":relation,"s":subject,"o":object}]}.'
        " Copy subject and object from the text. Write nothing that the text does not state:"
        ' when it states none of these, the answer is {"triples":[]}.'
    )


def _either(types: Sequence[str]) -> str:
    return " or ".join(types)


def _with(attributes: Iterable[Attribute]) -> str:
    names = [a.name for a in attributes]
    return f" (with {', '.join(names)})" if names else ""


def _kind(attribute: Attribute) -> str:
    if attribute.values:
        return "one of " + ", ".join(value.name for value in attribute.values)
    return f"{attribute.type} of {attribute.unit}" if attribute.unit else attribute.type
