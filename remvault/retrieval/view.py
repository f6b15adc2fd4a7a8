"""What one context may see of a snapshot: the boundary that every verb reads through.

Owns: the visibility predicate over rows, stages, and finding a row by name among the visible.
Leaves alone: ranking, text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import Any

from remvault.domain.anchors import AnchorSource, NoCode, Reading
from remvault.domain.moments import parse_moment
from remvault.domain.problems import Problem
from remvault.domain.scope import SCOPES, Context
from remvault.index.rows import NoteRow
from remvault.index.snapshot import Snapshot
from remvault.retrieval.anchored import labels_of
from remvault.retrieval.calibration import DEFAULT_THRESHOLD
from remvault.retrieval.conflicts import Conflicts, NoPast, Past
from remvault.retrieval.experience import Experience, NoExperience
from remvault.retrieval.lifecycle import Stage, stage_of
from remvault.retrieval.lookup import MemoryNotFound, find

UNREADABLE = ""  # owner of a note whose scope or owner cannot be read, as the index keeps it


@dataclass(eq=False)
class View:
    """A snapshot seen from one context.

    Args:
        is_person: a person at a command line, who is also shown notes whose owner cannot be read (labelled); agents
            and tools never are.
        past: what git and the ledger know beyond the snapshot.
        withheld: ids that this context may not see whatever an older state of their notes says.
        code: what anchors point into; asked only for notes that are about to be shown.
        experience: how memories were used and rated.
        threshold_for: what the gate asks for in a snapshot, 0..1; asked once, when something is searched for.
    """

    snapshot: Snapshot
    context: Context
    now: datetime
    is_person: bool
    is_embedded: bool
    past: Past = field(default_factory=NoPast)
    withheld: frozenset[str] = frozenset()
    code: AnchorSource = field(default_factory=NoCode)
    experience: Experience = field(default_factory=NoExperience)
    threshold_for: Callable[[Snapshot], float] = lambda snapshot: DEFAULT_THRESHOLD
    owners: frozenset[str] = field(init=False)
    _readings: dict[tuple[str, str], tuple[Reading, ...]] = field(init=False, default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.owners = self.context.owners() | ({UNREADABLE} if self.is_person else frozenset())

    def sees(self, row: NoteRow) -> bool:
        """Whether this context may know that the note exists."""
        if row.is_local_only or row.id in self.withheld:
            return False
        if row.owner:
            return row.owner in self.owners
        return self.is_person and self._is_at_home(row.path)

    def stage(self, row: NoteRow) -> Stage:
        """Where the memory stands in its life."""
        lineage = self.snapshot.lineage
        successors = lineage.successors.get(row.id or "", ())
        idle = (row.superseded_by, row.id) in lineage.without_effect
        return stage_of(row.status, row.freshness, row.expires, successors=successors, is_mark_idle=idle, now=self.now)

    def accepts(self, row: NoteRow, stages: Collection[Stage], *, only_valid: bool) -> bool:
        """Whether a note may be an answer: visible, no copy, in one of the stages, and valid where that is asked."""
        if row.path in self.snapshot.copies or not self.sees(row):
            return False
        return (row.is_valid or not only_valid) and self.stage(row) in stages

    def filter(self, stages: Collection[Stage], *, only_valid: bool) -> Callable[[NoteRow], bool]:
        """`accepts` as a predicate."""
        return lambda row: self.accepts(row, stages, only_valid=only_valid)

    def visible(self) -> Iterable[NoteRow]:
        """Every note this context may know of, by path; copies are set aside."""
        copies = self.snapshot.copies
        return (row for path, row in sorted(self.snapshot.rows.items()) if path not in copies and self.sees(row))

    def copies(self) -> list[NoteRow]:
        """The visible notes that are set aside because another has their id, by path."""
        rows = [self.snapshot.rows[path] for path in sorted(self.snapshot.copies)]
        return [row for row in rows if self.sees(row)]

    def find(self, name: str) -> NoteRow:
        """The one visible note called so; a copy only where nothing else is, as by its path.

        Raises as `lookup.find`: out of scope answers exactly like not there.
        """
        rows, copies = list(self.visible()), self.copies()
        try:
            row = find(name, rows)
        except MemoryNotFound:
            if not copies:
                raise
            row = find(name, [*rows, *copies])
        assert isinstance(row, NoteRow)
        return row

    @cached_property
    def threshold(self) -> float:
        """What the gate asks for here, 0..1."""
        return self.threshold_for(self.snapshot)

    @cached_property
    def conflicts(self) -> Conflicts:
        """What is in dispute among the visible memories."""
        return Conflicts(self, self.past)

    def notices(self) -> tuple[str, ...]:
        """What a person should hear besides the answer: about the index, skipped files and broken notes."""
        said = [*self.snapshot.notices, *(f"{one.path}: {one.message}" for one in self.skipped())]
        if "project" not in self.context.ids and any(
            key.startswith("project:") for key in self.snapshot.owner_counts()
        ):
            said.append(f"no project is known here, so theirs stay closed: {SCOPES.row('project').advice}")
        broken = sum(not row.is_valid for row in self.snapshot.flawed_rows() if self.sees(row))
        if broken:
            what = "1 note has errors" if broken == 1 else f"{broken:,} notes have errors"
            said.append(f"{what} and cannot be surfaced: 'remvault check' names them")
        copies = len(self.copies())
        if copies:
            what = "1 note is a copy of another" if copies == 1 else f"{copies:,} notes are copies of others"
            said.append(f"{what} and set aside: 'remvault check' names them")
        return tuple(said)

    def skipped(self) -> list[Problem]:
        """What was not read and lies where this context is at home; an agent is told of none, nobody knows whose."""
        # A whole folder may have been skipped: the owner's own is the owner's business.
        return [one for one in self.snapshot.skipped if self.is_person and self._is_at_home(f"{one.path}/")]

    def readings(self, row: NoteRow) -> tuple[Reading, ...]:
        """What the code says of the note's anchors now, in their order."""
        if not row.anchors:
            return ()
        self.look_at_code([row])
        return self._readings[row.path, row.blob]

    def look_at_code(self, rows: Iterable[NoteRow]) -> None:
        """Read the anchors of several notes at once, so that each file of the code is looked at once."""
        by_owner: dict[str | None, list[NoteRow]] = {}
        for row in rows:
            if row.anchors and (row.path, row.blob) not in self._readings:
                by_owner.setdefault(row.owner, []).append(row)
        for owner, few in by_owner.items():
            found = iter(self.code.readings(owner, [anchor for row in few for anchor in row.anchors]))
            for row in few:
                self._readings[row.path, row.blob] = tuple(islice(found, len(row.anchors)))

    def labels(self, row: NoteRow) -> list[str]:
        """What a reader must know before trusting the memory."""
        return self.own_labels(row) + self.code_labels(row)

    def code_labels(self, row: NoteRow) -> list[str]:
        """What the code says against the memory."""
        return labels_of(self.readings(row), lambda reading: self.code.commits_since(row.owner, reading))

    def own_labels(self, row: NoteRow) -> list[str]:
        """The labels that the vault itself gives, without a look at any code."""
        labels = []
        stage = self.stage(row)
        if row.path in self.snapshot.copies:
            original = self.snapshot.rows.get(self.snapshot.copies[row.path] or "")
            labels.append(f"copy of {original.path if original and self.sees(original) else 'another note'}, set aside")
        if not row.is_valid:
            labels.append("invalid note")
        if not row.owner:
            labels.append("unknown owner")
        if stage != "active":
            labels.append(stage)
        if row.freshness in ("stale", "unknown"):
            labels.append(f"freshness {row.freshness}")
        if row.freshness == "superseded" and stage == "active":
            labels.append(f"marked superseded, but {row.superseded_by} does not hold")
        if not row.is_committed:
            labels.append("uncommitted")
        return labels + self._doubts(row)

    def _doubts(self, row: NoteRow) -> list[str]:
        """What stands against a memory: other memories in conflict with it, and retracted ones that it rests on."""
        disputes = self.conflicts.of(row.id)
        others = dict.fromkeys(one for dispute in disputes for one in dispute.ids if one != row.id)
        labels = [f"conflict with {one}" for one in others]
        if others:
            # With its source, which every answer shows, the date lets a reader weigh one side against the other.
            since = self.last_known(row)
            labels.append(f"last known to hold {since}" if since else "of unknown date")
        return labels + [f"rests on retracted {one}" for one in self.conflicts.unsound.get(row.id or "", ())]

    def last_known(self, row: NoteRow) -> str | None:
        """The latest time at which the memory was known to hold, as typed; None when it names none."""
        record = self.snapshot.records([row.path]).get(row.path)
        return last_known(record) if record is not None else None

    def successors(self, row: NoteRow) -> tuple[str, ...]:
        """Ids that directly supersede the note and that this context may see."""
        direct = self.snapshot.lineage.successors.get(row.id or "", ())
        if not direct:
            return ()
        seen = {other.id for other in self.snapshot.rows.values() if self.sees(other)}
        return tuple(one for one in direct if one in seen)

    def _is_at_home(self, path: str) -> bool:
        """A note of unknown owner in an owner's folder is shown only where that owner is active."""
        first, _, rest = path.partition("/")
        if first not in SCOPES or first == "global" or not rest:
            return True
        owner_folder = rest.split("/", 1)[0] if "/" in rest else ""
        ids: Mapping[str, str] = self.context.ids
        return bool(owner_folder) and ids.get(first) == owner_folder


def last_known(record: Mapping[str, Any]) -> str | None:
    """The latest of a memory's own times, as typed; None without any that can be read."""
    texts = [record["confirmed"], record["observed"], record["created"]]
    texts += [entry.get("captured") for entry in record["provenance"]]
    dated = [(moment, text) for text in texts if text and (moment := parse_moment(text)) is not None]
    return max(dated)[1] if dated else None
