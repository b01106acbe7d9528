"""Finds the entity that a person means: by id, name or alias; where there is none, the nearest names are told."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from graph.store import Merge, Store
from ontoloom.errors import StoreError
from ontoloom.names import name_key
from ontoloom.records import Entity


def find_entity(store: Store, text: str, type_name: str | None = None) -> Entity:
    """The entity of an id or a name. Raises StoreError where there is none, or several have the name."""
    by_id = store.entities([text]).get(text)
    if by_id is not None and type_name in (None, by_id.type):
        return by_id
    found = store.named([name_key(text)]).get(name_key(text), [])
    chosen = [entity for entity in found if type_name in (None, entity.type)]
    if len(chosen) == 1:
        return chosen[0]
    if chosen:
        raise _ambiguous(text, [(entity.name, entity.type, entity.id) for entity in chosen])
    raise StoreError(
        f"no {type_name or 'entity'} is called '{text}'",
        hint=_hint(store, text, type_name, found),
        code="unknown-entity",
    )


def find_merge(store: Store, text: str) -> Merge:
    """The merge that holds of what was called so, or has this id. Raises StoreError as ``find_entity`` does."""
    holding = [merge for merge in store.merges() if merge.undone is None]
    found = [m for m in holding if m.entity == text] or [m for m in holding if name_key(m.name) == name_key(text)]
    if len(found) == 1:
        return found[0]
    if found:
        raise _ambiguous(text, [(merge.name, merge.type, merge.entity) for merge in found])
    hint = "ontoloom store merges lists them"
    near = _nearest(text, [merge.name for merge in holding])
    raise StoreError(
        f"no merged entity is called '{text}'", hint=f"did you mean {near}?" if near else hint, code="not-merged"
    )


def _hint(store: Store, text: str, type_name: str | None, found: Sequence[Entity]) -> str:
    if found:
        return f"'{text}' is {' and '.join(sorted({f'a {entity.type}' for entity in found}))}"
    near = _nearest(text, [name for name, _, of_type in store.names() if type_name in (None, of_type)])
    return (
        f"did you mean {near}?"
        if near
        else f"list them: ontoloom select 'SELECT name, _id FROM {type_name or next(iter(store.ontology.types))}'"
    )


def _nearest(text: str, names: Sequence[str]) -> str:
    by_folded = {name.casefold(): name for name in names}
    near = get_close_matches(text.casefold(), list(by_folded), n=3, cutoff=0.6)
    return " or ".join(f"'{by_folded[name]}'" for name in near)


def _ambiguous(text: str, found: Sequence[tuple[str, str, str]]) -> StoreError:
    these = ", ".join(f"{name} ({type_name}, {entity})" for name, type_name, entity in sorted(found))
    types = {type_name for _, type_name, _ in found}
    hint = "name its type: --type" if len(types) == len(found) else "give the id"
    return StoreError(f"'{text}' may be any of {these}", hint=hint, code="ambiguous-entity")
