"""The command line. Each command imports what it needs when it runs, so that ``--help`` is quick."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import typer

from serving import (
    cli_check,
    cli_cypher,
    cli_engine,
    cli_fmt,
    cli_graph,
    cli_neo4j,
    cli_ontology,
    cli_project,
    cli_publish,
    cli_query,
    cli_select,
    cli_store,
    render,
)
from serving.cli_options import OneLineErrors

app = typer.Typer(
    cls=OneLineErrors,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Documents and a strict ontology in, cited answers and SELECT rows out.",
    epilog="Start with [bold]ontoloom init --example tour[/], or see everything at work: [bold]ontoloom demo[/].",
)


class LogLines(logging.Handler):
    """Log messages as lines on standard error, above the progress that is drawn there."""

    def emit(self, record: logging.LogRecord) -> None:
        render.errors.print(f"{record.levelname.lower()}: {record.getMessage()}", markup=False)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"ontoloom {version('ontoloom')}")
        raise typer.Exit


@app.callback()
def root(
    ctx: typer.Context,
    project: Annotated[
        Path | None,
        typer.Option("--project", "-C", help="Project folder, which holds ontology.yaml.", file_okay=False),
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say more on standard error.")] = False,
    version: Annotated[  # noqa: ARG001  # its callback does the work
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, handlers=[LogLines()])
    ctx.obj = project


cli_project.register(app)
cli_check.register(app)
cli_fmt.register(app)
cli_ontology.register(app)
cli_graph.register(app)
cli_store.register(app)
cli_query.register(app)
cli_select.register(app)
cli_cypher.register(app)
cli_publish.register(app)
cli_engine.register(app)
cli_neo4j.register(app)


def main() -> None:
    """What the script ``ontoloom`` runs."""
    app(prog_name="ontoloom")


if __name__ == "__main__":
    main()
