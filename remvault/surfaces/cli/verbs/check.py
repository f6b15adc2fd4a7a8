"""`remvault check`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from remvault.domain.hostile_text import shown
from remvault.domain.problems import Problem
from remvault.surfaces.app import OpenVault
from remvault.surfaces.cli import text
from remvault.surfaces.cli.invocation import DryRun, Json, of


class ReportFormat(StrEnum):
    """How the report is written."""

    text = "text"
    json = "json"
    github = "github"


def verb(
    ctx: typer.Context,
    paths: Annotated[list[Path] | None, typer.Argument(metavar="[PATH...]", help="Report on these only")] = None,
    staged: Annotated[
        bool, typer.Option("--staged", help="Judge the staged notes, and report on those the next commit changes")
    ] = False,
    rev: Annotated[str | None, typer.Option(metavar="REV", help="Judge a commit")] = None,
    code: Annotated[bool, typer.Option("--code", help="Name the memories that rest on the staged code")] = False,
    private: Annotated[bool, typer.Option("--private", help="Judge your local-only notes instead")] = False,
    fix: Annotated[
        bool,
        typer.Option(
            "--fix", help="First repair what is mechanical; only notes that were committed are committed again"
        ),
    ] = False,
    form: Annotated[ReportFormat, typer.Option("--format", help="How the report is written")] = ReportFormat.text,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Validate notes, of every scope for a person or in CI; exits with 1 when there are errors."""
    from remvault.surfaces import upkeep

    run = of(ctx)
    vault = run.open(as_json or form is ReportFormat.json)
    report = upkeep.check(
        vault, paths or (), staged=staged, rev=rev, code=code, private=private, fix=fix, dry_run=dry_run
    )
    for written in report.fixed:
        run.screen.say(f"{'would fix' if dry_run else 'fixed'} {written.path}")

    def as_text() -> str:
        if form is ReportFormat.github:
            return "\n".join(_annotation(vault, one) for one in report.problems)
        lines = [text.problem_line(one, run.screen, _from_here(vault, one.path)) for one in report.problems]
        found = f"{text.count(report.errors, 'error')}, {text.count(report.warnings, 'warning')}"
        if report.unchecked:
            found += f"; {text.count(report.unchecked, 'anchor')} not checked: the code is not at hand here"
        return "\n".join([*lines, f"{text.count(report.notes, 'note')} checked: {found}"])

    run.screen.answer(report.answer(), as_text)
    if report.errors:
        raise typer.Exit(1)


def _from_here(vault: OpenVault, path: str) -> str:
    """Relative to the current folder when below it, else to the vault."""
    place = vault.root / path
    cwd = vault.surroundings.cwd
    return place.relative_to(cwd).as_posix() if path and place.is_relative_to(cwd) else path


def _annotation(vault: OpenVault, problem: Problem) -> str:
    """A GitHub workflow command, relative to the repository; `%`, line breaks and commas are escaped as it asks."""
    kind = {"error": "error", "warning": "warning", "info": "notice"}[problem.severity]
    path = f"{vault.prefix}{problem.path}".rstrip("/")
    message = _escaped(f"{problem.message}" + (f" ({problem.hint})" if problem.hint else ""))
    line = f",line={problem.line}" if problem.line else ""
    return f"::{kind} file={_escaped(path, in_property=True)}{line},title={problem.code}::{message}"


def _escaped(message: str, *, in_property: bool = False) -> str:
    message = shown(message).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return message.replace(":", "%3A").replace(",", "%2C") if in_property else message
