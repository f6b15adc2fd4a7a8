"""`remvault irrelevant`."""

from __future__ import annotations

from typing import Annotated

import typer

from remvault.surfaces.cli.invocation import DryRun, Json, MemoryName, Reason, of
from remvault.surfaces.cli.told import tell_written


def verb(
    ctx: typer.Context,
    name: MemoryName,
    query: Annotated[str | None, typer.Option(metavar="TEXT", help="What it was shown for")] = None,
    reason: Reason = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Say that a memory did not belong where it was shown."""
    from remvault.surfaces import feedback

    run = of(ctx)
    written = feedback.irrelevant(run.open(as_json), name, query=query, reason=reason, dry_run=dry_run)
    tell_written(written, run.screen)
