"""Pages and ontologies in canonical order: keys where readers look for them, comments beside what they speak of.

Nothing is written anew: lines move as blocks, with the comments above them. So quotes, lists and line breaks stay as
their authors wrote them, and what the text means stays the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ontology.attributes import PAGE_KEYS
from ontology.findings import FindingsError
from ontology.page_reader import find_front_matter
from ontology.schema import Ontology
from ontology.strict_yaml import Source, compose
from ontology.vocabulary import vocabulary_of

LABELS = ("label", "description", "synonyms", "examples", "deprecated")
TYPE = ("is_a", "mixins", "abstract", "disjoint", *LABELS, "keys", "attributes")
RELATION = (
    "domain", "range", "cardinality", "inverse", "symmetric", "asymmetric", "transitive", "acyclic", "conflict",
    *LABELS, "attributes",
)  # fmt: skip
ATTRIBUTE = (
    "type", "to", "many", "required", "identifying", "unique", "default", "unit", "min", "max", "pattern", *LABELS,
    "values", "fields",
)  # fmt: skip
TOP = ("ontology", "version", "description", "imports", "types", "relations")


@dataclass(frozen=True, slots=True)
class Order:
    """The order of keys of a mapping, those that it does not name last; and that of the mappings below them.

    ``each`` is the order of mappings below keys that have none of their own. None leaves keys as they are.
    """

    keys: Sequence[str] | None = None
    below: Mapping[str, Order] = field(default_factory=dict)
    each: Order | None = None


FIELD = Order(ATTRIBUTE, {"values": Order(each=Order(LABELS))})
ATTRIBUTES = Order(each=Order(ATTRIBUTE, {"values": Order(each=Order(LABELS)), "fields": Order(each=FIELD)}))
ONTOLOGY = Order(
    TOP,
    {
        "types": Order(each=Order(TYPE, {"attributes": ATTRIBUTES})),
        "relations": Order(each=Order(RELATION, {"attributes": ATTRIBUTES})),
    },
)


def format_ontology(text: str, *, file: str) -> str:
    """An ontology in canonical order. Types, relations and attributes stay in theirs, which people have chosen.

    Raises FindingsError where the text is not the YAML that we read.
    """
    source = Source(file, text)
    root = _compose(source, None)
    if root is None:
        return text
    lines = text.splitlines(keepends=True)
    return _checked(source, "".join(_ordered(lines, root, 0, len(lines), ONTOLOGY)).rstrip() + "\n", None)


def format_page(text: str, *, file: str, ontology: Ontology) -> str:
    """A page with its front matter in canonical order: the keys of all pages, then those of its type as the ontology
    declares them. The prose is left alone.

    Raises FindingsError where the front matter is not the YAML that we read.
    """
    source = Source(file, text)
    span = find_front_matter(source)
    if span is None:
        raise FindingsError(source.findings)
    root = _compose(source, span[0])
    if root is None:
        return text
    front = text[: span[0]].splitlines(keepends=True)
    ordered = [front[0], *_ordered(front, root, 1, len(front), _page_order(root, ontology))]
    return _checked(source, "".join(ordered) + text[span[0] :], span[0])


def _compose(source: Source, until: int | None) -> Node | None:
    root = compose(source, end=until)
    if source.findings:
        raise FindingsError(source.findings)
    return root


def _page_order(root: Node, ontology: Ontology) -> Order:
    said = {key.value: value for key, value in root.value} if isinstance(root, MappingNode) else {}
    kind = said.get("type")
    if not isinstance(kind, ScalarNode) or kind.value not in ontology.types:
        return Order(PAGE_KEYS)
    words = vocabulary_of(ontology, kind.value).words
    records = {name: Order(tuple(word)) for name, word in words.items() if isinstance(word, dict)}
    return Order((*PAGE_KEYS, *(name for name in words if name != "name")), records)


@dataclass(slots=True)
class _Block:
    """The lines of a key with what belongs to it; ``apart``: there was a blank line in front of it."""

    key: str
    lines: list[str]
    apart: bool


def _ordered(lines: Sequence[str], node: Node, begin: int, until: int, order: Order) -> list[str]:
    """The lines from ``begin`` to ``until``, which hold a mapping and no other key beside it, in order."""
    if not isinstance(node, MappingNode) or node.flow_style or not node.value:
        return [*lines[begin:until]]
    firsts = [_first_line(lines, key, begin) for key, _ in node.value]
    if len(set(firsts)) < len(firsts) or firsts[0] < begin:  # a key behind a dash, or two on a line
        return [*lines[begin:until]]
    blocks = []
    for (key, value), first, after in zip(node.value, firsts, [*firsts[1:], until], strict=True):
        below = order.below.get(key.value, order.each)
        own = int(key.start_mark.line) + 1
        kept = [*lines[first:own]]
        kept += _ordered(lines, value, own, after, below) if below is not None else lines[own:after]
        while len(kept) > 1 and not kept[-1].strip():
            kept.pop()
        blocks.append(_Block(key.value, kept, apart=first > begin and not lines[first - 1].strip()))
    head = [*lines[begin : firsts[0]]]
    while head and not head[-1].strip():
        head.pop()
    sort = _sorter(order.keys)
    return _joined(head, sorted(blocks, key=lambda block: sort(block.key)) if order.keys is not None else blocks)


def _sorter(keys: Sequence[str] | None) -> Callable[[str], int]:
    places = {key: place for place, key in enumerate(keys or ())}
    return lambda key: places.get(key, len(places))


def _joined(head: list[str], blocks: Sequence[_Block]) -> list[str]:
    """Blocks with a blank line between those that had one, and below a comment that stands apart."""
    out = head
    for place, block in enumerate(blocks):
        if out and ((block.apart and place) or (head and not place)):
            out = [*out, "\r\n" if block.lines[0].endswith("\r\n") else "\n"]
        last = block.lines[-1]
        ended = last if last.endswith(("\n", "\r")) else f"{last}\n"
        out = [*out, *block.lines[:-1], ended]
    return out


def _first_line(lines: Sequence[str], key: Node, begin: int) -> int:
    """The line of a key, or of the comment right above it that is indented as it is."""
    first, indent = int(key.start_mark.line), int(key.start_mark.column)
    while first > begin and _is_comment(lines[first - 1], indent):
        first -= 1
    return first


def _is_comment(line: str, indent: int) -> bool:
    return line.startswith(f"{' ' * indent}#")


def _checked(source: Source, formatted: str, until: int | None) -> str:
    """The formatted text, if it still says what it said; else, which would be a mistake of ours, the text as it was."""
    before = compose(Source(source.file, source.text), end=until)
    after_source = Source(source.file, formatted)
    span = find_front_matter(after_source) if until is not None else None
    after = compose(after_source, end=span[0] if span is not None else None)
    same = before is not None and after is not None and _meaning(before) == _meaning(after)
    return formatted if same and not after_source.findings else source.text


def _meaning(node: Node) -> object:
    if isinstance(node, MappingNode):
        return {key.value: _meaning(value) for key, value in node.value}
    if isinstance(node, SequenceNode):
        return [_meaning(item) for item in node.value]
    return node.value, isinstance(node, ScalarNode) and node.style
