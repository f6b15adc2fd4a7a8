"""How answers read on a terminal. Everything from a note passes through `one_line` or `shown`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from remvault.domain.hostile_text import one_line, shown
from remvault.domain.problems import Problem
from remvault.retrieval.answers import owner_label
from remvault.surfaces.cli.explained import explanation_lines
from remvault.surfaces.cli.screen import Screen

_SEVERITY_COLOURS = {"error": "red", "warning": "yellow", "info": "cyan"}


def memory_line(memory: Mapping[str, Any], screen: Screen, labels: Sequence[str] = ()) -> str:
    """One line: id, title, then type, owner and labels."""
    about = [str(memory.get("type") or "unknown type"), owner_label(memory), *labels]
    title = one_line(memory.get("title") or "(no title)")
    identity = one_line(memory.get("id") or "(no id)")
    parts = (
        screen.style(identity, "cyan"),
        screen.style(title, "bold"),
        screen.style(one_line(" · ".join(about)), "dim"),
    )
    return "  ".join(parts)


def problem_line(problem: Problem, screen: Screen, path: str | None = None) -> str:
    """`path:line: RV102 message`, with the hint on a line of its own."""
    where = one_line(path if path is not None else problem.path) or "vault"
    line = f":{problem.line}" if problem.line is not None else ""
    severity = "" if problem.severity == "error" else f"{problem.severity}: "
    code = screen.style(problem.code, _SEVERITY_COLOURS[problem.severity])
    hint = f"\n    {screen.style('hint:', 'dim')} {one_line(problem.hint)}" if problem.hint else ""
    return f"{where}{line}: {code} {severity}{one_line(problem.message)}{hint}"


def finding_lines(finding: Problem, screen: Screen) -> str:
    """A finding about the vault itself: code, severity, message, and the hint on a line of its own."""
    code = screen.style(finding.code, _SEVERITY_COLOURS[finding.severity])
    hint = f"\n    {screen.style('hint:', 'dim')} {one_line(finding.hint)}" if finding.hint else ""
    return f"{code} {finding.severity}: {one_line(finding.message)}{hint}"


def hit_lines(hit: Mapping[str, Any], screen: Screen, *, explain: bool) -> str:
    """A hit: what it is, where it stands, why it matched, and a snippet."""
    section = hit["section"]
    where = f"{hit['path']}:{section['line']}" if section else str(hit["path"])
    heading = f" # {section['heading']}" if section and section["heading"] else ""
    lines = [memory_line(hit, screen, hit["labels"]), f"    {one_line(where + heading)}"]
    if hit["snippet"]:
        lines.append(f"    {one_line(hit['snippet'])}")
    if explain:
        lines += [f"    {one_line(reason)}" for reason in hit["reasons"]]
        lines += explanation_lines(hit["explanation"], indent=6)
    return "\n".join(lines)


def fields_table(memory: Mapping[str, Any], screen: Screen) -> str:
    """The known fields of one memory, a line each; unknown ones are left out."""
    rows: list[tuple[str, str]] = []
    for key, value in memory.items():
        if key in ("body", "title", "id") or value in (None, [], {}, "", False):
            continue
        texts = [anchor_text(one) for one in value] if key == "anchors" else _values(value)
        rows += [(key.replace("_", "-") if at == 0 else "", text) for at, text in enumerate(texts)]
    width = max((len(key) for key, _ in rows), default=0)
    return "\n".join(f"{screen.style(key.ljust(width), 'dim')}  {one_line(text)}" for key, text in rows)


def anchor_text(anchor: Mapping[str, Any]) -> str:
    """An anchor with its state, and why it is so."""
    if anchor["state"] == "moved":
        return f"{anchor['at']}: moved to {anchor['now_at']}"
    return f"{anchor['at']}: {anchor['state']}{', ' if anchor['detail'] else ''}{anchor['detail']}"


def body_text(body: str) -> str:
    """A body as it may be printed."""
    return shown(body.strip("\n"))


def count(number: int, singular: str, plural: str | None = None) -> str:
    """`1 note`, `2 notes`."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def columns(rows: Iterable[Sequence[str]]) -> str:
    """Align short texts in columns, two blanks apart, nothing behind the last."""
    table = [list(row) for row in rows]
    if not table:
        return ""
    widths = [max(len(row[at]) for row in table) for at in range(len(table[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table
    )


def _values(value: Any) -> list[str]:
    if isinstance(value, list):
        if all(not isinstance(item, dict) for item in value):
            return [", ".join(str(item) for item in value)]
        return [_values(item)[0] for item in value]
    if isinstance(value, dict):
        return [", ".join(f"{key}: {item}" for key, item in value.items() if item not in (None, [], ""))]
    if value is True:
        return ["yes"]
    return [str(value)]
