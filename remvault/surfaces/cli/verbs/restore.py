"""`remvault restore`."""

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
    """Make a retracted or archived memory active again."""
    from remvault.surfaces import correcting

    run = of(ctx)
    vault = run.open(as_json)
    tell_written(correcting.restore(vault, name, private=private, reason=reason, dry_run=dry_run), run.screen)
