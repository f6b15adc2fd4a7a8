"""Settings: what may be set, by whom, and which value counts.

Pure: handed the texts of the two files, the environment and the options; touches neither disk nor process.
Owns: the one table of settings, reading and combining their sources, the text of a new `remvault.toml`.
Leaves alone: where the files lie (`surfaces.app`), what a setting does (its user).
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from remvault.domain.problems import RULES
from remvault.domain.scope import PROJECT_ID
from remvault.setting_values import (
    LEVELS,
    TRUSTS,
    Setting,
    SettingError,
    SettingsUnreadable,
    Value,
    did_you_mean,
    shown,
    typed,
    typed_text,
    variable_of,
)

FORMAT = 1  # the newest vault format this version writes
SETTINGS: tuple[Setting, ...] = (
    Setting("vault.id", "id", None, "Identity of the vault, written by init", set_by="vault"),
    Setting("vault.kind", "choice", None, "Whole repository, or a folder of a code repository; written by init",
            set_by="vault", choices=("standalone", "embedded")),
    Setting("vault.name", "text", None, "Name that people read", set_by="vault"),
    Setting("vault.project", "project", None, "Project id of an embedded vault", set_by="vault"),
    Setting("vault.format", "count", FORMAT, "Format of the vault; a newer one is only read", set_by="vault"),
    Setting("vault.holds", "list", (), "What this vault may know: decisions, preferences or the like", set_by="vault"),
    Setting("git.commit", "choice", None, "Commit at once, stage for your next commit, or leave git alone; "
            "auto in a standalone vault, stage in an embedded one", "off", choices=("off", "stage", "auto")),
    Setting("projects.<id>.remotes", "list", (), "Remotes whose clones belong to this project", "union", "files"),
    Setting("context.team", "text", None, "Your team's name", "user"),
    Setting("context.organization", "text", None, "Your organization's name", "user"),
    Setting("search.language", "id", "english", "Language whose word forms are matched"),
    Setting("search.limit", "count", 10, "Hits shown", "smaller"),
    Setting("surface.enabled", "flag", True, "Surface memories by hooks", "off"),
    Setting("surface.max-chars", "count", 2400, "Characters a surfaced block may have", "smaller"),
    Setting("surface.max-items", "count", 18, "Memories a surfaced block may have", "smaller"),
    Setting("surface.core-slots", "count", 3, "Places kept for core memories", "smaller"),
    Setting("surface.refresh-minutes", "count", 15, "Minutes until an exposure is written again"),
    Setting("rank.half-life-days", "number", 14, "Days after which recency counts half"),
    Setting("gate.threshold", "threshold", "auto", "Score from which a hit is worth showing: auto or 0 to 1"),
    Setting("watch.commit", "flag", False, "Let the watcher commit quiet edits", "off", "trusted"),
    Setting("watch.quiet-seconds", "count", 30, "Seconds without a change before an edit is quiet"),
    Setting("watch.poll-seconds", "count", 300, "Seconds between full sweeps of the watcher"),
    Setting("rules.<RVnnn>", "choice", None, "Severity of a rule", set_by="trusted", choices=LEVELS),
    Setting("anchors.on-code-change", "choice", "warning", "How loud a code commit that drifts anchors is told",
            choices=LEVELS),
    Setting("anchors.max-per-note", "count", 8, "Anchors a note may have", "smaller"),
    Setting("handoff.enabled", "flag", True, "Write and show handoffs", "off"),
    Setting("handoff.commit", "flag", False, "Keep handoffs in git although they quote requests", "off", "trusted"),
    Setting("handoff.max-age-hours", "count", 72, "Hours until a handoff is no longer shown", "smaller"),
    Setting("handoff.keep", "count", 3, "Handoffs kept for each project (50 in all)", "smaller"),
    Setting("handoff.max-chars", "count", 800, "Characters of a handoff, never over half of the block", "smaller"),
    Setting("capture.enabled", "flag", False, "Propose candidates from sessions", "off", "trusted"),
    Setting("hook.timeout-ms", "count", 300, "Milliseconds a hook may take", "smaller"),
    Setting("mcp.write", "choice", "direct", "What agents may write: nothing, candidates, or memories", "stricter",
            choices=("off", "candidates", "direct")),
    Setting("secrets.allow", "list", (), "Digests of reviewed strings that only look like secrets", "union"),
    Setting("providers.<name>.path", "text", None, "Folder of another vault to read", set_by="user"),
    Setting("providers.<name>.write", "flag", False, "Whether that vault may be written", set_by="user"),
    Setting("authors.<name>", "choice", None, "How far an author is trusted", set_by="user", choices=TRUSTS),
    Setting("embeddings.enabled", "flag", False, "Use an embedding model", set_by="user"),
    Setting("embeddings.model", "text", None, "Which embedding model", set_by="user"),
)  # fmt: skip
BY_NAME: Mapping[str, Setting] = {row.name: row for row in SETTINGS}

# Names that are no settings but belong to us.
RESERVED = ("VAULT", "CONTEXT", "SESSION", "ACTOR", "OFF", "DEBUG")
RESERVED_PREFIX = "TEST_HOST_"
# A setting that was taken away: accepted, ignored, warned about. Name to what to do instead.
RETIRED: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Settings:
    """The values that count, by name, each with where it came from."""

    values: Mapping[str, Value]
    origins: Mapping[str, str]
    warnings: tuple[str, ...] = ()
    read_only_reason: str | None = None  # why nothing may be written, None when writing is fine
    is_off: bool = False  # REMVAULT_OFF=1: every automatic part rests
    is_debug: bool = False  # REMVAULT_DEBUG=1

    def get(self, name: str) -> Value:
        """The value of `section.key`; raises KeyError for a name that no row has."""
        return self.values[name] if name in self.values else _row(name).default

    def flag(self, name: str) -> bool:
        """The value of a switch."""
        return bool(self.get(name))

    def count(self, name: str) -> int:
        """The value of a whole number."""
        value = self.get(name)
        assert isinstance(value, int)
        return value

    def text(self, name: str) -> str | None:
        """The value of a text or choice, None when nobody set it and it has no default."""
        value = self.get(name)
        assert value is None or isinstance(value, str)
        return value

    def origin(self, name: str) -> str:
        """Where the value came from: a file, a variable, "option" or "default"."""
        return self.origins.get(name, "default")

    @property
    def rules(self) -> dict[str, str]:
        """Severities set for rules, by code."""
        return {key: str(value) for key, value in self.table("rules").items()}

    @property
    def projects(self) -> dict[str, tuple[str, ...]]:
        """Remotes listed for each project, as typed."""
        found = self.table("projects")
        return {key.removesuffix(".remotes"): value for key, value in found.items() if isinstance(value, tuple)}

    def table(self, section: str) -> dict[str, Value]:
        """Every value set in a section, by the rest of its name (`rules` -> {"RV102": "off"}), in file order."""
        return {name.partition(".")[2]: value for name, value in self.values.items() if name.startswith(section + ".")}

    def listing(self) -> list[tuple[str, Value, str]]:
        """Name, value and origin of every setting in the table's order, chosen names among them, for `settings`."""
        names = [row.name for row in SETTINGS if "<" not in row.name]
        names += [name for name in self.values if name not in BY_NAME]
        return [(name, self.get(name), self.origin(name)) for name in names]


def load_settings(
    *,
    vault_toml: str | None,
    vault_source: str,
    user_toml: str | None,
    user_source: str,
    environ: Mapping[str, str],
    options: Mapping[str, str] | None = None,
    trusted: bool = False,
    retired: Mapping[str, str] = RETIRED,
) -> Settings:
    """Combine all sources of settings.

    Args:
        vault_toml: text of `remvault.toml`, None without a vault; `vault_source` names it in messages.
        user_toml: text of the user's own settings file, None when there is none; `user_source` names it.
        environ: the process environment.
        options: values given as command line options, by setting name.
        trusted: whether the user trusts this vault to turn on what leaves traces.
        retired: names no longer used, with advice.

    Raises:
        SettingError: for the first value that is unknown, of the wrong type or not allowed where it stands.
    """
    warnings: list[str] = []
    vault_tables, read_only = _parse_vault(vault_toml, vault_source)
    is_lenient = read_only is not None
    vault = _read(vault_tables, vault_source, warnings, retired, is_vault=True, is_lenient=is_lenient)
    user = _read(_parse(user_toml, user_source), user_source, warnings, retired, is_vault=False)
    surrounding = _environment(environ, warnings, retired)
    chosen = {name: typed_text(_row(name), name, text, "option") for name, text in (options or {}).items()}

    values: dict[str, Value] = {}
    origins: dict[str, str] = {}
    for name in dict.fromkeys([*vault, *user, *surrounding, *chosen]):
        row = _row(name)
        if not trusted and name in vault and _opens(row, name, vault[name], user.get(name)):
            warnings.append(_untrusted(name, vault.pop(name), vault_source))
        told = [(held[name], origin) for held, origin in ((chosen, "option"), (surrounding, variable_of(name)))
                if name in held]  # fmt: skip
        files = [(held[name], origin) for held, origin in ((vault, vault_source), (user, user_source)) if name in held]
        if told or files:
            values[name], origins[name] = _combined(row, told, files)
    if "git.commit" not in values:
        values["git.commit"] = "auto" if values.get("vault.kind") == "standalone" else "stage"
    return Settings(
        values,
        origins,
        tuple(warnings),
        read_only,
        _switch(environ, "REMVAULT_OFF"),
        _switch(environ, "REMVAULT_DEBUG"),
    )


def render_vault_toml(
    *, kind: str, vault_id: str, commit: str, name: str | None = None, project: str | None = None
) -> str:
    """Return the text of a new `remvault.toml`; what decides behaviour is written out, never guessed later."""
    lines = [
        "# The settings of this remvault vault. Data only; unknown keys are errors that name the key.",
        "# 'remvault settings' lists every setting with its value and where it comes from.",
        "",
        "[vault]",
        f"id = {_quoted(vault_id)}",
        f"kind = {_quoted(kind)}  # standalone: the whole repository; embedded: a folder of a code repository",
        f"format = {FORMAT}",
    ]
    if name is not None:
        lines.append(f"name = {_quoted(name)}")
    if project is not None:
        lines.append(f"project = {_quoted(project)}")
    lines += [
        "",
        "[git]",
        f"commit = {_quoted(commit)}  # auto: one commit a change; stage: for your next commit; off: git is left alone",
    ]
    return "\n".join(lines) + "\n"


# Reading files


def _parse(text: str | None, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads((text or "").removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as err:
        message = str(err)[:1].lower() + str(err)[1:]
        raise SettingsUnreadable(source, message) from err


def _parse_vault(text: str | None, source: str) -> tuple[dict[str, Any], str | None]:
    """The tables, and why the vault may only be read: a newer format's file is data we cannot judge."""
    tables = _parse(text, source)
    section = tables.get("vault")
    newer = section.get("format") if isinstance(section, dict) else None
    if isinstance(newer, bool) or not isinstance(newer, int) or newer <= FORMAT:
        return tables, None
    return tables, f"{source} says format {newer}, this remvault knows up to {FORMAT}: upgrade remvault to write"


def _read(
    tables: Mapping[str, Any], source: str, warnings: list[str], retired: Mapping[str, str], *, is_vault: bool,
    is_lenient: bool = False,
) -> dict[str, Value]:  # fmt: skip
    """One file's values by setting name; `is_lenient` warns of what it would refuse."""
    values: dict[str, Value] = {}
    for name, raw in _leaves(tables):
        if name in retired:
            warnings.append(f"setting {name!r} in {source} is retired and ignored: {retired[name]}")
            continue
        try:
            values[name] = _allowed(name, raw, source, is_vault=is_vault)
        except SettingError as err:
            if not is_lenient:
                raise
            warnings.append(err.message)  # a newer format may well know it
    return values


def _leaves(tables: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Dotted name and raw value of everything in a file; a section of chosen names has one level more."""
    deep = {row.name.split(".")[0] for row in SETTINGS if row.name.count(".") == 2}
    for section, table in tables.items():
        if not isinstance(table, dict):
            yield section, table
            continue
        for key, value in table.items():
            if section in deep and isinstance(value, dict):
                yield from ((f"{section}.{key}.{inner}", raw) for inner, raw in value.items())
            else:
                yield f"{section}.{key}", value


def _allowed(name: str, raw: Any, source: str, *, is_vault: bool) -> Value:
    row = _find_row(name)
    if row is None:
        raise _unknown(name, raw, source)
    if is_vault and row.set_by == "user":
        raise SettingError(name, raw, source, "only your own settings file may set it", hint="move it there")
    if not is_vault and row.set_by == "vault":
        raise SettingError(name, raw, source, "only a vault's remvault.toml may set it", hint="move it there")
    return typed(row, name, raw, source)


def _unknown(name: str, raw: Any, source: str) -> SettingError:
    section = name.split(".")[0]
    sections = {row.name.split(".")[0]: None for row in SETTINGS}
    if "." not in name:
        problem = f"{name!r} stands outside any section" if name not in sections else f"{name!r} is a section"
        return SettingError(name, raw, source, problem, hint="write it as [section] and key = value")
    if section not in sections:
        return SettingError(name, raw, source, f"no section {section!r}", hint=did_you_mean(section, list(sections)))
    known = [*BY_NAME, *(f"rules.{code}" for code in RULES)]
    return SettingError(name, raw, source, "no such setting", hint=did_you_mean(name, known))


def _find_row(name: str) -> Setting | None:
    if name in BY_NAME:
        return BY_NAME[name] if "<" not in name else None
    section, _, rest = name.partition(".")
    if section == "rules":
        return BY_NAME["rules.<RVnnn>"] if rest in RULES else None
    if section == "authors":
        return BY_NAME["authors.<name>"] if rest else None
    chosen, _, key = rest.rpartition(".")
    placeholder = {"projects": "<id>", "providers": "<name>"}.get(section)
    row = BY_NAME.get(f"{section}.{placeholder}.{key}")
    if row is None or (section == "projects" and not PROJECT_ID.match(chosen)):
        return None
    return row


def _row(name: str) -> Setting:
    row = _find_row(name)
    if row is None:
        raise KeyError(name)
    return row


def _environment(environ: Mapping[str, str], warnings: list[str], retired: Mapping[str, str]) -> dict[str, Value]:
    """Values set by variables. An empty variable counts as not set."""
    names = [row.name for row in SETTINGS if row.variable and "<" not in row.name] + [f"rules.{code}" for code in RULES]
    known = {variable_of(name): name for name in names}
    old = {variable_of(name): name for name in retired}
    values: dict[str, Value] = {}
    for variable in sorted(environ):
        short = variable.removeprefix("REMVAULT_")
        if short == variable or short in RESERVED or short.startswith(RESERVED_PREFIX) or not environ[variable]:
            continue
        name = known.get(variable)
        if variable in old:
            warnings.append(f"{variable} is retired and ignored: {retired[old[variable]]}")
        elif short.startswith(("VAULT_", "PROJECTS_", "PROVIDERS_", "AUTHORS_", "EMBEDDINGS_")):
            warnings.append(f"{variable} is ignored: the environment may not set [{short.partition('_')[0].lower()}]")
        elif name is None:
            hint = did_you_mean(variable, [*known, *("REMVAULT_" + one for one in RESERVED)])
            warnings.append(f"{variable} is unknown and ignored" + (f" ({hint})" if hint else ""))
        else:
            values[name] = typed_text(_row(name), name, environ[variable], variable)
    return values


def _switch(environ: Mapping[str, str], variable: str) -> bool:
    value = environ.get(variable) or "0"
    if value not in ("0", "1"):
        raise SettingError(variable, value, "the environment", "expected 1 or 0")
    return value == "1"


# Combining

_Given = tuple[Value, str]  # a value and where it came from


def _combined(row: Setting, told: Sequence[_Given], files: Sequence[_Given]) -> _Given:
    """The one value of a setting, and its origin.

    `told` holds what the option and the environment say, `files` what the vault and the user say, stronger one first.
    """
    if told and told[0][1] == "option":
        return told[0]
    if row.combine == "off":
        return next((one for one in [*told, *files] if one[0] in (False, "off")), [*told, *files][0])
    if row.combine == "stricter":
        return min([*told, *files], key=lambda one: row.choices.index(str(one[0])))
    if told:
        return told[0]
    if row.combine == "smaller":
        return min(files, key=lambda one: one[0] if isinstance(one[0], int | float) else 0)
    if row.combine == "union":
        merged = dict.fromkeys(part for value, _ in files if isinstance(value, tuple) for part in value)
        return tuple(merged), ", ".join(origin for _, origin in files)
    return files[-1] if row.combine == "user" else files[0]


def _opens(row: Setting, name: str, asked: Value, users: Value) -> bool:
    """Whether a vault asks for more than an untrusted one may: a switch on, or a safety rule lowered."""
    if row.set_by != "trusted":
        return False
    if row.kind == "flag":
        return asked is True and users is not True
    code = name.removeprefix("rules.")
    if not code.startswith(("RV4", "RV5")):
        return False
    return LEVELS.index(str(asked)) < LEVELS.index(str(users or RULES[code].severity))


def _untrusted(name: str, value: Value, source: str) -> str:
    return f"setting {name!r} = {shown(value)} in {source} is ignored: set it in your own file, or trust the vault"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(char if char.isprintable() else f"\\U{ord(char):08x}" for char in escaped) + '"'
