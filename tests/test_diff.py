"""Each kind of change by an example; each that breaks by a page or a query that was good before and is not after."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from diff_edits import compiled
from diff_examples import BASE, EXAMPLES, PAGES, Example, L, M, P, difference, found, ontologies, put
from diff_meaning import valid_pages, what_is_lost

from graph.check_views import check_views
from ontology import Ontology, read_ontology
from ontology.compare.diff import Difference, diff
from ontology.compare.rules import RULES, Touches
from ontology.compare.versions import read_version


def texts() -> dict[str, str]:
    return {name: f"---\n{json.dumps(front, ensure_ascii=False)}\n---\n" for name, front in PAGES.items()}


def is_query(sql: str, ontology: Ontology, folder: Path) -> bool:
    folder.mkdir(exist_ok=True)
    (folder / "view.sql").write_text(sql)
    return not check_views(folder, ontology)[1]


named = pytest.mark.parametrize("example", EXAMPLES, ids=[f"{e.kind} {e.where}" for e in EXAMPLES])


def test_every_kind_has_an_example() -> None:
    assert {example.kind for example in EXAMPLES} == RULES.keys() - {"imports-changed"}


@named
def test_a_change_is_found_where_it_is(example: Example) -> None:
    assert (example.kind, example.where) in [(c.kind, c.where) for c in difference(example).changes]


@named
def test_what_breaks_shows_in_a_page_or_a_query_and_nothing_else_does(example: Example, tmp_path: Path) -> None:
    plain, old, new_plain, new = ontologies(example)
    written, pages = valid_pages(plain, texts())
    harmless = what_is_lost(old, pages, new_plain, new, written) == ""
    if example.sql:
        assert is_query(example.sql, old, tmp_path)
        assert not is_query(example.sql, new, tmp_path)
        assert found(example).breaking
    elif example.kind == "disjoint-added":  # a page is of one type: it takes documents that say two
        assert found(example).breaking
    else:
        assert harmless != bool(diff(old, new).breaking)


def test_what_a_type_has_from_another_is_told_once() -> None:
    example = Example("attribute-removed", "Thing.code", "types/Thing/attributes", None)
    assert [(c.kind, c.where) for c in difference(example).changes] == [("attribute-removed", "Thing.code")]
    assert found(example).touches == Touches(types=("Thing", "Model", "LanguageModel"), attribute="code")


def test_one_thing_said_in_two_ways_is_no_change() -> None:
    unique = Example(
        "", "", "types/Person", {"disjoint": ["Firm"], "attributes": {"email": {"type": "string", "unique": True}}}
    )
    assert difference(unique).changes == ()
    other_side = deepcopy(BASE)
    del other_side["types"]["Person"]["disjoint"]
    other_side["types"]["Firm"]["disjoint"] = ["Person"]
    old, new = compiled(BASE), compiled(other_side)
    assert old is not None
    assert new is not None
    assert diff(old, new).changes == ()


def test_a_key_that_another_key_implies_is_no_change() -> None:
    wider = Example("", "", "types/Person/keys", ["email", ["email", "name"]])
    assert difference(wider).changes == ()
    of_new = Example("", "", f"{P}/attributes/badge", {"type": "string", "unique": True})
    assert [c.kind for c in difference(of_new).changes] == ["attribute-added"]
    apart = Example("", "", "types/Thing/attributes/code/unique", True)
    assert found(apart._replace(kind="key-added", where="Thing.code")).touches.types == (
        "Thing",
        "Model",
        "LanguageModel",
    )


def test_uniqueness_across_types_that_were_unique_apart_breaks() -> None:
    apart = deepcopy(BASE)
    for name in ("Firm", "Person"):
        apart["types"][name] = {"attributes": {"vat": {"type": "string", "unique": True}}}
    together = deepcopy(apart)
    together["types"]["Party"] = {"abstract": True, **apart["types"]["Firm"]}
    for name in ("Firm", "Person"):
        together["types"][name] = {"mixins": ["Party"]}
    old, new = compiled(apart), compiled(together)
    assert old is not None
    assert new is not None
    kinds = [(c.kind, c.where) for c in diff(old, new).changes]
    assert kinds == [("type-added", "Party"), ("key-added", "Party.vat")]


def test_a_new_type_in_between_breaks_nothing() -> None:
    between = deepcopy(BASE)
    between["types"]["Program"] = {"is_a": "Thing", "abstract": True}
    between["types"]["Model"]["is_a"] = "Program"
    old, new = compiled(BASE), compiled(between)
    assert old is not None
    assert new is not None
    assert [(c.kind, c.where) for c in diff(old, new).changes] == [("type-added", "Program")]


def renamed(old_text: str, new_text: str) -> list[str]:
    """The hints after a renaming in the whole text of BASE."""
    old, new = compiled(BASE), compiled(json.loads(json.dumps(BASE).replace(old_text, new_text)))
    assert old is not None
    assert new is not None
    return [change.hint for change in diff(old, new).changes if change.hint]


@pytest.mark.parametrize(
    ("old_text", "new_text", "hints"),
    [
        ('"Firm"', '"Company"', []),
        ('"Person"', '"Persons"', ["perhaps renamed to 'Persons': write a migration"]),
        ('"city"', '"town"', []),
        ('"memory"', '"gpu_memory"', ["perhaps renamed to 'hardware.gpu_memory': write a migration"]),
        ('"made_by"', '"made_by_whom"', ["perhaps renamed to 'made_by_whom': write a migration"]),
        ('"closed"', '"Closed"', ["perhaps renamed to 'Closed': write a migration"]),
        ('"SFT": {}', '"Tuned": {"synonyms": ["SFT"]}', ["perhaps renamed to 'Tuned': write a migration"]),
        ('"day": {"type": "date"', '"days": {"type": "boolean"', []),
    ],
)  # fmt: skip
def test_a_likely_renaming_is_hinted_at(old_text: str, new_text: str, hints: list[str]) -> None:
    assert renamed(old_text, new_text) == hints


def test_a_relation_that_becomes_an_inverse_says_so() -> None:
    after = deepcopy(BASE)
    del after["relations"]["made_by"]
    after["relations"]["makes"] = {"domain": ["Person", "Firm"], "range": "Model", "inverse": "made_by"}
    old, new = compiled(BASE), compiled(after)
    assert old is not None
    assert new is not None
    removed = next(c for c in diff(old, new).changes if c.kind == "relation-removed")
    assert removed.hint == "it is the inverse of 'makes' now: write a migration"


@pytest.mark.parametrize(
    ("before", "after", "hint"),
    [
        ("GB", "TB", "multiply by 0.001"),
        ("GB", "gigabyte", "another word for the same unit"),
        ("GB", "kg", "one cannot be converted to the other"),
        ("degC", "degF", "multiply by 1.8 and add 32"),
        ("tokens", "words", "one cannot be converted to the other"),
    ],
)
def test_a_change_of_unit_says_how_to_convert(before: str, after: str, hint: str) -> None:
    change = found(Example("unit-changed", "Model.size", f"{M}/size/unit", after, ((f"{M}/size/unit", before),)))
    assert (change.message, change.hint) == (f"was {before}, is {after}", hint)


@pytest.mark.parametrize(
    ("kind", "touches"),
    [
        ("attribute-required", Touches(types=("Model", "LanguageModel"), attribute="city", lacking=True)),
        ("enum-value-removed", Touches(types=("Model", "LanguageModel"), attribute="method", value="DPO")),
        ("domain-narrowed", Touches(relation="made_by", subjects=("Model",))),
        ("range-narrowed", Touches(relation="made_by", objects=("Firm",))),
        ("fewest-objects-raised", Touches(relation="made_by", subjects=("Model", "LanguageModel"), lacking=True)),
        ("attribute-identifying", Touches(relation="beats", attribute="margin")),
        ("type-removed", Touches(types=("LanguageModel",))),
        ("disjoint-added", Touches(types=("Firm", "Person"))),
        ("maximum-raised", Touches()),
    ],
)
def test_a_change_says_what_to_count(kind: str, touches: Touches) -> None:
    change = found(next(example for example in EXAMPLES if example.kind == kind))
    assert change.touches == touches
    assert bool(change.touches) == change.breaking


@pytest.mark.parametrize(
    ("kind", "codes", "names", "types"),
    [
        ("type-added", ("unknown-type",), (), ("Place",)),
        ("attribute-added", ("unknown-attribute", "not-an-entity"), ("age",), ("Person",)),
        ("enum-value-added", ("bad-value",), ("method",), ("Model", "LanguageModel")),
        ("targets-widened", ("wrong-range",), ("beats",), ()),
        ("description-changed", (), (), ()),
    ],
)
def test_a_change_says_which_claims_to_replay(
    kind: str, codes: tuple[str, ...], names: tuple[str, ...], types: tuple[str, ...]
) -> None:
    reread = found(next(example for example in EXAMPLES if example.kind == kind)).extraction
    assert (reread.codes, reread.names, reread.types) == (codes, names, types)
    assert reread.again == bool(codes)


def versions(old_version: str, new_version: str, path: str, value: Any) -> Difference:
    before, after = deepcopy(BASE), deepcopy(BASE)
    before["version"], after["version"] = old_version, new_version
    put(after, path, value)
    old, new = compiled(before), compiled(after)
    assert old is not None
    assert new is not None
    return diff(old, new)


Edit = tuple[str, Any]
BREAK: Edit = (f"{L}/made_by", None)
ALLOW: Edit = ("types/Place", {})
DESCRIBE: Edit = ("types/Firm/description", "It sells.")
NOTHING: Edit = ("", None)


@pytest.mark.parametrize(
    ("edit", "old", "new", "step", "least", "enough"),
    [
        (BREAK, "1.2.3", "1.3.0", "major", "2.0.0", False),
        (BREAK, "1.2.3", "2.0.0", "major", "2.0.0", True),
        (BREAK, "1.2.3", "2.0.0-rc.1", "major", "2.0.0", True),
        (BREAK, "1.2.3", "3.1.4", "major", "2.0.0", True),
        (BREAK, "0.2.3", "0.2.4", "minor", "0.3.0", False),
        (BREAK, "0.2.3", "0.3.0", "minor", "0.3.0", True),
        (BREAK, "0.2.3", "1.0.0", "minor", "0.3.0", True),
        (BREAK, "0.0.3", "0.0.4", "patch", "0.0.4", True),
        (BREAK, "0.0.3", "0.0.3", "patch", "0.0.4", False),
        (BREAK, "2.0.0-rc.1", "2.0.0-rc.2", "major", "2.0.0", True),
        (BREAK, "2.0.0-rc.10", "2.0.0-rc.9", "major", "2.0.0", False),
        (BREAK, "2.0.0-rc.1", "2.0.0", "major", "2.0.0", True),
        (BREAK, "2.0.0-rc.1", "2.0.0-rc.1", "major", "2.0.0", False),
        (ALLOW, "1.2.3", "1.2.4", "minor", "1.3.0", False),
        (ALLOW, "1.2.3", "1.3.0", "minor", "1.3.0", True),
        (ALLOW, "0.2.3", "0.2.4", "patch", "0.2.4", True),
        (DESCRIBE, "1.2.3", "1.2.3", "patch", "1.2.4", False),
        (DESCRIBE, "1.2.3", "1.2.4", "patch", "1.2.4", True),
        (NOTHING, "1.2.3", "1.2.3", "none", "1.2.3", True),
        (NOTHING, "1.2.3", "1.9.0", "none", "1.2.3", True),
        (NOTHING, "1.2.3", "1.2.2", "none", "1.2.3", False),
        (NOTHING, "1.2.3", "1.2.3-rc.1", "none", "1.2.3", False),
    ],
)
def test_the_version_is_raised_by_what_has_changed(
    edit: Edit, old: str, new: str, step: str, least: str, enough: bool
) -> None:
    difference = versions(old, new, edit[0] or "version", edit[1] if edit[0] else new)
    assert (difference.step, difference.least, difference.enough) == (step, least, enough)
    assert bool(difference.shortfall) != enough


@pytest.mark.parametrize(
    ("edit", "old", "new", "shortfall"),
    [
        (BREAK, "1.2.3", "1.2.3", "version 1.2.3 is not raised for 1 breaking change; write 2.0.0 or later"),
        (BREAK, "1.2.3", "1.3.0", "version 1.3.0 raises 1.2.3 too little for 1 breaking change; write 2.0.0 or later"),
        (ALLOW, "1.2.3", "1.2.3", "version 1.2.3 is not raised for what has changed; write 1.3.0 or later"),
        (ALLOW, "1.2.3", "1.1.0", "version 1.1.0 is before 1.2.3; write 1.3.0 or later"),
    ],
)
def test_what_is_short_of_the_version_is_said(edit: Edit, old: str, new: str, shortfall: str) -> None:
    assert versions(old, new, *edit).shortfall == shortfall


def test_versions_are_in_the_order_of_semver() -> None:
    texts = "0.9.9 1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0 1.0.1 1.10.0"
    read = [read_version(text) for text in texts.split()]
    assert all(one.order() < other.order() for one, other in pairwise(read))
    assert " ".join(map(str, read)) == texts


@pytest.mark.parametrize("text", ["", "1", "1.0", "1.0.0+build", "v1.0.0", "1.0.0-", "１.0.0"])
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no semantic version"):
        read_version(text)


def test_imports_are_compared_by_what_they_bring(tmp_path: Path) -> None:
    (tmp_path / "core.yaml").write_text("ontology: core\nversion: 1.0.0\ntypes:\n  Person: {}\n")
    (tmp_path / "a.yaml").write_text("ontology: a\nversion: 1.0.0\nimports: [core.yaml]\n")
    (tmp_path / "b.yaml").write_text("ontology: a\nversion: 1.0.0\ntypes:\n  Person: {}\n")
    changed = diff(read_ontology(tmp_path / "a.yaml"), read_ontology(tmp_path / "b.yaml"))
    assert [(c.kind, c.message) for c in changed.changes] == [("imports-changed", "no more core.yaml")]
    assert changed.enough


def test_the_example_differs_from_itself_in_nothing() -> None:
    ontology = read_ontology(ROOT / "examples" / "ai-infra" / "ontology.yaml")
    assert diff(ontology, ontology) == Difference("ai-infra", "1.0.0", "1.0.0", ())


DOCS = (ROOT / "docs" / "diff.md").read_text()


def test_every_kind_is_documented_as_it_is() -> None:
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in DOCS.splitlines() if line.count("|") == 6]
    documented = {row[0].strip("`"): row[1:] for row in rows if row[0].startswith("`")}
    assert list(documented) == list(RULES)
    for kind, (step, why, again, lifted) in documented.items():
        rule = RULES[kind]
        own, _, of_relations = lifted.partition("of relations")
        assert (step, again) == (rule.step, "yes" if rule.again else ""), kind
        assert tuple(re.findall(r"`([^`]+)`", own)) == rule.codes, kind
        assert tuple(re.findall(r"`([^`]+)`", of_relations)) == (rule.relation_codes or ()), kind
        assert why or step != "major", kind


def test_the_codes_are_those_of_refusals() -> None:
    refusals = (ROOT / "docs" / "ontology.md").read_text().partition("\n## Refusals\n")[2].partition("\n## ")[0]
    known = set(re.findall(r"`([a-z-]+)`", refusals))
    assert {code for rule in RULES.values() for code in (*rule.codes, *(rule.relation_codes or ()))} <= known
