"""A remvault vault as the `agent-memory-integrity` suite sees a memory store.

The store is the repository: notes, and git's own folder. A record is a note's file, its slot the file's path, its owner
the project in whose folder it lies. Memories are written by `remvault.new` and judged by `remvault.verify`, each time
by a vault opened afresh. The user's own state folder, where the heads last seen are kept, is not part of the store.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml
from agmi.adapters.base import MemoryAdapter, Record

import remvault
from remvault.surfaces.app import OpenVault, Surroundings

OURS, OTHERS = "context-a", "context-b"


class RemvaultAdapter(MemoryAdapter):
    """Notes in git, checked by `verify`, which somebody has to run: the detection point is the audit."""

    name = f"remvault {remvault.__version__}"
    detection_point = "audit"
    supports_replay = True
    supports_metadata = True
    supports_snapshot = True

    def setup(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="remvault-agmi-"))
        self._store = self._folder / "store"
        self._store.mkdir()
        self._around = _surroundings(self._folder, self._store)
        subprocess.run(["git", "init", "-q", "-b", "main"], cwd=self._store, env=dict(self._around.environ), check=True)
        remvault.init(str(self._store), surroundings=self._around)

    def teardown(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def seed(self, n: int) -> None:
        for number in range(n):
            self._new(OURS, number)

    def reload(self) -> None:
        """Nothing is kept between two calls: each opens the vault anew."""

    def verify(self) -> bool:
        found = remvault.verify(self._open(OURS))
        errors = sorted(
            (one for one in found.findings if one.severity == "error"), key=lambda one: one.code, reverse=True
        )
        self.verify_detail = "; ".join(f"{one.code} {one.message}" for one in errors)
        return found.is_ok

    def read_all_raw(self) -> list[Record]:
        return self._records(OURS)

    def write_raw(self, record: Record) -> None:
        slots = self._slots(OURS)
        is_new = record.seq >= len(slots)
        path = self._store / record.fields["path"] if is_new else slots[record.seq]
        path.write_text(record.fields["text"], encoding="utf-8")

    def delete_raw(self, seq: int) -> None:
        self._slots(OURS)[seq].unlink()

    def mutate_payload(self, record: Record) -> Record:
        record.fields["text"] += "  [TAMPERED]\n"
        return record

    def forge_record(self, template: Record) -> Record:
        number, forged_id = template.seq + 1, "m-f0rged0000"
        memory_id = _frontmatter(template.fields["text"])["id"]
        text = template.fields["text"].replace(memory_id, forged_id)
        text = text.replace(_title(template.seq), _title(number)).replace(_body(OURS, template.seq), "A forged memory.")
        path = f"project/{OURS}/memory-{number}-{forged_id}.md"
        return Record(number, {"path": path, "text": text})

    def identity_of(self, record: Record) -> str:
        return str(record.fields["path"])

    def payload_of(self, record: Record) -> str:
        return str(record.fields["text"]).split("\n---\n", 1)[1]

    def owner_of(self, record: Record) -> str:
        return str(record.fields["path"]).split("/")[1]

    def seed_other(self, n: int) -> None:
        for number in range(n):
            self._new(OTHERS, number)

    def read_other_raw(self) -> list[Record]:
        return self._records(OTHERS)

    def replay_onto(self, victim_seq: int, donor: Record) -> None:
        self._slots(OURS)[victim_seq].write_text(donor.fields["text"], encoding="utf-8")

    def read_meta(self, seq: int) -> dict[str, Any]:
        return _frontmatter(self._slots(OURS)[seq].read_text(encoding="utf-8"))

    def write_meta(self, seq: int, meta: dict[str, Any]) -> None:
        slot = self._slots(OURS)[seq]
        text = slot.read_text(encoding="utf-8")
        known = _frontmatter(text)
        lines = "".join(f"{key}: {json.dumps(value)}\n" for key, value in meta.items() if key not in known)
        slot.write_text(text.replace("\n---\n", f"\n{lines}---\n", 1), encoding="utf-8")

    def snapshot_store(self) -> object:
        return self._copy_store(self._store)

    def restore_store(self, token: object) -> None:
        self._restore_store(str(token), self._store)
        shutil.rmtree(Path(str(token)).parent)

    def append_genuine(self) -> None:
        self._new(OURS, len(self._slots(OURS)))

    def _new(self, project: str, number: int) -> None:
        remvault.new(self._open(project), _title(number), body=_body(project, number), scope="project")

    def _open(self, project: str) -> OpenVault:
        return remvault.open_vault(str(self._store), context={"project": project}, surroundings=self._around)

    def _slots(self, project: str) -> list[Path]:
        return sorted((self._store / "project" / project).glob("*.md"))

    def _records(self, project: str) -> list[Record]:
        return [
            Record(seq, {"path": slot.relative_to(self._store).as_posix(), "text": slot.read_text(encoding="utf-8")})
            for seq, slot in enumerate(self._slots(project))
        ]


def _title(number: int) -> str:
    return f"Memory {number}"


def _body(project: str, number: int) -> str:
    return f"What {project} learned as number {number}."


def _frontmatter(text: str) -> dict[str, Any]:
    found = yaml.safe_load(text.split("---\n")[1])
    assert isinstance(found, dict)
    return found


def _surroundings(folder: Path, cwd: Path) -> Surroundings:
    """A home of its own, beside the store and not in it."""
    home = folder / "home"
    home.mkdir()
    (home / "gitconfig").write_text("[user]\n\tname = Dana\n\temail = dana@example.org\n[gc]\n\tauto = 0\n")
    environ = {key: os.environ[key] for key in ("PATH", "TMPDIR", "SYSTEMROOT") if key in os.environ}
    environ |= {"HOME": str(home), "GIT_CONFIG_GLOBAL": str(home / "gitconfig"), "GIT_CONFIG_NOSYSTEM": "1"}
    return Surroundings(
        cwd=cwd,
        environ=environ,
        now=lambda: datetime.now(UTC),
        entropy=os.urandom,
        user_config=home / "config",
        user_data=home / "data",
        user_state=home / "state",
    )
