"""The IRIs of an ontology in RDF, shared by what is exported and imported.

A type or relation ``X`` is ``base + X``. An attribute belongs to the type that declares it first: ``base +
Model.context_length``; a field of a record, ``base + Model.hardware.memory``, is a property of a node of the class
``base + Model.hardware-Record``. A page may have any IRI; its name is ``skos:prefLabel``, its aliases
``skos:altLabel``, its source and description those of Dublin Core.

A relation with attributes is stated twice, as a plain triple and as a node of the class ``base + R-Statement`` with
``R-subject``, ``R-object`` and ``R.attribute``.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from ontology.outline import by_head, families, is_record
from ontology.schema import Attribute, Ontology, ValueType
from ontoloom.errors import OntologyError

if TYPE_CHECKING:
    from rdflib import BNode, Graph, URIRef
    from rdflib.term import Node

VOCABULARY = "urn:ontoloom:vocabulary#"
"""Annotations that OWL has no word for: what we read back."""
DATATYPES: dict[ValueType, str] = {
    "integer": "integer", "number": "double", "quantity": "double", "boolean": "boolean", "date": "date",
    "datetime": "dateTime", "url": "anyURI",
}  # fmt: skip
"""Names in XML Schema; all else is ``string``. A quantity is a number in the unit of its attribute."""


def require_rdflib() -> None:
    """Raises OntologyError where rdflib is not installed."""
    try:
        import rdflib  # noqa: F401  # whether it is there
    except ImportError:
        hint = "pip install 'ontoloom[rdf]'"
        raise OntologyError("RDF needs rdflib, which is not installed", hint=hint, code="missing-package") from None


def default_base(ontology: Ontology) -> str:
    """What all IRIs of an ontology begin with where no other base is given."""
    return f"urn:ontoloom:{ontology.name}#"


def datatype_of(attribute: Attribute) -> URIRef:
    """The datatype in XML Schema of an attribute's values."""
    from rdflib import URIRef

    return URIRef("http://www.w3.org/2001/XMLSchema#" + DATATYPES.get(attribute.type, "string"))


class Terms:
    """The IRIs of an ontology."""

    def __init__(self, ontology: Ontology, base: str = "") -> None:
        require_rdflib()
        self.ontology = ontology
        self.base = base or default_base(ontology)

    @cached_property
    def owners(self) -> dict[tuple[str, str], str]:
        """The type that an attribute or record is named by, for each type that has it."""
        return families(self.ontology)

    def iri(self, name: str) -> URIRef:
        """A type, relation, inverse or what else is named uniquely."""
        from rdflib import URIRef

        return URIRef(self.base + name)

    def attribute(self, type_name: str, name: str) -> URIRef:
        """An attribute of a type, a field of a record or a record itself."""
        from rdflib import SKOS

        if name == "name":
            return SKOS.prefLabel
        owner = self.owners.get((type_name, name.partition(".")[0]), type_name)
        return self.iri(f"{owner}.{name}")

    def record(self, type_name: str, name: str) -> URIRef:
        """The class of a record."""
        return self.iri(f"{self.owners.get((type_name, name), type_name)}.{name}-Record")

    def statement(self, relation: str) -> URIRef:
        """The class of statements of a relation."""
        return self.iri(f"{relation}-Statement")

    def properties(self, type_name: str) -> list[URIRef]:
        """What a page of a type may have stated: attributes, records and relations that start there."""
        heads = by_head(self.ontology.types[type_name].attributes.values())
        relations = [r.name for r in self.ontology.relations.values() if type_name in r.domain]
        return [self.attribute(type_name, head) for head in heads] + [self.iri(name) for name in relations]

    def records(self, type_name: str) -> dict[str, tuple[Attribute, ...]]:
        """The fields of each record of a type."""
        heads = by_head(self.ontology.types[type_name].attributes.values())
        return {head: fields for head, fields in heads.items() if is_record(fields)}


class Triples:
    """A graph being written, whose blank nodes are numbered so that the text is the same each time."""

    def __init__(self, base: str) -> None:
        from rdflib import DCTERMS, OWL, RDF, RDFS, SKOS, XSD, Graph, Namespace

        self.graph: Graph = Graph(bind_namespaces="none")
        own = {"": Namespace(base), "ontoloom": Namespace(VOCABULARY), "sh": Namespace("http://www.w3.org/ns/shacl#")}
        w3c = {"owl": OWL, "rdf": RDF, "rdfs": RDFS, "skos": SKOS, "xsd": XSD, "dcterms": DCTERMS}
        for prefix, namespace in (*own.items(), *w3c.items()):
            self.graph.bind(prefix, namespace)
        self._blanks = 0

    def add(self, subject: Node, *pairs: tuple[URIRef, Node]) -> None:
        """Adds triples of one subject."""
        for predicate, value in pairs:
            self.graph.add((subject, predicate, value))

    def blank(self, *pairs: tuple[URIRef, Node]) -> BNode:
        """A new blank node with what is said of it."""
        from rdflib import BNode

        self._blanks += 1
        node = BNode(f"n{self._blanks:06}")
        self.add(node, *pairs)
        return node

    def sequence(self, items: Iterable[Node]) -> Node:
        """A list of RDF."""
        from rdflib import RDF

        rest: Node = RDF.nil
        for item in reversed(list(items)):
            rest = self.blank((RDF.first, item), (RDF.rest, rest))
        return rest

    def turtle(self) -> str:
        """The text, in Turtle."""
        return self.graph.serialize(format="turtle")
