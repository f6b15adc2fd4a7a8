"""`remvault unset`."""

from __future__ import annotations

from typing import Annotated

import typer

from remvault.surfaces.cli.invocation import DryRun, Json, MemoryName, Private, Reason, of
from remvault.surfaces.cli.told import tell_written


def verb(
    ctx: typer.Context,
    name: MemoryName,
    keys: Annotated[list[str], typer.Argument(metavar="KEY...", help="Fields to remove")],
    private: Private = False,
    reason: Reason = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Remove fields from a memory."""
    from remvault.surfaces import writing

    run = of(ctx)
    vault = run.open(as_json)
    tell_written(writing.unset_fields(vault, name, keys, private=private, reason=reason, dry_run=dry_run), run.screen)
