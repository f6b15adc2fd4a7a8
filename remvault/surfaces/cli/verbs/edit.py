"""`remvault edit`."""

from __future__ import annotations

import typer

from remvault.surfaces.cli.invocation import Json, MemoryName, Reason, of
from remvault.surfaces.cli.told import tell_written


def verb(ctx: typer.Context, name: MemoryName, reason: Reason = None, as_json: Json = False) -> None:
    """Open a memory in your editor and commit what you saved."""
    from remvault.surfaces.editing import edit_in_editor

    run = of(ctx)
    vault = run.open(as_json)
    written = edit_in_editor(vault, name, reason=reason)
    if written is None:
        run.screen.say("nothing changed")
        return
    tell_written(written, run.screen)
