"""How notes stand among the others below the same parent: talk in a session, steps of a topic.

Pure: entries of the manifest in, groups and neighbours out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from remvault.index.rows import Entry


@dataclass(frozen=True, slots=True)
class Siblings:
    """The groups of some notes. Nothing of a note that was not to be seen is in it, not even in a count."""

    group: Mapping[str, int] = field(default_factory=dict)  # path: number of its group; every member is there
    next_to: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # path: the one before, the one after
    size: Mapping[int, int] = field(default_factory=dict)  # group: members

    @property
    def average_size(self) -> float:
        """Members of a group, on average; 1 without groups."""
        return sum(self.size.values()) / len(self.size) if self.size else 1.0


def find_siblings(
    entries: Mapping[str, Entry], paths: Collection[str], *, is_seen: Callable[[Entry], bool]
) -> Siblings:
    """Find the groups of the notes at `paths`, and who stands next to whom by time, then path.

    Args:
        entries: every note by path; those in no index are no siblings.
        paths: of matched notes.
        is_seen: whether an entry may be known of; asked for members of these groups only.
    """
    asked = set(paths)
    wanted = {entries[path].group for path in asked} - {0}
    members: dict[int, list[Entry]] = {group: [] for group in wanted}
    for entry in entries.values() if wanted else ():
        if entry.group in wanted and entry.number and is_seen(entry):
            members[entry.group].append(entry)
    group: dict[str, int] = {}
    next_to: dict[str, tuple[str, ...]] = {}
    for number, found in members.items():
        found.sort(key=lambda entry: (entry.at, entry.path))
        for at, entry in enumerate(found):
            group[entry.path] = number
            if entry.path in asked:
                next_to[entry.path] = tuple(one.path for one in (*found[max(at - 1, 0) : at], *found[at + 1 : at + 2]))
    return Siblings(group, next_to, {number: len(found) for number, found in members.items()})
