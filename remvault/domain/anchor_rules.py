"""Rules over anchors: what a note may point at, and what the code says of where it points.

Pure: notes and readings in, problems out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from remvault.domain.anchors import MAX_ANCHORS, NOT_TAKEN, Reading, parse_place
from remvault.domain.note import Note
from remvault.domain.problems import Problem, problem, shown
from remvault.domain.scope import has_code

_NO_CODE = "move it to the project whose code it is, or name the files in the text and take the anchors out"


def form_problems(note: Note, *, max_anchors: int) -> Iterator[Problem]:
    """What is wrong with a note's anchors whatever the code says; `max_anchors` may lower the limit."""
    memory, line = note.memory, note.line_of("anchors")
    if memory.anchors and not has_code(memory.scope):
        yield problem("RV303", note.path, line, f"anchors in a {memory.scope} memory, which has no code", _NO_CODE)
    limit = min(max_anchors, MAX_ANCHORS)
    if len(memory.anchors) > limit:
        message = f"{len(memory.anchors)} anchors, at most {limit} are kept"
        yield problem("RV302", note.path, line, message, "anchor the few places the memory stands or falls with")
    for anchor in memory.anchors:
        try:
            parse_place(anchor.at)
        except ValueError as err:
            message = f"anchor {shown(anchor.at)}: {err}"
            yield problem("RV301", note.path, line, message, "write path/from/the/code/root.py#symbol")


def is_held_to_code(status: str, freshness: str | None) -> bool:
    """Say whether it matters what became of a memory's code: what is not in force is left alone."""
    return status in ("active", "candidate") and freshness != "superseded"


def state_problems(note: Note, readings: Sequence[Reading]) -> Iterator[Problem]:
    """What the code says of a note's anchors, as far as there is something to do about it."""
    memory = note.memory
    confirm = f"remvault confirm {memory.id or note.path}" + " --private" * memory.is_local_only
    mend = confirm if memory.is_local_only else "remvault check --fix"
    for reading in readings:
        code = rule_of(reading)
        if code is not None:
            said, hint = _said(reading, confirm, mend)
            is_fixable = reading.mended_at is not None and not memory.is_local_only
            message = f"anchor {shown(reading.at)}: {said}"
            yield problem(code, note.path, note.line_of("anchors"), message, hint, fixable=is_fixable)


def rule_of(reading: Reading) -> str | None:
    """The rule that a reading falls under; None for what is as it was."""
    if reading.state == "unknown":
        return "RV307" if reading.detail == NOT_TAKEN else "RV308"
    return {"broken": "RV304", "drifted": "RV305", "moved": "RV306"}.get(reading.state)


def _said(reading: Reading, confirm: str, mend: str) -> tuple[str, str]:
    """The message and what to do next."""
    if reading.detail == NOT_TAKEN:
        return reading.detail, f"'{mend}' takes it"
    if reading.state in ("moved", "broken") and reading.now_at is not None:
        return reading.detail, f"'{mend}' writes {reading.now_at}"
    if reading.state == "broken":
        hint = "'remvault set ID anchors-=OLD anchors+=NEW' says where it is now; else supersede or retract the memory"
        return reading.detail, hint
    if reading.state == "drifted":
        since = f" since {reading.commit}" if reading.commit else ""
        hint = f"'remvault stale' shows how; '{confirm}' if it still holds, else supersede or retract it"
        return f"{reading.detail}{since}", hint
    return f"not checked, {reading.detail}", f"once you have looked, '{confirm}' takes its digest anew"
