"""`remvault stale`."""

from __future__ import annotations

import typer

from remvault.surfaces.cli import text
from remvault.surfaces.cli.invocation import Json, of


def verb(ctx: typer.Context, as_json: Json = False) -> None:
    """List memories that want another look: marked stale, or resting on a retracted one."""
    from remvault.surfaces import statistics

    run = of(ctx)
    found = statistics.stale(run.open(as_json))
    run.tell(found.notices)
    if not found.memories:
        run.screen.say("nothing is stale")
    lines = (text.memory_line(memory, run.screen, labels) for memory, labels in found.memories)
    run.screen.answer(found.answer(), lambda: "\n".join(lines))
