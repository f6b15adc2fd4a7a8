"""One contract for both ways into a repository: the library and the git program."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from remvault.domain.blobs import blob_id
from remvault.errors import GitError
from remvault.store.git import Repository
from remvault.store.git_command import CommandRepository
from remvault.store.identity import IdentityMissing, resolve_identity
from remvault.store.repository import Draft, GitRepository, NotOwned, RevisionNotFound, Step, TipMoved
from remvault.store.trees import CommitTree, NoteMissing, NoteUnreadable, StagedTree
from remvault.store.work_tree import find_work_tree, head
from tests.store.conftest import MakeDesk
from tests.vaults import git, note_text

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)


@pytest.fixture(params=["library", "program"])
def repository(request: pytest.FixtureRequest, repo: Path) -> GitRepository:
    tree = find_work_tree(repo)
    assert tree is not None
    return Repository.open(tree, os.environ) if request.param == "library" else CommandRepository(tree, os.environ)


def draft(repository: GitRepository, changes: dict[str, str | None], parent: str | None) -> Draft:
    who = resolve_identity(os.environ, {"user.name": "Dana", "user.email": "d@x.org"}, NOW, repository.tree.root)
    return Draft("main", parent, [Step(changes, "new: ä [x]\n")], who, sign=False, config={})


def commit(repository: GitRepository, changes: dict[str, str | None], parent: str | None) -> str:
    [made] = repository.commit(draft(repository, changes, parent)).commits
    return made


def test_a_commit_changes_our_paths_only(repository: GitRepository, repo: Path) -> None:
    blob = repository.write_blob(b"one\r\n")
    first = commit(repository, {"a/b/c.md": blob, "a/[d]*.md": blob, "e.md": blob}, None)
    git(repo, "read-tree", "HEAD")
    git(repo, "update-index", "--cacheinfo", f"100755,{blob},e.md")
    git(repo, "commit", "-q", "-m", "mode")
    parent = repository.resolve("HEAD")
    two = repository.write_blob(b"two")

    made = commit(repository, {"a/b/c.md": None, "e.md": two, "a/é.md": two}, parent)

    assert repository.resolve("main") == made
    assert repository.entries(made, "") == {
        "a/[d]*.md": (0o100644, blob),
        "e.md": (0o100755, two),
        "a/é.md": (0o100644, two),
    }
    assert (
        git(repo, "log", "--format=%an %ae %cI %s", "-1", made).strip()
        == "Dana d@x.org 2026-12-01T09:30:00+00:00 new: ä [x]"
    )
    assert git(repo, "rev-parse", f"{first}^@") == ""
    assert git(repo, "fsck", "--strict") == ""


def test_a_moved_branch_is_not_moved_again(repository: GitRepository, repo: Path) -> None:
    blob = repository.write_blob(b"one")
    first = commit(repository, {"a.md": blob}, None)
    second = commit(repository, {"b.md": blob}, first)

    for parent in (first, None):
        with pytest.raises(TipMoved):
            commit(repository, {"c.md": blob}, parent)

    assert repository.resolve("main") == second


def test_files_are_listed_below_a_prefix_and_read(repository: GitRepository, repo: Path) -> None:
    for path in ("v/a.md", "v/x/b.md", "vv/c.md", "v/d.txt"):
        (repo / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / path).write_text(path)
    (repo / "v/link.md").symlink_to("a.md")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "x")
    (repo / "v/a.md").write_text("staged")
    git(repo, "add", "-A")

    for prefix in ("v/", "v", "/v/"):
        assert repository.tree_paths("HEAD", prefix) == ["a.md", "d.txt", "x/b.md"]
        assert sorted(repository.staged_blob_ids(prefix)) == ["a.md", "d.txt", "x/b.md"]
    assert repository.blob_ids("HEAD", "none/") == {}
    assert repository.blob_at("HEAD", "v/x/b.md") == blob_id(b"v/x/b.md")
    assert [repository.blob_at("HEAD", path) for path in ("v", "none", "v/link.md", "v/a.md/x")] == [None] * 4
    assert repository.read_blob(repository.staged_blob_ids("v/")["a.md"]) == b"staged"
    assert repository.has_blob(blob_id(b"staged"))
    assert not repository.has_blob("0" * 39 + "1")
    with pytest.raises(GitError):
        repository.read_blob("0" * 39 + "1")
    committed, staged = CommitTree(repository, "HEAD", "v/"), StagedTree(repository, "v/")
    assert committed.paths() == staged.paths() == ["a.md", "x/b.md"]
    assert (committed.read("a.md"), staged.read("a.md")) == (b"v/a.md", b"staged")
    assert [problem.path for problem in committed.skipped()] == ["link.md"]
    with pytest.raises(NoteUnreadable):
        committed.read("link.md")
    with pytest.raises(NoteMissing):
        staged.read("none.md")


def test_before_the_first_commit_head_is_empty_and_other_names_are_unknown(repository: GitRepository) -> None:
    assert repository.blob_ids("HEAD", "") == {}
    assert repository.blob_at("HEAD", "a.md") is None
    assert repository.staged_blobs(["a.md"]) == {"a.md": None}
    for rev in ("HEAD", "nonsense", "--help", "HEAD~4"):
        with pytest.raises(RevisionNotFound):
            repository.resolve(rev)


def test_changed_paths_tell_both_blobs(repository: GitRepository, repo: Path) -> None:
    one, two = repository.write_blob(b"one"), repository.write_blob(b"two")
    first = commit(repository, {"v/a.md": one, "v/b.md": one, "w/c.md": one, "v/x/d": one}, None)
    second = commit(repository, {"v/a.md": two, "v/b.md": None, "w/c.md": two, "v/x/e": one}, first)
    third = commit(repository, {"v/x/d": None, "v/x/e": None, "v/x": two}, second)

    changed = {"a.md": (one, two), "b.md": (one, None), "x/e": (None, one)}
    assert repository.changed_paths(first, second, "v/") == changed
    assert repository.changed_paths(None, first, "w") == {"c.md": (None, one)}
    assert repository.changed_paths(first, first, "") == {}
    assert repository.changed_paths(second, third, "v/") == {"x/d": (one, None), "x/e": (one, None), "x": (None, two)}


def test_log_goes_back_newest_first(repository: GitRepository, repo: Path) -> None:
    blob = repository.write_blob(b"one")
    first = commit(repository, {"a.md": blob}, None)
    second = commit(repository, {"b.md": blob}, first)

    found = list(repository.log(second))

    assert [(one.id, one.parents) for one in found] == [(second, (first,)), (first, ())]
    assert (found[0].author, found[0].email, found[0].time) == ("Dana", "d@x.org", NOW)
    assert found[0].message.strip() == "new: ä [x]"


def test_the_rule_that_ignores_a_path_is_named(repository: GitRepository, repo: Path) -> None:
    (repo / ".gitignore").write_text("# x\ndocs/\n*.tmp.md\n!keep.tmp.md\n")

    assert repository.ignored_by("docs/mem/a.md") == ".gitignore:2: docs/"
    assert repository.ignored_by("a.md") is None
    assert repository.ignored_by("keep.tmp.md") is None


def test_a_hooks_own_index_file_can_be_read(repo: Path, tmp_path: Path) -> None:
    (repo / "a.md").write_text("a")
    subprocess.run(
        ["git", "add", "a.md"], cwd=repo, check=True, env=os.environ | {"GIT_INDEX_FILE": str(tmp_path / "other")}
    )
    tree = find_work_tree(repo)
    assert tree is not None

    found = Repository.open(tree, os.environ, index_file=str(tmp_path / "other")).staged_blob_ids("")

    assert found == {"a.md": blob_id(b"a")}


@pytest.mark.parametrize("kind", ["sha256", "partial clone"])
def test_repositories_the_library_cannot_open_are_reached_through_git(
    tmp_path: Path, make_desk: MakeDesk, kind: str
) -> None:
    if kind == "sha256":
        git(tmp_path, "init", "-q", "--object-format=sha256", "r")
    else:
        git(tmp_path, "init", "-q", "r")
        git(tmp_path / "r", "config", "core.repositoryformatversion", "1")
        git(tmp_path / "r", "config", "extensions.partialClone", "origin")
    desk = make_desk(tmp_path / "r")
    tree = find_work_tree(desk.root)
    assert tree is not None
    assert isinstance(Repository.open(tree, os.environ), CommandRepository)

    outcomes = [desk.write("global/a.md", note_text(title), op="update") for title in ("One", "Two")]

    assert [one.pending for one in outcomes] == [None, None]
    assert head(tree).commit == outcomes[1].commit
    assert desk.ops() == ["update", "update"]
    assert desk.git("status", "--porcelain") == ""
    assert desk.git("fsck", "--strict") == ""


@pytest.mark.skipif(os.getuid() != 0, reason="needs to give a folder away")
def test_r30_a_repository_of_another_user_is_refused_with_the_line_that_allows_it(
    repo: Path, home: Path, make_desk: MakeDesk
) -> None:
    desk = make_desk()
    desk.commit_by_hand("x", "x")
    for path in (repo, *repo.rglob("*")):
        os.chown(path, 1234, 1234, follow_symlinks=False)
    tree = find_work_tree(repo)
    assert tree is not None
    assert head(tree).branch == "main", "what needs no trust still works"

    with pytest.raises(NotOwned) as caught:
        Repository.open(tree, os.environ)
    outcome = desk.write("global/a.md", note_text())

    line = f"git config --global --add safe.directory {repo}"
    assert line in (caught.value.hint or "")
    assert (outcome.saved, outcome.committed) == (True, False)
    assert line in (outcome.pending or "")
    for value in (str(repo), "*"):
        (home / "gitconfig").write_text(
            f"[user]\n\tname = Dana\n\temail = dana@example.org\n[safe]\n\tdirectory = {value}\n"
        )
        assert all(one.committed for one in desk.ledger.settle())
        assert desk.write(f"global/b{len(value)}.md", note_text()).committed
    assert desk.git("status", "--porcelain") == ""


def test_identity_is_resolved_as_git_resolves_it(repo: Path) -> None:
    config = {"user.name": "Dana", "user.email": "d@x.org", "author.email": "a@x.org"}

    found = resolve_identity({"GIT_COMMITTER_NAME": " Robot. "}, config, NOW, repo)

    assert (found.author.name, found.author.email) == ("Dana", "a@x.org")
    assert (found.committer.name, found.committer.email) == ("Robot", "d@x.org")
    assert resolve_identity({"EMAIL": "e@x.org"}, {"user.name": "D"}, NOW, repo).author.email == "e@x.org"
    for environ in ({"GIT_AUTHOR_NAME": ""}, {"GIT_AUTHOR_NAME": " <> "}, {"GIT_COMMITTER_EMAIL": ""}):
        with pytest.raises(IdentityMissing):
            resolve_identity(environ, config, NOW, repo)
