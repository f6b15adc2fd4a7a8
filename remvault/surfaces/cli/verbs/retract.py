"""`remvault retract`."""

from __future__ import annotations

import typer

from remvault.surfaces.cli.invocation import DryRun, Json, MemoryName, NoInfer, Private, Reason, of
from remvault.surfaces.cli.told import tell_written


def verb(
    ctx: typer.Context,
    name: MemoryName,
    no_infer: NoInfer = None,
    private: Private = False,
    reason: Reason = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Say that a memory is inaccurate: it stays, readable and linked, out of normal recall."""
    from remvault.surfaces import correcting

    run = of(ctx)
    vault = run.open(as_json)
    written = correcting.retract(vault, name, no_infer=no_infer or (), private=private, reason=reason, dry_run=dry_run)
    tell_written(written, run.screen)
