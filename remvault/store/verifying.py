"""Hold a vault's files and history against each other: is everything on disk what a commit says, and who said it?

Owns: comparing disk and HEAD byte by byte, judging commits by their trailers and authors, noticing a lost history.
Leaves alone: what may be named to whom (surfaces), the rules for notes (checking).

What it cannot know: whoever may write into the git directory can also make commits. Authors listed by the user and
signatures narrow that; the head kept outside the repository tells when commits vanish.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from remvault.domain.commit_message import Operation, operations
from remvault.domain.differences import differences
from remvault.domain.note import Note
from remvault.domain.operation_rules import broken_promises
from remvault.domain.problems import Problem, Rule, Severity
from remvault.store.history import Changes, changes_of, read_note
from remvault.store.note_paths import is_note_path
from remvault.store.repository import CommitFacts, GitRepository, RevisionNotFound
from remvault.store.trees import NoteMissing, Tree

AUDIT_RULES: dict[str, Rule] = {
    rule.code: rule
    for rule in (
        Rule(
            "RV610", "info", "waits for its commit", "The bytes are on disk and staged or queued, not in history yet."
        ),
        Rule(
            "RV611",
            "error",
            "differs from history",
            "Nobody committed or staged what is on disk: an edit that is not finished, or one that nobody made openly.",
        ),
        Rule("RV612", "error", "unknown author", "Your settings list who may write, and this author is not listed."),
        Rule(
            "RV613",
            "error",
            "history lost",
            "Commits that were seen here are gone: the repository was rolled back, or history was rewritten.",
        ),
        Rule("RV614", "error", "commit touches more than it names", "A commit of ours changes what it names, no more."),
        Rule("RV615", "error", "operation and change disagree", "The trailer says one thing, the difference another."),
        Rule("RV616", "info", "changed without trailers", "Commits made by hand tell by their difference alone."),
        Rule("RV617", "info", "not checked", "Something that this check needs is not there."),
        Rule("RV618", "warning", "author of low trust", "Your settings trust this author little."),
    )
}
_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Judged:
    """What was found in the commits."""

    findings: tuple[Problem, ...]
    commits: int  # that touch notes


@dataclass(slots=True)
class CommitJudge:
    """Judges the commits of a vault one by one.

    Args:
        authors: names or addresses to trust; empty means that nobody is listed.
        shown: how a note may be named to whoever asks, by path and id.
    """

    repository: GitRepository
    prefix: str
    authors: Mapping[str, str]
    shown: Callable[[Note], str]
    _notes: dict[tuple[str, str], Note] = field(default_factory=dict)

    def judge(self, tip: str, *, shallow: frozenset[str]) -> Judged:
        """Judge every commit that changed notes; `shallow` are commits whose parents this clone does not have."""
        findings: list[Problem] = []
        by_hand: list[str] = []
        commits = 0
        for facts in self.repository.log(tip):
            if facts.id in shallow:
                continue
            changes = _note_changes(self.repository, self.prefix, facts)
            if not changes:
                continue
            commits += 1
            findings += self._author(facts)
            told = operations(facts.message)
            if told:
                findings += self._trailers(facts, told, changes)
            else:
                by_hand.append(facts.id[:10])
        if by_hand:
            some = ", ".join(by_hand[:_EXAMPLES]) + (", ..." if len(by_hand) > _EXAMPLES else "")
            what = "1 commit" if len(by_hand) == 1 else f"{len(by_hand):,} commits"
            findings.append(finding("RV616", f"{what} changed notes without trailers, as by hand: {some}"))
        if not self.authors:
            findings.append(finding("RV617", "authors are not checked: your settings list none in [authors]"))
        return Judged(tuple(findings), commits)

    def _author(self, facts: CommitFacts) -> Iterator[Problem]:
        if not self.authors:
            return
        trust = self.authors.get(facts.author) or self.authors.get(facts.email)
        who = f"{facts.author} <{facts.email}>"
        if trust is None:
            hint = "if you know them, list them in [authors] of your own settings file"
            yield finding("RV612", f"commit {facts.id[:10]} is by {who}, whom your settings do not list", hint=hint)
        elif trust == "low":
            yield finding("RV618", f"commit {facts.id[:10]} is by {who}, whom your settings trust little")

    def _trailers(self, facts: CommitFacts, told: Sequence[Operation], changes: Changes) -> Iterator[Problem]:
        before = {path: self._note(path, old) for path, (old, _) in changes.items() if old is not None}
        after = {path: self._note(path, new) for path, (_, new) in changes.items() if new is not None}
        ops = ", ".join(dict.fromkeys(one.op for one in told))
        hint = f"see 'git show {facts.id[:10]}'"
        named = {memory for one in told for memory in (*one.ids, *one.supersedes)}
        if named:
            for path in sorted(changes):
                ids = {notes[path].memory.id for notes in (before, after) if path in notes} - {None}
                if not ids & named:
                    what = self.shown(after.get(path) or before[path])
                    message = f"commit {facts.id[:10]} ({ops}) also changes {what}, which it does not name"
                    yield finding("RV614", message, hint=hint)
        if len(told) != 1:
            return
        for one, changed in broken_promises(told[0].op, differences(before.values(), after.values())):
            note = after.get(one.path) or before[one.path]
            message = f"commit {facts.id[:10]} says {ops}, but of {self.shown(note)} it changes: {changed}"
            yield finding("RV615", message, hint=hint)

    def _note(self, path: str, blob: str) -> Note:
        if (path, blob) not in self._notes:
            self._notes[path, blob] = read_note(self.repository, path, blob)
        return self._notes[path, blob]


def compare_with_head(
    tree: Tree,
    repository: GitRepository,
    prefix: str,
    *,
    others: Mapping[str, bytes | None],
    queued: frozenset[tuple[str, str | None]],
    has_filter: Callable[[str], bool],
    may_name: Callable[[str], str | None],
) -> list[Problem]:
    """Read every note and hold its bytes against HEAD; nothing a file system says of a file is trusted.

    Args:
        others: further files of the vault that HEAD should hold, with their bytes, None when they are not on disk.
        queued: (path from the repository's root, blob) of what operations of ours left to be committed.
        has_filter: whether a path of the repository goes through a program on its way into git.
        may_name: how a path may be called to whoever asks; None when it may not be told of at all.
    """
    head = repository.blob_ids("HEAD", prefix)
    staged = repository.staged_blob_ids(prefix)
    on_disk: dict[str, bytes | None] = dict(others)
    for path in tree.paths():
        try:
            on_disk[path] = tree.read(path)
        except NoteMissing:
            continue  # gone meanwhile, or skipped and reported as such
    for path in head:
        if is_note_path(path):
            on_disk.setdefault(path, None)
    findings = []
    for path, data in sorted(on_disk.items()):
        held = head.get(path)
        blob = None if data is None else _blob(repository, prefix + path, data, held, has_filter)
        if blob == held:
            continue
        name = may_name(path)
        if name is None:
            continue
        what = "is new" if held is None else "is gone" if blob is None else "has other bytes"
        if (prefix + path, blob) in queued:
            findings.append(finding("RV610", f"{name} {what}: it waits for its commit", path))
        elif staged.get(path) == blob:
            findings.append(finding("RV610", f"{name} {what}: it is staged for a commit", path, severity="warning"))
        else:
            said, hint = _DIFFERS[what]
            findings.append(finding("RV611", f"{name} {said}", path, hint=hint))
    return findings


# What is told, and what to do.
_DIFFERS = {
    "is new": ("is in no commit", "commit it if it is yours, else remove it"),
    "is gone": (
        "is gone, and no commit removed it",
        "'git restore' brings it back; 'remvault delete' removes it openly",
    ),
    "has other bytes": (
        "has other bytes than history holds",
        "'git diff' shows the change: commit it if it is yours, else 'git restore' the file",
    ),
}


def lost_commits(repository: GitRepository, prefix: str, seen: str, tip: str) -> list[CommitFacts] | None:
    """Commits on notes that `seen` had and `tip` has not, newest first; None when the repository no longer has `seen`.

    A commit that was only rewritten (rebased, or amended without another message) and still brings the same notes is
    not lost.
    """
    try:
        repository.resolve(seen)
    except RevisionNotFound:
        return None
    present = {facts.id: facts for facts in repository.log(tip)}
    gone = [facts for facts in repository.log(seen) if facts.id not in present]
    if not gone:
        return []
    oldest = min(facts.time for facts in gone)
    kept = {_mark(repository, prefix, facts) for facts in present.values() if facts.time >= oldest}
    gone = [facts for facts in gone if _note_changes(repository, prefix, facts)]
    return [facts for facts in gone if _mark(repository, prefix, facts) not in kept]


def finding(
    code: str, message: str, path: str = "", *, hint: str | None = None, severity: Severity | None = None
) -> Problem:
    """A finding with its rule's severity, unless another is given."""
    return Problem(code, severity or AUDIT_RULES[code].severity, path, None, message, hint)


def is_ok(findings: Iterable[Problem]) -> bool:
    """Whether nothing is wrong: warnings and remarks are not."""
    return all(one.severity != "error" for one in findings)


def _blob(
    repository: GitRepository, path: str, data: bytes, held: str | None, has_filter: Callable[[str], bool]
) -> str:
    """The blob id of what is on disk, as git would keep it where its own settings change line ends or encrypt."""
    blob = repository.hash(data)
    if held is None or blob == held:
        return blob
    plain = repository.hash(data.replace(b"\r\n", b"\n")) if b"\r\n" in data else blob
    if plain == held:
        return held
    return repository.write_filtered_blob(path, data) if has_filter(path) else blob


def _note_changes(repository: GitRepository, prefix: str, facts: CommitFacts) -> Changes:
    return {path: pair for path, pair in changes_of(repository, facts, prefix).items() if is_note_path(path)}


def _mark(repository: GitRepository, prefix: str, facts: CommitFacts) -> tuple[object, ...]:
    """What stays the same when a commit is rewritten on top of others."""
    brought = frozenset((path, new) for path, (_, new) in _note_changes(repository, prefix, facts).items())
    return (facts.author, facts.email, facts.time, facts.message.strip(), brought)
