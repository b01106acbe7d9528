"""Checks saved views against the ontology, without a store: what they say must be readable and mean something."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import cast

from sqlglot import exp, tokenize
from sqlglot.errors import TokenError

from graph.bind import Scalar, find_parameters
from graph.catalogue import Catalogue, point_in_time
from graph.expand_views import expand
from graph.guard import DIALECT, parse
from graph.pivot import text
from graph.projection import ColumnarProjection
from graph.rewrite import rewrite
from graph.saved_views import View, ViewParameter, Views, read_views
from graph.store import Store
from graph.tables import Column, Table, describe
from graph.walks import WALKS
from ontology.findings import Finding, did_you_mean
from ontology.schema import Ontology
from ontoloom.errors import QueryError

SAMPLES: Mapping[str, Scalar] = {"integer": 1, "number": 1.0, "boolean": True, "date": date(2000, 1, 1)}


@dataclass(frozen=True, slots=True)
class StoreOf:
    """All that a statement needs of a store to be understood."""

    ontology: Ontology


class NoRows:
    """A projection whose tables cannot be read."""

    def source(self, table: Table, at: int | None = None) -> str:
        return f"read_parquet({text(f'{table.key} at {at}')})"


@dataclass(frozen=True, slots=True)
class Unfilled(Catalogue):
    """A catalogue that knows columns only: of walks too, and of the past."""

    def walk(self, node: exp.Anonymous) -> tuple[list[Column], exp.Identifier]:
        return list(WALKS[node.name.lower()].columns), exp.to_identifier(node.name, quoted=True)

    def change(self, node: exp.Table) -> int | None:
        if node.args.get("version") is not None:
            point_in_time(node.args["version"].args["expression"])
        return None


def check_views(folder: Path, ontology: Ontology) -> tuple[int, list[Finding]]:
    """The number of views in a folder, and what is wrong with them, at file, line and column."""
    views, findings = read_views(folder, ontology)
    for view in views.values():
        if not view.fault:
            findings += check_view(view, views, ontology)
    return len(views), sorted(findings)


def check_view(view: View, views: Views, ontology: Ontology) -> list[Finding]:
    """One finding at most: the first thing that is wrong."""
    try:
        check_parameters(view)
        query = parse(
            view.sql,
            parameters={p.name: sample(p) for p in view.parameters},
            amend=lambda query: expand(query, views, within=[view]),
        )
        store, projection = cast("Store", StoreOf(ontology)), cast("ColumnarProjection", NoRows())
        rewrite(query, Unfilled(store, projection, describe(ontology)))
    except QueryError as error:
        return [Finding(view.file, error.line or 1, error.column or 1, error.code, error.message, error.hint)]
    return []


def check_parameters(view: View) -> None:
    """Parameters that are used are declared, and the other way round."""
    try:
        tokens = tokenize(view.sql, read=DIALECT)
    except TokenError:
        return  # parsing says it better
    used = {p.name: tokens[p.first] for p in find_parameters(tokens)}
    declared = [p.name for p in view.parameters]
    for name, token in used.items():
        if name not in declared:
            message = f"the parameter '{name}' is not declared" if name else "parameters of views have names: $name"
            hint = did_you_mean(name, declared) or f"-- param {name or 'name'}: string"
            raise QueryError(message, code="view-parameter", hint=hint, line=token.line, column=token.col)
    for parameter in view.parameters:
        if parameter.name not in used:
            message = f"the parameter '{parameter.name}' is not used"
            raise QueryError(message, code="view-parameter", hint="drop it", line=parameter.line, column=1)


def sample(parameter: ViewParameter) -> Scalar:
    """A value that a parameter can have."""
    if not parameter.required:
        return parameter.default
    if parameter.attribute is not None and parameter.attribute.values:
        return parameter.attribute.values[0].name
    return SAMPLES.get(parameter.attribute.type if parameter.attribute else parameter.type)
