"""The wiki of ``bench.wiki_pages`` for LinkML: the same ontology as its schema, the same pages as its instances.

LinkML looks at each instance by itself: whether a page that is named exists, and is of the right type, it does not ask.
"""

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from bench.wiki_pages import WikiPage

SCHEMA = """\
id: https://example.org/ai-models
name: ai-models
prefixes: {linkml: https://w3id.org/linkml/}
imports: [linkml:types]
default_range: string

classes:
  Page:
    abstract: true
    attributes:
      id: {identifier: true}
      name: {required: true, pattern: "^[^a-z].*$"}
      aliases: {multivalued: true}
      source: {range: uri, multivalued: true}
      description: {}
      homepage: {range: uri, pattern: "^https?://[^/]+"}
  Model:
    is_a: Page
    attributes:
      context_length: {range: integer, minimum_value: 1, maximum_value: 100000000, required: true}
      parameters: {range: integer, minimum_value: 1}
      released: {range: date}
      training_method: {range: TrainingMethod, multivalued: true}
      open_weights: {range: boolean}
      license_id: {pattern: "^[A-Za-z0-9.+-]+$"}
      languages: {multivalued: true, pattern: "^[a-z]{2,3}$"}
      hardware_requirement: {range: HardwareRequirement, inlined: true}
      developed_by: {range: Organization, multivalued: true, inlined: false}
      based_on: {range: Model, inlined: false}
      superior_to: {range: Superiority, multivalued: true, inlined_as_list: true}
      evaluated_on: {range: Evaluation, multivalued: true, inlined_as_list: true}
  LanguageModel:
    is_a: Model
    attributes:
      vocabulary: {range: integer, minimum_value: 1}
  Organization:
    is_a: Page
    attributes:
      founded: {range: date}
      country: {pattern: "^[A-Z]{2}$"}
      employees: {range: integer, minimum_value: 1}
      sector: {range: Sector}
      public: {range: boolean}
      offices: {multivalued: true}
      partner_of: {range: Organization, multivalued: true, inlined: false}
  Benchmark:
    is_a: Page
    attributes:
      questions: {range: integer, minimum_value: 1}
      published: {range: date}
      metric: {range: Metric}
      languages: {multivalued: true, pattern: "^[a-z]{2,3}$"}
      best_score: {range: float, minimum_value: 0, maximum_value: 100}
      saturated: {range: boolean}
      published_by: {range: Organization, multivalued: true, inlined: false}
  HardwareRequirement:
    attributes:
      gpu_memory: {range: float, minimum_value: 0}
      cpu_cores: {range: integer, minimum_value: 1}
  Superiority:
    attributes:
      target: {range: Model, required: true, inlined: false}
      benchmark: {range: Benchmark, inlined: false}
      score_delta: {range: float}
  Evaluation:
    attributes:
      target: {range: Benchmark, required: true, inlined: false}
      score: {range: float}
  Wiki:
    tree_root: true
    attributes:
      Model: {range: Model, multivalued: true, inlined_as_list: true}
      LanguageModel: {range: LanguageModel, multivalued: true, inlined_as_list: true}
      Organization: {range: Organization, multivalued: true, inlined_as_list: true}
      Benchmark: {range: Benchmark, multivalued: true, inlined_as_list: true}

enums:
  TrainingMethod: {permissible_values: {DPO: {}, RLHF: {}, SFT: {}, distillation: {}, pre-training: {}}}
  Sector: {permissible_values: {company: {}, university: {}, non-profit: {}, government: {}}}
  Metric: {permissible_values: {accuracy: {}, F1: {}, win rate: {}, perplexity: {}}}
"""

DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
LISTS = {
    "source", "aliases", "training_method", "languages", "developed_by", "superior_to", "evaluated_on", "offices",
    "partner_of", "published_by",
}  # fmt: skip


def as_instance(page: WikiPage) -> dict[str, Any]:
    """What a page states, always in the one form that the schema has for it."""
    instance: dict[str, Any] = {"id": page.id}
    for key, fact in page.facts.items():
        value: Any = [fact] if key in LISTS and not isinstance(fact, list) else fact
        if key == "evaluated_on":
            value = [{"target": item} if isinstance(item, str) else item for item in value]
        instance[key] = value
    return instance


def validate_in_process(pages: Sequence[WikiPage]) -> float:
    """Seconds for all pages, each by a call, once the schema is loaded and each type's validator is made.

    Raises ImportError.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own imports
        from linkml.validator import Validator
        from linkml.validator.plugins import JsonschemaValidationPlugin

        validator = Validator(SCHEMA, [JsonschemaValidationPlugin(closed=True)])
        instances = [(as_instance(page), page.type) for page in pages]
        for instance, type_name in {page_type: (instance, page_type) for instance, page_type in instances}.values():
            validator.validate(instance, type_name)
        start = time.perf_counter()
        reports = [validator.validate(instance, type_name) for instance, type_name in instances]
        seconds = time.perf_counter() - start
    assert not any(report.results for report in reports), next(r.results for r in reports if r.results)
    assert validator.validate({"id": "x", "name": "X", "context_length": 0}, "Model").results
    return seconds


def validate_by_command(folder: Path, pages: Sequence[WikiPage]) -> float:
    """Seconds of one call of ``linkml-validate`` with all pages in one YAML file. Raises CalledProcessError."""
    schema, data = folder / "linkml.yaml", folder / "pages.yaml"
    wiki: dict[str, list[dict[str, Any]]] = {}
    for page in pages:
        wiki.setdefault(page.type, []).append(as_instance(page))
    schema.write_text(SCHEMA, encoding="utf-8")
    data.write_text(yaml.dump(wiki, Dumper=DUMPER, allow_unicode=True), encoding="utf-8")
    command = [sys.executable, "-m", "linkml.validator.cli", "-s", str(schema), "-C", "Wiki", str(data)]
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start
