"""What diff calls harmless is: whatever was valid stays valid and means the same, for random ontologies and edits."""

from __future__ import annotations

import json
import os
from collections import Counter
from copy import deepcopy
from random import Random

from diff_edits import EDITS, Plain, compiled, make_ontology
from diff_meaning import count, make_claim, make_pages, valid_pages, what_is_lost
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ontology import Ontology
from ontology.admit import Refusal, admit
from ontology.compare.diff import diff
from ontology.compare.rules import RULES, Change
from ontoloom.records import Entity, Triple

SEEDS = st.integers(0, 2**40)
EXAMPLES = 15 * int(os.environ.get("ONTOLOOM_SOAK", "3"))


def edited(random: Random, names: list[str]) -> tuple[Plain, Ontology, Plain, Ontology]:
    """An ontology, itself edited at random, before and after some edits; those that cannot be made are left out."""
    plain, old = make_ontology(random), None
    while old is None:  # a few contradict themselves
        plain = make_ontology(random)
        old = compiled(plain)
    plain, old = edit(plain, old, random.choices(sorted(EDITS), k=4), random)
    return plain, old, *edit(plain, old, names, random)


def edit(plain: Plain, ontology: Ontology, names: list[str], random: Random) -> tuple[Plain, Ontology]:
    for name in names:
        tried = deepcopy(plain)
        EDITS[name](tried, random)
        result = compiled(tried)
        if result is not None:
            plain, ontology = tried, result
    return plain, ontology


edits = st.lists(st.sampled_from(sorted(EDITS)), min_size=1, max_size=3)


@settings(max_examples=EXAMPLES, deadline=None)
@given(seed=SEEDS, names=edits)
def test_what_breaks_nothing_leaves_every_page_valid_with_its_meaning(seed: int, names: list[str]) -> None:
    random = Random(seed)
    plain, old, new_plain, new = edited(random, names)
    difference = diff(old, new)
    if difference.breaking:
        return
    texts, pages = valid_pages(plain, make_pages(old, random))
    assert what_is_lost(old, pages, new_plain, new, texts) == ""


@settings(max_examples=EXAMPLES, deadline=None)
@given(seed=SEEDS, names=edits)
def test_pages_that_no_breaking_change_touches_stay_valid(seed: int, names: list[str]) -> None:
    random = Random(seed)
    plain, old, new_plain, new = edited(random, names)
    texts, pages = valid_pages(plain, make_pages(old, random))
    difference = diff(old, new)
    if not any(count(change.touches, old, pages) for change in difference.breaking):
        assert what_is_lost(old, pages, new_plain, new, texts) == "", list(map(str, difference.breaking))


@settings(max_examples=EXAMPLES, deadline=None)
@given(seed=SEEDS, names=edits)
def test_claims_that_pass_now_are_among_those_to_replay(seed: int, names: list[str]) -> None:
    random = Random(seed)
    _, old, _, new = edited(random, names)
    changes = diff(old, new).changes
    for _ in range(200):
        claim = make_claim([old, new], random)
        refused = admit(old, **claim)
        if isinstance(refused, Refusal) and isinstance(admit(new, **claim), Triple):
            assert any(lifts(change, refused, claim) for change in changes), (refused, claim)


def lifts(change: Change, refused: Refusal, claim: Plain) -> bool:
    reread = change.extraction
    ends = [end.type for end in (claim["subject"], claim["object"]) if isinstance(end, Entity)]
    ends += [value.type for _, value in claim["attributes"] if isinstance(value, Entity)]
    return (
        refused.code in reread.codes
        and (not reread.names or claim["relation"] in reread.names)
        and (not reread.types or bool(set(ends) & set(reread.types)))
    )


@settings(max_examples=EXAMPLES, deadline=None)
@given(seed=SEEDS, names=edits)
def test_a_difference_is_sorted_and_empty_for_one_ontology(seed: int, names: list[str]) -> None:
    _, old, _, new = edited(Random(seed), names)
    assert diff(old, old).changes == diff(new, new).changes == ()
    changes = diff(old, new).changes
    assert list(changes) == sorted(changes, key=lambda c: (c.where.casefold(), c.where, c.kind, c.message))
    assert len(set(changes)) == len(changes)
    assert {change.kind for change in changes} <= RULES.keys()


@settings(max_examples=EXAMPLES, deadline=None)
@given(seed=SEEDS, names=edits)
def test_backwards_what_was_added_is_removed(seed: int, names: list[str]) -> None:
    _, old, _, new = edited(Random(seed), names)

    def ends(before: Ontology, after: Ontology, ending: str) -> Counter[tuple[str, str]]:
        kinds = [(c.kind.replace("required-", ""), c.where) for c in diff(before, after).changes]
        return Counter((kind.removesuffix(ending), where) for kind, where in kinds if kind.endswith(ending))

    assert ends(old, new, "-added") == ends(new, old, "-removed")
    assert ends(new, old, "-added") == ends(old, new, "-removed")


@settings(max_examples=EXAMPLES, deadline=None)
@given(seed=SEEDS, name=st.sampled_from(sorted(EDITS)))
def test_what_changes_the_contract_is_seen(seed: int, name: str) -> None:
    """An ontology with another hash differs, but where the same is said in another way."""
    plain, old, new_plain, new = edited(Random(seed), [name])
    if old.hash != new.hash and name not in ("type-mixins", "type-disjoint", "type-keys", "type-is_a"):
        assert diff(old, new).changes, json.dumps([plain, new_plain])


@example(seed=1)
@settings(max_examples=EXAMPLES, deadline=None)
@given(seed=SEEDS)
def test_the_order_of_declarations_means_nothing(seed: int) -> None:
    plain, old, _, _ = edited(Random(seed), ["version"])
    turned = {
        **plain,
        "types": dict(reversed(plain["types"].items())),
        "relations": dict(reversed(plain["relations"].items())),
    }
    for one in turned["types"].values():
        if "attributes" in one:
            one["attributes"] = dict(reversed(one["attributes"].items()))
    new = compiled(turned)
    assert new is not None
    assert diff(old, new).changes == ()
