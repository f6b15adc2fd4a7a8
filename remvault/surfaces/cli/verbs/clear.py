"""`remvault clear`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from remvault.errors import UsageError
from remvault.surfaces.cli import text
from remvault.surfaces.cli.invocation import DryRun, Invocation, Json, Reason, of

if TYPE_CHECKING:
    from remvault.store.correcting import Cleared


def verb(
    ctx: typer.Context,
    scope: Annotated[str | None, typer.Option(metavar="S", help="Only what the active owner of this scope has")] = None,
    private: Annotated[
        bool, typer.Option("--private", help="The local-only notes too, which nothing keeps; for a person only")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; needed without a terminal")] = False,
    reason: Reason = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Remove every memory of the active context in one commit; history keeps them."""
    from remvault.surfaces import correcting
    from remvault.surfaces.cli.told import tell_outcome

    run = of(ctx)
    vault = run.open(as_json)
    agree = None if yes else lambda rehearsed: _agrees(run, rehearsed)
    cleared = correcting.clear(vault, scope=scope, private=private, reason=reason, dry_run=dry_run, agree=agree)
    if cleared is None:
        run.screen.say("nothing was removed")
        return
    tell_outcome(cleared.outcome, run.screen)
    run.screen.answer(cleared.answer(), lambda: _as_text(cleared))


def _agrees(run: Invocation, rehearsed: Cleared) -> bool:
    what = text.count(len(rehearsed.paths), "memory", "memories")
    if not sys.stdin.isatty():
        raise UsageError(
            f"clear would remove {what} and asks first", hint="'--dry-run' lists them, '--yes' removes them"
        )
    run.screen.say("\n".join(["clear would remove", *_lines(rehearsed)]))
    return typer.confirm(f"Remove {what}?", err=True)


def _as_text(cleared: Cleared) -> str:
    if not cleared.paths:
        return "nothing to remove"
    if cleared.outcome is None:
        return "\n".join(f"would remove {line}" for line in _lines(cleared))
    where = f"  {cleared.outcome.commit[:10]}" if cleared.outcome.commit else ""
    return f"clear {text.count(len(cleared.paths), 'memory', 'memories')}{where}"


def _lines(cleared: Cleared) -> list[str]:
    from remvault.domain.hostile_text import one_line

    return [f"{one_line(path)}  {one_line(title)}" for path, title in zip(cleared.paths, cleared.titles, strict=True)]
