"""What pages came to by themselves when they were last checked, kept in a file.

It is JSON, so that a file from elsewhere can do no harm; one of other code or another ontology is as good as none.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ontology.facts import PageFacts
from ontology.findings import Edit, Severity
from ontology.schema import Ontology
from ontoloom.names import hash_id

Stamp = tuple[int, int, int]
"""Size, time of the last change in nanoseconds, and inode."""
Row = tuple[int, int, str, str, str, Severity, Edit | None]
"""A finding without its file."""
TICK = 2 * 10**9
"""Nanoseconds within which a file may change twice and look as before: the clock of the coarsest file system."""


class Checks(NamedTuple):
    """What a page came to by itself; no facts where its type or name cannot be told."""

    stamp: Stamp | None
    facts: PageFacts | None
    findings: tuple[Row, ...]


def read_checks(path: Path, ontology: Ontology) -> dict[str, Checks]:
    """The kept checks by path of the page within the wiki; none where the file is not what is expected."""
    try:
        key, rows = json.loads(path.read_bytes())
        if key != _key(ontology):
            return {}
        return {page: Checks(tuple(s), f and PageFacts._make(f), tuple(map(_row, found))) for page, s, f, found in rows}
    except (OSError, ValueError, TypeError):
        return {}


def write_checks(path: Path, ontology: Ontology, checks: Mapping[str, Checks], *, began: int) -> None:
    """Keeps checks for the next time, but for those of pages that changed just before they ``began`` to be read.

    Where that cannot be done, the next check takes longer, and that is all.
    """
    rows = [(page, *one) for page, one in checks.items() if one.stamp is not None and one.stamp[1] < began - TICK]
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=path.name, delete=False
        ) as file:
            json.dump([_key(ontology), rows], file, ensure_ascii=False, separators=(",", ":"))
        os.replace(file.name, path)


def _row(row: list[Any]) -> Row:
    *known, edit = row
    return (*known, edit and Edit(*edit))


@lru_cache(maxsize=1)
def _code() -> str:
    """A hash of the code that checks: a cache must not outlive the rules that filled it."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hash_id(*(str((file.name, file.stat().st_size, file.stat().st_mtime_ns)) for file in files))


def _key(ontology: Ontology) -> str:
    return f"{_code()} {ontology.stamp} {ontology.hash}"
