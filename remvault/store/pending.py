"""Operations that are on disk but not in history yet, one small JSON file each.

Owns: the queue's files: written whole, read in order, torn ones and those that cannot be ours set aside and named.
Leaves alone: when an operation is committed (ledger). Reads need neither git nor the lock.

Others may write to the git directory too. So an entry gets no further than one of ours could: it is about files that
operations of ours write, and can be said in a commit message.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path

from remvault.domain.commit_message import Operation
from remvault.errors import UserError
from remvault.store.note_paths import checked_parts, is_own_path
from remvault.store.state import make_private, put_aside, write_whole

UNKNOWN = ""  # no blob's id
_FORMAT = 1
_BLOB = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_NAME = re.compile(r"(\d{20})-[0-9a-f]{8}\.json\Z")


@dataclass(frozen=True, slots=True)
class PendingChange:
    """One file of an operation, as blob ids; None stands for "no file"."""

    path: str  # relative to the repository's root
    blob: str | None  # what we wrote
    base: str | None  # what was on disk before
    head: str | None  # what HEAD had before
    staged: str | None = UNKNOWN  # `stage` mode: what was staged before


@dataclass(frozen=True, slots=True)
class PendingOperation:
    """An operation waiting for its commit, or, in `stage` mode, for the person's."""

    name: str  # its file; names sort in the order of making
    operation: Operation
    changes: tuple[PendingChange, ...]
    work_tree: str  # git directory relative to the common one, "." in the main work tree
    prefix: str  # the vault's path in the repository, "" or ending in "/"
    saved: str  # RFC 3339
    why: str  # why it waits, one line; "" while the write is still going on, or was cut short

    @property
    def paths(self) -> tuple[str, ...]:
        """The files of the operation, relative to the vault."""
        return tuple(change.path.removeprefix(self.prefix) for change in self.changes)


class Queue:
    """A folder of pending operations, shared by the work trees of a repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(
        self,
        operation: Operation,
        changes: tuple[PendingChange, ...],
        *,
        work_tree: str,
        prefix: str,
        now: datetime,
        why: str,
        durable: bool,
    ) -> PendingOperation:
        """Write one operation behind all others; call with the lock held. Raises OSError."""
        make_private(self.folder.parent)
        make_private(self.folder)
        last = max((int(match[1]) for match in map(_NAME.match, self._names()) if match), default=0)
        # Names count up even when the clock was put back.
        stamp = max(int(now.timestamp() * 1_000_000_000), last + 1)
        name = f"{stamp:020d}-{secrets.token_hex(4)}.json"
        entry = PendingOperation(name, operation, changes, work_tree, prefix, now.isoformat(timespec="seconds"), why)
        self._write(entry, durable=durable)
        return entry

    def put_off(self, entry: PendingOperation, why: str) -> PendingOperation:
        """Say why an operation waits, and make sure its file survives a power cut. Raises OSError."""
        entry = replace(entry, why=why)
        self._write(entry, durable=True)
        return entry

    def drop(self, entry: PendingOperation) -> None:
        """Forget an operation that is done."""
        (self.folder / entry.name).unlink(missing_ok=True)

    def read(self, set_aside: list[Path]) -> list[PendingOperation]:
        """Every operation, oldest first. A file that is torn, or none of ours, is renamed and added to `set_aside`."""
        entries = []
        for name in self._names():
            path = self.folder / name
            try:
                entries.append(_parse(name, json.loads(path.read_bytes())))
            except FileNotFoundError:
                continue  # done meanwhile by another process
            except (OSError, ValueError, KeyError, TypeError, UserError):
                put_aside(path, set_aside)
        return entries

    def set_aside(self) -> list[Path]:
        """What was renamed here because it could not be read as ours, sorted."""
        return sorted(self.folder.glob("*.torn-*"))

    def _names(self) -> list[str]:
        try:
            return sorted(path.name for path in self.folder.iterdir() if path.name.endswith(".json"))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def _write(self, entry: PendingOperation, *, durable: bool) -> None:
        content = {"format": _FORMAT, **asdict(entry)}
        del content["name"]
        write_whole(self.folder / entry.name, json.dumps(content, indent=1).encode(), durable=durable)


def _parse(name: str, content: Mapping[str, object]) -> PendingOperation:
    """Build the value; raises ValueError, KeyError, TypeError or UserError for anything that is not exactly one."""
    if content["format"] != _FORMAT:
        raise ValueError("another format")
    said = dict(_mapping(content["operation"]))
    said["ids"], said["supersedes"] = _texts(said["ids"]), _texts(said["supersedes"])
    operation = Operation(**said)  # type: ignore[arg-type]
    operation.check()
    changes = content["changes"]
    if not isinstance(changes, list) or not changes:
        raise ValueError("no changes")
    files = tuple(PendingChange(**_mapping(change)) for change in changes)  # type: ignore[arg-type]
    texts = [content[key] for key in ("work_tree", "prefix", "saved", "why")]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("not text")
    entry = PendingOperation(name, operation, files, *map(str, texts))
    for file in files:
        _check(file, entry.prefix)
    return entry


def _check(change: PendingChange, prefix: str) -> None:
    """Refuse a file that no operation of ours could have written, and ids that are none; raises as `_parse`."""
    path = change.path.removeprefix(prefix)
    if not change.path.startswith(prefix) or not is_own_path("/".join(checked_parts(path))):
        raise ValueError("not a file of ours")
    for blob in (change.blob, change.base, change.head, change.staged):
        if blob and not _BLOB.match(blob):
            raise ValueError("not a blob's id")


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise TypeError("not a mapping")
    return value


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError("not a list")
    return tuple(str(item) for item in value)
