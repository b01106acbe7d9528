"""A JSON-LD context as ``ontology.yaml``: a vocabulary of terms, whose types of value it tells, and little more.

Terms that JSON-LD itself takes for types, and those with a capital, become types; terms of type ``@id`` or ``@vocab``
relations between all types; other terms attributes of all types, in an abstract type that all are. Where they belong is
then to be said by hand. Keys that every page has, such as ``name``, are left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from ontology.attributes import PAGE_KEYS
from ontology.importers.imported import written
from ontology.importers.legal_names import Names, called, ontology_name
from ontology.importers.owl_graph import KINDS
from ontology.schema import Attribute, EntityType, Ontology, Relation
from ontoloom.errors import OntologyError

XSD = ("xsd:", "http://www.w3.org/2001/XMLSchema#")
LISTED = ("@set", "@list", "@language", "@index", "@id", "@graph")


def import_jsonld_context(text: str, *, file: str = "context.jsonld") -> tuple[str, list[str]]:
    """The text of ``ontology.yaml``, and notes of what was decided or could not be kept.

    Raises OntologyError where the text is no JSON, or has no context with terms.
    """
    notes: list[str] = []
    terms = _terms(_read(text, file), notes)
    names = Names(["Thing"])
    attributes: dict[str, Attribute] = {}
    relations: dict[str, Relation] = {}
    types = {}
    for term in [term for term in terms if _is_type(term, terms[term]) and term != "Thing"]:
        name = names.pick(term, prefix="Type")
        types[name] = EntityType(name, {}, parent="Thing", **called(name, term, description=_meaning(terms, term)))
    properties = Names([*PAGE_KEYS, "Thing", *types])
    for term, said in terms.items():
        if _is_type(term, said) or term in PAGE_KEYS[1:]:
            continue
        name = properties.pick(term, prefix="has")
        kind = said.get("@type")
        words = called(name, term, description=_meaning(terms, term))
        if kind in ("@id", "@vocab"):
            relations[name] = Relation(name, ("Thing",), ("Thing",), **words)
        else:
            many = any(one in LISTED for one in _containers(said))
            attributes[name] = Attribute(name, KINDS.get(_datatype(kind), "string"), many=many, **words)
    if not types and not relations and not attributes:
        raise OntologyError(f"{file} has no terms", code="bad-import", hint="is there an '@context'?")
    if not types:
        notes.append("no term looks like a type; Thing is what all is")
    notes.append("a context does not say what belongs to what: all attributes and relations are those of Thing")
    thing = EntityType("Thing", attributes, abstract=bool(types))
    name = ontology_name(PurePath(file).stem)
    return written(Ontology(name, "1.0.0", "", {"Thing": thing, **types}, relations), notes)


def _read(text: str, file: str) -> list[Any]:
    """The contexts of a document, or the document itself where it is one."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise OntologyError(f"{file} is no JSON: {error}", code="bad-import") from None
    context = data.get("@context") if isinstance(data, dict) else data
    return context if isinstance(context, list) else [context]


def _terms(contexts: list[Any], notes: list[str]) -> dict[str, Mapping[str, Any]]:
    """All terms with what is said of them; prefixes and keywords are none."""
    found: dict[str, Mapping[str, Any]] = {}
    for context in contexts:
        if isinstance(context, str):
            notes.append(f"'{context}' is imported, which is not read")
        for term, said in context.items() if isinstance(context, dict) else ():
            if term.startswith("@") or said is None or (isinstance(said, str) and _is_prefix(said)):
                continue
            found[term] = {"@id": said} if isinstance(said, str) else said if isinstance(said, dict) else {}
            inner = found[term].get("@context")
            if isinstance(inner, dict):
                found |= _terms([inner], notes)
            if "@reverse" in found[term]:
                notes.append(f"'{term}' is the reverse of {found[term]['@reverse']}; it became a relation of its own")
                found[term] = {**found[term], "@type": "@id"}
    return found


def _is_prefix(iri: str) -> bool:
    return iri.endswith(("#", "/", ":")) or iri.startswith("@")


def _is_type(term: str, said: Mapping[str, Any]) -> bool:
    """Whether a term is a type: it has a capital, and nothing is said of its values."""
    return term[:1].isupper() and not said.keys() & {"@type", "@container", "@reverse"}


def _containers(said: Mapping[str, Any]) -> list[Any]:
    container = said.get("@container")
    return container if isinstance(container, list) else [container]


def _datatype(kind: object) -> str:
    """The name of a datatype in XML Schema; empty for others."""
    return next((str(kind).removeprefix(prefix) for prefix in XSD if str(kind).startswith(prefix)), "")


def _meaning(terms: Mapping[str, Mapping[str, Any]], term: str) -> str:
    iri = str(terms[term].get("@id") or "")
    return f"{iri}." if iri and iri != term and not iri.startswith("@") else ""
