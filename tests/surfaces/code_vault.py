"""A code repository with its own vault inside, and memories anchored to its code."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import remvault
from tests.surfaces.conftest import Cli
from tests.vaults import git, note_text

STORE = """\
class Store:
    def with_lock(self, work):
        with self.lock:
            return work()

    def read(self, key):
        return self.rows[key]
"""
PAY = "def charge(card, amount):\n    return card.take(amount)\n\n\ndef refund(card):\n    return card.give()\n"


@dataclass
class CodeVault:
    """The repository, its vault and the program."""

    root: Path
    cli: Cli
    ids: dict[str, str] = field(default_factory=dict)  # by title

    @classmethod
    def make(cls, root: Path, cli: Cli, *, project: str = "acme") -> CodeVault:
        """Two files of code and an empty embedded vault, committed."""
        made = cls(root, cli)
        made.write("src/store.py", STORE)
        made.write("src/pay.py", PAY)
        git(root, "add", "-A")
        git(root, "commit", "-qm", "code")
        cli("init", "--embedded", "--project", project, cwd=root)
        git(root, "add", "-A")
        git(root, "commit", "-qm", "vault")
        return made

    def write(self, path: str, text: str) -> None:
        """Write a file of the code."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def edit(self, path: str, old: str, new: str) -> None:
        """Change a file of the code."""
        text = (self.root / path).read_text()
        assert old in text
        self.write(path, text.replace(old, new))

    def commit(self, subject: str) -> str:
        """Commit everything; the new commit's id."""
        git(self.root, "add", "-A")
        git(self.root, "commit", "-qm", subject)
        return git(self.root, "rev-parse", "HEAD").strip()

    def remember(self, title: str, *at: str, body: str = "Body.\n", owner: str = "acme", **fields: str) -> str:
        """Write a memory of a project, anchored to the code as it is now; its id."""
        memory_id = f"m-{len(self.ids):010}"
        here = Path.cwd()
        os.chdir(self.root)
        try:
            code = remvault.open_vault("vault").anchors.of("project:acme")
        finally:
            os.chdir(here)
        assert code is not None
        taken = [code.take(one).anchor for one in at]
        anchors = ", ".join(f"{{at: {one.at}, digest: '{one.digest}', commit: {one.commit}}}" for one in taken)
        values = {"id": memory_id, "scope": "project", "scope_id": owner, "anchors": f"[{anchors}]"} | fields
        self.write(f"vault/project/{owner}/{memory_id}.md", note_text(title, body=body, **values))
        self.ids[title] = memory_id
        return memory_id

    def json(self, *args: str, cwd: Path | None = None) -> Any:
        """What a verb answers, as JSON."""
        return self.cli(*args, "--json", cwd=cwd or self.root).json
