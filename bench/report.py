"""What every benchmark prints: a table with one row a figure, its goal and whether it holds; or the same as JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
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


def report(rows: Iterable[Row], *, as_json: bool = False) -> int:
    """Prints the rows, each as soon as it is measured; returns the exit status, 1 where one falls short."""
    measured = []
    for row in rows:
        measured.append(row)
        if not as_json:
            print(f"{row.name:<78} {row.value:>22}  {row.goal:<10} {row.verdict}".rstrip(), flush=True)
    if as_json:
        print(json.dumps([{"name": r.name, "value": r.value, "goal": r.goal, "verdict": r.verdict} for r in measured]))
    return int(any(row.holds is False for row in measured))
