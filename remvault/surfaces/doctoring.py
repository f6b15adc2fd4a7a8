"""`doctor`: how the vault itself is, each finding with a next step; `--fix` does the mechanical ones.

Owns: what waits, what is left over, what has run out, what this installation lacks.
Leaves alone: the notes' own rules (`check`) and tampering (`verify`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from remvault.domain.hostile_text import one_line
from remvault.domain.problems import Problem, Rule
from remvault.retrieval.view import View
from remvault.store import correcting
from remvault.store.checking import name_clashes
from remvault.store.feedback import read_feedback
from remvault.store.git_hooks import state as hook_state
from remvault.surfaces.app import OpenVault

# Kept out of the vault's `[rules]`: this is about the vault and this machine, not about what somebody wrote.
DOCTOR_RULES: dict[str, Rule] = {
    rule.code: rule
    for rule in (
        Rule("RV620", "info", "expired", "Past its time it is not surfaced; nothing is deleted by age."),
        Rule("RV621", "info", "not committed", "What is on this disk only has no history."),
        Rule("RV622", "warning", "waits for its commit", "Git was busy when this was saved."),
        Rule("RV623", "warning", "torn state file", "It is kept under another name, never taken for empty."),
        Rule("RV624", "info", "slow YAML", "Without libyaml notes are read seven times slower."),
        Rule("RV625", "warning", "unreadable ledger line", "A line of the ledger is not one of ours and is skipped."),
        Rule("RV626", "info", "no commit hook", "Without it a commit made by hand is not checked."),
        Rule("RV627", "warning", "names clash", "Where letter case does not count these are one file."),
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was found, and what `--fix` did about it."""

    findings: tuple[Problem, ...]
    fixed: tuple[str, ...] = ()

    @property
    def is_ok(self) -> bool:
        """Whether nothing needs anybody."""
        return not any(one.severity == "error" for one in self.findings)

    def answer(self) -> dict[str, Any]:
        """The findings as JSON has them."""
        keys = ("code", "severity", "message", "hint", "fixable")
        found = [{key: getattr(one, key) for key in keys} for one in self.findings]
        return {"findings": found, "ok": self.is_ok, "fixed": list(self.fixed)}


def doctor(vault: OpenVault, *, fix: bool = False, dry_run: bool = False) -> Diagnosis:
    """Look the vault over.

    Args:
        fix: archive expired temporary notes and commit what waits; repeatable.
        dry_run: with `fix`, only say what would be done.
    """
    fixed: list[str] = []
    if fix:
        view = vault.view()
        for row in [row for row in view.visible() if view.stage(row) == "expired" and row.is_valid]:
            correcting.archive(vault.vault, row.path, vault.act(reason="expired", dry_run=dry_run))
            fixed.append(f"archived {row.id}")
        if not dry_run:
            fixed += [f"committed {one.commit[:10]}" for one in vault.ledger.settle() if one.commit]
    view = vault.view()
    found = [*_notes(view), *_waiting(vault, view), *_machine(vault)]
    order = {"error": 0, "warning": 1, "info": 2}
    return Diagnosis(tuple(sorted(found, key=lambda one: (order[one.severity], one.code, one.message))), tuple(fixed))


def _notes(view: View) -> Iterator[Problem]:
    rows = list(view.visible())
    for row in rows:
        if view.stage(row) == "expired":
            hint = "'remvault doctor --fix' archives it, or give it another 'expires'"
            yield _finding("RV620", f"{row.id} expired {row.expires}", hint, fixable=row.is_valid)
        if not row.is_committed:
            yield _finding("RV621", f"{row.path} is not committed as it is", "commit it when it is ready")
    for clash in name_clashes(row.path for row in rows):
        yield _finding("RV627", f"{clash.path}: {clash.message}", clash.hint)


def _waiting(vault: OpenVault, view: View) -> Iterator[Problem]:
    for one in vault.ledger.pending():
        if one.operation.scope is None or one.operation.scope in view.owners:
            what = f"{one.operation.op} {', '.join(one.operation.ids)}".strip()
            yield _finding(
                "RV622", f"{what} waits: {one.why or 'the write was cut short'}", "run 'remvault status'", fixable=True
            )
    for path in vault.ledger.set_aside():
        yield _finding("RV623", f"a state file was cut short and is kept as {path}", "look at it, then remove it")
    for line in read_feedback(vault.root)[1]:
        yield _finding("RV625", line, "mend or remove the line")


def _machine(vault: OpenVault) -> Iterator[Problem]:
    import yaml

    if not hasattr(yaml, "CBaseLoader"):
        yield _finding("RV624", "PyYAML was built without libyaml", "install a PyYAML wheel")
    if vault.work_tree is not None and hook_state(vault.work_tree, vault.surroundings.environ).kind != "installed":
        yield _finding("RV626", "the pre-commit hook is not installed", "run 'remvault hooks install'")


def _finding(code: str, message: str, hint: str | None, *, fixable: bool = False) -> Problem:
    return Problem(code, DOCTOR_RULES[code].severity, "", None, one_line(message), hint, fixable)
