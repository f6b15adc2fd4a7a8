"""`remvault stale`."""

from __future__ import annotations

from collections.abc import Iterator

import typer

from remvault.domain.hostile_text import one_line
from remvault.surfaces.cli import text
from remvault.surfaces.cli.invocation import Json, of
from remvault.surfaces.cli.screen import Screen
from remvault.surfaces.staleness import REASONS, Change, Reason, StaleMemory

# Headings with their colours; severities as `check` has them would call a drift a warning too.
_HEADINGS: dict[Reason, tuple[str, str]] = {
    "broken": ("code is gone", "red"),
    "drifted": ("code changed", "yellow"),
    "unsound": ("rests on a retracted memory", "yellow"),
    "marked": ("marked stale", "cyan"),
}
_COMMITS_SHOWN = 5  # of one anchor; JSON has them all
_DIFF_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def verb(ctx: typer.Context, as_json: Json = False) -> None:
    """List memories that want another look: code changed or gone, marked stale, or resting on a retracted one."""
    from remvault.surfaces import staleness

    run = of(ctx)
    found = staleness.stale(run.open(as_json))
    run.tell(found.notices)
    if not found.memories:
        run.screen.say("nothing is stale")

    def as_text() -> str:
        groups = []
        for reason in REASONS:
            members = [one for one in found.memories if reason in one.reasons]
            if members:
                heading, colour = _HEADINGS[reason]
                lines = [
                    run.screen.style(f"{heading}: {text.count(len(members), 'memory', 'memories')}", "bold", colour)
                ]
                lines += [line for one in members for line in _lines(one, reason, run.screen)]
                groups.append("\n".join(lines))
        return "\n\n".join(groups)

    run.screen.answer(found.answer(), as_text)
    if found.memories and not run.screen.as_json:
        run.screen.say("what still holds: 'remvault confirm ID'; what does not: 'remvault supersede ID TITLE'")
    proposals = [one for memory in found.memories for one in memory.memory["anchors"] if one["state"] == "broken"]
    if any(one["now_at"] for one in proposals) and not run.screen.as_json:
        run.screen.say("'remvault check --fix' takes the new place that is proposed for code that is gone")


def _lines(one: StaleMemory, reason: Reason, screen: Screen) -> Iterator[str]:
    # The heading and the lines below say what the code did.
    labels = [label for label in one.labels if not label.startswith("code ")]
    yield text.memory_line(one.memory, screen, labels)
    if reason == "broken":
        for anchor in one.memory["anchors"]:
            if anchor["state"] == "broken":
                yield f"    {one_line(text.anchor_text(anchor))}"
    if reason == "drifted":
        for change in one.changes:
            yield f"    {screen.style(one_line(change.at), 'bold')}"
            yield from (f"        {line}" for line in _since(change, screen))


def _since(change: Change, screen: Screen) -> Iterator[str]:
    """The commits, newest first, then the difference."""
    commits, total = change.since.commits, change.since.total
    for commit in commits[:_COMMITS_SHOWN]:
        about = screen.style(one_line(f"{commit.time.date()}, {commit.author}"), "dim")
        yield f"{screen.style(commit.id[:10], 'yellow')}  {one_line(commit.subject)}  {about}"
    more = (total or 0) - len(commits[:_COMMITS_SHOWN])
    if more > 0:
        yield screen.style(f"and {text.count(more, 'commit')} before", "dim")
    if total == 0:
        yield screen.style("not committed yet", "dim")
    if total is None:
        yield screen.style("since when is not known: the commit of the anchor is not in this clone", "dim")
    for line in change.since.diff.splitlines():
        colour = _DIFF_COLOURS.get(line[:1])
        shown = one_line(line)
        yield screen.style(shown, colour) if colour else shown
