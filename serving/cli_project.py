"""``init`` and ``check``: a project folder, and whether what it says holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from serving import render
from serving.cli_options import JsonOption, settings_of

if TYPE_CHECKING:
    from serving.wiring import ProjectCheck


def register(app: typer.Typer) -> None:
    app.command()(init)
    app.command()(check)


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


def check(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Check ontology.yaml, wiki pages, rules.yaml and views/; every finding says where, what, and what would be right.

        ontoloom check
        ontoloom -C my-project check --json

    Exit status 1 when there are errors; warnings alone are fine.
    """
    from serving.wiring import run_check

    settings = settings_of(ctx)
    with render.progress() as on_progress:
        checked = run_check(settings, on_progress=on_progress)
    failed = [finding for finding in checked.findings if finding.severity == "error"]
    if as_json:
        render.write_json(
            {"ok": not failed, "pages": checked.pages, "views": checked.views, "findings": checked.findings}
        )
    else:
        for finding in checked.findings:
            render.output.print(str(finding), markup=False)
        render.output.print(_summary(checked, len(failed)), markup=False)
    if failed:
        raise typer.Exit(1)


def _summary(checked: ProjectCheck, failed: int) -> str:
    what = f"ontology, {checked.pages} pages" + (f", {checked.rules} rules" if checked.rules is not None else "")
    what += f", {checked.views} views" if checked.views else ""
    found = len(checked.findings)
    if not found:
        return f"{what}: nothing to mend"
    return f"{what}: {failed} errors, {found - failed} warnings"
