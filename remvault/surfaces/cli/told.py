"""How a writing verb tells what it did."""

from __future__ import annotations

from remvault.domain.hostile_text import one_line, shown
from remvault.store.ledger import STAGED, Outcome
from remvault.store.written import Written
from remvault.surfaces.cli import text
from remvault.surfaces.cli.screen import Screen


def pending_line(pending: str) -> str:
    """Say that something was saved and why it is not committed yet."""
    return pending if pending == STAGED else f"saved, not committed: {pending}"


def tell_outcome(outcome: Outcome | None, screen: Screen) -> None:
    """Say what else happened on the way, and why a change is not committed yet; None for a dry run."""
    if outcome is not None and outcome.edits:
        screen.say(f"your own edits were committed first: {', '.join(commit[:10] for commit in outcome.edits)}")
    if outcome is not None and outcome.pending:
        screen.say(pending_line(outcome.pending))


def tell_written(written: Written, screen: Screen) -> None:
    """Print the answer of one writing verb; what was not committed is said on stderr too, with the reason."""
    outcome = written.outcome
    if not written.is_changed:
        screen.say(f"nothing changed in {written.path}")
    for problem in written.warnings:
        screen.say(text.problem_line(problem, screen.plain()))
    for notice in written.notices:
        screen.say(notice)
    if written.rests:
        screen.say(f"look at what rests on it again: {', '.join(written.rests)}")
    tell_outcome(outcome, screen)

    def as_text() -> str:
        if outcome is None:
            also = "".join(f"\nwould mark {one_line(path)}" for path in written.marked)
            gone = "\n".join(f"would remove {one_line(path)}" for path in written.removed)
            if written.path in written.removed:
                return gone
            return f"would write {one_line(written.path)}:\n\n{shown(written.text)}{also}{gone and chr(10) + gone}"
        if not written.is_changed:
            return ""
        where = f"  {outcome.commit[:10]}" if outcome.commit else ""
        return f"{written.op} {screen.style(one_line(written.id), 'cyan')}  {one_line(written.path)}{where}"

    screen.answer(written.answer(), as_text)
