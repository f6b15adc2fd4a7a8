"""Ids: made of random bytes, readable aloud."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remvault.domain.ids import ALPHABET, memory_id
from remvault.domain.memory import ID


@given(st.binary(min_size=7, max_size=20))
def test_an_id_is_one_that_notes_may_have(entropy: bytes) -> None:
    made = memory_id(entropy)

    assert ID.match(made)
    assert made[:2] == "m-"
    assert len(made) == 12
    assert set(made[2:]) <= set(ALPHABET)


@given(st.integers(0, 2**50 - 1), st.integers(0, 2**50 - 1))
def test_fifty_bits_make_fifty_bits_of_ids(one: int, other: int) -> None:
    made = [memory_id(number.to_bytes(7, "big")) for number in (one, other)]

    assert (made[0] == made[1]) == (one == other)


def test_too_little_randomness_is_an_error_of_the_caller() -> None:
    with pytest.raises(ValueError, match="7 random bytes"):
        memory_id(b"123456")
