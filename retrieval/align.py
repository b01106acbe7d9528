"""Alignment: a text as the LLM's tokenizer sees it, made ready for the embedder, boundaries kept.

Documents and questions take the same path, so that what is retrieved and what is generated split words alike.
"""

from __future__ import annotations

from typing import Literal

from ontoloom.protocols import Embedder, Tokenizer
from ontoloom.records import Aligned

Boundaries = Literal["embedder", "literal", "off"]


def align(text: str, *, tokenizer: Tokenizer, embedder: Embedder, boundaries: Boundaries = "embedder") -> Aligned:
    """Token ids from BOS to EOS, and the text to embed: ``decode(encode(text))`` between boundaries.

    ``embedder`` maps BOS and EOS to the embedder's own boundary tokens, which it then does not add again;
    ``literal`` writes the LLM's tokens into the text; ``off`` leaves the text as it is, with the ids kept all the same.
    Control tokens spelled out in ``text`` count as ordinary characters.
    """
    inner = tokenizer.encode(text)
    ids = (tokenizer.bos_id, *inner, tokenizer.eos_id)
    if boundaries == "off":
        return Aligned(ids, text)
    seen = tokenizer.decode(inner)
    if boundaries == "literal":
        return Aligned(ids, f"{tokenizer.bos}{seen}{tokenizer.eos}")
    return Aligned(ids, f"{embedder.bos} {seen} {embedder.eos}".strip())


def inside_boundaries(text: str, *, bos: str, eos: str) -> str:
    """The text without one pair of boundary tokens around it; a text that lacks either is returned as it is."""
    if bos and eos and text.startswith(f"{bos} ") and text.endswith(f" {eos}") and len(text) > len(bos) + len(eos) + 1:
        return text[len(bos) + 1 : -len(eos) - 1]
    return text
