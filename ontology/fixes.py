"""Mends what has one right answer: each such finding carries an edit of its file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ontology.findings import Edit, Finding
from ontology.strict_yaml import read_source


def mended(findings: Iterable[Finding]) -> dict[str, tuple[str, str, int]]:
    """By file: its text, the text with what can be mended, and how many findings that mends.

    Of edits that touch each other the first is made; what is left is found by the next check.
    """
    edits: dict[str, list[Edit]] = {}
    for finding in findings:
        if finding.edit is not None:
            edits.setdefault(finding.file, []).append(finding.edit)
    return {file: _edited(read_source(file).text, sorted(some)) for file, some in edits.items()}


def _edited(text: str, edits: Sequence[Edit]) -> tuple[str, str, int]:
    parts: list[str] = []
    at = made = 0
    for edit in edits:
        if edit.start >= at:
            parts += (text[at : edit.start], edit.text)
            at, made = edit.end, made + 1
    return text, "".join((*parts, text[at:])), made


def write(texts: Mapping[str, str]) -> None:
    """Puts texts in the place of files, each as a whole. Raises OSError."""
    for file, text in texts.items():
        path = Path(file).resolve()  # a link stays one
        with tempfile.NamedTemporaryFile("wb", dir=path.parent, prefix=f".{path.name}", delete=False) as new:
            new.write(text.encode())
        os.chmod(new.name, path.stat().st_mode & 0o7777)
        os.replace(new.name, path)
