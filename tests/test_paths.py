"""What lies around entities and the ways between them, against brute force on random graphs."""

from __future__ import annotations

from itertools import pairwise, permutations

import pytest
from graph_examples import ONTOLOGY, link, literal, named, says
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_store import ReferenceStore

import graph.paths
from graph.paths import neighbourhood, paths
from graph.store import Store
from ontoloom.errors import QueryError
from ontoloom.records import EntityRef, Triple

MODELS = [named("Model", name) for name in "ABCDEFG"]
IDS = [model.id for model in MODELS]
A, B, C, D, E, F, G = MODELS


def linked(*triples: Triple) -> ReferenceStore:
    store = ReferenceStore(ONTOLOGY)
    store.write([says("all.md", *MODELS, *triples, *(literal(m, "context_length", 8) for m in MODELS))])
    return store


@st.composite
def graphs(draw: st.DrawFn) -> ReferenceStore:
    pairs = draw(st.lists(st.tuples(st.sampled_from(MODELS), st.sampled_from(MODELS)), max_size=14, unique=True))
    names = st.sampled_from(["based_on", "superior_to"])
    return linked(*{t.id: t for t in (link(a, draw(names), b) for a, b in pairs)}.values())


def ends(triple: Triple) -> tuple[str, str]:
    assert isinstance(triple.object, EntityRef)
    return triple.subject, triple.object.id


def edges(store: Store) -> list[Triple]:
    return [t for t in store.neighbours(IDS) if isinstance(t.object, EntityRef) and t.object.id != t.subject]


def every_path(store: Store, start: str, end: str, longest: int) -> list[list[Triple]]:
    """All orders of all entities between the two, with every choice of a triple between neighbours."""
    between: dict[frozenset[str], list[Triple]] = {}
    for triple in edges(store):
        between.setdefault(frozenset(ends(triple)), []).append(triple)
    found: list[list[Triple]] = []
    for length in range(1, longest + 1):
        for inner in permutations([i for i in IDS if i not in (start, end)], length - 1):
            walk = (start, *inner, end)
            chosen: list[list[Triple]] = [[]]
            for pair in pairwise(walk):
                chosen = [[*path, t] for path in chosen for t in between.get(frozenset(pair), [])]
            found += chosen
    return sorted(found, key=lambda path: (len(path), [t.id for t in path]))


@settings(deadline=None, max_examples=150)
@given(store=graphs(), longest=st.integers(0, 5), limit=st.integers(1, 100), pair=st.permutations(IDS))
def test_paths_are_those_of_brute_force(store: Store, longest: int, limit: int, pair: list[str]) -> None:
    expected = every_path(store, pair[0], pair[1], longest)
    assert paths(store, pair[0], pair[1], longest=longest, limit=limit) == expected[:limit]


@settings(deadline=None, max_examples=150)
@given(store=graphs(), depth=st.integers(0, 4), starts=st.sets(st.sampled_from(IDS), max_size=2))
def test_a_neighbourhood_is_that_of_brute_force(store: Store, depth: int, starts: set[str]) -> None:
    distance = dict.fromkeys(starts, 0)
    expected: list[tuple[str, int, Triple]] = []
    for far in range(1, depth + 1):
        near = {entity for entity, d in distance.items() if d == far - 1}
        for triple in sorted(edges(store), key=lambda t: t.id):
            for entity, other in (ends(triple), ends(triple)[::-1]):
                if other in near and entity not in distance:
                    distance[entity] = far
                    expected.append((entity, far, triple))
    assert neighbourhood(store, sorted(starts), depth=depth, limit=100) == expected
    assert neighbourhood(store, sorted(starts), depth=depth, limit=2) == expected[:2]


def test_paths_go_against_the_arrows_and_the_shortest_come_first() -> None:
    direct, there, back = link(B, "based_on", A), link(A, "based_on", C), link(B, "superior_to", C)
    store = linked(direct, there, back, link(A, "based_on", A))
    assert paths(store, A.id, B.id, longest=2, limit=10) == [[direct], [there, back]]
    assert paths(store, A.id, B.id, longest=1, limit=10) == [[direct]]
    assert paths(store, A.id, B.id, longest=9, limit=1) == [[direct]]
    assert paths(store, A.id, A.id, longest=9, limit=9) == []
    assert paths(store, A.id, D.id, longest=9, limit=9) == []
    assert paths(store, "nope", A.id, longest=9, limit=9) == []


def test_a_near_answer_needs_no_far_look(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = [named("Model", f"M{n}") for n in range(40)]
    direct = link(A, "based_on", B)
    store = ReferenceStore(ONTOLOGY)
    store.write([says("hub.md", A, B, C, *hub, direct, link(B, "based_on", C), *(link(h, "based_on", C) for h in hub))])
    monkeypatch.setattr(graph.paths, "TRIPLES", 20)
    assert paths(store, A.id, B.id, longest=6, limit=1) == [[direct]]
    with pytest.raises(QueryError, match=r"more than 20 triples lie between these entities \(ask for a smaller depth"):
        paths(store, A.id, B.id, longest=6, limit=2)
    assert [entity for entity, _, _ in neighbourhood(store, [A.id], depth=2, limit=10)] == [B.id, C.id]
    with pytest.raises(QueryError, match="more than 20 triples lie around 1 entities") as caught:
        neighbourhood(store, [A.id], depth=3, limit=1000)
    assert caught.value.code == "too-much-to-walk"


def test_of_a_hub_no_more_is_read_than_the_answer_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [named("Model", f"M{n}") for n in range(1500)]
    links = [link(m, "based_on", A) for m in many]
    store = ReferenceStore(ONTOLOGY)
    store.write([says("hub.md", A, *many, *links)])
    monkeypatch.setattr(graph.paths, "TRIPLES", 1400)
    first = sorted(links, key=lambda t: t.id)
    assert neighbourhood(store, [A.id], depth=5, limit=3) == [(t.subject, 1, t) for t in first[:3]]


def test_paths_without_end_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    store = linked(*(link(a, "based_on", b) for a in MODELS for b in MODELS if a != b))
    monkeypatch.setattr(graph.paths, "STEPS", 500)
    assert len(paths(store, A.id, G.id, longest=2, limit=100)) == 2 + 5 * 4
    with pytest.raises(QueryError, match="after 500 steps there are still paths to try"):
        paths(store, A.id, G.id, longest=6, limit=100_000)
