import os
import signal
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from ingest.record import Record, Recorded, prompt_key
from ontoloom.errors import StoreError
from ontoloom.protocols import Prompt

PROMPT = Prompt((("system", "Read."), ("user", "Acme is in Oslo.")), max_tokens=10, schema={"type": "object"})
ANSWER = Recorded('{"triples":[]}', "stop", 12, 5)


def test_an_answer_is_found_again_also_by_another_process(tmp_path: Path) -> None:
    with Record(tmp_path / "new" / "record.sqlite") as record:
        assert record.get("k") is None
        assert record.put("k", ANSWER) == ANSWER
    with Record(tmp_path / "new" / "record.sqlite") as record:
        assert record.get("k") == ANSWER
        assert len(record) == 1


def test_the_first_answer_counts(tmp_path: Path) -> None:
    with Record(tmp_path / "r") as record:
        record.put("k", ANSWER)
        assert record.put("k", replace(ANSWER, text="other")) == ANSWER
        assert record.get("k") == ANSWER


@pytest.mark.parametrize(
    "other",
    [
        replace(PROMPT, max_tokens=11),
        replace(PROMPT, temperature=0.1),
        replace(PROMPT, seed=1),
        replace(PROMPT, schema=None),
        replace(PROMPT, schema={"type": "array"}),
        replace(PROMPT, messages=(("system", "Read."), ("user", "Acme is in Rome."))),
        replace(PROMPT, messages=(("system", "Read.user"), ("", "Acme is in Oslo."))),
    ],
)
def test_the_key_covers_all_that_an_answer_depends_on(other: Prompt) -> None:
    assert prompt_key("m", PROMPT) != prompt_key("m", other)
    assert prompt_key("m", PROMPT) != prompt_key("n", PROMPT)
    assert prompt_key("m", PROMPT) == prompt_key("m", replace(PROMPT, tag="mine"))


def test_several_threads_and_connections_write_at_once(tmp_path: Path) -> None:
    records = [Record(tmp_path / "r") for _ in range(3)]

    def write(record: Record, writer: int) -> None:
        for number in range(50):
            record.put(f"{number}", replace(ANSWER, text=f"{writer}"))

    threads = [threading.Thread(target=write, args=(record, i)) for i, record in enumerate([*records, records[0]])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(records[0]) == 50
    seen = [[record.get(f"{number}") for number in range(50)] for record in records]
    assert seen[0] == seen[1] == seen[2]
    for record in records:
        record.close()


WRITER = """
import sys
from pathlib import Path
from ingest.record import Record, Recorded
record = Record(Path(sys.argv[1]))
for number in range(1_000_000):
    record.put(str(number), Recorded("x" * 1000, "stop", number, 1))
    print(number, flush=True)
"""


def test_a_killed_writer_loses_no_acknowledged_answer(tmp_path: Path) -> None:
    path = tmp_path / "r"
    for _ in range(3):
        with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            lines = [next(writer.stdout) for _ in range(30)]
            os.kill(writer.pid, signal.SIGKILL)
            lines += writer.stdout.read().split("\n")[:-1]
        with Record(path) as record:
            assert all(record.get(line.strip()) is not None for line in lines)


def test_what_is_no_record_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_text("not a database, but long enough to be looked at as one" * 20)
    with pytest.raises(StoreError, match="not a record of answers"):
        Record(path)
    with pytest.raises(StoreError, match="cannot be opened"):
        Record(path / "below-a-file")


def test_a_record_of_another_version_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "r") as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(StoreError, match="version 99"):
        Record(tmp_path / "r")
