"""Anchors work without a network: the grammars come with the wheels."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.bench.anchors.samples import load_all
from tests.vaults import clean_environment, git

# In a process of its own, where nothing has been loaded before sockets are gone.
SCRIPT = """
import socket, sys

def refuse(*arguments, **options):
    raise AssertionError("the network was asked for")

socket.socket = socket.create_connection = socket.getaddrinfo = refuse

from pathlib import Path
from remvault.store.anchor_states import CodeAnchors
from remvault.store.code import CodeRoot
from remvault.store.work_tree import WorkTree

folder = Path(sys.argv[1])
code = CodeAnchors(CodeRoot(WorkTree(folder, folder / ".git", folder / ".git"), {"PATH": sys.argv[2]}))
for at in sys.argv[3:]:
    taken = code.take(at).anchor
    reading = code.readings([taken])[0]
    print(at, taken.digest.partition(":")[0], reading.state)
"""


def test_anchors_of_every_language_work_where_sockets_are_blocked(tmp_path: Path) -> None:
    folder, env = tmp_path / "code", clean_environment(tmp_path)
    folder.mkdir()
    git(folder, "init", "-q", env=env)
    places = []
    for sample in load_all():
        for target in sample.targets[:1]:
            path = folder / sample.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(sample.file(target.text), encoding="utf-8")
            places.append(f"{sample.path}#{target.symbol}")

    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder), env["PATH"], *places], capture_output=True, text=True, check=False
    )

    assert done.stderr == ""
    assert done.stdout.splitlines() == [f"{place} t1 fresh" for place in places]
