"""The reference part of the README, made from the program itself, so that it cannot fall behind.

`python -m tests.reference` rewrites it; a test fails when the README says something else.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from remvault.config import SETTINGS
from remvault.domain.fields import FIELDS
from remvault.domain.problems import RULES
from remvault.surfaces.cli.program import VERBS, command

README = Path(__file__).parent.parent / "README.md"
BEGIN, END = "<!-- reference: made by `python -m tests.reference` -->", "<!-- end of reference -->"

_KINDS = {
    "line": "one line", "text": "text", "choice": "", "id": "id", "ids": "list of ids", "list": "list of text",
    "number": "0 to 1", "flag": "true, false", "time": "RFC 3339 date or time",
    "provenance": "list of `{source, actor, trust, captured, session, messages, origin, confidence}`",
    "anchors": "list of `{at, digest, commit}`", "relations": "list of `{type, target, weight, confidence, source}`",
    "entities": "list of text or `{name, type}`",
}  # fmt: skip


def verbs() -> dict[str, Any]:
    """Every verb by its full name, sub-verbs included, as built for the command line."""
    root = command()
    found: dict[str, Any] = {}
    for name in VERBS:
        verb = root.get_command(None, name)
        below = getattr(verb, "commands", None)
        found |= {f"{name} {sub}": one for sub, one in below.items()} if below else {name: verb}
    return found


def options(verb: Any) -> list[tuple[str, str]]:
    """Spelling and help of each argument and option of a verb, `--help` left out."""
    rows = []
    for parameter in verb.params:
        if parameter.name == "help":
            continue
        if parameter.param_type_name == "argument":
            shown = parameter.metavar or parameter.name.upper()
            rows.append((shown, parameter.help or ""))
            continue
        value = "" if parameter.is_flag else f" {parameter.metavar or _value_name(parameter)}"
        rows.append((", ".join(parameter.opts) + value, parameter.help or ""))
    return rows


def reference() -> str:
    """The whole reference as Markdown."""
    parts = ["### Options before the verb", ""]
    parts += _table(("option", "meaning"), [(f"`{name}`", text) for name, text in options(command())])
    parts += ["", "### Verbs", ""]
    for name, verb in verbs().items():
        parts += [f"#### `remvault {name}`", "", f"{(verb.help or '').strip()}", ""]
        rows = [(f"`{spelling}`", text) for spelling, text in options(verb)]
        parts += [*_table(("argument or option", "meaning"), rows), ""]
    parts += ["### Fields of a note", ""]
    parts += _table(("field", "values"), [(f"`{row.key}`", _values(row)) for row in FIELDS.values()])
    parts += ["", "### Rules", ""]
    parts += _table(("code", "severity", "meaning", "why"),
                    [(one.code, one.severity, one.title, one.why) for one in RULES.values()])  # fmt: skip
    parts += ["", "### Settings", ""]
    rows = [(f"`{row.name}`", f"`{_default(row.default)}`", _setter(row.set_by), row.help) for row in SETTINGS]
    parts += _table(("setting", "default", "set in", "meaning"), rows)
    return "\n".join(parts).strip() + "\n"


def with_reference(text: str) -> str:
    """The README with its reference part renewed."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{reference()}\n{END}{after}"


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    lines = [" | ".join(head), " | ".join("---" for _ in head)]
    lines += [" | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) for row in rows]
    return [f"| {line} |" for line in lines]


def _values(row: Any) -> str:
    return ", ".join(f"`{one}`" for one in row.choices) if row.choices else _KINDS[row.kind]


def _value_name(parameter: Any) -> str:
    return str(getattr(parameter.type, "name", "text")).upper()


def _default(value: object) -> str:
    if isinstance(value, tuple):
        return "[]"
    return "unset" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _setter(set_by: str) -> str:
    return {
        "all": "vault, user, environment",
        "files": "vault, user",
        "vault": "vault",
        "user": "user",
        "trusted": "user, environment, trusted vault",
    }[set_by]


if __name__ == "__main__":
    README.write_text(with_reference(README.read_text(encoding="utf-8")), encoding="utf-8")
    sys.exit(0)
