"""Ids of memories: short, sortable by nobody, never reused."""

from __future__ import annotations

# Crockford's base 32: no i, l, o, u, so an id can be read aloud and never spells a word by accident.
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
PREFIX = "m-"
LENGTH = 10


def memory_id(entropy: bytes) -> str:
    """Make `m-` and 10 characters of base 32 from at least 7 random bytes (50 bits are used).

    Raises:
        ValueError: if there are fewer than 7 bytes.
    """
    if len(entropy) < 7:
        raise ValueError("an id needs at least 7 random bytes")
    number = int.from_bytes(entropy[:7], "big") & ((1 << 50) - 1)
    return PREFIX + "".join(ALPHABET[(number >> shift) & 31] for shift in range(45, -1, -5))
