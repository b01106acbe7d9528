"""Worked examples for the prompt, made from the ontology with invented names, and written as the grammar writes.

A small model follows the form of examples more than any instruction, so their answers must be what the grammar would
let it write, byte for byte. The names are invented: one that leaks into an answer is in no passage and is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ingest.grammar import write_answer
from ontology.schema import Attribute, Ontology, Relation

_NAMES = ("Zorvane", "Quellix", "Brindol", "Tarsek", "Ulmora", "Veskin", "Dornath", "Fellume", "Grisk", "Jorunel")
_PREPOSITIONS = frozenset(["by", "from", "on", "in", "to", "at", "for", "with", "of", "than", "under"])
_NOTHING = ("The committee met on Monday and the weather was fine.", write_answer([]))


@dataclass(slots=True)
class _Writer:
    """Invented names, one for each role, and the sentences and items written so far."""

    names: Iterator[str]
    sentences: list[str]
    items: list[dict[str, str]]


def make_shots(ontology: Ontology) -> tuple[tuple[str, str], ...]:
    """Two or three pairs of (text, answer): what relations and attributes look like, and a text that states none."""
    relations = list(ontology.relations.values())
    rich = [r for r in relations if r.attributes][:1]
    plain = [r for r in relations if r not in rich][:2]
    names = iter(_NAMES)
    shots = []
    for chosen in (plain, rich):
        writer = _Writer(names, [], [])
        subject = next(names) if chosen else ""
        for relation in chosen:
            _state_relation(writer, relation, subject if relation.domain[0] == chosen[0].domain[0] else next(names))
        if chosen:
            _state_attribute(writer, ontology, chosen[0].domain[0], subject)
            shots.append((" ".join(writer.sentences), write_answer(writer.items)))
    return (*shots[:1], _NOTHING, *shots[1:])


def _state_relation(writer: _Writer, relation: Relation, subject: str) -> None:
    item = {"r": relation.name, "s": subject}
    if len(relation.domain) > 1:
        item["st"] = relation.domain[0]
    item["o"] = next(writer.names)
    if len(relation.range) > 1:
        item["ot"] = relation.range[0]
    sentence = f"{subject} {_verb(relation)} {item['o']}"
    for attribute in relation.attributes.values():
        if attribute.type == "reference":
            item[attribute.name] = next(writer.names)
            sentence += f" on {item[attribute.name]}"
        elif attribute.type in ("integer", "number"):
            item[attribute.name] = _number(attribute)
            sentence += f" with {_label(attribute)} {item[attribute.name]}{_unit(attribute)}"
    writer.sentences.append(sentence + ".")
    writer.items.append(item)


def _verb(relation: Relation) -> str:
    """Words that state the relation between two names: ``outperforms``, ``was developed by``."""
    phrase = relation.synonyms[0] if relation.synonyms else relation.name.replace("_", " ")
    first, _, last = phrase.partition(" ")
    if first.endswith(("ed", "en", "ilt", "ade")) and last.split(" ")[-1] in _PREPOSITIONS:
        return f"was {phrase}"
    return phrase if first.endswith(("s", "ed")) else f"is {phrase}"


def _state_attribute(writer: _Writer, ontology: Ontology, type_name: str, subject: str) -> None:
    """One attribute with a number or a word of an enum, the first that the type has."""
    for attribute in ontology.types[type_name].attributes.values():
        holders = [t.name for t in ontology.types_with_attribute(attribute.name)]
        item = {"r": attribute.name, "s": subject, **({"st": type_name} if len(holders) > 1 else {})}
        if attribute.type in ("integer", "number"):
            item["o"] = _number(attribute)
        elif attribute.type == "enum":
            item["o"] = attribute.values[0].name
        else:
            continue
        writer.sentences.append(f"The {_label(attribute)} of {subject} is {item['o']}{_unit(attribute)}.")
        writer.items.append(item)
        return


def _label(attribute: Attribute) -> str:
    return attribute.name.replace("_", " ").replace(".", " ")


def _number(attribute: Attribute) -> str:
    low = int(attribute.minimum or 0)
    return str(min(low + 12, int(attribute.maximum)) if attribute.maximum is not None else low + 12)


def _unit(attribute: Attribute) -> str:
    return f" {attribute.unit}" if attribute.unit else ""
