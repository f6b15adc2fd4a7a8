"""`remvault doctor`."""

from __future__ import annotations

from typing import Annotated

import typer

from remvault.surfaces.cli import text
from remvault.surfaces.cli.invocation import DryRun, Json, of


def verb(
    ctx: typer.Context,
    fix: Annotated[bool, typer.Option("--fix", help="Archive expired notes and commit what waits")] = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Look the vault over: what waits, what has run out, what is missing, each with a next step."""
    from remvault.surfaces import doctoring

    run = of(ctx)
    found = doctoring.doctor(run.open(as_json), fix=fix, dry_run=dry_run)
    for line in found.fixed:
        run.screen.say(f"would have {line}" if dry_run else line)

    def as_text() -> str:
        lines = [text.finding_lines(one, run.screen) for one in found.findings]
        return "\n".join(lines) or "nothing needs you"

    run.screen.answer(found.answer(), as_text)
    if not found.is_ok:
        raise typer.Exit(1)
