"""A graph of RDF, read as OWL: its classes and properties, and what is said of each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import unquote

from ontology.exports.owl import FLAGS
from ontology.exports.rdf_terms import VOCABULARY
from ontology.importers.legal_names import Said
from ontology.labels import LANGUAGE, VERSION
from ontology.schema import NUMERIC, Attribute, Cardinality, Deprecation, EnumValue, ValueType
from ontology.values import pattern_fault

if TYPE_CHECKING:
    from rdflib import Graph, URIRef
    from rdflib.term import Node

__all__ = ["FLAGS", "OwlGraph"]

XML_SCHEMA = "http://www.w3.org/2001/XMLSchema#"
BUILT_IN = re.compile(r"http://www\.w3\.org/(2001/XMLSchema|2002/07/owl|1999/02/22-rdf-syntax-ns|2000/01/rdf-schema)#")
KINDS: dict[str, ValueType] = {
    "integer": "integer", "int": "integer", "long": "integer", "short": "integer", "byte": "integer",
    "nonNegativeInteger": "integer", "positiveInteger": "integer", "unsignedInt": "integer", "gYear": "integer",
    "decimal": "number", "double": "number", "float": "number", "boolean": "boolean", "date": "date",
    "dateTime": "datetime", "dateTimeStamp": "datetime", "anyURI": "url",
}  # fmt: skip
"""Datatypes of XML Schema; all others are strings."""


class OwlGraph:
    """The graph. ``notes`` tells of what has no counterpart here."""

    def __init__(self, graph: Graph) -> None:
        from rdflib import OWL, RDF, RDFS, Namespace

        self.graph, self.notes = graph, list[str]()
        self.own, self.owl, self.rdf, self.rdfs = Namespace(VOCABULARY), OWL, RDF, RDFS

    # What there is

    def header(self, otherwise: str) -> tuple[str, str, str]:
        """Name, version and description of the ontology."""
        node = next(iter(sorted(self.graph.subjects(self.rdf.type, self.owl.Ontology), key=str)), None)
        if node is None:
            return otherwise, "", ""
        said = self.said(self._uri(node), "", {}) if self._is_uri(node) else None
        label = str(self.graph.value(node, self.rdfs.label) or "")
        versions = sorted(str(one) for one in self.graph.objects(node, self.owl.versionInfo))
        version = next((one for one in versions if re.fullmatch(r"v?\d+(\.\d+)*", one)), (versions or [""])[0])
        return label or self.local(node) or otherwise, version, said["description"] if said else ""

    def classes(self) -> list[URIRef]:
        """Classes with a name, those at the ends of properties too, but for records and statements."""
        stated = set(self.graph.subjects(self.rdf.type, self.owl.Class))
        stated |= set(self.graph.subjects(self.rdf.type, self.rdfs.Class))
        used = {one for key in (self.rdfs.subClassOf, self.rdfs.domain) for one in self.graph.objects(None, key)}
        used |= {end for node in self._all_properties() for key in ("domain", "range") for end in self.ends(node, key)}
        found = {self._uri(one) for one in stated | used if self._is_uri(one) and not self._is_datatype(one)}
        parts = {*self.graph.subjects(self.own.record), *self.graph.subjects(self.own.statementOf)}
        return sorted(found - parts)

    def _all_properties(self) -> list[URIRef]:
        kinds = (self.owl.ObjectProperty, self.owl.DatatypeProperty, self.rdf.Property, self.owl.FunctionalProperty)
        nodes = {one for kind in kinds for one in self.graph.subjects(self.rdf.type, kind)}
        return sorted(self._uri(one) for one in nodes if self._is_uri(one) and not BUILT_IN.match(str(one)))

    def _part_domains(self) -> set[Node]:
        return {*self.graph.subjects(self.own.record), *self.graph.subjects(self.own.statementOf)}

    def relations(self) -> list[URIRef]:
        """Properties that lead to things, but for those of statements and records."""
        parts = self._part_domains()
        ends = {one: set(self.graph.objects(one, self.rdfs.domain)) for one in self._all_properties()}
        return [one for one in self._all_properties() if self.leads(one) and not ends[one] & parts]

    def attributes(self) -> list[URIRef]:
        """Properties that lead to values or records, of types themselves."""
        parts = self._part_domains()
        nodes = [one for one in self._all_properties() if not self.leads(one)]
        return [one for one in nodes if not set(self.graph.objects(one, self.rdfs.domain)) & parts]

    def leads(self, node: URIRef) -> bool:
        """Whether a property leads to things: it says so, or its range is a class. Records are no things."""
        if self.record_of(node) is not None or self.is_a(node, "DatatypeProperty"):
            return False
        return self.is_a(node, "ObjectProperty") or bool(list(self.ends(node, "range")))

    def ends(self, node: URIRef, end: str) -> Iterator[URIRef]:
        """The classes at an end of a property, those of a union one by one."""
        for one in self.graph.objects(node, self.rdfs[end]):
            union = self.graph.value(one, self.owl.unionOf)
            for part in self._list(union) if union is not None else [one]:
                if self._is_uri(part) and not self._is_datatype(part):
                    yield self._uri(part)

    def inverses(self) -> dict[URIRef, URIRef]:
        """Properties that are called the inverse of another; of two that both say so, the later by name."""
        found: dict[URIRef, URIRef] = {}
        for one, other in sorted(self.graph.subject_objects(self.owl.inverseOf), key=str):
            if self._is_uri(one) and self._is_uri(other) and one != other and other not in found:
                found.setdefault(self._uri(one), self._uri(other))
        return found

    # What is said of it

    def is_a(self, node: URIRef, kind: str) -> bool:
        return (node, self.rdf.type, self.owl[kind]) in self.graph

    def is_acyclic(self, node: URIRef) -> bool:
        return (node, self.own.acyclic, None) in self.graph

    def is_abstract(self, node: URIRef) -> bool:
        return (node, self.own.abstract, None) in self.graph

    def superclasses(self, node: URIRef) -> list[URIRef]:
        return sorted(self._uri(one) for one in self.graph.objects(node, self.rdfs.subClassOf) if self._is_uri(one))

    def mixins(self, node: URIRef) -> list[URIRef]:
        return sorted(self._uri(one) for one in self.graph.objects(node, self.own.mixin) if self._is_uri(one))

    def disjoint(self, node: URIRef) -> list[URIRef]:
        """The classes that a class says it is disjoint with, alone or in a group."""
        found = {one for one in self.graph.objects(node, self.owl.disjointWith) if self._is_uri(one)}
        for group in self.graph.subjects(self.rdf.type, self.owl.AllDisjointClasses):
            members = list(self._list(self.graph.value(group, self.owl.members)))
            if node in members:
                found |= {one for one in members[members.index(node) + 1 :] if self._is_uri(one)}
        return sorted(self._uri(one) for one in found - {node})

    def limits(self, owner: URIRef, path: URIRef, *, back: bool = False) -> Cardinality:
        """How many values things of a class have for a property, or with ``back`` how many have them for one."""
        least, most = 0, None
        for one in self.graph.objects(owner, self.rdfs.subClassOf):
            on = self.graph.value(one, self.owl.onProperty)
            if (self.graph.value(on, self.owl.inverseOf) if back else on) != path:
                continue
            exact = self._number(one, "cardinality") or self._number(one, "qualifiedCardinality")
            least = max(least, exact or self._number(one, "minCardinality") or 0)
            upper = exact or self._number(one, "maxCardinality")
            most = upper if most is None else most
        return Cardinality(least, most)

    def _number(self, node: Node, key: str) -> int | None:
        value = self.graph.value(node, self.owl[key])
        return int(str(value)) if value is not None and str(value).isdigit() else None

    def keys(self, node: URIRef, attributes: Mapping[str, Attribute]) -> Iterator[tuple[str, ...]]:
        """Keys of attributes that are there, with one value each."""
        for one in self.graph.objects(node, self.owl.hasKey):
            parts = tuple(self.attribute_name(self._uri(part)) for part in self._list(one) if self._is_uri(part))
            if parts and all(part in attributes and not attributes[part].many for part in parts):
                yield parts

    def statement_parts(self, relation: URIRef) -> list[URIRef]:
        """The properties of statements of a relation that are its attributes."""
        node = next(iter(self.graph.subjects(self.own.statementOf, relation)), None)
        parts = [one for one in self._all_properties() if node and (one, self.rdfs.domain, node) in self.graph]
        return [one for one in parts if (one, self.own.end, None) not in self.graph]

    def record_of(self, node: URIRef) -> URIRef | None:
        """The class of the record that a property leads to."""
        found = [one for one in self.graph.objects(node, self.rdfs.range) if (one, self.own.record, None) in self.graph]
        return self._uri(found[0]) if found else None

    def fields(self, node: URIRef) -> list[URIRef]:
        record = self.record_of(node)
        return [one for one in self._all_properties() if record and (one, self.rdfs.domain, record) in self.graph]

    def attribute_name(self, node: URIRef) -> str:
        return str(self.graph.value(node, self.own.name) or self.local(node))

    def attribute(self, node: URIRef, owner: URIRef | None) -> Attribute:
        """An attribute without a name that is sure to be legal; ``owner`` is the class that may limit it."""
        name = self.attribute_name(node)
        range_ = next(iter(sorted(self.graph.objects(node, self.rdfs.range), key=str)), None)
        owner = owner or next((self._uri(one) for one in self.graph.objects(node, self.rdfs.domain)), None)
        limits = self.limits(owner, node) if owner is not None else Cardinality()
        kind, facets, values = self._range(range_)
        own = str(self.graph.value(node, self.own.valueType) or "")
        kind = "text" if own == "text" else "quantity" if own == "quantity" else kind
        many = not self.is_a(node, "FunctionalProperty") and limits.most != 1
        low, high = (float(facets[key]) if key in facets else None for key in ("minInclusive", "maxInclusive"))
        pattern = facets.get("pattern")
        fault = pattern_fault(pattern) if pattern is not None else None
        if fault is not None:
            self.notes.append(f"the pattern of '{name}' was left out: {fault}")
        return Attribute(
            name,
            kind,
            many=many,
            required=limits.least > 0,
            identifying=(node, self.own.identifying, None) in self.graph,
            unit=str(self.graph.value(node, self.own.unit) or "") if kind in NUMERIC else "",
            values=tuple(EnumValue(value) for value in values),
            minimum=low if kind in NUMERIC else None,
            maximum=high if kind in NUMERIC else None,
            pattern=pattern if kind in ("string", "text", "url") and fault is None else None,
            at_most=limits.most if many else None,
            **self.said(node, name, self._siblings(node)),
        )

    def _siblings(self, node: URIRef) -> dict[URIRef, str]:
        """The properties of the same domain, which may be used in the place of one, by their names."""
        domains = set(self.graph.objects(node, self.rdfs.domain))
        nodes = [one for one in self._all_properties() if domains & set(self.graph.objects(one, self.rdfs.domain))]
        return {one: self.attribute_name(one) for one in nodes if one != node and not self.leads(one)}

    def _range(self, node: Node | None) -> tuple[ValueType, dict[str, str], list[str]]:
        """Type of value, limits and values of a range."""
        if node is None:
            return "string", {}, []
        values = self.graph.value(node, self.owl.oneOf)
        if values is not None:
            return "enum", {}, list(dict.fromkeys(" ".join(str(one).split()) for one in self._list(values)))
        facets: dict[str, str] = {}
        for one in self._list(self.graph.value(node, self.owl.withRestrictions)):
            facets |= {self.local(key): str(value) for key, value in self.graph.predicate_objects(one)}
        datatype = str(self.graph.value(node, self.owl.onDatatype) or node)
        return KINDS.get(datatype.removeprefix(XML_SCHEMA), "string"), facets, []

    def said(self, node: URIRef, name: str, names: Mapping[URIRef, str]) -> Said:
        """What people read of something. ``names`` are what may be used in its place."""
        from rdflib import DCTERMS, SKOS

        labels = dict(sorted((tag, word) for tag, word in self._words(node, self.rdfs.label, SKOS.prefLabel)))
        local = self.attribute_name(node)
        if name and not labels and local != name:
            labels = {"": local}
        if len(labels) > 1:
            labels.pop("", None)
        labels = {tag: word for tag, word in labels.items() if word != name or tag}
        others = [(tag, w) for tag, w in self._words(node, SKOS.altLabel) if w not in labels.values()]
        tagged: dict[str, list[str]] = {}
        if all(tag for tag, _ in others):
            for tag, word in sorted(others):
                tagged.setdefault(tag, []).append(word)
        comments = self._words(node, self.rdfs.comment, SKOS.definition, DCTERMS.description)
        comment = next((word for tag, word in sorted(comments, key=lambda one: (one[0] not in ("", "en"), one))), "")
        examples = sorted(word for _, word in self._words(node, SKOS.example))
        return Said(
            description=comment,
            synonyms=tuple(
                dict.fromkeys([*labels.values(), *(w for _, w in (others if not tagged else sorted(others)))])
            ),
            labels=tuple(labels.items()),
            translations=tuple((tag, tuple(more)) for tag, more in tagged.items()),
            examples=tuple(examples),
            deprecated=self._deprecation(node, names),
        )

    def _words(self, node: URIRef, *keys: URIRef) -> list[tuple[str, str]]:
        """Texts with their languages; those of an odd tag without it."""
        found = []
        for key in keys:
            for one in self.graph.objects(node, key):
                tag = str(getattr(one, "language", None) or "")
                language, _, region = tag.partition("-")
                tag = f"{language}-{region.upper() if len(region) == 2 else region}" if region else language
                word = " ".join(str(one).split())
                found += [(tag if LANGUAGE.fullmatch(tag) else "", word)] if word else []
        return found

    def _deprecation(self, node: URIRef, names: Mapping[URIRef, str]) -> Deprecation | None:
        from rdflib import DCTERMS

        if str(self.graph.value(node, self.owl.deprecated) or "").lower() not in ("true", "1"):
            return None
        since = str(self.graph.value(node, self.own.deprecatedSince) or "")
        replacing = self.graph.value(node, DCTERMS.isReplacedBy)
        use = names.get(self._uri(replacing), "") if replacing is not None else ""
        if VERSION.fullmatch(since) or use:
            return Deprecation(since if VERSION.fullmatch(since) else "", use)
        _, version, _ = self.header("") if (node, self.rdf.type, self.owl.Ontology) not in self.graph else ("", "", "")
        self.notes.append(f"'{self.local(node)}' is deprecated, as of this version")
        return Deprecation(since=version if VERSION.fullmatch(version) else "0.0.0")

    def note_rest(self) -> None:
        """Notes what is there beside names, ends and limits."""
        for key, what in (("subPropertyOf", "what properties are below"), ("equivalentClass", "what classes equal")):
            predicate = self.rdfs[key] if key == "subPropertyOf" else self.owl[key]
            if (None, predicate, None) in self.graph:
                self.notes.append(f"not kept: {what} ({len(list(self.graph.subjects(predicate)))} statements)")
        for key in ("someValuesFrom", "allValuesFrom", "hasValue"):
            count = len(list(self.graph.subjects(self.owl[key])))
            self.notes += [f"not kept: {count} restrictions of {key}"] if count else []
        individuals = set(self.graph.subjects(self.rdf.type, self.owl.NamedIndividual))
        if individuals:
            self.notes.append(f"not kept: {len(individuals)} individuals")
        imports = sorted(str(one) for one in self.graph.objects(None, self.owl.imports))
        self.notes += [f"'{one}' is imported, which is not read" for one in imports]

    # Nodes

    def local(self, node: Node) -> str:
        """The last part of an IRI."""
        return unquote(re.split(r"[#/:]", str(node).rstrip("#/"))[-1])

    def _list(self, node: Node | None) -> Iterable[Node]:
        from rdflib.collection import Collection

        return list(Collection(self.graph, node)) if node is not None else []

    def _is_uri(self, node: object) -> bool:
        from rdflib import URIRef

        return isinstance(node, URIRef)

    def _uri(self, node: object) -> URIRef:
        from rdflib import URIRef

        return URIRef(str(node))

    def _is_datatype(self, node: object) -> bool:
        return bool(BUILT_IN.match(str(node))) or (self._uri(node), self.rdf.type, self.rdfs.Datatype) in self.graph
