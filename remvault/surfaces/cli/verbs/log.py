"""`remvault log`."""

from __future__ import annotations

from typing import Annotated, Any

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
    from remvault.surfaces import reading

    run = of(ctx)
    entries = reading.log(run.open(as_json), name, limit=limit)
    answer: dict[str, Any] = {"entries": [entry_answer(entry) for entry in entries]}

    def as_text() -> str:
        lines = []
        for entry in entries:
            who = f"{entry.actor or 'unknown actor'}, {entry.time}"
            lines.append(
                f"{run.screen.style(entry.commit[:10], 'cyan')}  {one_line(entry.subject)}  "
                f"{run.screen.style(one_line(who), 'dim')}"
            )
            if entry.reason:
                lines += [f"    {one_line(line)}" for line in entry.reason.splitlines()]
        return "\n".join(lines)

    if not entries:
        run.screen.say("nothing is committed yet")
    run.screen.answer(answer, as_text)


def entry_answer(entry: Any) -> dict[str, Any]:
    """One entry of the ledger as JSON has it."""
    return {
        "commit": entry.commit,
        "op": entry.op,
        "ids": list(entry.ids),
        "actor": entry.actor,
        "reason": entry.reason,
        "time": entry.time,
        "subject": entry.subject,
    }
