"""A small wiki that holds, and pages with one fault each: what our check refuses, and exports should too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ontology.check import Checked, check

ONTOLOGY = """\
ontology: models
version: 1.0.0
types:
  Thing:
    abstract: true
    attributes:
      name: {pattern: "[^a-z].*"}
      serial: {type: string, unique: true}
      homepage: {type: url}
  Licensed:
    abstract: true
    attributes:
      license: {type: enum, values: {MIT: {}, Apache-2.0: {description: Permissive.}, no: {}}}
  Model:
    is_a: Thing
    mixins: Licensed
    disjoint: [Organization]
    keys: [[vendor, version]]
    attributes:
      context_length: {type: integer, unit: tokens, min: 1, max: 10000000, required: true}
      methods: {type: enum, many: {max: 2}, values: [SFT, DPO, RLHF]}
      languages: {type: string, many: {min: 2}, pattern: "[a-z]{2,3}"}
      score: {type: number, min: 0, max: 1}
      released: {type: date}
      trained: {type: datetime}
      memory: {type: quantity, unit: GB, min: 1}
      open: {type: boolean}
      paper: {type: url, pattern: 'https://arxiv\\.org/.*'}
      vendor: {type: string}
      version: {type: string}
      hardware:
        type: record
        fields:
          gpu: {type: number, required: true, min: 0}
          cores: {type: integer, many: true}
  LanguageModel:
    is_a: Model
    attributes:
      vocabulary: {type: integer}
      score: {type: number, min: 0, max: 1, required: true}
  Benchmark:
    is_a: Thing
  Organization:
    is_a: Thing
relations:
  based_on: {domain: Model, range: Model, cardinality: one, acyclic: true}
  made_by: {domain: Model, range: Organization, cardinality: {objects: 1..2, subjects: 0..3}, inverse: made}
  reviewed_by: {domain: Benchmark, range: Organization, cardinality: 1..*}
  superior_to:
    domain: Model
    range: Model
    asymmetric: true
    attributes:
      benchmark: {type: reference, to: Benchmark, identifying: true, required: true}
      delta: {type: number, min: 0}
      tags: {type: string, many: true}
  owns: {domain: Organization, range: Benchmark, cardinality: {subjects: one}}
"""

GOOD: Mapping[str, str] = {
    "phi": """\
type: Model
name: Phi
aliases: [Phi 1]
source: https://example.org/phi
description: Small.
serial: no
license: no
context_length: 2048
methods: [SFT, DPO]
languages: [en, de]
score: 0.5
released: 2024-05-01
trained: 2024-05-01T12:00Z
memory: 1.5 GB
open: true
paper: https://arxiv.org/abs/1
vendor: Microsoft
version: 1.10
hardware: {gpu: 8, cores: [2, 4]}
""",
    "orca": """\
type: LanguageModel
name: Orca
context_length: 4096
methods: SFT
score: 1
vocabulary: 32000
hardware: {gpu: 16}
vendor: Microsoft
version: 1.1
based_on: phi
superior_to:
  - {target: phi, benchmark: mmlu, delta: 0.5, tags: [a, b]}
  - {target: phi, benchmark: gsm}
""",
    "mmlu": "type: Benchmark\nname: MMLU\nreviewed_by: [acme, corp]\n",
    "gsm": "type: Benchmark\nname: GSM\nreviewed_by: {target: acme}\n",
    "acme": "type: Organization\nname: Acme\nmade: [phi, orca]\nowns: mmlu\n",
    "corp": "type: Organization\nname: Corp\nhomepage: https://example.org/corp\n",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """A page in place of the good one, or beside the others; and the code of what our check finds."""

    code: str
    page: str
    text: str


def instead(page: str, old: str, new: str, code: str) -> Fault:
    """A good page with one line or part of it changed."""
    assert old in GOOD[page]
    return Fault(code, page, GOOD[page].replace(old, new))


def added(page: str, line: str, code: str) -> Fault:
    """A good page with one more line."""
    return Fault(code, page, f"{GOOD[page]}{line}\n")


FAULTS = (
    instead("phi", "type: Model", "type: Modell", "unknown-type"),
    instead("phi", "type: Model", "type: Thing", "abstract-type"),
    instead("mmlu", "type: Benchmark\n", "", "missing-key"),
    instead("mmlu", "name: MMLU\n", "", "missing-key"),
    instead("mmlu", "name: MMLU", "name:", "empty-value"),
    instead("phi", "name: Phi", "name: phi", "pattern-mismatch"),
    instead("phi", "name: Phi\n", "name: [Phi]\n", "wrong-shape"),
    instead("phi", "aliases: [Phi 1]", "aliases: Phi 1", "wrong-shape"),
    instead("phi", "aliases: [Phi 1]", "aliases: []", "empty-value"),
    instead("phi", "source: https://", "source: ", "not-a-url"),
    instead("phi", "description: Small.", "description: [Small]", "wrong-shape"),
    added("phi", "contxt_length: 1", "unknown-attribute"),
    added("phi", "vocabulary: 1", "unknown-attribute"),
    added("phi", "hardware.gpu: 1", "unknown-attribute"),
    added("acme", "context_length: 1", "unknown-attribute"),
    instead("phi", "context_length: 2048\n", "", "missing-attribute"),
    instead("orca", "score: 1\n", "", "missing-attribute"),
    instead("phi", "context_length: 2048", "context_length: 128K", "not-an-integer"),
    instead("phi", "context_length: 2048", "context_length: 1.5", "not-an-integer"),
    instead("phi", "context_length: 2048", "context_length: [2048, 4096]", "too-many-values"),
    instead("phi", "context_length: 2048", "context_length: {a: 1}", "wrong-shape"),
    instead("phi", "context_length: 2048", "context_length: 0", "out-of-range"),
    instead("phi", "context_length: 2048", "context_length: 10000001", "out-of-range"),
    instead("orca", "vocabulary: 32000", "vocabulary: 9223372036854775808", "out-of-range"),
    instead("phi", "score: 0.5", "score: high", "not-a-number"),
    instead("phi", "score: 0.5", "score: 1.5", "out-of-range"),
    instead("orca", "score: 1", "score: -0.1", "out-of-range"),
    instead("phi", "license: no", "license: yes", "not-in-enum"),
    instead("phi", "license: no", "license: mit", "not-in-enum"),
    instead("phi", "[SFT, DPO]", "[SFT, PPO]", "not-in-enum"),
    instead("phi", "[SFT, DPO]", "[SFT, DPO, RLHF]", "too-many-values"),
    instead("phi", "[SFT, DPO]", "[SFT, SFT]", "duplicate-value"),
    instead("phi", "[SFT, DPO]", "[]", "empty-value"),
    instead("phi", "[en, de]", "en", "too-few-values"),
    instead("phi", "[en, de]", "[en]", "too-few-values"),
    instead("phi", "[en, de]", "[en, German]", "pattern-mismatch"),
    instead("phi", "released: 2024-05-01", "released: 2024-13-45", "not-a-date"),
    instead("phi", "released: 2024-05-01", "released: 2023-02-29", "not-a-date"),
    instead("phi", "released: 2024-05-01", "released: 01.05.2024", "not-a-date"),
    instead("phi", "T12:00Z", "", "not-a-datetime"),
    instead("phi", "T12:00Z", "T12:00", "not-a-datetime"),
    instead("phi", "T12:00Z", "T25:00Z", "not-a-datetime"),
    instead("phi", "memory: 1.5 GB", "memory: 1.5", "not-a-quantity"),
    instead("phi", "memory: 1.5 GB", "memory: much", "not-a-quantity"),
    instead("phi", "memory: 1.5 GB", "memory: 3 kg", "wrong-unit"),
    instead("phi", "memory: 1.5 GB", "memory: 500 MB", "out-of-range"),
    instead("phi", "open: true", "open: yes", "not-a-boolean"),
    instead("phi", "paper: https://arxiv.org/abs/1", "paper: https://example.org", "pattern-mismatch"),
    instead("phi", "paper: https://arxiv.org/abs/1", "paper: arxiv.org/abs/1", "not-a-url"),
    instead("phi", "{gpu: 8, cores: [2, 4]}", "{gpu: 8, disk: 1}", "unknown-key"),
    instead("phi", "{gpu: 8, cores: [2, 4]}", "{cores: 2}", "missing-attribute"),
    instead("phi", "hardware: {gpu: 8, cores: [2, 4]}\n", "", "missing-attribute"),
    instead("phi", "{gpu: 8, cores: [2, 4]}", "{gpu: -1}", "out-of-range"),
    instead("phi", "{gpu: 8, cores: [2, 4]}", "8 GB", "wrong-shape"),
    instead("phi", "{gpu: 8, cores: [2, 4]}", "{gpu: 8, cores: [two]}", "not-an-integer"),
    added("acme", "based_on: phi", "wrong-domain"),
    added("mmlu", "made: phi", "wrong-domain"),
    instead("orca", "based_on: phi", "based_on: mmlu", "wrong-range"),
    instead("orca", "based_on: phi", "based_on: phy", "dangling-reference"),
    instead("orca", "based_on: phi", "based_on: [phi, llama]", "too-many-values"),
    instead("orca", "based_on: phi", "based_on: [[phi]]", "wrong-shape"),
    instead("orca", "based_on: phi", "based_on: {page: phi}", "unknown-key"),
    instead("orca", "based_on: phi", "based_on: {target: phi, since: 1}", "unknown-key"),
    instead("orca", "based_on: phi", "based_on: orca", "cycle"),
    added("phi", "based_on: orca", "cycle"),
    added("phi", "superior_to: {target: orca, benchmark: mmlu}", "both-ways"),
    added("phi", "superior_to: mmlu", "missing-attribute"),
    instead("orca", "{target: phi, benchmark: gsm}", "{target: phi}", "missing-attribute"),
    instead("orca", "benchmark: gsm", "benchmark: acme", "wrong-range"),
    instead("orca", "benchmark: gsm", "benchmark: mmlu", "duplicate-value"),
    instead("orca", "delta: 0.5", "delta: much", "not-a-number"),
    instead("orca", "delta: 0.5", "delta: -1", "out-of-range"),
    instead("orca", "tags: [a, b]", "tags: []", "empty-value"),
    added("phi", "made_by: [acme, corp, mmlu]", "too-many-values"),
    instead("acme", "made: [phi, orca]", "made: phi", "too-few-values"),
    instead("mmlu", "reviewed_by: [acme, corp]\n", "", "too-few-values"),
    added("corp", "owns: mmlu", "too-many-values"),
    added("corp", "serial: no", "not-unique"),
    instead("orca", "version: 1.1", "version: 1.10", "not-unique"),
    instead("orca", "name: Orca", "name: PHI-1", "duplicate-name"),
)


def checked(pages: Mapping[str, str], folder: Path) -> Checked:
    """What our check finds in a wiki of these pages, by id."""
    wiki = folder / "wiki"
    wiki.mkdir(parents=True)
    (folder / "ontology.yaml").write_text(ONTOLOGY, encoding="utf-8")
    for page_id, text in pages.items():
        (wiki / f"{page_id}.md").write_text(f"---\n{text}---\n", encoding="utf-8")
    return check(folder / "ontology.yaml")
