"""`remvault blame`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer

from remvault.domain.hostile_text import one_line, shown
from remvault.surfaces.cli import text
from remvault.surfaces.cli.invocation import Json, MemoryName, of
from remvault.surfaces.cli.screen import Screen

_VALUE_CHARS = 60


def verb(ctx: typer.Context, name: MemoryName, as_json: Json = False) -> None:
    """Tell who last changed each field and each part of the body of a memory."""
    from remvault.surfaces import auditing

    run = of(ctx)
    answer = auditing.blame(run.open(as_json), name).answer()

    def as_text() -> str:
        memory = answer["memory"]
        identity, title = one_line(memory["id"] or "(no id)"), one_line(memory["title"] or memory["path"])
        rows = [(one_line(one["field"]), _short(one["value"]), _who(one, run.screen)) for one in answer["fields"]]
        blocks = [f"{run.screen.style(identity, 'cyan')}  {run.screen.style(title, 'bold')}", text.columns(rows)]
        for one in answer["body"]:
            place = _place(one["from_line"], one["to_line"])
            blocks.append(f"{place}  {_who(one, run.screen)}")
            blocks += [f"    {shown(line)}" for line in one["text"].split("\n")]
        return "\n".join(block for block in blocks if block)

    run.screen.answer(answer, as_text)


def _who(one: Mapping[str, Any], screen: Screen) -> str:
    if one["commit"] is None:
        return "not committed yet"
    commit = screen.style(one["commit"][:10], "cyan")
    return f"{commit}  {one_line(one['op'])} by {one_line(one['actor'])}, {one['time']}"


def _short(value: Any) -> str:
    texts = [item if isinstance(item, str) else str(item) for item in value] if isinstance(value, list) else [value]
    if isinstance(value, list) and value and isinstance(value[0], dict):
        texts = [", ".join(f"{key}: {one}" for key, one in item.items() if one not in (None, [], "")) for item in value]
    line = one_line("; ".join(str(item) for item in texts))
    return line if len(line) <= _VALUE_CHARS else line[: _VALUE_CHARS - 1] + "…"


def _place(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first}-{last}"
