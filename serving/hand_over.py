"""Hands the job of ``ontoloom ingest`` to the running service that holds the store, and follows it to its end."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
from pydantic import TypeAdapter

from ingest.column_mapping import ColumnMapping
from ingest.summary import Summary
from ontoloom.errors import StoreError
from ontoloom.progress import OnProgress, Progress
from serving.access import Holder
from serving.sse import EventReader, ServerEvent


def hand_over(
    service: Holder,
    paths: Sequence[Path],
    *,
    mapping: ColumnMapping | None,
    use_llm: bool,
    prune: bool,
    index: bool,
    on_progress: OnProgress,
) -> Summary:
    """What the service's ingest came to. Raises StoreError where it does not take the job, or cannot finish it."""
    job = {
        "paths": [str(path.absolute()) for path in paths],
        "mapping": None if mapping is None else asdict(mapping),
        "use_llm": use_llm,
        "prune": prune,
        "index": index,
    }
    try:
        for event in _events(service, job):
            if event.name == "progress":
                on_progress(Progress(**json.loads(event.data)))
            elif event.name == "summary":
                return TypeAdapter(Summary).validate_json(event.data)
            elif event.name == "error":
                raise _refused(service, json.loads(event.data))
    except httpx.HTTPError as error:
        message = f"the service at {service.url} did not see the job through: {error or type(error).__name__}"
        raise StoreError(message, hint="run the command again: what was written stays", code="service") from error
    raise StoreError(f"the service at {service.url} ended before the job did", hint="run the command again")


def _events(service: Holder, job: dict[str, Any]) -> Iterator[ServerEvent]:
    headers = {"Authorization": f"Bearer {service.token}"}
    timeout = httpx.Timeout(60, read=120)  # a heartbeat comes every few seconds
    with (
        httpx.Client(timeout=timeout, trust_env=False, headers=headers) as client,
        client.stream("POST", f"{service.url}/v1/ingest", json=job) as response,
    ):
        if response.status_code != 200:
            response.read()
            raise _refused(service, response.json())
        reader = EventReader()
        for chunk in response.iter_bytes():
            yield from reader.feed(chunk)


def _refused(service: Holder, error: dict[str, Any]) -> StoreError:
    message = f"the service at {service.url}: {error.get('message', 'refused the job')}"
    return StoreError(message, hint=error.get("hint", ""), code=error.get("code", "service"))
