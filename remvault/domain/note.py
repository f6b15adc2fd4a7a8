"""The note: one file, read into a memory, a body and the problems found on the way.

Reading never fails: a broken note is a note with problems, so one bad file cannot hide the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from remvault.domain.blobs import blob_id
from remvault.domain.fields import Flaw, read_memory
from remvault.domain.frontmatter import Split, Unreadable, read, split
from remvault.domain.memory import Memory
from remvault.domain.problems import Problem, has_errors, problem

MAX_NOTE_BYTES = 1024 * 1024
_OURS = "<<<<<<< "  # how git begins a conflict
_FLAW_CODES = {"value": "RV102", "shape": "RV102", "time": "RV106"}


@dataclass(frozen=True, slots=True)
class Note:
    """A file of the vault as parsed.

    `problems` are those of reading alone (bytes, block, values); rules over fields and graph are `domain.rules`.
    """

    path: str  # relative to the vault, with "/"
    blob: str  # git blob id of the whole file, 40 hex
    memory: Memory
    body: str
    body_line: int  # 1-based line on which the body begins
    problems: tuple[Problem, ...] = ()
    has_block: bool = True
    is_text: bool = True  # False: not UTF-8, never rewritten
    key_lines: Mapping[str, int] = field(default_factory=dict)  # top-level key: 1-based line
    flawed_keys: frozenset[str] = frozenset()  # keys already reported as invalid or repeated

    @property
    def owner(self) -> str | None:
        """The owner key of the memory; None is visible to nobody but a person's own search."""
        return self.memory.owner

    @property
    def is_sound(self) -> bool:
        """Whether the note could be read without error, and so may be surfaced."""
        return self.has_block and not has_errors(self.problems)

    def line_of(self, key: str) -> int:
        """Line of a key, or the first line when the key is absent."""
        return self.key_lines.get(key, 1)


def parse_note(path: str, data: bytes) -> Note:
    """Read one file. `path` is relative to the vault; `data` are all its bytes.

    Over `MAX_NOTE_BYTES` only the first MiB is read, with a warning. Never raises.
    """
    blob = blob_id(data)
    problems: list[Problem] = []
    if len(data) > MAX_NOTE_BYTES:
        size = f"{len(data) / MAX_NOTE_BYTES:.1f} MiB"
        problems.append(problem("RV110", path, None, f"note is {size}, the first MiB is read", "split the note"))
    text, is_text = _decode(data)
    if not is_text:
        problems.append(problem("RV109", path, None, "not UTF-8 text", "save the file as UTF-8"))
    parts = split(text)
    if not parts.has_block:
        problems.append(_no_block(path, parts))
        return Note(
            path,
            blob,
            _closed(text if parts.oddity or text.startswith(_OURS) else ""),
            parts.body,
            parts.body_line,
            tuple(problems),
            False,
            is_text,
        )
    try:
        block = read(parts)
    except Unreadable as err:
        problems.append(_unreadable(path, parts, err))
        return Note(path, blob, _closed(parts.block), parts.body, parts.body_line, tuple(problems), True, is_text)
    memory, flaws = read_memory(block)
    problems += [_flaw(path, flaw) for flaw in flaws]
    for key, (first, second) in block.repeated.items():
        message = f"key {key!r} stands on lines {first} and {second}"
        problems.append(problem("RV103", path, second, message, "keep the one that is right"))
    lines = {key: entry.line for key, entry in block.entries.items()}
    flawed = frozenset(block.repeated) | {flaw.key for flaw in flaws}
    return Note(path, blob, memory, parts.body, parts.body_line, tuple(problems), True, is_text, lines, flawed)


def _decode(data: bytes) -> tuple[str, bool]:
    """Return the text of the first MiB, and whether all of the file is UTF-8."""
    head = data[:MAX_NOTE_BYTES]
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return head.decode("utf-8", "replace"), False
    return head.decode("utf-8", "ignore"), True  # a cut may go through a character


def _closed(raw: str) -> Memory:
    """The memory of a block nobody can read: unknown, and local-only if it so much as says the word."""
    return Memory(sensitivity="local-only" if "local-only" in raw else "normal")


def _no_block(path: str, parts: Split) -> Problem:
    if parts.body.startswith(_OURS):  # both sides changed the first line, a line end may do
        return _in_conflict(path, 1)
    if parts.oddity == "unclosed":
        return problem("RV101", path, 1, "frontmatter is not closed", "end it with a line that is exactly ---")
    if parts.oddity == "not a fence":
        return problem("RV101", path, 1, "the first line looks like a fence but is not exactly ---", "write --- alone")
    return problem("RV100", path, 1, "no frontmatter: not a memory yet", "add a block; 'remvault new' shows one")


def _unreadable(path: str, parts: Split, err: Unreadable) -> Problem:
    for number, line in enumerate(parts.block.split("\n"), start=2):
        if line.startswith(_OURS):  # the end of the conflict may lie behind the fence
            return _in_conflict(path, number)
    return problem("RV101", path, err.line, err.message, err.hint)


def _in_conflict(path: str, line: int) -> Problem:
    return problem("RV111", path, line, "in conflict: merge markers in the frontmatter", "choose a side for each field")


def _flaw(path: str, flaw: Flaw) -> Problem:
    return problem(_FLAW_CODES[flaw.kind], path, flaw.line, flaw.message, flaw.hint)
