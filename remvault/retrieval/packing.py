"""Fit memories into a budget: whole ones only, best first, each part of the block within its share.

A budget holds for characters and for UTF-8 bytes alike: hosts count either, and text of many bytes a character costs a
model as many tokens more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from remvault.retrieval.frame import Frame
from remvault.retrieval.rendering import Item, Section, left_out_line, render_block, render_item, render_section

# Without a tokenizer of the model at hand: English prose and code average a little under four bytes a token
# (OpenAI's tokenizer notes say "roughly 4 characters"), so three keeps the estimate on the safe side.
CHARS_PER_TOKEN = 3
_BRIEF_BELOW = 1_000  # a budget in which an explanation would take the place of a memory
_UNFIT = "does not fit the budget"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the block and what it may take of the budget. What one leaves over is there for those behind it."""

    name: str
    share: float  # of the budget, at most
    share_of_one: float  # the same for the text of one memory


# In the order of the block, the dearest first. A part more is a row more.
PARTS = {
    part.name: part
    for part in (
        # Core memories are there whatever the prompt, so they leave at least half to what answers it, and no single
        # one crowds out the others.
        Part("core", 0.5, 0.25),
        Part("files", 0.75, 0.5),
        Part("relevant", 1.0, 0.5),
        Part("catalog", 0.2, 0.2),
    )
}


class Candidate(Protocol):
    """One that may be shown."""

    @property
    def id(self) -> str:
        """The memory's id."""
        ...

    def look(self) -> Item | str:
        """The memory as it is to be shown, its text still to be chosen, or why it is not; asked when its turn comes."""
        ...

    def texts(self, item: Item, most: int) -> Iterable[str]:
        """The texts of at most so many bytes that may stand for it, longest first; the first that fits is taken."""
        ...


@dataclass(frozen=True, slots=True)
class Placed:
    """A memory in the block."""

    part: str
    item: Item
    chars: int  # it takes


@dataclass(frozen=True, slots=True)
class Packed:
    """The block, what is in it and what is not, in the order of parts and ranks."""

    block: str
    items: tuple[Placed, ...]
    left_out: tuple[tuple[str, str], ...]  # id and why
    line: str = ""  # of the catalog, when it found room


def size_of(text: str) -> int:
    """What a text takes of a budget: its UTF-8 bytes, which are never fewer than its characters."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def pack(
    wanted: Sequence[tuple[str, Sequence[Candidate]]],
    *,
    budget: int,
    max_items: int,
    frame: Frame,
    line: Callable[[Sequence[Placed]], str] = lambda shown: "",
    is_more: bool = False,
) -> Packed:
    """Choose and render memories so that the whole block takes at most `budget` characters, and as many bytes.

    Args:
        wanted: names of `PARTS` with their candidates, best first.
        max_items: memories at most, those of the core apart.
        line: of the catalog, made for the memories that are shown; it stands there when any are and room is left.
        is_more: there are candidates that were not even looked at.
    """
    packing = _Packing(budget, max_items, frame)
    for name, candidates in wanted:
        packing.fill(PARTS[name], candidates)
    return packing.packed(line(packing.items), is_more=is_more)


_LEAST = Item("", "", "", "", "", "", "", "", "")


class _Packing:
    def __init__(self, budget: int, max_items: int, frame: Frame) -> None:
        self._budget, self._max_items, self._frame = budget, max_items, frame
        self._is_brief = budget < _BRIEF_BELOW
        # Room for the frame and for the last line at its longest, so that adding either never breaks the budget.
        longest = left_out_line(10**6, is_least=True)
        empty = render_block([Section("x", ["x"])], frame, more=longest, is_brief=self._is_brief)
        self._left = budget - size_of(empty)
        self._least = size_of(render_item(_LEAST, frame))
        self._sections: list[Section] = []
        self.items: list[Placed] = []
        self._left_out: list[tuple[str, str]] = []
        self._unfit = 0  # left out for want of room: the reader is told how many

    def fill(self, part: Part, candidates: Sequence[Candidate]) -> None:
        room = min(self._left, int(self._budget * part.share)) - self._wrapping(part.name)
        pieces: list[str] = []
        used = 0
        for candidate in candidates:
            if part.name != "core" and self._counted() >= self._max_items:
                self._leave_out(candidate.id, f"over {self._max_items} memories", is_unfit=True)
                continue
            if room - used < self._least:  # nothing is so small, so nobody needs to look at any code
                self._leave_out(candidate.id, _UNFIT, is_unfit=True)
                continue
            item = candidate.look()
            if isinstance(item, str):
                self._leave_out(candidate.id, item)
                continue
            placed = self._place(part, item, candidate, room - used)
            if placed is None:
                self._leave_out(candidate.id, _UNFIT, is_unfit=True)
                continue
            chosen, piece = placed
            pieces.append(piece)
            used += size_of(piece)
            self.items.append(Placed(part.name, chosen, len(piece)))
        if pieces:
            self._sections.append(Section(part.name, pieces))
            self._left -= used + self._wrapping(part.name)

    def packed(self, line: str, *, is_more: bool) -> Packed:
        more = left_out_line(self._unfit, is_least=is_more)
        part = PARTS["catalog"]
        if line and self._sections:
            section = Section(part.name, line=line)
            if size_of(render_section(section, self._frame)) <= min(self._left, int(self._budget * part.share)):
                self._sections.append(section)
            else:
                line = ""
        shown = line if self._sections else ""
        block = render_block(self._sections, self._frame, more=more, is_brief=self._is_brief)
        return Packed(block, tuple(self.items), tuple(self._left_out), shown)

    def _place(self, part: Part, item: Item, candidate: Candidate, room: int) -> tuple[Item, str] | None:
        # Without any text it takes so much; asking for texts of a long note is dear.
        left = room - size_of(render_item(replace(item, text=""), self._frame))
        if left < 0:
            return None
        for text in candidate.texts(item, int(self._budget * part.share_of_one)):
            if len(text) - text.count("\r") > left:  # rendering makes no text shorter, line ends apart
                continue
            chosen = replace(item, text=text)
            piece = render_item(chosen, self._frame)
            if size_of(piece) <= room:
                return chosen, piece
        return None

    def _counted(self) -> int:
        return sum(one.part != "core" for one in self.items)

    def _leave_out(self, memory_id: str, why: str, *, is_unfit: bool = False) -> None:
        self._left_out.append((memory_id, why))
        self._unfit += is_unfit

    def _wrapping(self, name: str) -> int:
        return size_of(render_section(Section(name, ["x"]), self._frame)) - 1
