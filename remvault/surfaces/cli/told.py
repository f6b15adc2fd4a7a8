"""How a writing verb tells what it did."""

from __future__ import annotations

from remvault.domain.hostile_text import one_line, shown
from remvault.store.ledger import STAGED
from remvault.store.vault import Written
from remvault.surfaces.app import OpenVault
from remvault.surfaces.cli import text
from remvault.surfaces.cli.screen import Screen
from remvault.surfaces.writing import answer


def pending_line(pending: str) -> str:
    """Say that something was saved and why it is not committed yet."""
    return pending if pending == STAGED else f"saved, not committed: {pending}"


def tell_written(vault: OpenVault, written: Written, screen: Screen) -> None:
    """Print the answer of one writing verb; what was not committed is said on stderr too, with the reason."""
    outcome = written.outcome
    for problem in written.warnings:
        screen.say(text.problem_line(problem, screen))
    if outcome is not None and outcome.edits:
        screen.say(f"your own edits were committed first: {', '.join(commit[:10] for commit in outcome.edits)}")
    if outcome is not None and outcome.pending:
        screen.say(pending_line(outcome.pending))

    def as_text() -> str:
        if outcome is None:
            return f"would write {written.path}:\n\n{shown(written.text)}"
        where = f"  {outcome.commit[:10]}" if outcome.commit else ""
        return f"{written.op} {screen.style(written.id, 'cyan')}  {one_line(written.path)}{where}"

    screen.answer(answer(vault, written), as_text)
