"""`check --code` and the pre-commit hook: a commit of code hears of the memories that rest on it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.surfaces.conftest import ROOT, Cli
from tests.vaults import git, note_text

CODE = '''def with_lock(work):
    """Run under the lock."""
    return work()


def close(file):
    file.close()
'''
CHANGED = CODE.replace("return work()", "return work(1)")
TITLE = "Store writes: always through with_lock"


def note(title: str = TITLE, at: str = "src/store.py#with_lock", **fields: str) -> str:
    known = {"id": "m-7k3f9q2xab", "scope": "project", "scope_id": "acme", "anchors": f"[{{at: {at}}}]"}
    return note_text(f'"{title}"', **(known | fields))


@pytest.fixture
def code(repo: Path, cli: Cli) -> Path:
    """A code repository with an embedded vault, one memory anchored to a function, and our hooks."""
    write(repo, "src/store.py", CODE)
    git(repo, "commit", "-qm", "code")
    cli("init", "--embedded", "--project", "acme", cwd=repo)
    write(repo, "vault/project/acme/lock.md", note())
    git(repo, "commit", "-qm", "vault")
    cli("hooks", "install", cwd=repo)
    return repo


@pytest.fixture
def own_vault(home: Path, cli: Cli) -> Path:
    """The user's own vault, with a memory of the project and one of everywhere."""
    cli("init", "--user", cwd=home)
    vault = home / "data" / "remvault" / "vault"
    write(vault, "project/acme/lock.md", note())
    write(vault, "project/other/lock.md", note("Of another project", id="m-0000000001", scope_id="other"))
    write(vault, "private/lock.md", note("Secret", id="m-0000000002", sensitivity="local-only"), staged=False)
    git(vault, "commit", "-qm", "notes")
    return vault


@pytest.fixture
def project(repo: Path, own_vault: Path, cli: Cli) -> Path:
    """A code repository without a vault, known to the user's own as a project."""
    write(repo, "src/store.py", CODE)
    git(repo, "commit", "-qm", "code")
    git(repo, "config", "remvault.project", "acme")
    return repo


def write(folder: Path, path: str, text: str, *, staged: bool = True) -> None:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    if staged:
        git(folder, "add", "--", path)


def commit(folder: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | environ
    return subprocess.run(["git", "commit", "-m", "x", *arguments], cwd=folder, env=env, capture_output=True, text=True)


def set_loudness(vault: Path, severity: str) -> None:
    file = vault / "remvault.toml"
    file.write_text(file.read_text() + f'\n[anchors]\non-code-change = "{severity}"\n')


def test_it_names_the_symbol_and_the_memory_with_what_to_do(code: Path, cli: Cli) -> None:
    write(code, "src/store.py", CHANGED)

    done = cli("check", "--code", cwd=code)
    answer = cli("check", "--code", "--json", cwd=code).json

    said = f'this commit changes with_lock in src/store.py; memory m-7k3f9q2xab "{TITLE}" rests on it'
    assert done.out.splitlines() == [
        f"vault/project/acme/lock.md: RV309 warning: {said}",
        "    hint: confirm, supersede or go on",
        "1 note checked: 0 errors, 1 warning",
    ]
    assert answer["problems"] == [
        {
            "code": "RV309",
            "severity": "warning",
            "path": "project/acme/lock.md",
            "line": None,
            "message": said,
            "hint": "confirm, supersede or go on",
            "fixable": False,
        }
    ]


def test_the_hook_tells_and_lets_the_commit_pass(code: Path) -> None:
    write(code, "src/store.py", CHANGED)

    done = commit(code)

    assert done.returncode == 0
    assert "RV309 warning: this commit changes with_lock in src/store.py; memory m-7k3f9q2xab" in done.stderr
    assert "remvault: your change touches 1 memory\n" in done.stderr


def test_as_an_error_it_stops_the_commit(code: Path, cli: Cli) -> None:
    set_loudness(code / "vault", "error")
    git(code, "add", ".")
    write(code, "src/store.py", CHANGED)

    refused = commit(code)

    assert refused.returncode != 0
    assert "RV309 this commit changes" in refused.stderr
    assert "your change touches 1 memory; nothing was committed" in refused.stderr
    assert cli("check", "--code", cwd=code, code=1).out
    assert commit(code, "--no-verify").returncode == 0


@pytest.mark.parametrize(("severity", "count"), [("off", 0), ("info", 1), ("warning", 1)])
def test_the_setting_says_how_loud(code: Path, cli: Cli, severity: str, count: int) -> None:
    set_loudness(code / "vault", severity)
    write(code, "src/store.py", CHANGED)

    found = cli("check", "--code", "--json", cwd=code).json["problems"]

    assert [one["severity"] for one in found] == [severity] * count
    assert ("RV309" in commit(code).stderr) == bool(count)


def test_looks_and_other_code_say_nothing(code: Path) -> None:
    text = CODE.replace('"""Run under the lock."""', "# Under the lock.").replace(
        "def with_lock(work):", "def with_lock(\n    work,\n):"
    )
    write(code, "src/store.py", text.replace("file.close()", "file.shut()"))
    write(code, "src/new.py", CHANGED)

    done = commit(code, "-a")

    assert (done.returncode, done.stderr) == (0, "")


def test_the_staged_version_counts_not_the_file(code: Path, cli: Cli) -> None:
    write(code, "src/store.py", CHANGED, staged=False)
    assert cli("check", "--code", "--json", cwd=code).json["problems"] == []

    git(code, "add", ".")
    write(code, "src/store.py", CODE, staged=False)
    assert len(cli("check", "--code", "--json", cwd=code).json["problems"]) == 1

    write(code, "src/store.py", CHANGED)
    assert "RV309" not in commit(code, "--only", "--allow-empty", "vault").stderr
    assert "RV309" in commit(code, "-a").stderr


def test_what_goes_and_what_is_renamed_are_said_so(code: Path, cli: Cli) -> None:
    def messages() -> list[str]:
        return [one["message"] for one in cli("check", "--code", "--json", cwd=code).json["problems"]]

    about = f'; memory m-7k3f9q2xab "{TITLE}" rests on it'
    write(code, "src/store.py", CODE[CODE.index("def close") :])
    assert messages() == [f"this commit removes with_lock in src/store.py{about}"]
    write(code, "src/store.py", CODE.replace("with_lock", "locked"))
    assert messages() == [f"this commit renames with_lock in src/store.py to src/store.py#locked{about}"]


def test_a_moved_file_is_only_mentioned(code: Path, cli: Cli) -> None:
    set_loudness(code / "vault", "error")
    git(code, "mv", "src/store.py", "src/storage.py")

    (found,) = cli("check", "--code", "--json", cwd=code).json["problems"]

    assert (found["code"], found["severity"]) == ("RV306", "info")
    assert "moves with_lock in src/store.py to src/storage.py#with_lock" in found["message"]
    assert "check --fix" in found["hint"]
    done = commit(code)
    assert done.returncode == 0
    assert "your change touches" not in done.stderr


def test_several_anchors_of_one_memory_are_one_finding(code: Path, cli: Cli) -> None:
    write(code, "vault/project/acme/lock.md", note(at="src/store.py#with_lock}, {at: src/store.py#close"))
    write(code, "src/store.py", CHANGED.replace("file.close()", "file.shut()"))

    (found,) = cli("check", "--code", "--json", cwd=code).json["problems"]

    assert "changes with_lock in src/store.py and changes close in src/store.py; memory" in found["message"]


@pytest.mark.parametrize(
    "fields",
    [
        {"scope_id": "another"},
        {"scope": "global", "scope_id": "null"},
        {"status": "retracted"},
        {"status": "archived"},
        {"freshness": "superseded"},
        {"expires": "2020-01-01"},
        {"type": "nonsense"},
        {"sensitivity": "local-only"},
    ],
)
def test_only_memories_in_force_in_this_context_are_named(code: Path, cli: Cli, fields: dict[str, str]) -> None:
    write(code, "vault/project/acme/lock.md", note(**fields), staged=False)
    write(code, "src/store.py", CHANGED)

    done = cli("check", "--code", cwd=code)

    assert done.out == "0 notes checked: 0 errors, 0 warnings\n"
    assert "m-7k3f9q2xab" not in commit(code, "--only", "src/store.py").stderr


def test_code_belongs_to_nothing_else(code: Path, cli: Cli) -> None:
    for others in (["--staged"], ["--rev", "HEAD"], ["--fix"], ["vault"]):
        assert "--code" in cli("check", "--code", *others, cwd=code, code=2).err


def test_off_switches_the_automatic_part_off(code: Path) -> None:
    write(code, "src/store.py", CHANGED)

    assert "RV309" not in commit(code, REMVAULT_OFF="1").stderr


def test_the_pre_commit_framework_runs_either_part_and_shows_what_is_told(code: Path, cli: Cli) -> None:
    cli("hooks", "uninstall", cwd=code)
    published = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    for one in published:
        one["entry"] = one["entry"].replace("remvault-hook", f"{sys.executable} -P -m remvault.surfaces.hooks")
        one["language"] = "system"
    write(code, ".pre-commit-config.yaml", yaml.safe_dump({"repos": [{"repo": "local", "hooks": published}]}))
    git(code, "commit", "-qm", "hooks")
    subprocess.run([sys.executable, "-m", "pre_commit", "install"], cwd=code, check=True, capture_output=True)
    write(code, "src/store.py", CHANGED)

    told = commit(code)
    write(code, "vault/project/acme/lock.md", note(scope="planet"))
    refused = commit(code)

    assert (told.returncode, told.stderr.count("RV309")) == (0, 1)
    assert refused.returncode != 0
    assert refused.stderr.count("RV102") == 1


def test_r35_the_hook_reads_what_is_staged_and_writes_no_file(code: Path) -> None:
    def picture() -> dict[str, tuple[bytes, int]]:
        files = [path for path in code.rglob("*") if path.is_file() and ".git" not in path.parts]
        return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in [*files, code / ".git/index"]}

    write(code, "src/store.py", CHANGED)
    write(code, "src/store.py", "not staged\n", staged=False)
    write(code, "vault/project/acme/lock.md", note() + "More.\n")
    write(code, "vault/project/acme/lock.md", note("Not staged"), staged=False)
    before = picture()

    command = [sys.executable, "-m", "remvault.surfaces.hooks", "pre-commit"]
    done = subprocess.run(command, cwd=code, env=os.environ, capture_output=True, text=True)

    assert (done.returncode, done.stderr.count("RV309")) == (0, 1)
    assert picture() == before


# The user's own vault


def test_a_vault_elsewhere_is_asked_about_its_project(project: Path, own_vault: Path, cli: Cli) -> None:
    cli("hooks", "install", cwd=project)
    write(project, "src/store.py", CHANGED)

    done = commit(project)

    assert done.returncode == 0
    path = own_vault / "project/acme/lock.md"
    assert f"{path}: RV309 warning: this commit changes with_lock in src/store.py" in done.stderr
    assert "touches 1 memory\n" in done.stderr
    for hidden in ("another project", "m-0000000001", "Secret", "m-0000000002"):
        assert hidden not in done.stderr


def test_another_project_hears_nothing(project: Path, cli: Cli) -> None:
    git(project, "config", "remvault.project", "third")
    cli("hooks", "install", cwd=project)
    write(project, "src/store.py", CHANGED)

    assert "RV309" not in commit(project, REMVAULT_CONTEXT="project=acme").stderr


def test_a_vault_that_cannot_be_read_stops_no_commit(project: Path, own_vault: Path, cli: Cli) -> None:
    cli("hooks", "install", cwd=project)
    (own_vault / "remvault.toml").write_text("not = [toml")
    write(project, "src/store.py", CHANGED)

    done = commit(project)

    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_a_commit_in_the_vault_itself_is_no_commit_of_code(own_vault: Path, cli: Cli) -> None:
    cli("hooks", "install", cwd=own_vault)
    write(own_vault, "src/store.py", CODE)
    git(own_vault, "commit", "-qm", "not code")
    write(own_vault, "src/store.py", CHANGED)

    assert "RV309" not in commit(own_vault).stderr
    assert "not at hand" in cli("check", "--code", cwd=own_vault, code=2).err
