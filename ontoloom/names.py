"""How names are compared and ids are made."""

from __future__ import annotations

import hashlib
import unicodedata


def name_key(name: str) -> str:
    """The key under which two spellings of a name are the same: ``Llama-3 70B`` and ``llama 3 70b``.

    Compatibility forms are unified and case is folded; only letters, digits, combining marks and the signs that
    tell names apart (``+``, ``#``: C, C++, C#) are kept. A name made of other signs alone is its own key.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    kept = "".join(c for c in folded if c.isalnum() or c in "+#" or unicodedata.category(c).startswith("M"))
    return unicodedata.normalize("NFKC", kept) or folded.strip()


def hash_id(*parts: str) -> str:
    """A 128-bit hex id of a sequence of strings. Lengths are hashed too, so that no two sequences read the same."""
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    framed = b"".join([piece for data in encoded for piece in (len(data).to_bytes(8, "big"), data)])
    return hashlib.blake2b(framed, digest_size=16).hexdigest()


def entity_id(type_name: str, key: str) -> str:
    """The id of an entity from its type and the value of its key (by default its name)."""
    return hash_id("entity", type_name, name_key(key))
