"""`remvault status`."""

from __future__ import annotations

import typer

from remvault.domain.hostile_text import one_line
from remvault.store.watch_post import WatcherSeen
from remvault.surfaces.cli import text
from remvault.surfaces.cli.invocation import Json, of


def verb(ctx: typer.Context, as_json: Json = False) -> None:
    """Show how the vault stands, and commit what was saved but could not be committed."""
    from remvault.surfaces import standing

    run = of(ctx)
    vault = run.open(as_json)
    found = standing.status(vault)
    run.tell(found.notices)

    def as_text() -> str:
        rows = [
            ("vault", str(found.vault)),
            ("notes", f"{found.notes:,} in this context"),
            ("index", f"generation {found.generation}" + (", answering from the last one" if found.is_stale else "")),
            ("watcher", _watcher_text(found.watcher)),
            ("problems", f"{text.count(found.errors, 'error')}, {text.count(found.warnings, 'warning')}"),
            ("commits", vault.settings.text("git.commit") or "auto"),
        ]
        lines = [text.columns((run.screen.style(key.ljust(9), "dim"), one_line(value)) for key, value in rows)]
        lines += [f"committed {outcome.commit[:10]}" for outcome in found.settled if outcome.commit]
        lines += [f"uncommitted  {one_line(path)}" for path in found.uncommitted]
        lines += [f"deleted, not committed  {one_line(path)}" for path in found.deleted]
        lines += [one_line(f"pending  {one['op']} {', '.join(one['paths'])}: {one['why']}") for one in found.pending]
        return "\n".join(lines)

    run.screen.answer(found.answer(), as_text)


def _watcher_text(seen: WatcherSeen) -> str:
    if not seen.is_alive:
        return "none"
    return f"process {seen.pid}, by {seen.mode}" + (f" ({seen.detail})" if seen.detail else "")
