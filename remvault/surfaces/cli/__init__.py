"""The command line: `remvault VERB`. One module a verb in `verbs/`, loaded only when that verb runs."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line with this process's arguments and exit with its code."""
    from remvault.surfaces.cli.program import run

    sys.exit(run(sys.argv[1:]))
