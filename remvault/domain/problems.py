"""Problems found in notes: values, never exceptions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
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


def has_errors(problems: Iterable[Problem]) -> bool:
    """Say whether any of the problems is an error."""
    return any(problem.severity == "error" for problem in problems)
