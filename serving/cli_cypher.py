"""``cypher``: read-only Cypher on the graph store, for people who want it."""

from __future__ import annotations

from typing import Annotated

import typer

from serving import render
from serving.cli_options import JsonOption, StoreOption, settings_of
from serving.cli_rows import (
    FileOption,
    Format,
    FormatOption,
    LimitOption,
    OutOption,
    ParameterOption,
    TimeoutOption,
    placed_in,
    read_parameters,
    read_statement,
    refuse_terminal,
    write_rows,
)

USAGE = 'ontoloom cypher "MATCH (m:Model) RETURN m.name"'


def register(app: typer.Typer) -> None:
    app.command()(cypher)


def cypher(
    ctx: typer.Context,
    query: Annotated[str | None, typer.Argument(help="One query; '-' reads it from standard input.")] = None,
    file: FileOption = None,
    parameters: ParameterOption = None,
    form: FormatOption = Format.table,
    as_json: JsonOption = False,
    out: OutOption = None,
    limit: LimitOption = 10_000,
    timeout: TimeoutOption = 30.0,
    store: StoreOption = None,
) -> None:
    """Run a read-only Cypher query on the graph store: types are labels, relations relationship types.

    ontoloom cypher "MATCH (m:Model)-[:developed_by]->(o) RETURN o.name, count(m) AS models ORDER BY models DESC"
    ontoloom cypher "MATCH (m:Model {name: \\$name}) RETURN m" --param name=BERT --json
    ontoloom cypher -f query.cypher --format csv -o rows.csv

    What could write, load or call is refused before it reaches the store. Nodes and relationships are shown as JSON.
    """
    settings = settings_of(ctx, store=store)
    form = Format.json if as_json else form
    text = read_statement(query, file, usage=USAGE)
    refuse_terminal(form, out)
    from serving.wiring import run_cypher

    with placed_in(file):
        found = run_cypher(settings, text, read_parameters(parameters), max_rows=limit + 1, timeout=timeout)
    truncated = found.num_rows > limit
    columns = [{"name": field.name, "type": str(field.type)} for field in found.schema]
    write_rows(found.slice(0, limit), columns, form, out, truncated=truncated)
    if truncated:
        render.errors.print(f"only the first {limit} rows are written (--limit)", markup=False)
