"""Ingestion of real documents with rules: how many yield a triple, how fast, in how much memory, and once only.

Each run is a process of its own, so that its peak of resident memory is its own: the same set is ingested twice into a
new Ladybug store. Sets: abstracts of AI papers and of PubMedQA, found through ONTOLOOM_DATA.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from bench.report import Row, read_arguments, report

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("ONTOLOOM_DATA", ROOT.parent / "shared" / "data"))
MOST_MEMORY = 2 * 1024**3
LEAST_COVERAGE = 0.6
SECOND_RUN = 0.1
QUICK = 100


@dataclass(frozen=True, slots=True)
class Set:
    """A file of documents; its ontology, rules and column mapping are in the folder ``bench/NAME``."""

    name: str
    file: str
    coverage: float | None = None


SETS = (Set("ai-papers", "ai-papers/abstracts.csv"), Set("pubmedqa", "pubmedqa/ori_pqal.json", coverage=LEAST_COVERAGE))


def main() -> int:
    if sys.argv[1:2] == ["run"]:
        print(json.dumps(run(*sys.argv[2:])))
        return 0
    arguments = read_arguments(__doc__ or "")
    limit = str(QUICK) if arguments.quick else ""
    rows = [row for chosen in SETS for row in measure(chosen, limit)]
    return report(rows, as_json=arguments.json)


def measure(chosen: Set, limit: str) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        first, second = (_run_apart(chosen.name, folder, limit) for _ in range(2))
    name, loaded = chosen.name, first["loaded"]
    accounted = first["admitted"] + first["empty"] + first["quarantined"] + first["failed"] + first["unchanged"]
    with_triple = first["admitted"] / loaded
    same = (first["digest"], first["change"]) == (second["digest"], second["change"])
    ratio = second["seconds"] / first["seconds"]
    peak = max(first["peak"], second["peak"])
    speed = loaded / first["seconds"]
    goal = f">= {chosen.coverage:.0%}" if chosen.coverage else ""
    covered = with_triple >= chosen.coverage if chosen.coverage else None
    return [
        Row(f"{name}: documents accounted for", f"{accounted} of {loaded}", "all", accounted == loaded > 0),
        Row(f"{name}: with a triple", f"{with_triple:.1%}", goal, covered),
        Row(f"{name}: triples, refused claims", f"{first['triples']}, {first['refused']}"),
        Row(f"{name}: documents a second", f"{speed:.0f}"),
        Row(f"{name}: peak of resident memory", f"{peak / 1024**2:.0f} MB", "< 2048 MB", peak < MOST_MEMORY),
        Row(f"{name}: second run changes nothing", "yes" if same else "no", "yes", same),
        # Of a hundred documents the fixed cost of a run is too large a part to say anything.
        Row(
            f"{name}: second run's time",
            f"{ratio:.1%} of the first's",
            "" if limit else f"< {SECOND_RUN:.0%}",
            None if limit else ratio < SECOND_RUN,
        ),
    ]


def _run_apart(name: str, folder: str, limit: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.bench_ingest", "run", name, folder, limit]
    finished = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, Any] = json.loads(finished.stdout.splitlines()[-1])
    return result


def run(name: str, folder: str, limit: str) -> dict[str, Any]:
    """One run; times are of all of it but the start of Python and the imports."""
    from graph.open import open_store
    from ingest.column_mapping import read_mapping
    from ingest.lexicon import lexicon_of
    from ingest.load import load
    from ingest.pipeline import ingest
    from ingest.policy import default_policy
    from ingest.rules import RuleExtractor, read_rules
    from ontology.read import read_ontology

    began = time.perf_counter()
    chosen = next(s for s in SETS if s.name == name)
    here = ROOT / "bench" / name
    ontology = read_ontology(here / "ontology.yaml")
    rules = read_rules(here / "rules.yaml", ontology)
    loaded = load([DATA / chosen.file], mapping=read_mapping(here / "mapping.yaml"))
    with open_store(Path(folder) / "graph", ontology) as store:
        summary = ingest(
            islice(loaded, int(limit) if limit else None),
            store,
            extractors=lambda known: default_policy(rules=[RuleExtractor(rules, lexicon_of(known))]),
        )
        seconds = time.perf_counter() - began
        digest = store.digest()
    counts = {
        key: getattr(summary, key) for key in ("loaded", "admitted", "empty", "quarantined", "failed", "unchanged")
    }
    return {
        **counts,
        "triples": summary.triples,
        "refused": sum(summary.refused.values()),
        "change": summary.change,
        "digest": digest,
        "seconds": seconds,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


if __name__ == "__main__":
    sys.exit(main())
