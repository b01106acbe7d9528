"""Where boxes and lines of a diagram are: boxes in columns, lines between them that cross no box and no text.

Columns are chosen so that most lines lead to the next one, and boxes within them so that lines are short, as layered
layouts do it. A line leaves its box beside a row, follows a track in the space between two columns, and passes columns
between boxes. Lines to one target share their tracks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import NamedTuple

GRID = 18
"""Pixels: the height of a row; boxes stand at multiples of it."""
GAP = 2 * GRID
TRACK = 8
MOST_COLUMNS = 6
Point = tuple[float, float]


@dataclass(slots=True)
class Box:
    """A box; ``height`` is a multiple of GRID. Where it is comes from ``place``, which makes columns equally wide."""

    name: str
    width: float
    height: int
    column: int = 0
    x: float = 0
    y: float = 0


class Edge(NamedTuple):
    """A line from a row of a box, ``offset`` below its top, to a box. Lines of another ``kind`` have other tracks."""

    source: str
    offset: float
    target: str
    kind: str


Bus = tuple[str, str]


@dataclass(slots=True)
class Drawing:
    """A placed diagram: its size, and the points of each line, the last of them at its target."""

    width: float
    height: float
    lines: dict[Edge, tuple[Point, ...]] = field(default_factory=dict)


def place(boxes: Sequence[Box], edges: Iterable[Edge]) -> Drawing:
    """Places the boxes and finds the ways of lines between them."""
    by_name = {box.name: box for box in boxes}
    edges = [edge for edge in dict.fromkeys(edges) if edge.source in by_name and edge.target in by_name]
    columns = _order(boxes, edges, by_name, _columns(boxes, edges, by_name))
    slots = _slots(columns, edges, by_name)
    ways = {edge: _way(edge, by_name, slots) for edge in edges}
    tracks, counts = _tracks(ways, len(columns))
    x: float = GRID
    starts = []
    for column, count in zip(columns, counts, strict=True):
        width = max((box.width for box in column), default=0)
        for box in column:
            box.x, box.width = x, width
        starts.append(x + width)
        x += width + GAP + TRACK * count
    height = max((box.y + box.height for box in boxes), default=0)
    drawing = Drawing(x, max([height, *(y for y in slots.values())]) + GRID)
    for edge, stops in ways.items():
        drawing.lines[edge] = tuple(_points(edge, stops, by_name, starts, tracks))
    return drawing


def _columns(boxes: Sequence[Box], edges: Sequence[Edge], by_name: dict[str, Box]) -> int:
    """Chooses a column for each box by moving single boxes while that makes lines shorter or columns more even."""
    total = sum(box.height + GAP for box in boxes)
    count = max(1, min(MOST_COLUMNS, len(boxes), round(sqrt(total / 220))))
    pairs = [(by_name[edge.source], by_name[edge.target]) for edge in edges if edge.source != edge.target]
    of: dict[str, list[tuple[Box, Box]]] = defaultdict(list)
    for source, target in pairs:
        of[source.name].append((source, target))
        of[target.name].append((source, target))
    share = {box.name: (box.height + GAP) * count / total for box in boxes}
    balance = (len(pairs) + 4) / count
    heights = [0.0] * count
    for number, box in enumerate(boxes):
        box.column = number * count // len(boxes)
        heights[box.column] += share[box.name]

    def cost(box: Box, column: int) -> float:
        """What it costs to have a box in a column: its lines, and how uneven the columns are with it there."""
        was, box.column = box.column, column
        far = sum(_cost(target.column - source.column) for source, target in of[box.name])
        box.column = was
        moved = share[box.name]
        shown = [height + moved * ((n == column) - (n == was)) for n, height in enumerate(heights)]
        return far + balance * sum((height - 1) ** 2 for height in shown)

    for _ in range(20):
        settled = True
        for box in boxes:
            costs = [cost(box, column) for column in range(count)]
            best = costs.index(min(costs))
            if costs[best] < costs[box.column] - 1e-9:
                heights[box.column] -= share[box.name]
                heights[best] += share[box.name]
                box.column, settled = best, False
        if settled:
            break
    used = sorted({box.column for box in boxes})
    for box in boxes:
        box.column = used.index(box.column)
    return len(used)


def _cost(step: int) -> int:
    """Of a line that leads so many columns to the right."""
    return 0 if step == 1 else 1 if abs(step) <= 1 else 2 * abs(step) - 1


def _order(boxes: Sequence[Box], edges: Sequence[Edge], by_name: dict[str, Box], count: int) -> list[list[Box]]:
    """Columns of boxes from top to bottom, each near the middle of those that it is linked with."""
    linked: dict[str, list[Box]] = defaultdict(list)
    for edge in edges:
        linked[edge.source].append(by_name[edge.target])
        linked[edge.target].append(by_name[edge.source])
    columns = [[box for box in boxes if box.column == number] for number in range(count)]
    _stack(columns)
    best, shortest = [list(column) for column in columns], float("inf")
    for _ in range(12):
        for column in columns:
            middles = {box.name: _middle(linked[box.name] or [box]) for box in column}
            column.sort(key=lambda box: middles[box.name])
            _stack(columns)
        length = sum(abs(by_name[e.source].y + e.offset - by_name[e.target].y) for e in edges)
        if length < shortest:
            best, shortest = [list(column) for column in columns], length
    _stack(best)
    return best


def _middle(boxes: list[Box]) -> float:
    return sum(box.y + box.height / 2 for box in boxes) / len(boxes)


def _stack(columns: list[list[Box]]) -> None:
    """Boxes below one another, every column in the middle of the drawing."""
    heights = [sum(box.height + GAP for box in column) for column in columns]
    for column, height in zip(columns, heights, strict=True):
        y = GRID + (max(heights) - height) // 2 // GRID * GRID
        for box in column:
            box.y = y
            y += box.height + GAP


def _passed(edge: Edge, by_name: dict[str, Box]) -> range:
    """The columns that a line passes, in its direction."""
    start, end = by_name[edge.source].column, by_name[edge.target].column
    return range(start + 1, end) if end >= start else range(start - 1, end, -1)


def _slots(columns: list[list[Box]], edges: Sequence[Edge], by_name: dict[str, Box]) -> dict[tuple[Bus, int], float]:
    """Where lines pass a column: the height for each target, in gaps between boxes that are made wider for it."""
    gaps: dict[tuple[int, int], list[Bus]] = defaultdict(list)
    for bus, passed in dict.fromkeys(((e.target, e.kind), c) for e in edges for c in _passed(e, by_name)):
        places = [box.y - GAP / 2 for box in columns[passed]]
        places.append(columns[passed][-1].y + columns[passed][-1].height + GAP / 2)
        distances = [abs(place - by_name[bus[0]].y) for place in places]
        gaps[passed, distances.index(min(distances))].append(bus)
    found: dict[tuple[Bus, int], float] = {}
    for number, column in enumerate(columns):
        y = column[0].y
        for gap in range(len(column) + 1):
            buses = sorted(gaps[number, gap], key=lambda bus: (by_name[bus[0]].y, bus))
            for index, bus in enumerate(buses):
                # Lines of neighbouring columns enter one space from two sides: never at the same height.
                found[bus, number] = y + index * GRID + (GRID / 2 if number % 2 else 0)
            y += GRID * (len(buses) + 1) if buses else 0
            if gap < len(column):
                column[gap].y = y
                y += column[gap].height + GAP
    return found


class Stop(NamedTuple):
    """A track in the space right of a column, and the heights at which a line comes to it and leaves it."""

    space: int
    bus: Bus
    enters: float
    leaves: float


def _way(edge: Edge, by_name: dict[str, Box], slots: dict[tuple[Bus, int], float]) -> list[Stop]:
    source, target = by_name[edge.source], by_name[edge.target]
    bus = (edge.target, edge.kind)
    passed = list(_passed(edge, by_name))
    back = target.column < source.column
    y = source.y + edge.offset + (3 if back else -3)
    inherited = edge.kind != ""
    port = target.y + (13 + 10 * inherited if target.column <= source.column else 16 + 4 * inherited)
    heights = [y, *(slots[bus, column] for column in passed), port]
    spaces = [source.column - back, *(column - back for column in passed)]
    return [Stop(space, bus, heights[i], heights[i + 1]) for i, space in enumerate(spaces)]


def _tracks(ways: dict[Edge, list[Stop]], count: int) -> tuple[dict[tuple[int, Bus], int], list[int]]:
    """The number of the track of each target in each space; targets whose lines do not meet there share one."""
    spans: dict[tuple[int, Bus], list[float]] = defaultdict(list)
    for stops in ways.values():
        for stop in stops:
            spans[stop.space, stop.bus] += [stop.enters, stop.leaves]
    tracks: dict[tuple[int, Bus], int] = {}
    ends: list[list[float]] = [[] for _ in range(count)]
    for key in sorted(spans, key=lambda key: (key[0], min(spans[key]), max(spans[key]), key[1])):
        low, high, taken = min(spans[key]), max(spans[key]), ends[key[0]]
        track = next((number for number, end in enumerate(taken) if end + GRID < low), len(taken))
        taken[track : track + 1] = [high]
        tracks[key] = track
    return tracks, [len(taken) for taken in ends]


def _points(
    edge: Edge, stops: list[Stop], by_name: dict[str, Box], starts: list[float], tracks: dict[tuple[int, Bus], int]
) -> Iterable[Point]:
    source, target = by_name[edge.source], by_name[edge.target]
    yield (source.x if target.column < source.column else source.x + source.width), stops[0].enters
    for stop in stops:
        x = starts[stop.space] + GAP / 2 + TRACK * tracks[stop.space, stop.bus]
        yield x, stop.enters
        yield x, stop.leaves
    yield (target.x if target.column > source.column else target.x + target.width), stops[-1].leaves
