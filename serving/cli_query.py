"""``ask``, ``ask-all`` and ``search``: questions to the graph in one's own words."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from serving import render
from serving.cli_options import EngineOption, JsonOption, StoreOption, settings_of

if TYPE_CHECKING:
    from retrieval.answer import Event


DECLINED = 3
"""Exit status of a question that nothing here answers: no error, and no answer either."""


def register(app: typer.Typer) -> None:
    app.command()(ask)
    app.command("ask-all")(ask_all)
    app.command()(search)


def ask(
    ctx: typer.Context,
    question: Annotated[str, typer.Argument(help="A question in your own words.")],
    k: Annotated[int | None, typer.Option("-k", min=1, max=1000, help="Triples that it may be answered from.")] = None,
    no_llm: Annotated[bool, typer.Option("--no-llm", help="Answer in the words of the graph alone.")] = False,
    store: StoreOption = None,
    engine: EngineOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer a question, each sentence with the characters it rests on; or say why nothing here answers it.

        ontoloom ask "How many tokens does Mixtral 8x7B read at once?"

    With an engine (ontoloom engine up) the LLM words the answer; without one the graph's own words are given.
    Exit status 0 with an answer, 3 where it is declined.
    """
    from serving.events import named
    from serving.wiring import answer_events, asking

    settings = settings_of(ctx, store=store, engine=engine, top_k=k)
    with ExitStack() as stack:
        with render.progress() as on_progress:
            parts = stack.enter_context(asking(settings, use_engine=not no_llm, on_progress=on_progress))
        events = answer_events(settings, parts, question)
        if as_json:
            found = [named(event) for event in events]
            render.write_json([{"event": event.name, **event.data} for event in found])
            answered = not any(event.name == "declined" for event in found)
        else:
            answered = show_answer(events)
    if not answered:
        raise typer.Exit(DECLINED)


def ask_all(
    ctx: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(help="The questions; by default questions.yaml beside the ontology.")
    ] = None,
    with_llm: Annotated[
        bool, typer.Option("--llm", help="Let the LLM word the answers, where an engine is up.")
    ] = False,
    store: StoreOption = None,
    engine: EngineOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask all competency questions, and say which are not answered as they must be, and what is missing.

        ontoloom ask-all
        ontoloom ask-all nightly.yaml --json

    Exit status 0 when all are right, 1 when not. docs/ontology.md says what the file holds.
    """
    from ontology.questions import read_questions
    from serving.ask_all import ask_all as run

    settings = settings_of(ctx, store=store, engine=engine)
    path = file or settings.ontology.parent / "questions.yaml"
    questions = read_questions(path)
    with render.progress() as on_progress:
        outcomes = list(run(settings, questions, use_engine=with_llm, on_progress=on_progress))
    wrong = [outcome for outcome in outcomes if outcome.fault]
    if as_json:
        rows = [
            {"id": one.question.id, "line": one.question.line, "ok": not one.fault, "fault": one.fault}
            for one in outcomes
        ]
        render.write_json({"ok": not wrong, "questions": rows})
    else:
        for one in wrong:
            asked = one.question.text or " ".join(one.question.select.split())
            render.output.print(
                f"[bold]{render.escape(f'{path}:{one.question.line}')}: {one.question.id}[/]: {render.escape(asked)}"
            )
            render.output.print(f"    {one.fault}", markup=False)
        render.output.print(
            f"{len(outcomes) - len(wrong)} of {len(outcomes)} are answered as they must be", markup=False
        )
    if wrong:
        raise typer.Exit(1)


def show_answer(events: Iterable[Event]) -> bool:
    """Prints sentences as they come, with their citations; says whether there were any."""
    from serving.events import named

    answered = True
    for event in map(named, events):
        if event.name == "sentence":
            citations = "  ".join(event.data["citations"])
            render.output.print(f"{render.escape(event.data['text'])} [dim]\\[{render.escape(citations)}][/]")
        elif event.name == "declined":
            answered = False
            render.output.print(f"no answer: {event.data['reason']}", markup=False)
        elif event.name == "done" and answered:
            note = f" ({event.data['note']})" if event.data["note"] else ""
            render.output.print(f"[dim]— {render.escape(event.data['answerer'] + note)}[/]")
    return answered


def search(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(help="Words, names or a question.")],
    k: Annotated[int, typer.Option("-k", min=1, max=1000, help="How many triples to show.")] = 10,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the triples that fit a query best, with their scores and where they were read.

    ontoloom search "context length of Mixtral" -k 5
    """
    from serving.events import described_hit
    from serving.wiring import asking, find_hits

    settings = settings_of(ctx, store=store)
    with ExitStack() as stack:
        with render.progress() as on_progress:
            parts = stack.enter_context(asking(settings, use_engine=False, on_progress=on_progress))
        hits = [described_hit(hit) for hit in find_hits(parts, query, k=k)]
    if as_json:
        render.write_json(hits)
        return
    rows = [(f"{h['score']:.3f}", h["text"], " + ".join(h["found_by"]), "  ".join(h["citations"])) for h in hits]
    render.show_table(("score", "triple", "found by", "where"), rows)
