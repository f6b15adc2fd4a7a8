"""Writing memories that point into code: digests are taken, what is missing is refused, repairs touch anchors only."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import remvault
from remvault.domain.note import Note, parse_note
from tests.surfaces.code_vault import PAY, CodeVault
from tests.surfaces.conftest import Cli, Done
from tests.vaults import git, note_text

DIGEST = re.compile(r"t1:[0-9a-f]{32}\Z")
LONGER = PAY.replace("card.take(amount)", "card.take(amount, retry=True)")


@pytest.fixture
def code(repo: Path, cli: Cli) -> CodeVault:
    return CodeVault.make(repo, cli)


@pytest.fixture
def own(home: Path, cli: Cli, repo: Path) -> Path:
    """The user's own standalone vault, and a code repository of the project acme that knows of no vault."""
    cli("init", "--user", cwd=home)
    (repo / "src").mkdir()
    (repo / "src" / "pay.py").write_text(PAY)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "code")
    git(repo, "config", "remvault.project", "acme")
    return home / "data" / "remvault" / "vault"


def note(code: CodeVault, answer: Any) -> Note:
    path = answer["path"] if isinstance(answer, dict) else answer
    return parse_note(path, (code.root / "vault" / path).read_bytes())


def anchors(found: Note) -> list[tuple[str, str | None, str | None]]:
    return [(one.at, one.digest, one.commit) for one in found.memory.anchors]


def write_note(code: CodeVault, at: str, *, title: str = "By hand", memory_id: str = "m-hand", **fields: str) -> Path:
    """A note that a person typed, committed."""
    values = {"id": memory_id, "scope": "project", "scope_id": "acme", "anchors": at} | fields
    code.write(f"vault/project/acme/{memory_id}.md", note_text(title, **values))
    code.commit("by hand")
    return code.root / "vault" / "project" / "acme" / f"{memory_id}.md"


def problems(code: CodeVault, *options: str, exit_code: int = 0) -> list[tuple[str, str, bool]]:
    done = code.cli("check", *options, "--json", cwd=code.root, code=exit_code)
    return [(one["code"], one["severity"], one["fixable"]) for one in done.json["problems"]]


# Written on purpose


def test_a_new_memory_takes_the_digest_and_the_commit_of_what_is_there(code: CodeVault) -> None:
    head = git(code.root, "rev-parse", "HEAD").strip()
    done = code.json(
        "new", "Charges", "--anchor", "src/pay.py#charge", "--anchor", "src/pay.py", "--anchor", "src/pay.py#L5-L6"
    )

    found = note(code, done)
    assert [at for at, _, _ in anchors(found)] == ["src/pay.py#charge", "src/pay.py", "src/pay.py#L5-L6"]
    for _, digest, commit in anchors(found):
        assert digest is not None
        assert commit is not None
        assert DIGEST.match(digest)
        assert head.startswith(commit)
    assert done["warnings"] == []
    shown = code.json("show", done["id"])["memory"]
    assert [one["state"] for one in shown["anchors"]] == ["fresh", "fresh", "fresh"]
    assert problems(code) == []


@pytest.mark.parametrize(
    ("at", "said", "hint"),
    [
        ("src/gone.py", "no such file", None),
        ("src/pay.py#chrge", "no chrge in the file", "did you mean src/pay.py#charge?"),
        ("pay.py", "no such file", "did you mean src/pay.py?"),
        ("src/pay.py#L90-L99", "lines 90 to 99 are not there", None),
        ("src", "it is a folder", None),
    ],
)
def test_an_anchor_to_nothing_is_an_error_and_nothing_is_saved(
    code: CodeVault, at: str, said: str, hint: str | None
) -> None:
    known = code.json("new", "Charges", "--anchor", "src/pay.py#charge")
    before = git(code.root, "status", "--porcelain"), (code.root / "vault" / known["path"]).read_bytes()

    tries = [
        ("new", "Another", "--anchor", at),
        ("supersede", known["id"], "Newer", "--anchor", at),
        ("set", known["id"], f"anchors+={at}"),
        ("set", known["id"], f"anchors=[{at!r}]".replace("'", '"')),
        ("new", "Charges", "--anchor", at),  # the same text: it would confirm
    ]
    for command in tries:
        error = code.cli(*command, "--json", cwd=code.root, code=1).json["error"]
        assert error["code"] == "anchor_not_found"
        assert said in error["message"]
        assert error["at"] == at
        if hint is not None:
            assert error["hint"] == hint
    assert (git(code.root, "status", "--porcelain"), (code.root / "vault" / known["path"]).read_bytes()) == before


@pytest.mark.parametrize("at", ["../up.py", "/etc/passwd", ".git/config", "src\\pay.py", "src/./pay.py"])
def test_a_path_that_is_not_allowed_breaks_a_rule_and_is_never_looked_at(code: CodeVault, at: str) -> None:
    error = code.cli("new", "X", "--anchor", at, "--json", cwd=code.root, code=1).json["error"]

    assert error["code"] == "invalid_note"
    assert error["problems"][0].startswith("RV301 ")


def test_a_link_that_leaves_the_code_is_refused(code: CodeVault, tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("def key():\n    return 1\n")
    (code.root / "src" / "out.py").symlink_to(tmp_path / "secret.py")

    error = code.cli("new", "X", "--anchor", "src/out.py#key", "--json", cwd=code.root, code=1).json["error"]

    assert error["code"] == "anchor_refused"
    assert "a link leaves the code root" in error["message"]


@pytest.mark.parametrize(
    ("scope", "owner"), [("global", ()), ("team", ("--scope-id", "a")), ("organization", ("--scope-id", "a"))]
)
def test_what_is_true_of_many_repositories_takes_no_anchor(code: CodeVault, scope: str, owner: tuple[str, ...]) -> None:
    command = ("new", "X", "--scope", scope, *owner, "--anchor", "src/pay.py#charge", "--json")
    error = code.cli(*command, cwd=code.root, code=1).json["error"]
    known = code.json("new", "Charges", "--anchor", "src/pay.py")
    moved = code.cli(
        "set", known["id"], f"scope={scope}", *(f"scope-id={one}" for one in owner[1:]), cwd=code.root, code=1
    )

    assert error["problems"] == [f"RV303 anchors in a {scope} memory, which has no code"]
    assert "RV303" in moved.err


def test_a_memory_has_at_most_eight_anchors_or_what_the_vault_says(code: CodeVault) -> None:
    nine = [f"--anchor=src/{number}.py" for number in range(9)]
    assert "9 anchors, at most 8 are kept" in code.cli("new", "X", *nine, cwd=code.root, code=1).err

    settings = code.root / "vault" / "remvault.toml"
    settings.write_text(settings.read_text() + "\n[anchors]\nmax-per-note = 1\n")
    known = code.json("new", "Y", "--anchor", "src/pay.py#charge")
    refused = code.cli("set", known["id"], "anchors+=src/pay.py", cwd=code.root, code=1)
    write_note(code, "[src/pay.py, src/store.py]")

    assert "RV302 2 anchors, at most 1 are kept" in refused.err
    assert ("RV302", "error", False) in problems(code, exit_code=1)


def test_several_definitions_of_one_name_and_text_without_a_grammar_are_said(code: CodeVault) -> None:
    code.write("src/pay.py", PAY + "\n\ndef charge(card):\n    return 1\n")
    code.write("notes.rst", "Charges\n=======\n\nThe word charge stands here.\n")

    done = code.cli(
        "new", "X", "--anchor", "src/pay.py#charge", "--anchor", "notes.rst#charge", "--json", cwd=code.root
    )

    assert "2 definitions of charge, all of them count" in done.err
    assert "no grammar for the file" in done.err
    assert done.json["warnings"] == [line.removeprefix("remvault: ") for line in done.err.splitlines()[:2]]


def test_a_binary_file_is_anchored_without_a_digest_and_is_no_problem_to_mend(code: CodeVault) -> None:
    (code.root / "logo.png").write_bytes(b"\x89PNG\x00\x01" * 9)

    done = code.cli("new", "X", "--anchor", "logo.png", "--json", cwd=code.root)

    assert "the file is binary" in done.err
    assert anchors(note(code, done.json))[0][1] is None
    assert problems(code, "--fix") == [("RV308", "info", False)]


def test_before_the_first_commit_a_digest_has_no_commit(repo: Path, cli: Cli) -> None:
    (repo / "a.py").write_text("def f():\n    return 1\n")
    cli("init", "--embedded", "--project", "acme", cwd=repo)

    done = cli("new", "X", "--anchor", "a.py#f", "--json", cwd=repo).json

    [one] = parse_note("a.md", (repo / "vault" / done["path"]).read_bytes()).memory.anchors
    assert (one.digest is not None, one.commit) == (True, None)


def test_a_rehearsal_shows_the_digest_and_writes_nothing(code: CodeVault) -> None:
    before = git(code.root, "status", "--porcelain")

    done = code.cli("new", "X", "--anchor", "src/pay.py#charge", "--dry-run", cwd=code.root)

    assert re.search(r"- at: src/pay\.py#charge\n +digest: t1:[0-9a-f]{32}\n", done.out)
    assert git(code.root, "status", "--porcelain") == before


def test_the_public_functions_take_texts_and_mappings(code: CodeVault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(code.root)
    vault = remvault.open_vault("vault")

    written = remvault.new(vault, "X", anchors=["src/pay.py#charge", {"at": "src/pay.py#refund"}])

    found = parse_note("a.md", written.text.encode()).memory.anchors
    assert all(one.digest is not None for one in found)
    assert len(found) == 2


# Changed in place


def test_adding_an_anchor_takes_its_digest_and_leaves_the_other_lines(code: CodeVault) -> None:
    path = write_note(code, "\n  - at: src/pay.py#charge  # the card\n    digest: t1:00\n    mine: x")
    before = path.read_text()

    code.json("set", "m-hand", "anchors+=src/pay.py#refund", "tags+=pay")

    after = path.read_text()
    added = r"  - at: src/pay\.py#refund\n    digest: t1:[0-9a-f]{32}\n    commit: \S+\n"
    assert before.split("anchors:")[1].split("---")[0] in re.sub(added, "", after)
    assert re.search(added, after)


def test_an_anchor_that_is_there_is_not_added_again(code: CodeVault) -> None:
    known = code.json("new", "Charges", *["--anchor", "src/pay.py#charge"] * 2)
    before = anchors(note(code, known))

    code.json("set", known["id"], "anchors+=src/pay.py#charge")
    code.json("set", known["id"], "anchors+=[{at: src/pay.py#charge}]")

    assert anchors(note(code, known)) == before
    assert len(before) == 1


def test_anchors_that_stay_keep_their_digests_even_where_the_code_is_gone(code: CodeVault) -> None:
    path = write_note(code, "[{at: src/gone.py#f, digest: 't1:00'}, src/other.py]")

    code.json("set", "m-hand", "anchors+=src/pay.py#charge")
    code.json("set", "m-hand", "importance=0.5")

    found = anchors(parse_note("a.md", path.read_bytes()))
    assert found[:2] == [("src/gone.py#f", "t1:00", None), ("src/other.py", None, None)]
    assert found[2][1] is not None


def test_naming_an_anchor_again_takes_it_anew(code: CodeVault) -> None:
    known = code.json("new", "Charges", "--anchor", "src/pay.py#charge")
    first = anchors(note(code, known))
    code.write("src/pay.py", LONGER)

    code.json("set", known["id"], "anchors=[src/pay.py#charge]")

    assert anchors(note(code, known))[0][1] != first[0][1]
    assert code.json("show", known["id"])["memory"]["anchors"][0]["state"] == "fresh"


def test_an_edit_of_something_else_does_not_take_drift_away(code: CodeVault) -> None:
    known = code.json("new", "Charges", "--anchor", "src/pay.py#charge")
    code.write("src/pay.py", LONGER)

    code.json("set", known["id"], "tags+=pay")

    assert code.json("show", known["id"])["memory"]["anchors"][0]["state"] == "drifted"


def edit(code: CodeVault, monkeypatch: pytest.MonkeyPatch, name: str, script: str, exit_code: int = 0) -> Done:
    monkeypatch.setenv("EDITOR", f"sed -i {script}")
    return code.cli("edit", name, cwd=code.root, code=exit_code)


def test_a_place_typed_over_in_the_editor_takes_no_old_digest_along(
    code: CodeVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = code.json("new", "Charges", "--anchor", "src/pay.py#charge")
    [(_, first, _)] = anchors(note(code, known))

    edit(code, monkeypatch, known["id"], "s/#charge/#refund/")

    [(at, digest, _)] = anchors(note(code, known))
    assert (at, digest != first) == ("src/pay.py#refund", True)
    assert problems(code) == []


def test_an_editor_that_names_what_is_not_there_keeps_the_text(
    code: CodeVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = code.json("new", "Charges", "--anchor", "src/pay.py#charge")
    before = anchors(note(code, known))

    done = edit(code, monkeypatch, known["id"], "s/#charge/#chagre/", exit_code=1)

    assert "did you mean src/pay.py#charge?; your text is kept in" in done.err
    assert anchors(note(code, known)) == before


def test_a_new_memory_from_the_editor_takes_digests_too(code: CodeVault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", r"sed -i 's/^freshness:.*/&\nanchors: src\/pay.py#charge/'")

    done = code.cli("new", "Charges", "--body", "B", "--edit", "--json", cwd=code.root)
    again = code.cli("new", "Charges", "--body", "B", "--edit", "--json", cwd=code.root)

    assert anchors(note(code, done.json))[0][1] is not None
    assert again.json["op"] == "confirm"


# Superseded


def test_a_successor_takes_the_anchors_over_as_they_are_and_new_ones_with_digests(code: CodeVault) -> None:
    known = code.json("new", "Charges", "--anchor", "src/pay.py#charge")
    first = anchors(note(code, known))
    code.write("src/pay.py", LONGER)

    kept = code.json("supersede", known["id"], "Charges, newer")
    given = code.json("supersede", kept["id"], "Charges, newest", "--anchor", "src/pay.py#charge")

    assert anchors(note(code, kept)) == first  # nobody said that the newer one was held against the code
    assert anchors(note(code, given)) != first
    assert code.json("show", given["id"])["memory"]["anchors"][0]["state"] == "fresh"


def test_a_wider_successor_leaves_the_anchors_behind_and_says_so(code: CodeVault) -> None:
    known = code.json("new", "Charges", "--anchor", "src/pay.py#charge")

    done = code.cli("supersede", known["id"], "For all", "--scope", "global", "--json", cwd=code.root)

    assert f"its anchors stay with {known['id']}: a global memory has no code" in done.err
    assert anchors(note(code, done.json)) == []


# The same text again


def test_the_same_text_with_another_anchor_adds_it_and_confirms_those_there(code: CodeVault) -> None:
    known = code.json("new", "Charges", "--anchor", "src/pay.py#charge")
    [(_, first, _)] = anchors(note(code, known))
    code.write("src/pay.py", LONGER)

    done = code.json("new", "charges", "--anchor", "src/store.py#Store.read", "--anchor", "src/pay.py#charge")

    assert (done["op"], done["id"]) == ("confirm", known["id"])
    found = anchors(note(code, known))
    assert [at for at, _, _ in found] == ["src/pay.py#charge", "src/store.py#Store.read"]
    assert found[0][1] not in (None, first)
    assert found[1][1] is not None


# Confirmed


def test_confirming_takes_changed_code_as_it_is_now(code: CodeVault) -> None:
    known = code.json("new", "Charges", "--anchor", "src/pay.py#charge", "--anchor", "src/pay.py#refund")
    before = anchors(note(code, known))
    code.write("src/pay.py", LONGER)
    commit = code.commit("retry")

    done = code.cli("confirm", known["id"], "--json", cwd=code.root)

    after = anchors(note(code, known))
    assert "the anchor src/pay.py#charge was taken anew: its code changed" in done.json["warnings"][0]
    assert after[0][1] != before[0][1]
    assert after[1][1] == before[1][1]
    assert all(commit.startswith(one or "-") for _, _, one in after)
    assert [one["state"] for one in code.json("show", known["id"])["memory"]["anchors"]] == ["fresh", "fresh"]


def test_confirming_follows_code_that_moved_was_renamed_or_went_with_its_file(code: CodeVault) -> None:
    known = code.json("new", "X", "--anchor", "src/pay.py#charge", "--anchor", "src/store.py#Store.read")
    code.commit("notes")
    git(code.root, "mv", "src/pay.py", "src/money.py")
    code.edit("src/store.py", "def read(", "def load(")

    done = code.cli("confirm", known["id"], "--json", cwd=code.root)

    assert [at for at, _, _ in anchors(note(code, known))] == ["src/money.py#charge", "src/store.py#Store.load"]
    assert done.json["warnings"] == [
        "the anchor src/pay.py#charge is now src/money.py#charge",
        "the anchor src/store.py#Store.read is now src/store.py#Store.load",
    ]
    assert problems(code) == []


def test_confirming_keeps_what_is_gone_and_says_so(code: CodeVault) -> None:
    known = code.json("new", "X", "--anchor", "src/pay.py#charge", "--anchor", "src/store.py#Store.read")
    before = anchors(note(code, known))
    (code.root / "src" / "pay.py").unlink()

    done = code.cli("confirm", known["id"], "--json", cwd=code.root)

    assert done.json["warnings"] == ["the anchor src/pay.py#charge stays as it was: no such file"]
    assert anchors(note(code, known))[0] == before[0]
    assert note(code, known).memory.confirmed is not None


def test_confirming_takes_what_was_typed_by_hand_and_a_digest_of_another_recipe(code: CodeVault) -> None:
    path = write_note(code, "[src/pay.py#charge, {at: src/pay.py#refund, digest: 't9:00'}]")

    code.json("confirm", "m-hand")

    digests = [digest or "" for _, digest, _ in anchors(parse_note("a.md", path.read_bytes()))]
    assert [DIGEST.match(digest) is not None for digest in digests] == [True, True]


def test_on_a_branch_that_never_had_the_code_confirming_takes_nothing_from_it(code: CodeVault) -> None:
    git(code.root, "checkout", "-qb", "retry")
    code.write("src/pay.py", LONGER)
    code.commit("retry")
    known = code.json("new", "X", "--anchor", "src/pay.py#charge")
    before = anchors(note(code, known))
    git(code.root, "checkout", "-q", "main")

    done = code.cli("confirm", known["id"], "--json", cwd=code.root)

    assert "stays as it was: what is checked out does not contain commit" in done.json["warnings"][0]
    assert anchors(note(code, known)) == before


def test_usefulness_says_nothing_of_the_code(code: CodeVault) -> None:
    known = code.json("new", "Charges", "--anchor", "src/pay.py#charge")
    code.write("src/pay.py", LONGER)

    code.json("useful", known["id"])

    assert code.json("show", known["id"])["memory"]["anchors"][0]["state"] == "drifted"


# Checked and mended


def test_check_tells_each_state_with_what_to_do(code: CodeVault) -> None:
    for at in ("src/pay.py#charge", "src/pay.py#refund", "src/store.py#Store.read"):
        code.json("new", at, "--anchor", at)
    code.json("new", "lines", "--anchor", "src/store.py#L2-L4")
    write_note(code, "[src/store.py, {at: src/pay.py, digest: 't9:00'}]")
    code.write("src/pay.py", "\n\n" + LONGER.replace("refund", "give_back"))
    code.edit("src/store.py", "class Store:\n", "class Store:\n    pass\n\n")
    code.edit("src/store.py", "    def read(self, key):\n        return self.rows[key]\n", "")

    found = code.cli("check", "--json", cwd=code.root).json

    said = {(one["code"], one["severity"], one["message"], one["fixable"]) for one in found["problems"]}
    commit = git(code.root, "rev-parse", "--short=10", "HEAD~1").strip()
    assert said == {
        ("RV305", "warning", f"anchor 'src/pay.py#charge': its code changed since {commit}", False),
        ("RV304", "warning", "anchor 'src/pay.py#refund': no refund in the file; give_back is the same code", True),
        ("RV304", "warning", "anchor 'src/store.py#Store.read': no Store.read in the file", False),
        ("RV306", "info", "anchor 'src/store.py#L2-L4': now at other lines", True),
        ("RV307", "info", "anchor 'src/store.py': no digest was taken of it yet", True),
        (
            "RV308", "info",
            "anchor 'src/pay.py': not checked, its digest is of a recipe that is not known here (t9)", False,
        ),
    }  # fmt: skip
    assert (found["errors"], found["warnings"], found["unchecked_anchors"]) == (0, 3, 0)
    hints = {one["code"]: one["hint"] for one in found["problems"]}
    assert hints["RV306"] == "'remvault check --fix' writes src/store.py#L4-L6"
    assert hints["RV307"] == "'remvault check --fix' takes it"
    assert "'remvault confirm m-" in hints["RV305"]


def test_check_fix_mends_the_anchors_that_need_no_guess_and_touches_no_other_line(code: CodeVault) -> None:
    typed = write_note(code, "[src/store.py#Store.with_lock]  # mine", title="'Typed'  # so")
    moved = code.json("new", "Moved", "--anchor", "src/pay.py#charge", "--body", "Body  \r\nas typed")
    drifted = code.json("new", "Drifted", "--anchor", "src/store.py#Store.read")
    code.commit("notes")
    git(code.root, "mv", "src/pay.py", "src/money.py")
    code.edit("src/store.py", "self.rows[key]", "self.rows.get(key)")
    before = {path: (code.root / "vault" / path).read_text() for path in (moved["path"], drifted["path"])}

    dry = code.cli("check", "--fix", "--dry-run", cwd=code.root)
    assert typed.read_text().endswith("Body.\n")
    assert "would fix" in dry.err
    done = code.cli("check", "--fix", "--json", cwd=code.root).json

    assert [one["code"] for one in done["problems"]] == ["RV305"]
    assert {one["path"] for one in done["fixed"]} == {"project/acme/m-hand.md", moved["path"]}
    assert re.search(
        r"title: 'Typed'  # so\n(.*\n)*anchors: \[\{at: src/store\.py#Store\.with_lock, digest: \"t1:[0-9a-f]{32}\", "
        r"commit: \S+\}\]  # mine\n",
        typed.read_text(),
    )
    assert (code.root / "vault" / drifted["path"]).read_text() == before[drifted["path"]]
    old, new = before[moved["path"]].splitlines(), (code.root / "vault" / moved["path"]).read_text().splitlines()
    changed = [(one, other) for one, other in zip(old, new, strict=True) if one != other]
    assert changed[0] == ("  - at: src/pay.py#charge", "  - at: src/money.py#charge")
    assert all(one.startswith("    commit: ") for one, _ in changed[1:])
    assert problems(code) == [("RV305", "warning", False)]


def test_check_fix_takes_no_other_name_where_two_fit(code: CodeVault) -> None:
    known = code.json("new", "X", "--anchor", "src/pay.py#charge")
    code.write("src/pay.py", PAY.replace("charge", "one") + "\n\n" + PAY.replace("charge", "two"))
    before = anchors(note(code, known))

    done = code.cli("check", "--fix", "--json", cwd=code.root).json

    assert [(one["code"], one["fixable"]) for one in done["problems"]] == [("RV304", False)]
    assert "one, two are the same code" in done["problems"][0]["message"]
    assert anchors(note(code, known)) == before


def test_a_rule_that_is_off_is_not_mended(code: CodeVault) -> None:
    path = write_note(code, "[src/pay.py#charge]")
    settings = code.root / "vault" / "remvault.toml"
    settings.write_text(settings.read_text() + '\n[rules]\nRV307 = "off"\nRV304 = "error"\n')
    before = path.read_bytes()

    assert problems(code, "--fix") == []
    assert path.read_bytes() == before
    (code.root / "src" / "pay.py").unlink()
    assert problems(code, exit_code=1) == [("RV304", "error", False)]


def test_memories_that_are_not_in_force_are_not_held_against_the_code(code: CodeVault) -> None:
    old = code.json("new", "Old", "--anchor", "src/pay.py#charge")
    code.json("supersede", old["id"], "New", "--anchor", "src/store.py")
    wrong = code.json("new", "Wrong", "--anchor", "src/pay.py#charge")
    code.json("retract", wrong["id"])
    (code.root / "src" / "pay.py").unlink()

    assert problems(code) == []


def test_a_past_or_staged_vault_is_not_held_against_the_code_of_now(code: CodeVault) -> None:
    code.json("new", "X", "--anchor", "src/pay.py#charge")
    code.commit("notes")
    (code.root / "src" / "pay.py").unlink()

    assert problems(code, "--rev", "HEAD") == []
    assert problems(code, "--staged") == []
    assert problems(code) == [("RV304", "warning", False)]


def test_status_counts_what_check_finds(code: CodeVault) -> None:
    code.json("new", "X", "--anchor", "src/pay.py#charge")
    (code.root / "src" / "pay.py").unlink()

    assert code.json("status")["problems"] == {"errors": 0, "warnings": 1}


def test_an_agent_hears_of_the_anchors_it_may_see_and_of_no_others(code: CodeVault) -> None:
    code.json("new", "Ours", "--anchor", "src/pay.py#charge")
    code.remember("Theirs", "src/pay.py#refund", owner="other")
    (code.root / "src" / "pay.py").unlink()

    agent = code.cli("--actor", "agent:x", "check", "--json", cwd=code.root)
    person = code.cli("check", "--json", cwd=code.root)

    assert "src/pay.py#charge" in agent.out
    assert "refund" not in agent.out
    assert "other" not in agent.out
    assert "src/pay.py#refund" in person.out


def test_an_agent_takes_digests_like_a_person(code: CodeVault) -> None:
    done = code.json("--actor", "agent:x", "new", "X", "--anchor", "src/pay.py#charge")

    assert anchors(note(code, done))[0][1] is not None


def test_a_vault_that_may_only_be_read_is_checked_and_not_mended(code: CodeVault) -> None:
    write_note(code, "[src/pay.py#charge]")
    settings = code.root / "vault" / "remvault.toml"
    settings.write_text(settings.read_text().replace("format = 1", "format = 2"))

    assert problems(code) == [("RV307", "info", True)]
    assert "read_only" in code.cli("check", "--fix", "--json", cwd=code.root, code=1).out
    assert "read_only" in code.cli("confirm", "m-hand", "--json", cwd=code.root, code=1).out


# Local-only


def test_a_local_only_memory_takes_digests_and_is_checked_apart(code: CodeVault) -> None:
    done = code.json("new", "Secret", "--private", "--anchor", "src/pay.py#charge")
    where = Path(code.json("show", done["id"], "--private")["memory"]["path"])
    code.write("src/pay.py", LONGER)

    found = code.json("check", "--private")["problems"]
    assert [one["code"] for one in found] == ["RV305"]
    assert f"'remvault confirm {done['id']} --private' if it still holds" in found[0]["hint"]
    assert problems(code) == []
    code.json("confirm", done["id"], "--private")
    assert code.json("check", "--private")["problems"] == []
    assert "charge" not in git(code.root, "status", "--porcelain")
    assert where.is_file() or (code.root / "vault" / where).is_file()


# Where the code is not at hand


def test_a_standalone_vault_takes_digests_from_inside_the_projects_work_tree(own: Path, repo: Path, cli: Cli) -> None:
    (repo / "deep").mkdir()

    done = cli("new", "X", "--anchor", "src/pay.py#charge", "--json", cwd=repo / "deep").json

    [one] = parse_note("a.md", (own / done["path"]).read_bytes()).memory.anchors
    assert one.digest is not None
    assert one.commit == git(repo, "rev-parse", "--short=10", "HEAD").strip()


def test_elsewhere_an_anchor_is_kept_without_a_digest_and_that_is_said(
    own: Path, repo: Path, cli: Cli, home: Path
) -> None:
    owner = ("--context", "project=acme")
    done = cli(*owner, "new", "X", "--anchor", "src/nowhere.py#f", "--json", cwd=home)

    expected = "the anchor src/nowhere.py#f is kept without a look at the code: the code is not at hand here"
    assert done.json["warnings"] == [expected]
    found = parse_note("a.md", (own / done.json["path"]).read_bytes()).memory.anchors
    assert [(one.at, one.digest) for one in found] == [("src/nowhere.py#f", None)]
    confirmed = cli(*owner, "confirm", done.json["id"], "--json", cwd=home)
    assert confirmed.json["warnings"] == ["its anchors stay as they were: the code is not at hand here"]
    checked = cli("check", cwd=home)
    assert "1 note checked: 0 errors, 0 warnings; 1 anchor not checked: the code is not at hand here" in checked.out
    assert cli("check", "--fix", "--json", cwd=home).json["fixed"] == []
    assert cli("check", "--json", cwd=repo).json["warnings"] == 1


def test_the_code_of_another_project_is_never_taken_for_a_memory(own: Path, repo: Path, cli: Cli) -> None:
    done = cli("--context", "project=other", "new", "X", "--anchor", "src/pay.py#charge", "--json", cwd=repo)

    assert "the code is not at hand here" in done.json["warnings"][0]
    [one] = parse_note("a.md", (own / done.json["path"]).read_bytes()).memory.anchors
    assert one.digest is None


def test_mended_later_where_the_code_is(own: Path, repo: Path, cli: Cli, home: Path) -> None:
    done = cli("--context", "project=acme", "new", "X", "--anchor", "src/pay.py#charge", "--json", cwd=home).json

    fixed = cli("check", "--fix", "--json", cwd=repo).json

    assert fixed["fixed"] == [{"path": done["path"], "id": done["id"]}]
    assert git(own, "log", "-1", "--format=%s").startswith("fix: ")
    assert cli("check", "--json", cwd=repo).json["problems"] == []


# R74


def test_r74_lines_and_looks_do_not_drift_it_and_a_rename_is_mended_in_its_own_lines(code: CodeVault) -> None:
    known = code.json("new", "Charging", "--body", "Charges take the card.", "--anchor", "src/pay.py#charge")
    path = code.root / "vault" / known["path"]
    code.commit("notes")
    code.write(
        "src/pay.py",
        "# a line\n" * 40 + "def charge(\n    card,\n    amount,\n):\n    # taken\n    return card.take( amount )\n",
    )
    assert problems(code) == []
    code.edit("src/pay.py", "def charge(", "def charge_card(")
    before, state = path.read_text(), code.json("show", known["id"])["memory"]["anchors"][0]

    assert (state["state"], state["now_at"]) == ("broken", "src/pay.py#charge_card")
    code.json("check", "--fix")

    after = path.read_text()
    changed = [
        line for line in git(code.root, "diff", "HEAD", "--unified=0", "--", "vault").splitlines() if line[:1] in "+-"
    ]
    assert [line for line in changed if line[:3] not in ("+++", "---")][:1] == ["-  - at: src/pay.py#charge"]
    assert {line[1:].split(":")[0].strip(" -") for line in changed if line[:3] not in ("+++", "---")} <= {
        "at",
        "commit",
    }
    assert parse_note("a.md", after.encode()).body == parse_note("a.md", before.encode()).body
    assert parse_note("a.md", after.encode()).memory.id == known["id"]
    assert parse_note("a.md", after.encode()).memory.confirmed is None
    assert problems(code) == []
