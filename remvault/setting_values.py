"""One setting: what it is called, who may set it, and which values it takes.

Owns: a row of the table of settings, checking a value against its row, the failure that names a wrong one.
Leaves alone: which settings there are, where values come from and which one counts (`config`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from remvault.domain.scope import PROJECT_ID
from remvault.errors import UsageError

Value = bool | int | float | str | tuple[str, ...] | None
Kind = Literal["flag", "count", "number", "text", "id", "project", "choice", "threshold", "list"]
# How the values of several sources become one. The environment beats the files and an option beats all, except that
# `off` and `stricter` listen to the environment's refusal too: who says no anywhere but in an option is heard.
#   vault: the vault's file beats the user's        user: the user's file beats the vault's
#   off: an off anywhere wins                       stricter: the first of `choices` named anywhere wins
#   smaller: the smaller of the two files           union: both lists
Combine = Literal["vault", "user", "off", "stricter", "smaller", "union"]
# Who may set it. all: both files and the environment. trusted: to *open* it (true, a lower severity) a vault must be
# trusted. vault: remvault.toml only. files: both files. user: the user's own file only.
SetBy = Literal["all", "trusted", "vault", "files", "user"]

VAULT_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")  # becomes part of a folder's name: no separators
LEVELS = ("off", "info", "warning", "error")
TRUSTS = ("operator", "user", "system", "tool", "source", "low")


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table. A part in `<>` of the name stands for any name a person chooses."""

    name: str  # section.key, or section.<name>.key, as written in the file
    kind: Kind
    default: Value
    help: str
    combine: Combine = "vault"
    set_by: SetBy = "all"
    choices: tuple[str, ...] = ()

    @property
    def variable(self) -> str | None:
        """The environment variable that sets it, None when the environment may not."""
        return variable_of(self.name) if self.set_by in ("all", "trusted") else None


class SettingError(UsageError):
    """A setting is unknown, of the wrong type, or set where it may not be."""

    code = "setting"

    def __init__(self, setting: str, value: object, origin: str, problem: str, *, hint: str | None = None) -> None:
        self.setting, self.value, self.origin = setting, shown(value), origin
        super().__init__(f"setting {setting!r} = {self.value} in {origin}: {problem}", hint=hint)


class SettingsUnreadable(UsageError):
    """A settings file is not TOML, so nothing in it can be trusted to mean what it seems to."""

    code = "settings_unreadable"

    def __init__(self, origin: str, problem: str) -> None:
        self.origin, self.problem = origin, problem
        super().__init__(f"{origin} is not TOML: {problem}", hint="mend the line it names")


def typed(row: Setting, name: str, raw: Any, source: str) -> Value:
    """Check one raw TOML value against its row."""

    def wrong(expected: str) -> SettingError:
        return SettingError(name, raw, source, f"expected {expected}")

    match row.kind, raw:
        case "flag", bool():
            return raw
        case "flag", _:
            raise wrong("true or false")
        case "count", int() if not isinstance(raw, bool) and raw >= 0:
            return raw
        case "count", _:
            raise wrong("a whole number, 0 or more")
        case "number", int() | float() if not isinstance(raw, bool) and 0 < raw < float("inf"):
            return raw
        case "number", _:
            raise wrong("a number over 0")
        case "threshold", "auto":
            return "auto"
        case "threshold", int() | float() if not isinstance(raw, bool) and 0 <= raw <= 1:
            return raw
        case "threshold", _:
            raise wrong('"auto" or a number from 0 to 1')
        case "list", list() if all(isinstance(one, str) for one in raw):
            return tuple(raw)
        case "list", _:
            raise wrong("a list of texts")
        case "choice", str() if raw in row.choices:
            return raw
        case "choice", _:
            hint = did_you_mean(raw, row.choices) if isinstance(raw, str) else None
            raise SettingError(name, raw, source, "expected one of " + ", ".join(row.choices), hint=hint)
        case "project", str() if PROJECT_ID.match(raw):
            return raw
        case "project", _:
            raise wrong("a project id: lower-case letters, digits, '.', '_', '-', starting with a letter or digit")
        case "id", str() if VAULT_ID.match(raw):
            return raw
        case "id", _:
            raise wrong("letters, digits, '.', '_' and '-', at most 64")
        case "text", str() if raw.strip() and raw.isprintable():
            return raw
    raise wrong("one line of text")


def typed_text(row: Setting, name: str, text: str, source: str) -> Value:
    """Check a value that comes as text: an environment variable or an option."""
    raw: Any = text
    if row.kind == "flag":
        if text not in ("0", "1"):
            raise SettingError(name, text, source, "expected 1 or 0")
        raw = text == "1"
    elif row.kind == "list":
        raw = [part.strip() for part in text.split(",") if part.strip()]
    elif row.kind in ("count", "number", "threshold") and re.fullmatch(r"[0-9]{1,18}(\.[0-9]{1,18})?", text):
        raw = float(text) if "." in text else int(text)
    return typed(row, name, raw, source)


def variable_of(name: str) -> str:
    """The environment variable of a setting: `search.limit` is `REMVAULT_SEARCH_LIMIT`."""
    return "REMVAULT_" + re.sub(r"[.-]", "_", name).upper()


def shown(value: object) -> str:
    """A value as people type it in TOML, short enough for one line; control characters come out as escapes."""
    if isinstance(value, bool):
        return str(value).lower()
    text = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def did_you_mean(word: str, known: Sequence[str]) -> str | None:
    """A hint naming the known word nearest to what was typed, None when nothing is near."""
    from difflib import get_close_matches  # costs start-up time that only a mistake should pay

    close = get_close_matches(word, known, n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else None
