"""An ontology as OWL 2: classes, properties and what follows of them.

OWL says what may be inferred, not what must be stated, and has no words for how many values there are at least where
there are any, for what SPARQL says in the shapes, nor for defaults, conflicts and labels of values; those are left out.
What we read back and it has no word for is said by annotations of ``urn:ontoloom:vocabulary#``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ontology.exports.portable_patterns import anchored
from ontology.exports.rdf_terms import VOCABULARY, Terms, Triples, datatype_of
from ontology.outline import bases, field_name, keys, own_attributes, topmost
from ontology.schema import Attribute, Cardinality, Described, Ontology, Relation

if TYPE_CHECKING:
    from rdflib import URIRef
    from rdflib.term import Node

FLAGS = {
    "symmetric": "SymmetricProperty",
    "asymmetric": "AsymmetricProperty",
    "transitive": "TransitiveProperty",
    "acyclic": "IrreflexiveProperty",
}


def owl_of(ontology: Ontology, base: str = "") -> str:
    """The ontology, in Turtle. Raises OntologyError where rdflib is not installed."""
    return _Axioms(Terms(ontology, base)).turtle()


class _Axioms(Triples):
    """The axioms of an ontology."""

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms.base)
        from rdflib import OWL, RDF, RDFS, Literal, Namespace, URIRef

        self.own = Namespace(VOCABULARY)
        self.terms, self.ontology = terms, terms.ontology
        header = URIRef(terms.base.rstrip("#/"))
        self.add(header, (RDF.type, OWL.Ontology), (OWL.versionInfo, Literal(self.ontology.version)))
        self.add(header, (RDFS.label, Literal(self.ontology.name)))
        if self.ontology.description:
            self.add(header, (RDFS.comment, Literal(self.ontology.description)))
        for name in self.ontology.types:
            self._class(name)
        for relation in self.ontology.relations.values():
            self._relation(relation)

    def _class(self, name: str) -> None:
        from rdflib import OWL, RDF, RDFS, Literal

        one, node = self.ontology.types[name], self.terms.iri(name)
        self.add(node, (RDF.type, OWL.Class))
        self._say(node, one)
        self.add(node, *((RDFS.subClassOf, self.terms.iri(up)) for up in bases(self.ontology, name)))
        self.add(node, *((self.own.mixin, self.terms.iri(up)) for up in one.mixins))
        self.add(node, *((OWL.disjointWith, self.terms.iri(other)) for other in one.disjoint))
        if one.abstract:
            self.add(node, (self.own.abstract, Literal(True)))
        above = {key for up in bases(self.ontology, name) for key in keys(self.ontology.types[up])}
        for key in keys(one):
            if key not in above and not any("." in part for part in key):
                parts = self.sequence(self.terms.attribute(name, part) for part in key)
                self.add(node, (OWL.hasKey, parts))
        for attribute in own_attributes(self.ontology, name):
            if attribute.name != "name":
                self._own(name, attribute)

    def _own(self, name: str, attribute: Attribute) -> None:
        """An attribute where it is declared first; where it is declared again, what that adds."""
        record, dot, _ = attribute.name.partition(".")
        owner = self.terms.owners[name, record]
        path = self.terms.attribute(name, attribute.name)
        domain = self.terms.record(name, record) if dot else self.terms.iri(name)
        if attribute.name in self.ontology.types[owner].attributes and owner != name:
            self._limit(domain, path, Cardinality(int(attribute.required), None))
            pattern = self.ontology.types[owner].attributes[attribute.name].pattern
            if attribute.pattern != pattern:
                self._restrict(domain, path, self._range(attribute))
            return
        if dot:
            self._record(owner, record)
        self._property(path, domain, attribute)
        self._limit(domain, path, Cardinality(int(attribute.required), attribute.at_most if attribute.many else None))

    def _record(self, name: str, record: str) -> None:
        from rdflib import OWL, RDF, RDFS, Literal

        path, node = self.terms.attribute(name, record), self.terms.record(name, record)
        self.add(node, (RDF.type, OWL.Class), (self.own.record, Literal(record)))
        self.add(path, (RDF.type, OWL.ObjectProperty), (RDF.type, OWL.FunctionalProperty))
        self.add(path, (RDFS.domain, self.terms.iri(name)), (RDFS.range, node), (self.own.name, Literal(record)))

    def _property(self, path: URIRef, domain: Node, attribute: Attribute) -> None:
        """A property with its one domain; references lead to things, all else to values."""
        from rdflib import OWL, RDF, RDFS, Literal

        kind = OWL.ObjectProperty if attribute.type == "reference" else OWL.DatatypeProperty
        self.add(path, (RDF.type, kind), (RDFS.domain, domain), (RDFS.range, self._range(attribute)))
        self._say(path, attribute)
        self.add(path, (self.own.name, Literal(field_name(attribute))))
        if not attribute.many:
            self.add(path, (RDF.type, OWL.FunctionalProperty))
        if attribute.unit:
            self.add(path, (self.own.unit, Literal(attribute.unit)))
        if attribute.type in ("text", "quantity"):
            self.add(path, (self.own.valueType, Literal(attribute.type)))
        if attribute.identifying:
            self.add(path, (self.own.identifying, Literal(True)))

    def _range(self, attribute: Attribute) -> Node:
        """A class, a datatype, values one by one, or a datatype with limits."""
        from rdflib import OWL, RDF, RDFS, XSD, Literal

        if attribute.type == "reference":
            return self._union(attribute.targets)
        if attribute.type == "enum":
            values = self.sequence(Literal(value.name) for value in attribute.values)
            return self.blank((RDF.type, RDFS.Datatype), (OWL.oneOf, values))
        datatype = datatype_of(attribute)
        pattern = anchored(attribute.pattern) if attribute.pattern is not None else None
        facets = [(XSD.minInclusive, attribute.minimum), (XSD.maxInclusive, attribute.maximum)]
        said = [(facet, Literal(self._whole(attribute, x), datatype=datatype)) for facet, x in facets if x is not None]
        said += [(XSD.pattern, Literal(_of_xml_schema(pattern)))] if pattern else []
        if not said:
            return datatype
        node = self.blank((RDF.type, RDFS.Datatype), (OWL.onDatatype, datatype))
        self.add(node, (OWL.withRestrictions, self.sequence(self.blank(pair) for pair in said)))
        return node

    def _whole(self, attribute: Attribute, number: float) -> int | float:
        return int(number) if attribute.type == "integer" else number

    def _relation(self, relation: Relation) -> None:
        from rdflib import OWL, RDF, RDFS, Literal

        path = self.terms.iri(relation.name)
        self.add(path, (RDF.type, OWL.ObjectProperty), (RDFS.domain, self._union(relation.domain)))
        self.add(path, (RDFS.range, self._union(relation.range)))
        self._say(path, relation)
        self.add(path, *((RDF.type, OWL[kind]) for flag, kind in FLAGS.items() if getattr(relation, flag)))
        if relation.acyclic:
            self.add(path, (self.own.acyclic, Literal(True)))
        if relation.inverse:
            self.add(self.terms.iri(relation.inverse), (RDF.type, OWL.ObjectProperty), (OWL.inverseOf, path))
        sides = (
            (relation.domain, path, relation.objects, OWL.FunctionalProperty),
            (relation.range, self.blank((OWL.inverseOf, path)), relation.subjects, OWL.InverseFunctionalProperty),
        )
        for types, end, count, single in sides:
            if count.most == 1:
                self.add(path, (RDF.type, single))
            for name in topmost(self.ontology, types):
                most = None if count.most == 1 else count.most
                self._limit(self.terms.iri(name), end, Cardinality(count.least, most))
        if relation.attributes:
            self._statement(relation)

    def _statement(self, relation: Relation) -> None:
        """The class of nodes that state a relation with attributes."""
        from rdflib import OWL, RDF, RDFS, Literal

        node = self.terms.statement(relation.name)
        self.add(node, (RDF.type, OWL.Class), (self.own.statementOf, self.terms.iri(relation.name)))
        for end, types in (("subject", relation.domain), ("object", relation.range)):
            path = self.terms.iri(f"{relation.name}-{end}")
            self.add(path, (RDF.type, OWL.ObjectProperty), (RDF.type, OWL.FunctionalProperty))
            self.add(path, (RDFS.domain, node), (RDFS.range, self._union(types)), (self.own.end, Literal(end)))
        for one in relation.attributes.values():
            path = self.terms.iri(f"{relation.name}.{one.name}")
            self._property(path, node, one)
            self._limit(node, path, Cardinality(int(one.required), one.at_most if one.many else None))

    def _union(self, types: Sequence[str]) -> Node:
        """A class, or one of several; subclasses need not be named."""
        from rdflib import OWL, RDF

        classes = [self.terms.iri(name) for name in topmost(self.ontology, types)]
        if len(classes) == 1:
            return classes[0]
        return self.blank((RDF.type, OWL.Class), (OWL.unionOf, self.sequence(classes)))

    def _limit(self, node: Node, path: Node, count: Cardinality) -> None:
        """How many values the things of a class have."""
        from rdflib import OWL, XSD, Literal

        for key, number in (("minCardinality", count.least or None), ("maxCardinality", count.most)):
            if number is not None:
                self._restrict(node, path, Literal(number, datatype=XSD.nonNegativeInteger), OWL[key])

    def _restrict(self, node: Node, path: Node, value: Node, key: URIRef | None = None) -> None:
        from rdflib import OWL, RDF, RDFS

        pairs = [(RDF.type, OWL.Restriction), (OWL.onProperty, path), (key or OWL.allValuesFrom, value)]
        self.add(node, (RDFS.subClassOf, self.blank(*pairs)))

    def _say(self, node: URIRef, one: Described) -> None:
        """Labels, other words, description, examples and deprecation."""
        from rdflib import DCTERMS, OWL, RDFS, SKOS, Literal

        self.add(node, *((RDFS.label, Literal(word, lang=tag or None)) for tag, word in one.labels))
        self.add(node, *((SKOS.altLabel, Literal(w, lang=tag or None)) for tag, w in other_words(one)))
        self.add(node, *((SKOS.example, Literal(example)) for example in one.examples))
        if one.description:
            self.add(node, (RDFS.comment, Literal(one.description)))
        if one.deprecated is not None:
            self.add(node, (OWL.deprecated, Literal(True)))
            if one.deprecated.since:
                self.add(node, (self.own.deprecatedSince, Literal(one.deprecated.since)))
            if one.deprecated.use:
                prefix = node.rpartition(".")[0] + "." if isinstance(one, Attribute) else self.terms.base
                self.add(node, (DCTERMS.isReplacedBy, type(node)(prefix + one.deprecated.use)))


def _of_xml_schema(pattern: str) -> str:
    """A pattern for others as XML Schema has it, where patterns are for whole values and all groups are alike."""
    return re.sub(r"(?<!\\)\(\?:", "(", pattern.removeprefix("^(?:").removesuffix(")$"))


def other_words(one: Described) -> Iterable[tuple[str, str]]:
    """Synonyms that are no labels, each with its language."""
    tagged: Mapping[str, str] = {word: tag for tag, words in one.translations for word in words}
    called = {word for _, word in one.labels}
    return [(tagged.get(word, ""), word) for word in one.synonyms if word not in called]
