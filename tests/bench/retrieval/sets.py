"""Read a folder of retrieval sets: one folder a set, known by the first word of its name, files by that of theirs.

Owns: finding sets and files, reading JSON Lines (plain or .gz), refusing what cannot be right with file and line.
Leaves alone: what a set is asked (`protocols`).
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KNOWN = ("locomo", "cosqa", "scifact", "remmemory", "qmd")


class BadSet(Exception):
    """A set cannot be read; the message names the file and, where there is one, the line."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a file: an object, with where it stands."""

    place: str  # "locomo-dev/turns.jsonl.gz:12"
    values: dict[str, Any]

    def text(self, name: str, *, default: str | None = None) -> str:
        """A text; raises BadSet when it is missing, without a default, or no text that a file can hold."""
        value = self.values.get(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            raise BadSet(f"{self.place}: {name!r} is {_said(value)}, not text")
        if any("\ud800" <= sign <= "\udfff" for sign in value):
            raise BadSet(f"{self.place}: {name!r} holds half a character (a lone surrogate)")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; absent is empty."""
        value = self.values.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise BadSet(f"{self.place}: {name!r} is {_said(value)}, not a list of texts")
        return tuple(value)

    def number(self, name: str) -> float | None:
        """A number; None when absent."""
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value or abs(value) > 1e9:
            raise BadSet(f"{self.place}: {name!r} is {_said(value)}, not a number")
        return float(value)

    def whole(self, name: str) -> int | None:
        """A whole number from 0 on; None when absent."""
        value = self.number(name)
        if value is not None and (value < 0 or value != int(value)):
            raise BadSet(f"{self.place}: {name!r} is {value}, not a whole number from 0 on")
        return None if value is None else int(value)


@dataclass(frozen=True, slots=True)
class SetFolder:
    """One set on disk."""

    name: str  # one of KNOWN
    folder: Path

    def rows(self, word: str) -> list[Row]:
        """Every object of the file called `word…`; raises BadSet when there is no such file, or two."""
        return list(_rows(self.file(word)))

    def file(self, word: str) -> Path:
        """The file whose name begins with this word; raises BadSet as `rows`."""
        found = sorted(one for one in self.folder.iterdir() if one.is_file() and _word(one.name) == word)
        found = [one for one in found if one.name.endswith((".jsonl", ".jsonl.gz"))]
        if len(found) != 1:
            what = "no file" if not found else " and ".join(one.name for one in found)
            raise BadSet(f"{self.folder}: wanted one file {word}….jsonl or .jsonl.gz, there is {what}")
        return found[0]

    def files(self) -> list[Path]:
        """Every file of the folder, by name."""
        return sorted(one for one in self.folder.iterdir() if one.is_file())


def find_sets(data: Path) -> tuple[dict[str, SetFolder], list[str]]:
    """The sets below a folder by name, and the names of folders that are no known set.

    Raises:
        BadSet: there is no such folder, or two folders hold one set.
    """
    if not data.is_dir():
        raise BadSet(f"{data} is not a folder")
    found: dict[str, SetFolder] = {}
    unknown = []
    for folder in sorted(one for one in data.iterdir() if one.is_dir() and not one.name.startswith(".")):
        name = _word(folder.name)
        if name not in KNOWN:
            unknown.append(folder.name)
        elif name in found:
            raise BadSet(f"{data}: {found[name].folder.name} and {folder.name} both hold the set {name}")
        else:
            found[name] = SetFolder(name, folder)
    return found, unknown


def by_id(rows: Sequence[Row], name: str = "id") -> dict[str, Row]:
    """Rows by their id, in their order; raises BadSet when an id is there twice."""
    found: dict[str, Row] = {}
    for row in rows:
        key = row.text(name)
        if key in found:
            raise BadSet(f"{row.place}: {name} {key!r} is there already, at {found[key].place}")
        found[key] = row
    return found


def _rows(file: Path) -> Iterator[Row]:
    where = f"{file.parent.name}/{file.name}"
    for number, line in enumerate(_lines(file, where), 1):
        if not line.strip():
            continue
        place = f"{where}:{number}"
        try:
            values = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as err:
            raise BadSet(f"{place}: not JSON: {err}") from err
        if not isinstance(values, dict):
            raise BadSet(f"{place}: {_said(values)}, not an object")
        yield Row(place, values)


def _lines(file: Path, where: str) -> list[str]:
    """Lines end at a line feed only: a text may hold other characters that Python would split at."""
    try:
        data = gzip.decompress(file.read_bytes()) if file.name.endswith(".gz") else file.read_bytes()
    except (OSError, EOFError, zlib.error) as err:
        raise BadSet(f"{where}: cannot be read: {err}") from err
    lines = data.split(b"\n")
    texts = []
    for number, line in enumerate(lines, 1):
        try:
            texts.append(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        except UnicodeDecodeError as err:
            raise BadSet(f"{where}:{number}: not UTF-8: {err.reason} at byte {err.start}") from err
    return texts


def _word(name: str) -> str:
    """The first word of a name, lower case."""
    return re.split(r"[^a-z0-9]", name.lower(), maxsplit=1)[0]


def _said(value: object) -> str:
    if value is None:
        return "missing"
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= 60 else f"{text[:57]}..."
