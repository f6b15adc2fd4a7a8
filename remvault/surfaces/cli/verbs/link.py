"""`remvault link`."""

from __future__ import annotations

from typing import Annotated

import typer

from remvault.domain.memory import RELATION_TYPES
from remvault.surfaces.cli.invocation import DryRun, Json, MemoryName, Reason, of
from remvault.surfaces.cli.told import tell_written


def verb(
    ctx: typer.Context,
    name: MemoryName,
    kind: Annotated[str, typer.Argument(metavar="TYPE", help=f"{', '.join(RELATION_TYPES)}, or your own")],
    target: Annotated[str, typer.Argument(metavar="ID", help="The memory at the other end, or an entity's name")],
    weight: Annotated[str | None, typer.Option(metavar="N", help="How strong, 0 to 1")] = None,
    reason: Reason = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Relate a memory to another one."""
    from remvault.surfaces import correcting

    run = of(ctx)
    vault = run.open(as_json)
    written = correcting.link(vault, name, kind, target, weight=weight, reason=reason, dry_run=dry_run)
    tell_written(written, run.screen)
