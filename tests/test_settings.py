"""Settings: where they come from, and that no mistake in them is passed over."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from ontoloom.errors import SettingsError
from serving.settings import FILE, Settings, read_settings


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in os.environ:
        if name.upper().startswith("ONTOLOOM_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def write(text: str, folder: Path = Path()) -> None:
    (folder / FILE).write_text(text)


def test_options_go_before_the_environment_and_that_before_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    write("top_k = 3\nport = 3\ntoken_budget = 300")
    monkeypatch.setenv("ONTOLOOM_TOP_K", "2")
    monkeypatch.setenv("ONTOLOOM_PORT", "2")
    found = read_settings({"port": 1, "host": None})
    assert (found.port, found.top_k, found.token_budget, found.host) == (1, 2, 300, "127.0.0.1")


def test_the_file_is_that_of_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "there").mkdir()
    write("top_k = 3", tmp_path / "there")
    assert read_settings().top_k == 12
    assert read_settings({"project": tmp_path / "there"}).top_k == 3
    monkeypatch.setenv("ONTOLOOM_PROJECT", str(tmp_path / "there"))
    found = read_settings()
    assert (found.top_k, found.ontology) == (3, tmp_path / "there" / "ontology.yaml")


def test_paths_are_those_of_the_project(tmp_path: Path) -> None:
    found = read_settings({"project": tmp_path})
    assert found.store_location == str(tmp_path / ".ontoloom" / "graph")
    assert read_settings({"store": "neo4j://host:7687"}).store_location == "neo4j://host:7687"


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        read_settings().top_k = 1


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("EMBEDER", "x", "unknown environment variable ONTOLOOM_EMBEDER (did you mean 'ONTOLOOM_EMBEDDER'?)"),
        ("TOPK", "3", "unknown environment variable ONTOLOOM_TOPK (did you mean 'ONTOLOOM_TOP_K'?)"),
        ("top_k", "3", "unknown environment variable ONTOLOOM_top_k (did you mean 'ONTOLOOM_TOP_K'?)"),
        ("TOP_K", "0", "ONTOLOOM_TOP_K: Input should be greater than or equal to 1, not '0'"),
        ("BOUNDARIES", "of", "ONTOLOOM_BOUNDARIES: Input should be 'embedder', 'literal' or 'off', not 'of'"),
        ("POLICY", "{title", "ONTOLOOM_POLICY: not JSON, as a value with several parts must be"),
        ("POLICY", '{"a": ["lm"]}', "ONTOLOOM_POLICY (a.0): Input should be 'rules' or 'llm', not 'lm'"),
        (
            "ENGINE",
            "localhost:8",
            "ONTOLOOM_ENGINE: must be 'auto', 'none' or an address that begins with http:// or https://, "
            "not 'localhost:8'",
        ),
    ],
)
def test_a_mistyped_variable_is_refused(name: str, value: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"ONTOLOOM_{name}", value)
    with pytest.raises(SettingsError) as caught:
        read_settings()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("topk = 3", "ontoloom.toml: unknown setting 'topk' (did you mean 'top_k'?)"),
        ("project = '.'", "ontoloom.toml: unknown setting 'project'"),
        ("top_k = 'x'", "ontoloom.toml: top_k: Input should be a valid integer"),
        ("top_k = [\n", "ontoloom.toml: Invalid value (at end of document)"),
        ("[policy]\ntitle = 'llm'", "ontoloom.toml: policy (title): Input should be a valid list, not 'llm'"),
    ],
)
def test_a_mistake_in_the_file_is_refused(text: str, message: str) -> None:
    write(text)
    with pytest.raises(SettingsError) as caught:
        read_settings()
    assert str(caught.value).startswith(message)


def test_a_file_that_is_not_text_is_refused() -> None:
    Path(FILE).write_bytes(b"host = '\xff\xfe'")
    with pytest.raises(SettingsError, match=r"^ontoloom\.toml: .*utf-8"):
        read_settings()


def test_variables_of_the_tests_are_no_mistakes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONTOLOOM_DATA", "/somewhere")
    monkeypatch.setenv("ONTOLOOM_REQUIRE", "vllm")
    assert read_settings() == Settings(project=Path("."))


def test_the_cache_is_where_the_system_keeps_such_things(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert read_settings().cache == tmp_path / "ontoloom"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read_settings().cache == tmp_path / ".cache" / "ontoloom"


def test_every_setting_is_described() -> None:
    assert all(field.description for field in Settings.model_fields.values())
