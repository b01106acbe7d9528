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
MOST_LINES = 50
TICK = 2 * 10**9
"""Nanoseconds within which a file may change twice and look as before: the clock of the coarsest file system."""


class Checks(NamedTuple):
    """What a page came to by itself; no facts where its type or name cannot be told."""

    stamp: Stamp | None
    facts: PageFacts | None
    findings: tuple[Row, ...]


class CheckCache:
    """The checks that are kept in a file; ``known`` by path of the page within the wiki.

    The file is a line with a key, then lines with lists of checks, of which later ones count: so few are quickly added.
    Where it cannot be read or written, a check takes longer, and that is all.
    """

    def __init__(self, path: Path, ontology: Ontology) -> None:
        self._path = path
        self._key = f"{_code()} {ontology.stamp} {ontology.hash}"
        self._lines = 0
        self.known: dict[str, Checks] = {}
        try:
            key, *lines = path.read_bytes().splitlines()
            for line in lines if json.loads(key) == self._key else ():
                for page, stamp, facts, found in json.loads(line):
                    self.known[page] = Checks(tuple(stamp), facts and PageFacts._make(facts), tuple(map(_row, found)))
                self._lines += 1
        except (
            OSError,
            ValueError,
            TypeError,
        ):  # behind a damaged line, nothing would ever be found: it is written anew
            self.known, self._lines = {}, 0

    def keep(self, checks: Mapping[str, Checks], *, began: int) -> None:
        """Keeps checks for the next time, but for those of pages that changed just before they ``began`` to be read."""
        changed = {page: one for page, one in checks.items() if one is not self.known.get(page)}
        few = 0 < self._lines < MOST_LINES and len(changed) <= len(checks) // 20
        rows = [
            (page, *one)
            for page, one in (changed if few else checks).items()
            if one.stamp is not None and one.stamp[1] < began - TICK
        ]
        line = json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        with suppress(OSError):
            if few:
                with self._path.open("ab") as file:
                    file.write(line)
                return
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self._path.parent, delete=False) as new:
                new.write(json.dumps(self._key).encode() + b"\n" + line)
            os.replace(new.name, self._path)


def _row(row: list[Any]) -> Row:
    *known, edit = row
    return (*known, edit and Edit(*edit))


@lru_cache(maxsize=1)
def _code() -> str:
    """A hash of the code that checks: a cache must not outlive the rules that filled it."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hash_id(*(str((file.name, file.stat().st_size, file.stat().st_mtime_ns)) for file in files))
