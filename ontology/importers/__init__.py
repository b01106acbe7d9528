"""Ontologies in other languages, read into ours."""
