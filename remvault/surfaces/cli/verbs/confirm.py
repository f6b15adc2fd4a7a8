"""`remvault confirm`."""

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
    """Say that a memory is still true; its anchors are taken anew from the code as it is now."""
    from remvault.surfaces import correcting

    run = of(ctx)
    vault = run.open(as_json)
    tell_written(correcting.confirm(vault, name, private=private, reason=reason, dry_run=dry_run), run.screen)
