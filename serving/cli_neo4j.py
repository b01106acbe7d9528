"""``neo4j``: a Neo4j server on this machine for the graph, without Docker."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from serving import render
from serving.cli_options import JsonOption, settings_of

HomeOption = Annotated[
    Path | None,
    typer.Option("--home", help="Folder of the server's data; by default .ontoloom/neo4j.", file_okay=False),
]

neo4j_app = typer.Typer(
    no_args_is_help=True, help="A Neo4j Community server on this machine: needs Java and, once, Maven."
)


def register(app: typer.Typer) -> None:
    neo4j_app.command()(up)
    neo4j_app.command()(down)
    neo4j_app.command("status")(neo4j_status)
    neo4j_app.command()(logs)
    app.add_typer(neo4j_app, name="neo4j")


def up(
    ctx: typer.Context,
    home: HomeOption = None,
    version: Annotated[str, typer.Option("--version", help="5.26 (long-term support) or 2026.")] = "5.26",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port for Bolt; 0 for a free one.")] = 7687,
    heap: Annotated[str, typer.Option("--heap", help="Memory for Java, such as 2g.")] = "2g",
    as_json: JsonOption = False,
) -> None:
    """Start Neo4j and wait until it answers; installs what is missing. Does nothing where it is up.

        ontoloom neo4j up
        ontoloom ingest --store neo4j://127.0.0.1:7687

    It goes on running until: ontoloom neo4j down. Where ONTOLOOM_NEO4J_PASSWORD is set, it becomes the password of
    the user neo4j; else everyone on this machine may read and write.
    """
    from serving import neo4j_server

    settings = settings_of(ctx)
    password = os.environ.get("ONTOLOOM_NEO4J_PASSWORD", "")
    with render.progress() as on_progress:
        server = neo4j_server.start(
            settings.cache,
            home or settings.within(neo4j_server.HOME),
            version=version,
            port=port or None,
            password=password,
            heap=heap,
            on_progress=on_progress,
        )
    location = neo4j_server.store_location(server, user="neo4j" if password else "")
    if as_json:
        render.write_json({"url": server.url, "store": location, "version": server.version, "pid": server.pid})
    else:
        render.output.print(f"Neo4j {server.version} is up: --store {location} (process {server.pid})", markup=False)


def down(ctx: typer.Context, home: HomeOption = None) -> None:
    """Stop Neo4j. Its data stay.

    ontoloom neo4j down
    """
    from serving import neo4j_server

    was_up = neo4j_server.stop(home or settings_of(ctx).within(neo4j_server.HOME))
    render.output.print("Neo4j is down" if was_up else "no Neo4j was up")


def neo4j_status(ctx: typer.Context, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Say whether Neo4j is up. Exit status 1 where it is not ready.

    ontoloom neo4j status --json
    """
    from serving import neo4j_server

    server = neo4j_server.running(home or settings_of(ctx).within(neo4j_server.HOME))
    ready = server is not None and neo4j_server.is_ready(server)
    if as_json:
        render.write_json({"running": render.plain(server), "ready": ready, "url": server.url if server else None})
    else:
        state = "up" if ready else "starting" if server else "down"
        at = f": {server.version} at {server.url} (process {server.pid})" if server else ""
        render.output.print(f"Neo4j: {state}{at}", markup=False)
    if not ready:
        raise typer.Exit(1)


def logs(
    ctx: typer.Context,
    home: HomeOption = None,
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="How many of the last.")] = 40,
) -> None:
    """Show the last lines that Neo4j wrote.

    ontoloom neo4j logs -n 200
    """
    from serving import neo4j_server

    folder = home or settings_of(ctx).within(neo4j_server.HOME)
    for line in neo4j_server.log_tail(folder, lines):
        sys.stdout.write(line + "\n")
    render.errors.print(f"from {neo4j_server.log(folder)}", markup=False)
