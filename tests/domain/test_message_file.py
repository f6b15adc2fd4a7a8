"""Adding staged operations to a person's message: all of it is read back, nothing of theirs is lost."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remvault.domain.commit_message import OPS, Operation, operations
from remvault.domain.message_file import is_empty, with_operations

WORDS = st.text(st.sampled_from("ab #:;-\n\té漢"), max_size=30)
OPERATION = st.builds(
    Operation,
    op=st.sampled_from(OPS),
    title=st.just("T"),
    ids=st.lists(st.sampled_from(["m-1", "m-2", "m-3"]), unique=True, max_size=2).map(tuple),
    scope=st.sampled_from([None, "global:", "project:a"]),
    actor=st.sampled_from([None, "user:Dana", "agent:x"]),
    session=st.sampled_from([None, "s1"]),
    reason=st.none() | WORDS | st.sampled_from(["Remvault-Op: new", "Key: value", "# heading"]),
)
ONE = Operation("new", "T", ("m-1",), actor="user:Dana", reason="why")


def told(operation: Operation) -> tuple[object, ...]:
    return operation.op, operation.ids, operation.scope, operation.actor, operation.session


@given(WORDS.filter(str.strip), WORDS, st.lists(OPERATION, min_size=1, max_size=3, unique_by=told))
def test_every_operation_is_read_back_and_a_second_time_adds_nothing(
    subject: str, body: str, added: list[Operation]
) -> None:
    message = f"s{subject.replace(chr(10), ' ')}\n\n{body}"

    once = with_operations(message, added, comment=None)

    found = [told(one) for one in operations(once)]
    assert found
    assert set(map(told, added)) <= set(found)
    assert with_operations(once, added, comment=None) == once
    kept = [line for line in message.split("\n") if line.strip()]
    assert [line for line in once.split("\n") if line in kept][: len(kept)] or not kept


@given(WORDS.filter(str.strip), st.lists(OPERATION, min_size=1, max_size=3, unique_by=told))
def test_git_counts_ours_as_trailers(subject: str, added: list[Operation]) -> None:
    message = with_operations(f"s{subject.replace(chr(10), ' ')}\n\nbody\n\nSigned-off-by: Dana <d@x>\n", added)

    last = message.rstrip("\n").split("\n\n")[-1].split("\n")

    assert last[0] == "Signed-off-by: Dana <d@x>"
    assert all(": " in line for line in last)


def test_git_itself_reads_what_was_added() -> None:
    message = with_operations("subject\n\nbody\n", [ONE])
    done = subprocess.run(
        ["git", "interpret-trailers", "--parse"], input=message, capture_output=True, text=True, check=True
    )

    assert done.stdout == "Remvault-Op: new\nRemvault-Memory: m-1\nRemvault-Actor: user:Dana\n"


@pytest.mark.parametrize("message", ["", "\n\n", "# Please enter the message\n", "\nSigned-off-by: Dana <d@x>\n# c\n"])
def test_a_message_without_a_word_stays_so(message: str) -> None:
    assert is_empty(message)
    assert with_operations(message, [ONE]) == message


def test_comments_and_the_diff_below_the_scissors_stay_last() -> None:
    cut = "# ------------------------ >8 ------------------------\n# Do not touch\ndiff --git a/x b/x\n"

    message = with_operations(f"subject\n\n# Please enter\n#\n{cut}", [ONE])

    assert message == (
        "subject\n\nwhy\n\nRemvault-Op: new\nRemvault-Memory: m-1\nRemvault-Actor: user:Dana\n\n"
        f"# Please enter\n#\n{cut}"
    )


def test_a_subject_that_looks_like_a_trailer_is_a_subject() -> None:
    assert with_operations("fix: it\n", [ONE]).startswith("fix: it\n\nwhy\n\nRemvault-Op: new\n")
