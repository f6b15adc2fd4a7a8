"""One run of the command line: its global options, and the vault opened by them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from remvault.surfaces.cli.screen import Screen

if TYPE_CHECKING:
    from remvault.surfaces.app import OpenVault, Surroundings

# Options that many verbs share, written once.
Json = Annotated[bool, typer.Option("--json", help="Answer with one JSON object")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be written, write nothing")]
AsOf = Annotated[
    str | None, typer.Option("--as-of", metavar="REV|DATE", help="In the vault as it was at a revision, date or time")
]
Files = Annotated[
    list[str] | None,
    typer.Option("--file", metavar="PATH", help="A file of the code, to find what is anchored to it; repeatable"),
]
NoInfer = Annotated[
    list[str] | None, typer.Option("--no-infer", metavar="TERM", help="What must not be concluded again, repeatable")
]
Private = Annotated[bool, typer.Option("--private", help="Look among the local-only notes; for a person only")]
Reason = Annotated[str | None, typer.Option(metavar="TEXT", help="Why; becomes the body of the commit message")]


@dataclass(slots=True)
class Invocation:
    """What the global options said."""

    screen: Screen
    surroundings: Surroundings
    vault: str | None = None
    contexts: Sequence[str] = field(default_factory=tuple)
    actor: str | None = None

    @classmethod
    def of_process(cls, screen: Screen) -> Invocation:
        """An invocation in this process's own surroundings."""
        from remvault.surfaces.app import Surroundings

        return cls(screen, Surroundings.of_process())

    def open(self, as_json: bool = False, **options: str) -> OpenVault:
        """Open the vault that the options, the environment or the current folder name.

        `options` are settings given as options of the verb, by name.
        """
        from remvault.surfaces.app import open_vault

        self.screen.as_json = self.screen.as_json or as_json
        opened = open_vault(
            self.vault,
            context=self.contexts,
            actor=self.actor,
            surroundings=self.surroundings,
            options=options,
            progress=self._progress if not self.screen.quiet and self.screen.err.isatty() else None,
        )
        for warning in opened.settings.warnings:
            self.screen.say(warning)
        return opened

    def tell(self, notices: Sequence[str]) -> None:
        """Pass on what a read had to say about the index or about broken notes."""
        for notice in notices:
            self.screen.say(notice)

    def _progress(self, done: int, total: int) -> None:
        width = 30
        filled = width * done // max(total, 1)
        bar = "#" * filled + "." * (width - filled)
        end = "\r\x1b[K" if done >= total else ""
        self.screen.err.write(f"\rindexing [{bar}] {done:,}/{total:,}{end}")
        self.screen.err.flush()


def of(ctx: typer.Context) -> Invocation:
    """The invocation that a verb runs in."""
    found: Any = ctx.find_root().obj
    assert isinstance(found, Invocation)
    return found


def read_text(text: str) -> str:
    """An argument's text, or standard input's for `-`.

    Raises:
        UsageError: when standard input is not UTF-8.
    """
    import sys

    from remvault.errors import UsageError

    if text != "-":
        return text
    data = sys.stdin.buffer.read() if hasattr(sys.stdin, "buffer") else sys.stdin.read().encode()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as err:
        raise UsageError("standard input is not UTF-8 text") from err


def complete_ids(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Offer the ids that this context may see. Completion never fails and never writes."""
    from remvault.errors import RemvaultError

    try:
        root = ctx.find_root()
        invocation = Invocation.of_process(Screen.of_process())
        invocation.vault = root.params.get("vault") or os.environ.get("REMVAULT_VAULT")
        invocation.contexts = root.params.get("context") or ()
        invocation.actor = root.params.get("actor")
        from remvault.surfaces.reading import completions

        return completions(invocation.open(), incomplete)
    except (RemvaultError, OSError):
        return []


MemoryName = Annotated[
    str, typer.Argument(metavar="ID", help="Id, its beginning, path or title", autocompletion=complete_ids)
]
