"""The documents say what the program does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import remvault
from tests.reference import README, with_reference
from tests.vaults import git

ROOT = Path(__file__).parent.parent


def test_the_reference_names_every_verb_option_field_rule_and_setting() -> None:
    """Made by `python -m tests.reference`; run it when this fails."""
    text = README.read_text(encoding="utf-8")

    assert with_reference(text) == text


def test_the_explained_score_is_the_one_of_the_transcript() -> None:
    shown = re.search(r"```\n( +signal .*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert shown is not None
    transcript = (ROOT / "tests/surfaces/transcripts/why-this-score.txt").read_text(encoding="utf-8").splitlines()
    assert set(shown[1].splitlines()) <= set(transcript)


def test_every_relative_link_leads_somewhere() -> None:
    for document in (README, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"):
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)\)", document.read_text(encoding="utf-8")):
            assert (ROOT / target).exists(), f"{document.name}: {target}"


def test_the_python_examples_run(
    repo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    git(repo, "init", "-q", "notes")
    remvault.init(str(repo / "notes"))
    monkeypatch.chdir(repo)
    examples = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    examples.append("\n".join(line[4:] for line in (remvault.__doc__ or "").splitlines() if line.startswith("    ")))

    assert len(examples) >= 2
    for example in examples:
        exec(compile(example, "README.md", "exec"), {})

    assert "Retries: three, then the queue" in capsys.readouterr().out


def test_every_public_name_resolves_and_has_a_docstring() -> None:
    for name in remvault.__all__:
        value = getattr(remvault, name)
        assert name == "__version__" or value.__doc__, name
    assert not hasattr(remvault, "nonsense")


def test_every_verb_has_a_public_function() -> None:
    from remvault.surfaces.cli.program import VERBS

    named = {"list": "list_memories", "set": "set_fields", "unset": "unset_fields", "watch": "watch_once"}
    # Verbs that are a person's at a terminal, or about the program itself.
    for_people = {"demo", "edit", "hooks", "context", "settings"}
    missing = [verb for verb in VERBS if verb not in for_people and named.get(verb, verb) not in remvault.__all__]

    assert missing == []
