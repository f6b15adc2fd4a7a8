"""Which commit is meant by "as of": a revision, or the last one of the vault's own line at a date or time.

Owns: telling the two apart, and the moment the past vault is looked at.
Leaves alone: reading that commit's notes (trees), who may see them (retrieval).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time

from remvault.domain.moments import parse_moment
from remvault.errors import UsageError, UserError
from remvault.store.repository import CommitFacts, GitRepository, RevisionNotFound

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?=[Tt ]|\Z)", re.ASCII)


class NothingYet(UserError):
    """The vault has no commit that old."""

    code = "nothing_yet"

    def __init__(self, when: str, first: datetime | None) -> None:
        self.when, self.first = when, None if first is None else first.isoformat()
        hint = f"history begins at {self.first}" if first else "write a memory, or commit the notes, first"
        super().__init__(f"nothing was committed by {when}", hint=hint)


@dataclass(frozen=True, slots=True)
class PastMoment:
    """A commit, and the moment at which the vault is looked at in it."""

    commit: str
    moment: datetime  # aware; of a revision its author's time, of a date its end


def past_moment(repository: GitRepository, text: str, *, now: datetime) -> PastMoment:
    """Find what `text` means.

    Args:
        text: a date or time (RFC 3339; a date is the whole day, in the time zone of each commit), or a revision as git
            names them. What looks like a date is one: a tag of such a name is `tags/2026-12-01`.
        now: no moment is later than this.

    Returns:
        For a date or time the last commit at or before it, by the author's time as `log` shows it, on the line of first
        parents: what another branch knew by then, and was merged later, was not known here.

    Raises:
        UsageError: a date that is none.
        NothingYet: no commit is that old.
        RevisionNotFound: no commit is called so.
    """
    if not _DATE.match(text):
        commit = repository.resolve(text)
        return PastMoment(commit, min(next(iter(repository.log(commit))).time, now))
    moment = parse_moment(text)
    if moment is None:
        raise UsageError(f"{text!r} is not a date or time", hint="write 2026-12-01 or 2026-12-01T09:30:00Z")
    is_day = len(text) == 10
    end = datetime.combine(moment.date(), time.max, UTC) if is_day else moment
    first = None
    for facts in _first_parents(repository):
        if facts.time.date().isoformat() <= text if is_day else facts.time <= moment:
            return PastMoment(facts.id, min(end, now))
        first = facts.time
    raise NothingYet(text, first)


def _first_parents(repository: GitRepository) -> Iterator[CommitFacts]:
    try:
        wanted = repository.resolve("HEAD")
    except RevisionNotFound:
        return
    for facts in repository.log(wanted):
        if facts.id == wanted:
            yield facts
            if not facts.parents:
                return
            wanted = facts.parents[0]
