"""An ontology as a diagram: boxes of types, whose rows are attributes and relations, and lines to where those lead.

The name of a relation stands in its box, so that no text lies on a line. No layout library is used: those in plain
Python that are kept up (networkx) place points and not boxes with ports, and those that route lines are not small.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil, copysign

from ontology.exports.layout import GRID, Box, Edge, Point, place
from ontology.exports.markup import asset, cut, escaped, width_of
from ontology.outline import (
    around_type,
    bases,
    deprecation,
    details,
    how_many,
    limits,
    own_attributes,
    sentence,
    starting_at,
    topmost,
)
from ontology.schema import Attribute, Cardinality, Described, Ontology, Relation

HEADER, PADDING, WIDEST, COLOURS, MOST_ROWS = 2 * GRID, 10, 330, 8, 12


@dataclass(slots=True)
class Row:
    """A line of a box: what stands left and right, what a pointer is told, and the types that it leads to."""

    left: str
    right: str
    title: str
    targets: tuple[str, ...] = ()
    kind: str = ""
    gone: bool = False


@dataclass(slots=True)
class Card:
    """A type with its rows, and where it is."""

    name: str
    rows: list[Row]
    box: Box = field(init=False)

    def __post_init__(self) -> None:
        widths = [width_of(row.left) + width_of(row.right) + 16 for row in self.rows]
        width = min(WIDEST, max(120, ceil(width_of(self.name, 14) * 1.1), *map(ceil, widths), 0) + 2 * PADDING)
        self.box = Box(self.name, width, HEADER + GRID * len(self.rows) + (GRID if self.rows else 0))

    def offset(self, index: int) -> float:
        """The middle of a row, below the top of the box."""
        return HEADER + GRID / 2 + GRID * index + GRID / 2


def to_svg(ontology: Ontology, *, around: str | None = None, linked: bool = False) -> str:
    """A drawing that needs nothing beside itself, for light and for dark screens; descriptions are told by tooltips.

    ``around`` draws one type and what touches it. ``linked`` makes names lead to ``#type-NAME``. Raises OntologyError
    where there is no such type.
    """
    names = around_type(ontology, around)
    cards = [Card(name, list(_rows(ontology, name, names, around))) for name in names]
    edges = {
        (card.name, index): [Edge(card.name, card.offset(index), target, row.kind) for target in row.targets]
        for card in cards
        for index, row in enumerate(card.rows)
    }
    drawing = place([card.box for card in cards], [edge for found in edges.values() for edge in found])
    width, height = ceil(drawing.width), ceil(drawing.height)
    about = f"Types of {ontology.name} with their attributes and relations" + (f", around {around}" if around else "")
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="od" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="group" aria-label="{escaped(about)}">',
        f"<title>{escaped(about)}</title>",
        f"<desc>{escaped(ontology.description or about)}</desc>",
        f"<style>{asset('diagram.css')}</style>",
        f'<rect class="paper" width="{width}" height="{height}"/>',
    ]
    colours = {name: number % COLOURS for number, name in enumerate(names)}
    for card in cards:
        ways = [[drawing.lines[e] for e in edges[card.name, i] if e in drawing.lines] for i in range(len(card.rows))]
        lines += _card(ontology, card, ways, colours, linked=linked)
    return "\n".join([*lines, "</svg>"]) + "\n"


def _rows(ontology: Ontology, name: str, shown: tuple[str, ...], around: str | None) -> Iterator[Row]:
    """What a type is, and what it declares; of others than the one that is drawn around, only relations with it."""
    above = bases(ontology, name)
    if above:
        shown_above = tuple(up for up in above if up in shown)
        yield Row("is a", " | ".join(above), f"{name} is a {' and a '.join(above)}.", shown_above, "is")
    full = around in (None, name)
    attributes = [a for a in own_attributes(ontology, name) if a.name != "name"] if full else []
    for attribute in attributes if len(attributes) <= MOST_ROWS else attributes[: MOST_ROWS - 1]:
        yield _attribute(attribute)
    if len(attributes) > MOST_ROWS:
        rest = attributes[MOST_ROWS - 1 :]
        yield Row(f"and {len(rest)} more", "", ", ".join(attribute.name for attribute in rest))
    for relation in starting_at(ontology, name):
        targets = tuple(target for target in topmost(ontology, relation.range) if target in shown)
        near = full or bool({around, *ontology.ancestors(around or "")} & set(targets)) or around in relation.domain
        if name in topmost(ontology, relation.domain) and targets and near:
            yield _relation(relation, targets)


def _attribute(attribute: Attribute) -> Row:
    unit = f", {attribute.unit}" if attribute.unit else ""
    said = [_title(attribute), sentence(limits(attribute)), *map(sentence, details(attribute))]
    if attribute.values:
        said.append(f"One of {', '.join(value.name for value in attribute.values)}.")
    right = f"{attribute.type}{_ends(how_many(attribute), Cardinality(0, 1))}{unit}"
    return Row(attribute.name, right, " ".join(filter(None, said)), gone=attribute.deprecated is not None)


def _relation(relation: Relation, targets: tuple[str, ...]) -> Row:
    left = relation.name + (f" / {relation.inverse}" if relation.inverse else "")
    said = [_title(relation), f"Attributes: {', '.join(relation.attributes)}." if relation.attributes else ""]
    right = f"{' | '.join(targets)}{_ends(relation.objects, Cardinality())}"
    return Row(left, right, " ".join(filter(None, said)), targets, gone=relation.deprecated is not None)


def _title(described: Described) -> str:
    gone = f"Deprecated {deprecation(described.deprecated)}." if described.deprecated else ""
    return " ".join(filter(None, [described.description, gone]))


def _ends(found: Cardinality, usual: Cardinality) -> str:
    return "" if found == usual else f" [{'*' if found == Cardinality() else found}]"


def _card(
    ontology: Ontology, card: Card, ways: list[list[tuple[Point, ...]]], colours: dict[str, int], *, linked: bool
) -> Iterator[str]:
    box, one = card.box, ontology.types[card.name]
    x, y, width = f"{box.x:g}", f"{box.y:g}", f"{box.width:g}"
    described = _title(one) + (" Abstract." if one.abstract else "")
    look = f"type{' abstract' if one.abstract else ''}{' gone' if one.deprecated else ''}"
    name = cut(card.name, box.width - 2 * PADDING, 15)
    yield f'<g class="card"><title>{escaped(described.strip() or card.name)}</title>'
    yield f'<rect class="box" x="{x}" y="{y}" width="{width}" height="{box.height}" rx="5"/>'
    yield f'<rect class="head" x="{x}" y="{y}" width="{width}" height="{HEADER}" rx="5"/>'
    text = f'<text class="{look}" x="{box.x + PADDING:g}" y="{box.y + 23:g}">{escaped(name)}</text>'
    yield f'<a href="#type-{card.name}">{text}</a>' if linked else text
    yield "</g>"
    first = next((i for i, row in enumerate(card.rows) if row.targets and not row.kind), None)
    if first:
        at = box.y + card.offset(first) - GRID / 2
        yield f'<line class="rule" x1="{x}" x2="{box.x + box.width:g}" y1="{at:g}" y2="{at:g}"/>'
    for index, row in enumerate(card.rows):
        yield from _row(card, index, row, ways[index], colours)


def _row(card: Card, index: int, row: Row, ways: list[tuple[Point, ...]], colours: dict[str, int]) -> Iterator[str]:
    box, y = card.box, card.box.y + card.offset(index) + 4
    room = box.width - 2 * PADDING - 12
    left = cut(row.left, max(room - width_of(row.right), room * 0.5))
    right = cut(row.right, room - width_of(left))
    yield f'<g class="row{f" c{colours[row.targets[0]]}" if row.targets else ""}">'
    yield f"<title>{escaped(': '.join(filter(None, [row.left, row.title])))}</title>"
    look = "gone" if row.gone else "soft" if row.kind else "own"
    yield f'<text class="{look}" x="{box.x + PADDING:g}" y="{y:g}">{escaped(left)}</text>'
    if right:
        end = f'x="{box.x + box.width - PADDING:g}" y="{y:g}" text-anchor="end"'
        yield f'<text class="soft" {end}>{_coloured(right, row.targets, colours)}</text>'
    for target, points in zip(row.targets, ways, strict=True):
        yield f'<g class="c{colours[target]}"><path class="{row.kind or "way"}" d="{_path(points)}"/>'
        yield f'<path class="{"is-tip" if row.kind else "tip"}" d="{_tip(points, 9 if row.kind else 7)}"/></g>'
    yield "</g>"


def _coloured(text: str, targets: tuple[str, ...], colours: dict[str, int]) -> str:
    """The text at the right of a row, each type that a line leads to in the line's colour."""
    parts = [part.partition(" [") for part in text.split(" | ")]
    spans = [
        f'<tspan class="to c{colours[name]}">{escaped(name)}</tspan>{escaped(bracket + rest)}'
        if name in targets
        else escaped(name + bracket + rest)
        for name, bracket, rest in parts
    ]
    return " | ".join(spans)


def _path(points: tuple[Point, ...]) -> str:
    """A line with rounded corners."""
    found = [f"M{points[0][0]:g} {points[0][1]:g}"]
    for (ax, ay), (bx, by), (cx, cy) in zip(points, points[1:], points[2:], strict=False):
        bend = min(4, (abs(bx - ax) + abs(by - ay)) / 2, (abs(cx - bx) + abs(cy - by)) / 2)
        before = (bx - _step(ax, bx, bend), by - _step(ay, by, bend))
        after = (bx + _step(bx, cx, bend), by + _step(by, cy, bend))
        found.append(f"L{before[0]:g} {before[1]:g}Q{bx:g} {by:g} {after[0]:g} {after[1]:g}")
    return "".join([*found, f"L{points[-1][0]:g} {points[-1][1]:g}"])


def _step(start: float, end: float, size: float) -> float:
    return 0.0 if start == end else copysign(size, end - start)


def _tip(points: tuple[Point, ...], size: float) -> str:
    (before, _), (x, y) = list(pairwise(points))[-1]
    back = x - copysign(size, x - before)
    return f"M{x:g} {y:g}L{back:g} {y - size / 2:g}L{back:g} {y + size / 2:g}Z"
