"""`remvault verify`."""

from __future__ import annotations

from typing import Annotated

import typer

from remvault.surfaces.cli import text
from remvault.surfaces.cli.invocation import Json, of


def verb(
    ctx: typer.Context,
    accept: Annotated[
        bool, typer.Option("--accept", help="Take the present history as the right one, whatever was seen before")
    ] = False,
    as_json: Json = False,
) -> None:
    """Hold files, commits and what was seen before against each other; exits with 1 when they disagree."""
    from remvault.surfaces import verifying

    run = of(ctx)
    found = verifying.verify(run.open(as_json), accept=accept)

    def as_text() -> str:
        lines = [text.finding_lines(one, run.screen) for one in found.findings]
        said = "files and history agree" if found.is_ok else "files and history do not agree"
        return "\n".join([*lines, f"{text.count(found.notes, 'note')}, {text.count(found.commits, 'commit')}: {said}"])

    run.screen.answer(found.answer(), as_text)
    if not found.is_ok:
        raise typer.Exit(1)
