"""Problems found in notes: values, never exceptions; and the catalogue of what can be found.

A rule's code, default severity and explanation stand in `RULES`; the functions that find problems are `domain.note`
(reading), `domain.rules` (fields and graph) and `store.checking` (files).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding about one note or about the vault.

    Codes: RV1xx note, RV2xx links and chain, RV3xx anchors, RV4xx scope and provenance, RV5xx secrets and hostile text,
    RV6xx vault and git.
    """

    code: str
    severity: Severity
    path: str  # relative to the vault, with "/"; "" for the vault itself
    line: int | None  # 1-based line in the file, None when the whole file is meant
    message: str  # lower case, no full stop
    hint: str | None = None  # what to do next
    fixable: bool = False  # `check --fix` knows a mechanical repair

    def sort_key(self) -> tuple[str, int, str, str]:
        """Order for reports: by path, then line, then code."""
        return (self.path, self.line or 0, self.code, self.message)


@dataclass(frozen=True, slots=True)
class Rule:
    """What a code means: its default severity, a title and why it matters."""

    code: str
    severity: Severity
    title: str
    why: str


RULES: dict[str, Rule] = {
    rule.code: rule
    for rule in (
        Rule(
            "RV100",
            "error",
            "no frontmatter",
            "A file without a block has no id, scope or source, so nobody may be shown it as a memory.",
        ),
        Rule(
            "RV101",
            "error",
            "frontmatter unreadable",
            "The block is not YAML, not closed, or uses aliases, tags or nesting that notes do not need.",
        ),
        Rule(
            "RV102",
            "error",
            "value not allowed",
            "A field holds a value outside its list or of the wrong shape; guessing what was meant could show"
            " the note to the wrong reader.",
        ),
        Rule(
            "RV103",
            "error",
            "repeated key",
            "YAML readers silently take the first or the last of two equal keys; which one was meant is for a"
            " person to say.",
        ),
        Rule("RV104", "error", "required field missing", "Every memory needs id, title, type and freshness."),
        Rule(
            "RV105",
            "error",
            "duplicate id",
            "Two notes with one id cannot be told apart by links; one is usually a copy, by hand or by a sync tool, and"
            " is never surfaced.",
        ),
        Rule(
            "RV106",
            "error",
            "not a date or time",
            "Times are RFC 3339 dates or times, so that all of them compare on one scale.",
        ),
        Rule(
            "RV107",
            "warning",
            "temporary without end",
            "A temporary note needs `expires`, or it never stops being surfaced.",
        ),
        Rule(
            "RV108",
            "warning",
            "look-alike key",
            "A key that is nearly one of ours is probably a slip, and is kept but not read.",
        ),
        Rule("RV109", "error", "not UTF-8", "Bytes that are not UTF-8 are never rewritten and may hide anything."),
        Rule("RV110", "warning", "note too long", "Only the first MiB of a note is read."),
        Rule(
            "RV111",
            "error",
            "in conflict",
            "Merge markers stand in the frontmatter; until a side is chosen nobody is shown either.",
        ),
        Rule(
            "RV112",
            "warning",
            "file names clash",
            "Names that differ only in letter case or accent composition are one file on other systems.",
        ),
        Rule(
            "RV201",
            "error",
            "supersedes nothing",
            "`supersedes` names an id that no note has, so the chain ends in the air.",
        ),
        Rule(
            "RV202",
            "error",
            "supersession cycle",
            "Notes that supersede each other in a circle have no head; the links have no effect.",
        ),
        Rule(
            "RV203",
            "warning",
            "one-sided supersession",
            "The older note does not carry the mark that tells a person who opens it; the newer note's link "
            "decides all the same.",
        ),
        Rule(
            "RV204",
            "error",
            "supersession without effect",
            "A memory is superseded only by a valid, active one of the same owner or a wider scope.",
        ),
        Rule(
            "RV205",
            "warning",
            "contest",
            "Two notes supersede one memory independently; both are shown until somebody resolves it.",
        ),
        Rule(
            "RV206",
            "warning",
            "superseded-by disagrees",
            "`superseded-by` names a note that is missing or does not supersede this one.",
        ),
        Rule(
            "RV301",
            "error",
            "anchor not allowed",
            "An anchor is a relative path inside the code root, with an optional #symbol or #L10-L20.",
        ),
        Rule(
            "RV302",
            "error",
            "too many anchors",
            "A memory about more than a handful of places is about none of them.",
        ),
        Rule(
            "RV303",
            "error",
            "anchor without code",
            "What is true of many repositories has no code root: a path would mean another file for each reader.",
        ),
        Rule(
            "RV304",
            "warning",
            "anchored code is gone",
            "The memory is about a file or symbol that is not there any more; it is not surfaced by itself.",
        ),
        Rule(
            "RV305",
            "warning",
            "anchored code changed",
            "What the memory says of the code may not hold any more; only a reader of both can tell.",
        ),
        Rule(
            "RV306",
            "info",
            "anchored code moved",
            "The same code is elsewhere: the memory holds, only its path does not.",
        ),
        Rule(
            "RV307",
            "info",
            "anchor without digest",
            "Until its digest is taken, nothing tells whether the code an anchor names has changed.",
        ),
        Rule(
            "RV308",
            "info",
            "anchor not checked",
            "Its digest is of another recipe, or what it points at cannot be read here, so its state is not known.",
        ),
        Rule(
            "RV309",
            "warning",
            "code commit touches a memory",
            "Who changes the code knows best whether what is remembered of it still holds.",
        ),
        Rule("RV401", "error", "scope missing", "Without a scope nobody may be shown the memory."),
        Rule(
            "RV402",
            "error",
            "scope-id missing",
            "A scope other than global needs its owner: without it the boundary does not hold.",
        ),
        Rule(
            "RV403",
            "error",
            "provenance missing",
            "A memory that cannot say where it came from cannot be trusted or checked.",
        ),
        Rule("RV404", "error", "provenance without source", "At least one provenance entry needs a `source`."),
        Rule(
            "RV405",
            "error",
            "scope-id not valid",
            "An id that no context can have makes a memory nobody sees; a global memory has none, and an id beside it "
            "says that another scope was meant.",
        ),
        Rule(
            "RV406",
            "warning",
            "folder disagrees with scope",
            "The frontmatter decides, but a reader who browses folders is misled.",
        ),
        Rule(
            "RV407",
            "error",
            "local-only outside private/",
            "A local-only note in a folder that git tracks would be published by the next commit.",
        ),
        Rule(
            "RV601",
            "warning",
            "file skipped",
            "Links, devices, nested repositories and unreadable files are never followed or read.",
        ),
        Rule(
            "RV602",
            "error",
            "vault not versioned",
            "Notes that git ignores have no history and reach no other machine.",
        ),
        Rule(
            "RV603",
            "error",
            "private/ not ignored",
            "Local-only notes that git does not ignore are published by the next `git add` of the folder.",
        ),
        Rule(
            "RV604",
            "error",
            "synonyms unusable",
            "`synonyms.toml` holds groups of terms that can stand for each other; one that is not understood would open"
            " or close answers by accident, so none of it holds.",
        ),
    )
}


def problem(
    code: str, path: str, line: int | None, message: str, hint: str | None = None, *, fixable: bool = False
) -> Problem:
    """Make a problem with its rule's default severity."""
    return Problem(code, RULES[code].severity, path, line, message, hint, fixable)


def shown(text: str) -> str:
    """Quote text for a message; of long text only the start, so that no value floods a report."""
    return repr(text if len(text) <= 60 else text[:60] + "…")


def with_severities(problems: Iterable[Problem], overrides: Mapping[str, str]) -> list[Problem]:
    """Apply a vault's `[rules]`: another severity, or "off" to leave a problem out. Order is kept."""
    changed = []
    for found in problems:
        severity = overrides.get(found.code, found.severity)
        if severity == "off":
            continue
        changed.append(replace(found, severity=severity) if severity in SEVERITIES else found)
    return changed


def has_errors(problems: Iterable[Problem]) -> bool:
    """Say whether any of the problems is an error."""
    return any(found.severity == "error" for found in problems)
