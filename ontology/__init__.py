from ontology.findings import Finding, FindingsError
from ontology.read import read_ontology
from ontology.schema import Attribute, EntityType, Ontology, Relation

__all__ = ["Attribute", "EntityType", "Finding", "FindingsError", "Ontology", "Relation", "read_ontology"]
