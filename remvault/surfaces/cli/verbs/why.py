"""`remvault why`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from remvault.domain.hostile_text import one_line
from remvault.surfaces.cli import text
from remvault.surfaces.cli.explained import WIDTH, explanation_lines, gate_line
from remvault.surfaces.cli.invocation import Json, MemoryName, of, read_text

_INDENT = 4


def verb(
    ctx: typer.Context,
    name: MemoryName,
    query: Annotated[
        str | None, typer.Argument(metavar="[QUERY]", help="Also how it scores for this; '-' reads standard input")
    ] = None,
    as_json: Json = False,
) -> None:
    """Explain a memory: where from, who changed it, what replaced it, what speaks against it, how it scores."""
    from remvault.surfaces import explaining

    run = of(ctx)
    found = explaining.why(run.open(as_json), name, None if query is None else read_text(query))
    answer = found.answer()

    def as_text() -> str:
        lines = [text.memory_line(found.memory, run.screen, found.labels)]
        for heading, told in _sections(answer):
            listed = [" " * _INDENT + one_line(line) for line in told]
            if listed:
                lines += [run.screen.style(heading, "bold"), *listed]
        return "\n".join(lines)

    run.screen.answer(answer, as_text)


def _sections(answer: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    memory, links = answer["memory"], answer["links"]
    yield "where from", [_named(one) for one in memory["provenance"]]
    yield "who wrote and changed it", [_entry(one) for one in answer["history"]]
    if len(answer["chain"]) > 1:
        yield "chain, oldest first", [_link_in_chain(one) for one in answer["chain"]]
    yield "links out", [f"{one['type']} {one['id'] or one['target']}{_title(one)}" for one in links["out"]]
    yield "links in", [f"{one['id']}{_title(one)} {one['type']} this" for one in links["in"]]
    yield "anchors", [text.anchor_text(one) for one in memory["anchors"]]
    yield "conflicts", [f"{one['kind']} of {', '.join(one['ids'])}: {one['detail']}" for one in answer["conflicts"]]
    yield "feedback", _feedback(answer["feedback"])
    times = text.count(answer["times_surfaced"], "time")
    yield f"surfaced {times}, last", [_named(one) for one in answer["surfaced"]]
    if answer["activation"]:
        yield "recalled on purpose", [f"activation {answer['activation']:.3f}, which fades and hides nothing"]
    if answer["score"] is not None:
        yield f"for the query {answer['score']['query']!r}", _score(answer["score"])


def _entry(one: Mapping[str, Any]) -> str:
    reason = f": {one['reason']}" if one["reason"] else ""
    signature = f", signature {one['signature']}" if one["signature"] else ""
    author = "" if one["actor"] == f"user:{one['author']}" else f", commit by {one['author']}"
    return f"{one['commit'][:10]}  {one['op']} by {one['actor']}, {one['time']}{author}{signature}{reason}"


def _link_in_chain(one: Mapping[str, Any]) -> str:
    return f"{one['id']}{_title(one)}, {one['stage']}{' (holds today)' if one['head'] else ''}"


def _feedback(found: Mapping[str, Any]) -> list[str]:
    return [_named(one) for one in found["lines"]]


def _score(score: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    if score["explanation"] is not None:
        lines += [*score["reasons"], *explanation_lines(score["explanation"], indent=2, width=WIDTH - _INDENT)]
    if score["rank"] is not None:
        lines.append(f"a search puts it at place {score['rank']}")
    return [*lines, *score["why_not"], gate_line(score["gate"], score["dropped"], width=WIDTH - _INDENT)]


def _named(one: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in one.items() if value not in (None, [], {}, ""))


def _title(one: Mapping[str, Any]) -> str:
    return f" ({one['title']})" if one.get("title") else ""
