"""The failures of operations, in few families.

A problem *in a note* is a value (`domain.problems.Problem`); an operation that cannot be done is one of these. Every
failure carries a message, a hint (what to do next) and its typed facts, so that text, JSON and later MCP say the same.
"""

from __future__ import annotations

from typing import ClassVar


class RemvaultError(Exception):
    """Base of all failures a caller may want to show.

    Subclasses set typed attributes before calling `super().__init__`; `facts()` returns them for JSON.

    Attributes:
        message: one line, lower case, no full stop.
        hint: the next step, or None.
        code: stable snake_case name of the family or the case.
        exit_code: what a command line should exit with.
    """

    code: ClassVar[str] = "failed"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        self.message = message
        self.hint = hint
        super().__init__(message)

    def facts(self) -> dict[str, object]:
        """Return the typed attributes apart from message and hint, JSON-ready, keys in snake_case."""
        return {
            key: value if isinstance(value, (str, int, float, bool, list, type(None))) else str(value)
            for key, value in vars(self).items()
            if key not in ("message", "hint") and not key.startswith("_")
        }


class UserError(RemvaultError):
    """What was asked for cannot be done as asked (nothing found, not allowed, invalid content)."""

    code = "user_error"


class UsageError(UserError):
    """The call itself is wrong: a bad option, value or setting."""

    code = "usage"
    exit_code = 2


class ConflictError(RemvaultError):
    """Somebody else changed what we were about to change; nothing was overwritten."""

    code = "conflict"


class GitError(RemvaultError):
    """Git could not do what was needed; files on disk are whole."""

    code = "git"


class IndexBusy(RemvaultError):
    """Another process writes the text index; the caller may answer from the last generation."""

    code = "index_busy"
