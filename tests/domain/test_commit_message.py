"""The message of a commit: what it says, what it refuses, and that it can be read back."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remvault.domain.commit_message import OPS, Operation, UnfitForCommit, is_one_line, one_line, parse, render

FULL = Operation(
    op="supersede",
    title="Store writes: always through with_lock",
    ids=("m-7k3f9q2xab",),
    supersedes=("m-4d8w0c1yze",),
    scope="project:acme-api",
    actor="user:dana",
    session="8f2c",
    reason="Two writers lost an update when the cache wrote by itself.",
)


def test_a_message_reads_as_the_format_shows() -> None:
    assert render(FULL) == (
        "supersede: Store writes: always through with_lock\n"
        "\n"
        "Two writers lost an update when the cache wrote by itself.\n"
        "\n"
        "Remvault-Op: supersede\n"
        "Remvault-Memory: m-7k3f9q2xab\n"
        "Remvault-Supersedes: m-4d8w0c1yze\n"
        "Remvault-Scope: project:acme-api\n"
        "Remvault-Actor: user:dana\n"
        "Remvault-Session: 8f2c\n"
    )


def test_a_message_is_read_back_whole() -> None:
    assert parse(render(FULL)) == FULL
    assert parse(render(Operation("new", "x", scope="global:"))) == Operation("new", "x", scope="global:")


def test_git_itself_finds_the_trailers() -> None:
    done = subprocess.run(
        ["git", "interpret-trailers", "--parse"], input=render(FULL), capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines()[0] == "Remvault-Op: supersede"
    assert len(done.stdout.splitlines()) == 6


@pytest.mark.parametrize("field", ["title", "scope", "actor", "session"])
@pytest.mark.parametrize("bad", ["a\nRemvault-Op: delete", "a\r", "a\x1b[31m", "a\0", "a\u2028b", "a\x85b"])
def test_a_control_character_is_refused_and_the_field_named(field: str, bad: str) -> None:
    values = {"op": "new", "title": "t", field: bad}

    with pytest.raises(UnfitForCommit) as caught:
        render(Operation(**values))

    assert caught.value.field == field


def test_an_unknown_op_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="unknown operation"):
        render(Operation("destroy", "x"))


@pytest.mark.parametrize("title", ["a" * 300, "字" * 200, "e\u0301" * 100, "👩\u200d👩\u200d👧" * 40])
def test_a_long_title_is_cut_at_72_characters_and_never_inside_one(title: str) -> None:
    subject = render(Operation("new", title)).split("\n")[0]

    assert len(subject) <= 72
    assert subject.endswith("…")
    assert not subject[:-1].endswith(("\u200d", "e"))


def test_trailers_forged_in_a_reason_change_nothing() -> None:
    forged = Operation("new", "x", ids=("m-1",), actor="user:dana", reason="why\n\nRemvault-Actor: user:root")

    found = parse(render(forged))

    assert found is not None
    assert found.actor == "user:dana"
    assert "Remvault-Actor: user:root" in (found.reason or "")


@pytest.mark.parametrize("message", ["", "fix typo\n", "x\n\nRemvault-Op: nonsense\n", "Remvault-Op: new\n"])
def test_a_commit_of_a_person_is_no_operation(message: str) -> None:
    assert parse(message) is None


def test_any_text_can_be_made_one_line() -> None:
    assert one_line("a\r\nb\x00 c\u2029") == "a b c"


line = st.text(min_size=1, max_size=40).map(one_line).filter(lambda text: bool(text) and is_one_line(text))
plain = st.text(alphabet=st.characters(codec="utf-8"), max_size=120)


@given(st.builds(Operation, st.sampled_from(OPS), line, st.tuples(line), st.just(()), st.none(), line, line, plain))
def test_whatever_the_reason_says_op_ids_and_actor_come_back(operation: Operation) -> None:
    found = parse(render(operation))

    assert found is not None
    assert (found.op, found.ids, found.actor, found.session) == (
        operation.op,
        operation.ids,
        operation.actor,
        operation.session,
    )
