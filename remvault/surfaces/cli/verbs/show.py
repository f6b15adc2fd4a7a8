"""`remvault show`."""

from __future__ import annotations

from typing import Annotated

import typer

from remvault.surfaces.cli import text
from remvault.surfaces.cli.invocation import AsOf, Json, MemoryName, of


def verb(
    ctx: typer.Context,
    name: MemoryName,
    raw: Annotated[bool, typer.Option("--raw", help="The file's own bytes, nothing else")] = False,
    private: Annotated[bool, typer.Option("--private", help="Look among local-only notes")] = False,
    as_of: AsOf = None,
    as_json: Json = False,
) -> None:
    """Show one memory with its fields and body."""
    from remvault.surfaces import reading

    run = of(ctx)
    shown = reading.show(run.open(as_json), name, private=private, as_of=as_of)
    if raw and not run.screen.as_json:
        run.screen.bytes(shown.data)
        return
    for problem in shown.problems:
        run.screen.say(text.problem_line(problem, run.screen.plain()))

    def as_text() -> str:
        head = text.memory_line(shown.memory, run.screen, shown.labels)
        body = text.body_text(shown.memory["body"])
        return f"{head}\n{text.fields_table(shown.memory, run.screen)}\n" + (f"\n{body}\n" if body else "")

    run.screen.answer(shown.raw_answer() if raw else shown.answer(), as_text)
