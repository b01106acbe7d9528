"""What starts quickly loads no more than it needs, and a foreign package never passes for one of ours."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ontoloom.errors import SettingsError
from ontoloom.plugins import load_plugin, plugin_names
from ontoloom.siblings import SIBLINGS, IntruderError, check_siblings

ROOT = Path(__file__).resolve().parent.parent
HEAVY = {"torch", "transformers", "sentence_transformers", "tokenizers", "spacy", "faiss", "vllm", "ray"}
SERVING = {"httpx", "fastapi", "uvicorn", "starlette"}
GRAPH = {"ladybug", "duckdb", "sqlglot", "pyarrow"}

RUN = """
import json, sys
from serving.cli import main
sys.argv = ["ontoloom", *json.loads(sys.argv[1])]
try:
    main()
except SystemExit as ended:
    code = ended.code
sys.stderr.write("\\n" + json.dumps([code, sorted({name.partition(".")[0] for name in sys.modules})]))
"""


def modules_after(arguments: list[str], folder: Path, *, code: int = 0) -> set[str]:
    """The top-level modules that are loaded when a command has run, which must end with that exit status."""
    command = [sys.executable, "-c", RUN, json.dumps(arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    ended, modules = json.loads(done.stderr.splitlines()[-1])
    assert (ended or 0) == code, done.stderr
    return set(modules)


def test_help_loads_nothing_heavy(tmp_path: Path) -> None:
    assert not modules_after(["--help"], tmp_path) & (HEAVY | SERVING | GRAPH | {"pydantic_settings", "numpy"})


def test_check_loads_no_database_and_no_model(tmp_path: Path) -> None:
    modules_after(["init", "."], tmp_path)
    assert not modules_after(["check"], tmp_path) & (HEAVY | SERVING | GRAPH)
    views_too = modules_after(["check", "--no-cache"], ROOT / "examples" / "ai-infra")
    assert not views_too & (HEAVY | SERVING | {"ladybug"})


def test_init_loads_nothing_heavy(tmp_path: Path) -> None:
    assert not modules_after(["init", "x"], tmp_path) & (HEAVY | SERVING | GRAPH)


def test_engine_status_loads_nothing_heavy(tmp_path: Path) -> None:
    assert not modules_after(["engine", "status"], tmp_path, code=1) & (HEAVY | SERVING | GRAPH)


def test_ingesting_by_rules_and_selecting_load_no_model(tmp_path: Path) -> None:
    modules_after(["init", "."], tmp_path)
    assert not modules_after(["ingest", "--no-llm", "--no-index"], tmp_path) & (HEAVY | SERVING)
    assert not modules_after(["select", "SELECT name FROM Person"], tmp_path) & (HEAVY | SERVING)
    assert not modules_after(["status"], tmp_path) & (HEAVY | SERVING)


@pytest.mark.parametrize("package", ["ontoloom", *SIBLINGS])
def test_importing_a_package_loads_no_model(package: str) -> None:
    code = f"import sys, {package}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & HEAVY


def import_with(folder: Path) -> str:
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); import ontoloom"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    return done.stderr.strip().splitlines()[-1] if done.returncode else ""


@pytest.mark.parametrize("name", SIBLINGS)
@pytest.mark.parametrize("kind", ["module", "package"])
def test_an_intruder_is_named_in_one_line(name: str, kind: str, tmp_path: Path) -> None:
    intruder = tmp_path / f"{name}.py" if kind == "module" else tmp_path / name / "__init__.py"
    intruder.parent.mkdir(exist_ok=True)
    intruder.touch()
    assert import_with(tmp_path) == (
        f"ontoloom.siblings.IntruderError: Python finds {intruder} in place of ontoloom's own package '{name}'; "
        "rename it, uninstall it, or take its folder off PYTHONPATH"
    )


def test_a_folder_that_only_has_the_name_is_no_intruder(tmp_path: Path) -> None:
    (tmp_path / "graph").mkdir()
    assert import_with(tmp_path) == ""


def test_a_missing_package_is_named(tmp_path: Path) -> None:
    with pytest.raises(IntruderError, match="'no_such_package' is missing"):
        check_siblings(ROOT, ["no_such_package"])


def test_parts_are_found_by_their_entry_points() -> None:
    assert "ladybug" in plugin_names("stores")
    assert load_plugin("embedders", "minilm").__name__ == "MiniLM"
    assert load_plugin("engines", "http").__name__ == "HttpEngine"


def test_an_unknown_plugin_is_an_error_that_names_the_nearest() -> None:
    with pytest.raises(
        SettingsError, match=r"no plug-in 'ladybird' among ontoloom\.stores \(did you mean 'ladybug'\?\)"
    ):
        load_plugin("stores", "ladybird")
    with pytest.raises(SettingsError, match=r"installed: .*minilm"):
        load_plugin("embedders", "zzz")
