"""`remvault demo`."""

from __future__ import annotations

import typer

from remvault.surfaces.cli.invocation import Json, of


def verb(ctx: typer.Context, as_json: Json = False) -> None:
    """Take a guided tour on a throw-away copy of this project's own vault."""
    from remvault.surfaces.demo import STEPS, run_demo

    run = of(ctx)
    run.screen.as_json = run.screen.as_json or as_json
    lines: list[str] = []

    def show(line: str) -> None:
        lines.append(line)
        if not run.screen.as_json:
            run.screen.answer({}, lambda: line or "\n")
            run.screen.flush()

    run_demo(show, environ=run.surroundings.environ, colours=run.screen.colours)
    if run.screen.as_json:
        run.screen.answer({"steps": [list(step.command) for step in STEPS], "output": "\n".join(lines)}, str)
