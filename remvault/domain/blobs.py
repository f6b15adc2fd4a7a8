"""The name git gives to content."""

from __future__ import annotations

import hashlib


def blob_id(data: bytes) -> str:
    """Name content as git does (SHA-1 of the blob), so a committed note needs no read to be known."""
    digest = hashlib.sha1(b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()
