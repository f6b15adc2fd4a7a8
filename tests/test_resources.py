"""The files that come with remvault."""

from __future__ import annotations

from pathlib import Path

import pytest

from remvault.domain.memory import TYPES
from remvault.domain.note import parse_note
from remvault.domain.rules import note_problems
from remvault.resources import ResourceMissing, demo_vault, hook_script, resource, template, template_body


@pytest.mark.parametrize("memory_type", TYPES)
def test_every_type_has_a_template_that_lacks_only_what_its_writer_knows(memory_type: str) -> None:
    note = parse_note("x.md", template(memory_type).encode())

    assert note.memory.type == memory_type
    assert note.memory.metadata == {}
    assert [one.message for one in note_problems(note)] == [
        "id is missing",
        "title is missing",
        "scope-id is missing: a project memory needs its owner",
    ]


@pytest.mark.parametrize("memory_type", TYPES)
def test_a_template_with_its_gaps_filled_is_a_valid_note(memory_type: str) -> None:
    text = template(memory_type)
    for gap, value in (("id: ", "m-0000000000"), ("title: ", "A title"), ("scope-id: ", "acme")):
        text = text.replace(f"\n{gap}", f"\n{gap}{value} ", 1)
    # Every field offered in a comment is one of ours, too.
    text = "\n".join(
        line.removeprefix("# ") if line.startswith("# ") and ":  " in line else line for line in text.split("\n")
    )

    note = parse_note("x.md", text.encode())

    assert note_problems(note) == []
    assert note.memory.metadata == {}


def test_there_is_a_template_for_each_type_and_no_other() -> None:
    names = {path.stem for path in resource("templates").iterdir()}

    assert names == set(TYPES)


def test_a_decision_has_choice_rationale_and_consequences() -> None:
    body = template_body("decision")

    assert [line for line in body.splitlines() if line.startswith("## ")] == [
        "## Choice",
        "## Rationale",
        "## Consequences",
    ]
    assert body.startswith("The decision in one sentence.")


def test_the_hook_and_the_demo_vault_are_there() -> None:
    assert hook_script("pre-commit").startswith("#!/bin/sh\n")
    assert demo_vault().is_dir()


def package(folder: Path, *, project: str | None) -> Path:
    """A package folder with templates beside it, in a checkout of `project`."""
    (folder / "templates").mkdir(parents=True)
    (folder / "templates/task.md").write_text("beside")
    (folder / "remvault").mkdir()
    if project is not None:
        (folder / "pyproject.toml").write_text(f'[project]\nname = "{project}"\n')
    return folder / "remvault"


def test_an_installed_package_uses_what_it_carries(tmp_path: Path) -> None:
    here = package(tmp_path, project="remvault")
    (here / "_data/templates").mkdir(parents=True)
    (here / "_data/templates/task.md").write_text("inside")

    assert resource("templates/task.md", package=here).read_text() == "inside"


def test_a_checkout_uses_the_folder_beside_the_package(tmp_path: Path) -> None:
    here = package(tmp_path, project="remvault")

    assert resource("templates/task.md", package=here).read_text() == "beside"
    with pytest.raises(ResourceMissing):
        resource("templates/none.md", package=here)


@pytest.mark.parametrize("project", [None, "another"])
def test_a_folder_beside_the_package_of_another_project_is_not_ours(tmp_path: Path, project: str | None) -> None:
    with pytest.raises(ResourceMissing):
        resource("templates/task.md", package=package(tmp_path, project=project))
