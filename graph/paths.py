"""What lies around entities, and the ways between two of them: breadth first, over ``Store.neighbours`` alone.

Triples are walked in both directions, literals not at all. Work is bounded: what would take more is an error, never an
answer with something missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from graph.store import Store
from ontoloom.errors import QueryError
from ontoloom.records import EntityRef, Triple

TRIPLES = 200_000
"""Triples that are read around the entities of one step, and for all paths together."""
STEPS = 1_000_000
"""Entities that are tried as the next of a path."""

Edge = tuple[str, Triple]
"""The entity at the other end of a triple, and that triple."""


def neighbourhood(store: Store, entities: Sequence[str], *, depth: int, limit: int) -> list[tuple[str, int, Triple]]:
    """Entities at most ``depth`` triples away: each once, with its distance and the triple that it was reached by.

    The nearest come first, and among equals those whose triple has the smaller id. At most ``limit`` of them; the
    entities that it starts from are not among them. Raises QueryError where there is too much to look through.
    """
    reached, frontier = set(entities), sorted(set(entities))
    found: list[tuple[str, int, Triple]] = []
    for distance in range(1, depth + 1):
        level = _reach(store, frontier, reached, limit - len(found)) if frontier else []
        found += [(entity, distance, triple) for entity, triple in level]
        frontier = [entity for entity, _ in level]
        reached.update(frontier)
    return found


def _reach(store: Store, frontier: Sequence[str], reached: set[str], wanted: int) -> list[Edge]:
    """The first ``wanted`` entities beyond the frontier. Of a hub's triples no more are read than that takes."""
    limit = min(TRIPLES, 1000 + 2 * wanted)
    while wanted > 0:
        triples = store.neighbours(frontier, limit=limit)
        level: dict[str, Triple] = {}
        for subject, target, triple in _edges(triples):
            for entity in (subject, target):
                if entity not in reached:
                    level.setdefault(entity, triple)
        if len(level) >= wanted or len(triples) < limit:
            return list(level.items())[:wanted]
        if limit == TRIPLES:
            raise _too_much(f"more than {TRIPLES:,} triples lie around {len(frontier):,} entities")
        limit = min(TRIPLES, 4 * limit)
    return []


def _edges(triples: Iterable[Triple]) -> Iterator[tuple[str, str, Triple]]:
    """Subject, object and triple of those that link two entities."""
    for triple in triples:
        if isinstance(triple.object, EntityRef) and triple.object.id != triple.subject:
            yield triple.subject, triple.object.id, triple


def _too_much(what: str) -> QueryError:
    return QueryError(what, hint="ask for a smaller depth, a smaller limit, or other entities", code="too-much-to-walk")


def paths(store: Store, start: str, end: str, *, longest: int, limit: int) -> list[list[Triple]]:
    """Ways from one entity to another over at most ``longest`` triples, no entity twice; at most ``limit`` of them.

    The shortest come first; among equals the order is that of the ids of their triples, from the start on. Raises
    QueryError where there is too much to look through.
    """
    if start == end:
        return []
    found: list[list[Triple]] = []
    between = _Between(store, start, end)
    for length in range(1, longest + 1):
        if len(found) >= limit or not between.widen():
            break
        for path in between.of_length(length):
            found.append(path)
            if len(found) >= limit:
                break
    return found


class _Between:
    """The part of the graph that paths between two entities can lie in, widened by one triple at a time.

    Paths of ``n`` triples need the triples within ``a`` steps of the start and within ``n - a`` of the end, for any
    ``a``: what grows is the side where fewer entities are to be looked at.
    """

    def __init__(self, store: Store, start: str, end: str) -> None:
        self._store = store
        self._start, self._end = start, end
        self._sides: tuple[set[str], set[str]] = ({start}, {end})
        self._frontiers: list[list[str]] = [[start], [end]]
        self._edges: dict[str, dict[str, Edge]] = {}
        """By entity, then by id of the triple."""
        self._read: set[str] = set()
        self._steps = 0

    def widen(self) -> bool:
        """Reads what lies one step further; False where one side has come to its end without meeting the other."""
        grown = min((0, 1), key=lambda side: (len(self._frontiers[side]), side))
        frontier = self._frontiers[grown]
        if not frontier:
            # One side is read to its last triple, and so is all that a path from there could use.
            return self._end in self._sides[0] or self._start in self._sides[1]
        self._read_around([entity for entity in frontier if entity not in self._read])
        beyond = {other for entity in frontier for other, _ in self._edges.get(entity, {}).values()}
        self._frontiers[grown] = sorted(beyond - self._sides[grown])
        self._sides[grown].update(beyond)
        return True

    def _read_around(self, entities: Sequence[str]) -> None:
        triples = self._store.neighbours(entities, limit=TRIPLES + 1) if entities else []
        for subject, target, triple in _edges(triples):
            self._edges.setdefault(subject, {})[triple.id] = (target, triple)
            self._edges.setdefault(target, {})[triple.id] = (subject, triple)
        if len(triples) > TRIPLES or sum(map(len, self._edges.values())) > 2 * TRIPLES:
            raise _too_much(f"more than {TRIPLES:,} triples lie between these entities")
        self._read.update(entities)

    def of_length(self, length: int) -> Iterator[list[Triple]]:
        """Every path of just so many triples."""
        self._distance = self._distances(length)
        self._sorted = {e: [edges[t] for t in sorted(edges)] for e, edges in self._edges.items()}
        return self._extend(self._start, [], {self._start}, length)

    def _distances(self, length: int) -> dict[str, int]:
        """How far entities are from the end, as far as ``length``: what is further away need not be tried."""
        distance, frontier = {self._end: 0}, [self._end]
        for far in range(1, length + 1):
            beyond = {other for entity in frontier for other, _ in self._edges.get(entity, {}).values()}
            frontier = [entity for entity in beyond if entity not in distance]
            distance |= dict.fromkeys(frontier, far)
        return distance

    def _extend(self, at: str, path: list[Triple], passed: set[str], left: int) -> Iterator[list[Triple]]:
        for other, triple in self._sorted.get(at, ()):
            self._steps += 1
            if self._steps > STEPS:
                raise _too_much(f"after {STEPS:,} steps there are still paths to try")
            if other == self._end:
                if left == 1:
                    yield [*path, triple]
            elif other not in passed and self._distance.get(other, left) < left:
                passed.add(other)
                yield from self._extend(other, [*path, triple], passed, left - 1)
                passed.remove(other)
