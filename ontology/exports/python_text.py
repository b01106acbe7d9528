"""What every generated module of Pydantic models begins with, and texts of ontologies as Python writes them."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable

PREAMBLE = '''\
from __future__ import annotations

import datetime
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

T = TypeVar("T")
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Url = Annotated[Text, Field(pattern=r"^[Hh][Tt][Tt][Pp][Ss]?://\\S+$")]
Integer = Annotated[int, Field(strict=True, ge=-(2**63) + 1, le=2**63 - 1)]
LimitedInteger = Annotated[int, Field(strict=True)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Boolean = Annotated[bool, Field(strict=True)]
PageId = Text
"""The id of a page: the name of its file without ``.md``."""


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


Many = Annotated[list[T], BeforeValidator(_as_list)]
"""Several values; one may stand alone."""


class Record(BaseModel):
    """What belongs together. Keys that the ontology does not have are refused."""

    model_config = ConfigDict(
        extra="forbid",
        use_attribute_docstrings=True,
        validate_assignment=True,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )


class Edge(Record):
    """What a relation leads to, with its attributes; the id of a page may stand alone."""

    target: PageId

    @model_validator(mode="before")
    @classmethod
    def _from_id(cls, value: Any) -> Any:
        return {"target": value} if isinstance(value, str) else value


class Page(Record):
    """What every page has, whatever its type."""

    type: str
    name: Text
    """What it is called."""

    aliases: Many[Text] | None = None
    """Other names of the same thing."""

    source: Many[Url] | None = None
    """Where what is said comes from."""

    description: Text | None = None
'''
IMPORTS = {"AwareDatetime": "    AwareDatetime,\n", "Literal[": "Literal, ", "datetime.date": "import datetime\n"}
"""What is imported only where it is used."""
DEFINED = (
    "Any", "Annotated", "AnyPage", "AwareDatetime", "BaseModel", "BeforeValidator", "Boolean", "ConfigDict", "Edge",
    "Field", "Integer", "LimitedInteger", "Literal", "Many", "Number", "Page", "PageId", "Record", "StringConstraints",
    "T", "Text", "TypeVar", "Url", "annotations", "bool", "classmethod", "datetime", "float", "int", "isinstance",
    "list", "model_validator", "object", "str",
)  # fmt: skip
"""Names that the module uses itself."""
TAKEN = (
    "construct", "copy", "dict", "from_orm", "json", "parse_file", "parse_obj", "parse_raw", "schema", "schema_json",
    "update_forward_refs", "validate",
)  # fmt: skip
"""Methods of every Pydantic model; those that begin with ``model_`` are further ones."""
WIDTH = 88


def literal(text: str) -> str:
    """A Python string, raw where that reads better."""
    plain = text.isprintable() and '"' not in text and not text.endswith("\\")
    return f'r"{text}"' if "\\" in text and plain else json.dumps(text, ensure_ascii=not text.isprintable())


def docstring(lines: Iterable[str], indent: int) -> str:
    """Lines as a docstring; its signs are taken as they stand."""
    before = " " * indent
    wrapped = [
        part
        for line in lines
        if line
        for part in textwrap.wrap(
            line,
            WIDTH - indent - 6,
            break_long_words=False,
            break_on_hyphens=False,
            subsequent_indent="  " * line.startswith("- "),
        )
    ]
    text = f"\n{before}".join(wrapped).replace("\\", "\\\\")
    if text.endswith('"') or '"""' in text:
        text = text.replace('"', r"\"")
    return f'{before}"""{text}"""'


def camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))
