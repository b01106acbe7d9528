from __future__ import annotations

from itertools import combinations, pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from ontology.exports.layout import GRID, Box, Edge, place


@st.composite
def diagrams(draw: st.DrawFn) -> tuple[list[Box], list[Edge]]:
    rows = draw(st.lists(st.integers(0, 8), min_size=1, max_size=14))
    names = [f"t{i}" for i in range(len(rows))]
    boxes = [Box(name, draw(st.integers(80, 300)), GRID * (2 + count)) for name, count in zip(names, rows, strict=True)]
    edges = []
    for name, count in zip(names, rows, strict=True):
        for row in range(count):
            kind, offset = draw(st.sampled_from(("", "is"))), GRID * (2 + row) + GRID / 2
            targets = draw(st.lists(st.sampled_from(names), max_size=2, unique=True))
            edges += [Edge(name, offset, target, kind) for target in targets]
    return boxes, edges


@settings(max_examples=150, deadline=None)
@given(diagrams())
def test_nothing_overlaps(diagram: tuple[list[Box], list[Edge]]) -> None:
    boxes, edges = diagram
    drawing = place(boxes, edges)
    for box in boxes:
        assert box.x >= 0
        assert box.y >= 0
        assert box.x + box.width <= drawing.width
        assert box.y + box.height <= drawing.height
    for one, other in combinations(boxes, 2):
        beside = one.x + one.width < other.x or other.x + other.width < one.x
        assert beside or one.y + one.height < other.y or other.y + other.height < one.y
    assert drawing.lines.keys() == set(edges)
    for points in drawing.lines.values():
        for (ax, ay), (bx, by) in pairwise(points):
            assert ax == bx or ay == by
            for box in boxes:
                outside = max(ax, bx) <= box.x or min(ax, bx) >= box.x + box.width
                assert outside or max(ay, by) < box.y or min(ay, by) > box.y + box.height


@settings(max_examples=50, deadline=None)
@given(diagrams())
def test_lines_end_at_their_boxes(diagram: tuple[list[Box], list[Edge]]) -> None:
    boxes, edges = diagram
    by_name = {box.name: box for box in boxes}
    for edge, points in place(boxes, edges).lines.items():
        source, target = by_name[edge.source], by_name[edge.target]
        assert points[0][0] in (source.x, source.x + source.width)
        assert abs(points[0][1] - source.y - edge.offset) <= 3
        assert points[-1][0] in (target.x, target.x + target.width)
        assert 0 < points[-1][1] - target.y < 2 * GRID


@settings(max_examples=50, deadline=None)
@given(diagrams())
def test_lines_to_different_boxes_share_no_track(diagram: tuple[list[Box], list[Edge]]) -> None:
    upright: dict[float, list[tuple[float, float, str, str]]] = {}
    for edge, points in place(*diagram).lines.items():
        for (ax, ay), (bx, by) in pairwise(points):
            if ax == bx:
                upright.setdefault(ax, []).append((min(ay, by), max(ay, by), edge.target, edge.kind))
    for spans in upright.values():
        for (low, high, *bus), (other_low, other_high, *other_bus) in combinations(spans, 2):
            assert bus == other_bus or high < other_low or other_high < low


def test_a_chain_leads_from_left_to_right() -> None:
    boxes = [Box(f"t{i}", 100, 8 * GRID) for i in range(4)]
    edges = [Edge(f"t{i}", 3 * GRID, f"t{i + 1}", "") for i in range(3)]
    place(boxes, edges)
    assert [box.column for box in boxes] == sorted(box.column for box in boxes)
    assert boxes[0].x < boxes[-1].x


def test_an_empty_diagram_has_a_size() -> None:
    drawing = place([], [])
    assert drawing.width > 0
    assert drawing.height > 0
