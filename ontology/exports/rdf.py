"""An ontology in RDF: as OWL, which says what follows, and as SHACL, which says what is wrong. Both in Turtle."""

from __future__ import annotations

from ontology.exports.owl import owl_of
from ontology.exports.shacl import shacl_of
from ontology.schema import Ontology


def to_owl(ontology: Ontology, *, base: str = "") -> str:
    """The ontology in OWL 2. ``base`` begins its IRIs (see ``rdf_terms``), by default ``urn:ontoloom:NAME#``.

    Raises OntologyError where rdflib is not installed.
    """
    return owl_of(ontology, base)


def to_shacl(ontology: Ontology, *, base: str = "") -> str:
    """Shapes for pages in RDF, as ``ontology.exports.rdf_terms`` describes them. They need no inference.

    Raises OntologyError where rdflib is not installed.
    """
    return shacl_of(ontology, base)
