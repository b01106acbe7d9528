"""A generated wiki: an ontology of models, organizations and benchmarks, and pages as people write them.

A page has 8 to 15 lines of front matter in mixed styles, then a few sentences with links to other pages. The same
number of pages is the same wiki at each run, and a check finds nothing in it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ONTOLOGY = """\
ontology: ai-models
version: 1.0.0
description: Models, who makes them and how they compare.

types:
  Model:
    description: A trained model that has a name of its own.
    attributes:
      name: {pattern: "[^a-z].*"}
      context_length: {type: integer, unit: tokens, min: 1, max: 100000000, required: true}
      parameters: {type: integer, min: 1}
      released: {type: date}
      training_method:
        type: enum
        many: true
        values:
          DPO: {synonyms: [direct preference optimization]}
          RLHF: {synonyms: [reinforcement learning from human feedback]}
          SFT: {description: Supervised fine-tuning.}
          distillation: {}
          pre-training: {}
      open_weights: {type: boolean}
      license_id: {type: string, pattern: "[A-Za-z0-9.+-]+"}
      homepage: {type: url}
      languages: {type: string, many: true, pattern: "[a-z]{2,3}"}
      hardware_requirement:
        type: record
        fields:
          gpu_memory: {type: number, unit: GB, min: 0}
          cpu_cores: {type: integer, min: 1}
  LanguageModel:
    is_a: Model
    attributes:
      vocabulary: {type: integer, unit: tokens, min: 1}
  Organization:
    attributes:
      founded: {type: date}
      country: {type: string, pattern: "[A-Z]{2}"}
      employees: {type: integer, min: 1}
      sector: {type: enum, values: [company, university, non-profit, government]}
      homepage: {type: url}
      public: {type: boolean}
      offices: {type: string, many: true}
  Benchmark:
    attributes:
      questions: {type: integer, min: 1}
      published: {type: date}
      metric: {type: enum, values: [accuracy, F1, win rate, perplexity]}
      homepage: {type: url}
      languages: {type: string, many: true, pattern: "[a-z]{2,3}"}
      best_score: {type: number, min: 0, max: 100}
      saturated: {type: boolean}

relations:
  developed_by: {domain: Model, range: Organization}
  based_on: {domain: Model, range: Model, cardinality: one}
  superior_to:
    domain: Model
    range: Model
    attributes:
      benchmark: {type: reference, to: Benchmark, identifying: true}
      score_delta: {type: number}
  evaluated_on:
    domain: Model
    range: Benchmark
    attributes:
      score: {type: number}
  partner_of: {domain: Organization, range: Organization}
  published_by: {domain: Benchmark, range: Organization}
"""

FOLDERS = {
    "Model": "models",
    "LanguageModel": "models",
    "Organization": "organizations",
    "Benchmark": "benchmarks",
}
SHARES = (45, 30, 15, 10)
"""Pages of each type, in percent."""

WORDS = {
    "Kestrel": "kestrel", "Aurora": "aurora", "Quill": "quill", "Zephyr": "zephyr", "Basalt": "basalt",
    "Meridian": "meridian", "Otter": "otter", "Falcon": "falcon", "Écrin": "ecrin", "Žuvys": "zuvys",
    "Größe": "groesse", "Ångström": "angstrom", "通义": "tongyi", "Niño": "nino", "Λόγος": "logos",
    "Saffron": "saffron",
}  # fmt: skip
ENDINGS = {
    "Model": ("Vision Base", "Audio", "Embed XL", "Vision Chat"),
    "LanguageModel": ("Chat 7B", "Base 70B", "Instruct", "Coder 1.5B"),
    "Organization": ("Labs", "University", "Research", "Institut für KI"),
    "Benchmark": ("Bench", "Eval Hard", "QA", "Arena"),
}
METHODS = ("DPO", "RLHF", "SFT", "distillation", "pre-training")
LICENSES = ("Apache-2.0", "MIT", "CC-BY-4.0", "BSD-3-Clause")
LANGUAGES = ("en", "de", "fr", "zh", "lt", "es", "gsw")
CITIES = ("Zürich", "Paris", "São Paulo", "Vilnius", "Toronto", "Kraków", "New York")
DESCRIPTIONS = (
    "Made for research; not for production.",
    "A small one, that runs on a laptop.",
    "Successor of an earlier line – with a new tokenizer.",
    "Named after a café in Besançon.",
)
SENTENCES = (
    "It was announced together with {a}, and both were trained on the same data.",
    "In a later report it is compared with {a} and {b}; the difference is small.",
    "According to {a}, the figures above were measured anew in the spring.",
    "Nothing is known about the data, but see [the report](https://example.org/reports/{n}.html) and {a}.",
    "Run it with `serve --port {n}`, as the page on {a} explains.",
    "The name is that of a naïve early version, which {a} replaced after a few months.",
    "Its authors thank {a} for compute; {b} lists what has been published since.",
    "There are {n} downloads a month, most of them for teaching.",
)
REMARKS = ("# from the model card", "# to be checked again", "# see the paper, table 3", "# as of May")
LEAST_LINES, MOST_LINES = 8, 15

Scalar = str | int | float | bool
Fact = Scalar | Mapping[str, Scalar] | Sequence[Scalar] | Sequence[Mapping[str, Scalar]]


@dataclass(frozen=True, slots=True)
class WikiPage:
    """A page that was made: its text, and what its front matter states, by key; the type is apart."""

    id: str
    type: str
    facts: dict[str, Fact]
    text: str

    @property
    def path(self) -> str:
        """Where it lies below the folder of pages."""
        return f"{FOLDERS[self.type]}/{self.id}.md"


def make_pages(number: int) -> list[WikiPage]:
    """So many pages, the same at each run."""
    return _Maker(number).make()


def write_wiki(folder: Path, pages: list[WikiPage]) -> Path:
    """Writes the ontology and its pages; the ontology's file."""
    ontology_file = folder / "ontology.yaml"
    for name in set(FOLDERS.values()):
        (folder / "wiki" / name).mkdir(parents=True)
    ontology_file.write_text(ONTOLOGY, encoding="utf-8")
    for page in pages:
        (folder / "wiki" / page.path).write_text(page.text, encoding="utf-8")
    return ontology_file


class _Maker:
    """Names all pages first, so that each can name any other."""

    def __init__(self, number: int) -> None:
        self.dice = dice = random.Random(7)
        self.types = dice.choices(list(FOLDERS), SHARES, k=number)
        self.words = dice.choices(list(WORDS), k=number)
        endings = [dice.choice(ENDINGS[type_name]) for type_name in self.types]
        self.names = [f"{self.words[n]} {n} {endings[n]}" for n in range(number)]
        self.ids = [f"{WORDS[w]}-{n}" for n, w in enumerate(self.words)]
        self.by_folder: dict[str, list[int]] = {folder: [] for folder in FOLDERS.values()}
        for n, type_name in enumerate(self.types):
            self.by_folder[FOLDERS[type_name]].append(n)

    def make(self) -> list[WikiPage]:
        return [self._page(n) for n in range(len(self.types))]

    def _page(self, n: int) -> WikiPage:
        facts, lines = self._front_matter(n)
        text = "\n".join(["---", *lines, "---", self._prose(n), ""])
        return WikiPage(self.ids[n], self.types[n], facts, text)

    def _front_matter(self, n: int) -> tuple[dict[str, Fact], list[str]]:
        """What the page states, and its lines; keys in the order of chance, some left out."""
        dice = self.dice
        facts: dict[str, Fact] = {"name": self.names[n]}
        lines = [f"type: {self.types[n]}", *self._entry("name", self.names[n])]
        offers = self._offers(n)
        if "context_length" in offers:
            facts["context_length"] = offers.pop("context_length")()
            lines += self._entry("context_length", facts["context_length"])
        wanted = dice.randint(LEAST_LINES, MOST_LINES)
        for key in dice.sample(list(offers), len(offers)):
            fact = offers[key]()
            added = self._entry(key, fact)
            if len(lines) + len(added) <= MOST_LINES:
                facts[key] = fact
                lines += added
            if len(lines) >= wanted:
                break
        return facts, lines

    def _offers(self, n: int) -> dict[str, Callable[[], Fact]]:
        """Whatever a page of the type may state."""
        dice, word, page_id = self.dice, self.words[n], self.ids[n]

        def some(words: tuple[str, ...], most: int) -> list[Scalar]:
            return [*dice.sample(words, dice.randint(1, most))]

        def many(folder: str, most: int) -> Fact:
            found = self._others(n, folder, dice.randint(1, most))
            return found[0] if len(found) == 1 else [*found]

        def day() -> str:
            return f"20{dice.randint(10, 26)}-{dice.randint(1, 12):02}-{dice.randint(1, 28):02}"

        def url(path: str = "") -> str:
            return f"https://{page_id}.example.org/{path}"

        def sources() -> Fact:
            return [url("paper"), url("code")] if dice.random() < 0.4 else url("paper")

        def compared() -> list[dict[str, Scalar]]:
            return [
                {"target": other, "benchmark": benchmark, "score_delta": dice.randint(1, 99) / 10}
                for other in self._others(n, "models", dice.randint(1, 2))
                for benchmark in self._others(n, "benchmarks", 1)
            ]

        def evaluated() -> Fact:
            named = self._others(n, "benchmarks", dice.randint(1, 3))
            if dice.random() < 0.3:
                return [*named]
            scored: list[dict[str, Scalar]] = [{"target": b, "score": dice.randint(1, 999) / 10} for b in named]
            return scored

        offers: dict[str, Callable[[], Fact]] = {
            "aliases": lambda: [f"{word}-{n}", f"{word} {n} ({page_id[:2].upper()})"][: dice.randint(1, 2)],
            "source": sources,
            "description": lambda: dice.choice(DESCRIPTIONS),
            "homepage": url,
        }
        if self.types[n] == "Organization":
            return offers | {
                "founded": day,
                "country": lambda: dice.choice(("CH", "FR", "LT", "US", "BR")),
                "employees": lambda: dice.randint(3, 9000),
                "sector": lambda: dice.choice(("company", "university", "non-profit", "government")),
                "public": lambda: dice.random() < 0.5,
                "offices": lambda: some(CITIES, 3),
                "partner_of": lambda: many("organizations", 3),
            }
        if self.types[n] == "Benchmark":
            return offers | {
                "questions": lambda: dice.randint(50, 20_000),
                "published": day,
                "metric": lambda: dice.choice(("accuracy", "F1", "win rate", "perplexity")),
                "languages": lambda: some(LANGUAGES, 4),
                "best_score": lambda: dice.randint(10, 999) / 10,
                "saturated": lambda: dice.random() < 0.3,
                "published_by": lambda: many("organizations", 2),
            }
        if self.types[n] == "LanguageModel":
            offers["vocabulary"] = lambda: dice.randint(8, 256) * 1000
        return offers | {
            "context_length": lambda: 2 ** dice.randint(9, 20),
            "parameters": lambda: dice.randint(1, 900) * 10**8,
            "released": day,
            "training_method": lambda: some(METHODS, 3),
            "open_weights": lambda: dice.random() < 0.5,
            "license_id": lambda: dice.choice(LICENSES),
            "languages": lambda: some(LANGUAGES, 4),
            "hardware_requirement": lambda: {"gpu_memory": dice.choice((8, 16, 24, 80.5)), "cpu_cores": 8},
            "developed_by": lambda: many("organizations", 2),
            "based_on": lambda: self._others(n, "models", 1)[0],
            "superior_to": compared,
            "evaluated_on": evaluated,
        }

    def _others(self, n: int, folder: str, number: int) -> list[str]:
        """The ids of other pages in a folder, each once."""
        found = self.dice.sample(self.by_folder[folder], number + 1)
        return [self.ids[other] for other in found if other != n][:number]

    def _entry(self, key: str, fact: Fact) -> list[str]:
        """``key: value`` in one of the styles that YAML has for it."""
        dice = self.dice
        lines = [f"{key}: {self._flow(fact)}"]
        if isinstance(fact, dict) and dice.random() < 0.5:
            lines = [f"{key}:", *(f"  {name}: {self._scalar(value)}" for name, value in fact.items())]
        elif isinstance(fact, list) and dice.random() < 0.4:
            indent = dice.choice(("", "  "))
            lines = [f"{key}:", *(f"{indent}- {self._flow(item)}" for item in fact)]
        if dice.random() < 0.04:
            lines[-1] += f"  {dice.choice(REMARKS)}"
        elif dice.random() < 0.04:
            lines.insert(0, dice.choice(REMARKS))
        return lines

    def _flow(self, fact: Fact) -> str:
        if isinstance(fact, str | int | float):
            return self._scalar(fact)
        if isinstance(fact, Mapping):
            return f"{{{', '.join(f'{name}: {self._scalar(value)}' for name, value in fact.items())}}}"
        return f"[{', '.join(self._flow(item) for item in fact)}]"

    def _scalar(self, value: Scalar) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        if not isinstance(value, str):
            return str(value)
        return self.dice.choice((value, value, value, f'"{value}"', f"'{value}'"))

    def _prose(self, n: int) -> str:
        chosen = self.dice.sample(SENTENCES, self.dice.randint(3, 6))
        sentences = [s.format(a=self._link(n), b=self._link(n), n=self.dice.randint(1024, 9999)) for s in chosen]
        return " ".join(sentences[:2]) + "\n\n" + " ".join(sentences[2:])

    def _link(self, n: int) -> str:
        """A link to another page, as Markdown or as wikis write it."""
        other = self.dice.randrange(len(self.ids))
        form, folder = self.dice.random(), FOLDERS[self.types[other]]
        if form < 0.3:
            return f"[[{self.ids[other]}]]"
        if form < 0.5:
            return f"[[{self.ids[other]}|{self.names[other]}]]"
        above = "" if folder == FOLDERS[self.types[n]] else f"../{folder}/"
        return f"[{self.names[other]}]({above}{self.ids[other]}.md)"
