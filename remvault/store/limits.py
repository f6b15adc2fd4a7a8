"""How much of one file is ever taken into memory.

A note is read up to its first MiB, but named, compared and rewritten as a whole; a file beyond the limit is none of
ours, and is skipped.
"""

from __future__ import annotations

import os
from typing import BinaryIO

from remvault.errors import GitError

MAX_FILE_BYTES = 64 * 1024 * 1024
TOO_LARGE = f"larger than {MAX_FILE_BYTES // 1024**2} MiB"


class BlobTooLarge(GitError):
    """A blob is beyond the limit; it was not read."""

    code = "blob_too_large"

    def __init__(self, blob: str) -> None:
        self.blob = blob
        super().__init__(f"blob {blob} is {TOO_LARGE}", hint="keep such files out of the vault")


def read_limited(stream: BinaryIO) -> bytes | None:
    """All bytes of an open file, or None when it is beyond the limit. Raises OSError."""
    size = os.fstat(stream.fileno()).st_size
    if size > MAX_FILE_BYTES:
        return None
    data = stream.read(size + 1)
    if len(data) > size:  # it grew since
        data += stream.read(MAX_FILE_BYTES + 1 - len(data))
    return data if len(data) <= MAX_FILE_BYTES else None
