"""Where a memory stands in its life, derived from its fields and from what supersedes it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from remvault.domain.moments import parse_moment

Stage = Literal["active", "candidate", "retracted", "superseded", "archived", "expired"]
STAGES: tuple[Stage, ...] = ("active", "candidate", "retracted", "superseded", "archived", "expired")


def stage_of(
    status: str,
    freshness: str | None,
    expires: str | None,
    *,
    successors: Sequence[str],
    is_mark_idle: bool,
    now: datetime,
) -> Stage:
    """Return the one stage a memory is in.

    Retraction, archive and candidacy are said by `status`. Superseded is what an effective link says, or the mark a
    person left, unless the mark names a note that is there and may not supersede this one (`is_mark_idle`): an archived
    successor leaves the older memory standing. Expired is an `expires` that has passed; a time that cannot be read
    expires nothing.
    """
    if status in ("retracted", "archived", "candidate"):
        return status  # type: ignore[return-value]
    if successors or (freshness == "superseded" and not is_mark_idle):
        return "superseded"
    end = parse_moment(expires) if expires else None
    return "expired" if end is not None and end <= now else "active"
