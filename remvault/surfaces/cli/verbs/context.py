"""`remvault context` and `remvault context set`."""

from __future__ import annotations

from typing import Annotated

import typer

from remvault.domain.hostile_text import one_line
from remvault.domain.scope import GLOBAL, SCOPES
from remvault.surfaces.cli import text
from remvault.surfaces.cli.invocation import DryRun, Json, of

app = typer.Typer(
    help="Show the active context and where each id comes from.",
    invoke_without_command=True,
    rich_markup_mode=None,
)


@app.callback()
def show(ctx: typer.Context, as_json: Json = False) -> None:
    """Show the active context and where each id comes from."""
    run = of(ctx)
    if ctx.invoked_subcommand is not None:
        run.screen.as_json = run.screen.as_json or as_json
        return
    vault = run.open(as_json)
    ids, origins = vault.context.ids, vault.context.origins
    answer = {
        "ids": dict(ids),
        "from": {scope: origins[scope] for scope in ids if scope in origins},
        "vault": str(vault.root),
        "embedded": vault.is_embedded,
    }

    def as_text() -> str:
        rows = [
            (scope, ids.get(scope, "-"), origins.get(scope, "")) if scope != GLOBAL else (scope, "always", "")
            for scope in SCOPES
        ]
        table = text.columns([tuple(one_line(cell) for cell in row) for row in rows])
        advice = "" if "project" in ids else f"\n\nto open the project: {SCOPES.row('project').advice}"
        return f"{table}\nvault         {one_line(str(vault.root))}{advice}"

    run.screen.answer(answer, as_text)


@app.command("set")
def set_id(
    ctx: typer.Context,
    scope: Annotated[str, typer.Argument(help="The scope; 'project' is the one that git's settings hold")],
    scope_id: Annotated[str, typer.Argument(metavar="ID", help="Its id in this repository")],
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Write the id of a scope to git's settings of this repository."""
    from remvault.surfaces.naming import set_context

    run = of(ctx)
    run.screen.as_json = run.screen.as_json or as_json
    done = set_context(run.surroundings, scope, scope_id, dry_run=dry_run)
    if done.overruled_by:
        run.screen.say(f"{done.overruled_by} gives another {scope} all the same")
    was = f" (was {done.before})" if done.before not in (None, scope_id) else ""
    what = "would set" if dry_run else "set"
    run.screen.answer(done.answer(), lambda: one_line(f"{what} {scope} to {scope_id}{was} in git config {done.key}"))
