"""``engine``, ``serve`` and ``demo``: what runs for longer."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from serving import render
from serving.cli_options import EngineOption, JsonOption, StoreOption, settings_of

PortOption = Annotated[int | None, typer.Option("--port", min=0, max=65535, help="Port; by default a free one.")]

engine_app = typer.Typer(
    no_args_is_help=True, help="The LLM engine: a vLLM server on this machine, in an environment of its own."
)


def register(app: typer.Typer) -> None:
    engine_app.command()(install)
    engine_app.command()(up)
    engine_app.command()(down)
    engine_app.command("status")(engine_status)
    engine_app.command()(logs)
    app.add_typer(engine_app, name="engine")
    app.command()(serve)
    app.command()(demo)


def install(ctx: typer.Context) -> None:
    """Install vLLM (6 GB of disk) and the default model, without starting anything.

    ontoloom engine install
    """
    from serving.engine_install import install as install_vllm
    from serving.model import prepare_model

    cache = settings_of(ctx).cache
    with render.progress() as on_progress:
        python = install_vllm(cache, on_progress=on_progress)
        weights = prepare_model(cache, on_progress=on_progress)
    render.output.print(f"vLLM is in {python.parent.parent}, the model in {weights}", markup=False)


def up(
    ctx: typer.Context,
    port: PortOption = None,
    timeout: Annotated[float, typer.Option(min=1, help="Give up after so many seconds.")] = 900.0,
    as_json: JsonOption = False,
) -> None:
    """Start the engine and wait until it answers; installs what is missing. Does nothing where it is up.

        ontoloom engine up

    It goes on running until: ontoloom engine down
    """
    from serving import engine
    from serving.wiring import engine_folders

    folders = engine_folders(settings_of(ctx))
    with render.progress() as on_progress:
        server = engine.up(folders, port=port, timeout=timeout, on_progress=on_progress)
    if as_json:
        render.write_json({"url": server.url, "model": server.model, "pid": server.pid})
    else:
        render.output.print(f"the engine is up: {server.model} at {server.url} (process {server.pid})", markup=False)


def down(ctx: typer.Context) -> None:
    """Stop the engine, with all its processes.

    ontoloom engine down
    """
    from serving import engine
    from serving.wiring import engine_folders

    was_up = engine.down(engine_folders(settings_of(ctx)))
    render.output.print("the engine is down" if was_up else "no engine was up")


def engine_status(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Say whether vLLM is installed and whether the engine is up. Exit status 1 where it is not ready.

    ontoloom engine status --json
    """
    from serving import engine
    from serving.wiring import engine_folders

    found = engine.status(engine_folders(settings_of(ctx)))
    server = found.running
    if as_json:
        url = server.url if server else None
        render.write_json({**render.plain(found), "url": url})
    else:
        state = "up" if found.ready else "starting" if server else "down"
        at = f": {server.model} at {server.url} (process {server.pid})" if server else ""
        render.output.print(f"engine: {state}{at}", markup=False)
        render.output.print(f"vLLM: {'installed' if found.installed else 'not installed'}")
        render.output.print(f"model: {'ready' if found.model_ready else 'not prepared'}")
    if not found.ready:
        raise typer.Exit(1)


def logs(
    ctx: typer.Context, lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="How many of the last.")] = 40
) -> None:
    """Show the last lines that the engine wrote.

    ontoloom engine logs -n 200
    """
    from serving import engine
    from serving.wiring import engine_folders

    folders = engine_folders(settings_of(ctx))
    for line in engine.log_tail(folders, lines):
        sys.stdout.write(line + "\n")
    render.errors.print(f"from {folders.log}", markup=False)


def serve(
    ctx: typer.Context,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: PortOption = None,
    store: StoreOption = None,
    engine: EngineOption = None,
) -> None:
    """Serve questions, searches and SELECTs over HTTP: POST /v1/ask (SSE), /v1/search, /v1/select, GET /v1/status.

        ontoloom serve --port 8000
        curl -N localhost:8000/v1/ask -d '{"question": "Who made Mixtral 8x7B?"}' -H 'Content-Type: application/json'

    While it runs it holds the store; 'ontoloom ingest' hands its work over to it.
    """
    from serving.http import run

    run(settings_of(ctx, host=host, port=port, store=store, engine=engine))


def demo(
    ctx: typer.Context,
    store: Annotated[str, typer.Option(help="Kind of graph store.")] = "ladybug",
    no_llm: Annotated[bool, typer.Option("--no-llm", help="Without an engine: rules and extractive answers.")] = False,
) -> None:
    """Run the whole job on the bundled example: check, engine, ingest, index, four questions, one SELECT.

        ontoloom demo

    Works in .ontoloom/demo of the current folder. A second run uses what the first one made.
    """
    from serving.demo import run_demo

    run_demo(settings_of(ctx), store=store, use_engine=not no_llm)
