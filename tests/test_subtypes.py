"""``is_a`` outside the ontology and SELECT: what is read, resolved and asked of a type holds for its subtypes."""

from __future__ import annotations

from ingest_parts import claim_in, known_names, make_document, make_page
from retrieval_parts import WordEmbedder

from ingest.cues import collect_cues
from ingest.grammar import Choices, compile_answer
from ingest.judge import Heard, judge
from ingest.known import KnownNames
from ingest.read_rules import compile_rules
from ingest.rules import Lexicon, RuleExtractor
from ingest.split import split
from ontology import Ontology
from ontology.admit import Refusal, admit
from ontology.read import compile_ontology
from ontoloom.names import entity_id
from ontoloom.records import Claim, Document, Entity, Extraction, Mention
from retrieval.sense import Vocabulary

ONTOLOGY_TEXT = """
ontology: devices
version: 1.0.0
types:
  Device:
    synonyms: [machine]
    attributes: {power: {type: number, unit: W, synonyms: [draws]}}
  GPU: {is_a: Device}
  Laptop: {is_a: Device}
  Maker: {}
relations:
  made_by: {domain: Device, range: Maker, synonyms: [made by]}
  beats: {domain: Device, range: Device, synonyms: [outruns]}
  fits: {domain: GPU, range: Laptop, synonyms: [fits]}
"""


def devices() -> Ontology:
    ontology, findings = compile_ontology(ONTOLOGY_TEXT, file="ontology.yaml")
    assert ontology is not None, findings
    return ontology


ONTOLOGY = devices()
H200 = Entity(entity_id("GPU", "H200"), "GPU", "H200")
SLIM = Entity(entity_id("Laptop", "Slim"), "Laptop", "Slim")
PLUG = Entity(entity_id("Device", "Plug"), "Device", "Plug")


def test_a_subtype_is_admitted_where_its_supertype_is_asked_for() -> None:
    for subject, target in ((H200, SLIM), (PLUG, H200), (SLIM, PLUG)):
        found = admit(ONTOLOGY, relation="beats", subject=subject, object=target)
        assert not isinstance(found, Refusal)
        assert not isinstance(admit(ONTOLOGY, relation="power", subject=subject, object=5), Refusal)
    refused = admit(ONTOLOGY, relation="fits", subject=PLUG, object=SLIM)
    assert isinstance(refused, Refusal)
    assert refused.code == "wrong-domain"


def read(document: Document, *claims: Claim, known: KnownNames | None = None) -> Extraction:
    heard = [Heard(claim, "found") for claim in claims]
    return judge(document, heard, ontology=ONTOLOGY, known=known or KnownNames(), cues=collect_cues(ONTOLOGY))


def types(extraction: Extraction) -> dict[str, str]:
    return {entity.name: entity.type for entity in extraction.entities}


def test_what_a_relation_alone_tells_is_the_supertype() -> None:
    document = make_document("Plug outruns Socket. Plug is made by Acme.")
    found = read(document, claim_in(document, "Plug", "beats", "Socket"), claim_in(document, "Plug", "made_by", "Acme"))
    assert types(found) == {"Plug": "Device", "Socket": "Device", "Acme": "Maker"}


def test_the_most_specific_type_that_is_stated_holds() -> None:
    document = make_document("Slim outruns Plug. Slim is made by Acme.")
    stated = claim_in(document, "Slim", "made_by", "Acme", types=("Laptop", "Maker"))
    general = claim_in(document, "Slim", "beats", "Plug", types=("Device", None))
    untyped = claim_in(document, "Plug", "beats", "Slim")
    found = read(document, stated, untyped)
    assert types(found) == {"Slim": "Laptop", "Plug": "Device", "Acme": "Maker"}
    assert types(read(document, general, stated, untyped))["Plug"] == "Device"


def test_a_page_of_a_subtype_is_what_a_mention_of_the_supertype_means() -> None:
    document = make_document("Slim outruns Plug.")
    known = known_names(ONTOLOGY, make_page("slim", "type: Laptop\nname: Slim"))
    found = read(document, claim_in(document, "Slim", "beats", "Plug", types=("Device", None)), known=known)
    assert types(found) == {"Slim": "Laptop", "Plug": "Device"}


RULES = """
ruleset: test
version: 1.0.0
rules:
  - name: made-by
    relation: made_by
    pattern: '{subject:Device} is made by {object:Maker?}'
  - name: fits
    relation: fits
    pattern: '{subject:GPU?} fits {object:Laptop?}'
"""


def test_a_slot_of_a_rule_takes_the_subtypes_of_its_type() -> None:
    rules, findings = compile_rules(RULES, file="rules.yaml", ontology=ONTOLOGY)
    assert rules is not None, findings
    names = [(e.name, e.id, e.type) for e in (H200, SLIM, PLUG)]
    extractor = RuleExtractor(rules, Lexicon(names))
    document = make_document("H200 is made by Acme. Slim is made by Bolt. Plug is made by Core.\n\nTitan fits Vega.")
    (reading,) = extractor.extract([(document, split(document))])
    mentions = [(c.subject, c.object) for c in reading.claims if isinstance(c.object, Mention)]
    ends = [(a.name, a.type, b.name, b.type) for a, b in mentions]
    assert ends == [
        ("H200", "GPU", "Acme", "Maker"),
        ("Slim", "Laptop", "Bolt", "Maker"),
        ("Plug", "Device", "Core", "Maker"),
        ("Titan", "GPU", "Vega", "Laptop"),
    ]


def test_the_grammar_offers_the_subtypes() -> None:
    choices = Choices(
        "H200 outruns Slim.", ("H200", "Slim"), {"H200": frozenset({"GPU"}), "Slim": frozenset({"Laptop"})}
    )
    schema = compile_answer(ONTOLOGY, choices)
    assert schema is not None
    branches = schema["properties"]["triples"]["items"]["anyOf"]
    offered = [b["properties"]["st"]["enum"] for b in branches if b["properties"]["r"] == {"const": "beats"}]
    assert offered
    assert all(types == ["Device", "GPU", "Laptop"] for types in offered)


def test_a_question_for_the_supertype_is_one_for_its_subtypes() -> None:
    vocabulary = Vocabulary(ONTOLOGY, WordEmbedder().embed)
    assert vocabulary.types["Device"] < vocabulary.types["GPU"]
    assert {s.predicate for s in vocabulary.senses["GPU"]} == {"power", "made_by", "beats", "fits"}
    assert {s.predicate for s in vocabulary.senses["Device"]} == {"power", "made_by", "beats"}
