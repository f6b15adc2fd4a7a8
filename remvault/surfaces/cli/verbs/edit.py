"""`remvault edit`."""

from __future__ import annotations

import typer

from remvault.surfaces.cli.invocation import DryRun, Json, MemoryName, Private, Reason, of
from remvault.surfaces.cli.told import tell_written


def verb(
    ctx: typer.Context,
    name: MemoryName,
    private: Private = False,
    reason: Reason = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Open a memory in your editor and commit what you saved."""
    from remvault.surfaces.editing import edit_in_editor

    run = of(ctx)
    vault = run.open(as_json)
    written = edit_in_editor(vault, name, private=private, reason=reason, dry_run=dry_run)
    if written is None:
        run.screen.say("nothing changed")
        return
    tell_written(written, run.screen)
