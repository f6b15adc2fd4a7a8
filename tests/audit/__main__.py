"""Print what the `agent-memory-integrity` suite says of remvault; exits with 1 when an edit is accepted in silence."""

from __future__ import annotations

import sys
from importlib.metadata import version

from agmi.check import run

from tests.audit.agmi_adapter import RemvaultAdapter


def main() -> int:
    rows = run(RemvaultAdapter())
    tool = RemvaultAdapter.name
    print(f"agent-memory-integrity {version('agent-memory-integrity')}, edits at rest, against {tool}")
    for row in rows:
        print(f"  {row['edit']:<26} {row['verdict'].lower():<14} {row['detail']}")
    heads = " | ".join(row["edit"].split()[0] for row in rows)
    print(f"\n| tool | {heads} |\n|---|{'---|' * len(rows)}")
    print(f"| {tool} | {' | '.join(row['verdict'].lower() for row in rows)} |")
    return 0 if all(row["verdict"] in ("REPORTED", "REJECTED") for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
