"""The printed service: what it runs is what was meant, whatever the path is called."""

from __future__ import annotations

import plistlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from remvault.errors import UserError
from remvault.surfaces.app import open_vault
from remvault.surfaces.services import NoServiceKind, service_text
from tests.surfaces.conftest import Cli
from tests.vaults import git

NAMES = ["plain", "two words", 'quote"', "back\\slash", "%h", "$HOME", "a\nExecStart=evil", "ü", "--", "-->", "&<>"]


@pytest.fixture(params=NAMES)
def place(request: pytest.FixtureRequest, tmp_path: Path, cli: Cli) -> Path:
    root = tmp_path / str(request.param)
    root.mkdir()
    git(root, "init", "-q")
    cli("init", cwd=root)
    return root


def arguments(line: str) -> list[str]:
    """The words of a command line as systemd reads them (systemd.syntax(7), all in double quotes here)."""
    words = []
    for word in re.findall(r'"((?:[^"\\]|\\.)*)"', line):
        data = re.sub(r"\\x([0-9a-f]{2})", lambda match: chr(int(match[1], 16)), word)
        text = data.encode("latin-1").decode("utf-8")
        words.append(re.sub(r"\\(.)", r"\1", text).replace("%%", "%").replace("$$", "$"))
    return words


def test_a_unit_runs_the_watcher_of_this_vault(place: Path) -> None:
    text = service_text(open_vault(str(place)), platform="linux", python="/usr/bin/python3")

    starts = [line for line in text.splitlines() if line.startswith("ExecStart=")]
    assert len(starts) == 1
    assert arguments(starts[0]) == ["/usr/bin/python3", "-P", "-m", "remvault", "--vault", str(place), "watch"]
    known = ("#", "[", "Description=", "ExecStart=", "Restart=", "RestartSec=", "Nice=", "WantedBy=")
    assert all(not line or line.startswith(known) for line in text.splitlines())


def test_systemd_takes_the_unit(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd here")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    unit = tmp_path / "remvault-test.service"
    unit.write_text(service_text(open_vault(str(place)), platform="linux", python=sys.executable))

    done = subprocess.run(["systemd-analyze", "--user", "verify", unit], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


def test_an_agent_runs_the_watcher_of_this_vault(place: Path) -> None:
    values = plistlib.loads(service_text(open_vault(str(place)), platform="darwin", python="/usr/bin/python3").encode())

    program = ["/usr/bin/python3", "-P", "-m", "remvault", "--vault", str(place), "watch"]
    assert values["ProgramArguments"] == program
    assert values["Label"].startswith("org.remvault.")


def test_a_path_that_launchd_cannot_hold_is_refused(tmp_path: Path, cli: Cli) -> None:
    root = tmp_path / "bell\x07"
    root.mkdir()
    git(root, "init", "-q")
    cli("init", cwd=root)
    with pytest.raises(UserError, match="launchd"):
        service_text(open_vault(str(root)), platform="darwin")


def test_other_systems_are_told_what_to_do(vault: Path) -> None:
    with pytest.raises(NoServiceKind, match="win32"):
        service_text(open_vault(str(vault)), platform="win32")
