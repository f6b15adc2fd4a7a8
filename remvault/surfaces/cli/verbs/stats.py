"""`remvault stats`."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from remvault.domain.hostile_text import one_line
from remvault.surfaces.cli import text
from remvault.surfaces.cli.invocation import Json, of
from remvault.surfaces.statistics import Surfacing


def verb(ctx: typer.Context, as_json: Json = False) -> None:
    """Count the memories of the active context, and tell which are surfaced most and least."""
    from remvault.surfaces import statistics

    run = of(ctx)
    found = statistics.stats(run.open(as_json))
    run.tell(found.notices)

    def as_text() -> str:
        rows = [("notes", f"{found.notes:,}"), ("conflicts", f"{found.conflicts:,}")]
        rows += [
            (name, ", ".join(f"{one_line(value)} {number:,}" for value, number in values.items()))
            for name, values in found.counts.items()
            if values
        ]
        return "\n".join(
            [text.columns(rows), *_shown("most surfaced", found.most_surfaced), *_shown("least", found.least_surfaced)]
        )

    run.screen.answer(found.answer(), as_text)


def _shown(head: str, surfaced: Sequence[Surfacing]) -> list[str]:
    if not surfaced:
        return []
    lines = (
        f"  {one_line(one.id)}  {one_line(one.title or '(no title)')}  {text.count(one.times, 'time')}"
        for one in surfaced
    )
    return [head, *lines]
