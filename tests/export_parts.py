"""What tests of exports share: two ontologies, golden files, and ontologies made at random with names that hurt."""

from __future__ import annotations

import json
import os
from pathlib import Path

from hypothesis import strategies as st

from ontology.read import compile_ontology, read_ontology
from ontology.schema import Ontology

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden" / "export"
EXAMPLES = {
    "ai-infra": ROOT / "examples" / "ai-infra" / "ontology.yaml",
    "library": GOLDEN / "library.yaml",
}
WORDS = (
    "class", "None", "id", "date", "Field", "Page", "Query", "String", "type_", "end", "note", "constructor", "copy",
    "model_dump", "Literal", "Url", "ID", "true", "from", "MATCH", "Edge", "target", "json", "x", "Model", "GPU",
)  # fmt: skip
"""Names that mean something in the languages that are written."""
HOSTILE = (
    "\"'`\\ </title><script>alert(1)</script>&amp;",
    '"""',
    "}} {% {{ ]]> --> */ #}",
    "\\N{x} \\u12 \\",
    'a \\"word"',
    "模型 🙂 \u202e",
)


def example(name: str) -> Ontology:
    return read_ontology(EXAMPLES[name])


def compiled(text: str) -> Ontology:
    """The ontology that a text states without the lines that name and version it."""
    ontology, findings = compile_ontology(f"ontology: test\nversion: 1.0.0\n{text}", file="test.yaml")
    assert ontology is not None, findings
    return ontology


def assert_golden(name: str, text: str) -> None:
    """Whether a text is that of a golden file; ``ONTOLOOM_GOLDEN=write`` writes it instead."""
    path = GOLDEN / name
    if os.environ.get("ONTOLOOM_GOLDEN") == "write":
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@st.composite
def ontologies(draw: st.DrawFn) -> Ontology:
    """A small ontology: types that are others, attributes of every kind, relations; all its texts are hostile."""
    order = draw(st.permutations(WORDS))
    folded: dict[str, str] = {}
    for word in order:
        folded.setdefault(word.casefold(), word)
    names = [name for name in folded.values() if name != "target"]
    count = draw(st.integers(1, 7))
    types, rest = names[:count], names[count:]
    declared = {name: _type(draw, types[:i], rest[:6]) for i, name in enumerate(types)}
    related = {name: _relation(draw, types) for name in rest[6 : 6 + draw(st.integers(0, 5))]}
    text = {"ontology": "test", "version": "1.0.0", "types": declared, "relations": related}
    if not related:
        del text["relations"]
    ontology, findings = compile_ontology(json.dumps(text, ensure_ascii=False), file="test.yaml")
    assert ontology is not None, findings
    return ontology


def _type(draw: st.DrawFn, above: list[str], names: list[str]) -> dict[str, object]:
    found: dict[str, object] = {"description": draw(st.sampled_from(HOSTILE)), "synonyms": ["a thing", HOSTILE[0]]}
    is_other: bool = draw(st.booleans())
    if above and is_other:
        found["is_a"] = draw(st.sampled_from(above))
    elif names:
        found["attributes"] = {name: _attribute(draw) for name in names if draw(st.booleans())} or {
            "y": _attribute(draw)
        }
    if draw(st.integers(0, 3)) == 0:
        found["deprecated"] = {"since": "1.0.0"}
    return found


def _attribute(draw: st.DrawFn) -> dict[str, object]:
    kind = draw(st.sampled_from(("string", "text", "integer", "number", "boolean", "date", "datetime", "url", "enum")))
    found: dict[str, object] = {"type": kind, "description": draw(st.sampled_from(HOSTILE))}
    if kind == "enum":
        found["values"] = ["a", "A b", "1", "true ", *HOSTILE]
    if kind in ("string", "text"):
        found["pattern"] = draw(st.sampled_from((r"\d+", r"['\"\\].*", "[^\\n]*", "(?i)a|b")))
    if kind in ("integer", "number"):
        found |= {"min": -3, "max": draw(st.sampled_from((7, 2**40))), "unit": HOSTILE[0]}
    flags = [key for key in ("many", "required") if draw(st.booleans())]
    return found | dict.fromkeys(flags, True)


def _relation(draw: st.DrawFn, types: list[str]) -> dict[str, object]:
    ends = st.lists(st.sampled_from(types), min_size=1, max_size=3, unique=True)
    found: dict[str, object] = {
        "domain": draw(ends),
        "range": draw(ends),
        "description": draw(st.sampled_from(HOSTILE)),
    }
    found["cardinality"] = {"objects": draw(st.sampled_from(("one", "many", "1..*", "2..3")))}
    if draw(st.booleans()):
        found["attributes"] = {
            "class": _attribute(draw) | {"identifying": True},
            "by": {"type": "reference", "to": draw(ends), "many": draw(st.booleans())},
        }
    return found
