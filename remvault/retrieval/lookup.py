"""Find one note by what a person calls it: an id, the beginning of one, a path, or a title."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from remvault.domain.hostile_text import one_line
from remvault.domain.suggestions import suggest
from remvault.errors import UserError

if TYPE_CHECKING:
    from remvault.domain.note import Note

MIN_PREFIX = 4  # characters after "m-"


class Named(Protocol):
    """What a lookup needs to know of a note."""

    @property
    def path(self) -> str:
        """Path relative to the vault."""
        ...

    @property
    def id(self) -> str | None:
        """The memory's id."""
        ...

    @property
    def title(self) -> str | None:
        """The memory's title."""
        ...


@dataclass(frozen=True, slots=True)
class NamedNote:
    """A parsed note as a lookup sees it."""

    note: Note

    @property
    def path(self) -> str:
        """Path relative to the vault."""
        return self.note.path

    @property
    def id(self) -> str | None:
        """The memory's id."""
        return self.note.memory.id

    @property
    def title(self) -> str | None:
        """The memory's title."""
        return self.note.memory.title


class MemoryNotFound(UserError):
    """No memory that this context may see is called so. Out of scope answers exactly like not there."""

    code = "memory_not_found"

    def __init__(self, name: str, close: Sequence[str] = ()) -> None:
        self.name, self.close = name, list(close)
        hint = f"did you mean {close[0]}?" if close else "run 'remvault list' to see what is there"
        if name.startswith("m-") and len(name) < 2 + MIN_PREFIX:
            hint = f"the beginning of an id needs at least {MIN_PREFIX} characters behind m-"
        super().__init__(f"no memory called {one_line(name)!r}", hint=hint)


class AmbiguousName(UserError):
    """Several memories are called so."""

    code = "ambiguous"

    def __init__(self, name: str, ids: Sequence[str]) -> None:
        self.name, self.ids = name, list(ids)
        super().__init__(f"{one_line(name)!r} could be {', '.join(ids[:5])}", hint="give more of the id, or the path")


def find(name: str, rows: Iterable[Named]) -> Named:
    """Return the one note that `name` means among `rows`, which hold only what the context may see.

    Tried in order: whole id, path, beginning of an id (at least 4 characters after "m-"), title ignoring case.

    Raises:
        MemoryNotFound: for none, with near ids or titles among `rows` only.
        AmbiguousName: for several.
    """
    rows = list(rows)
    prefix_allowed = len(name.removeprefix("m-")) >= MIN_PREFIX
    ways = (
        [row for row in rows if row.id == name],
        [row for row in rows if row.path in (name, f"{name}.md")],
        [row for row in rows if prefix_allowed and (row.id or "").startswith(name)],
        [row for row in rows if (row.title or "").casefold() == name.casefold()],
    )
    for found in ways:
        if len(found) > 1:
            raise AmbiguousName(name, [row.id if row.id and row.id != name else row.path for row in found])
        if found:
            return found[0]
    known = [row.id for row in rows if row.id]
    close = suggest(name, known) or suggest(name, [row.title for row in rows if row.title])
    raise MemoryNotFound(name, [close] if close else [])
