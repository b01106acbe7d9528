"""The LLM's tokenizer, read from its folder with the `tokenizers` library; torch is not needed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoloom.errors import InputError
from ontoloom.protocols import Tokenizer

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Backend

SETTINGS_FILES = ("tokenizer_config.json", "special_tokens_map.json")


class FolderTokenizer:
    """A ``tokenizer.json`` with the boundary tokens that its settings name.

    ``name`` is a hash of vocabulary and boundaries, so that the same model in another folder has the same name.
    Control tokens spelled out in a text are ordinary characters here: user text cannot forge a boundary.
    """

    def __init__(self, backend: Backend, *, bos: str, eos: str) -> None:
        self._backend = backend
        backend.no_truncation()
        backend.no_padding()
        backend.encode_special_tokens = True
        self.bos, self.eos = bos, eos
        self.bos_id, self.eos_id = (self._special_id(token) for token in (bos, eos))
        digest = hashlib.blake2b("\0".join((backend.to_str(), bos, eos)).encode(), digest_size=6).hexdigest()
        self.name = f"{type(backend.model).__name__.lower()}-{backend.get_vocab_size()}-{digest}"

    def encode(self, text: str) -> list[int]:
        """Token ids without BOS and EOS."""
        ids: list[int] = self._backend.encode(text, add_special_tokens=False).ids
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """The text of token ids, special tokens left out."""
        text: str = self._backend.decode(list(ids), skip_special_tokens=True)
        return text

    def _special_id(self, token: str) -> int:
        found: int | None = self._backend.token_to_id(token)
        if found is None:
            raise InputError(f"the tokenizer has no token {token!r}", hint="its settings name a boundary it lacks")
        return found


def read_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer in a model's folder (``tokenizer.json`` and ``tokenizer_config.json``).

    A model without a BOS of its own (GPT-2, Qwen) begins texts with its EOS, as GPT-2 does. Raises InputError.
    """
    from tokenizers import Tokenizer as Backend

    path = folder / "tokenizer.json"
    if not path.is_file():
        raise InputError(f"{path}: no such file", hint="the folder of a Hugging Face model holds it")
    try:
        backend = Backend.from_file(str(path))
    except Exception as error:  # the library raises bare Exception for a damaged file
        raise InputError(f"{path}: not a tokenizer: {error}") from error
    special = _special_tokens(folder)
    eos = special.get("eos_token")
    if eos is None:
        raise InputError(f"{folder / SETTINGS_FILES[0]}: names no eos_token", hint="add the model's end-of-text token")
    return FolderTokenizer(backend, bos=special.get("bos_token", eos), eos=eos)


def _special_tokens(folder: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in SETTINGS_FILES:
        path = folder / name
        if not path.is_file():
            continue
        try:
            settings: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise InputError(f"{path}: not JSON: {error}") from error
        for key in ("bos_token", "eos_token"):
            token = settings.get(key)
            text = token.get("content") if isinstance(token, dict) else token
            if isinstance(text, str):
                found.setdefault(key, text)
    return found
