"""The program as such: help, usage, failures, output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from remvault.surfaces.cli.program import VERBS
from tests.reference import options, verbs
from tests.surfaces.conftest import ROOT, Cli
from tests.vaults import git, note_text


def test_help_names_every_verb(cli: Cli) -> None:
    text = cli("--help").out

    assert all(f"  {verb} " in text for verb in VERBS)


CORRECTING = ("confirm", "retract", "archive", "restore", "delete", "link", "unlink", "clear", "undo")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_and_json(verb: str, cli: Cli) -> None:
    assert "Usage: remvault" in cli(verb, "--help").out


def test_every_verb_takes_json_and_every_writing_verb_a_dry_run() -> None:
    built = verbs()
    takes = {name: {spelling.split(" ")[0] for spelling, _ in options(verb)} for name, verb in built.items()}

    assert [name for name, spellings in takes.items() if "--json" not in spellings] == []
    writing = {"new", "set", "unset", "edit", "supersede", "init", "check", *CORRECTING}
    assert [name for name in writing if "--dry-run" not in takes[name]] == []
    assert [name for name in ("edit", "supersede", *CORRECTING) if "--reason" not in takes[name]] == []


def test_no_arguments_is_a_usage_error_with_help(cli: Cli) -> None:
    done = cli(code=2)

    assert done.out == ""
    assert "Usage: remvault" in done.err


def test_an_unknown_verb_is_named(cli: Cli) -> None:
    done = cli("serach", "x", code=2)

    assert "serach" in done.err
    assert "did you mean 'remvault search'?" in done.err


def test_bytes_that_are_not_utf8_are_a_usage_error(vault: Path, cli: Cli) -> None:
    done = cli("new", "x\udcff", "--scope", "global", cwd=vault, code=2)

    assert "not UTF-8" in done.err


def test_a_full_disk_behind_standard_output_is_one_line(vault: Path) -> None:
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    for out in (">/dev/full", ">&-"):
        command = f"{sys.executable} -m remvault context {out}"
        done = subprocess.run(["bash", "-c", command], cwd=vault, env=env, capture_output=True, text=True)
        assert "Traceback" not in done.stderr, out
        assert done.stderr.count("\n") <= 1, out


def test_supersede_tells_what_it_takes_over(cli: Cli) -> None:
    assert "the older memory's" in cli("supersede", "--help").out.replace("\n", " ")


def test_failures_are_json_on_standard_output_with_the_same_code(cli: Cli, tmp_path: Path) -> None:
    in_text = cli("search", "x", cwd=tmp_path, code=1)
    in_json = cli("search", "x", "--json", cwd=tmp_path, code=1)

    error = in_json.json["error"]
    assert error["code"] == "no_vault"
    assert error["message"] in in_text.err
    assert error["hint"] in in_text.err


def test_usage_errors_are_json_too(cli: Cli) -> None:
    assert cli("--json", "search", "--limit", "x", code=2).json["error"]["code"] == "usage"


def test_two_ids_for_one_scope_are_a_usage_error(vault: Path, cli: Cli) -> None:
    done = cli("--context", "project=a", "--context", "project=b", "context", cwd=vault, code=2)

    assert "already given" in done.err


def test_the_version_is_the_packages(cli: Cli) -> None:
    import tomllib

    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

    assert cli("--version").out == f"remvault {version}\n"


def test_a_bug_is_one_line_and_exit_3(vault: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from remvault.surfaces import reading

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("boom")

    monkeypatch.setattr(reading, "search", broken)

    done = cli("search", "x", cwd=vault, code=3)

    assert "unexpected ZeroDivisionError" in done.err
    assert "bug in remvault" in done.err


def test_a_closed_pipe_ends_quietly(vault: Path, cli: Cli) -> None:
    for number in range(40):
        (vault / f"n{number}.md").write_text(note_text(f"Note {number}", id=f"m-{number:010}"))

    command = f"{sys.executable} -m remvault list | head -1"
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-c", command], cwd=vault, env=env, capture_output=True, text=True)

    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


def test_control_characters_of_a_note_never_reach_the_terminal(vault: Path, cli: Cli) -> None:
    text = note_text('"a\\x1b[31mred\\u202e"', body="text \x1b]0;evil\x07 \u202e more\n")
    (vault / "odd.md").write_text(text)

    for verb in (["list"], ["search", "text"], ["show", "m-0000000000"], ["surface", "evil text"]):
        out = cli(*verb, cwd=vault).out
        assert "\x1b" not in out, verb
        assert "\u202e" not in out, verb
        assert "\x07" not in out, verb


def test_r75_every_folder_gives_the_same_answer(vault: Path, cli: Cli, tmp_path: Path) -> None:
    cli("new", "Deploys", "--scope", "global", "--body", "tuesday", cwd=vault)
    (vault / "sub" / "folder").mkdir(parents=True)
    (tmp_path / "link").symlink_to(vault)
    relative = os.path.relpath(vault, tmp_path)
    expected = cli("search", "tuesday", "--json", cwd=vault).json

    places = [
        ((), vault / "sub" / "folder"),
        (("--vault", relative), tmp_path),
        (("--vault", str(tmp_path / "link")), tmp_path),
    ]
    for options_, cwd in places:
        assert cli(*options_, "search", "tuesday", "--json", cwd=cwd).json == expected


def test_r75_a_deleted_current_folder_is_one_clear_line(vault: Path) -> None:
    script = f'mkdir gone && cd gone && rmdir ../gone && exec "{sys.executable}" -P -m remvault list'
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-c", script], cwd=vault, env=env, capture_output=True, text=True)

    assert done.returncode == 1
    assert "the current folder no longer exists" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_setting_ends_with_exit_2_and_names_where_it_stands(vault: Path, cli: Cli) -> None:
    with (vault / "remvault.toml").open("a") as file:
        file.write("\n[search]\nlimmit = 3\n")

    done = cli("search", "x", cwd=vault, code=2)

    assert "search.limmit" in done.err
    assert "remvault.toml" in done.err
    assert "search.limit" in done.err


def test_a_vault_of_a_newer_format_is_read_and_never_written(vault: Path, cli: Cli) -> None:
    cli("new", "Deploys", "--scope", "global", cwd=vault)
    toml = vault / "remvault.toml"
    toml.write_text(toml.read_text().replace("format = 1", "format = 2"))

    assert len(cli("search", "deploys", "--json", cwd=vault).json["hits"]) == 1
    refused = cli("new", "Other", "--scope", "global", cwd=vault, code=1)
    assert "format 2" in refused.err
    cli("status", cwd=vault)
    assert git(vault, "log", "--oneline").count("\n") == 2


def test_settings_tell_value_and_origin(vault: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMVAULT_SEARCH_LIMIT", "3")

    rows = {row["name"]: row for row in cli("settings", "--json", cwd=vault).json["settings"]}

    assert (rows["search.limit"]["value"], rows["search.limit"]["from"]) == (3, "REMVAULT_SEARCH_LIMIT")
    assert rows["git.commit"]["value"] == "auto"


def test_completion_offers_visible_ids_only(vault: Path, cli: Cli) -> None:
    mine = cli("new", "Mine", "--scope", "global", "--json", cwd=vault).json["id"]
    cli("--context", "project=a", "new", "Theirs", cwd=vault)
    asked = {"_REMVAULT_COMPLETE": "complete_bash", "COMP_WORDS": "remvault show m-", "COMP_CWORD": "2"}
    env = os.environ | asked | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", "from remvault.surfaces.cli import main; main()"],
        cwd=vault,
        env=env,
        capture_output=True,
        text=True,
    )

    assert done.stdout.split() == [mine]


def test_json_of_a_memory_has_every_key_and_null_for_what_is_unknown(vault: Path, cli: Cli) -> None:
    (vault / "plain.md").write_text(note_text("Plain"))

    memory = cli("show", "m-0000000000", "--json", cwd=vault).json["memory"]

    unknown = [
        "importance",
        "confidence",
        "salience",
        "epistemic",
        "summary",
        "parent",
        "created",
        "observed",
        "confirmed",
        "updated",
    ]
    assert {key: memory[key] for key in unknown} == dict.fromkeys(unknown)
    assert memory["provenance"][0]["source"] == "remvault://explicit-write"
    assert json.dumps(memory)


def test_settings_name_both_files_that_may_hold_them(vault: Path, cli: Cli, home: Path) -> None:
    own = home / "config" / "remvault" / "config.toml"

    assert cli("settings", "--json", cwd=vault).json["files"] == [str(vault / "remvault.toml"), str(own)]
    assert str(own) in cli("settings", cwd=vault).out
    own.parent.mkdir(parents=True)
    own.write_text("[search]\nlimit = 4\n")
    assert str(own) in cli("settings", "search.limit", cwd=vault).out
