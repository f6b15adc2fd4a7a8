"""`remvault conflicts`."""

from __future__ import annotations

from typing import Annotated

import typer

from remvault.domain.hostile_text import one_line
from remvault.surfaces.cli.invocation import Json, complete_ids, of
from remvault.surfaces.disputes import Conflict


def verb(
    ctx: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="Only those of one memory", autocompletion=complete_ids),
    ] = None,
    proposals: Annotated[
        bool, typer.Option("--proposals/--no-proposals", help="Also what only looks like a contradiction")
    ] = True,
    as_json: Json = False,
) -> None:
    """List memories that contradict or contest each other, open and proposed."""
    from remvault.surfaces import disputes

    run = of(ctx)
    found = disputes.conflicts(run.open(as_json), name, proposals=proposals)
    run.tell(found.notices)

    def as_text() -> str:
        return "\n".join(_lines(one) for one in found.conflicts)

    def _lines(one: Conflict) -> str:
        what = f"proposed {one.dispute.kind}" if one.dispute.proposed else one.dispute.kind
        since = f" since {one.since}" if one.since else ""
        lines = [f"{run.screen.style(what, 'bold')}{one_line(since)}  {one_line(one.dispute.detail)}"]
        for side in one.sides:
            dates = [f"{key} {value}" for key in ("confirmed", "observed", "created") if (value := getattr(side, key))]
            about = run.screen.style(one_line(" · ".join([*dates, side.source or "unknown source"])), "dim")
            lines.append(
                f"  {run.screen.style(one_line(side.id), 'cyan')}  {one_line(side.title or '(no title)')}  {about}"
            )
        return "\n".join(lines)

    if not found.conflicts:
        run.screen.say("no conflicts here")
    elif not run.screen.as_json:
        run.screen.say("'remvault resolve ID ID' with --keep ID, --both or --dismiss settles one")
    run.screen.answer(found.answer(), as_text)
