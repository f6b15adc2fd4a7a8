"""`remvault reindex`."""

from __future__ import annotations

import typer

from remvault.surfaces.cli import text
from remvault.surfaces.cli.invocation import Json, of


def verb(ctx: typer.Context, as_json: Json = False) -> None:
    """Throw the text index away and build it anew; never needed for right answers, only for peace of mind."""
    from remvault.surfaces import upkeep

    run = of(ctx)
    vault = run.open(as_json)
    snapshot = upkeep.reindex(vault)
    run.tell(snapshot.notices)
    answer = {"generation": snapshot.generation, "notes": len(snapshot.rows)}
    run.screen.answer(answer, lambda: f"indexed {text.count(len(snapshot.rows), 'note')}")
