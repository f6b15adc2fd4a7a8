"""Who a commit is by: the person's identity as git itself resolves it.

Owns: the order environment, then settings; the moment of a commit.
Leaves alone: who acted on the vault (the `Remvault-Actor` trailer).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from remvault.errors import GitError
from remvault.store.work_tree import run_git

_HINT = 'git config --global user.name "Your Name" && git config --global user.email you@example.org'
# What git cuts from both ends of a name or address, and what it drops anywhere.
_CRUD = "".join(map(chr, range(33))) + ".,:;<>\"\\'"


class IdentityMissing(GitError):
    """Git has no name or no e-mail address for the person; no identity is made up."""

    code = "identity_missing"

    def __init__(self, missing: str) -> None:
        self.missing = missing
        super().__init__(f"git has no {missing} for you", hint=f"run: {_HINT}")


@dataclass(frozen=True, slots=True)
class Person:
    """One of the two sides of a commit."""

    name: str
    email: str
    time_s: int  # since 1970, UTC
    offset_min: int  # of local time from UTC

    def as_environment(self, side: str) -> dict[str, str]:
        """The variables that make git use exactly this; `side` is AUTHOR or COMMITTER."""
        return {
            f"GIT_{side}_NAME": self.name,
            f"GIT_{side}_EMAIL": self.email,
            f"GIT_{side}_DATE": f"@{self.time_s} {self._zone()}",
        }

    def as_line(self) -> str:
        """As git writes it into commits and reflogs."""
        return f"{self.name} <{self.email}> {self.time_s} {self._zone()}"

    def _zone(self) -> str:
        sign, offset = "-" if self.offset_min < 0 else "+", abs(self.offset_min)
        return f"{sign}{offset // 60:02d}{offset % 60:02d}"


@dataclass(frozen=True, slots=True)
class Identity:
    """Author and committer."""

    author: Person
    committer: Person


def resolve_identity(environ: Mapping[str, str], config: Mapping[str, str], now: datetime, root: Path) -> Identity:
    """Resolve both sides: `GIT_AUTHOR_*` and `GIT_COMMITTER_*`, then `author.*`/`committer.*`, `user.*`, `EMAIL`.

    An empty value counts as missing. Nothing is guessed from the login or host name, as git would with a warning.

    Args:
        environ: the process environment.
        config: as `work_tree.git_config` returns it.
        now: aware; its offset becomes the commit's.
        root: a folder of the repository, where git is asked when a date is given by variable.

    Raises:
        IdentityMissing: a name or an address is missing.
    """
    return Identity(*(_resolve(side, environ, config, now, root) for side in ("author", "committer")))


def _resolve(side: str, environ: Mapping[str, str], config: Mapping[str, str], now: datetime, root: Path) -> Person:
    variables = f"GIT_{side.upper()}"
    name = _first(environ.get(f"{variables}_NAME"), config.get(f"{side}.name"), config.get("user.name"))
    email = _first(
        environ.get(f"{variables}_EMAIL"), config.get(f"{side}.email"), config.get("user.email"), environ.get("EMAIL")
    )
    if not name:
        raise IdentityMissing("name")
    if not email:
        raise IdentityMissing("e-mail address")
    if environ.get(f"{variables}_DATE"):
        time_s, offset_min = _asked_of_git(variables, Person(name, email, 0, 0), environ, root)
        return Person(name, email, time_s, offset_min)
    offset = now.utcoffset() or timedelta()
    return Person(name, email, int(now.timestamp()), int(offset.total_seconds() // 60))


def _first(*values: str | None) -> str:
    """The first value that is set, as clean as git would store it; a set but empty one counts, as for git."""
    value = next((value for value in values if value is not None), "")
    return "".join(char for char in value.strip(_CRUD) if char not in "<>\n\0")


def _asked_of_git(variables: str, person: Person, environ: Mapping[str, str], root: Path) -> tuple[int, int]:
    """Let git read its many date formats."""
    sides = {f"{variables}_NAME": person.name, f"{variables}_EMAIL": person.email}
    said = run_git(root, ["var", f"{variables}_IDENT"], environ, extra=sides).stdout.decode("utf-8", "replace")
    match = re.search(r"> (\d+) ([+-])(\d\d)(\d\d)\s*\Z", said)
    if match is None:
        raise GitError(f"{variables}_DATE cannot be read: {environ[f'{variables}_DATE']!r}")
    minutes = int(match[3]) * 60 + int(match[4])
    return int(match[1]), -minutes if match[2] == "-" else minutes
