"""The manifest: which notes there are, what each looked like when read, and which index files go with that.

Owns: the manifest file, its checksum, the fingerprints of the index files, what is dead in the index.
Leaves alone: finding out what changed (reconcile), the index files themselves (text_index).

The manifest is written after the index and names it, so a reader that finds both in agreement has a consistent pair;
anything else is thrown away. It is JSON and only ever parsed. The index files hold pickles, and opening one is as good
as running it; so the manifest that vouches for them is signed with a key from outside the repository (store.state).

The file: a line with the signature of all that follows; a line with the header, which tells the size of each part; then
paths and ids (JSON), the numbers of all rows by column, the rest of each row on a line of its own, and what is dead
(JSON). Of the rest and the dead only what is asked for is parsed.
"""

from __future__ import annotations

import array
import gc
import hmac
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from remvault.index.abouts import About
from remvault.index.rows import Entry, NoteRow, head_blob_of, to_json
from remvault.index.schema import FIELDS, NOTES, SECTIONS

# What a row consists of is part of it: a field added or moved makes older manifests foreign by itself.
MANIFEST_VERSION = ["4", *Entry._fields, *NoteRow._fields, *About._fields]
INDEX_FOLDER, MANIFEST_FILE = "text-index", "manifest"
_TICK_S = 0.02  # longest wait for the file system's clock to move on
_NUMBERS = 10  # leading fields of an Entry that are numbers


class BadManifest(Exception):
    """The manifest, or the pair it makes with the index files, cannot be used; the message says why."""


@dataclass(slots=True)
class Totals:
    """Live documents of one kind: how many, and their tokens in each field."""

    documents: int = 0
    tokens: list[int] = field(default_factory=lambda: [0] * len(FIELDS))

    def add(self, lengths: tuple[int, ...], sign: int = 1) -> None:
        """Count a document in (or out, with sign -1)."""
        self.documents += sign
        self.tokens = [known + sign * length for known, length in zip(self.tokens, lengths, strict=True)]

    def averages(self) -> dict[str, float]:
        """Tokens a document has in each field, on average."""
        count = self.documents or 1
        return {name: tokens / count for name, tokens in zip(FIELDS, self.tokens, strict=True)}


@dataclass(slots=True)
class Dead:
    """Documents of one segment that no longer count, and how many of its notes hold each term."""

    documents: int = 0
    terms: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Manifest:
    """What is known of a vault and its index. `rows` by path; `generation` None where nothing is on disk."""

    flavour: str  # everything that decides what the same note would be indexed as
    generation: int | None = None
    whoosh: str = ""
    next_number: int = 1
    head: str | None = None  # commit id
    head_only: dict[str, str] = field(default_factory=dict)  # path: blob, of HEAD's notes that have no row
    rows: dict[str, Entry] = field(default_factory=dict)
    totals: dict[str, Totals] = field(default_factory=lambda: {NOTES: Totals(), SECTIONS: Totals()})
    dead_json: str = "{}"
    files: dict[str, list[int]] | None = None  # index file: what its stat was; None if never saved
    stamp: str = ""  # signature of the file it was loaded from; "" if it was not

    def dead(self) -> dict[str, Dead]:
        """What is dead, by segment; parsed anew on each call."""
        return {name: Dead(*values) for name, values in json.loads(self.dead_json).items()}

    def drop(self, path: str) -> None:
        """Forget a note's row, if there is one, but not what HEAD holds at its path."""
        entry = self.rows.pop(path, None)
        head_blob = None if entry is None else head_blob_of(entry)
        if head_blob is not None:
            self.head_only[path] = head_blob

    def copy(self) -> Manifest:
        """A copy whose maps and totals may be changed."""
        totals = {kind: Totals(one.documents, list(one.tokens)) for kind, one in self.totals.items()}
        return Manifest(
            self.flavour, self.generation, self.whoosh, self.next_number, self.head, dict(self.head_only),
            dict(self.rows), totals, self.dead_json, self.files,
        )  # fmt: skip


def load(caches: Path, flavour: str, key: bytes) -> Manifest:
    """Read the manifest and hold the index files against it; `key` is the state's, see `save`.

    Raises:
        FileNotFoundError: there is none.
        BadManifest: torn, not signed by us, of another version or flavour, or the index files are not as it says.
    """
    try:
        data = (caches / MANIFEST_FILE).read_bytes()
    except FileNotFoundError:
        raise
    except OSError as err:
        raise BadManifest(f"the manifest cannot be read ({err.strerror})") from err
    signature, _, rest = data.partition(b"\n")
    if not hmac.compare_digest(signature, _signature(rest, key).encode()):
        raise BadManifest("the manifest was damaged")
    header_end = rest.index(b"\n")
    header = json.loads(rest[:header_end])
    if header.get("version") != MANIFEST_VERSION or header.get("flavour") != flavour:
        raise BadManifest("it was made by another version or with other settings")
    if not _has_generation(header["files"], header["generation"]) or not _is_untouched(caches, header["files"]):
        raise BadManifest("index files were changed")
    parts, at = [], header_end + 1
    for size in header["sizes"]:
        parts.append(rest[at : at + size])
        at += size
    with uncollected():
        rows = _read_rows(header, *parts[:3])
    return Manifest(
        flavour,
        header["generation"],
        header["whoosh"],
        header["next_number"],
        header["head"],
        header["head_only"],
        rows,
        {kind: Totals(*values) for kind, values in header["totals"].items()},
        parts[3].decode(),
        header["files"],
        signature.decode("latin-1"),
    )


def goes_with(caches: Path, manifest: Manifest) -> bool:
    """Whether the index files on disk are still those of this manifest, not of an older or a newer one."""
    return manifest.files is None or _is_untouched(caches, manifest.files)


def read_stamp(caches: Path) -> str | None:
    """The stamp of the manifest on disk now; None when there is none."""
    try:
        with open(caches / MANIFEST_FILE, "rb") as stream:
            return stream.readline().strip().decode("latin-1")
    except OSError:
        return None


def save(caches: Path, manifest: Manifest, key: bytes) -> None:
    """Write and sign the manifest for the index files as they are now, replacing the old one; raises OSError.

    Waits until the file system's clock has passed the youngest index file (a few milliseconds at most), so that no
    later change of such a file can leave its times as they were.
    """
    owners, *parts = _rows_parts(manifest.rows)
    parts.append(manifest.dead_json.encode())
    temporary = caches / f"{MANIFEST_FILE}.{os.getpid()}.tmp"
    manifest.files = files = _fingerprints(caches / INDEX_FOLDER)
    header = {
        "version": MANIFEST_VERSION,
        "flavour": manifest.flavour,
        "generation": manifest.generation,
        "whoosh": manifest.whoosh,
        "next_number": manifest.next_number,
        "head": manifest.head,
        "head_only": manifest.head_only,
        "totals": {kind: (one.documents, one.tokens) for kind, one in manifest.totals.items()},
        "files": files,
        "owners": owners,
        "sizes": [len(part) for part in parts],
    }
    rest = b"".join((to_json(header), b"\n", *parts))
    manifest.stamp = _signature(rest, key)
    try:
        with open(temporary, "wb") as stream:
            stream.write(manifest.stamp.encode() + b"\n" + rest)
            stream.flush()
            _pass_tick(temporary, max((values[2] for values in files.values()), default=0))
        temporary.replace(caches / MANIFEST_FILE)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def dead_json(dead: dict[str, Dead]) -> str:
    """The stored form of what is dead."""
    return json.dumps({name: (one.documents, one.terms) for name, one in dead.items()}, separators=(",", ":"))


def disk_clock(caches: Path) -> int:
    """The file system's own time in nanoseconds: what a file changed at this moment would carry; raises OSError."""
    probe = caches / f"{MANIFEST_FILE}.{os.getpid()}.clock"
    try:
        with open(probe, "wb") as stream:
            return os.fstat(stream.fileno()).st_mtime_ns
    finally:
        probe.unlink(missing_ok=True)


def _fingerprints(folder: Path) -> dict[str, list[int]]:
    """Size, mtime, ctime and inode of every index file; locks and what a dead writer left are not among them."""
    found: dict[str, list[int]] = {}
    try:
        with os.scandir(folder) as listing:
            for entry in listing:
                if entry.name.endswith((".toc", ".trm", ".pst", ".col")):
                    stat = entry.stat(follow_symlinks=False)
                    found[entry.name] = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]
    except OSError:
        return {}  # no folder, or one that cannot be listed: as if empty
    return dict(sorted(found.items()))


def _has_generation(files: Mapping[str, list[int]], generation: int | None) -> bool:
    """Whether the index that would be opened is among the files vouched for. Others are never opened, only removed."""
    return generation is None or any(name.endswith(f"_{generation}.toc") for name in files)


def _is_untouched(caches: Path, files: dict[str, list[int]]) -> bool:
    found = _fingerprints(caches / INDEX_FOLDER)
    return all(found.get(name) == values for name, values in files.items())


def _rows_parts(rows: Mapping[str, Entry]) -> tuple[list[str | None], bytes, bytes, bytes]:
    """The owners, and the stored form of rows: paths and ids, columns of numbers, the rest by line."""
    owners: dict[str | None, int] = {}
    for entry in rows.values():
        owners.setdefault(entry.owner, len(owners))
    columns = zip(*(entry[:_NUMBERS] for entry in rows.values()), strict=True) if rows else [()] * _NUMBERS
    signed = [_signed(column) for column in columns]
    signed.append(array.array("q", (owners[entry.owner] for entry in rows.values())))
    names = [list(rows), [entry.id for entry in rows.values()]]
    packed = b"".join(_portable(column).tobytes() for column in signed)
    return list(owners), to_json(names), packed, b"\n".join(entry.rest for entry in rows.values())


def _read_rows(header: Mapping[str, Any], names: bytes, packed: bytes, lines: bytes) -> dict[str, Entry]:
    paths, ids = json.loads(names)
    numbers = array.array("q")
    numbers.frombytes(packed)
    numbers = _portable(numbers)
    count, owners = len(paths), header["owners"]
    columns = [numbers[at * count : (at + 1) * count] for at in range(_NUMBERS + 1)]
    found = zip(
        *columns[:_NUMBERS], [owners[at] for at in columns[_NUMBERS]], ids, paths, lines.split(b"\n"), strict=False
    )
    return dict(zip(paths, map(Entry._make, found), strict=True))


def _signed(column: tuple[int, ...]) -> array.array[int]:
    """Numbers of 64 bits. A stat that does not fit will seem changed, and its note is hashed each time."""
    try:
        return array.array("q", column)
    except OverflowError:
        return array.array("q", (max(-(2**63), min(number, 2**63 - 1)) for number in column))


def _portable(numbers: array.array[int]) -> array.array[int]:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _signature(data: bytes, key: bytes) -> str:
    return hmac.digest(key, data, "sha256").hex()[:32]  # twice as fast as the others where the processor helps


def _pass_tick(probe: Path, youngest_ns: int) -> None:
    deadline = time.monotonic() + _TICK_S
    while probe.stat().st_mtime_ns <= youngest_ns and time.monotonic() < deadline:
        os.utime(probe)


@contextmanager
def uncollected() -> Iterator[None]:
    """Keep the collector away while many lists are made at once: it doubles the time and finds nothing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
