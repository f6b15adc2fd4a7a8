"""Any sequence of verbs by several actors in two work trees keeps the laws of the vault."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import remvault
from remvault.domain.lineage import build_lineage
from remvault.domain.note import parse_note
from remvault.domain.rules import linked, links
from remvault.errors import RemvaultError
from remvault.store.trees import DirectoryTree
from tests.vaults import git

ACTORS = [("user:ann", "a"), ("agent:bot", "a"), ("user:bob", "b")]
TITLES = ["Deploys on Tuesday", "Retries double", "The cache is write-through", "Names are kebab-case"]
SECRET = "kumquat"  # stands in local-only notes and nowhere else
TREE, ACTOR, PICK = st.integers(0, 1), st.integers(0, 2), st.integers(0, 50)


class LifeCycle(RuleBasedStateMachine):
    """Verbs at random; what they refuse is fine, what they leave behind must hold."""

    @initialize()
    def begin(self) -> None:
        self.base = Path(tempfile.mkdtemp(prefix="remvault-life-"))
        self.trees = [self.base / "main", self.base / "other"]
        self.trees[0].mkdir()
        git(self.trees[0], "init", "-q", "-b", "main")
        remvault.init(str(self.trees[0]))
        # A person's own key, comment and odd spacing: no verb but theirs may touch these bytes.
        self.foreign = "x-mine:   [ 1,2 ]   # leave me\n"
        (self.trees[0] / "unrelated.txt").write_text("mine\n")
        git(self.trees[0], "add", "unrelated.txt")
        git(self.trees[0], "commit", "-qm", "mine")
        git(self.trees[0], "worktree", "add", "-q", "-b", "other", str(self.trees[1]))

    def teardown(self) -> None:
        if hasattr(self, "base"):
            shutil.rmtree(self.base, ignore_errors=True)

    def vault(self, tree: int, actor: int) -> remvault.OpenVault:
        who, project = ACTORS[actor]
        return remvault.open_vault(str(self.trees[tree]), context={"project": project}, actor=who)

    def pick(self, vault: remvault.OpenVault, number: int) -> str:
        """Some visible memory in any stage; a name nobody has when there is none."""
        ids = sorted(row.id for row in vault.view().visible() if row.id)
        return ids[number % len(ids)] if ids else "m-nobody0000"

    def act(self, verb: str, vault: remvault.OpenVault, *arguments: object, **options: object) -> None:
        with suppress(RemvaultError):
            getattr(remvault, verb)(vault, *arguments, **options)

    @rule(tree=TREE, actor=ACTOR, title=st.sampled_from(TITLES), number=PICK)
    def new(self, tree: int, actor: int, title: str, number: int) -> None:
        self.act("new", self.vault(tree, actor), title, body=f"Detail {number % 3}.")

    @rule(tree=TREE, actor=ACTOR, title=st.sampled_from(TITLES))
    def private(self, tree: int, actor: int, title: str) -> None:
        self.act("new", self.vault(tree, actor), f"{SECRET} {title}", body=SECRET, private=True)

    @rule(
        tree=TREE,
        actor=ACTOR,
        number=PICK,
        verb=st.sampled_from(["confirm", "retract", "archive", "restore", "delete"]),
    )
    def correct(self, tree: int, actor: int, number: int, verb: str) -> None:
        vault = self.vault(tree, actor)
        self.act(verb, vault, self.pick(vault, number))

    @rule(tree=TREE, actor=ACTOR, number=PICK, title=st.sampled_from(TITLES))
    def supersede(self, tree: int, actor: int, number: int, title: str) -> None:
        vault = self.vault(tree, actor)
        self.act("supersede", vault, self.pick(vault, number), f"{title}, newer {number}")

    @rule(
        tree=TREE,
        actor=ACTOR,
        number=PICK,
        other=PICK,
        kind=st.sampled_from(["contradicts", "supports", "derived-from"]),
    )
    def link(self, tree: int, actor: int, number: int, other: int, kind: str) -> None:
        vault = self.vault(tree, actor)
        self.act("link", vault, self.pick(vault, number), kind, self.pick(vault, other))

    @rule(tree=TREE, actor=ACTOR, number=PICK, edit=st.sampled_from(["importance=0.7", "tags+=x", "title=Renamed"]))
    def set(self, tree: int, actor: int, number: int, edit: str) -> None:
        vault = self.vault(tree, actor)
        self.act("set_fields", vault, self.pick(vault, number), [edit])

    @rule(tree=TREE, actor=ACTOR, number=PICK)
    def rate(self, tree: int, actor: int, number: int) -> None:
        vault = self.vault(tree, actor)
        self.act("useful", vault, self.pick(vault, number), query="why")

    @rule(tree=TREE, actor=ACTOR)
    def undo(self, tree: int, actor: int) -> None:
        self.act("undo", self.vault(tree, actor))

    @rule(tree=TREE, number=PICK)
    def edit_by_hand(self, tree: int, number: int) -> None:
        notes = sorted(self.trees[tree].rglob("project/*/*.md"))
        if notes:
            note = notes[number % len(notes)]
            text = note.read_text()
            if self.foreign not in text:
                text = text.replace("\n---\n", f"\n{self.foreign}---\n", 1)
            note.write_text(text + f"By hand {number}.\n")

    @rule(tree=TREE)
    def merge(self, tree: int) -> None:
        here, there = self.trees[tree], ["main", "other"][1 - tree]
        for folder in self.trees:
            git(folder, "add", "-A")
            git(folder, "commit", "-qm", "by hand", check=False)
        git(here, "merge", "-q", "--no-edit", there, check=False)
        if (here / git(here, "rev-parse", "--git-path", "MERGE_HEAD").strip()).exists():
            git(here, "merge", "--abort")

    @invariant()
    def the_laws_hold(self) -> None:
        if not hasattr(self, "base"):
            return
        for folder in self.trees:
            tree = DirectoryTree(folder)
            notes = [parse_note(path, tree.read(path)) for path in tree.paths()]
            ids = [note.memory.id for note in notes]
            assert len(ids) == len(set(ids)), "ids are unique"
            lineage = build_lineage(links([linked(note) for note in notes]))
            assert lineage.cycles == (), "chains are acyclic"
            for memory_id in ids:
                assert memory_id is not None
                assert not any(lineage.is_superseded(head) for head in lineage.heads(memory_id))
            for note in notes:
                data = tree.read(note.path).decode()
                assert "x-mine" not in data or self.foreign in data, "no foreign byte changed"
                assert SECRET not in data, "local-only text stays out of the vault's own folders"
            assert (folder / "unrelated.txt").read_text() == "mine\n"

    @rule(tree=TREE, actor=ACTOR)
    def look(self, tree: int, actor: int) -> None:
        vault = self.vault(tree, actor)
        mine = ACTORS[actor][1]
        seen = [memory for memory, _ in remvault.list_memories(vault).memories]
        seen += [hit.memory for hit in remvault.search(vault, "deploys retries cache names newer renamed").hits]
        assert all(memory["scope_id"] == mine for memory in seen), "nothing out of scope"
        block = remvault.surface(vault, f"{SECRET} deploys retries cache names").block
        assert SECRET not in block.replace("remvault", "")
        for memory in seen[:3]:
            explained = remvault.why(vault, memory["id"])
            assert explained.answer()["memory"]["id"] == memory["id"]


LifeCycleTest = LifeCycle.TestCase
LifeCycleTest.settings = settings(
    max_examples=8, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)

MIXED = """
import random, sys, remvault
from remvault.errors import ConflictError
root, number, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
dice = random.Random(number)
mine, changed = [], 0
def patiently(act):
    # Another process may change the same note between our look and our write: then look again.
    for _ in range(50):
        try:
            return act()
        except ConflictError:
            pass
    raise SystemExit("never got through")
for step in range(steps):
    vault = remvault.open_vault(root, context={"project": "p"}, actor=f"agent:w{number}")
    what = dice.choice(["new", "set", "confirm", "supersede", "retract"]) if mine else "new"
    if what == "new":
        written = patiently(lambda: remvault.new(vault, f"Note {number}.{step}", body=f"{number} {step}"))
        mine.append(written.id)
    else:
        target = dice.choice(mine)
        if what == "set":
            written = patiently(lambda: remvault.set_fields(vault, target, [f"importance=0.{step:03}"]))
        elif what == "supersede":
            written = patiently(lambda: remvault.supersede(vault, target, f"Newer {number}.{step}"))
            mine.remove(target)
            mine.append(written.id)
        elif what == "retract":
            written = patiently(lambda: remvault.retract(vault, target))
            mine.remove(target)
        else:
            written = patiently(lambda: remvault.confirm(vault, target))
    # A second confirmation within one second says nothing new, and makes no commit.
    assert written.outcome.committed or not written.is_changed, written.outcome
    changed += written.is_changed
print(changed)
"""


# `make soak` does a hundred changes a process; everyday runs do enough to meet every race several times.
STEPS = 100 if os.environ.get("REMVAULT_TEST_SOAK") == "1" else 12


def test_sixteen_processes_of_mixed_changes_lose_nothing(repo: Path) -> None:
    remvault.init(str(repo))

    def work(number: int) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", MIXED, str(repo), str(number), str(STEPS)]
        return subprocess.run(command, capture_output=True, text=True, env=dict(os.environ))

    with ThreadPoolExecutor(16) as pool:
        done = list(pool.map(work, range(16)))

    assert [one.stderr for one in done if one.returncode] == []
    commits = git(repo, "log", "--format=%H %P").splitlines()
    changes = sum(int(one.stdout) for one in done)
    assert changes > 8 * STEPS
    assert len(commits) == 1 + changes
    assert all(len(line.split()) <= 2 for line in commits), "history is linear"
    assert git(repo, "fsck", "--strict", "--no-dangling") == ""
    assert git(repo, "status", "--porcelain") == ""
    assert not list((repo / ".git").glob("*.lock"))
    assert not list((repo / ".git" / "refs").rglob("*.lock"))
    created = {line for line in git(repo, "log", "--format=%(trailers:key=Remvault-Memory,valueonly)").split() if line}
    on_disk = {parse_note(path.name, path.read_bytes()).memory.id for path in (repo / "project" / "p").rglob("*.md")}
    assert created == on_disk
