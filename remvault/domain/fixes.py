"""Mechanical repairs of a note's text: only what follows from what is known, never a guess.

A missing scope, source or type is not here: nobody but the writer knows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

from remvault.domain.anchor_edits import with_anchors
from remvault.domain.edits import EditRefused, quote_value, set_key
from remvault.domain.memory import Anchor
from remvault.domain.problems import Problem


def repair(
    text: str,
    problems: Iterable[Problem],
    *,
    memory_id: str | None,
    successors: Mapping[str, Sequence[str]],
    new_id: Callable[[], str],
    anchors: Mapping[Anchor, Anchor],
) -> str:
    """Apply every repair that the note's fixable problems allow and return the text; unchanged when there is none.

    Args:
        memory_id: the note's id, None when it has none.
        successors: effective supersession, older id to newer ids.
        new_id: makes an id.
        anchors: what to write in place of which anchor.
    """
    for found in problems:
        try:
            if found.code == "RV101" and found.line is not None:
                text = quote_value(text, found.line) or text
            elif found.code == "RV104" and found.fixable and memory_id is None:
                text = set_key(text, "id", new_id())
            elif found.code == "RV203" and found.fixable and memory_id is not None:
                text = set_key(text, "freshness", "superseded")
                text = set_key(text, "superseded-by", successors[memory_id][0])
        except EditRefused:
            continue  # the problem stays reported, with its hint
    with suppress(EditRefused):
        text = with_anchors(text, anchors)
    return text
