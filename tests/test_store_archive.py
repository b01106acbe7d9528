"""Backups: all that a store holds in one file, which is refused when it is damaged and read back where it fits."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from graph_examples import ONTOLOGY, make_ontology, says
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference_store import ReferenceStore
from stores_under_test import MakeStore, content, said_parts
from test_store_copy import Failing, a_graph, without_past
from test_store_hostile import write_all
from test_store_property import extractions

import graph.copy
from graph.archive import Archive, backup, decode_extraction, encode_extraction, restore
from graph.store import Store
from ontology.schema import Ontology
from ontoloom.errors import StoreError
from ontoloom.records import Extraction


@pytest.fixture
def source() -> Store:
    return a_graph(ReferenceStore(ONTOLOGY))


@pytest.fixture
def archive(source: Store, tmp_path: Path) -> Path:
    path = tmp_path / "graph.backup"
    backup(source, path, ontology_text="ontology: examples\n")
    return path


def lines(path: Path) -> list[bytes]:
    with pa.CompressedInputStream(str(path), "zstd") as stream:
        return stream.read().splitlines(keepends=True)


def write_lines(path: Path, parts: list[bytes]) -> None:
    with pa.CompressedOutputStream(str(path), "zstd") as out:
        out.write(b"".join(parts))


def error_of(call: Callable[[], object]) -> str:
    with pytest.raises(StoreError) as caught:
        call()
    return str(caught.value)


def refusal(call: Callable[[], object]) -> str:
    """What a StoreError says; empty where there is none."""
    try:
        call()
    except StoreError as error:
        return str(error)
    return ""


# There and back


def test_a_backup_of_any_store_is_the_same_graph_in_any_other(make_store: MakeStore, tmp_path: Path) -> None:
    original = a_graph(make_store())
    held, path = content(original), tmp_path / "graph.backup"
    header = backup(original, path)
    assert (header.documents, header.triples, header.merges) == (3, 3, 2)
    assert (header.digest, header.ontology, header.ontology_version) == (held["digest"], "examples", "1.0.0")
    other = ReferenceStore(ONTOLOGY)
    restore(path, other)
    assert content(other) == held
    store = make_store()
    restored = restore(path, store)
    assert (restored.written, restored.merges, restored.digest) == (3, 2, held["digest"])
    assert content(store) == held
    assert without_past(store) == without_past(other)
    last = store.last_change()
    assert restore(path, store).unchanged == 3
    assert store.last_change() == last


def test_hostile_names_come_back_from_a_backup(tmp_path: Path) -> None:
    original, restored = ReferenceStore(ONTOLOGY), ReferenceStore(ONTOLOGY)
    write_all(original)
    backup(original, tmp_path / "hostile")
    restore(tmp_path / "hostile", restored)
    assert content(restored) == content(original)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(extraction=st.sampled_from(["a", "b"]).flatmap(extractions))
def test_an_extraction_comes_back_from_json(extraction: Extraction) -> None:
    decoded = decode_extraction(json.loads(json.dumps(encode_extraction(extraction))))
    assert said_parts(decoded) == said_parts(extraction)


def test_an_empty_store_can_be_backed_up(make_store: MakeStore, tmp_path: Path) -> None:
    backup(ReferenceStore(ONTOLOGY), tmp_path / "empty")
    assert restore(tmp_path / "empty", make_store()).written == 0


def test_a_restore_that_was_cut_off_goes_on(archive: Path, source: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph.copy, "ROWS", 1)
    for lives in range(7):
        target = Failing(lives)
        with pytest.raises(KeyboardInterrupt):
            restore(archive, target)
        target.lives = 99
        assert restore(archive, target).written == max(0, 3 - lives)
        assert content(target) == content(source)


def test_what_the_store_holds_besides_is_an_error_or_makes_way(archive: Path, source: Store) -> None:
    target = ReferenceStore(ONTOLOGY)
    target.write([says("other.md")])
    assert "the target holds a document that the source does not have, 'other.md'" in error_of(
        lambda: restore(archive, target)
    )
    assert restore(archive, target, replace=True).removed == 1
    assert content(target) == content(source)


# The file


def test_a_backup_says_what_it_holds(archive: Path, source: Store) -> None:
    header = Archive(archive).header
    assert (header.ontology_text, header.ontology_hash) == ("ontology: examples\n", ONTOLOGY.hash)
    assert (header.digest, header.change) == (source.digest(), source.last_change())
    first = json.loads(lines(archive)[0])
    assert (first["format"], first["version"]) == ("ontoloom-backup", 1)


def test_a_backup_takes_its_name_when_it_is_complete(source: Store, archive: Path) -> None:
    before = archive.read_bytes()

    def change(_: Any) -> None:
        source.write([says("late.md")])

    assert error_of(lambda: backup(source, archive, on_progress=change)) == (
        "the store changed while it was backed up (back it up again)"
    )
    assert archive.read_bytes() == before
    assert list(archive.parent.iterdir()) == [archive]
    backup(source, archive)
    assert Archive(archive).header.documents == 4


def test_a_file_that_cannot_be_written_is_named(source: Store, tmp_path: Path) -> None:
    path = tmp_path / "none" / "graph.backup"
    assert error_of(lambda: backup(source, path)) == f"{path}: cannot be written: No such file or directory"
    assert error_of(lambda: restore(path, source)) == f"{path}: cannot be read: No such file or directory"


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_backup_that_was_cut_off_is_refused_before_anything_is_written(archive: Path, share: float) -> None:
    whole = archive.read_bytes()
    archive.write_bytes(whole[: int(len(whole) * share)])
    target = ReferenceStore(ONTOLOGY)
    message = error_of(lambda: restore(archive, target))
    assert message.startswith(f"{archive} is damaged: ")
    assert message.endswith("(use another backup)")
    assert "\n" not in message
    assert target.last_change() == 0


def test_a_changed_byte_is_noticed_wherever_it_matters(source: Store, archive: Path) -> None:
    whole = archive.read_bytes()
    for place in (*range(4, 150), *range(150, len(whole), max(1, len(whole) // 60))):  # all of the first line
        archive.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        target = ReferenceStore(ONTOLOGY)
        if message := refusal(partial(restore, archive, target)):
            assert message.startswith(f"{archive} is damaged: "), message
            assert target.last_change() == 0
        else:
            assert place < 12, "only the frame's header holds bits that mean nothing"
            assert target.digest() == source.digest()


CHANGES: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "a line is missing": lambda parts: parts[:2] + parts[3:],
    "two lines are swapped": lambda parts: [parts[0], parts[2], parts[1], *parts[3:]],
    "a value is changed": lambda parts: [parts[0].replace(b'"documents":3', b'"documents":4'), *parts[1:]],
    "there is no checksum": lambda parts: parts[:-1],
    "something follows": lambda parts: [*parts, parts[1]],
    "the last line has no end": lambda parts: [*parts[:-1], parts[-1].rstrip(b"\n")],
}


@pytest.mark.parametrize("what", CHANGES)
def test_lines_that_were_changed_by_hand_are_noticed(what: str, archive: Path) -> None:
    write_lines(archive, CHANGES[what](lines(archive)))
    assert error_of(lambda: restore(archive, ReferenceStore(ONTOLOGY))).startswith(f"{archive} is damaged: ")


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04" * 100, b'{"format":"ontoloom-backup"}'])
def test_what_is_no_backup_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    expected = f"{path} is not a backup of ontoloom (ontoloom store backup writes one)"
    assert error_of(lambda: Archive(path)) == expected
    if content:
        write_lines(path, [b'{"format":"another"}\n'])
        assert error_of(lambda: Archive(path)) == expected


def test_a_backup_of_another_format_or_ontology_is_refused(archive: Path) -> None:
    renamed: Ontology = replace(make_ontology(), name="others")
    assert error_of(lambda: restore(archive, ReferenceStore(renamed))) == (
        f"{archive} is of the ontology 'examples', the store of 'others' (restore it in its own project)"
    )
    first, *rest, _ = lines(archive)
    parts = [first.replace(b'"version":1', b'"version":2'), *rest]
    checksum = blake2b(b"".join(parts), digest_size=16).hexdigest()
    write_lines(archive, [*parts, json.dumps({"checksum": checksum}).encode() + b"\n"])
    assert error_of(lambda: Archive(archive)) == (
        f"{archive} is a backup of format 2, this ontoloom reads 1 (use the ontoloom that wrote it)"
    )
