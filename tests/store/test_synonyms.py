"""The synonyms of a vault: a file that anybody may have put there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from remvault.domain.synonyms import MAX_BYTES
from remvault.store.synonyms import VaultSynonyms, read_synonyms


def told(root: Path) -> tuple[int | None, str]:
    """Line and reason of the problem; nothing of such a file holds."""
    read = read_synonyms(root)
    assert read.problem is not None
    assert (read.problem.code, read.problem.path) == ("RV604", "synonyms.toml")
    assert read.groups == ()
    return read.problem.line, read.problem.message


def test_a_vault_without_the_file_has_none(tmp_path: Path) -> None:
    assert read_synonyms(tmp_path) == VaultSynonyms()
    assert read_synonyms(tmp_path / "gone") == VaultSynonyms()


def test_the_groups_are_read(tmp_path: Path) -> None:
    (tmp_path / "synonyms.toml").write_bytes(b'groups = [\r\n  ["k8s", "kubernetes"],\r\n]\r\n')

    read = read_synonyms(tmp_path)

    assert read.problem is None
    assert read.of("k8s") == ("kubernetes",)
    assert read.notices() == ()


def test_a_file_that_is_not_understood_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "synonyms.toml").write_text('groups = [\n["k8s"]]\n')

    assert told(tmp_path) == (2, "a group has 2 to 16 terms, this one 1")
    assert read_synonyms(tmp_path).notices() == (
        "synonyms.toml:2 cannot be used, so no synonyms hold: 'remvault check' says why",
    )


def test_what_is_no_text_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "synonyms.toml").write_bytes(b"# one\n# \xff\n")

    assert told(tmp_path) == (2, "not UTF-8")


def test_a_file_beyond_the_limit_is_not_taken_in(tmp_path: Path) -> None:
    with (tmp_path / "synonyms.toml").open("wb") as stream:
        stream.truncate(64 * 1024**3)  # sparse

    assert told(tmp_path) == (None, f"over {MAX_BYTES // 1024} KiB")


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text('groups = [["a", "b"]]')
    (tmp_path / "synonyms.toml").symlink_to("elsewhere")

    assert told(tmp_path) == (None, "a link, links are not followed")

    (tmp_path / "elsewhere").unlink()
    assert told(tmp_path) == (None, "a link, links are not followed")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
def test_a_fifo_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "synonyms.toml")

    assert told(tmp_path) == (None, "not a regular file")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "synonyms.toml").mkdir()

    assert told(tmp_path)[1] == "not a regular file"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_named(tmp_path: Path) -> None:
    (tmp_path / "synonyms.toml").write_text("groups = []")
    (tmp_path / "synonyms.toml").chmod(0)

    assert told(tmp_path) == (None, "Permission denied")
