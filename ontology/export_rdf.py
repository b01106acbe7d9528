"""An ontology in RDF: as OWL, which says what follows, and as SHACL, which says what is wrong. Both in Turtle."""

from __future__ import annotations

from ontology.export_owl import owl_of
from ontology.export_shacl import shacl_of
from ontology.schema import Ontology


def to_owl(ontology: Ontology, *, base: str = "") -> str:
    """The ontology in OWL 2. ``base`` begins its IRIs, by default ``urn:ontoloom:NAME#``; see ``ontology.rdf_terms``.

    Raises OntologyError where rdflib is not installed.
    """
    return owl_of(ontology, base)


def to_shacl(ontology: Ontology, *, base: str = "") -> str:
    """Shapes for pages in RDF, as ``ontology.rdf_terms`` describes them. They need no inference.

    Raises OntologyError where rdflib is not installed.
    """
    return shacl_of(ontology, base)
