"""How names are compared and ids are made."""

from __future__ import annotations

import re
import unicodedata
from hashlib import blake2b

_OTHER = re.compile(r"[^a-z0-9+#]+")
# Ids are most of what is worked out of a small write: the lengths of short parts are at hand.
_SIZES = [size.to_bytes(8, "big") for size in range(256)]


def name_key(name: str) -> str:
    """The key under which two spellings of a name are the same: ``Llama-3 70B`` and ``llama 3 70b``.

    Compatibility forms are unified and case is folded; only letters, digits, combining marks and the signs that
    tell names apart (``+``, ``#``: C, C++, C#) are kept. A name made of other signs alone is its own key.
    """
    if name.isascii():
        return _OTHER.sub("", name.lower()) or name.lower().strip()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    kept = "".join(c for c in folded if c.isalnum() or c in "+#" or unicodedata.category(c).startswith("M"))
    return unicodedata.normalize("NFKC", kept) or folded.strip()


def hash_id(*parts: str) -> str:
    """A 128-bit hex id of a sequence of strings. Lengths are hashed too, so that no two sequences read the same."""
    framed: list[bytes] = []
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        size = len(data)
        framed += (_SIZES[size] if size < 256 else size.to_bytes(8, "big"), data)
    return blake2b(b"".join(framed), digest_size=16).hexdigest()


def entity_id(type_name: str, key: str) -> str:
    """The id of an entity from its type and the value of its key (by default its name)."""
    return hash_id("entity", type_name, name_key(key))
