"""`remvault settings`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from remvault.config import SETTINGS
from remvault.domain.hostile_text import one_line
from remvault.errors import UsageError
from remvault.store.layout import VAULT_FILE
from remvault.surfaces.cli import text
from remvault.surfaces.cli.invocation import Json, of
from remvault.surfaces.settings_files import user_settings_path


def verb(
    ctx: typer.Context,
    key: Annotated[str | None, typer.Argument(metavar="[KEY]", help="One setting, as section.key")] = None,
    as_json: Json = False,
) -> None:
    """Show every setting with its value and where it comes from."""
    run = of(ctx)
    vault = run.open(as_json)
    settings = vault.settings
    rows = [row for row in settings.listing() if key is None or row[0] == key or row[0].startswith(f"{key}.")]
    if not rows:
        raise UsageError(f"no setting {key!r}", hint="'remvault settings' lists them all")
    helps = {row.name: row.help for row in SETTINGS}
    answer: dict[str, Any] = {
        "settings": [
            {"name": name, "value": list(value) if isinstance(value, tuple) else value, "from": origin}
            for name, value, origin in rows
        ],
        "files": [str(vault.root / VAULT_FILE), str(user_settings_path(run.surroundings))],
    }

    def as_text() -> str:
        shown = [(name, one_line(_shown(value)), one_line(origin)) for name, value, origin in rows]
        table = text.columns(shown)
        if key is not None:
            return f"{table}\n{helps[key]}" if key in helps else table
        files = [("vault's file", answer["files"][0]), ("your own file", answer["files"][1])]
        return f"{table}\n\n{text.columns([(what, one_line(file)) for what, file in files])}"

    run.screen.answer(answer, as_text)


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return "-" if value is None else str(value)
