"""The message of a person's commit, as git hands its file to a hook: our operations are added, nothing is taken away.

Owns: where the trailers go in a text that may hold comments, a diff below the scissors, and trailers of others.
Leaves alone: the trailers themselves (`domain.commit_message`), which operations a commit holds (`store.awaited`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from remvault.domain.commit_message import Operation, as_paragraph, trailers

_TRAILER = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*: ?\S.*\Z|[ \t]+\S")
_SCISSORS = "------------------------ >8 ------------------------"


def with_operations(message: str, operations: Sequence[Operation], *, comment: str | None = "#") -> str:
    """Add reasons and trailers of operations to a message that is about to be a commit's; repeatable.

    The trailers join those that end the message, so that git and we read back all of them; each reason stands in a
    paragraph of its own before. An operation whose trailers are there already is left out. Comments and what stands
    below the scissors line stay where they are. A message without a word of its own is returned as it is: git gives
    up a commit by that, and trailers alone would make it one.

    Args:
        message: the file's text.
        operations: in the order in which they were staged.
        comment: what begins a line that git takes away; None where it keeps every line, since no editor was opened.
    """
    lines, rest = _own_lines(message, comment)
    if is_empty(message, comment=comment):
        return message
    added = [one for one in operations if not _holds(lines, trailers(one))]
    if not added:
        return message
    text, ending = _split(lines)
    said = "\n".join(text)
    reasons = dict.fromkeys(as_paragraph(one.reason or "", comment=comment) for one in added)
    paragraphs = ["\n".join(text), *(reason for reason in reasons if reason and reason not in said)]
    # git counts a paragraph as trailers when all of its lines are.
    paragraphs.append("\n".join([*ending, *(line for one in added for line in trailers(one))]))
    return "\n\n".join(paragraphs) + "\n" + (f"\n{rest}" if rest else "")


def is_empty(message: str, *, comment: str | None = "#") -> bool:
    """Whether a message says nothing but comments and trailers, which is how a person gives a commit up."""
    lines, _ = _own_lines(message, comment)
    return all(not line.strip() or line.startswith(("Signed-off-by: ", "Remvault-")) for line in lines)


def _own_lines(message: str, comment: str | None) -> tuple[list[str], str]:
    """The message without blank lines and comments at its end, and those with all below the scissors."""
    lines = message.replace("\r\n", "\n").split("\n")
    end = next((at for at, line in enumerate(lines) if comment and line == f"{comment} {_SCISSORS}"), len(lines))
    while end and (not lines[end - 1].strip() or (comment and lines[end - 1].startswith(comment))):
        end -= 1
    start = next((at for at, line in enumerate(lines[:end]) if line.strip()), end)
    return lines[start:end], "\n".join(lines[end:]).strip("\n") + ("\n" if "".join(lines[end:]).strip() else "")


def _split(lines: list[str]) -> tuple[list[str], list[str]]:
    """The text, and the trailers that end it; the first paragraph is never one of trailers."""
    blank = max((at for at, line in enumerate(lines) if not line.strip()), default=None)
    if blank is None or not all(_TRAILER.match(line) for line in lines[blank + 1 :]):
        return lines, []
    kept = lines[:blank]
    while kept and not kept[-1].strip():
        kept.pop()
    return kept, lines[blank + 1 :]


def _holds(lines: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether the wanted lines stand there one after the other, and the next is none of the same operation."""
    size = len(wanted)
    ends = [at + size for at in range(len(lines)) if list(lines[at : at + size]) == list(wanted)]
    return any(
        end == len(lines) or lines[end].startswith("Remvault-Op:") or not lines[end].startswith("Remvault-")
        for end in ends
    )
