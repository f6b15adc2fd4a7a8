"""What became of the places of anchors that are no longer where they were.

Owns: the order of looking: where git says the file went, then the same code elsewhere, then another name for it;
    and whether the code that is checked out ever had what the anchor says.
Leaves alone: what is in place (anchor_states), the questions to git (code_history).

Nothing is guessed: of two places that fit, none is named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath

from remvault.domain.anchors import Place, Reading, State
from remvault.domain.memory import Anchor
from remvault.store.anchor_cache import AnchorCache
from remvault.store.code_files import TOO_MUCH, CodeFile, Look, TooMuch, key_of
from remvault.store.code_history import CodeHistory, Way
from remvault.store.code_source import last_part
from remvault.store.code_survey import MAX_HOLDERS, Kinds, Survey
from remvault.store.languages import kindred
from remvault.store.outlines import RECIPES

_MAX_LOST = 2_000  # looked for in one go
_MAX_OUTSIDE = 16  # commits of other branches that are told apart in one go
_MAX_NAME = 400  # characters; no definition has a longer one


@dataclass(frozen=True, slots=True)
class Lost:
    """An anchor that is not in place."""

    anchor: Anchor
    place: Place
    state: State  # drifted, or broken: what it is when nothing else is found
    why: str
    is_gone: bool = False  # its file is not there

    @property
    def digest(self) -> str | None:
        """What is looked for; None when it has none, or of a recipe that is not ours."""
        digest = self.anchor.digest
        return digest if digest is not None and digest.partition(":")[0] in RECIPES else None

    def reading(self, state: State, detail: str, now_at: str | None = None) -> Reading:
        """What the code says of it."""
        return Reading(self.anchor.at, state, detail, self.anchor.digest, self.anchor.commit, now_at)


class Whereabouts:
    """One look for many anchors that are not in place."""

    def __init__(self, look: Look, history: CodeHistory, cache: AnchorCache, lost: Sequence[Lost]) -> None:
        self._look, self._survey = look, Survey(history, cache)
        self._is_prepared = False
        self._lost = list(dict.fromkeys(lost))[:_MAX_LOST]

    def readings(self) -> dict[Lost, Reading]:
        """What the code says of each; those beyond the limits of one look are unknown."""
        return {lost: self._reading(lost) for lost in self._lost}

    def _reading(self, lost: Lost) -> Reading:
        try:
            found = self._found(lost) if lost.state == "broken" else lost.reading(lost.state, lost.why)
            return self._elsewhere_in_time(lost) or found if found.state in ("broken", "drifted") else found
        except TooMuch:
            return lost.reading("unknown", TOO_MUCH)

    def _found(self, lost: Lost) -> Reading:
        path, target = lost.place.path, None
        if lost.is_gone:
            if path in self._survey.left_out:
                return lost.reading("unknown", "the file is not checked out here (sparse checkout)")
            target = self._renamed(lost)
        if target is not None:
            found = _in_renamed(lost, target)
            if found is not None:
                return found
        if lost.digest is None:
            return lost.reading("broken", lost.why)
        fits = self._fits(lost, lost.digest)
        if len(fits) == 1:
            return lost.reading("moved", f"now in {fits[0].partition('#')[0]}", fits[0])
        if fits:
            named = ", ".join(fits[:3])
            return lost.reading("broken", f"{lost.why}; the same code is in {len(fits)} places: {named}")
        return self._renamed_symbol(lost, lost.digest, target)

    def _renamed(self, lost: Lost) -> CodeFile | None:
        """The file that git says the anchor's file became."""
        path = self._way(lost).renamed.get(lost.place.path)
        file = None if path is None else self._look.file(path)
        return file if file is not None and file.is_here else None

    def _fits(self, lost: Lost, digest: str) -> list[str]:
        """Every other place with the same code, as anchors name them: for a symbol under the same name."""
        place = lost.place
        found = []
        name = _name(place)
        paths = self._newcomers(lost) if place.symbol is None else () if name is None else self._holders[name]
        alike = [path for path in paths if path != place.path]
        if len(alike) > MAX_HOLDERS:
            raise TooMuch
        for path in sorted(alike):
            file = self._look.file(path)
            if not file.is_here:
                continue
            if place.lines is not None:
                lines = file.lines_of(digest, place.lines)
                if lines is not None:
                    found.append(f"{path}#L{lines[0]}-L{lines[1]}")
            elif file.digest(place) == digest:
                found.append(f"{path}{key_of(place)}")
        return found

    def _renamed_symbol(self, lost: Lost, digest: str, target: CodeFile | None) -> Reading:
        """The one definition that is the same but for its name, in the same file or what git says it became."""
        file = target if lost.is_gone else self._look.file(lost.place.path)
        names = [] if file is None or lost.place.symbol is None else file.names_of(digest)
        if len(names) == 1:
            assert file is not None
            return lost.reading("broken", f"{lost.why}; {names[0]} is the same code", f"{file.path}#{names[0]}")
        if names:
            return lost.reading("broken", f"{lost.why}; {', '.join(names[:3])} are the same code")
        return lost.reading("broken", lost.why)

    def _elsewhere_in_time(self, lost: Lost) -> Reading | None:
        """Unknown, when what is checked out never had the anchor's version: another branch, or an older commit.

        That is when the anchor's commit is not in the history of HEAD, and nothing changed the file since that
        history and the commit's parted, in a commit or in the work tree. None when the code did change.
        """
        commit = self._commit(lost)
        if commit is None or commit not in self._outside or lost.place.path in self._touched[commit]:
            return None
        return lost.reading("unknown", f"what is checked out does not contain commit {lost.anchor.commit}")

    def _commit(self, lost: Lost) -> str | None:
        """The full id of the anchor's commit; None where this clone does not have it."""
        return self._known.get(lost.anchor.commit or "")

    @cached_property
    def _known(self) -> dict[str, str]:
        return self._survey.known(lost.anchor.commit for lost in self._lost if lost.anchor.commit is not None)

    @cached_property
    def _outside(self) -> set[str]:
        """The commits of the anchors that are not in the history of HEAD."""
        return self._survey.outside(self._known.values())

    @cached_property
    def _touched(self) -> dict[str, set[str]]:
        """For each commit outside, which files of its anchors changed since its history and HEAD's parted."""
        paths: dict[str, set[str]] = {}
        for lost in self._lost:
            commit = self._commit(lost)
            if commit in self._outside:
                paths.setdefault(commit, set()).add(lost.place.path)
        few = list(paths.items())[:_MAX_OUTSIDE]
        return paths | {commit: self._survey.touched(commit, asked) for commit, asked in few}

    def _way(self, lost: Lost) -> Way:
        """The way of files from the anchor's commit to now."""
        if not self._is_prepared:
            self._is_prepared = True
            counted = Counter(self._commit(one) for one in self._lost if one.is_gone)
            self._survey.prepare(commit for commit, _ in counted.most_common() if commit is not None)
        return self._survey.way(self._commit(lost))

    @cached_property
    def _holders(self) -> dict[tuple[str, Kinds], list[str]]:
        """The files that may hold the names of the symbols that are not in place."""
        broken = [lost for lost in self._lost if lost.state == "broken" and lost.digest is not None]
        return self._survey.holders(name for lost in broken if (name := _name(lost.place)) is not None)

    def _newcomers(self, lost: Lost) -> Iterable[str]:
        """The files that were not there at the anchor's commit."""
        kinds = kindred(lost.place.path)
        if not lost.is_gone:
            return ()
        return (path for path in self._way(lost).added | self._survey.untracked if PurePosixPath(path).suffix in kinds)


def _name(place: Place) -> tuple[str, Kinds] | None:
    """What to look for when a symbol is not in place: its own name, in files where it would have the same digest."""
    if place.symbol is None or len(place.symbol) > _MAX_NAME:
        return None
    return last_part(place.symbol), kindred(place.path)


def _in_renamed(lost: Lost, file: CodeFile) -> Reading | None:
    """What the code says of an anchor in the file that its own became; None when its symbol is not in there."""
    place, digest = lost.place, lost.digest
    there = replace(place, path=file.path)
    found = file.digest(there)
    at = f"{file.path}{key_of(there)}"
    if found is not None and found == digest:
        return lost.reading("moved", f"now in {file.path}", at)
    if place.lines is not None and digest is not None:
        lines = file.lines_of(digest, place.lines)
        if lines is not None:
            return lost.reading("moved", f"now in {file.path}", f"{file.path}#L{lines[0]}-L{lines[1]}")
    if found is None:
        return None
    if digest is None:
        return lost.reading("broken", f"{lost.why}; git says it became {file.path}", at)
    if digest.partition(":")[0] != found.partition(":")[0]:
        return lost.reading("unknown", f"now in {file.path}, and its digest is of another recipe", at)
    return lost.reading("drifted", f"its code changed, and is now in {file.path}", at)
