"""Saved views: SELECT statements in files, ``views/NAME.sql`` beside the ontology, with a description and parameters.

::

    -- Models that were trained with a method and score well.
    -- param method: Model.training_method = 'DPO'
    -- param least: number? = NULL
    SELECT m.name, e.score FROM Model m JOIN evaluated_on e ON e.subject = m.name
    WHERE m.training_method = $method AND ($least IS NULL OR e.score >= $least)

A parameter's type is ``string``, ``integer``, ``number``, ``boolean``, ``date``, or that of an attribute,
``Type.attribute``; with ``?`` it may be NULL. One without a default must be given by whoever reads the view.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from graph.bind import Scalar
from graph.functions import TABLE_FUNCTIONS
from graph.scopes import fold
from graph.views import VIEWS
from ontology.findings import Finding, did_you_mean, shown
from ontology.schema import Attribute, Ontology

SUFFIX = ".sql"
TYPES = ("string", "integer", "number", "boolean", "date")
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
COMMENT = re.compile(r"--[ \t]?(.*)")
PARAMETER = re.compile(
    r"--[ \t]*param[ \t]+(?P<name>[A-Za-z]\w*)[ \t]*:[ \t]*(?P<type>\w+(?:\.\w+)*)(?P<optional>\?)?"
    r"[ \t]*(?:=[ \t]*(?P<default>.*?))?[ \t]*"
)
LITERAL = re.compile(r"'(?P<text>(?:[^']|'')*)'|(?P<word>true|false|null)|(?P<number>-?\d+(?:\.\d+)?)", re.IGNORECASE)
RESERVED = frozenset(("unnest", "information_schema", *TABLE_FUNCTIONS, *(t.name for t in VIEWS)))


@dataclass(frozen=True, slots=True)
class ViewParameter:
    """A parameter of a view. ``attribute`` is the one whose type it has, ``required``: it has no default."""

    name: str
    type: str
    attribute: Attribute | None = None
    optional: bool = False
    required: bool = True
    default: Scalar = None
    line: int = 0

    @property
    def spelled(self) -> str:
        written = f"{self.name}: {self.type}{'?' * self.optional}"
        return written if self.required else f"{written} = {spell(self.default)}"


@dataclass(frozen=True, slots=True)
class View:
    """A saved view. ``sql`` is the text of its file; ``fault`` says in one line why it cannot be used, if so."""

    name: str
    file: str
    sql: str
    description: str = ""
    parameters: tuple[ViewParameter, ...] = ()
    fault: str = ""


Views: TypeAlias = Mapping[str, View]
"""Views by folded name."""
NO_VIEWS: Views = MappingProxyType({})


class BadValueError(ValueError):
    """A value that a parameter cannot have; the message says what would be right."""


def read_views(folder: Path, ontology: Ontology) -> tuple[dict[str, View], list[Finding]]:
    """The views of a folder, none where there is no such folder, and what is wrong with their names and headers."""
    views: dict[str, View] = {}
    findings: list[Finding] = []
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        view, found = read_view(path, ontology)
        other = views.get(fold(view.name))
        if other is not None:
            found = [Finding(str(path), 1, 1, "view-name", f"{other.file} has the same name", "rename one of them")]
        first = next(iter(found), None)
        views[fold(view.name)] = view if first is None else replace(view, fault=str(first))
        findings += found
    return views, findings


def read_view(path: Path, ontology: Ontology) -> tuple[View, list[Finding]]:
    """One view with its description and parameters."""
    name, file = path.name.removesuffix(SUFFIX), str(path)
    findings = list(check_name(name, file, ontology))
    try:
        sql = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        return View(name, file, ""), [
            *findings,
            Finding(file, 1, 1, "unreadable", f"the view cannot be read: {message}"),
        ]
    description: list[str] = []
    parameters: dict[str, ViewParameter] = {}
    for number, line in enumerate(header(sql), start=1):
        words = line.removeprefix("--").split()
        if words[:1] not in (["param"], ["param:"]):
            if parameters:
                message = "behind a view's first parameter stand only parameters"
                findings.append(Finding(file, number, 1, "view-header", message, "-- param name: type = default"))
            match = COMMENT.fullmatch(line)
            description += [match[1].strip()] if match else []
            continue
        parameter, fault = read_parameter(line, number, file, ontology)
        if parameter is not None and parameter.name in parameters:
            fault = Finding(file, number, 1, "view-parameter", f"there are two parameters '{parameter.name}'")
        findings += [fault] if fault else []
        if parameter is not None:
            parameters[parameter.name] = parameter
    return View(name, file, sql, " ".join(description).strip(), tuple(parameters.values())), findings


def header(sql: str) -> Iterator[str]:
    """The lines of comment that a file begins with."""
    for line in sql.splitlines():
        if not line.startswith("--"):
            return
        yield line


def check_name(name: str, file: str, ontology: Ontology) -> Iterator[Finding]:
    """A view is called by its name in FROM, so it must be a name there, and no other table's."""
    tables = {fold(n): f"{of} {n}" for of, names in named(ontology) for n in names}
    if not NAME.fullmatch(name):
        yield Finding(file, 1, 1, "view-name", f"{shown(name)} cannot name a view", "use letters, digits and _")
    elif fold(name) in tables:
        yield Finding(file, 1, 1, "view-clash", f"there is a {tables[fold(name)]}", "rename the view")
    elif fold(name) in RESERVED:
        yield Finding(file, 1, 1, "view-clash", f"'{name}' is a table of SELECT's own", "rename the view")


def named(ontology: Ontology) -> list[tuple[str, Sequence[str]]]:
    return [("type", list(ontology.types)), ("relation", list(ontology.relations))]


# Parameters


def read_parameter(
    line: str, number: int, file: str, ontology: Ontology
) -> tuple[ViewParameter | None, Finding | None]:
    """``-- param name: type = default``."""
    match = PARAMETER.fullmatch(line)
    if match is None:
        message = "this is no parameter"
        return None, Finding(file, number, 1, "view-header", message, "write -- param name: type = default")
    attribute, fault = parameter_type(match["type"], ontology)
    if fault:
        column = match.start("type") + 1
        return None, Finding(file, number, column, "view-parameter", f"there is no type '{match['type']}'", fault)
    parameter = ViewParameter(match["name"], match["type"], attribute, bool(match["optional"]), line=number)
    if match["default"] is None:
        return parameter, None
    try:
        default = convert(read_literal(match["default"]), parameter)
    except BadValueError as error:
        column = match.start("default") + 1
        return None, Finding(file, number, column, "view-parameter", f"the default does not fit: {error}")
    return replace(parameter, required=False, default=default), None


def parameter_type(name: str, ontology: Ontology) -> tuple[Attribute | None, str]:
    """The attribute that a type's name names, if it does; a proposal where there is no such type."""
    if name in TYPES:
        return None, ""
    of, _, rest = name.partition(".")
    owner = ontology.types.get(of) or ontology.relations.get(of)
    if owner is None:
        known = [*TYPES, *ontology.types, *ontology.relations] if rest else list(TYPES)
        return None, did_you_mean(of, known) or f"write {', '.join(TYPES)}, or Type.attribute"
    attribute = owner.attributes.get(rest)
    return attribute, "" if attribute else did_you_mean(rest, list(owner.attributes)) or "name an attribute of it"


def read_literal(text: str) -> Scalar:
    match = LITERAL.fullmatch(text)
    if match is None:
        raise BadValueError(f"{shown(text)} is no value; write a number, 'a text', '2024-05-01', true, false or NULL")
    if match["text"] is not None:
        return match["text"].replace("''", "'")
    if match["word"] is not None:
        return {"true": True, "false": False, "null": None}[match["word"].lower()]
    return float(match["number"]) if "." in match["number"] else int(match["number"])


FAMILIES: dict[str, tuple[str, Callable[[Scalar], bool]]] = {
    "integer": ("an integer", lambda value: isinstance(value, int) and not isinstance(value, bool)),
    "number": ("a number", lambda value: isinstance(value, int | float) and not isinstance(value, bool)),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
}


def convert(value: Scalar, parameter: ViewParameter) -> Scalar:
    """A value as the parameter's type has it. Raises BadValueError."""
    if value is None:
        if not parameter.optional:
            raise BadValueError(f"'{parameter.name}' cannot be NULL")
        return None
    kind = parameter.attribute.type if parameter.attribute else parameter.type
    if kind == "date":
        return as_date(value, parameter)
    if kind in ("integer", "number", "boolean"):
        words, test = FAMILIES[kind]
        if not test(value):
            raise BadValueError(f"'{parameter.name}' is {words}, not {spell(value)}")
        return value
    if not isinstance(value, str):
        raise BadValueError(f"'{parameter.name}' is a text, not {spell(value)}")
    values = [v.name for v in parameter.attribute.values] if parameter.attribute else []
    if values and value not in values:
        raise BadValueError(f"{shown(value)} is not a {parameter.type}; {did_you_mean(value, values)}")
    return value


def as_date(value: Scalar, parameter: ViewParameter) -> date:
    try:
        return value if isinstance(value, date) else date.fromisoformat(str(value))
    except ValueError:
        raise BadValueError(f"'{parameter.name}' is a date such as '2024-05-01', not {spell(value)}") from None


def spell(value: Scalar) -> str:
    """A value as SQL writes it."""
    if value is None or isinstance(value, bool):
        return str(value).upper() if value is not None else "NULL"
    return "'" + str(value).replace("'", "''") + "'" if isinstance(value, str | date) else str(value)
