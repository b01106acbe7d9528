"""Findings for other programs: annotations on GitHub, and SARIF for code scanning and editors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from ontology.findings import Finding

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def to_github(findings: Iterable[Finding], root: Path) -> list[str]:
    """Workflow commands that make annotations of findings. Files are named relative to ``root``, the repository."""
    return [
        f"::{finding.severity} file={_property(_within(finding, root))},line={finding.line},col={finding.column},"
        f"title={_property(finding.code)}::{_data(finding.message + (f'; {finding.fix}' if finding.fix else ''))}"
        for finding in findings
    ]


def to_sarif(findings: Sequence[Finding], root: Path, *, version: str) -> dict[str, Any]:
    """A log in SARIF 2.1.0 (OASIS) of one run, with a rule for each code that was found."""
    codes = sorted({finding.code for finding in findings})
    driver = {
        "name": "ontoloom",
        "version": version,
        "rules": [{"id": code, "shortDescription": {"text": code.replace("-", " ")}} for code in codes],
    }
    return {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": [_result(finding, codes, root) for finding in findings],
            }
        ],
    }


def _result(finding: Finding, codes: Sequence[str], root: Path) -> dict[str, Any]:
    text = finding.message + (f"; {finding.fix}" if finding.fix else "")
    place = {
        "artifactLocation": {"uri": quote(_within(finding, root))},
        "region": {"startLine": finding.line, "startColumn": finding.column},
    }
    return {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "level": finding.severity,
        "message": {"text": text},
        "locations": [{"physicalLocation": place}],
    }


def _within(finding: Finding, root: Path) -> str:
    file = PurePath(finding.file)
    return (file.relative_to(root) if file.is_relative_to(root) else file).as_posix()


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
