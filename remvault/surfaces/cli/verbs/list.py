"""`remvault list`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from remvault.surfaces.cli import text
from remvault.surfaces.cli.invocation import AsOf, Json, of


class Order(StrEnum):
    """What comes first."""

    by_recency = "recent"
    by_surfacing = "surfaced"
    by_title = "title"


def verb(
    ctx: typer.Context,
    sort: Annotated[
        Order, typer.Option(help="Newest knowledge first, last surfaced first, or by title")
    ] = Order.by_recency,
    types: Annotated[list[str] | None, typer.Option("--type", help="Only this type, repeatable")] = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", help="Only with this tag, repeatable")] = None,
    scopes: Annotated[list[str] | None, typer.Option("--scope", help="Only this scope, repeatable")] = None,
    tiers: Annotated[list[str] | None, typer.Option("--tier", help="Only this tier, repeatable")] = None,
    status: Annotated[
        str, typer.Option(help="active, candidate, retracted, superseded, archived or expired")
    ] = "active",
    as_of: AsOf = None,
    as_json: Json = False,
) -> None:
    """List the memories of the active context."""
    from remvault.surfaces import reading

    run = of(ctx)
    vault = run.open(as_json)
    found = reading.list_memories(
        vault,
        sort=sort.value,
        types=types or (),
        tags=tags or (),
        scopes=scopes or (),
        tiers=tiers or (),
        status=status,  # type: ignore[arg-type]
        as_of=as_of,
    )
    run.tell(found.notices)
    if not found.memories:
        is_filtered = types or tags or scopes or tiers or status != "active"
        run.screen.say(
            "nothing matches"
            if is_filtered
            else "no memories here then"
            if as_of is not None
            else "no memories here yet: 'remvault new TITLE' writes one"
        )
    lines = (text.memory_line(memory, run.screen, labels) for memory, labels in found.memories)
    run.screen.answer(found.answer(), lambda: "\n".join(lines))
