"""What is read from other languages, made an ``ontology.yaml``."""

from __future__ import annotations

import re

from ontology.labels import VERSION
from ontology.read import compile_ontology
from ontology.schema import Ontology
from ontology.write_yaml import write_ontology


def written(ontology: Ontology, notes: list[str]) -> tuple[str, list[str]]:
    """The text of an ontology, and the notes with what is still to be mended in it by hand."""
    text = write_ontology(ontology)
    _, findings = compile_ontology(text, file="ontology.yaml")
    return text, [*dict.fromkeys(notes), *map(str, findings)]


def semantic(version: str, notes: list[str]) -> str:
    """A version with three numbers; what is none is noted."""
    parts = re.match(r"v?(\d+)(?:\.(\d+))?(?:\.(\d+))?", version.strip())
    if VERSION.fullmatch(version.strip()):
        return version.strip()
    found = ".".join(str(int(part or 0)) for part in parts.groups()) if parts else "1.0.0"
    if version:
        notes.append(f"the version '{version}' became {found}")
    return found
