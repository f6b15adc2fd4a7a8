"""Supersession: which memory replaced which, and what holds today.

The newer note's `supersedes` decides; the mark on the older note is for people. A link has effect only when the newer
memory counts (valid and active) and its owner is the same or its scope wider, and when it is not part of a circle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from graphlib import TopologicalSorter

from remvault.domain.scope import SCOPES


@dataclass(frozen=True, slots=True)
class Link:
    """One memory as supersession sees it."""

    id: str
    supersedes: tuple[str, ...] = ()
    owner: str | None = None  # "project:acme-api"
    counts: bool = True  # valid and active


@dataclass(frozen=True, slots=True)
class Lineage:
    """The graph of effective supersession.

    `successors` maps an id to those that directly supersede it, sorted; `predecessors` the other way round.
    `without_effect` and `cycles` hold the links that were left out.
    """

    successors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    predecessors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    without_effect: tuple[tuple[str, str], ...] = ()  # (newer, older) with an owner or state that may not supersede
    cycles: tuple[tuple[str, ...], ...] = ()  # members of each circle, sorted

    def is_superseded(self, memory_id: str) -> bool:
        """Whether something holds in this memory's place."""
        return memory_id in self.successors

    def heads(self, memory_id: str) -> list[str]:
        """The memories that hold today in this one's place, sorted; itself when nothing superseded it."""
        return sorted(one for one in self._reach(memory_id, self.successors) if one not in self.successors)

    def chain(self, memory_id: str) -> list[str]:
        """Every memory linked with this one by supersession, oldest first (a topological order, ties by id)."""
        members, waiting = {memory_id}, [memory_id]
        while waiting:
            one = waiting.pop()
            near = {*self.successors.get(one, ()), *self.predecessors.get(one, ())} - members
            members |= near
            waiting += near
        sorter = TopologicalSorter({one: self.predecessors.get(one, ()) for one in members})
        sorter.prepare()
        ordered: list[str] = []
        while sorter.is_active():
            ready = sorted(sorter.get_ready())
            ordered += ready
            sorter.done(*ready)
        return ordered

    def contests(self) -> list[tuple[str, tuple[str, ...]]]:
        """Memories with two or more heads: (memory, heads), sorted; only the earliest memory of each dispute."""
        found = []
        for memory_id, direct in sorted(self.successors.items()):
            heads = self.heads(memory_id)
            if len(direct) > 1 and len(heads) > 1:
                found.append((memory_id, tuple(heads)))
        return found

    @staticmethod
    def _reach(start: str, edges: Mapping[str, tuple[str, ...]]) -> set[str]:
        seen, waiting = {start}, [start]
        while waiting:
            for one in edges.get(waiting.pop(), ()):
                if one not in seen:
                    seen.add(one)
                    waiting.append(one)
        return seen


def may_supersede(newer: str | None, older: str | None) -> bool:
    """Whether an owner's memory may replace another's: the same owner, or a wider scope. Unknown owners may not."""
    if newer is None or older is None:
        return False
    newer_scope, older_scope = newer.split(":", 1)[0], older.split(":", 1)[0]
    return newer == older or SCOPES.index(newer_scope) > SCOPES.index(older_scope)


def build_lineage(links: Iterable[Link]) -> Lineage:
    """Build the graph from every memory of a vault; links to unknown ids are left to the rules."""
    by_id = {link.id: link for link in links}
    wanted: dict[str, set[str]] = defaultdict(set)  # newer -> older
    without_effect = []
    for link in by_id.values():
        for older in link.supersedes:
            if older not in by_id:
                continue
            if link.counts and may_supersede(link.owner, by_id[older].owner):
                wanted[link.id].add(older)
            else:
                without_effect.append((link.id, older))
    cycles = _cycles(wanted)
    circular = {one: members for members in cycles for one in members}
    successors: dict[str, set[str]] = defaultdict(set)
    predecessors: dict[str, set[str]] = defaultdict(set)
    for newer, olders in wanted.items():
        for older in olders:
            if older not in circular.get(newer, ()):
                successors[older].add(newer)
                predecessors[newer].add(older)
    return Lineage(
        {one: tuple(sorted(many)) for one, many in successors.items()},
        {one: tuple(sorted(many)) for one, many in predecessors.items()},
        tuple(sorted(without_effect)),
        tuple(sorted(cycles)),
    )


def _cycles(edges: Mapping[str, set[str]]) -> list[tuple[str, ...]]:
    """Strongly connected components that hold a circle (Tarjan 1972, with an explicit stack)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    on_stack: set[str] = set()
    stack: list[str] = []
    found: list[tuple[str, ...]] = []
    for root in edges:
        if root in index:
            continue
        work = [(root, iter(sorted(edges.get(root, ()))))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(sorted(edges.get(target, ())))))
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    members = []
                    while True:
                        one = stack.pop()
                        on_stack.discard(one)
                        members.append(one)
                        if one == node:
                            break
                    if len(members) > 1 or node in edges.get(node, ()):
                        found.append(tuple(sorted(members)))
    return found
