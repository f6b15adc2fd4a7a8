"""`remvault catalog`."""

from __future__ import annotations

from typing import Annotated

import typer

from remvault.retrieval.catalog import DEFAULT_BUDGET, DEFAULT_DEPTH
from remvault.surfaces.cli.invocation import Json, of


def verb(
    ctx: typer.Context,
    topic: Annotated[
        str | None, typer.Argument(metavar="[TOPIC]", help="Look into this topic: its name, path 'a / b' or id")
    ] = None,
    depth: Annotated[int, typer.Option(min=1, metavar="N", help="Levels of topics")] = DEFAULT_DEPTH,
    budget_chars: Annotated[
        int, typer.Option(min=1, metavar="N", help="Characters the text may have")
    ] = DEFAULT_BUDGET,
    as_json: Json = False,
) -> None:
    """Name what may be remembered here: vaults, topics and titles, never the text of a note."""
    from remvault.surfaces import cataloging

    run = of(ctx)
    found = cataloging.catalog(run.open(as_json), topic, depth=depth, budget_chars=budget_chars)
    run.tell(found.notices)
    run.screen.answer(found.answer(), lambda: found.block.rstrip("\n"))
