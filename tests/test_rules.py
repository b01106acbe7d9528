"""The example's rules against sentences of many wordings, the rule language's errors, and what every rule does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.column_mapping import read_mapping
from ingest.read_rules import RULE_KEYS, compile_rules
from ingest.rules import Lexicon, RuleExtractor, RuleSet, read_rules
from ingest.split import split
from ontology.findings import FindingsError
from ontology.read import compile_ontology, read_ontology
from ontology.schema import Ontology
from ontoloom.names import name_key
from ontoloom.records import Claim, Document, Mention, Section, canonical_text

EXAMPLE = ROOT / "examples" / "ai-infra"

NAMES = {
    "Model": """Mistral 7B, Llama 2 13B, Llama 2 70B, Llama 3 8B, Llama 3 70B, Falcon 40B, Qwen2 72B, GPT-3, GPT-4,
        Vicuna 13B, Zephyr, Claude 2, PaLM, Gemma 7B, StarCoder, OPT-175B""",
    "Organization": """Mistral AI, Meta, Technology Innovation Institute, Google, OpenAI, Anthropic, Alibaba, NVIDIA,
        Stanford University, BigCode""",
    "Benchmark": "MMLU, GSM8K, HumanEval, MT-Bench, HellaSwag, MATH",
    "Dataset": "The Pile, RefinedWeb, C4, UltraChat, The Stack, Common Crawl",
    "Method": "Transformer, FlashAttention, LoRA, DPO, RLHF, Dropout, grouped-query attention",
    "Hardware": "A100, H100",
    "Paper": "Attention Is All You Need, Scaling Laws for Neural Language Models",
    "Person": "Ashish Vaswani, Jared Kaplan, Edward Hu",
    "Venue": "NeurIPS, ICML, ICLR, arXiv",
}

# A line of text, and below it what it says: subject | relation | object | attributes.
WORDINGS = """
Falcon 40B has a context window of 2,048 tokens.
    Falcon 40B | context_length | 2048
GPT-4 comes in a variant with a 32K-token context.
    GPT-4 | context_length | 32768
Claude 2 supports up to 100K tokens of context.
    Claude 2 | context_length | 102400
The context length of Llama 3 8B is 8K.
    Llama 3 8B | context_length | 8192
Gemma 7B was trained with sequences of 8192 tokens.
    Gemma 7B | context_length | 8192
Qwen2 72B extends its context window from 32K to 128K tokens.
    Qwen2 72B | context_length | 131072
Falcon 40B has 40 billion parameters.
    Falcon 40B | parameters | 40000000000
OPT-175B, a 175-billion-parameter model, was released for research.
    OPT-175B | parameters | 175000000000
The 13B-parameter model Vicuna 13B was a surprise.
    Vicuna 13B | parameters | 13000000000
With 540B parameters, PaLM was the largest dense model of its day.
    PaLM | parameters | 540000000000
GPT-3 is a model with 175B parameters.
    GPT-3 | parameters | 175000000000
PaLM totals 540 billion parameters.
    PaLM | parameters | 540000000000
Zephyr was fine-tuned using direct preference optimization.
    Zephyr | training_method | DPO
Llama 2 70B was aligned with supervised fine-tuning and RLHF.
    Llama 2 70B | training_method | SFT
    Llama 2 70B | training_method | RLHF
Through RLHF, the team aligned GPT-4.
    GPT-4 | training_method | RLHF
Vicuna 13B underwent instruction tuning.
    Vicuna 13B | training_method | SFT
Falcon 40B is available under the Apache 2.0 license.
    Falcon 40B | license_type | Apache-2.0
The weights of StarCoder were released under a custom license.
    StarCoder | license_type | custom
Gemma 7B is licensed under the MIT License.
    Gemma 7B | license_type | MIT
The weights of GPT-4 were never released.
    GPT-4 | license_type | proprietary
Claude 2 is available only through an API.
    Claude 2 | license_type | proprietary
Falcon 40B needs 90 GB of GPU memory.
    Falcon 40B | hardware_requirement.gpu_memory | 90
Gemma 7B runs on 8 CPU cores.
    Gemma 7B | hardware_requirement.cpu_cores | 8
Mistral 7B was released on 27 September 2023.
    Mistral 7B | released | 2023-09-27
Llama 3 70B was announced on April 18, 2024.
    Llama 3 70B | released | 2024-04-18
Llama 3 70B outperforms Llama 2 70B on MMLU by 10.6 points.
    Llama 3 70B | superior_to | Llama 2 70B | benchmark=MMLU score_delta=10.6
Qwen2 72B beats Llama 3 70B by 4.7 points on MMLU.
    Qwen2 72B | superior_to | Llama 3 70B | benchmark=MMLU score_delta=4.7
On GSM8K, Mistral 7B surpasses Llama 2 13B.
    Mistral 7B | superior_to | Llama 2 13B | benchmark=GSM8K
Falcon 40B is better than GPT-3 on HellaSwag.
    Falcon 40B | superior_to | GPT-3 | benchmark=HellaSwag
GPT-3 is outperformed by PaLM on MMLU.
    PaLM | superior_to | GPT-3 | benchmark=MMLU
Vicuna 13B trails GPT-4 on MT-Bench.
    GPT-4 | superior_to | Vicuna 13B | benchmark=MT-Bench
Gemma 7B outperforms Mistral 7B and Llama 2 13B on MATH and HumanEval.
    Gemma 7B | superior_to | Mistral 7B | benchmark=MATH
    Gemma 7B | superior_to | Mistral 7B | benchmark=HumanEval
    Gemma 7B | superior_to | Llama 2 13B | benchmark=MATH
    Gemma 7B | superior_to | Llama 2 13B | benchmark=HumanEval
Llama 3 8B scores 66.6 on MMLU.
    Llama 3 8B | evaluated_on | MMLU | score=66.6
On HumanEval GPT-4 reaches 67.0%.
    GPT-4 | evaluated_on | HumanEval | score=67
Mistral 7B was evaluated on MMLU, GSM8K and HumanEval.
    Mistral 7B | evaluated_on | MMLU
    Mistral 7B | evaluated_on | GSM8K
    Mistral 7B | evaluated_on | HumanEval
Falcon 40B was developed by the Technology Innovation Institute.
    Falcon 40B | developed_by | Technology Innovation Institute
Meta released Llama 3 8B and Llama 3 70B.
    Llama 3 8B | developed_by | Meta
    Llama 3 70B | developed_by | Meta
Google's PaLM is a dense model.
    PaLM | developed_by | Google
StarCoder was built by BigCode in 2023.
    StarCoder | developed_by | BigCode
Zephyr is based on Mistral 7B.
    Zephyr | based_on | Mistral 7B
Vicuna 13B is a fine-tuned version of Llama 2 13B.
    Vicuna 13B | based_on | Llama 2 13B
The group fine-tuned Llama 2 13B on dialogues to obtain Vicuna 13B.
    Vicuna 13B | based_on | Llama 2 13B
Falcon 40B was trained on 1 trillion tokens of RefinedWeb.
    Falcon 40B | trained_on | RefinedWeb | tokens=1000000000000
StarCoder was pre-trained on The Stack.
    StarCoder | trained_on | The Stack
C4 and The Pile were used to train Gemma 7B.
    Gemma 7B | trained_on | C4
    Gemma 7B | trained_on | The Pile
Mistral 7B uses grouped-query attention and FlashAttention.
    Mistral 7B | uses | grouped-query attention
    Mistral 7B | uses | FlashAttention
OPT-175B was trained on 992 A100 GPUs.
    OPT-175B | runs_on | A100
The Transformer was proposed by Vaswani et al. in 2017.
    Transformer | year | 2017
    Transformer | proposed_by | Vaswani
Hu et al. introduced LoRA in 2021.
    LoRA | proposed_by | Hu
FlashAttention was proposed at a workshop by Stanford University.
    FlashAttention | proposed_by | Stanford University
HellaSwag measures commonsense reasoning with stories to be continued.
    HellaSwag | measures | commonsense reasoning
DPO was introduced by Rafailov and colleagues.
    DPO | proposed_by | Rafailov
The Transformer was introduced in "Attention Is All You Need".
    Transformer | described_in | Attention Is All You Need
Jared Kaplan is the first author of Scaling Laws for Neural Language Models.
    Jared Kaplan | authored | Scaling Laws for Neural Language Models
Attention Is All You Need was written by Ashish Vaswani, Noam Shazeer and Niki Parmar.
    Ashish Vaswani | authored | Attention Is All You Need
    Noam Shazeer | authored | Attention Is All You Need
    Niki Parmar | authored | Attention Is All You Need
Attention Is All You Need was published at NeurIPS in 2017.
    Attention Is All You Need | year | 2017
    Attention Is All You Need | published_in | NeurIPS
Scaling Laws for Neural Language Models appeared on arXiv in January 2020.
    Scaling Laws for Neural Language Models | year | 2020
    Scaling Laws for Neural Language Models | published_in | arXiv
Ashish Vaswani worked at Google.
    Ashish Vaswani | affiliated_with | Google
The A100 is made by NVIDIA and has 80 GB of memory.
    A100 | memory | 80
    A100 | made_by | NVIDIA
OpenAI was founded in 2015.
    OpenAI | founded | 2015
Mistral AI is headquartered in Paris.
    Mistral AI | headquarters | Paris
GSM8K contains 8,500 grade school math problems.
    GSM8K | questions | 8500
RefinedWeb contains 600 billion tokens.
    RefinedWeb | tokens | 600000000000
The Pile is released under the MIT license.
    The Pile | license_type | MIT
**Falcon 40B** has [40 billion parameters](https://x.y/z) and *outperforms* `GPT-3`.
    Falcon 40B | parameters | 40000000000
    Falcon 40B | superior_to | GPT-3
Mistral 7B was released by Mistral AI. It has 7.3 billion parameters.
    Mistral 7B | developed_by | Mistral AI
    Mistral 7B | parameters | 7300000000
Mistral 7B outperforms Llama 2 13B. It has a context window of 8K tokens.
    Mistral 7B | superior_to | Llama 2 13B
    Mistral 7B | context_length | 8192
Zephyr is small. The model is based on Mistral 7B.
    Zephyr | based_on | Mistral 7B
# Nothing is said here.
Mistral 7B does not outperform Llama 3 70B on MMLU.
Neither Falcon 40B nor Gemma 7B outperforms GPT-4 on MMLU.
It is unclear whether Zephyr outperforms Llama 2 70B.
Does Mistral 7B outperform Llama 2 70B?
If Gemma 7B outperforms Mistral 7B on MMLU, the ranking changes.
Falcon 40B may outperform GPT-3 on HellaSwag.
Zephyr was not trained with RLHF.
Zephyr was trained with DPO instead of RLHF.
    Zephyr | training_method | DPO
    Zephyr | uses | DPO
GPT-4 reportedly has 1.8 trillion parameters.
Mixtral has 13 billion active parameters.
Llama 2 13B Chat has a context window of 4,096 tokens.
The Falcon-40B-Instruct model outperforms GPT-3 on HellaSwag.
Mistral 7B was compared with Llama 2 13B on MMLU.
Unlike GPT-3, the new model has 7 billion parameters.
The tokenizer has a vocabulary of 128K tokens, as in Llama 3 8B.
GPT-3 and PaLM differ. It has 540 billion parameters.
Mistral 7B nearly matches or outperforms Llama 2 70B on MMLU.
The authors hope to release Zephyr under the MIT license.
Falcon 40B was trained for two months on AWS.
Vicuna 13B never surpasses GPT-4 on MT-Bench.
The paper was rejected in 2017.
Llama 3 8B isn't licensed under the Apache 2.0 license.
Mistral 7B cost 13 million dollars.
"""


@pytest.fixture(scope="module")
def ontology() -> Ontology:
    return read_ontology(EXAMPLE / "ontology.yaml")


@pytest.fixture(scope="module")
def extractor(ontology: Ontology) -> RuleExtractor:
    return RuleExtractor(read_rules(EXAMPLE / "rules.yaml", ontology), lexicon())


def lexicon() -> Lexicon:
    listed = ((kind, " ".join(name.split())) for kind, names in NAMES.items() for name in names.split(","))
    return Lexicon((name, f"{kind}:{name}", kind) for kind, name in listed)


def document(text: str, *, title: str = "Notes", section: str = "body") -> Document:
    return Document("d", "d", title, text, (Section(section, 0, len(text)),))


def read(extractor: RuleExtractor, text: str, *, title: str = "Notes", section: str = "body") -> list[Claim]:
    given = document(text, title=title, section=section)
    [reading] = extractor.extract([(given, split(given))])
    return list(reading.claims)


def shown(claim: Claim) -> str:
    def name(value: object) -> str:
        return value.name if isinstance(value, Mention) else canonical_text(value)  # type: ignore[arg-type]  # a Value

    attributes = "".join(f" {key}={name(value)}" for key, value in claim.attributes)
    said = f"{claim.subject.name} | {claim.relation} | {name(claim.object)}"
    return f"{said} |{attributes}" if attributes else said


def wordings(table: str = WORDINGS) -> Iterator[tuple[str, list[str]]]:
    text, said = "", list[str]()
    for line in table.strip().splitlines():
        if line.startswith("    "):
            said.append(line.strip())
        elif not line.startswith("#"):
            if text:
                yield text, said
            text, said = line, []
    yield text, said


@pytest.mark.parametrize(("text", "said"), list(wordings()))
def test_says_what_the_sentence_says_and_no_more(extractor: RuleExtractor, text: str, said: list[str]) -> None:
    assert [shown(claim) for claim in read(extractor, text)] == said


def test_the_table_is_long_enough() -> None:
    table = list(wordings())
    assert sum(1 for _, said in table if said) >= 40
    assert sum(1 for _, said in table if not said) >= 12


@pytest.mark.parametrize("name", ["ai-papers", "pubmedqa"])
def test_the_rules_of_the_benches_hold(name: str) -> None:
    folder = ROOT / "bench" / name
    assert read_rules(folder / "rules.yaml", read_ontology(folder / "ontology.yaml")).rules
    assert read_mapping(folder / "mapping.yaml").abstract


def test_every_rule_of_the_example_is_tried(extractor: RuleExtractor, ontology: Ontology) -> None:
    used = {claim.source.partition("/")[2] for text, _ in wordings() for claim in read(extractor, text)}
    rules = {rule.name for rule in read_rules(EXAMPLE / "rules.yaml", ontology).rules}
    assert rules - used == set()


def test_the_span_covers_the_words_that_state_the_claim(extractor: RuleExtractor) -> None:
    text = (
        "# Notes\n\nThe team is **small**.\nIts *Mistral  7B* has\n[7.3 billion parameters](https://a.b/c), they say."
    )
    [claim] = read(extractor, text)
    assert text[claim.start : claim.end] == "Mistral  7B* has\n[7.3 billion parameters"
    assert (claim.subject, claim.object) == (Mention("Mistral 7B", "Model"), 7_300_000_000)


def test_the_span_is_in_code_points_of_the_document(extractor: RuleExtractor) -> None:
    text = "🙂 中文 naïve e\u0301 — \ue001 Falcon 40B has 40B parameters. 🙂"
    [claim] = read(extractor, text)
    assert text[claim.start : claim.end] == "Falcon 40B has 40B parameters"


def test_characters_for_private_use_are_no_names(extractor: RuleExtractor) -> None:
    assert read(extractor, "\U000f0000 outperforms \U000f0001 on \U000f0002 by 3 points.") == []


def test_the_longest_name_wins(ontology: Ontology) -> None:
    names = [("Llama 3", "a", "Model"), ("Llama 3 70B", "b", "Model"), ("Llama 3 70B Instruct", "c", "Model")]
    extractor = RuleExtractor(read_rules(EXAMPLE / "rules.yaml", ontology), Lexicon(names))
    [claim] = read(extractor, "Llama-3-70B-Instruct has 70B parameters.")
    assert claim.subject.name == "Llama-3-70B-Instruct"
    assert [shown(c) for c in read(extractor, "Llama 3 70B has 70B parameters.")] == [
        "Llama 3 70B | parameters | 70000000000"
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Mistral-7B, mistral 7b and Mistral\n7B", ["Mistral-7B", "mistral 7b", "Mistral\n7B"]),
        ("Mistral 7B Instruct, Mistral-7B-v0.2 and pre-Mistral 7B", []),
        ("BERT-based models, a BERT, BERTs and RoBERTa", ["BERT"]),
        ("Llama 2 13B, Llama 3.1 and Llama 3. The next", ["Llama 3"]),
        ("math in MATH, on MATH 500 and MATH 5-shot", ["MATH", "MATH", "MATH"]),
        ("a falcon; Falcon's wings", ["Falcon"]),
        ("美国总统特朗普访问了中国", ["特朗普"]),
        ("C++ is no C, and C+ neither", ["C++"]),
        ("Attention: Is All, not Attention, Is All", ["Attention: Is All"]),
        ("In Code Llama 3 is nothing", []),
    ],
)
def test_names_are_found_in_any_spelling_but_not_inside_others(text: str, found: list[str]) -> None:
    names = ["Mistral 7B", "BERT", "Llama 3", "Llama", "MATH", "Falcon", "特朗普", "C++", "Attention: Is All", "C", "7"]
    lexicon = Lexicon((name, name, "Thing") for name in names)
    assert [known.name for known in lexicon.find(text)] == found


def test_a_name_of_two_types_fills_either_slot(ontology: Ontology) -> None:
    names = [("DPO", "m", "Method"), ("DPO", "p", "Paper"), ("Zephyr", "z", "Model"), ("Ann Lee", "a", "Person")]
    extractor = RuleExtractor(read_rules(EXAMPLE / "rules.yaml", ontology), Lexicon(names))
    assert "Zephyr | uses | DPO" in [shown(claim) for claim in read(extractor, "Zephyr uses DPO.")]
    assert [shown(claim) for claim in read(extractor, "Ann Lee wrote DPO.")] == ["Ann Lee | authored | DPO"]


def test_a_pronoun_is_the_one_thing_named_before_and_less_certain(extractor: RuleExtractor) -> None:
    direct, inferred = read(extractor, "Zephyr has 7B parameters. It was trained with DPO by hand.")[:2]
    assert inferred.subject == direct.subject
    assert inferred.confidence < direct.confidence


def test_what_the_title_names_is_the_model_of_its_first_sentence(extractor: RuleExtractor) -> None:
    assert [shown(c) for c in read(extractor, "It has 7B parameters.", title="About Zephyr")] == [
        "Zephyr | parameters | 7000000000"
    ]
    assert read(extractor, "It has 7B parameters.", title="Zephyr and GPT-3") == []


WORDS = """Mistral 7B|GPT-3|MMLU|DPO|It|the model|NVIDIA| |. |, |**|`|[|](u)|# |- | and | outperforms | on | by 3 points
| has 7 billion parameters| was trained with | under the MIT licence|🙂|中文。"""
FRAGMENTS = [*WORDS.replace("\n", "").split("|"), "\n", "\n\n", "\u0301", "\ue000", "\U000f0001", "\u00a0"]


@settings(deadline=None)
@given(pieces=st.lists(st.sampled_from(FRAGMENTS), max_size=25))
def test_any_text_gives_claims_with_spans_that_hold_words(extractor: RuleExtractor, pieces: list[str]) -> None:
    text = "x" + "".join(pieces)
    claims = read(extractor, text)
    for claim in claims:
        assert 0 <= claim.start < claim.end <= len(text)
        assert text[claim.start : claim.end].strip() == text[claim.start : claim.end]
        assert 0 < claim.confidence <= 1
        assert claim.subject.name in " ".join(text.split()) or name_key(claim.subject.name) in name_key(text)
    assert read(extractor, text) == claims


def test_the_documentation_is_true(ontology: Ontology) -> None:
    docs = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    rules, findings = compile_rules(
        re.findall(r"```yaml\n(.*?)```", docs, re.DOTALL)[0], file="docs", ontology=ontology
    )
    assert rules is not None, findings
    [table] = re.findall(r"```text\n(.*?)```", docs, re.DOTALL)
    extractor = RuleExtractor(rules)
    assert [(text, [shown(c) for c in read(extractor, text)]) for text, _ in wordings(table)] == list(wordings(table))
    first_cells = " ".join(re.findall(r"^\| (`.*?) \|", docs, re.MULTILINE))
    assert {key for key in RULE_KEYS if f"`{key}`" not in first_cells} == set()
    given = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "ingest").glob("*rule*.py"))
    given += (ROOT / "ingest" / "check_patterns.py").read_text(encoding="utf-8")
    codes = re.findall(r'(?:error|_fault)\((?:[^()]|\([^()]*\))*?, "([a-z]+(?:-[a-z]+)+|taken|twice|cycle)",', given)
    assert len(set(codes)) > 15
    common = {"empty-file", "wrong-shape"}
    assert {code for code in codes if f"`{code}`" not in first_cells} - common == set()


# The language ------------------------------------------------------------------------------------------------------

SMALL_ONTOLOGY = """
ontology: clinic
version: 1.0.0
types:
  Study:
    attributes:
      patients: {type: integer}
      design: {type: enum, values: {cohort: {synonyms: [cohort study]}, trial: {synonyms: [randomised trial]}}}
      started: {type: date}
      note: {type: string}
      blinded: {type: boolean}
  Drug: {}
  Condition: {}
relations:
  treats:
    domain: Drug
    range: Condition
    attributes:
      dose: {type: number, unit: mg}
      found_in: {type: reference, to: Study}
"""


@pytest.fixture(scope="module")
def clinic() -> Ontology:
    ontology, findings = compile_ontology(SMALL_ONTOLOGY, file="ontology.yaml")
    assert ontology is not None, findings
    return ontology


def rules_of(text: str, ontology: Ontology) -> RuleSet:
    rules, findings = compile_rules(f"ruleset: clinic\nversion: 1.0.0\n{text}", file="rules.yaml", ontology=ontology)
    assert rules is not None, findings
    return rules


def said(text: str, sentence: str, ontology: Ontology, *, title: str = "Notes", section: str = "body") -> list[str]:
    return [shown(c) for c in read(RuleExtractor(rules_of(text, ontology)), sentence, title=title, section=section)]


def test_the_document_is_the_subject(clinic: Ontology) -> None:
    rules = """
rules:
  - name: size
    relation: patients
    subject: {from: document, type: Study?}
    pattern: '{value} patients'
"""
    assert said(rules, "We saw 1,250 patients.", clinic, title="A cohort in Oslo") == [
        "A cohort in Oslo | patients | 1250"
    ]


def test_new_names_are_taken_where_a_slot_says_so(clinic: Ontology) -> None:
    rules = """
known: {Condition: [migraine]}
rules:
  - {name: treats, relation: treats, pattern: '{subject:Drug?} treats {object}'}
"""
    assert said(rules, "The Sumatriptan 50 treats migraine.", clinic) == ["Sumatriptan 50 | treats | migraine"]
    assert said(rules, "It treats migraine.", clinic) == []
    assert said(rules, "Sumatriptan treats headaches.", clinic) == []


def test_lists_of_names_are_several_claims_and_attributes_are_captured(clinic: Ontology) -> None:
    rules = """
known: {Drug: [Aspirin], Condition: [fever, headache, back pain], Study: [RELIEF]}
rules:
  - name: treats
    relation: treats
    pattern: '{subject} treats {object+}(?: at {dose} mg)?(?: in {found_in})?'
"""
    assert said(rules, "Aspirin treats fever, headache and back pain at 500 mg in RELIEF.", clinic) == [
        f"Aspirin | treats | {what} | dose=500 found_in=RELIEF" for what in ("fever", "headache", "back pain")
    ]
    assert said(rules, "Aspirin treats fever.", clinic) == ["Aspirin | treats | fever"]


def test_a_claim_with_more_attributes_replaces_the_one_with_fewer(clinic: Ontology) -> None:
    rules = """
known: {Drug: [Aspirin], Condition: [fever]}
rules:
  - {name: plain, relation: treats, pattern: '{subject} treats {object}'}
  - {name: dosed, relation: treats, pattern: '{subject} treats {object} at {dose} mg'}
"""
    assert said(rules, "Aspirin treats fever at 500 mg.", clinic) == ["Aspirin | treats | fever | dose=500"]


@pytest.mark.parametrize(
    ("rule", "sentence", "value"),
    [
        ("{relation: patients, pattern: '{value} people', value: {scale: decimal}}", "4.5 thousand people", "4500"),
        ("{relation: patients, pattern: '{value} people', value: {scale: {dozen: 12}}}", "2 dozen people", "24"),
        (
            "{relation: patients, pattern: '(?P<value>[a-z]+) people', value: {map: {forty two: 42, ten: 10}}}",
            "ten people",
            "10",
        ),
        (
            "{relation: patients, pattern: '{value:number}(?P<unit>k)? people', value: {scale: {K: 1000}}}",
            "3k people",
            "3000",
        ),
        ("{relation: patients, pattern: '(?P<value>\\w+) people'}", "many people", "many"),
        ("{relation: design, pattern: 'a {value}'}", "a Cohort-Study", "cohort"),
        (
            "{relation: design, pattern: 'a {value}', value: {map: {RCT: trial}}}",
            "a randomised trial, an RCT, a RCT",
            "trial",
        ),
        ("{relation: design, pattern: 'we drew lots', value: trial}", "we drew lots", "trial"),
        ("{relation: started, pattern: 'on {value}'}", "on 3rd March 2021", "2021-03-03"),
        ("{relation: started, pattern: 'on {value}'}", "on March 3, 2021", "2021-03-03"),
        ("{relation: note, pattern: 'noted (?P<value>[^.]+)'}", "noted “no harm”.", "no harm"),
        ("{relation: blinded, pattern: 'double-blind', value: 'true'}", "double-blind", "true"),
    ],
)
def test_words_become_values(clinic: Ontology, rule: str, sentence: str, value: str) -> None:
    rules = f"rules:\n  - {{name: r, subject: {{from: document, type: Study?}}, {rule[1:]}\n"
    assert {claim.split(" | ")[2] for claim in said(rules, sentence, clinic)} == {value}


def test_guards_and_sections(clinic: Ontology) -> None:
    rules = """
known: {Drug: [Aspirin], Condition: [fever]}
define: {denial: 'not|never'}
unless: ['^Once']
unless_inside: '{denial}'
rules:
  - name: guarded
    relation: treats
    pattern: '(?:treats?) {object}'
    require: ['{object:Condition}|{Condition}', 'adults']
    sections: [results]
  - {name: unguarded, relation: treats, ignore_guards: true, pattern: 'helps against {object}'}
"""
    assert said(rules.replace("{object:Condition}|", ""), "Aspirin treats fever in adults.", clinic, section="results")
    rules = rules.replace("{object:Condition}|", "")
    assert not said(rules, "Aspirin treats fever in adults.", clinic)
    assert not said(rules, "Aspirin treats fever in children.", clinic, section="results")
    assert not said(rules, "Aspirin does not treat fever in adults.", clinic, section="results")
    assert not said(rules, "Once, Aspirin treats fever in adults.", clinic, section="results")
    assert said(rules, "It is not dear: Aspirin treats fever in adults.", clinic, section="results")
    assert said(rules, "Aspirin never helps against fever.", clinic)


def test_rules_and_names_may_be_chinese(clinic: Ontology) -> None:
    rules = """
known: {Drug: [阿司匹林], Condition: [发烧, 头痛]}
rules:
  - {name: treats, relation: treats, pattern: '{subject}可以治疗{object}'}
"""
    assert said(rules, "医生说阿司匹林可以治疗发烧。它不治疗头痛。", clinic) == ["阿司匹林 | treats | 发烧"]


def test_what_a_capture_holds_can_be_refused(clinic: Ontology) -> None:
    rules = """
rules:
  - name: treats
    relation: treats
    pattern: '(?P<subject>[A-Z]\\w+) treats (?P<object>\\w+ ?\\w*)'
    unless_captured: {object: '^the$|^them', subject: '^It$'}
"""
    assert said(rules, "Aspirin treats severe fever.", clinic) == ["Aspirin | treats | severe fever"]
    assert said(rules, "It treats fever.", clinic) == said(rules, "Aspirin treats them well.", clinic) == []


def test_gaps_do_not_cross_names_and_are_bounded(clinic: Ontology) -> None:
    rules = """
known: {Drug: [Aspirin, Ibuprofen], Condition: [fever]}
rules:
  - {name: treats, relation: treats, pattern: '{subject} {gap:3}treats {gap}{object}'}
"""
    assert said(rules, "Aspirin as we know treats high fever.", clinic) == ["Aspirin | treats | fever"]
    assert said(rules, "Aspirin or Ibuprofen treats fever.", clinic) == ["Ibuprofen | treats | fever"]
    assert said(rules, "Aspirin as we all know treats fever.", clinic) == []


BAD_RULES = """ruleset: clinic
version: 1.0.0
define:
  number: '[0-9]+'
  loop: 'a{loop}'
known:
  Drgu: [Aspirin]
rules:
  - name: a
    relation: treets
    pattern: '{subject} treats {object}'
  - name: b
    relation: treats
    pattern: '{subject} treats'
  - name: b
    relation: treats
    pattern: '{subject:Condition} treats {object:Drag} (?P<benefit>x'
  - name: d
    relation: patients
    pattern: 'n = (?P<value>[0-9]+'
  - name: e
    relation: patients
    pattern: '{value:count} patients'
    subject: {from: title, type: Drug}
    vlaue: 3
  - name: f
    relation: design
    pattern: 'lots(?=drawn)'
    value: trail
  - name: g
    relation: treats
    pattern: '{subject} (?P<mg>x) {object} {object}'
    attributes: {amount: {scale: decimal}, dose: {scale: {mg: heavy}}}
    confidence: 2
"""


def test_every_error_says_where_what_and_how(clinic: Ontology) -> None:
    rules, findings = compile_rules(BAD_RULES, file="rules.yaml", ontology=clinic)
    assert rules is None
    assert [str(finding) for finding in findings] == BAD_RULES_FINDINGS.strip().splitlines()


BAD_RULES_FINDINGS = """
rules.yaml:4:3: error[taken] 'number' is built in; choose another name
rules.yaml:5:11: error[cycle] the piece 'loop' is defined by itself; break the circle
rules.yaml:7:3: error[unknown-type] the ontology has no type 'Drgu'; did you mean 'Drug'?
rules.yaml:10:15: error[unknown-relation] the ontology has no relation or attribute 'treets'; did you mean 'treats'?
rules.yaml:14:14: error[missing-group] nothing says what the object is; write {object} in the pattern, or 'object: nearest' to take the nearest name before it
rules.yaml:15:5: error[duplicate-rule] a rule is named 'b' already, on line 12; rename one
rules.yaml:17:14: error[wrong-domain] a Condition cannot be the subject here; it takes Drug
rules.yaml:17:42: error[unknown-slot] 'Drag' is no type, piece or role; did you mean 'Drug'?
rules.yaml:20:15: error[bad-regex] not a regular expression: missing ): 'n = (?P<value>[0-9]+'; close the parenthesis
rules.yaml:23:15: error[unknown-slot] 'count' is no type, piece or role; known: Study, Drug, Condition, number, year, date, url, name, loop, subject, value
rules.yaml:24:21: error[unknown-origin] 'title' is no place to look for a name; known: nearest, document
rules.yaml:24:34: error[wrong-domain] a Drug cannot stand here; it takes Study
rules.yaml:25:5: error[unknown-key] a rule has no key 'vlaue'; did you mean 'value'?
rules.yaml:28:19: error[bad-regex] not a regular expression: invalid perl operator: '(?='; there is no lookaround in RE2; say it with 'require', 'unless' or 'unless_inside'
rules.yaml:29:12: error[not-in-enum] 'trail' is no value of design; write trial
rules.yaml:32:44: error[twice] 'object' is there twice; give each alternative a pattern of its own
rules.yaml:33:18: error[unknown-attribute] 'treats' has no attribute 'amount'; known: dose, found_in
rules.yaml:33:63: error[not-a-number] 'heavy' is no factor; write a number such as 1000
rules.yaml:34:17: error[out-of-range] a confidence is above 0 and at most 1; write 0.9
"""  # noqa: E501  # each finding is one line


def test_read_rules_raises_with_all_findings(tmp_path: Path, clinic: Ontology) -> None:
    (tmp_path / "rules.yaml").write_text(BAD_RULES, encoding="utf-8")
    with pytest.raises(FindingsError) as raised:
        read_rules(tmp_path / "rules.yaml", clinic)
    assert len(raised.value.findings) == len(BAD_RULES_FINDINGS.strip().splitlines())


def test_the_fingerprint_follows_the_rules(clinic: Ontology) -> None:
    text = "rules:\n  - {name: t, relation: treats, pattern: '{subject} treats {object}'}\n"
    one, same = RuleExtractor(rules_of(text, clinic)), RuleExtractor(rules_of(text, clinic))
    other = RuleExtractor(rules_of(text.replace("treats {o", "cures {o"), clinic))
    assert one.fingerprint == same.fingerprint != other.fingerprint


def test_a_long_sentence_takes_linear_time(extractor: RuleExtractor) -> None:
    # With a backtracking engine, patterns with several gaps would not come back from this.
    text = "Mistral 7B " + "trained with a context of on by in at the " * 5000 + "parameters."
    assert read(extractor, text) == []
