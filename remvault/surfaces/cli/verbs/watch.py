"""`remvault watch`."""

from __future__ import annotations

import signal
from typing import Annotated, Any

import typer

from remvault.domain.hostile_text import one_line
from remvault.surfaces.cli import text
from remvault.surfaces.cli.invocation import Json, of


def verb(
    ctx: typer.Context,
    once: Annotated[bool, typer.Option("--once", help="Look once, say what was done, and end")] = False,
    print_service: Annotated[
        bool, typer.Option("--print-service", help="Print a service that watches this vault whenever you are logged in")
    ] = False,
    as_json: Json = False,
) -> None:
    """Keep the index in step with the files until stopped; every other verb works without it."""
    from remvault.surfaces.watching import Watching, watch_once

    run = of(ctx)
    vault = run.open(as_json)
    if print_service:
        from remvault.surfaces.services import service_text

        service = service_text(vault)
        run.screen.answer({"service": service}, lambda: service)
        return
    if once:
        swept = watch_once(vault)
        run.tell(swept.notices)
        if swept.settled.why_held is not None:
            run.screen.say(f"not committed: {swept.settled.why_held}")
        lines = [f"committed {commit[:10]}  {one_line(path)}".rstrip() for path, commit in swept.settled.commits]
        run.screen.answer(swept.answer(), lambda: "\n".join([*lines, f"{text.count(swept.notes, 'note')} looked at"]))
        return
    watching = Watching(vault, run.screen.detail)
    caught: list[int] = []

    def stop(number: int, frame: Any) -> None:
        if caught:
            raise KeyboardInterrupt  # asked twice
        caught.append(number)
        watching.stop()

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # as with nohup
            signal.signal(number, stop)
    watching.run()
    if signal.SIGINT in caught:
        raise KeyboardInterrupt
