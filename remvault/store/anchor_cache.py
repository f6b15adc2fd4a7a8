"""What was found in the code before: answers kept by content, and which content a file had.

Owns: the cache file, its signature, when a stat may stand for the content.
Leaves alone: what the answers mean (anchor_states).

Every answer follows from the bytes of one file, or from commits by their ids, so the cache may be lost at any time.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from remvault import __version__
from remvault.store.limits import MAX_FILE_BYTES
from remvault.store.state import State, write_whole
from remvault.store.trees import FileStat

CACHE_FILE = "anchor-cache"
_VERSION = 1
# A file changed this long before it was looked at may change again without another time stamp: the coarsest clocks of
# file systems tick every two seconds.
_RACY_NS = 2_000_000_000
_MAX_KEPT = 4 * 1024 * 1024  # characters of each kind that are kept; the oldest go
_MAX_ASKED, _MAX_ANSWERS = 400, 4_000  # characters of a question, answers for one content

Answers = dict[str, Any]  # by what was asked; what JSON can hold


class AnchorCache:
    """The cache of one code root.

    Args:
        state: where it is kept; None, or caches that cannot be used, keep it in memory only.
        root: the code root; the stats of another are not believed, the answers are.
        flavour: what else the answers hang on; a cache of another flavour is thrown away.
        clock_ns: the time of the files' clock, in nanoseconds since 1970.
    """

    def __init__(self, state: State | None, *, root: Path, flavour: str, clock_ns: Callable[[], int]) -> None:
        self._file = None if state is None or not state.caches_usable or not state.key else state.caches / CACHE_FILE
        self._key = state.key if state is not None else b""
        self._header = [_VERSION, __version__, flavour]
        self._root, self._clock_ns = str(root), clock_ns
        self._paths: dict[str, list[Any]] = {}  # path: its stat and the key of its content
        self._contents: dict[str, Answers] = {}
        self._facts: Answers = {}
        self._is_changed = False
        self._load()

    def answers(self, path: str, stat: Callable[[str], os.stat_result | None]) -> Answers | None:
        """What is known of a file by its stat alone; None when it must be read to tell.

        Args:
            stat: called with the path, if that was read before.
        """
        kept = self._paths.get(path)
        found = stat(path) if kept is not None else None
        if found is None or kept is None or kept[0] != found.st_size or kept[3] != found.st_ino:
            return None
        return self._contents.get(kept[4]) if kept[1] == found.st_mtime_ns and kept[2] == found.st_ctime_ns else None

    def learn(self, path: str, found: FileStat, content: str) -> Answers:
        """Note which content a file has, and return what is known of that, to be added to.

        Args:
            found: its stat from before it was read.
            content: a key that names the bytes and how they are read.
        """
        is_racy = max(found.mtime_ns, found.ctime_ns) >= self._clock_ns() - _RACY_NS
        self._paths.pop(path, None)
        if not is_racy:
            self._paths[path] = [*found, content]
            self._is_changed = True
        return self.of_content(content)

    def of_content(self, content: str) -> Answers:
        """What is known of a content, to be added to with `keep`."""
        answers = self._contents.pop(content, {})
        self._contents[content] = answers  # the youngest last
        return answers

    def keep(self, answers: Answers, asked: str, answer: Any) -> None:
        """Add an answer to what is known of a content, within limits that only a hostile note meets."""
        if len(asked) <= _MAX_ASKED and len(answers) < _MAX_ANSWERS:
            answers[asked] = answer
            self._is_changed = True

    def fact(self, asked: str) -> Any:
        """What is known to follow from commits by their ids; None when nothing is."""
        return self._facts.get(asked)

    def keep_fact(self, asked: str, answer: Any) -> None:
        """Keep what follows from commits by their ids, and from nothing else."""
        self._facts[asked] = answer
        self._is_changed = True

    def save(self) -> None:
        """Write the cache if it learned anything; where that cannot be, nothing is lost but time."""
        if not self._is_changed or self._file is None:
            return
        answered = {key: answers for key, answers in self._contents.items() if answers}
        kinds: tuple[dict[str, Any], ...] = (self._paths, answered, self._facts)
        parts = [_json(self._header), _json(self._root), *map(_youngest, kinds)]
        data = f"[{','.join(parts)}]".encode()
        with suppress(OSError):
            write_whole(self._file, self._signature(data) + b"\n" + data, durable=False)
            self._is_changed = False

    def _load(self) -> None:
        if self._file is None:
            return
        try:
            with open(self._file, "rb") as stream:
                signature, _, data = stream.read(MAX_FILE_BYTES).partition(b"\n")
        except OSError:
            return
        if not hmac.compare_digest(signature, self._signature(data)):
            return
        header, root, paths, contents, facts = json.loads(data)  # signed: nobody else wrote it
        if header == self._header:
            self._contents, self._facts = contents, facts
            self._paths = paths if root == self._root else {}

    def _signature(self, data: bytes) -> bytes:
        # The name is part of it: a signed file of another cache is not taken for this one.
        return hmac.new(self._key, CACHE_FILE.encode() + b"\n" + data, hashlib.sha256).hexdigest().encode()


def _youngest(items: dict[str, Any]) -> str:
    """As much as is kept of what was learned, the last of it, as JSON."""
    left, kept = _MAX_KEPT, []
    for key, value in reversed(items.items()):
        text = f"{_json(key)}:{_json(value)}"
        left -= len(text)
        if left < 0:
            break
        kept.append(text)
    return f"{{{','.join(reversed(kept))}}}"


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
