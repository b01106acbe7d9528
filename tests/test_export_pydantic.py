from __future__ import annotations

import subprocess
import sys
import types
import warnings
from pathlib import Path
from typing import Any

import pytest
from export_parts import EXAMPLES, ROOT, assert_golden, compiled, example, ontologies
from hypothesis import given, settings
from pydantic import BaseModel, TypeAdapter, ValidationError

from ontology.exports.pydantic import to_pydantic
from ontology.schema import Ontology

BOOK = {"type": "Book", "name": "Ulysses", "isbn": "978-0141182803", "extent": {"pages": 700}}
READER = {"type": "Reader", "name": "Bo"}
GOOD: list[dict[str, Any]] = [
    {**BOOK, "subjects": ["war", "young love"], "language": "en", "rating": 5, "created": "1922-02-02"},
    {**BOOK, "class": "x", "id": 2, "price": 12.5, "shelf_mark": "QA-76", "homepage": "https://example.org"},
    {**BOOK, "isbn": "979-0141182803", "lent_at": "2024-05-01T12:00:00+02:00", "edition": -(2**62)},
    {**BOOK, "lent_to": {"target": "bo", "since": "2024-05-01", "notes": ["a", "b"], "condition": "good"}},
    {**BOOK, "made_by": "joyce", "similar_to": ["dubliners"], "aliases": ["U."], "source": "http://example.org/x"},
    {**READER, "borrows": [{"target": "u", "since": "2024-05-01"}], "made": "u", "description": "A reader."},
    {"type": "Film", "name": "M", "created": "1931-05-11", "extent": {"pages": 1, "bound": True}},
]
BAD: list[dict[str, Any]] = [
    {**BOOK, "name": "ulysses"},  # the pattern of Work's name
    {**BOOK, "name": "  "},
    {**BOOK, "isbn": "978-01411828"},
    {**BOOK, "isbn": "978-01411828٠٣"},  # digits, but none of RE2's
    {**BOOK, "isbn": "x978-0141182803"},
    {**BOOK, "extent": {}},
    {**BOOK, "extent": {"pages": 0}},
    {**BOOK, "extent": {"pages": True}},
    {**BOOK, "extent": {"pages": 7, "height": 7}},
    {**BOOK, "isbnn": "x"},
    {**BOOK, "rating": 5.1},
    {**BOOK, "rating": float("nan")},
    {**BOOK, "rating": "5"},
    {**BOOK, "language": ["EN"]},
    {**BOOK, "language": []},
    {**BOOK, "subjects": ["War"]},
    {**BOOK, "subjects": ["a", "b", "c", "d"]},
    {**BOOK, "edition": 2**63},
    {**BOOK, "price": -1},
    {**BOOK, "homepage": "example.org"},
    {**READER, "card": 0},
    {**READER, "card": 2**63},
    {**BOOK, "lent_at": "2024-05-01T12:00:00"},
    {**BOOK, "lent_to": "bo"},  # since is required
    {**BOOK, "lent_to": {"since": "2024-05-01"}},
    {**BOOK, "lent_to": {"target": "bo", "since": "2024-05-01", "notes": ["a", "b", "c"]}},
    {**READER, "borrows": [{"target": str(i), "since": "2024-05-01"} for i in range(6)]},
    {"type": "Film", "name": "M", "extent": {"pages": 1}},
    {"type": "Priced", "name": "Nothing is of an abstract type"},
    {"type": "Work", "name": "W"},
    {"name": "Bo"},
]


def loaded(ontology: Ontology) -> types.ModuleType:
    """The generated module; a warning while it is made is an error."""
    module = types.ModuleType("generated")
    sys.modules["generated"] = module
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(to_pydantic(ontology), module.__dict__)  # the code is what the test is about
    return module


def pages_of(name: str) -> TypeAdapter[Any]:
    return TypeAdapter(vars(loaded(example(name)))["AnyPage"])


@pytest.mark.parametrize("name", EXAMPLES)
def test_golden(name: str) -> None:
    assert_golden(f"{name}.py.txt", to_pydantic(example(name)))


def test_good_pages_are_read_and_written_again() -> None:
    pages = pages_of("library")
    for given_page in GOOD:
        page = pages.validate_python(given_page)
        assert type(page).__name__ == given_page["type"]
        written = pages.dump_python(page, mode="json", exclude_none=True)
        assert given_page.keys() == written.keys()
        assert pages.validate_python(written) == page


@pytest.mark.parametrize("page", BAD, ids=range(len(BAD)))
def test_bad_pages_are_refused(page: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        pages_of("library").validate_python(page)


def test_models_follow_inheritance() -> None:
    module = loaded(example("library"))
    assert issubclass(module.Book, module.Work)
    assert issubclass(module.Book, module.Priced)
    assert not issubclass(module.Reader, module.Work)
    page = module.Book.model_validate({**BOOK, "class": "x"})
    with pytest.warns(DeprecationWarning, match="since 1.5.0; use publisher"):
        assert page.class_ == "x"
    page.publisher = "Penguin"
    with pytest.raises(ValidationError):
        page.isbn = "1"


def test_records_grow_and_narrow_below() -> None:
    ontology = compiled("""types:
  A:
    attributes: {r: {type: record, fields: {x: {type: integer}}}}
  B:
    is_a: A
    attributes: {r: {type: record, fields: {x: {type: integer, required: true}, y: {type: integer}}}}
""")
    module = loaded(ontology)
    assert module.B(name="b", r={"x": 1, "y": 2}).r.y == 2
    assert module.A(name="a").r is None
    for wrong in ({"r": {"y": 2}}, {}):
        with pytest.raises(ValidationError):
            module.B(name="b", **wrong)


def test_mixins_in_any_order_have_a_linear_one() -> None:
    abstract = "{abstract: true}"
    ontology = compiled(f"""types:
  M: {abstract}
  N: {abstract}
  A: {{mixins: [M, N]}}
  B: {{is_a: A, mixins: [N, M]}}
  C: {{mixins: [N, M]}}
""")
    assert loaded(ontology).B(name="b").type == "B"


@settings(max_examples=40, deadline=None)
@given(ontologies())
def test_whatever_the_names_the_module_can_be_imported(ontology: Ontology) -> None:
    module = vars(loaded(ontology))
    models = [one for one in module.values() if isinstance(one, type) and issubclass(one, BaseModel)]
    tagged = [
        one.model_fields["type"].default for one in models if one.__name__ != "Page" and "name" in one.model_fields
    ]
    assert set(tagged) == set(ontology.types)


def test_ruff_and_mypy_find_nothing(tmp_path: Path) -> None:
    for name in EXAMPLES:
        (tmp_path / f"{name.replace('-', '_')}.py").write_text(to_pydantic(example(name)), encoding="utf-8")
    binaries = Path(sys.executable).parent
    config = ROOT / "pyproject.toml"
    for command in (
        ["ruff", "check", "--isolated", "--no-cache", "."],
        ["ruff", "check", "--config", str(config), "--no-cache", "."],
        ["ruff", "format", "--isolated", "--no-cache", "--check", "."],
        ["mypy", "--strict", f"--cache-dir={tmp_path / 'cache'}", "."],
    ):
        done = subprocess.run([binaries / command[0], *command[1:]], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout
