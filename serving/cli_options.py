"""What the commands share: how settings reach them, the options that several have, and errors in one line."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperGroup

from ontoloom.errors import OntoloomError
from serving import render

if TYPE_CHECKING:
    from serving.settings import Settings

JsonOption = Annotated[bool, typer.Option("--json", help="Write JSON, for scripts.")]
StoreOption = Annotated[str | None, typer.Option("--store", help="The graph store: a path or an address.")]
EngineOption = Annotated[str | None, typer.Option("--engine", help="'auto', 'none' or the address of an engine.")]

INTERRUPTED: Final = {
    "ingest": "documents that were written stay; the same command goes on from there",
    "store": "what was written stays; the same command goes on from there",
    "engine": "an engine that was being started goes on; see: ontoloom engine status",
}


class OneLineErrors(TyperGroup):
    """A user's mistake is one line and exit status 1; an interruption says what is kept; a bug keeps its traceback."""

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]  # typer's own Context, under its public name
        try:
            return super().invoke(ctx)
        except OntoloomError as error:
            say_error(error)
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            kept = INTERRUPTED.get(ctx.invoked_subcommand or "", "nothing was changed")
            render.errors.print(f"\ninterrupted: {kept}", markup=False)
            raise typer.Exit(130) from None
        except BrokenPipeError:
            # Whoever read our output has gone, as `head` does. Nothing is to be flushed to it at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None


def say_error(error: OntoloomError) -> None:
    line = " ".join(str(error).split())
    render.errors.print(f"[bold red]error:[/] {render.escape(line)}")


def settings_of(ctx: typer.Context, **options: Any) -> Settings:
    """The settings, with the options of the command line over file and environment."""
    from serving.settings import read_settings

    project: Path | None = ctx.obj
    return read_settings({"project": project, **options})
