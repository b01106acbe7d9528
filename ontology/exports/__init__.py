"""The ontology in other languages, for people and for programs."""
