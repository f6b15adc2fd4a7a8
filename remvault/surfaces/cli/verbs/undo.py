"""`remvault undo`."""

from __future__ import annotations

from typing import Annotated

import typer

from remvault.domain.hostile_text import one_line
from remvault.surfaces.cli.invocation import DryRun, Json, Reason, of
from remvault.surfaces.cli.told import tell_outcome


def verb(
    ctx: typer.Context,
    commit: Annotated[
        str | None, typer.Argument(metavar="[COMMIT]", help="The change to take back (default: the last one)")
    ] = None,
    reason: Reason = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Take back the last change of memories, or the one that a commit made, by a new commit."""
    from remvault.surfaces.undoing import undo

    run = of(ctx)
    vault = run.open(as_json)
    undone = undo(vault, commit, reason=reason, dry_run=dry_run)
    tell_outcome(undone.outcome, run.screen)

    def as_text() -> str:
        which = f" ({undone.undone[:10]})" if undone.undone is not None else ""
        if undone.outcome is None:
            return "\n".join([f"would undo {one_line(undone.title)}{which}", *map(one_line, undone.paths)])
        where = f"  {undone.outcome.commit[:10]}" if undone.outcome.commit else ""
        return f"undo {one_line(undone.title)}{which}{where}"

    run.screen.answer(undone.answer(), as_text)
