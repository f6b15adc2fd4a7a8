"""What git tells of the code of one work tree: its files, where they went, which commits changed them.

Owns: the questions to git, each one process for any number of files or commits.
Leaves alone: what is in a file (code_source), what follows for an anchor (anchor_moves, anchor_changes).

Paths and commits come from notes, so a path is never a pattern or an option, and a commit is hex digits or none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from remvault.errors import GitError
from remvault.store.code import CodeRoot
from remvault.store.work_tree import head, run_git

_COMMIT = re.compile(r"[0-9a-f]{7,64}\Z")
_TIMEOUT_S = 20  # of one question; without an answer in time nothing is known
_FIELDS = "%x02%H%x00%aI%x00%an%x00%s%x00"
_BLOB = re.compile(rb"[0-9a-f]{40,64}\Z")
_CHANGES = ("-M", "-z", "--name-status", "--no-color", "--no-ext-diff", "--ignore-submodules")
_LOG = ("--no-color", "--no-decorate", "--no-ext-diff", "--no-show-signature", "--no-relative", "--ignore-submodules")
_WORDS = ("-z", "-o", "-I", "-w", "-F", "--full-name", "--no-recurse-submodules", "--no-color", "--no-line-number",
          "--no-column", "--no-heading", "--no-break")  # fmt: skip


@dataclass(slots=True)
class Way:
    """What became of files between two versions."""

    renamed: dict[str, str] = field(default_factory=dict)  # from, to
    added: set[str] = field(default_factory=set)
    others: set[str] = field(default_factory=set)  # changed or deleted

    def then(self, later: Way) -> Way:
        """This way and a later one behind it."""
        renamed = {old: later.renamed.get(new, new) for old, new in self.renamed.items()}
        added = {later.renamed.get(path, path) for path in self.added} | later.added
        return Way(later.renamed | renamed, added)

    @property
    def touched(self) -> set[str]:
        """Every path that is not as it was."""
        return self.others | self.added | set(self.renamed) | set(self.renamed.values())


@dataclass(frozen=True, slots=True)
class Step:
    """A commit that changed a file, with the file's blobs; None where it had none."""

    commit: str  # full id
    time: datetime  # the author's, aware
    author: str
    subject: str
    path: str  # after the commit; before it, of one that deletes the file
    old_blob: str | None
    new_blob: str | None


class CodeHistory:
    """Questions to git about one work tree. Where git fails or is too slow, the answer is that nothing is known."""

    def __init__(self, root: CodeRoot) -> None:
        self._root = root

    @property
    def head(self) -> str | None:
        """The commit that is checked out; None before the first one, or when it cannot be told."""
        try:
            return head(self._root.tree, self._root.environ).commit
        except GitError:
            return None

    def tracked(self) -> tuple[set[str], set[str]]:
        """The files in the staged index, and those of them that are not checked out: a sparse checkout."""
        items = (self._git("ls-files", "-z", "-t", "--cached") or b"").split(b"\0")
        files = {os.fsdecode(item[2:]): item[:1] for item in items if item}
        return set(files), {path for path, tag in files.items() if tag == b"S"}

    def untracked(self) -> set[str]:
        """The files that are neither tracked nor ignored."""
        output = self._git("ls-files", "-z", "--others", "--exclude-standard") or b""
        return {os.fsdecode(item) for item in output.split(b"\0") if item}

    def known(self, commits: Iterable[str]) -> dict[str, str]:
        """The full ids of those commits, as notes name them, that this clone has."""
        asked = list(dict.fromkeys(one for one in commits if _COMMIT.match(one)))
        if not asked:
            return {}
        stdin = "".join(f"{one}^{{commit}}\n" for one in asked).encode()
        output = self._git("cat-file", "--batch-check=%(objecttype) %(objectname)", stdin=stdin) or b""
        answers = (line.split() for line in output.decode("utf-8", "replace").splitlines())
        return {one: words[1] for one, words in zip(asked, answers, strict=False) if words[0] == "commit"}

    def changes_here(self, tip: str) -> Way:
        """What became of the files of HEAD (`tip`) in the work tree."""
        return _way((self._git("diff", "--no-relative", *_CHANGES, tip, "--") or b"").split(b"\0"))

    def ways(self, commits: Sequence[str], tip: str) -> dict[str, Way]:
        """Which files were renamed and added from each commit to HEAD (`tip`), full ids all."""
        # A list of commits is compared with its first, each with it, in one process.
        stdin = "".join(f"{tip} {one}\n" for one in commits).encode()
        options = ("--stdin", "--always", "-r", "--diff-filter=RCA", *_CHANGES)
        output = self._git("diff-tree", *options, stdin=stdin) if commits else None
        answers: list[list[bytes]] = []
        for item in (output or b"").split(b"\0"):
            if item == tip.encode():
                answers.append([])
            elif answers:
                answers[-1].append(item)
        return {one: _way(items) for one, items in zip(commits, answers, strict=False)}

    def holding(self, words: Iterable[str], suffixes: Iterable[str], *, with_untracked: bool) -> dict[str, set[str]]:
        """For each word, the text files that hold it and end in one of these suffixes, as they are in the work tree."""
        asked = {word for word in words if word and "\n" not in word and "\0" not in word}
        found: dict[str, set[str]] = {word: set() for word in words}
        if not asked:
            return found
        kinds = set(suffixes)
        is_plain = all(re.fullmatch(r"\.[A-Za-z0-9_+-]{1,16}", kind) for kind in kinds)
        patterns = [f"*{kind}" for kind in sorted(kinds)] if is_plain else []
        where = ("--untracked",) if with_untracked else ()
        stdin = "".join(f"{word}\n" for word in sorted(asked)).encode("utf-8", "replace")
        output = self._git("grep", *_WORDS, *where, "-f", "-", "--", *patterns, stdin=stdin) or b""
        for path, word in re.findall(rb"([^\0]+)\0([^\n]*)\n", output):
            name = os.fsdecode(path)
            if os.path.splitext(name)[1] in kinds:  # noqa: PTH122
                found.setdefault(word.decode("utf-8", "replace"), set()).add(name)
        return found

    def outside(self, commits: Sequence[str]) -> set[str]:
        """Which of these commits (full ids) are not in the history of HEAD: another branch, or later than HEAD."""
        if not commits:
            return set()
        stdin = "".join(f"{one}\n" for one in commits).encode() + b"^HEAD\n"
        output = self._git("rev-list", "--stdin", stdin=stdin)
        return set(commits) & set((output or b"").decode().split())

    def touched(self, since: str, paths: Iterable[str]) -> set[str] | None:
        """Which of the paths the history of HEAD changed, less that of the commit `since`; None when unknown."""
        args = ("log", "-z", "--format=", "--name-only", "--no-renames", *_LOG, f"{since}..HEAD", "--")
        output = self._git("--literal-pathspecs", *args, *paths)
        return None if output is None else {os.fsdecode(item) for item in output.split(b"\0") if item}

    def steps(self, since: str, path: str, *, limit: int) -> list[Step] | None:
        """The commits of HEAD, less those of `since`, that changed a file, renames followed; newest first.

        None when nobody can tell.
        """
        what = ("--raw", "--no-abbrev", "-z", "-M", "--follow", *_LOG, f"--max-count={limit}")
        output = self._git("--literal-pathspecs", "log", f"--format={_FIELDS}", *what, f"{since}..HEAD", "--", path)
        if output is None:
            return None
        return [step for part in output.split(b"\x02")[1:] if (step := _step(part)) is not None]

    def blobs(self, names: Sequence[str], *, max_bytes: int) -> dict[str, bytes]:
        """The content of blobs, by id or as `COMMIT:PATH` with a full commit id.

        Missing ones are left out, and those behind the first `max_bytes` of all of them.
        """
        asked = [name for name in dict.fromkeys(names) if "\n" not in name]
        if not asked:
            return {}
        sizes = self._git("cat-file", "--batch-check=%(objecttype) %(objectsize)", stdin=_lines(asked)) or b""
        fit = []
        for name, line in zip(asked, sizes.splitlines(), strict=False):
            kind, _, size = line.partition(b" ")
            max_bytes -= int(size) if kind == b"blob" else 0
            if kind == b"blob" and max_bytes >= 0:
                fit.append(name)
        output = self._git("cat-file", "--batch", stdin=_lines(fit)) if fit else b""
        return dict(zip(fit, _contents(output or b""), strict=False))

    def _git(self, *args: str, stdin: bytes = b"") -> bytes | None:
        try:
            folder, environ = self._root.root, self._root.environ
            done = run_git(folder, args, environ, stdin=stdin, check=False, timeout_s=_TIMEOUT_S)
        except GitError:
            return None
        is_empty_find = args[0] == "grep" and done.returncode == 1
        return done.stdout if done.returncode == 0 or is_empty_find else None


def _lines(names: Iterable[str]) -> bytes:
    return b"".join(name.encode("utf-8", "surrogateescape") + b"\n" for name in names)


def _contents(output: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(output):
        end = output.index(b"\n", at)
        size = int(output[at:end].rsplit(b" ", 1)[1])
        yield output[end + 1 : end + 1 + size]
        at = end + 2 + size


def _way(items: Iterable[bytes]) -> Way:
    """Read what `--name-status -z` says."""
    way, fields = Way(), iter(items)
    for status in fields:
        if not status:
            continue
        path = os.fsdecode(next(fields, b""))
        if status[:1] in b"RC":
            target = os.fsdecode(next(fields, b""))
            if status[:1] == b"R":
                way.renamed[path] = target
            else:
                way.added.add(target)
        elif status[:1] == b"A":
            way.added.add(path)
        else:
            way.others.add(path)
    return way


def _step(part: bytes) -> Step | None:
    fields = part.split(b"\0")
    if len(fields) < 6:
        return None
    commit, time, author, subject = (one.decode("utf-8", "replace") for one in fields[:4])
    raw = next((at for at, one in enumerate(fields) if at >= 4 and one.lstrip(b"\n").startswith(b":")), None)
    if raw is None:
        return None
    _, _, old, new, status = fields[raw].lstrip(b"\n").split(b" ")
    path = os.fsdecode(fields[raw + (2 if status[:1] in b"RC" else 1)])
    return Step(commit, datetime.fromisoformat(time), author, subject, path, _blob(old), _blob(new))


def _blob(name: bytes) -> str | None:
    return None if not _BLOB.match(name) or not name.strip(b"0") else name.decode()
