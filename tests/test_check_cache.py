"""A check with a cache finds what one without finds, and reads only what has changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontology.check import Checked, check

ONTOLOGY = """\
ontology: test
version: 1.0.0
types:
  Model: {attributes: {size: {type: integer}, code: {type: string, unique: true}}}
relations:
  part_of: {domain: Model, range: Model, acyclic: true, inverse: has_part, cardinality: {subjects: 0..2}}
"""
LONG_AGO = 1_600_000_000


def page(name: str, *lines: str, prose: str = "") -> str:
    return "\n".join(["---", "type: Model", f"name: {name}", *lines, "---", prose, ""])


def write(folder: Path, name: str, text: str, *, time: int = LONG_AGO) -> None:
    path = folder / "wiki" / f"{name}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    os.utime(path, (time, time))


def both(folder: Path) -> tuple[Checked, int]:
    """A check without a cache, which one with it agrees with; and how many pages that had to read."""
    fresh, cached = check(folder / "ontology.yaml"), check(folder / "ontology.yaml", cache=folder / "cache.json")
    assert [str(f) for f in cached.findings] == [str(f) for f in fresh.findings]
    assert [f.edit for f in cached.findings] == [f.edit for f in fresh.findings]
    assert cached.files == fresh.files
    assert [p.id for p in cached.pages] == [p.id for p in fresh.pages]
    return fresh, cached.read


def project(folder: Path) -> Path:
    (folder / "ontology.yaml").write_text(ONTOLOGY)
    write(folder, "a", page("A", "size: big", prose="[[b]] and [c](c.md)"))
    write(folder, "b", page("B", "code: x", "part_of: a"))
    write(folder, "c", page("C", "code: x", "has_part: [a]"))
    return folder


def test_only_what_changed_is_read(tmp_path: Path) -> None:
    folder = project(tmp_path)
    assert both(folder)[1] == 3
    assert both(folder)[1] == 0
    write(folder, "b", page("B", "code: y"), time=LONG_AGO + 1)
    checked, read = both(folder)
    assert read == 1
    assert [f.code for f in checked.findings] == ["not-an-integer"]
    write(folder, "d", page("A"))
    assert both(folder)[1] == 1
    (folder / "wiki" / "c.md").unlink()
    checked, read = both(folder)
    assert read == 0
    assert [f.code for f in checked.findings] == ["not-an-integer", "dead-link", "duplicate-name"]


def test_a_page_that_changes_within_a_tick_of_the_clock_is_read_again(tmp_path: Path) -> None:
    folder = project(tmp_path)
    (folder / "wiki" / "a.md").write_text(page("A"))  # now
    assert both(folder)[1] == 3
    assert both(folder)[1] == 1


def test_a_line_that_was_cut_off_does_not_stay(tmp_path: Path) -> None:
    folder = project(tmp_path)
    both(folder)
    with (folder / "cache.json").open("ab") as cache:
        cache.write(b'[["b.md",[1,')
    assert both(folder)[1] == 3
    assert both(folder)[1] == 0


def test_another_ontology_has_all_pages_read_again(tmp_path: Path) -> None:
    folder = project(tmp_path)
    both(folder)
    (folder / "ontology.yaml").write_text(ONTOLOGY.replace("type: integer", "type: string"))
    assert both(folder)[1] == 3


def test_a_damaged_cache_is_as_good_as_none(tmp_path: Path) -> None:
    folder = project(tmp_path)
    both(folder)
    for damage in (b"", b"{}", b"[1, 2, 3]", b"\xff\x00", (folder / "cache.json").read_bytes()[:-40]):
        (folder / "cache.json").write_bytes(damage)
        assert both(folder)[1] == 3
    (folder / "cache.json").unlink()
    (folder / "cache.json").mkdir()
    assert both(folder)[1] == 3


PAGES = st.builds(
    lambda name, lines, prose: page(name, *lines, prose=prose),
    st.sampled_from(["A", "B", "C", "D"]),
    st.lists(
        st.sampled_from([
            "size: 1", "size: x", "code: x", "code: y", "part_of: a", "part_of: [b, c]", "part_of: d", "has_part: a",
            "has_part: [b, c, d]", "aliases: [Z]", "broken: [",
        ]),
        max_size=3, unique_by=lambda line: line.partition(":")[0],
    ),
    st.sampled_from(["", "[[a]]", "[x](b.md) [[zz]]"]),
)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(steps=st.lists(st.dictionaries(st.sampled_from("abcd"), st.none() | PAGES, max_size=3), min_size=1, max_size=4))
def test_whatever_is_edited_both_find_the_same(
    tmp_path_factory: pytest.TempPathFactory, steps: list[dict[str, str | None]]
) -> None:
    folder = project(tmp_path_factory.mktemp("wiki"))
    for time, step in enumerate(steps):
        for name, text in step.items():
            if text is None:
                (folder / "wiki" / f"{name}.md").unlink(missing_ok=True)
            else:
                write(folder, name, text, time=LONG_AGO + time)
        both(folder)
