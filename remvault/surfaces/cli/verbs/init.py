"""`remvault init`."""

from __future__ import annotations

from typing import Annotated

import typer

from remvault.domain.hostile_text import one_line
from remvault.surfaces.cli.invocation import DryRun, Json, Reason, of


def verb(
    ctx: typer.Context,
    path: Annotated[str | None, typer.Argument(metavar="[PATH]", help="Where (default: the current folder)")] = None,
    embedded: Annotated[bool, typer.Option("--embedded", help="In a folder of this code repository: vault/")] = False,
    user: Annotated[bool, typer.Option("--user", help="Your own vault, in your data folder")] = False,
    project: Annotated[str | None, typer.Option(metavar="ID", help="The project an embedded vault belongs to")] = None,
    reason: Reason = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Make a vault here; safe to repeat."""
    from remvault.surfaces.cli.told import pending_line
    from remvault.surfaces.making import init

    run = of(ctx)
    run.screen.as_json = run.screen.as_json or as_json
    made = init(
        path or run.vault,
        embedded=embedded,
        user=user,
        project=project,
        actor=run.actor,
        surroundings=run.surroundings,
        reason=reason,
        dry_run=dry_run,
    )
    if not made.is_found:
        run.screen.say("only vault/ and .memory/ are found from above: name this one with --vault or REMVAULT_VAULT")
    if made.git_init:
        run.screen.say(f"no git repository here: {'would run' if dry_run else 'ran'} git init")
    if made.outcome is not None and made.outcome.pending:
        run.screen.say(pending_line(made.outcome.pending))

    def as_text() -> str:
        kind = "an embedded vault" if made.kind == "embedded" else "a standalone vault"
        scope = "" if made.project else " --scope global"
        root = one_line(str(made.root))
        if not made.made:
            return f"{root} is {kind} already"
        if dry_run:
            return f"would make {kind} in {root}"
        return f"made {kind} in {root}\nwrite the first memory: remvault new TITLE --body TEXT{scope}"

    run.screen.answer(made.answer(), as_text)
