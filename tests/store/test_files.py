"""Single files: whole or not at all, and never over another version."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from remvault.domain.blobs import blob_id
from remvault.store.files import FileChanged, SaveFailed, create_exclusive, remove, rename, replace


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_is_whole_and_nothing_else_is_left(tmp_path: Path) -> None:
    create_exclusive(tmp_path / "a.md", b"one\r\n")

    assert (tmp_path / "a.md").read_bytes() == b"one\r\n"
    assert names(tmp_path) == ["a.md"]


def test_an_existing_file_is_never_replaced_by_a_new_one(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"theirs")

    with pytest.raises(FileChanged) as caught:
        create_exclusive(tmp_path / "a.md", b"ours")

    assert caught.value.found == blob_id(b"theirs")
    assert (tmp_path / "a.md").read_bytes() == b"theirs"
    assert names(tmp_path) == ["a.md"]


def test_without_hard_links_a_new_file_is_still_exclusive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object, **_options: object) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    create_exclusive(tmp_path / "a.md", b"one")

    with pytest.raises(FileChanged):
        create_exclusive(tmp_path / "a.md", b"two")
    assert (tmp_path / "a.md").read_bytes() == b"one"
    assert names(tmp_path) == ["a.md"]


def test_a_replaced_file_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"one")
    path.chmod(0o640)

    replace(path, b"two", blob_id(b"one"))

    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o640
    assert names(tmp_path) == ["a.md"]


def test_a_file_that_changed_meanwhile_is_left_and_both_versions_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"theirs")

    for act in (lambda: replace(path, b"ours", blob_id(b"base")), lambda: remove(path, blob_id(b"base"))):
        with pytest.raises(FileChanged) as caught:
            act()
        assert (caught.value.base, caught.value.found) == (blob_id(b"base"), blob_id(b"theirs"))
    assert path.read_bytes() == b"theirs"
    assert names(tmp_path) == ["a.md"]


def test_a_link_is_neither_read_nor_written_through(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"one")
    (tmp_path / "a.md").symlink_to("real")

    with pytest.raises(SaveFailed, match="link"):
        replace(tmp_path / "a.md", b"two", blob_id(b"one"))
    with pytest.raises(FileChanged):
        create_exclusive(tmp_path / "a.md", b"two")
    assert (tmp_path / "real").read_bytes() == b"one"


def test_a_missing_folder_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        create_exclusive(tmp_path / "gone" / "a.md", b"x")
    assert names(tmp_path) == []


def test_r14_a_rename_never_overwrites(tmp_path: Path) -> None:
    (tmp_path / "Deploy.md").write_bytes(b"one")
    (tmp_path / "deploy.md").write_bytes(b"two")

    with pytest.raises(FileChanged):
        rename(tmp_path / "Deploy.md", tmp_path / "deploy.md", blob_id(b"one"))
    (tmp_path / "deploy.md").unlink()
    rename(tmp_path / "Deploy.md", tmp_path / "deploy.md", blob_id(b"one"))

    assert (tmp_path / "deploy.md").read_bytes() == b"one"
    assert names(tmp_path) == ["deploy.md"]


def test_r14_a_rename_in_letter_case_alone_keeps_the_content_where_case_is_ignored(tmp_path: Path) -> None:
    # No case-folding file system here: a hard link stands for "both names reach the same file".
    (tmp_path / "Deploy.md").write_bytes(b"one")
    os.link(tmp_path / "Deploy.md", tmp_path / "deploy.md")

    rename(tmp_path / "Deploy.md", tmp_path / "deploy.md", blob_id(b"one"))

    assert (tmp_path / "deploy.md").read_bytes() == b"one"


def test_a_killed_writer_leaves_the_old_or_the_new_text_and_never_a_part(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    texts = [letter * 200_000 for letter in (b"a", b"b")]
    path.write_bytes(texts[0])
    script = (
        "import sys; from pathlib import Path; from remvault.store.files import replace;"
        "from remvault.domain.blobs import blob_id\n"
        "path = Path(sys.argv[1]); texts = [c * 200_000 for c in (b'a', b'b')]\n"
        "now = texts.index(path.read_bytes()); print('go', flush=True)\n"
        "while True:\n"
        "    replace(path, texts[1 - now], blob_id(texts[now])); now = 1 - now\n"
    )
    for round_ in range(6):
        writer = subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        writer.stdout.readline()
        deadline = time.monotonic() + 0.004 * (round_ + 1)
        while time.monotonic() < deadline:
            pass
        writer.send_signal(signal.SIGKILL)
        writer.communicate()

        assert path.read_bytes() in texts
