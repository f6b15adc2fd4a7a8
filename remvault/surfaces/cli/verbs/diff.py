"""`remvault diff`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from remvault.domain.hostile_text import one_line
from remvault.surfaces.cli import text
from remvault.surfaces.cli.invocation import Json, of


def verb(
    ctx: typer.Context,
    old: Annotated[str, typer.Argument(metavar="REV", help="A revision, date or time")],
    new: Annotated[
        str | None, typer.Argument(metavar="[REV]", help="Another one; without it, the notes as they are on disk")
    ] = None,
    as_json: Json = False,
) -> None:
    """Tell what differs between two states of the vault, in memory terms."""
    from remvault.surfaces import auditing

    run = of(ctx)
    found = auditing.diff(run.open(as_json), old, new)
    answer = found.answer()

    def as_text() -> str:
        lines = []
        for memory in answer["memories"]:
            identity, title = memory["id"] or "(no id)", memory["title"] or memory["path"]
            lines.append(f"{run.screen.style(one_line(identity), 'cyan')}  {run.screen.style(one_line(title), 'bold')}")
            lines += [f"    {one_line(told(change))}" for change in memory["changes"]]
        return "\n".join(lines)

    if not found.memories:
        run.screen.say("no memory differs")
    run.screen.answer(answer, as_text)


def told(change: Mapping[str, Any]) -> str:
    """One change in words."""
    kind = change["kind"]
    if kind == "body":
        lines = f"{text.count(change['lines_added'], 'line')} added, {change['lines_removed']:,} removed"
        return f"body changed: {lines}"
    if kind in ("superseded", "supersedes"):
        return f"superseded by {change['by']}" if kind == "superseded" else f"supersedes {', '.join(change['ids'])}"
    if kind in ("link-added", "link-removed"):
        return f"{kind.replace('-', ' ')}: {change['type']} {change['target']}"
    if kind in ("scope", "path"):
        return f"moved {'to another scope' if kind == 'scope' else 'in the vault'}: {_arrow(change)}"
    if kind == "field":
        return f"{change['field']}: {_arrow(change)}"
    if kind == "confirmed":
        return f"confirmed {_value(change['new'])}" if change["new"] else "no longer confirmed"
    return "written differently, says the same" if kind == "layout" else str(kind)


def _arrow(change: Mapping[str, Any]) -> str:
    return f"{_value(change['old'])} -> {_value(change['new'])}"


def _value(value: Any) -> str:
    if value in (None, [], ""):
        return "nothing"
    if isinstance(value, list):
        return ", ".join(_value(item) for item in value)
    if isinstance(value, dict):
        return " ".join(f"{key}={_value(item)}" for key, item in value.items() if item not in (None, [], ""))
    return {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)
