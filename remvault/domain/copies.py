"""Which notes are no more than copies of another: same id, other name.

Sync tools that meet two versions of a file keep both, one of them under a name of their own making; people copy files
to begin a new one. Either way two files claim to be one memory, and only one of them can be.

Owns: how sync tools name copies, which of several notes with one id is the original.
Leaves alone: what becomes of a copy (index.snapshot, rules).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

_SUFFIX = ".md"
_CONFLICT = r"(?:conflict|konflikt|conflit|conflict?o|conflitt)"
# Names that nobody but a sync tool gives: Dropbox, Nextcloud, ownCloud, Box, Obsidian, pCloud and Seafile write
# "(... conflicted copy ...)", "(Case Conflict)", "[Conflict]"; Syncthing and Resilio a part of their own.
_SURE = (
    re.compile(rf" ?[(\[][^()\[\]]*{_CONFLICT}[^()\[\]]*[)\]]\Z", re.IGNORECASE),
    re.compile(r"\.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]{7})?\Z"),
    re.compile(r"\.conflict\Z", re.IGNORECASE),
    re.compile(r"[_-]conflict-\d{8}-\d{6}\Z", re.IGNORECASE),
)
# Names a person could give too, so they count only beside a note of the shorter name: Google Drive "note (1)", iCloud
# and Finder "note 2" and "note copy", Explorer "note - Copy (2)", OneDrive "note-HOST".
_LIKELY = (
    re.compile(r" ?\(\d{1,3}\)\Z"),
    re.compile(r" \d{1,3}\Z"),
    re.compile(r"(?: -)? copy(?: \d{1,3}| \(\d{1,3}\))?\Z", re.IGNORECASE),
    re.compile(r" \((?:another |\d{1,3}(?:st|nd|rd|th) )?copy(?: \d{1,3})?\)\Z", re.IGNORECASE),
)
_HOST = re.compile(r"-(?=[A-Za-z0-9][A-Za-z0-9_-]{0,62}\Z)")


@dataclass(frozen=True, slots=True)
class Claim:
    """A note that claims an id."""

    path: str
    id: str
    owner: str | None
    is_in_head: bool = False  # HEAD's commit holds a note at this path
    is_committed: bool = False  # and it is this very one


def find_copies(claims: Iterable[Claim]) -> dict[str, str | None]:
    """The notes that are not to be shown, by path, each with the path of the note it is a copy of.

    Of the notes of one owner with one id the original is the one that HEAD holds; of several, or where it holds none,
    the one not named as copies are; of several, the one that is as HEAD holds it. Where that leaves no single one, all
    are copies, of None: nobody can tell which is meant. Another owner's note of the same id is no copy, unless its
    name says so beside the original.
    """
    by_id: dict[str, list[Claim]] = defaultdict(list)
    for claim in claims:
        by_id[claim.id].append(claim)
    found: dict[str, str | None] = {}
    for same in by_id.values():
        if len(same) > 1:
            found.update(_strangers(same))
            owners: dict[str | None, list[Claim]] = defaultdict(list)
            for one in same:
                if one.path not in found:
                    owners[one.owner].append(one)
            for group in owners.values():
                original = _original(group)
                found.update({one.path: original for one in group if one.path != original})
    return found


def copied_paths(path: str) -> Iterator[tuple[str, bool]]:
    """The paths a note's name may be a copy of, by the habits of sync tools, and whether no person names files so."""
    stem = path.removesuffix(_SUFFIX)
    for is_sure, patterns in ((True, _SURE), (False, _LIKELY)):
        for pattern in patterns:
            shorter = pattern.sub("", stem)
            if shorter != stem:
                yield shorter + _SUFFIX, is_sure
    for found in _HOST.finditer(stem):
        yield stem[: found.start()] + _SUFFIX, False


def _strangers(same: Sequence[Claim]) -> Iterator[tuple[str, str]]:
    """Of notes with one id, those that are copies by name of another owner's note: (path, what it is a copy of)."""
    by_path = {one.path: one for one in same}
    for one in same:
        for path, _ in copied_paths(one.path):
            beside = by_path.get(path)
            if beside is not None and beside.owner != one.owner and (beside.is_in_head or not one.is_in_head):
                yield one.path, path
                break


def _original(group: Sequence[Claim]) -> str | None:
    paths = {one.path for one in group}
    left = [one for one in group if one.is_in_head] or list(group)
    if len(left) > 1:
        left = [one for one in left if not _is_named_as_copy(one.path, paths)] or left
    if len(left) > 1:
        left = [one for one in left if one.is_committed] or left
    return left[0].path if len(left) == 1 else None


def _is_named_as_copy(path: str, beside: Collection[str]) -> bool:
    return any(is_sure or shorter in beside for shorter, is_sure in copied_paths(path))
