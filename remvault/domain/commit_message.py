"""What a commit of ours says: subject, reason, trailers.

Owns: one operation as a value, its message, reading it back from a message.
Leaves alone: making the commit (store.ledger), deriving an operation where no trailer tells (store.history).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from remvault.errors import UserError

OPS: tuple[str, ...] = (
    *("init", "resolve", "fix", "upgrade", "handoff", "new", "update", "confirm", "supersede", "retract", "archive"),
    *("restore", "delete", "link", "unlink", "undo", "clear", "feedback", "capture", "review", "consolidate"),
    *("import", "merge", "edit"),
)
SUBJECT_CHARS = 72
_TRAILER = re.compile(r"(Remvault-[A-Za-z]+):[ \t]*(.*)\Z")
_ZERO_WIDTH_SPACE = "\u200b"


class UnfitForCommit(UserError):
    """A value that would be a line of the commit message holds a control character or a line break."""

    code = "unfit_for_commit"

    def __init__(self, field: str, value: str) -> None:
        self.field, self.value = field, value
        super().__init__(
            f"{field} holds a control character or a line break: {value!r}", hint=f"write the {field} as one plain line"
        )


@dataclass(frozen=True, slots=True)
class Operation:
    """One logical change of the vault. Check with `check` before it is written anywhere."""

    op: str  # one of OPS
    title: str  # what a reader recognises the change by; never that of a local-only note
    ids: tuple[str, ...] = ()  # memories changed, the newest first
    supersedes: tuple[str, ...] = ()
    scope: str | None = None  # owner key as "project:acme"; "global:" is written as "global"
    actor: str | None = None  # user:, agent: or tool: and a name
    session: str | None = None
    reason: str | None = None  # what the person or agent gave, any text

    def check(self) -> None:
        """Refuse what cannot stand on one line, and an unknown op; raises UnfitForCommit or ValueError."""
        if self.op not in OPS:
            raise ValueError(f"unknown operation {self.op!r}")
        named = [("title", self.title), ("scope", self.scope), ("actor", self.actor), ("session", self.session)]
        named += [("id", one) for one in (*self.ids, *self.supersedes)]
        for field, value in named:
            if value is not None and not is_one_line(value):
                raise UnfitForCommit(field, value)


def is_one_line(text: str) -> bool:
    """Say whether text holds no control character, no line or paragraph separator and no lone surrogate."""
    return all(unicodedata.category(char) not in ("Cc", "Zl", "Zp", "Cs") for char in text)


def one_line(text: str) -> str:
    """Turn any text into one line, with blanks for what `is_one_line` forbids; for titles nobody can be asked about."""
    kept = (char if is_one_line(char) else " " for char in text)
    return " ".join("".join(kept).split())


def render(operation: Operation) -> str:
    """Write the message: `<op>: <title>` of at most 72 characters, the reason, the trailers; ends with a line break.

    Raises:
        UnfitForCommit: see `Operation.check`.
    """
    operation.check()
    parts = [_subject(operation)]
    reason = as_paragraph(operation.reason or "")
    if reason:
        parts.append(reason)
    parts.append("\n".join(trailers(operation)))
    return "\n\n".join(parts) + "\n"


def trailers(operation: Operation) -> list[str]:
    """The trailer lines of an operation, in the order of the format."""
    lines = [f"Remvault-Op: {operation.op}"]
    lines += [f"Remvault-Memory: {one}" for one in operation.ids]
    lines += [f"Remvault-Supersedes: {one}" for one in operation.supersedes]
    if operation.scope:
        lines.append(f"Remvault-Scope: {operation.scope.rstrip(':')}")
    if operation.actor:
        lines.append(f"Remvault-Actor: {operation.actor}")
    if operation.session:
        lines.append(f"Remvault-Session: {operation.session}")
    return lines


def parse(message: str) -> Operation | None:
    """Read the operation of any commit's message; None when its last paragraph has no `Remvault-Op`.

    Of several operations in one commit (a person's own, to which a hook added what was staged) it is what they have in
    common: all ids, an op, scope or actor only where all agree, else `edit` and None. `operations` tells them apart.
    """
    found = operations(message)
    if len(found) < 2:
        return found[0] if found else None
    op = _same(one.op for one in found) or "edit"
    return replace(
        found[0],
        op=op,
        ids=tuple(dict.fromkeys(memory for one in found for memory in one.ids)),
        supersedes=tuple(dict.fromkeys(memory for one in found for memory in one.supersedes)),
        scope=_same(one.scope for one in found),
        actor=_same(one.actor for one in found),
        session=_same(one.session for one in found),
    )


def operations(message: str) -> tuple[Operation, ...]:
    """Read every operation back from a commit's message, in their order; each begins with its `Remvault-Op`.

    Only the last paragraph counts, as for git, so nothing quoted in a reason is taken for a trailer. The title is the
    subject without the op, shortened if it was; subject and reason are the commit's and the same for all.
    """
    subject, _, rest = message.replace("\r\n", "\n").strip("\n").partition("\n")
    paragraphs = [part for part in re.split(r"\n[ \t]*\n", rest.strip("\n")) if part.strip()]
    if not paragraphs:
        return ()
    groups: list[dict[str, list[str]]] = [{}]
    for line in paragraphs[-1].split("\n"):
        match = _TRAILER.match(line.rstrip())
        if match and match[2]:
            if match[1] == "Remvault-Op" and "Remvault-Op" in groups[-1]:
                groups.append({})
            groups[-1].setdefault(match[1], []).append(match[2])
    reason = "\n\n".join(paragraphs[:-1]).replace(_ZERO_WIDTH_SPACE, "") or None
    found = [_read(group, subject, reason) for group in groups]
    return tuple(one for one in found if one is not None)


def _read(found: Mapping[str, list[str]], subject: str, reason: str | None) -> Operation | None:
    op = _one(found.get("Remvault-Op"))
    if op is None or op not in OPS:
        return None
    scope = _one(found.get("Remvault-Scope"))
    return Operation(
        op=op,
        title=subject.removeprefix(f"{op}: "),
        ids=tuple(found.get("Remvault-Memory", ())),
        supersedes=tuple(found.get("Remvault-Supersedes", ())),
        scope="global:" if scope == "global" else scope,
        actor=_one(found.get("Remvault-Actor")),
        session=_one(found.get("Remvault-Session")),
        reason=reason,
    )


def _subject(operation: Operation) -> str:
    subject = f"{operation.op}: {' '.join(operation.title.split())}".rstrip()
    if len(subject) <= SUBJECT_CHARS:
        return subject
    kept = subject[: SUBJECT_CHARS - 1]
    # A combining mark or joiner after the cut belongs to the character before it: take both away.
    while len(kept) > 1 and _continues(subject[len(kept)]):
        kept = kept[:-1]
    return kept.rstrip(" \u200d") + "…"


def _continues(char: str) -> bool:
    return unicodedata.combining(char) != 0 or char == "\u200d" or unicodedata.category(char) in ("Mn", "Me")


def as_paragraph(text: str, *, comment: str | None = None) -> str:
    """Make a reason safe as a body: line ends LF, no other control characters, no line git would take for a trailer.

    `comment`: what begins a line that git would take away; such lines are moved by a blank.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = "".join(char if char in "\n\t" or is_one_line(char) else " " for char in text)
    lines = [line.rstrip() for line in text.split("\n")]
    # A last paragraph that looks like trailers would be merged with ours by tools that allow blank lines.
    lines = [_ZERO_WIDTH_SPACE + line if _TRAILER.match(line) else line for line in lines]
    if comment:
        lines = [f" {line}" if line.startswith(comment) else line for line in lines]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def _same(values: Iterable[str | None]) -> str | None:
    """The value that all share; None when they differ."""
    listed = set(values)
    return listed.pop() if len(listed) == 1 else None


def _one(values: Iterable[str] | None) -> str | None:
    listed = list(values or ())
    return listed[-1] if listed else None
