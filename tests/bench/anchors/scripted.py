"""The scripted table: what people do to code, what each edit means for an anchor, and what three ways of looking say.

An edit has one right state. A file hash and a line range know two answers only, so for them an edit is right when they
alert where the state is drifted or broken, and nowhere else.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from remvault.domain.anchors import STATES, Reading, State
from remvault.domain.memory import Anchor
from remvault.store.anchor_states import CodeAnchors
from remvault.store.code import CodeRoot
from remvault.store.work_tree import WorkTree
from tests.bench.anchors.samples import Sample, Target, load_all
from tests.vaults import clean_environment, git

ALERTS: tuple[State, ...] = ("drifted", "broken")
QUIET = tuple(state for state in STATES if state not in ALERTS)
MANY_LINES = 40


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit of the files of a sample, and the states that are right after it."""

    language: str
    kind: str
    name: str  # what was done
    at: str  # what is anchored
    before: Mapping[str, str]  # text by path
    after: Mapping[str, str]
    states: tuple[State, ...]
    now_at: str | None = None  # where it is, or the one place that it can have become
    how: str = "saved"  # or "staged" or "committed": how far git knows of it
    lines: tuple[int, int] = (0, 0)  # of what is anchored, before

    @property
    def calls_for_alert(self) -> bool:
        """Whether the memory should be looked at again."""
        return self.states[0] in ALERTS


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was said of an edit."""

    edit: Edit
    reading: Reading
    file_alerts: bool  # the file's bytes differ, or it is gone
    lines_alert: bool  # the bytes of the same lines differ, or they are gone

    @property
    def is_right(self) -> bool:
        """Whether the state is right, and so is the place where one is due."""
        if self.reading.state not in self.edit.states:
            return False
        return self.reading.state not in ("moved", "broken") or self.reading.now_at == self.edit.now_at


def edits(sample: Sample) -> Iterator[Edit]:
    """Every edit of a sample; lines and how far git knows vary where that can matter."""
    for target in sample.targets:
        yield from _in_place(sample, target)
        for how in ("saved", "staged", "committed"):
            yield from (replace(edit, how=how) for edit in _moves(sample, target))
        yield from (
            replace(edit, how=how) for how in ("staged", "committed") for edit in _moves_with_changes(sample, target)
        )
    yield from _of_whole_files(sample, sample.targets[0])
    yield from _of_line_ranges(sample, sample.targets[0])


def _edit(sample: Sample, target: Target, kind: str, name: str, after: Mapping[str, str], *states: State) -> Edit:
    before = {sample.path: _file(sample, target.text)}
    lines = _lines(before[sample.path], target.text)
    return Edit(sample.language, kind, name, f"{sample.path}#{target.symbol}", before, after, states, lines=lines)


def _file(sample: Sample, text: str) -> str:
    return sample.file(sample.others[0], text, sample.others[1])


def _lines(whole: str, part: str) -> tuple[int, int]:
    first = whole[: whole.index(part)].count("\n") + 1
    return first, first + part.count("\n") - 1


def _in_place(sample: Sample, target: Target) -> Iterator[Edit]:
    path, one, two, three = sample.path, *sample.others
    text = target.text

    def edit(kind: str, name: str, after: str, *states: State) -> Edit:
        return _edit(sample, target, kind, name, {path: after}, *states)

    for variant in target.of("look"):
        yield edit("format", variant.name, _file(sample, variant.text), "fresh")
    for variant in target.of("comment"):
        yield edit("comment", variant.name, _file(sample, variant.text), "fresh")
    yield edit("line endings", "CR LF", _file(sample, text).replace("\n", "\r\n"), "fresh")
    above = "\n".join([three] * (MANY_LINES // three.count("\n")))
    yield edit("lines above", "forty lines above", sample.file(above, one, text, two), "fresh")
    yield edit("reorder", "to the end", sample.file(one, two, text), "fresh")
    yield edit("reorder", "to the top", sample.file(text, two, one), "fresh")
    yield edit("other code", "a neighbour goes, one comes", sample.file(three, text, two), "fresh")
    for kind in ("body", "signature"):
        for variant in target.of(kind):
            yield edit(f"change {kind}", variant.name, _file(sample, variant.text), "drifted")
    yield edit("delete", "the symbol", sample.file(one, two), "broken")
    yield _edit(sample, target, "delete", "the file", {sample.moved_path: sample.file(three)}, "broken")
    for variant in target.of("renamed"):
        became = f"{path}#{variant.name}"
        new = edit("rename symbol", "one fits", _file(sample, variant.text), "broken")
        yield replace(new, now_at=became)
        last = variant.name.rpartition(".")[2]
        second = variant.text.replace(last, f"{last}2")
        yield edit("rename symbol", "two fit", sample.file(one, variant.text, second, two), "broken")


def _moves(sample: Sample, target: Target) -> Iterator[Edit]:
    """The same code elsewhere."""
    path, moved, one, two, three = sample.path, sample.moved_path, *sample.others
    became = f"{moved}#{target.symbol}"
    whole = _edit(sample, target, "rename file", "nothing else", {moved: _file(sample, target.text)}, "moved")
    yield replace(whole, now_at=became)
    for variant in target.of("look", "comment")[:1]:
        after = {moved: sample.file(one, variant.text, three)}
        yield replace(_edit(sample, target, "rename file", "and format", after, "moved"), now_at=became)
    there = {path: sample.file(one, two), moved: sample.file(three)}
    after = there | {moved: sample.file(three, target.text)}
    between = _edit(sample, target, "move to a file", "that exists", after, "moved")
    yield replace(between, before={**between.before, moved: sample.file(three)}, now_at=became)
    yield replace(_edit(sample, target, "move to a file", "a new one", after, "moved"), now_at=became)
    copy = {path: _file(sample, target.text), moved: sample.file(three, target.text)}
    yield _edit(sample, target, "copy", "to another file", copy, "fresh")
    changed = target.of("body", "signature")[0].text
    after = there | {moved: sample.file(three, changed)}
    yield _edit(sample, target, "move and change", "to another file", after, "broken")


def _moves_with_changes(sample: Sample, target: Target) -> Iterator[Edit]:
    """What only git can tell: the file has another name and another content."""
    changed = {sample.moved_path: _file(sample, target.of("body", "signature")[0].text)}
    yield _edit(sample, target, "rename and change", "file, body", changed, "drifted")
    for variant in target.of("renamed"):
        renamed = _edit(sample, target, "rename symbol", "file too", {}, "broken")
        after = {sample.moved_path: _file(sample, variant.text)}
        yield replace(renamed, after=after, now_at=f"{sample.moved_path}#{variant.name}")


def _of_whole_files(sample: Sample, target: Target) -> Iterator[Edit]:
    before = _file(sample, target.text)

    def edit(kind: str, name: str, after: Mapping[str, str], state: State) -> Edit:
        made = _edit(sample, target, kind, f"whole file: {name}", after, state)
        return replace(made, at=sample.path, lines=(1, before.count("\n")))

    for variant in target.of("look"):
        yield edit("format", variant.name, {sample.path: _file(sample, variant.text)}, "fresh")
    for variant in target.of("comment"):
        yield edit("comment", variant.name, {sample.path: _file(sample, variant.text)}, "fresh")
    yield edit("line endings", "CR LF", {sample.path: before.replace("\n", "\r\n")}, "fresh")
    for variant in target.of("body", "signature"):
        yield edit(f"change {variant.kind}", variant.name, {sample.path: _file(sample, variant.text)}, "drifted")
    yield replace(edit("rename file", "nothing else", {sample.moved_path: before}, "moved"), now_at=sample.moved_path)
    yield edit("delete", "gone", {sample.moved_path: sample.file(sample.others[2])}, "broken")


def _of_line_ranges(sample: Sample, target: Target) -> Iterator[Edit]:
    """Lines are followed by their tokens, so what is written on more lines may read moved."""
    before = _file(sample, target.text)
    first, last = _lines(before, target.text)
    one, two, three = sample.others

    def edit(kind: str, name: str, after: str, *states: State, now: str | None = None) -> Edit:
        made = _edit(sample, target, kind, f"lines: {name}", {sample.path: after}, *states)
        now_at = None if now is None else "{}#L{}-L{}".format(sample.path, *_lines(after, now))
        return replace(made, at=f"{sample.path}#L{first}-L{last}", now_at=now_at)

    yield edit("line endings", "CR LF", before.replace("\n", "\r\n"), "fresh")
    yield edit("lines above", "one more", sample.file(three, one, target.text, two), "moved", now=target.text)
    yield edit("reorder", "to the top", sample.file(target.text, two, one), "moved", now=target.text)
    yield edit("other code", "below", sample.file(one, target.text, three), "fresh")
    for variant in target.of("body", "signature"):
        yield edit(f"change {variant.kind}", variant.name, _file(sample, variant.text), *ALERTS)
    yield edit("delete", "the lines", sample.file(one, two), *ALERTS)


class Bench:
    """A git repository in which edits are made one after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.env = folder / "code", clean_environment(folder / "home")
        self._committed: dict[str, str] | None = None  # what HEAD and the staged index hold, where that is known
        self.folder.mkdir(parents=True)
        git(self.folder, "init", "-q", env=self.env)
        git(self.folder, "config", "user.name", "Bench", env=self.env)
        git(self.folder, "config", "user.email", "bench@example.org", env=self.env)

    @property
    def tree(self) -> WorkTree:
        """The repository's work tree."""
        return WorkTree(self.folder, self.folder / ".git", self.folder / ".git")

    def anchors(self) -> CodeAnchors:
        """The anchors as a new process without a cache sees them."""
        return CodeAnchors(CodeRoot(self.tree, self.env))

    def write(self, files: Mapping[str, str], how: str) -> None:
        """Make these the only files."""
        for path in self.folder.iterdir():
            if path.name != ".git":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        if how == "saved" or self._committed == files:
            return
        self._committed = None
        git(self.folder, "add", "-A", env=self.env)
        if how == "committed":
            git(self.folder, "commit", "-q", "--allow-empty", "-m", "edit", env=self.env)
            self._committed = dict(files)

    def verdict(self, edit: Edit) -> Verdict:
        """Anchor, edit, look."""
        self.write(edit.before, "committed")
        anchor = self.anchors().take(edit.at).anchor
        self.write(edit.after, edit.how)
        reading = self.anchors().readings([anchor])[0]
        path = edit.at.partition("#")[0]
        old, new = edit.before[path], edit.after.get(path)
        return Verdict(edit, reading, new != old, new is None or _part(new, edit.lines) != _part(old, edit.lines))


def _part(text: str, lines: tuple[int, int]) -> list[str]:
    return text.split("\n")[lines[0] - 1 : lines[1]]


def run(folder: Path, samples: Sequence[Sample] | None = None) -> Iterator[Verdict]:
    """The verdict on every scripted edit."""
    for number, sample in enumerate(load_all() if samples is None else samples):
        bench = Bench(folder / str(number))
        for edit in edits(sample):
            yield bench.verdict(edit)
        yield from _of_checkouts(bench, sample)


def _of_checkouts(bench: Bench, sample: Sample) -> Iterator[Verdict]:
    """Another branch and back, and a second work tree: the code that is there counts, and nothing else."""
    target = sample.targets[0]
    changed = {sample.path: _file(sample, target.of("body", "signature")[0].text)}
    away = _edit(sample, target, "branch switch", "where it is changed", changed, "drifted")
    bench.write(away.before, "committed")
    anchor: Anchor = bench.anchors().take(away.at).anchor
    git(bench.folder, "switch", "-qC", "other", env=bench.env)
    bench.write(changed, "committed")
    yield Verdict(away, bench.anchors().readings([anchor])[0], True, True)
    git(bench.folder, "switch", "-q", "-", env=bench.env)
    back = replace(away, name="and back", after=away.before, states=("fresh",))
    yield Verdict(back, bench.anchors().readings([anchor])[0], False, False)
    linked = bench.folder.parent / "linked"
    git(bench.folder, "worktree", "add", "-q", "--detach", str(linked), env=bench.env)
    there = CodeAnchors(CodeRoot(WorkTree(linked, *_git_folders(linked, bench.env)), bench.env))
    yield Verdict(replace(back, kind="linked work tree", name="same commit"), there.readings([anchor])[0], False, False)


def _git_folders(tree: Path, env: Mapping[str, str]) -> tuple[Path, Path]:
    asked = ("rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir")
    done = subprocess.run(["git", *asked], cwd=tree, env=dict(env), capture_output=True, text=True, check=True)
    own, common = done.stdout.split()
    return Path(own), Path(common)
