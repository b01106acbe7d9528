"""Random ontologies as texts, made without our writer: nested mappings as PyYAML writes them."""

from __future__ import annotations

from typing import Any, TypeAlias

import yaml
from hypothesis import strategies as st

from ontology.read import compile_ontology
from ontology.schema import Ontology

Tree: TypeAlias = dict[str, Any]
LETTERS = "abcxyzÄß模型 \"'\\:#,[]{}&*!|>%@`?-=.~0123456789\t\u00a0\u2028\x07😀"
WORDS = st.one_of(
    st.sampled_from(
        ["null", "~", "no", "1.10", "yes", "- a", "a: b", "a #b", "<<", "[x]", "{y: z}", "---", "?", "-", "…"]
    ),
    st.text(LETTERS, min_size=1, max_size=12),
).filter(lambda word: bool(word.strip()))
DISTINCT = st.lists(WORDS, min_size=1, max_size=3, unique_by=str.strip)
VERSIONS = st.sampled_from(["1.0.0", "0.10.2", "2.0.0-rc.1"])
LANGUAGES = st.sampled_from(["en", "zh", "pt-BR"])
PATTERNS = st.sampled_from([r"[A-Z].*", r"\d+", "it's", 'a"b', r"[^:#]+ #?", "(?i)x|y"])
UNITS = st.sampled_from(["GB", "tokens", "°C", "m/s", "%", "µm"])
NUMBERS = st.one_of(st.integers(-(10**6), 10**6), st.floats(-1e30, 1e30))


@st.composite
def ontologies(draw: st.DrawFn) -> str:
    """The text of an ontology that compiles, or nearly always does."""
    names = [f"T{n}" for n in range(draw(st.integers(1, 5)))]
    mixins = [f"M{n}" for n in range(draw(st.integers(0, 2)))]
    types: Tree = {}
    for at, name in enumerate([*mixins, *names]):
        types[name] = draw(labels([n for n in (*mixins, *names) if n != name])) | draw(attributes_of(name))
        if name in mixins:
            types[name]["abstract"] = "true"
        elif at > len(mixins) and draw(st.booleans()):
            types[name]["is_a"] = draw(st.sampled_from(names[: at - len(mixins)]))
        if mixins and name in names and draw(st.booleans()):
            types[name]["mixins"] = draw(st.lists(st.sampled_from(mixins), min_size=1, unique=True))
    _declare_again(draw, types)
    order = draw(st.permutations(list(types)))
    relations = {f"r{n}": draw(relation([*mixins, *names])) for n in range(draw(st.integers(0, 3)))}
    for name, one in relations.items():
        one.update(draw(labels([n for n in relations if n != name])))
        if not one.get("symmetric") and draw(st.booleans()):
            one["inverse"] = f"{name}_of"
    tree = {"ontology": "test", "version": draw(VERSIONS), "types": {name: types[name] for name in order}}
    if draw(st.booleans()):
        tree["description"] = draw(WORDS)
    return yaml.dump(tree | ({"relations": relations} if relations else {}), Dumper=Plain, sort_keys=False)


class Plain(yaml.SafeDumper):
    """PyYAML's dumper, without anchors; what is not ASCII is escaped."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002  # as the base class has it
        return True


def compiled(text: str) -> Ontology | None:
    """The ontology of a text; None where it does not compile."""
    return compile_ontology(text, file="ontology.yaml")[0]


@st.composite
def labels(draw: st.DrawFn, siblings: list[str]) -> Tree:
    """Some of the keys of ``LABEL_KEYS``."""
    tree: Tree = {}
    if draw(st.integers(0, 2)) == 0:
        tree["description"] = draw(WORDS)
    if draw(st.integers(0, 3)) == 0:
        tree["label"] = draw(st.one_of(WORDS, st.dictionaries(LANGUAGES, WORDS, min_size=1)))
    if draw(st.integers(0, 3)) == 0:
        tree["synonyms"] = draw(st.one_of(DISTINCT, st.dictionaries(LANGUAGES, DISTINCT, min_size=1)))
    if draw(st.integers(0, 5)) == 0:
        tree["examples"] = draw(DISTINCT)
    if draw(st.integers(0, 5)) == 0:
        tree["deprecated"] = {"since": draw(VERSIONS)}
        if draw(st.booleans()) and siblings:
            tree["deprecated"]["use"] = draw(st.sampled_from(siblings))
    return tree


@st.composite
def attributes_of(draw: st.DrawFn, owner: str) -> Tree:
    """Attributes whose names begin as their owner does, so that no two types differ about one; and keys."""
    names = [f"{owner.lower()}_a{n}" for n in range(draw(st.integers(0, 4)))]
    tree: Tree = {name: draw(attribute([n for n in names if n != name])) for name in names}
    if draw(st.integers(0, 3)) == 0:
        tree["name"] = {"pattern": draw(PATTERNS), **draw(labels([]))}
    if draw(st.integers(0, 3)) == 0:
        fields = [f"f{n}" for n in range(draw(st.integers(1, 3)))]
        inner = {f: draw(attribute([n for n in fields if n != f])) for f in fields}
        tree[f"{owner.lower()}_r"] = {"type": "record", "fields": inner, **draw(labels(names))}
    single = [name for name in names if "many" not in tree[name]]
    keys = {"keys": [single[0], single]} if len(single) > 1 and draw(st.booleans()) else {}
    return {"attributes": tree, **keys} if tree else {}


@st.composite
def attribute(draw: st.DrawFn, siblings: list[str], *, of_relation: tuple[str, ...] = ()) -> Tree:
    """An attribute of any type of value; of a relation, perhaps a reference to one of the types."""
    kinds = ["string", "text", "integer", "number", "boolean", "date", "datetime", "quantity", "enum", "url"]
    kind = draw(st.sampled_from([*kinds, *(["reference"] if of_relation else [])]))
    tree: Tree = {"type": kind, **draw(labels(siblings))}
    for key in ("required", "identifying") if of_relation else ("required", "unique"):
        if draw(st.integers(0, 4)) == 0:
            tree[key] = "true"
    if kind == "enum":
        tree["values"] = draw(values())
    elif kind == "reference":
        tree["to"] = draw(some(of_relation))
    elif kind in ("integer", "number", "quantity"):
        if kind == "quantity" or draw(st.booleans()):
            tree["unit"] = draw(UNITS)
        if draw(st.booleans()):
            tree["min"] = str(draw(st.integers(-9, 0) if kind == "integer" else NUMBERS))
    elif kind in ("string", "text", "url") and draw(st.integers(0, 3)) == 0:
        tree["pattern"] = draw(PATTERNS)
    if draw(st.integers(0, 3)) == 0:
        many = [{"min": "2"}, {"max": "3"}, {"min": "1", "max": "9"}, "true"]
        tree["many"] = draw(st.sampled_from(many))
    default = DEFAULTS.get(kind)
    if default is not None and not tree.keys() & {"pattern", "min"} and draw(st.integers(0, 3)) == 0:
        tree["default"] = draw(default) + (f" {tree['unit']}" if kind == "quantity" else "")
    return tree


DEFAULTS: dict[str, st.SearchStrategy[str]] = {
    "string": WORDS.filter(lambda word: "\x07" not in word),
    "integer": st.integers(-(2**62), 2**62).map(str),
    "number": st.floats(allow_nan=False, allow_infinity=False).map(str),
    "boolean": st.sampled_from(["true", "false"]),
    "date": st.dates().map(str),
    "datetime": st.just("2024-05-01T12:00:00.5+02:00"),
    "quantity": st.sampled_from(["0.1", "24", "1,024", "1e9", "-0.000001"]),
    "url": st.just("https://example.org/a?b=[c]"),
}


@st.composite
def values(draw: st.DrawFn) -> list[str] | Tree:
    """Values of an enum, a list of them or a mapping with what is said about some."""
    names = draw(st.lists(WORDS, min_size=1, max_size=4, unique_by=lambda word: word.strip().casefold()))
    if draw(st.booleans()):
        return names
    return {name: {"description": draw(WORDS)} if draw(st.booleans()) else {} for name in names}


@st.composite
def relation(draw: st.DrawFn, types: list[str]) -> Tree:
    """A relation between some of the types."""
    ends = draw(some(tuple(types)))
    tree: Tree = {"domain": ends, "range": ends if draw(st.booleans()) else draw(some(tuple(types)))}
    cardinalities = ["one", "0..1", "1", "1..*", "2..5", {"subjects": "one"}, {"objects": "1..2", "subjects": "1..*"}]
    if draw(st.booleans()):
        tree["cardinality"] = draw(st.sampled_from(cardinalities))
    if tree.get("cardinality") in ("one", "1") and draw(st.booleans()):
        tree["conflict"] = draw(st.sampled_from(["latest", "error", "keep_all"]))
    if tree["domain"] == tree["range"]:
        flags: list[list[str]] = [[], ["symmetric"], ["asymmetric", "acyclic"], ["transitive"]]
        tree |= dict.fromkeys(draw(st.sampled_from(flags)), "true")
    names = [f"x{n}" for n in range(draw(st.integers(0, 2)))]
    if names:
        of = tuple(types)
        tree["attributes"] = {n: draw(attribute([m for m in names if m != n], of_relation=of)) for n in names}
    return tree


@st.composite
def some(draw: st.DrawFn, names: tuple[str, ...]) -> str | list[str]:
    """One of the names, or a list of some."""
    found = draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True))
    return found[0] if len(found) == 1 and draw(st.booleans()) else found


def _declare_again(draw: st.DrawFn, types: Tree) -> None:
    """Now and then a type declares again what it inherits from its parent: described anew, and required."""
    for name, one in types.items():
        above = types.get(one.get("is_a", ""), {}).get("attributes", {})
        if above and draw(st.booleans()):
            again = draw(st.sampled_from(sorted(above)))
            if again == "name" or above[again]["type"] == "record":
                continue
            kept = {
                k: v for k, v in above[again].items() if k not in ("description", "label", "deprecated", "examples")
            }
            one.setdefault("attributes", {})[again] = {**kept, "description": f"Again in {name}.", "required": "true"}
