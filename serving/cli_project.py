"""``init``: makes a project folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from serving import render


def register(app: typer.Typer) -> None:
    app.command()(init)


def init(
    folder: Annotated[Path, typer.Argument(help="Where to make the project; made where it is missing.")] = Path(),
    example: Annotated[bool, typer.Option("--example", help="Copy the bundled example on AI models.")] = False,
) -> None:
    """Make a project: ontology.yaml, rules.yaml, wiki/, documents/ and ontoloom.toml, each with comments.

    Files that are there already are never overwritten.

        ontoloom init my-project
        ontoloom init --example tour
    """
    from serving.scaffold import copy_example, write_project

    made = copy_example(folder) if example else write_project(folder)
    render.output.print(f"made {len(made)} files in {folder}", markup=False)
    inside = "" if folder == Path() else f"cd {folder} && "
    render.output.print(f"next: {inside}ontoloom check && ontoloom ingest", markup=False)
