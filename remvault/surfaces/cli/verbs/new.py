"""`remvault new`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from remvault.surfaces.cli.drafting import drafted
from remvault.surfaces.cli.invocation import DryRun, Json, Reason, of
from remvault.surfaces.cli.told import tell_written


@drafted
def verb(
    ctx: typer.Context,
    title: Annotated[str, typer.Argument(help="What a reader will recognise the memory by")],
    *,
    draft: dict[str, Any],
    edit: Annotated[bool, typer.Option("--edit", help="Write the rest in your editor")] = False,
    reason: Reason = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Write a memory as a note of its own, and commit it."""
    from remvault.surfaces import writing

    run = of(ctx)
    vault = run.open(as_json)
    if edit:
        from remvault.surfaces.editing import new_in_editor

        written = new_in_editor(vault, title, reason=reason, dry_run=dry_run, **draft)
    else:
        written = writing.new(vault, title, reason=reason, dry_run=dry_run, **draft)
    tell_written(written, run.screen)
