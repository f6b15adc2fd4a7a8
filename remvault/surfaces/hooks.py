"""`remvault-hook EVENT`: the entry point of git's hooks. argparse only, nothing loaded that the event does not need.

`pre-commit` exits with 1 when it finds an error, which stops the commit; the events of the message never do.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from remvault.errors import RemvaultError

EVENTS = ("pre-commit", "prepare-commit-msg", "commit-msg")
EXIT_BUG = 3
_EPILOG = """pre-commit checks the staged notes of every vault in this repository and refuses a commit with errors.
prepare-commit-msg and commit-msg add to your message the trailers of the changes that remvault had staged."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Handle one event and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="remvault-hook",
        description="Called by git's hooks; 'remvault hooks install' sets that up.",
        epilog=_EPILOG,
    )
    parser.add_argument("event", choices=EVENTS, help="the git event")
    parser.add_argument("arguments", nargs="*", help="what git hands the hook: the message's file and its source")
    asked = parser.parse_args(arguments)
    if asked.event != "pre-commit":
        return message_event(asked.arguments, os.environ)
    try:
        return pre_commit(os.environ)
    except RemvaultError as err:
        hint = f"\nhint: {err.hint}" if err.hint else ""
        print(f"remvault: {err.message}{hint}", file=sys.stderr)
        return err.exit_code
    except Exception as err:
        # Fail closed: a bug of ours must not let an unchecked note in. The person can still pass with --no-verify.
        if os.environ.get("REMVAULT_DEBUG") == "1":
            raise
        print(f"remvault: unexpected {type(err).__name__}: {err}; the commit is stopped", file=sys.stderr)
        print("hint: this is a bug in remvault; 'git commit --no-verify' goes around it", file=sys.stderr)
        return EXIT_BUG


def message_event(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Add the trailers of staged operations to the message; 0 whatever happens, since history can do without them."""
    try:
        from remvault.surfaces.staged import add_trailers

        if arguments:
            add_trailers(Path(arguments[0]), arguments[1] if len(arguments) > 1 else None, environ)
    except Exception as err:
        if environ.get("REMVAULT_DEBUG") == "1":
            import traceback

            traceback.print_exc()
        print(f"remvault: the message says nothing of staged memories: {err}", file=sys.stderr)
    return 0


def pre_commit(environ: Mapping[str, str]) -> int:
    """Check the staged notes that this commit changes; 1 when one has an error."""
    from remvault.store.hook_runs import marked_hook_run
    from remvault.surfaces.cli.screen import Screen
    from remvault.surfaces.cli.text import count, problem_line
    from remvault.surfaces.staged import check_staged, hook_work_tree

    screen = Screen.of_process()
    errors, tree = 0, hook_work_tree()
    with marked_hook_run(tree, environ):
        for prefix, report in check_staged(tree, environ):
            for problem in report.problems:
                path = f"{prefix}/{problem.path}".strip("/")
                print(problem_line(problem, screen, path), file=sys.stderr)
            errors += report.errors
    if errors:
        print(f"remvault: {count(errors, 'error')} in staged notes; nothing was committed", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
