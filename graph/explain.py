"""A statement's plan as lines of text, in the statement's own words: what is read, filtered, joined, in which order."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from graph.tables import Table

READS = ("READ_PARQUET", "PARQUET_SCAN", "PYTHON_ARROW_SCAN", "ARROW_SCAN")
STRUCK_OUT = "_place"
"""The column by which rows of a table that are gone are struck out (``graph.table_files``)."""
SHOWN = (
    "Join Type", "Conditions", "Filters", "Expression", "Expressions", "Groups", "Aggregates", "Order By", "Top",
    "Projections", "CTE Name",
)  # fmt: skip
NAMES = (
    (re.compile(r'"?_citations\.([\w.]+)"?'), r"provenance(\1)"),
    (re.compile(r"\b_(value|rows?)\b"), r"\1"),
    (re.compile(r"\bmain\."), ""),
)
"""What has another name inside than in a statement."""


def plan_lines(plan: str, tables: Sequence[Table]) -> list[str]:
    """The lines of a plan that DuckDB gives as JSON; ``tables`` are those that the statement reads."""
    return [line for root in json.loads(plan) for line in lines(root, tables, 0)]


def lines(node: dict[str, Any], tables: Sequence[Table], depth: int) -> Iterator[str]:
    details: dict[str, Any] = node.get("extra_info", {})
    if STRUCK_OUT in str(details.get("Conditions", "")):
        yield from lines(node["children"][0], tables, depth)
        return
    words = [read_words(details, tables) if node["name"] in READS else node["name"].strip().replace("_", " ").lower()]
    words += [f"{key.lower()}: {told(details[key])}" for key in SHOWN if details.get(key)]
    rows = details.get("Estimated Cardinality", "")
    about = f" (~{int(rows):,} rows)" if str(rows).isdigit() else ""
    yield "  " * depth + "; ".join(words) + about
    for child in node.get("children", ()):
        yield from lines(child, tables, depth + 1)


def read_words(details: dict[str, Any], tables: Sequence[Table]) -> str:
    """The table that is read: those of the statement that have the columns."""
    found = details.get("Projections", [])
    columns = set(found if isinstance(found, list) else [found])
    having = (t.name for t in tables if columns <= {s for c in t.columns for s in (c.stored, c.citations)})
    names = list(dict.fromkeys(having))
    return f"read {' or '.join(names) if len(names) <= 3 else f'one of {len(names)} tables'}"


def told(value: Any) -> str:
    text = ", ".join(value) if isinstance(value, list) else str(value)
    for pattern, name in NAMES:
        text = pattern.sub(name, text)
    return " ".join(text.split())
