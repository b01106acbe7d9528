from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.known import KnownNames
from ingest.wiki import claims_of
from ontology import FindingsError, Ontology, read_ontology
from ontology.check import Checked, check
from ontology.page_reader import parse_page
from ontology.pages import Page, PageRef
from ontology.read import compile_ontology
from ontology.schema import Cardinality, Deprecation
from ontology.values import BadValue, read_value
from ontoloom.records import Mention

LIBRARY = """\
ontology: library
version: 2.0.0
types:
  Thing:
    abstract: true
    label: {en: thing, zh: 东西}
    keys: [[series, volume]]
    attributes:
      series: {type: string}
      volume: {type: integer}
      added: {type: datetime}
  Sold:
    abstract: true
    attributes:
      price: {type: number, unit: EUR, min: 0}
  Printed:
    abstract: true
    is_a: Sold
    attributes:
      weight: {type: quantity, unit: kg, min: 0, max: 50}
  Illustrated:
    abstract: true
    mixins: [Sold]
    attributes:
      pictures: {type: integer, default: 10}
  Book:
    is_a: Thing
    mixins: [Printed, Illustrated]
    disjoint: Author
    label: {en: Book, zh: 书, pt-BR: Livro}
    synonyms: {en: [volume, tome], zh: [书籍]}
    examples: [Middlemarch]
    attributes:
      isbn: {type: string, unique: true, examples: ["9780141439549"]}
      topics: {type: string, many: {min: 2, max: 3}}
      binding:
        type: enum
        default: paper
        values:
          paper: {label: 平装}
          cloth: {synonyms: {en: [hardback]}}
          vellum: {deprecated: {since: 1.5.0, use: cloth}}
      shelf: {type: string, deprecated: {use: topics}}
  Atlas:
    is_a: Book
    attributes: {price: {type: number, unit: EUR, min: 0, required: true}}
  Author: {}
  Scroll: {is_a: Thing, deprecated: {since: 1.0.0, use: Book}}
relations:
  wrote: {domain: Author, range: Book, cardinality: {objects: 1..*, subjects: 0..2}, inverse: written_by}
  follows: {domain: Book, range: Book, cardinality: one, acyclic: true, conflict: latest}
  near: {domain: Book, range: Book, symmetric: true}
  better_than:
    domain: Book
    range: Book
    acyclic: true
    transitive: true
    attributes: {judge: {type: reference, to: Author, identifying: true}, margin: {type: number}}
  copied_from: {domain: Book, range: Book, deprecated: {use: follows}}
"""


def compiled(text: str) -> Ontology:
    ontology, findings = compile_ontology(text, file="ontology.yaml")
    assert [str(finding) for finding in findings] == []
    assert ontology is not None
    return ontology


ONTOLOGY = compiled(LIBRARY)


def page(*lines: str, type: str = "Book", name: str = "A") -> str:
    return "\n".join(["---", f"type: {type}", f"name: {name}", *lines, "---", ""])


def parsed(text: str) -> Page:
    read, findings = parse_page(text, file="a.md", ontology=ONTOLOGY)
    assert findings == []
    assert read is not None
    return read


def checked(folder: Path, pages: Mapping[str, str], *, ontology: str = LIBRARY) -> Checked:
    (folder / "ontology.yaml").write_text(ontology, encoding="utf-8")
    (folder / "wiki").mkdir(exist_ok=True)
    for name, text in pages.items():
        (folder / "wiki" / f"{name}.md").write_text(text, encoding="utf-8")
    return check(folder / "ontology.yaml")


def found(folder: Path, pages: Mapping[str, str]) -> list[tuple[str, int, int, str]]:
    findings = checked(folder, pages).findings
    return [(Path(f.file).stem, f.line, f.column, f.code) for f in findings]


# Words


def test_labels_and_synonyms_are_kept_by_language_and_all_find_the_type() -> None:
    book = ONTOLOGY.types["Book"]
    assert book.labels == (("en", "Book"), ("zh", "书"), ("pt-BR", "Livro"))
    assert book.translations == (("en", ("volume", "tome")), ("zh", ("书籍",)))
    assert book.synonyms == ("Book", "书", "Livro", "volume", "tome", "书籍")
    assert book.examples == ("Middlemarch",)
    binding = ONTOLOGY.attribute("Book", "binding")
    assert binding is not None
    paper, cloth, vellum = binding.values
    assert (paper.labels, paper.synonyms) == ((("", "平装"),), ("平装",))
    assert (cloth.translations, cloth.synonyms) == ((("en", ("hardback",)),), ("hardback",))
    assert vellum.deprecated == Deprecation("1.5.0", "cloth")


def test_a_deprecation_may_say_nothing_more() -> None:
    text = LIBRARY.replace("deprecated: {since: 1.0.0, use: Book}", "deprecated: {}")
    assert compiled(text).types["Scroll"].deprecated == Deprecation()


@pytest.mark.xfail(strict=True, reason="only what is declared beside it can be named")
def test_what_is_used_instead_may_be_inherited() -> None:
    shelf = compiled(LIBRARY.replace("{use: topics}", "{use: series}")).attribute("Book", "shelf")
    assert shelf is not None
    assert shelf.deprecated == Deprecation(use="series")


# Types


def test_a_type_has_what_its_parent_and_mixins_have_each_once() -> None:
    assert list(ONTOLOGY.types["Book"].attributes) == [
        "name", "series", "volume", "added", "price", "weight", "pictures", "isbn", "topics", "binding", "shelf",
    ]  # fmt: skip
    assert ONTOLOGY.ancestors("Book") == ("Thing", "Printed", "Illustrated", "Sold")
    assert ONTOLOGY.ancestors("Atlas") == ("Book", "Thing", "Printed", "Illustrated", "Sold")
    assert ONTOLOGY.subtypes("Sold") == ("Sold", "Printed", "Illustrated", "Book", "Atlas")
    assert ONTOLOGY.types["Atlas"].keys == (("series", "volume"),)
    assert ONTOLOGY.types["Atlas"].attributes["price"].required
    assert not ONTOLOGY.types["Book"].attributes["price"].required


def test_the_order_of_declarations_does_not_matter() -> None:
    head, types, relations = re.split(r"(?<=types:\n)|(?=relations:\n)", LIBRARY)
    turned = "\n".join(reversed(re.split(r"\n(?=  \w)", types.rstrip())))
    ontology = compiled(f"{head}{turned}\n{relations}")
    assert list(ontology.types) == list(ONTOLOGY.types)[::-1]
    assert ontology.types == ONTOLOGY.types


def test_nothing_is_of_an_abstract_type_alone() -> None:
    assert ONTOLOGY.types["Book"].disjoint == ("Author",)
    assert ONTOLOGY.concrete(["Thing", "Book", "Sold", "Author"]) == ("Book", "Author")
    assert ONTOLOGY.widest(["Sold", "Book", "Atlas"]) == "Book"
    assert ONTOLOGY.widest(["Book", "Author"]) is None
    assert ONTOLOGY.widest(["Thing"]) is None
    concrete = ONTOLOGY.without_abstract()
    assert list(concrete.types) == ["Book", "Atlas", "Author", "Scroll"]
    assert concrete.types["Book"] == ONTOLOGY.types["Book"]
    assert concrete.relations["near"].domain == ("Book", "Atlas")


def test_a_relation_of_an_abstract_type_starts_at_those_below_it() -> None:
    ontology = compiled(LIBRARY.replace("near: {domain: Book, range: Book", "near: {domain: Thing, range: Thing"))
    assert ontology.relations["near"].domain == ("Thing", "Book", "Atlas", "Scroll")
    assert ontology.without_abstract().relations["near"].range == ("Book", "Atlas", "Scroll")


# Relations


def test_relations_say_how_many_there_may_be_at_both_ends() -> None:
    wrote, follows = ONTOLOGY.relations["wrote"], ONTOLOGY.relations["follows"]
    assert (wrote.objects, wrote.subjects) == (Cardinality(1, None), Cardinality(0, 2))
    assert (follows.objects, follows.subjects) == (Cardinality(0, 1), Cardinality(0, None))
    assert (follows.functional, wrote.functional) == (True, False)
    assert follows.conflict == "latest"
    assert ONTOLOGY.inverses == {"written_by": wrote}


@pytest.mark.parametrize(
    ("written", "meant", "shown"),
    [
        ("one", (0, 1), "0..1"), ("many", (0, None), "0..*"), ("1", (1, 1), "1"), ("0..1", (0, 1), "0..1"),
        ("1..*", (1, None), "1..*"), ("2..5", (2, 5), "2..5"), ("3..3", (3, 3), "3"),
    ],
)  # fmt: skip
def test_cardinalities_may_be_written_in_several_ways(written: str, meant: tuple[int, int | None], shown: str) -> None:
    text = LIBRARY.replace("cardinality: one", f"cardinality: {written}").replace(", conflict: latest", "")
    objects = compiled(text).relations["follows"].objects
    assert (objects, str(objects)) == (meant, shown)


# Values


@pytest.mark.parametrize(
    ("name", "raw", "value"),
    [
        ("added", "2024-05-01T14:30:00Z", "2024-05-01T14:30:00Z"),
        ("added", "2024-05-01T14:30Z", "2024-05-01T14:30:00Z"),
        ("added", "2024-05-01T00:30:00+02:00", "2024-04-30T22:30:00Z"),
        ("added", "2024-12-31T23:30:00-01:30", "2025-01-01T01:00:00Z"),
        ("added", "2024-05-01T14:30:00.250000Z", "2024-05-01T14:30:00.250000Z"),
        ("weight", "2 kg", 2.0),
        ("weight", "1500 g", 1.5),
        ("weight", "1,500 g", 1.5),
        ("weight", "1.5e3 g", 1.5),
        ("weight", "0.5kg", 0.5),
        ("weight", "0.02 t", 20.0),
    ],
)
def test_moments_and_quantities_have_one_form(name: str, raw: str, value: str | float) -> None:
    attribute = ONTOLOGY.attribute("Book", name)
    assert attribute is not None
    assert read_value(attribute, raw) == value


def test_quantities_are_held_against_the_limits_in_the_unit_of_the_attribute() -> None:
    weight = ONTOLOGY.types["Book"].attributes["weight"]
    with pytest.raises(BadValue) as caught:
        read_value(weight, "1 t")
    assert (caught.value.code, caught.value.fix) == ("out-of-range", "write at most 50")


def test_a_default_is_kept_in_canonical_form_and_never_assumed() -> None:
    book = ONTOLOGY.types["Book"].attributes
    assert (book["pictures"].default, book["binding"].default, book["isbn"].default) == (10, "paper", None)
    assert parsed(page()).statements == ()


def test_many_may_say_how_many() -> None:
    topics = ONTOLOGY.types["Book"].attributes["topics"]
    assert (topics.many, topics.at_least, topics.at_most) == (True, 2, 3)
    assert len(parsed(page("topics: [a, b, c]")).statements) == 3


# Pages


def test_the_inverse_of_a_relation_is_the_relation_from_its_other_end() -> None:
    text = page("written_by: [eliot, {target: lewes}]")
    statements = parsed(text).statements
    assert [(s.key, s.object, s.inverse) for s in statements] == [
        ("wrote", PageRef("eliot"), True), ("wrote", PageRef("lewes"), True),
    ]  # fmt: skip
    assert [text[s.start : s.end] for s in statements] == ["eliot", "{target: lewes}"]
    [stated] = parsed(page("wrote: a", type="Author")).statements
    assert (stated.key, stated.inverse) == ("wrote", False)


def test_what_is_stated_from_the_other_end_is_claimed_of_its_subject() -> None:
    book = parsed(page("written_by: eliot", name="Middlemarch"))
    author, findings = parse_page(page(type="Author", name="George Eliot"), file="eliot.md", ontology=ONTOLOGY)
    assert author is not None
    assert findings == []
    claims, unlinked = claims_of(book, KnownNames([("a.md", book), ("eliot.md", author)]))
    assert unlinked == []
    [claim] = [claim for claim in claims if claim.relation == "wrote"]
    assert isinstance(claim.subject, Mention)
    assert isinstance(claim.object, Mention)
    assert (claim.subject.name, claim.object.name) == ("George Eliot", "Middlemarch")


def test_what_should_not_be_used_any_more_is_a_warning(tmp_path: Path) -> None:
    pages = {
        "a": page("binding: vellum", "shelf: x", "copied_from: b"),
        "b": page(name="B"),
        "c": page(type="Scroll", name="C"),
    }
    result = checked(tmp_path, pages)
    assert result.ok
    assert [(Path(f.file).stem, f.line, f.column, f.code, f.fix) for f in result.findings] == [
        ("a", 4, 10, "deprecated", "use cloth"),
        ("a", 5, 1, "deprecated", "use topics"),
        ("a", 6, 1, "deprecated", "use follows"),
        ("c", 2, 7, "deprecated", "use Book"),
    ]
    assert len(result.pages) == 3


# Pages together


def test_unique_values_and_keys_hold_for_subtypes_too(tmp_path: Path) -> None:
    pages = {
        "a": page("isbn: '1'", "series: S", "volume: 1"),
        "b": page("isbn: '1'", "price: 3", type="Atlas", name="B"),
        "c": page("series: S", "volume: 1", "price: 3", type="Atlas", name="C"),
        "d": page("series: S", "volume: 2", name="D"),
        "e": page("volume: 1", name="E"),  # a key that is not stated in full tells nothing apart
    }
    assert found(tmp_path, pages) == [("b", 4, 1, "not-unique"), ("c", 5, 1, "not-unique")]


def test_a_key_is_one_of_all_types_below_the_one_that_declares_it(tmp_path: Path) -> None:
    pages = {
        "a": page("series: S", "volume: 1"),
        "b": page("volume: 1", "series: S", type="Scroll", name="B"),
    }
    assert found(tmp_path, pages)[-1] == ("b", 4, 1, "not-unique")


def test_objects_and_subjects_are_counted_from_whichever_end_they_are_stated(tmp_path: Path) -> None:
    authors = {name: page(type="Author", name=name) for name in "xyz"}
    assert found(tmp_path, {"a": page("written_by: [x, y]"), **authors}) == [("z", 1, 1, "too-few-values")]
    both = authors | {"x": page("wrote: a", type="Author", name="x")}
    assert found(tmp_path, {"a": page("written_by: [x, y]"), **both}) == [("z", 1, 1, "too-few-values")]
    third = authors | {"z": page("wrote: [a]", type="Author", name="z")}
    assert found(tmp_path, {"a": page("written_by: [x, y]"), **third}) == [("z", 4, 9, "too-many-values")]


def test_links_to_pages_that_are_not_there_count_for_nothing(tmp_path: Path) -> None:
    assert found(tmp_path, {"x": page("wrote: gone", type="Author", name="X")}) == [
        ("x", 1, 1, "too-few-values"),
        ("x", 4, 8, "dangling-reference"),
    ]


def test_each_cycle_is_reported_once_with_its_way(tmp_path: Path) -> None:
    pages = {
        "a": page("follows: b"), "b": page("follows: c", name="B"), "c": page("follows: a", name="C"),
        "d": page("follows: d", name="D"), "e": page("follows: a", name="E"),
    }  # fmt: skip
    findings = checked(tmp_path, pages).findings
    assert [(Path(f.file).stem, f.message.partition(": ")[2]) for f in findings] == [
        ("c", "c → a → b → c"),
        ("d", "d → d"),
    ]


def test_only_links_that_agree_in_identifying_attributes_make_a_cycle(tmp_path: Path) -> None:
    people = {name: page("wrote: a", type="Author", name=name) for name in ("x", "y")}
    better = "better_than: {{target: {}, judge: {}, margin: {}}}"
    told = {"a": page(better.format("b", "x", 1)), "b": page(better.format("a", "y", 1), name="B")}
    assert found(tmp_path, {**told, **people}) == []
    same = {"a": page(better.format("b", "x", 1)), "b": page(better.format("a", "x", 2), name="B")}
    assert found(tmp_path, {**same, **people}) == [("b", 4, 1, "cycle")]


CHAIN = """\
ontology: chains
version: 1.0.0
types: {N: {}}
relations:
  to: {domain: N, range: N, acyclic: true}
"""


def chain(folder: Path, edges: Mapping[int, set[int]]) -> list[list[int]]:
    """The cycles that a check finds in a graph of pages."""
    pages = {
        f"n{at}": page(
            *([f"to: [{', '.join(f'n{to}' for to in sorted(ends))}]"] if ends else []), type="N", name=f"N{at}"
        )
        for at, ends in edges.items()
    }
    findings = checked(folder, pages, ontology=CHAIN).findings
    assert {f.code for f in findings} <= {"cycle"}
    return [[int(node[1:]) for node in f.message.partition(": ")[2].split(" → ")] for f in findings]


def reachable(edges: Mapping[int, set[int]], start: int) -> set[int]:
    seen: set[int] = set()
    near = {start}
    while near:
        near = {to for at in near for to in edges[at]} - seen
        seen |= near
    return seen


@settings(deadline=None, max_examples=60)
@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=14))
def test_cycles_are_found_just_where_there_are_any(pairs: set[tuple[int, int]]) -> None:
    edges: dict[int, set[int]] = {at: set() for at in range(7)}
    for at, to in pairs:
        edges[at].add(to)
    with tempfile.TemporaryDirectory() as folder:
        cycles = chain(Path(folder), edges)
    assert bool(cycles) == any(at in reachable(edges, at) for at in edges)
    for cycle in cycles:
        assert cycle[0] == cycle[-1]
        assert all(to in edges[at] for at, to in pairwise(cycle))
    for closing, first, *_ in cycles:  # without the links that were pointed at, none is left
        edges[closing].discard(first)
    assert not any(at in reachable(edges, at) for at in edges)


def test_ten_thousand_pages_in_a_row_are_no_cycle_until_the_last_leads_back(tmp_path: Path) -> None:
    edges: dict[int, set[int]] = {at: {at + 1} for at in range(10_000)} | {10_000: set()}
    assert chain(tmp_path, edges) == []
    (tmp_path / "wiki" / "n10000.md").write_text(page("to: n0", type="N", name="N10000"))
    [finding] = check(tmp_path / "ontology.yaml").findings
    assert finding.message == "'to' leads in a circle: n10000 → n0 → n1 → n2 → … → n9998 → n9999 → n10000"


# Imports


def written(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / (name.replace("__", "/") + ".yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "ontology.yaml"


def importing(imports: str, types: str = "") -> str:
    return f"ontology: top\nversion: 1.0.0\nimports: {imports}\n" + (f"types: {types}\n" if types else "")


CORE = """\
ontology: core
version: 1.0.0
types:
  Thing: {abstract: true, attributes: {made: {type: date}}}
  Part: {mixins: [Thing], disjoint: Whole, deprecated: {use: Whole}}
  Whole: {is_a: Thing}
relations:
  part_of:
    domain: Part
    range: Whole
    inverse: has_part
    attributes: {seen_in: {type: reference, to: Whole}}
"""


def test_what_is_imported_can_be_used_as_if_it_stood_here(tmp_path: Path) -> None:
    ontology = read_ontology(written(tmp_path, ontology=importing("core.yaml", "{Car: {is_a: Whole}}"), core=CORE))
    assert list(ontology.types) == ["Thing", "Part", "Whole", "Car"]
    assert list(ontology.types["Car"].attributes) == ["name", "made"]
    assert ontology.relations["part_of"].range == ("Whole", "Car")
    assert ontology.relations["part_of"].attributes["seen_in"].targets == ("Whole", "Car")
    assert ontology.imports == ("core.yaml",)
    assert (ontology.name, ontology.version) == ("top", "1.0.0")


def test_a_prefix_is_given_to_every_name_of_a_type_or_relation(tmp_path: Path) -> None:
    top = importing("[{file: core.yaml, prefix: c_}]", "{Car: {is_a: c_Whole}}")
    ontology = read_ontology(written(tmp_path, ontology=top, core=CORE))
    assert list(ontology.types) == ["c_Thing", "c_Part", "c_Whole", "Car"]
    part = ontology.types["c_Part"]
    assert (part.name, part.mixins, part.disjoint, part.deprecated) == (
        "c_Part", ("c_Thing",), ("c_Whole",), Deprecation("", "c_Whole"),
    )  # fmt: skip
    relation = ontology.relations["c_part_of"]
    assert (relation.name, relation.domain, relation.range, relation.inverse) == (
        "c_part_of", ("c_Part",), ("c_Whole", "Car"), "c_has_part",
    )  # fmt: skip
    assert relation.attributes["seen_in"].targets == ("c_Whole", "Car")


def test_imports_nest_and_their_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    top = importing("[{file: parts/middle.yaml, prefix: m_}]", "{Car: {is_a: m_c_Whole}}")
    middle = importing("[{file: ../shared/core.yaml, prefix: c_}]", "{Wheel: {is_a: c_Part}}")
    ontology = read_ontology(written(tmp_path, ontology=top, parts__middle=middle, shared__core=CORE))
    assert list(ontology.types) == ["m_c_Thing", "m_c_Part", "m_c_Whole", "m_Wheel", "Car"]
    assert ontology.types["m_Wheel"].parent == "m_c_Part"
    assert [Path(tmp_path, file).resolve() for file in ontology.imports] == [
        (tmp_path / "parts" / "middle.yaml").resolve(), (tmp_path / "shared" / "core.yaml").resolve(),
    ]  # fmt: skip


def test_two_prefixes_keep_two_of_a_file_apart(tmp_path: Path) -> None:
    top = importing("[{file: core.yaml, prefix: a_}, {file: core.yaml, prefix: b_}]")
    assert len(read_ontology(written(tmp_path, ontology=top, core=CORE)).types) == 6


def test_a_file_may_be_imported_by_several_that_are_imported(tmp_path: Path) -> None:
    left, right = importing("core.yaml", "{Left: {is_a: Whole}}"), importing("core.yaml", "{Right: {is_a: Whole}}")
    top = importing("[left.yaml, right.yaml]", "{Car: {is_a: Left}}")
    ontology = read_ontology(written(tmp_path, ontology=top, left=left, right=right, core=CORE))
    assert set(ontology.types) == {"Thing", "Part", "Whole", "Left", "Right", "Car"}
    assert ontology.relations["part_of"].range == ("Whole", "Right", "Left", "Car")


def test_findings_of_an_import_name_its_file(tmp_path: Path) -> None:
    path = written(tmp_path, ontology=importing("parts/core.yaml"), parts__core=CORE.replace("Whole}", "Whol}"))
    with pytest.raises(FindingsError) as caught:
        read_ontology(path)
    files = [(Path(f.file).relative_to(tmp_path).as_posix(), f.code) for f in caught.value.findings]
    assert ("ontology.yaml", "bad-import") in files
    assert ("parts/core.yaml", "unknown-type") in files


# The hash


CHANGES = {
    "a mixin": ("mixins: [Printed, Illustrated]", "mixins: [Printed]"),
    "abstract": ("  Thing:\n    abstract: true\n", "  Thing:\n"),
    "disjoint": ("    disjoint: Author\n", ""),
    "a key": ("keys: [[series, volume]]", "keys: [[series, volume], added]"),
    "a label": ("zh: 书,", "zh: 书本,"),
    "a language": ("zh: 书,", "ja: 书,"),
    "an example": ("examples: [Middlemarch]", "examples: [Emma]"),
    "a deprecation": ("deprecated: {since: 1.0.0, use: Book}", "deprecated: {since: 1.1.0, use: Book}"),
    "unique": ("unique: true, ", ""),
    "a default": ("default: 10", "default: 11"),
    "a number of values": ("{min: 2, max: 3}", "{min: 2, max: 4}"),
    "a cardinality": ("subjects: 0..2", "subjects: 0..3"),
    "an inverse": ("inverse: written_by", "inverse: was_written_by"),
    "a flag": ("transitive: true", "transitive: false"),
    "a policy": ("conflict: latest", "conflict: most_trusted"),
    "a unit": ("unit: kg", "unit: g"),
}


@pytest.mark.parametrize(("old", "new"), CHANGES.values(), ids=CHANGES.keys())
def test_the_hash_changes_with_the_meaning(old: str, new: str) -> None:
    assert LIBRARY.count(old) == 1
    changed = compiled(LIBRARY.replace(old, new))
    assert changed.hash != ONTOLOGY.hash
    assert changed.stamp != ONTOLOGY.stamp


LAYOUTS = {
    "comments": ("types:\n", "# What there is.\ntypes:  # all of it\n\n"),
    "one for a list of one": ("disjoint: Author", "disjoint: [Author]"),
    "quotes": ("inverse: written_by", "inverse: 'written_by'"),
    "a block": ("label: {en: thing, zh: 东西}", "label:\n      en: thing\n      zh: 东西"),
    "the same cardinality": ("cardinality: one", "cardinality: 0..1"),
    "what holds anyway": ("near: {domain: Book", "near: {transitive: false, acyclic: false, domain: Book"),
}


@pytest.mark.parametrize(("old", "new"), LAYOUTS.values(), ids=LAYOUTS.keys())
def test_the_hash_does_not_change_with_the_layout(old: str, new: str) -> None:
    assert LIBRARY.count(old) == 1
    assert compiled(LIBRARY.replace(old, new)).hash == ONTOLOGY.hash
    assert compiled(LIBRARY.replace("\n", "\r\n")).hash == ONTOLOGY.hash


def test_the_hash_changes_with_what_is_imported_and_not_with_its_path(tmp_path: Path) -> None:
    one = read_ontology(written(tmp_path / "one", ontology=importing("core.yaml"), core=CORE))
    moved = read_ontology(written(tmp_path / "two", ontology=importing("a/b.yaml"), a__b=CORE))
    changed = read_ontology(
        written(tmp_path / "three", ontology=importing("core.yaml"), core=CORE.replace("made", "born"))
    )
    assert one.hash == moved.hash != changed.hash


# Whatever is done to it


MUTATIONS = st.sampled_from([
    "", "x", "[", "]", "{", "}", ": ", ", ", "\n", "- ", "is_a", "mixins", "Book", "true", "0", "..", "~", "\0", "&a ",
])  # fmt: skip


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(LIBRARY)), st.integers(0, 14), MUTATIONS), min_size=1, max_size=4))
def test_whatever_is_done_to_an_ontology_only_findings_come_of_it(edits: list[tuple[int, int, str]]) -> None:
    text = LIBRARY
    for at, cut, put in edits:
        text = text[:at] + put + text[at + cut :]
    ontology, findings = compile_ontology(text, file="f")
    assert (ontology is None) == any(f.severity == "error" for f in findings)
    assert findings == sorted(findings)
    assert all("\n" not in str(f) and f.line >= 1 and f.column >= 1 for f in findings)


def test_a_name_that_is_not_there_gives_findings_and_nothing_else() -> None:
    for name in [*ONTOLOGY.types, *ONTOLOGY.relations, *ONTOLOGY.inverses]:
        for match in re.finditer(rf"\b{name}\b", LIBRARY):
            text = f"{LIBRARY[: match.start()]}Other{LIBRARY[match.end() :]}"
            ontology, findings = compile_ontology(text, file="f")
            assert (ontology is None) == any(f.severity == "error" for f in findings)


# Hostile input


def test_six_megabytes_without_anchors_are_read(tmp_path: Path) -> None:
    lines = [f"  line {at} of a text, {'x' * 60}" for at in range(75_000)]
    text = CHAIN.replace("{N: {}}", "{N: {attributes: {text: {type: text}}}}")
    result = checked(tmp_path, {"a": page("text: |", *lines, type="N")}, ontology=text)
    assert (tmp_path / "wiki" / "a.md").stat().st_size > 6_000_000
    assert [str(finding) for finding in result.findings] == []


def test_a_page_of_nothing_but_bad_characters_gives_few_findings(tmp_path: Path) -> None:
    text = page("\0" * 20_000, type="N")
    assert 1 <= len(checked(tmp_path, {"a": text}, ontology=CHAIN).findings) <= 100


def test_a_long_chain_of_imports_is_read_or_is_a_finding(tmp_path: Path) -> None:
    files = {f"f{at}": importing(f"f{at + 1}.yaml") for at in range(400)}
    result = check(written(tmp_path, ontology=importing("f0.yaml"), f400=CORE, **files))
    assert result.ok or "too-deep" in {finding.code for finding in result.findings}
