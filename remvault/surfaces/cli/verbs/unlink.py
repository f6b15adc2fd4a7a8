"""`remvault unlink`."""

from __future__ import annotations

from typing import Annotated

import typer

from remvault.surfaces.cli.invocation import DryRun, Json, MemoryName, Reason, of
from remvault.surfaces.cli.told import tell_written


def verb(
    ctx: typer.Context,
    name: MemoryName,
    kind: Annotated[str, typer.Argument(metavar="TYPE", help="The type of the relation")],
    target: Annotated[str, typer.Argument(metavar="ID", help="What it leads to, there or not")],
    reason: Reason = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Remove a relation of a memory."""
    from remvault.surfaces import correcting

    run = of(ctx)
    vault = run.open(as_json)
    written = correcting.unlink(vault, name, kind, target, reason=reason, dry_run=dry_run)
    tell_written(written, run.screen)
