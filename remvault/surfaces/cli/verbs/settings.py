"""`remvault settings`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from remvault.config import SETTINGS
from remvault.domain.hostile_text import one_line
from remvault.errors import UsageError
from remvault.surfaces.cli import text
from remvault.surfaces.cli.invocation import Json, of


def verb(
    ctx: typer.Context,
    key: Annotated[str | None, typer.Argument(metavar="[KEY]", help="One setting, as section.key")] = None,
    as_json: Json = False,
) -> None:
    """Show every setting with its value and where it comes from."""
    run = of(ctx)
    settings = run.open(as_json).settings
    rows = [row for row in settings.listing() if key is None or row[0] == key or row[0].startswith(f"{key}.")]
    if not rows:
        raise UsageError(f"no setting {key!r}", hint="'remvault settings' lists them all")
    helps = {row.name: row.help for row in SETTINGS}
    answer: dict[str, Any] = {
        "settings": [
            {"name": name, "value": list(value) if isinstance(value, tuple) else value, "from": origin}
            for name, value, origin in rows
        ]
    }

    def as_text() -> str:
        shown = [(name, one_line(_shown(value)), one_line(origin)) for name, value, origin in rows]
        table = text.columns(shown)
        return table if key is None or key not in helps else f"{table}\n{helps[key]}"

    run.screen.answer(answer, as_text)


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return "-" if value is None else str(value)
