from __future__ import annotations

import contextlib
import re
from pathlib import Path

import pytest
import sqlalchemy as sa
from conftest import ROOT
from notebook_cells import read_cells, run_cells
from select_service import make_project
from sqlalchemy.dialects import registry

from ontoloom.errors import QueryError
from serving.settings import Settings, read_settings
from serving.wiring import run_check, run_select

TEXT = (ROOT / "docs" / "analysts.md").read_text("utf-8")
registry.register("ontoloom", "serving.sqlalchemy_dialect", "OntoloomDialect")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The example with the view of the page."""
    settings = make_project(tmp_path_factory.mktemp("docs") / "tour")
    for name, text in re.findall(r"```sql view=(\w+)\n(.*?)\n```", TEXT, re.S):
        (settings.views / f"{name}.sql").write_text(text)
    return settings


def test_all_views_hold(project: Settings) -> None:
    assert run_check(project).findings == ()
    assert run_check(project).views == 3


@pytest.mark.parametrize(("sql", "said"), re.findall(r"```sql\n(.*?)\n```(?:\n```text\n(.*?)\n```)?", TEXT, re.S))
def test_statements_say_what_the_page_says(project: Settings, sql: str, said: str) -> None:
    if said:
        with pytest.raises(QueryError) as caught:
            run_select(project, sql, max_rows=10, timeout=30)
        assert str(caught.value) == said
    else:
        assert run_select(project, sql, max_rows=10, timeout=30).selection.rows.num_rows > 0


@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)\n```", TEXT, re.S))
def test_python_runs(project: Settings, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    with contextlib.chdir(project.project):
        exec(compile(code, "analysts.md", "exec"), {})
    assert "Zephyr 7B beta" in capsys.readouterr().out


def test_commands_are_those_that_there_are() -> None:
    from serving.cli import app

    known = {command.callback.__name__ for command in app.registered_commands if command.callback}
    written = re.findall(r"^ontoloom (\w+) (.*)$", TEXT, re.M)
    assert {name for name, _ in written} == {"select", "publish", "cypher"} <= known


def test_the_notebook_shows_what_it_gives(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "tour").project
    cells = read_cells(ROOT / "notebooks" / "select.ipynb")
    assert len(cells) >= 4
    with contextlib.chdir(folder):
        assert read_settings({"project": folder}).views.is_dir()
        found = run_cells([source for source, _ in cells])
    assert found == [output for _, output in cells]
    assert sa.__version__.startswith("2.")
