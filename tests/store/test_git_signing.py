"""Signing is done or the commit is refused; never unsigned in silence."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.store.conftest import Desk
from tests.vaults import note_text

needs_ssh = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")


@pytest.fixture
def key(tmp_path: Path, home: Path) -> Path:
    path = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
    public = path.with_suffix(".pub").read_text()
    (home / "allowed").write_text(f"dana@example.org {public}")
    return path


@needs_ssh
def test_r27_with_commit_gpgsign_every_commit_is_signed(desk: Desk, home: Path, key: Path) -> None:
    for name, value in {
        "commit.gpgsign": "true",
        "gpg.format": "ssh",
        "user.signingkey": str(key),
        "gpg.ssh.allowedSignersFile": str(home / "allowed"),
    }.items():
        desk.git("config", name, value)

    outcomes = [desk.write("a.md", note_text(title), op="update") for title in ("One", "Two")]

    assert [one.pending for one in outcomes] == [None, None]
    assert desk.git("log", "--format=%G?").split() == ["G", "G"]
    assert desk.git("log", "-1", "--format=%an %ae").strip() == "Dana dana@example.org"
    assert desk.git("status", "--porcelain") == ""
    assert desk.git("fsck", "--strict") == ""
    assert desk.git("reflog", "-1", "--format=%gs").startswith("commit: update: A memory")


def test_r27_a_commit_that_cannot_be_signed_is_refused_and_said_so(desk: Desk, tmp_path: Path) -> None:
    desk.commit_by_hand("x", "x")
    desk.git("config", "commit.gpgsign", "true")
    desk.git("config", "gpg.format", "ssh")
    desk.git("config", "user.signingkey", str(tmp_path / "no such key"))
    tip = desk.git("rev-parse", "HEAD")

    outcome = desk.write("a.md", note_text("One"))

    assert (outcome.saved, outcome.committed) == (True, False)
    assert "cannot be signed" in (outcome.pending or "")
    assert "commit.gpgsign" in (outcome.pending or "")
    assert desk.git("rev-parse", "HEAD") == tip
    assert desk.git("status", "--porcelain") == "?? a.md\n"
    desk.git("config", "commit.gpgsign", "false")
    assert [one.committed for one in desk.ledger.settle()] == [True]
