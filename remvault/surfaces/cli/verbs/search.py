"""`remvault search`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from remvault.errors import UsageError
from remvault.surfaces.cli import text
from remvault.surfaces.cli.explained import gate_line
from remvault.surfaces.cli.invocation import AsOf, Files, Json, of, read_text


def verb(
    ctx: typer.Context,
    query: Annotated[
        str | None,
        typer.Argument(
            metavar="QUERY",
            help="What to look for, as plain text; '-' reads standard input; may be missing with --file",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("-n", "--limit", min=1, help="Hits at most (default: the setting)")
    ] = None,
    types: Annotated[list[str] | None, typer.Option("--type", help="Only this type, repeatable")] = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", help="Only with this tag, repeatable")] = None,
    status: Annotated[
        str, typer.Option(help="active, candidate, retracted, superseded, archived or expired")
    ] = "active",
    all_terms: Annotated[bool, typer.Option("--all-terms", help="Every word must be there as a whole word")] = False,
    literal: Annotated[bool, typer.Option("--literal", help="The text must be there as typed, ignoring case")] = False,
    files: Files = None,
    private: Annotated[bool, typer.Option("--private", help="Look among local-only notes too")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show what made each score, and the gate")] = False,
    as_of: AsOf = None,
    as_json: Json = False,
) -> None:
    """Find the memories that answer a query, within the active context."""
    from remvault.surfaces import fusing, reading

    run = of(ctx)
    vault = run.open(as_json)
    if query is None and not files:
        raise UsageError("no query", hint="name words to look for, or a file of the code with --file")
    words = "" if query is None else read_text(query)
    if private and as_of is not None:
        raise UsageError("--private and --as-of go alone", hint="local-only notes have no history")
    hidden = reading.search_private(vault, words) if private else []
    found = fusing.search_all(
        vault,
        words,
        limit=limit,
        status=status,  # type: ignore[arg-type]
        types=types or (),
        tags=tags or (),
        all_terms=all_terms,
        literal=literal,
        files=files or (),
        as_of=as_of,
    )
    run.tell(found.notices)
    if explain:  # which loads what a plain search has no need of
        from remvault.surfaces.explaining import explained

        answer = explained(found)
    else:
        answer = found.answer()
    if private:
        answer["private"] = hidden

    def as_text() -> str:
        hits: list[dict[str, Any]] = answer["hits"]
        blocks = [text.hit_lines(hit, run.screen, explain=explain) for hit in hits]
        blocks += [text.memory_line(memory, run.screen, ["local-only"]) for memory in hidden]
        if explain and words.strip():
            blocks.append(gate_line(answer["gate"], answer["dropped"]))
        return "\n".join(blocks)

    if not answer["hits"] and not hidden:
        where = ", ".join(sorted(vault.context.owners())).replace("global:", "global")
        what = f"nothing anchored to {' or '.join(files)} found" if files else "nothing found"
        run.screen.say(f"{what} in {where}")
    if found.dropped:
        run.screen.detail(f"too common to search for: {', '.join(found.dropped)}")
    run.screen.answer(answer, as_text)
