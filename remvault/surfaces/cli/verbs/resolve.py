"""`remvault resolve`."""

from __future__ import annotations

from typing import Annotated

import typer

from remvault.surfaces.cli.invocation import DryRun, Json, Reason, complete_ids, of
from remvault.surfaces.cli.told import tell_written


def verb(
    ctx: typer.Context,
    names: Annotated[
        list[str], typer.Argument(metavar="ID...", help="The memories in conflict", autocompletion=complete_ids)
    ],
    keep: Annotated[
        str | None,
        typer.Option(metavar="ID", help="This one holds: the others are retracted", autocompletion=complete_ids),
    ] = None,
    supersede: Annotated[
        bool, typer.Option("--supersede", help="With --keep: the others are superseded by it instead")
    ] = False,
    both: Annotated[bool, typer.Option("--both", help="All of them hold, each where or when it says")] = False,
    dismiss: Annotated[bool, typer.Option("--dismiss", help="It is no conflict")] = False,
    reason: Reason = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Settle a conflict: keep one memory, keep both, or dismiss it until one of the texts changes."""
    from remvault.surfaces import disputes

    run = of(ctx)
    written = disputes.resolve(
        run.open(as_json),
        names,
        keep=keep,
        supersede=supersede,
        both=both,
        dismiss=dismiss,
        reason=reason,
        dry_run=dry_run,
    )
    tell_written(written, run.screen)
