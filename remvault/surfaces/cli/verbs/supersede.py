"""`remvault supersede`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from remvault.surfaces.cli.drafting import succeeding
from remvault.surfaces.cli.invocation import DryRun, Json, MemoryName, NoInfer, Reason, of
from remvault.surfaces.cli.told import tell_written


@succeeding
def verb(
    ctx: typer.Context,
    name: MemoryName,
    title: Annotated[str, typer.Argument(help="Title of the newer memory")],
    *,
    draft: dict[str, Any],
    no_infer: NoInfer = None,
    reason: Reason = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Replace a memory by a newer one, in one commit; the old one stays, marked."""
    from remvault.surfaces import writing

    run = of(ctx)
    vault = run.open(as_json)
    written = writing.supersede(vault, name, title, no_infer=no_infer or (), reason=reason, dry_run=dry_run, **draft)
    tell_written(written, run.screen)
