from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from ontology.check import Checked, Folder, check
from ontoloom.progress import Progress

ROOT = Path(__file__).resolve().parent.parent

ONTOLOGY = """\
ontology: test
version: 1.0.0
types:
  Model: {description: A model.}
  Benchmark: {description: A test.}
relations:
  based_on: {domain: Model, range: Model}
  superior_to:
    domain: Model
    range: Model
    attributes: {benchmark: {type: reference, to: Benchmark, identifying: true}}
"""

LLAMA = "---\ntype: Model\nname: Llama 2 70B\naliases: [Llama-2]\n---\n"
MMLU = "---\ntype: Benchmark\nname: MMLU\n---\n"


def model(*lines: str, name: str = "Zephyr", prose: str = "") -> str:
    """A page of a model; the first of the given lines is line 4."""
    return "\n".join(["---", "type: Model", f"name: {name}", *lines, "---", prose, ""])


def checked(folder: Path, pages: Mapping[str, str | bytes], *, ontology: str = ONTOLOGY) -> Checked:
    (folder / "ontology.yaml").write_text(ontology)
    for name, text in pages.items():
        path = folder / "wiki" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return check(folder / "ontology.yaml")


def found(folder: Path, pages: Mapping[str, str | bytes]) -> list[tuple[str, int, int, str, str]]:
    findings = checked(folder, pages).findings
    return [(Path(f.file).name, f.line, f.column, f.code, f.fix) for f in findings]


def test_the_example_holds() -> None:
    result = check(ROOT / "examples" / "ai-infra" / "ontology.yaml")
    assert [str(finding) for finding in result.findings] == []
    assert result.ontology is not None
    assert len(result.pages) >= 20


def test_pages_in_folders_are_read_in_order(tmp_path: Path) -> None:
    result = checked(tmp_path, {"b.md": MMLU, "a/z.md": LLAMA, "c.md": model("based_on: z"), "notes.txt": "no page"})
    assert result.findings == ()
    assert result.ok
    assert [page.id for page in result.pages] == ["z", "b", "c"]
    assert result.files["z"] == str(tmp_path / "wiki" / "a" / "z.md")


def test_an_ontology_without_pages_is_complete(tmp_path: Path) -> None:
    assert checked(tmp_path, {}).ok


def test_hidden_files_are_no_pages(tmp_path: Path) -> None:
    result = checked(tmp_path, {".obsidian/x.md": "no page", ".draft.md": "no page", "a.md": LLAMA})
    assert [page.id for page in result.pages] == ["a"]
    assert result.ok


CASES: dict[str, tuple[list[str], str, list[tuple[int, int, str, str]]]] = {
    "no page at all": (["based_on: bert"], "", [(4, 11, "dangling-reference", "known: llama-2-70b, mmlu, x")]),
    "nearest page": (["based_on: lama-2-70c"], "", [(4, 11, "dangling-reference", "did you mean 'llama-2-70b'?")]),
    "name for id": (["based_on: LLAMA 2 70b"], "", [(4, 11, "dangling-reference", "write llama-2-70b")]),
    "alias for id": (["based_on: [Llama-2]"], "", [(4, 12, "dangling-reference", "write llama-2-70b")]),
    "file for id": (["based_on: llama-2-70b.md"], "", [(4, 11, "dangling-reference", "write llama-2-70b")]),
    "in an attribute": (
        ["superior_to: {target: llama-2-70b, benchmark: mmul}"], "",
        [(4, 47, "dangling-reference", "did you mean 'mmlu'?")],
    ),
    "wrong end": (["based_on: mmlu"], "", [(4, 11, "wrong-range", "name a page of type Model")]),
    "wrong end in an attribute": (
        ["superior_to:", "  - {target: llama-2-70b, benchmark: llama-2-70b}"], "",
        [(5, 38, "wrong-range", "name a page of type Benchmark")],
    ),
    "link to a page": ([], "See [L](llama-2.md).", [(5, 9, "dead-link", "write llama-2-70b.md")]),
    "wiki link": ([], "See [[llama-2-7b|L]] and [[mmlu#top]].", [(5, 7, "dead-link", "did you mean 'llama-2-70b'?")]),
    "links that lead somewhere": (
        [], "[a](mmlu.md#x) [b](https://x.org/y.md) [c](#top) [d](../ontology.yaml) [e](<mmlu.md> \"t\") [[mmlu]]", [],
    ),
    "links in code": ([], "`[a](b.md)` ``[[c]]``\n```\n[d](e.md)\n```\n~~~\n[[f]]\n", []),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "prose", "expected"), CASES.values(), ids=CASES.keys())
def test_pages_are_checked_against_each_other(
    tmp_path: Path, lines: list[str], prose: str, expected: list[tuple[int, int, str, str]]
) -> None:
    pages = {"x.md": model(*lines, prose=prose), "llama-2-70b.md": LLAMA, "mmlu.md": MMLU}
    assert found(tmp_path, pages) == [("x.md", *row) for row in expected]


def test_a_dead_link_is_a_warning(tmp_path: Path) -> None:
    result = checked(tmp_path, {"x.md": model(prose="[a](b.md)")})
    assert [finding.severity for finding in result.findings] == ["warning"]
    assert result.ok


@pytest.mark.parametrize("other", ["name: zephyr", "name: Z\naliases: [Q, ZE-PHYR]"])
def test_two_pages_with_one_name_are_an_error(tmp_path: Path, other: str) -> None:
    text = f"---\ntype: Model\n{other}\n---\n"
    line, column = (3, 7) if "aliases" not in other else (4, 14)
    expected = ("b.md", line, column, "duplicate-name", "merge the pages, or tell the names apart")
    assert found(tmp_path, {"a.md": model(), "b.md": text}) == [expected]


def test_two_files_with_one_id_are_an_error(tmp_path: Path) -> None:
    pages = {"a/x.md": model(), "b/X.md": LLAMA}
    assert found(tmp_path, pages) == [("X.md", 1, 1, "duplicate-page", "rename the file")]


def test_a_page_that_does_not_hold_can_still_be_named(tmp_path: Path) -> None:
    pages = {"a.md": model("based_on: b"), "b.md": "---\ntype: Modell\nname: B\n---\n"}
    assert found(tmp_path, pages) == [("b.md", 2, 7, "unknown-type", "did you mean 'Model'?")]


def test_every_page_reports_its_faults(tmp_path: Path) -> None:
    pages: dict[str, str | bytes] = {
        "a.md": b"",
        "b.md": b"---\ntype: Model\nname: caf\xe9\n---\n",
        "c.md": "no front matter",
        "d.md": model("based_on: nowhere", "context: 1"),
        "e.md": b"\x00\x01\xff",
    }
    assert [row[:4] for row in found(tmp_path, pages)] == [
        ("a.md", 1, 1, "empty-file"),
        ("b.md", 3, 10, "not-utf-8"),
        ("c.md", 1, 1, "no-front-matter"),
        ("d.md", 4, 11, "dangling-reference"),
        ("d.md", 5, 1, "unknown-attribute"),
        ("e.md", 1, 3, "not-utf-8"),
    ]


def test_a_bad_ontology_is_reported_and_no_page_read(tmp_path: Path) -> None:
    result = checked(tmp_path, {"a.md": "nonsense"}, ontology="ontology: x\n")
    assert result.ontology is None
    assert {finding.code for finding in result.findings} == {"missing-key"}
    assert not result.ok


def test_an_absent_ontology_is_a_finding(tmp_path: Path) -> None:
    result = check(tmp_path / "ontology.yaml")
    assert [f.code for f in result.findings] == ["unreadable"]


def test_what_is_no_file_is_no_page(tmp_path: Path) -> None:
    (tmp_path / "folder.md").mkdir()
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "loop.md").symlink_to(tmp_path / "loop.md")
    (tmp_path / "real.MD").write_text("x")
    assert Folder(str(tmp_path)).files == {"real": str(tmp_path / "real.MD")}


def test_what_is_known_of_quoted_words_says_nothing_of_plain_ones(tmp_path: Path) -> None:
    ontology = ONTOLOGY.replace("{description: A model.}", "{attributes: {code: {type: string}}}")
    pages = {"a.md": model('code: "null"'), "b.md": model("code: null  # with what is not plain", name="B")}
    findings = checked(tmp_path, pages, ontology=ontology).findings
    assert [(Path(f.file).name, f.line, f.code) for f in findings] == [("b.md", 4, "null-value")]


def test_a_hub_with_too_many_links_names_a_few_other_pages(tmp_path: Path) -> None:
    limited = "{domain: Model, range: Model, cardinality: {subjects: 0..1}}"
    ontology = ONTOLOGY.replace("{domain: Model, range: Model}", limited)
    pages = {f"p{i}.md": model("based_on: hub", name=f"P{i}") for i in range(8)}
    findings = checked(tmp_path, pages | {"hub.md": model(name="Hub")}, ontology=ontology).findings
    assert len(findings) == 7
    assert all(f.code == "too-many-values" and f.message.count(".md") == 3 for f in findings)


def test_progress_goes_from_none_to_all(tmp_path: Path) -> None:
    (tmp_path / "wiki").mkdir()
    for name in "abc":
        (tmp_path / "wiki" / f"{name}.md").write_text(model(name=name))
    (tmp_path / "ontology.yaml").write_text(ONTOLOGY)
    steps: list[Progress] = []
    check(tmp_path / "ontology.yaml", on_progress=steps.append)
    assert [(p.done, p.total) for p in steps] == [(0, 3), (3, 3)]


def test_the_nearest_of_many_pages_is_found(tmp_path: Path) -> None:
    pages = {f"page-{i:03}.md": model(name=f"N{i}") for i in range(200)}
    pages["start.md"] = model("based_on: pagee-142", name="Start")
    assert found(tmp_path, pages) == [("start.md", 4, 11, "dangling-reference", "did you mean 'page-142'?")]
