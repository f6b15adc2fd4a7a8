"""Problems: values with a code, a place and a next step."""

from __future__ import annotations

import re

import pytest

from remvault.domain.problems import RULES, SEVERITIES, Problem, has_errors, problem, shown, with_severities


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.code)
def test_every_rule_has_a_code_a_severity_and_a_reason(rule: object) -> None:
    assert re.fullmatch(r"RV[1-9]\d\d", rule.code)  # type: ignore[attr-defined]
    assert rule.severity in SEVERITIES  # type: ignore[attr-defined]
    assert rule.title[0].islower() or rule.title[:3].isupper()  # type: ignore[attr-defined]
    assert rule.why.endswith(".")  # type: ignore[attr-defined]


def test_a_problem_takes_the_severity_of_its_rule() -> None:
    assert problem("RV101", "a.md", 3, "x").severity == "error"
    assert problem("RV108", "a.md", 3, "x").severity == "warning"


def test_a_vault_may_change_severities_or_turn_rules_off() -> None:
    found = [problem(code, "a.md", 1, code) for code in ("RV101", "RV108", "RV110")]

    changed = with_severities(found, {"RV101": "info", "RV108": "off", "RV110": "nonsense"})

    assert [(one.code, one.severity) for one in changed] == [("RV101", "info"), ("RV110", "warning")]
    assert has_errors(found)
    assert not has_errors(changed)
    assert not has_errors([])


def test_reports_are_ordered_by_path_line_and_code() -> None:
    found = [
        Problem("RV102", "error", "b.md", 1, "x"),
        Problem("RV102", "error", "a.md", 9, "x"),
        Problem("RV103", "error", "a.md", 9, "x"),
        Problem("RV109", "error", "a.md", None, "x"),
    ]

    assert [(p.path, p.line, p.code) for p in sorted(found, key=Problem.sort_key)] == [
        ("a.md", None, "RV109"),
        ("a.md", 9, "RV102"),
        ("a.md", 9, "RV103"),
        ("b.md", 1, "RV102"),
    ]


def test_long_text_and_line_breaks_do_not_flood_a_message() -> None:
    assert shown("a\nb") == "'a\\nb'"
    assert shown("x" * 61) == "'" + "x" * 60 + "…'"
