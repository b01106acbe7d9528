"""Known findings, put aside in a file so that only new ones fail: for a wiki that is older than its ontology.

A finding is known again by file, code and message, not by its line: pages may be edited above it. Of findings that are
alike, as many are known as were put aside.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath

from ontology.findings import Finding
from ontoloom.errors import OntologyError

Known = Counter[tuple[str, str, str]]


def read_baseline(path: Path) -> Known:
    """The findings that were put aside. Raises OntologyError where the file is none that ``write_baseline`` wrote."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["findings"]
        return Counter({(row["file"], row["code"], row["message"]): int(row["count"]) for row in rows})
    except OSError as error:
        hint = f"make it with 'ontoloom check --baseline {path} --update-baseline'"
        raise OntologyError(f"{path}: {error.strerror}", hint=hint, code="no-baseline") from None
    except (ValueError, KeyError, TypeError):
        raise OntologyError(
            f"{path} is no baseline", hint="name a file that check has written", code="baseline"
        ) from None


def write_baseline(path: Path, findings: Iterable[Finding], root: Path) -> int:
    """Puts findings aside; gives their number. Files are named relative to ``root``, so that it holds elsewhere too."""
    known = Counter(_key(finding, root) for finding in findings)
    rows = [
        {"file": file, "code": code, "message": message, "count": known[file, code, message]}
        for file, code, message in sorted(known)
    ]
    path.write_text(json.dumps({"findings": rows}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return known.total()


def split(findings: Sequence[Finding], known: Known, root: Path) -> tuple[list[Finding], int]:
    """The findings that are new, and how many of those put aside are not there any more."""
    left = Counter(known)
    new = []
    for finding in findings:
        key = _key(finding, root)
        if left[key] > 0:
            left[key] -= 1
        else:
            new.append(finding)
    return new, left.total()


def _key(finding: Finding, root: Path) -> tuple[str, str, str]:
    file = PurePath(finding.file)
    message = finding.message.replace(str(root), ".") if str(root) != "." else finding.message
    return (file.relative_to(root) if file.is_relative_to(root) else file).as_posix(), finding.code, message
