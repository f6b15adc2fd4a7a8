"""The row of the `agent-memory-integrity` suite, pinned as it was measured."""

from __future__ import annotations

from agmi.check import run

from tests.audit.agmi_adapter import RemvaultAdapter


def test_every_edit_at_rest_is_reported_by_verify() -> None:
    rows = {row["edit"].split()[0]: (row["verdict"], row["detail"]) for row in run(RemvaultAdapter())}

    assert {edit: verdict for edit, (verdict, _) in rows.items()} == {f"T{n}": "REPORTED" for n in range(1, 10)}
    # For the reason that is the right one: bytes that no commit has, and a head that the repository no longer has.
    assert all("RV611" in rows[f"T{n}"][1] for n in range(1, 9))
    assert "RV613" in rows["T9"][1]
