"""The files of the code as they are now, through the cache: read and parsed only for what was never asked.

Owns: one look at many files, how much of them is read in one look.
Leaves alone: what follows for an anchor (anchor_states, anchor_moves).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from remvault.domain.anchors import Place
from remvault.domain.blobs import blob_id
from remvault.errors import RemvaultError
from remvault.store.anchor_cache import AnchorCache, Answers
from remvault.store.code import CodeMissing, CodeRoot, CodeUnreadable
from remvault.store.code_source import Source
from remvault.store.trees import FileStat

# In one look; what is beyond is told as not known. Notes come from anybody, and each may name many files.
MAX_PARSED = 16 * 1024 * 1024  # bytes; reading without parsing counts for a part of it
MAX_SEARCHES = 64  # for lines that moved
_READING = 4  # as many bytes are read as one is parsed, and a file costs as much to open as 4 KiB to read
TOO_MUCH = "too much code to look through at once: ask again"


class TooMuch(RemvaultError):
    """The budget of one look is spent."""

    code = "too_much_code"

    def __init__(self) -> None:
        super().__init__(TOO_MUCH)


class CodeFile:
    """One file of the code as it is now. Nothing is read before it is asked for what the cache does not know."""

    def __init__(self, path: str, look: Look) -> None:
        self.path = path
        self.is_gone, self.why = False, ""  # why it cannot be read, or is not there; "" when it is here
        self._look = look
        self._source: Source | None = None
        known = look.cache.answers(path, look.root.stat)
        self._is_open = known is not None
        self._answers: Answers = known or {}

    @property
    def is_here(self) -> bool:
        """Whether the file can be read; raises TooMuch."""
        self._open()
        return not self.why

    def digest(self, place: Place) -> str | None:
        """The digest of what lies at a place of this file; None when nothing does, or the file is binary."""

        def find(source: Source) -> str | None:
            found = source.find(place)
            return None if found is None else found.digest

        digest: str | None = self._ask(key_of(place), find)
        return digest

    def lines_of(self, digest: str, near: tuple[int, int]) -> tuple[int, int] | None:
        """As `Source.lines_of`."""

        def find(source: Source) -> tuple[int, int] | None:
            self._look.spend_search()
            return source.lines_of(digest, near)

        found = self._ask(f"\nlines {near[0]}-{near[1]} {digest}", find)
        return None if found is None else (found[0], found[1])

    def names_of(self, digest: str) -> list[str]:
        """As `Source.names_of`."""
        return self._ask(f"\nnames {digest}", lambda source: source.names_of(digest)) or []

    def _ask(self, asked: str, find: Callable[[Source], Any]) -> Any:
        self._open()
        if asked in self._answers:
            return self._answers[asked]
        if self._source is None:
            self._read()  # perhaps with other content than its stat stood for
        if self._source is None:
            return None
        was_parsed = self._source.is_parsed
        answer = find(self._source)
        if self._source.is_parsed and not was_parsed:
            self._look.spend(len(self._source.data))
        self._look.cache.keep(self._answers, asked, answer)
        return answer

    def _open(self) -> None:
        if not self._is_open:
            self._is_open = True
            self._read()

    def _read(self) -> None:
        try:
            data, found = self._look.read(self.path)
        except CodeMissing as err:
            self.is_gone, self.why = True, err.reason
        except CodeUnreadable as err:
            self.why = err.reason
        else:
            self._source = Source(self.path, data)
            name = self.path.rpartition("/")[2]  # its ending says how it is read
            self._answers = self._look.cache.learn(self.path, found, f"{blob_id(data)}/{name}")


class Look:
    """One look at the files of a code root."""

    def __init__(self, root: CodeRoot, cache: AnchorCache) -> None:
        self.root, self.cache = root, cache
        self._files: dict[str, CodeFile] = {}
        self._left, self._searches_left = MAX_PARSED, MAX_SEARCHES

    def file(self, path: str) -> CodeFile:
        """The file at a path; the same one each time."""
        file = self._files.get(path)
        if file is None:
            file = self._files[path] = CodeFile(path, self)
        return file

    def read(self, path: str) -> tuple[bytes, FileStat]:
        """As `CodeRoot.read`; raises TooMuch when enough was read."""
        if self._left <= 0:
            raise TooMuch
        data, found = self.root.read(path)
        self.spend(len(data) // _READING + 1024)
        return data, found

    def spend(self, parsed: int) -> None:
        """Take bytes that were parsed off what is left for this look."""
        self._left -= parsed

    def spend_search(self) -> None:
        """Raise TooMuch when too many searches for lines were made."""
        self._searches_left -= 1
        if self._searches_left < 0:
            raise TooMuch


def key_of(place: Place) -> str:
    """What names a place within its file among the answers: the `at` of an anchor behind its path."""
    if place.lines is not None:
        return f"#L{place.lines[0]}-L{place.lines[1]}"
    return "" if place.symbol is None else f"#{place.symbol}"
