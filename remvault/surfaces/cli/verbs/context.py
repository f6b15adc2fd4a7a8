"""`remvault context`."""

from __future__ import annotations

import typer

from remvault.domain.hostile_text import one_line
from remvault.domain.scope import GLOBAL, SCOPES
from remvault.surfaces.cli import text
from remvault.surfaces.cli.invocation import Json, of


def verb(ctx: typer.Context, as_json: Json = False) -> None:
    """Show the active context and where each id comes from."""
    run = of(ctx)
    vault = run.open(as_json)
    ids, origins = vault.context.ids, vault.context.origins
    answer = {
        "ids": dict(ids),
        "from": {scope: origins[scope] for scope in ids if scope in origins},
        "vault": str(vault.root),
        "embedded": vault.is_embedded,
    }

    def as_text() -> str:
        rows = [
            (scope, ids.get(scope, "-"), origins.get(scope, "")) if scope != GLOBAL else (scope, "always", "")
            for scope in SCOPES
        ]
        table = text.columns([tuple(one_line(cell) for cell in row) for row in rows])
        return f"{table}\nvault         {vault.root}"

    run.screen.answer(answer, as_text)
