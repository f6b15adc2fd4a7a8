"""`remvault-hook EVENT`: the entry point of git's hooks. argparse only, nothing loaded that the event does not need.

`pre-commit` exits with 1 when it finds an error, which stops the commit; no other event ever fails.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from remvault.errors import GitError, RemvaultError

if TYPE_CHECKING:
    from remvault.store.work_tree import WorkTree
    from remvault.surfaces.cli.screen import Screen

EVENTS = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-checkout", "post-merge", "post-rewrite")
EXIT_BUG = 3
_EPILOG = """pre-commit checks the staged notes of every vault in this repository and refuses a commit with errors; it
also tells which memories rest on the staged code.
prepare-commit-msg and commit-msg add to your message the trailers of the changes that remvault had staged.
post-checkout, post-merge and post-rewrite bring the index up to date in the background."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Handle one event and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="remvault-hook",
        description="Called by git's hooks; 'remvault hooks install' sets that up.",
        epilog=_EPILOG,
    )
    parser.add_argument("event", choices=EVENTS, help="the git event")
    parser.add_argument("arguments", nargs="*", help="what git hands the hook")
    parser.add_argument("--only", choices=("notes", "code"), help="pre-commit: look at these alone")
    asked = parser.parse_args(arguments)
    if asked.event.startswith("post-"):
        return after_event(os.environ)
    if asked.event != "pre-commit":
        return message_event(asked.arguments, os.environ)
    try:
        return pre_commit(os.environ, asked.only)
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


def after_event(environ: Mapping[str, str]) -> int:
    """Start bringing the index up to date; 0 whatever happens, since the next read does the same."""
    try:
        from remvault.store.hook_runs import hook_run
        from remvault.surfaces.refreshing import start

        tree = _work_tree()
        # A hook manager checks files out too, to put changes aside: that state does not last.
        if environ.get("REMVAULT_OFF") != "1" and hook_run(tree, environ) is None:
            start(tree, environ)
    except Exception:
        if environ.get("REMVAULT_DEBUG") == "1":
            import traceback

            traceback.print_exc()
    return 0


def message_event(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Add the trailers of staged operations to the message; 0 whatever happens, since history can do without them."""
    try:
        from remvault.surfaces.staged import add_trailers

        if arguments:
            add_trailers(_work_tree(), Path(arguments[0]), arguments[1] if len(arguments) > 1 else None, environ)
    except Exception as err:
        if environ.get("REMVAULT_DEBUG") == "1":
            import traceback

            traceback.print_exc()
        print(f"remvault: the message says nothing of staged memories: {err}", file=sys.stderr)
    return 0


def pre_commit(environ: Mapping[str, str], only: str | None = None) -> int:
    """Check what this commit changes: the staged notes, and the staged code that memories rest on; 1 for an error.

    `only` is "notes" or "code"; None means both.
    """
    from remvault.store.hook_runs import marked_hook_run
    from remvault.surfaces.cli.screen import Screen

    screen, tree = Screen.of_process(), _work_tree()
    with marked_hook_run(tree, environ):
        errors = 0 if only == "code" else _check_notes(tree, environ, screen)
        # The notes are checked whatever is off: what must not enter history must not.
        if only != "notes" and environ.get("REMVAULT_OFF") != "1":
            errors += _check_code(tree, environ, screen)
    return 1 if errors else 0


def _check_notes(tree: WorkTree, environ: Mapping[str, str], screen: Screen) -> int:
    from remvault.surfaces.cli.text import count, problem_line
    from remvault.surfaces.staged import check_staged

    errors = 0
    for prefix, report in check_staged(tree, environ):
        for problem in report.problems:
            path = f"{prefix}/{problem.path}".strip("/")
            print(problem_line(problem, screen, path), file=sys.stderr)
        errors += report.errors
    if errors:
        print(f"remvault: {count(errors, 'error')} in staged notes; nothing was committed", file=sys.stderr)
    return errors


def _check_code(tree: WorkTree, environ: Mapping[str, str], screen: Screen) -> int:
    """Tell of memories that rest on the staged code; whatever fails here stops no commit."""
    from remvault.surfaces.cli.text import count, problem_line

    errors = touched = 0
    try:
        from remvault.store.code_changes import CodeChanges
        from remvault.surfaces.code_check import touched_memories, vaults_of

        changes = CodeChanges(tree, environ, index_file=environ.get("GIT_INDEX_FILE"))
        for vault in vaults_of(tree, environ) if changes.paths else ():
            report = touched_memories(vault, changes)
            for problem in report.problems:
                print(problem_line(problem, screen, str(vault.root / problem.path)), file=sys.stderr)
            errors, touched = errors + report.errors, touched + report.errors + report.warnings
    except Exception as err:
        if environ.get("REMVAULT_DEBUG") == "1":
            import traceback

            traceback.print_exc()
        print(f"remvault: memories about the code were not looked at: {err}", file=sys.stderr)
    if touched:
        stopped = "; nothing was committed" if errors else ""
        print(f"remvault: your change touches {count(touched, 'memory', 'memories')}{stopped}", file=sys.stderr)
    return errors


def _work_tree() -> WorkTree:
    from remvault.store.work_tree import find_work_tree

    tree = find_work_tree(Path.cwd())
    if tree is None:
        raise GitError("not in a git work tree")
    return tree


if __name__ == "__main__":
    sys.exit(main())
