"""``select``: rows of a typed SELECT, and what there is to select from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

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

if TYPE_CHECKING:
    from serving.settings import Settings

USAGE = 'ontoloom select "SELECT name FROM …"; see also --tables'


def register(app: typer.Typer) -> None:
    app.command()(select)


def select(
    ctx: typer.Context,
    sql: Annotated[str | None, typer.Argument(help="One SELECT statement; '-' reads it from standard input.")] = None,
    file: FileOption = None,
    parameters: ParameterOption = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", help="Read the graph as of a change number or a time.")
    ] = None,
    form: FormatOption = Format.table,
    as_json: JsonOption = False,
    out: OutOption = None,
    provenance: Annotated[bool, typer.Option("--provenance", help="Say where each value comes from.")] = False,
    tables: Annotated[bool, typer.Option("--tables", help="List the tables and their columns.")] = False,
    views: Annotated[bool, typer.Option("--views", help="List the saved views and their parameters.")] = False,
    limit: LimitOption = 10_000,
    timeout: TimeoutOption = 30.0,
    store: StoreOption = None,
) -> None:
    """Run a typed SELECT over the graph: a table for each type and each relation. No LLM is involved.

    ontoloom select --tables
    ontoloom select "SELECT * FROM Model WHERE training_method = 'DPO'" --provenance
    ontoloom select "SELECT name FROM Model WHERE released > \\$day" --param day=2024-01-01
    ontoloom select "EXPLAIN SELECT subject, object FROM developed_by"
    ontoloom select -f report.sql --as-of 2026-01-01 --format parquet -o report.parquet
    ontoloom select "SELECT subject, score_delta FROM superior_to ORDER BY score_delta DESC" --format csv
    """
    settings = settings_of(ctx, store=store)
    form = Format.json if as_json else form
    if tables or views:
        list_tables(settings, as_json=form is Format.json) if tables else list_views(settings, as_json=as_json)
        return
    statement = read_statement(sql, file, usage=USAGE)
    refuse_terminal(form, out)
    from graph.prepare import read_as_of_text
    from serving.wiring import run_select

    with placed_in(file):
        found = run_select(
            settings,
            statement,
            parameters=read_parameters(parameters),
            as_of=None if as_of is None else read_as_of_text(as_of),
            sources=provenance,
            max_rows=limit,
            timeout=timeout,
        )
    selection = found.selection
    columns = [{"name": column.name, "type": column.type} for column in selection.columns]
    sources = found.sources if provenance else None
    write_rows(selection.rows, columns, form, out, truncated=selection.truncated, sources=sources)
    if selection.truncated:
        render.errors.print(f"only the first {limit} rows are written (--limit)", markup=False)


def list_tables(settings: Settings, *, as_json: bool) -> None:
    from graph.tables import describe
    from serving.wiring import find_ontology

    found = describe(find_ontology(settings))
    if as_json:
        rows = [
            {
                "table": table.name,
                "of": table.of,
                "description": table.description,
                "columns": [{"name": c.name, "type": c.type, "hidden": c.hidden} for c in table.columns],
            }
            for table in found
        ]
        render.write_json(rows)
        return
    for table in found:
        render.output.print(f"[bold]{render.escape(table.name)}[/]  {render.escape(table.description)}")
        for column in table.columns:
            if not column.hidden:
                render.output.print(f"  {column.name}: {column.type}", markup=False)
    hidden = sorted({column.name for table in found for column in table.columns if column.hidden})
    render.output.print(f"\nnot shown by *: {', '.join(hidden)}", markup=False)


def list_views(settings: Settings, *, as_json: bool) -> None:
    from serving.wiring import find_ontology, find_views

    found = find_views(settings, find_ontology(settings)).values()
    if as_json:
        rows = [
            {
                "view": view.name,
                "file": view.file,
                "description": view.description,
                "parameters": [
                    {
                        "name": p.name,
                        "type": p.type,
                        "optional": p.optional,
                        "required": p.required,
                        "default": p.default,
                    }
                    for p in view.parameters
                ],
                "fault": view.fault,
            }
            for view in found
        ]
        render.write_json(rows)
        return
    for view in found:
        call = f"{view.name}({', '.join(p.spelled for p in view.parameters)})" if view.parameters else view.name
        render.output.print(f"[bold]{render.escape(call)}[/]  {render.escape(view.description)}")
        if view.fault:
            render.output.print(f"  does not hold: {view.fault}", markup=False)
    if not found:
        render.output.print(f"there are no saved views in {settings.views} (docs/analysts.md)", markup=False)
