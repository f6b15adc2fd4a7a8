"""`remvault log`."""

from __future__ import annotations

from typing import Annotated

import typer

from remvault.domain.hostile_text import one_line
from remvault.surfaces.cli.invocation import Json, complete_ids, of


def verb(
    ctx: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="One memory; without it, the whole vault", autocompletion=complete_ids),
    ] = None,
    limit: Annotated[int, typer.Option("-n", "--limit", min=1, help="Entries at most")] = 30,
    as_json: Json = False,
) -> None:
    """Tell what happened to the vault or to one memory, newest first."""
    from remvault.surfaces import auditing

    run = of(ctx)
    found = auditing.log(run.open(as_json), name, limit=limit)
    entries = found.entries

    def as_text() -> str:
        lines = []
        for entry in entries:
            who = f"{entry.actor}, {entry.time}"
            lines.append(
                f"{run.screen.style(entry.commit[:10], 'cyan')}  {one_line(entry.subject)}  "
                f"{run.screen.style(one_line(who), 'dim')}"
            )
            if entry.reason:
                lines += [f"    {one_line(line)}" for line in entry.reason.splitlines()]
        return "\n".join(lines)

    if not entries:
        run.screen.say("nothing is committed yet" if name is None else f"{name} is not committed yet")
    run.screen.answer(found.answer(), as_text)
