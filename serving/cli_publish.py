"""``publish``: the graph as plain tables, for BI tools and whatever reads Parquet, DuckDB or PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from serving import render
from serving.cli_options import JsonOption, StoreOption, settings_of

if TYPE_CHECKING:
    from graph.publish import Published


def register(app: typer.Typer) -> None:
    app.command()(publish)


def publish(
    ctx: typer.Context,
    target: Annotated[str, typer.Argument(help="A folder (Parquet), a FILE.duckdb, or postgresql://HOST/DATABASE.")],
    schema: Annotated[str, typer.Option(help="The schema of PostgreSQL that the tables go to.")] = "ontoloom",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be written; change nothing.")] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Publish the graph as tables with keys and comments: one for each type and each relation.

        ontoloom publish tables/
        ontoloom publish graph.duckdb --dry-run
        ontoloom publish postgresql://bi@localhost/warehouse --schema models

    Whoever reads the target sees the old tables or the new ones, each whole. Only what was published before is ever
    replaced. PostgreSQL takes its password from PGPASSWORD or ~/.pgpass, and needs: pip install 'ontoloom\\[postgres]'.
    """
    from serving.wiring import run_publish

    settings = settings_of(ctx, store=store)
    with render.progress() as on_progress:
        done = run_publish(settings, target, schema=schema, dry_run=dry_run, on_progress=on_progress)
    if as_json:
        render.write_json(described(done, dry_run=dry_run))
        return
    render.show_table(("table", "rows"), done.rows.items())
    for note in done.notes:
        render.output.print(f"note: {note}", markup=False)
    verb = "would be published" if dry_run else "published"
    line = f"{sum(done.rows.values())} rows of change {done.publication.change} {verb} to {done.target}"
    render.output.print(f"{line} in {done.seconds:.1f} s", markup=False)


def described(done: Published, *, dry_run: bool) -> dict[str, object]:
    tables = [
        {
            "name": table.name,
            "rows": done.rows[table.name],
            "columns": [{"name": c.name, "type": c.type, "many": c.many, "comment": c.comment} for c in table.columns],
            "references": [{"column": column, "table": to} for column, to in table.references],
        }
        for table in done.tables
    ]
    publication = render.plain(done.publication)
    return {
        "target": done.target,
        "dry_run": dry_run,
        **publication,
        "tables": tables,
        "notes": done.notes,
        "seconds": done.seconds,
    }
