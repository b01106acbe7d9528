"""Settings: ``ontoloom.toml`` in the project folder, ``ONTOLOOM_*`` variables over it, command-line options over both.

Read in ``serving.wiring`` and the command line only; everything below is given values.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict
from pydantic_settings import SettingsError as SourceError

from ontoloom.errors import SettingsError

FILE = "ontoloom.toml"
PREFIX = "ONTOLOOM_"
SECRETS = ("ONTOLOOM_NEO4J_PASSWORD",)
"""Variables that are no settings, for they must not stand in a file: what needs them reads them itself."""
TEST_VARIABLES = ("ONTOLOOM_DATA", "ONTOLOOM_REQUIRE", "ONTOLOOM_SOAK")
"""Variables that tests and benchmarks read; they are no settings, and no mistakes either."""

Reader = Literal["rules", "llm"]


def default_policy() -> dict[str, list[Reader]]:
    """The LLM where it pays: a title and an abstract say in few words what the body takes long to say."""
    return {"title": ["rules", "llm"], "abstract": ["rules", "llm"], "*": ["rules"]}


def default_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ontoloom"


class Settings(BaseSettings):
    """All that can be set. Paths are relative to the project folder."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid", env_prefix=PREFIX)

    project: Path = Field(default=Path(), description="Folder that holds ontology.yaml.")
    store: str = Field(
        default=".ontoloom/graph", description="The graph store: a path, or an address such as neo4j://host."
    )
    derived: Path = Field(
        default=Path(".ontoloom"), description="Folder of indexes and tables, all of which can be rebuilt."
    )
    record: Path = Field(
        default=Path(".ontoloom/answers.sqlite"), description="What the LLM answered; it is never asked twice."
    )
    cache: Path = Field(default_factory=default_cache, description="Folder of vLLM and its models, for all projects.")
    engine: str = Field(
        default="auto", description="'auto' (the one that `ontoloom engine up` started), 'none', or an address."
    )
    model: str = Field(default="smollm2-135m-instruct", description="Name under which the engine serves the model.")
    tokenizer: str = Field(default="default", description="Folder of the model's tokenizer.json; 'none' to do without.")
    concurrency: int = Field(default=16, ge=1, le=1024, description="Requests that run in the engine side by side.")
    embedder: str = Field(default="minilm", description="Name of an installed embedder.")
    boundaries: Literal["embedder", "literal", "off"] = Field(
        default="embedder", description="What becomes of BOS and EOS in the text that is embedded."
    )
    policy: dict[str, list[Reader]] = Field(
        default_factory=default_policy,
        description="Which readers read which section; '*' is every other section.",
    )
    top_k: int = Field(default=12, ge=1, le=1000, description="Triples that a question is answered from.")
    token_budget: int = Field(
        default=600, ge=100, description="Tokens of evidence that the engine is given with a question."
    )
    host: str = Field(default="127.0.0.1", description="Address that `serve` listens on.")
    port: int = Field(default=8000, ge=0, le=65535, description="Port that `serve` listens on; 0 for a free one.")

    @field_validator("engine")
    @classmethod
    def _engine_is_known(cls, value: str) -> str:
        if value not in ("auto", "none") and not value.startswith(("http://", "https://")):
            raise ValueError("must be 'auto', 'none' or an address that begins with http:// or https://")
        return value.rstrip("/")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  # the base class names it
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003  # the base class names it
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings, env_settings, _FileSettings(settings_cls, init_settings))

    def within(self, path: str | Path) -> Path:
        """A path that is relative to the project folder."""
        return self.project / path

    @property
    def ontology(self) -> Path:
        return self.within("ontology.yaml")

    @property
    def rules(self) -> Path:
        return self.within("rules.yaml")

    @property
    def views(self) -> Path:
        return self.within("views")

    @property
    def store_location(self) -> str:
        """An address as it is, a path within the project folder."""
        return self.store if "://" in self.store else str(self.within(self.store))


def read_settings(options: Mapping[str, Any] | None = None) -> Settings:
    """Settings from the file, the environment and ``options``; None among the options stands for *not given*.

    Raises SettingsError for an unknown key or variable, with the nearest known one, and for a value that won't do.
    """
    given = {name: value for name, value in (options or {}).items() if value is not None}
    _refuse_unknown_variables(os.environ)
    given.setdefault("project", Path(os.environ.get(PREFIX + "PROJECT") or "."))
    try:
        return Settings(**given)
    except ValidationError as error:
        raise SettingsError(_first_fault(error, given)) from None
    except SourceError as error:
        name = str(error).split('"')[1]
        raise SettingsError(f"{PREFIX}{name.upper()}: not JSON, as a value with several parts must be") from None


class _FileSettings(PydanticBaseSettingsSource):
    """``ontoloom.toml`` of the project folder that the options name."""

    def __init__(self, settings_cls: type[BaseSettings], options: PydanticBaseSettingsSource) -> None:
        super().__init__(settings_cls)
        self._options = options

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:  # noqa: ARG002  # the base class names it
        return self().get(field_name), field_name, False

    def __call__(self) -> dict[str, Any]:
        path = Path(self._options().get("project", ".")) / FILE
        try:
            found = tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
            raise SettingsError(f"{path}: {error}") from None
        _refuse_unknown_keys(path, found)
        return found


def _refuse_unknown_keys(path: Path, found: Mapping[str, Any]) -> None:
    known = [name for name in Settings.model_fields if name != "project"]
    for key in found:
        if key not in known:
            raise SettingsError(f"{path}: unknown setting '{key}'", hint=_nearest(key, known))


def _refuse_unknown_variables(environment: Mapping[str, str]) -> None:
    known = [PREFIX + name.upper() for name in Settings.model_fields]
    for name in environment:
        if name.upper().startswith(PREFIX) and name not in (*known, *SECRETS, *TEST_VARIABLES):
            raise SettingsError(f"unknown environment variable {name}", hint=_nearest(name.upper(), known))


def _nearest(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f"did you mean '{near[0]}'?" if near else f"known: {', '.join(known)}"


def _first_fault(error: ValidationError, given: Mapping[str, Any]) -> str:
    """Where the value came from, and what is wrong with it."""
    fault = error.errors()[0]
    name = str(fault["loc"][0])
    variable = PREFIX + name.upper()
    where = f"option '{name}'" if name in given else variable if variable in os.environ else f"{FILE}: {name}"
    inner = ".".join(str(part) for part in fault["loc"][1:])
    message = fault["msg"].removeprefix("Value error, ")
    return f"{where}{f' ({inner})' if inner else ''}: {message}, not {fault['input']!r}"
