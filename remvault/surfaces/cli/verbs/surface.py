"""`remvault surface`."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from remvault.errors import UsageError
from remvault.surfaces.cli.invocation import AsOf, Files, Json, of, read_text

if TYPE_CHECKING:
    from remvault.retrieval.surfacing import Surfaced


class BlockFormat(StrEnum):
    """How the block is written."""

    xml = "xml"
    md = "md"
    json = "json"


def explained(surfaced: Surfaced) -> list[str]:
    """Why the block is as it is: the gate, each memory in it, each left out."""
    gate = surfaced.gate
    lines = (
        []
        if gate is None
        else [f"gate {'open' if gate.is_open else 'closed'}: {gate.score:.2f}, from {gate.threshold:.2f}"]
    )
    lines += [
        f"{one.part}: {one.item.id} ({one.chars} characters): {'; '.join(one.item.reasons)}"
        for one in surfaced.packed.items
    ]
    return [*lines, *(f"{memory_id} left out: {why}" for memory_id, why in surfaced.packed.left_out)]


def verb(
    ctx: typer.Context,
    prompt: Annotated[
        str | None,
        typer.Argument(
            metavar="PROMPT",
            help="The prompt to find memories for; '-' reads standard input; may be missing with --file",
        ),
    ] = None,
    budget_chars: Annotated[int | None, typer.Option(min=1, help="Characters the block may have")] = None,
    budget_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens, estimated at 3 characters each")] = None,
    form: Annotated[BlockFormat, typer.Option("--format", help="How the block is written")] = BlockFormat.xml,
    files: Files = None,
    again: Annotated[bool, typer.Option("--again", help="Show once more what this session was shown already")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say why each memory is there, or was left out")] = False,
    as_of: AsOf = None,
    as_json: Json = False,
) -> None:
    """Show the memories that matter for a prompt, as one bounded block."""
    from remvault.surfaces import fusing

    run = of(ctx)
    vault = run.open(as_json)
    if prompt is None and not files:
        raise UsageError("no prompt", hint="give the prompt, or a file of the code with --file")
    surfaced = fusing.surface_all(
        vault,
        "" if prompt is None else read_text(prompt),
        budget_chars=budget_chars,
        budget_tokens=budget_tokens,
        form=form.value,
        files=files or (),
        as_of=as_of,
        again=again,
    )
    run.tell(surfaced.notices)
    if not surfaced.packed.items:
        left = len(surfaced.packed.left_out)
        run.screen.say(f"{left} matched, none is shown (--explain says why)" if left else "nothing worth showing")
    run.screen.answer(surfaced.answer(), lambda: surfaced.block)
    if explain:
        for line in explained(surfaced):
            run.screen.say(line)
