"""Since when a note has held something without a break, as git tells it.

Owns: the walk back from HEAD along the lines of history on which it holds.
Leaves alone: what is asked of the note (the caller), who may know.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from remvault.domain.note import Note, parse_note
from remvault.store.repository import GitRepository, RevisionNotFound

Holds = Callable[[Note], bool]


@dataclass(frozen=True, slots=True)
class Tenure:
    """The oldest commit of an unbroken line back from HEAD."""

    commit: str
    time: datetime  # the author's, with offset


def tenure(repository: GitRepository, prefix: str, path: str, holds: Holds) -> Tenure | None:
    """Find the commit since which the note at `path` has been such that `holds`; None when HEAD's is not.

    A note that was moved is taken to begin where it moved: the walk does not follow names.
    """
    try:
        tip = repository.resolve("HEAD")
    except RevisionNotFound:
        return None
    verdicts: dict[str | None, bool] = {None: False}
    waiting, oldest = {tip}, None
    for facts in repository.log(tip):
        if not waiting:
            break
        if facts.id not in waiting:
            continue
        waiting.remove(facts.id)
        blob = repository.blob_at(facts.id, prefix + path)
        if blob not in verdicts:
            assert blob is not None
            verdicts[blob] = holds(parse_note(path, repository.read_blob(blob)))
        if verdicts[blob]:
            oldest = Tenure(facts.id, facts.time)
            waiting.update(facts.parents)
    return oldest


def note_at(repository: GitRepository, prefix: str, path: str, commit: str) -> Note | None:
    """The note at `path` as a commit has it."""
    blob = repository.blob_at(commit, prefix + path)
    return None if blob is None else parse_note(path, repository.read_blob(blob))


def follows(repository: GitRepository, commit: str, earlier: str) -> bool:
    """Whether a commit was made on top of another one, at whatever distance."""
    return commit != earlier and any(facts.id == earlier for facts in repository.log(commit))
