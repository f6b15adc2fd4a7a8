"""What an agent reads, to the letter: `surface` over a fixed vault, clock and delimiter, in every form, and why.

`UPDATE_GOLDEN=1` writes what is seen: read the difference.
"""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from remvault.retrieval.frame import DELIMITER_BYTES
from remvault.surfaces.app import Surroundings
from tests.surfaces.code_vault import PAY, CodeVault
from tests.surfaces.conftest import Cli
from tests.vaults import git, note_text

GOLDEN = Path(__file__).parent / "golden"
PROMPT = "why does the mail worker retry three times and where do dead letters go"
READERS = """\
Dead letters are read by the two people on duty, who put each of them back into the queue of the mail worker or throw it
away, and who write down in the log of the day which of both they did and whom they asked.
"""
BODY = """\
The mail worker retries three times and doubles its pause, then it puts the message into the dead-letter queue, where
the team on duty looks at it the next morning.
"""


@pytest.fixture
def fixed(repo: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault in which each kind of candidate is there once, at a fixed time."""
    real = Surroundings.of_process
    standing = {"now": lambda: datetime(2026, 12, 1, 9, 30, tzinfo=UTC), "entropy": lambda size: bytes(range(size))}
    monkeypatch.setattr(Surroundings, "of_process", lambda: replace(real(), **standing))  # type: ignore[arg-type]
    code = CodeVault.make(repo, cli)
    write = _Writer(code)
    write("core", "Answer in English", "The team reads English only.\n", tier="core", scope="global", importance="0.9")
    write("lock", "Charging is never repeated", "A retry would charge twice.\n", anchors="[{at: src/pay.py#charge}]")
    write("gone", "The mail worker's old pause", BODY.replace("three", "two"), anchors="[{at: src/mail.py}]")
    write("mail", "Mail worker: three retries", BODY, epistemic="observation", observed="2026-11-28T08:00:00Z")
    for name, seen in (("team", "2026-11-30"), ("crew", "2026-11-01")):
        write(name, "Who reads dead letters", f"{READERS}{'Thanks.' * (name == 'team')}\n", observed=seen)
    write(
        "five",
        "Mail worker: five retries",
        "The mail worker retries five times; <b>the config</b> says so & nobody else.\n",
        relations="[{type: contradicts, target: m-mail}]",
        created="2025-01-01",
        provenance='[{source: "file:mail.toml", trust: tool, captured: 2026-11-30}]',
    )
    write(
        "long", "Dead letters, a history", "\n".join(f"In year {at} the queue was full." for at in range(1, 200)) + "\n"
    )
    write("stem", "Retrying", "Retrying is an art.\n")
    for word in ("alder", "birch", "cedar", "elder", "hazel", "larch"):
        write(word, f"The {word}", f"A {word} stands in the garden.\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "notes")
    return repo


class _Writer:
    def __init__(self, code: CodeVault) -> None:
        self._code = code

    def __call__(self, name: str, title: str, body: str, **fields: str) -> None:
        owner = {"scope": "project", "scope_id": "acme"} if "scope" not in fields else {}
        values = {"id": f"m-{name}"} | owner | fields
        quoted = f'"{title}"'
        self._code.write(f"vault/{name}.md", note_text(quoted, body=body, **values))  # type: ignore[arg-type]


@pytest.mark.parametrize("form", ["xml", "md", "json"])
def test_a_block_reads_as_written(fixed: Path, cli: Cli, form: str) -> None:
    assert PAY
    done = cli("surface", PROMPT, "--file", "src/pay.py", "--format", form, cwd=fixed)

    _compare(f"surface.{form}", done.out)


def test_why_it_is_so_reads_as_written(fixed: Path, cli: Cli) -> None:
    done = cli("surface", PROMPT, "--file", "src/pay.py", "--explain", cwd=fixed)

    _compare("explain.txt", done.err)


def test_a_closed_gate_reads_as_written(fixed: Path, cli: Cli) -> None:
    prompt = "which zeppelin hangar on mars holds airships of canvas, and whose garden borders its doors"
    done = cli("surface", prompt, "--explain", cwd=fixed)

    _compare("closed.txt", done.out + done.err)


def _compare(name: str, seen: str) -> None:
    assert DELIMITER_BYTES == 6  # as the fixed delimiter is long
    golden = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN") == "1":
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(seen, encoding="utf-8")
    assert seen == golden.read_text(encoding="utf-8")
