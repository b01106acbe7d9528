"""What every benchmark prints: a table with one row a figure, its goal and whether it holds; or the same as JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """A figure as it is printed, and its goal. ``holds`` is None where there is no goal: the figure only informs."""

    name: str
    value: str
    goal: str = ""
    holds: bool | None = None

    @property
    def verdict(self) -> str:
        return {None: "", True: "holds", False: "falls short"}[self.holds]


def ratio(name: str, value: float, *, at_most: float | None = None) -> Row:
    """A figure that is so many times another of the same run."""
    if at_most is None:
        return Row(name, f"{value:.2f} ×")
    return Row(name, f"{value:.2f} ×", f"≤ {at_most:g} ×", value <= at_most)


def read_arguments(description: str) -> argparse.Namespace:
    """The arguments that every benchmark takes: ``quick`` and ``json``."""
    parser = argparse.ArgumentParser(description=description.strip().partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a run of under a minute")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_args()


def report(rows: Sequence[Row], *, as_json: bool = False) -> int:
    """Prints the rows; returns the exit status, 1 where one falls short."""
    if as_json:
        print(json.dumps([{"name": r.name, "value": r.value, "goal": r.goal, "verdict": r.verdict} for r in rows]))
    else:
        print_table([("name", "value", "goal", ""), *((r.name, r.value, r.goal, r.verdict) for r in rows)])
    return int(any(row.holds is False for row in rows))


def print_table(lines: Sequence[tuple[str, ...]]) -> None:
    """Lines of cells, in columns."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip(), flush=True)
