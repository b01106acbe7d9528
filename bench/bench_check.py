"""What it costs to check a wiki, against composing its front matter in C and against LinkML's validator.

The pages are those of ``bench.wiki_pages``. Rows of LinkML need the package ``linkml`` (dependency group ``peers``:
``make bench`` installs it).
"""

from __future__ import annotations

import gc
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from bench.linkml_peer import validate_by_command, validate_in_process
from bench.report import Row, ratio, read_arguments, report
from bench.wiki_pages import WikiPage, make_pages, write_wiki
from ontology.check import check

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 5
CHANGES = 3
BY_PEER = 1000
"""Pages that LinkML validates."""
MOST_MEMORY = 1024**3
MOST_SECONDS = 0.5
LEAST_TIMES = 100
LOADER: Any = yaml.CSafeLoader


def front_matters(pages: Sequence[WikiPage]) -> list[str]:
    """The YAML between a page's first two lines ``---``."""
    return [page.text[4 : page.text.index("\n---\n", 4) + 1] for page in pages]


def compose(texts: Sequence[str]) -> None:
    """By PyYAML's composer in C alone, each tree dropped as soon as it is there."""
    for text in texts:
        yaml.compose(text, Loader=LOADER)


def check_cold(ontology_file: Path, pages: int) -> None:
    checked = check(ontology_file)
    assert len(checked.pages) == pages, len(checked.pages)
    assert not checked.findings, checked.findings[:3]


def timed(action: Callable[[], object]) -> float:
    """Seconds; what earlier runs have left behind is cleared away first."""
    gc.collect()
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def measure(*, quick: bool) -> Iterator[Row]:
    number = 1_000 if quick else 10_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ontology_file, few_file = (folder / which / "ontology.yaml" for which in ("all", "few"))
        # First, as a child's peak is at least the memory of the process that starts it.
        peak = peak_of_child(ontology_file.parent, number)
        pages = make_pages(number)
        write_wiki(few_file.parent, make_pages(number // 10))
        texts = front_matters(pages)
        rounds = [
            (
                timed(partial(compose, texts)),
                timed(partial(check_cold, ontology_file, number)),
                timed(partial(check_cold, few_file, number // 10)),
            )
            for _ in range(ROUNDS)
        ]
        composed, ours, few = (statistics.median(seconds) for seconds in zip(*rounds, strict=True))
        yield Row(f"front matter of {number:,} pages composed in C", f"{composed:.2f} s")
        yield Row(f"  the same pages checked, cold: {ours / number * 1e6:.0f} µs a page", f"{ours:.2f} s")
        yield ratio("  … against composing alone", statistics.median(o / c for c, o, _ in rounds), at_most=2)
        growth = statistics.median(o / f for _, o, f in rounds)
        yield ratio(f"  … against {number // 10:,} pages, which take {few:.2f} s", growth, at_most=11)
        yield Row("  peak of resident memory", f"{peak / 1024**2:.0f} MB", "< 1024 MB", peak < MOST_MEMORY)
        yield from measure_change(ontology_file, pages)
        yield from measure_linkml(folder, pages, ours / number)


def peak_of_child(folder: Path, number: int) -> int:
    """Bytes at the peak of a process that checks a wiki, which another has written before."""
    for action in ("write", "check"):
        command = [sys.executable, "-m", "bench.bench_check", action, str(folder), str(number)]
        finished = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return int(finished.stdout)


def measure_change(ontology_file: Path, pages: Sequence[WikiPage]) -> Iterator[Row]:
    """Some pages get a key that their type has no word for, one at a time, which the check must find."""
    again = partial(check, ontology_file, cache=ontology_file.parent / "cache")
    again()
    seconds = []
    for page in pages[:CHANGES]:
        path = ontology_file.parent / "wiki" / page.path
        path.write_text(page.text.replace("\n---\n", "\nnothing: of the kind\n---\n", 1), encoding="utf-8")
        gc.collect()
        start = time.perf_counter()
        findings = again().findings
        seconds.append(time.perf_counter() - start)
        assert [finding.code for finding in findings] == ["unknown-attribute"], findings[:3]
        path.write_text(page.text, encoding="utf-8")
        again()
    typical = statistics.median(seconds)
    yield Row("  after one page changed", f"{typical:.2f} s", f"< {MOST_SECONDS} s", typical < MOST_SECONDS)


def measure_linkml(folder: Path, pages: Sequence[WikiPage], ours: float) -> Iterator[Row]:
    """``ours``: seconds a page."""
    some = pages[:BY_PEER]
    try:
        validated = validate_in_process(some) / len(some)
    except ImportError as error:
        yield Row("LinkML", f"not measured: {error}")
        return
    yield against("LinkML's validator in process, on instances in memory", validated, ours, goal=True)
    alone = validate_by_command(folder, some[:1])
    together = validate_by_command(folder, some)
    each = (together - alone) / (len(some) - 1)
    yield against(f"linkml-validate, {len(some):,} pages in one call, its start aside", each, ours, goal=True)
    yield against("  … its start shared by all", together / len(some), ours)
    yield against("  … a call for each page", alone, ours)


def against(name: str, theirs: float, ours: float, *, goal: bool = False) -> Row:
    times = theirs / ours
    row = (f"{name}: {theirs * 1e6:,.0f} µs a page", f"{times:.1f} × ours")
    return Row(*row, f"≥ {LEAST_TIMES} ×", times >= LEAST_TIMES) if goal else Row(*row)


def main() -> int:
    if sys.argv[1:2] == ["write"]:
        write_wiki(Path(sys.argv[2]), make_pages(int(sys.argv[3])))
        return 0
    if sys.argv[1:2] == ["check"]:
        check_cold(Path(sys.argv[2]) / "ontology.yaml", int(sys.argv[3]))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
        return 0
    arguments = read_arguments(__doc__ or "")
    return report(measure(quick=arguments.quick), as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
