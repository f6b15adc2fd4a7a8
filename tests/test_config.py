"""Which value of a setting counts, and what stops a command."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping

import pytest

from remvault.config import SETTINGS, Settings, load_settings, render_vault_toml
from remvault.errors import UsageError
from remvault.setting_values import SettingError, SettingsUnreadable

VAULT = "remvault.toml"
USER = "~/.config/remvault/config.toml"


def load(
    vault: str | None = None,
    user: str | None = None,
    environ: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
    *,
    trusted: bool = False,
    retired: Mapping[str, str] | None = None,
) -> Settings:
    return load_settings(
        vault_toml=vault,
        vault_source=VAULT,
        user_toml=user,
        user_source=USER,
        environ=environ or {},
        options=options or {},
        trusted=trusted,
        retired=retired or {},
    )


def test_nothing_set_gives_the_defaults_of_the_table() -> None:
    settings = load()

    for row in SETTINGS:
        if "<" not in row.name and row.name != "git.commit":
            assert settings.get(row.name) == row.default
    assert settings.origin("search.limit") == "default"
    assert settings.warnings == ()


def test_an_option_beats_the_environment_which_beats_the_files_which_beat_the_default() -> None:
    files = {"vault": "[watch]\nquiet-seconds = 1\n", "user": "[watch]\nquiet-seconds = 2\npoll-seconds = 3\n"}
    variable = {"REMVAULT_WATCH_QUIET_SECONDS": "4"}
    option = {"watch.quiet-seconds": "5"}

    def value(settings: Settings) -> tuple[int, str]:
        return settings.count("watch.quiet-seconds"), settings.origin("watch.quiet-seconds")

    assert value(load(**files, environ=variable, options=option)) == (5, "option")
    assert value(load(**files, environ=variable)) == (4, "REMVAULT_WATCH_QUIET_SECONDS")
    assert value(load(**files)) == (1, VAULT)
    assert value(load(user=files["user"])) == (2, USER)
    assert load(**files).count("watch.poll-seconds") == 3


@pytest.mark.parametrize(
    ("vault", "user", "environ"),
    [
        ("false", "true", None),
        ("true", "false", None),
        ("true", "true", "0"),
        ("true", "false", "1"),
    ],
)
def test_for_switches_an_off_anywhere_wins(vault: str, user: str, environ: str | None) -> None:
    variable = {"REMVAULT_SURFACE_ENABLED": environ} if environ else {}

    settings = load(f"[surface]\nenabled = {vault}\n", f"[surface]\nenabled = {user}\n", variable)

    assert not settings.flag("surface.enabled")


def test_of_two_limits_the_smaller_counts_and_the_environment_may_still_raise_it() -> None:
    vault, user = "[hook]\ntimeout-ms = 500\n", "[hook]\ntimeout-ms = 200\n"

    assert load(vault, user).count("hook.timeout-ms") == 200
    assert load(user, vault).origin("hook.timeout-ms") == VAULT
    assert load(vault, user, {"REMVAULT_HOOK_TIMEOUT_MS": "900"}).count("hook.timeout-ms") == 900


@pytest.mark.parametrize("name", ["capture.enabled", "handoff.commit", "watch.commit"])
def test_what_leaves_traces_needs_the_users_file_or_a_trusted_vault(name: str) -> None:
    section, key = name.split(".")
    asks = f"[{section}]\n{key} = true\n"

    alone = load(asks)
    assert not alone.flag(name)
    assert len(alone.warnings) == 1
    assert name in alone.warnings[0]
    assert "trust" in alone.warnings[0]
    assert load(asks, trusted=True).flag(name)
    assert load(user=asks).flag(name)
    assert load(asks, asks).flag(name)
    assert not load(asks, asks.replace("true", "false"), trusted=True).flag(name)


def test_an_untrusted_vault_may_raise_a_safety_rule_but_not_lower_it() -> None:
    lowers = '[rules]\nRV401 = "off"\nRV406 = "error"\nRV102 = "warning"\n'

    alone = load(lowers)
    assert alone.rules == {"RV406": "error", "RV102": "warning"}
    assert "RV401" in alone.warnings[0]
    assert load(lowers, trusted=True).rules["RV401"] == "off"
    # The user allowed a warning; the vault may not go below what the user chose.
    assert load(lowers, '[rules]\nRV401 = "warning"\n').rules["RV401"] == "warning"
    assert load(environ={"REMVAULT_RULES_RV401": "info"}).rules["RV401"] == "info"


def test_the_strictest_word_about_agents_writing_counts() -> None:
    vault, user = '[mcp]\nwrite = "direct"\n', '[mcp]\nwrite = "candidates"\n'

    assert load(vault, user).text("mcp.write") == "candidates"
    assert load(vault, user, {"REMVAULT_MCP_WRITE": "off"}).text("mcp.write") == "off"
    assert load(vault, user, {"REMVAULT_MCP_WRITE": "direct"}).text("mcp.write") == "candidates"


def test_the_users_file_names_the_team_before_the_vault_does() -> None:
    vault, user = '[context]\nteam = "theirs"\n', '[context]\nteam = "mine"\n'

    assert load(vault, user).text("context.team") == "mine"
    assert load(vault).text("context.team") == "theirs"
    assert load(vault, user, {"REMVAULT_CONTEXT_TEAM": "now"}).text("context.team") == "now"


def test_lists_of_both_files_are_joined() -> None:
    vault = '[projects.acme]\nremotes = ["a.example/x"]\n[secrets]\nallow = ["s1"]\n'
    user = '[projects.acme]\nremotes = ["b.example/x", "a.example/x"]\n[projects."acme.web"]\nremotes = []\n'

    settings = load(vault, user)

    assert settings.projects == {"acme": ("a.example/x", "b.example/x"), "acme.web": ()}
    assert settings.get("secrets.allow") == ("s1",)


@pytest.mark.parametrize(("kind", "commit"), [("standalone", "auto"), ("embedded", "stage")])
def test_the_kind_of_vault_decides_about_commits_when_nobody_says(kind: str, commit: str) -> None:
    settings = load(f'[vault]\nkind = "{kind}"\n')

    assert settings.text("git.commit") == commit
    assert settings.origin("git.commit") == "default"
    assert load(f'[vault]\nkind = "{kind}"\n[git]\ncommit = "{commit}"\n', '[git]\ncommit = "off"\n').text(
        "git.commit"
    ) == ("off")


@pytest.mark.parametrize(
    ("text", "setting", "hint"),
    [
        ("[surface]\nmax-char = 5\n", "surface.max-char", "did you mean 'surface.max-chars'?"),
        ("[serch]\nlimit = 5\n", "serch.limit", "did you mean 'search'?"),
        ("[rules]\nRV999 = 'off'\n", "rules.RV999", None),
        ("limit = 5\n", "limit", "write it as [section] and key = value"),
        ("search = 5\n", "search", "write it as [section] and key = value"),
        ("[search]\nlimit = '5'\n", "search.limit", None),
        ("[search]\nlimit = true\n", "search.limit", None),
        ("[search]\nlimit = -1\n", "search.limit", None),
        ("[search]\nlimit = 1.5\n", "search.limit", None),
        ("[search.limit]\nx = 1\n", "search.limit", None),
        ("[surface]\nenabled = 1\n", "surface.enabled", None),
        ("[rank]\nhalf-life-days = nan\n", "rank.half-life-days", None),
        ("[gate]\nthreshold = 1.5\n", "gate.threshold", None),
        ("[git]\ncommit = 'atuo'\n", "git.commit", "did you mean 'auto'?"),
        ("[vault]\nproject = 'Acme'\n", "vault.project", None),
        ("[vault]\nid = '../../x'\n", "vault.id", None),
        ('[vault]\nname = "two\\nlines"\n', "vault.name", None),
        ("[projects.Acme]\nremotes = []\n", "projects.Acme.remotes", None),
        ("[projects]\nacme = []\n", "projects.acme", None),
        ("[secrets]\nallow = [1]\n", "secrets.allow", None),
        ("[embeddings]\nmodel = 'x'\n", "embeddings.model", "move it there"),
        ("[providers.work]\npath = '/x'\n", "providers.work.path", "move it there"),
        ("[authors]\ndana = 'operator'\n", "authors.dana", "move it there"),
        ("[[surface]]\nenabled = true\n", "surface", "write it as [section] and key = value"),
    ],
)
def test_a_wrong_setting_stops_the_command_and_names_setting_value_and_origin(
    text: str, setting: str, hint: str | None
) -> None:
    with pytest.raises(SettingError) as caught:
        load(text)

    assert caught.value.setting == setting
    assert caught.value.origin == VAULT
    assert VAULT in caught.value.message
    assert setting in caught.value.message
    assert caught.value.value in caught.value.message
    if hint is not None:
        assert caught.value.hint == hint
    assert isinstance(caught.value, UsageError)
    assert caught.value.exit_code == 2


def test_the_user_file_takes_what_is_the_users_and_not_what_is_the_vaults() -> None:
    own = "[providers.work]\npath = '/srv/notes'\n[authors]\n'dana@example.org' = 'operator'\n"

    settings = load(user=own)

    assert settings.get("providers.work.path") == "/srv/notes"
    assert settings.get("providers.work.write") is False
    assert settings.table("authors") == {"dana@example.org": "operator"}
    with pytest.raises(SettingError, match=r"only a vault's remvault.toml"):
        load(user="[vault]\nid = 'x'\n")


@pytest.mark.parametrize("value", ["true", "yes", "on", "2", " 1"])
def test_switches_in_the_environment_are_1_and_0_only(value: str) -> None:
    with pytest.raises(SettingError, match="expected 1 or 0") as caught:
        load(environ={"REMVAULT_SURFACE_ENABLED": value})

    assert caught.value.origin == "REMVAULT_SURFACE_ENABLED"
    with pytest.raises(SettingError, match="REMVAULT_OFF"):
        load(environ={"REMVAULT_OFF": value})


def test_the_environment_is_checked_like_a_file() -> None:
    settings = load(
        environ={"REMVAULT_GATE_THRESHOLD": "0.5", "REMVAULT_SECRETS_ALLOW": "a, b", "REMVAULT_SEARCH_LIMIT": ""}
    )

    assert settings.get("gate.threshold") == 0.5
    assert settings.get("secrets.allow") == ("a", "b")
    assert settings.origin("search.limit") == "default"
    with pytest.raises(SettingError, match="a whole number"):
        load(environ={"REMVAULT_SEARCH_LIMIT": "ten"})


def test_an_unknown_variable_warns_and_a_reserved_one_does_not() -> None:
    environ = {
        "REMVAULT_SERCH_LIMIT": "5",
        "REMVAULT_VAULT_ID": "x",
        "REMVAULT_PROJECTS_ACME_REMOTES": "x",
        "REMVAULT_EMBEDDINGS_ENABLED": "1",
        "REMVAULT_VAULT": "/x",
        "REMVAULT_CONTEXT": "project=a",
        "REMVAULT_SESSION": "s",
        "REMVAULT_ACTOR": "user:dana",
        "REMVAULT_OFF": "1",
        "REMVAULT_DEBUG": "1",
        "REMVAULT_TEST_HOST_X": "1",
        "PATH": "/bin",
    }

    settings = load(environ=environ)

    assert settings.warnings == (
        "REMVAULT_EMBEDDINGS_ENABLED is ignored: the environment may not set [embeddings]",
        "REMVAULT_PROJECTS_ACME_REMOTES is ignored: the environment may not set [projects]",
        "REMVAULT_SERCH_LIMIT is unknown and ignored (did you mean 'REMVAULT_SEARCH_LIMIT'?)",
        "REMVAULT_VAULT_ID is ignored: the environment may not set [vault]",
    )
    assert settings.text("vault.id") is None
    assert settings.is_off
    assert settings.is_debug


def test_a_retired_setting_is_accepted_ignored_and_warned_about_once() -> None:
    retired = {"search.fuzzy": "search matches word forms by itself"}

    settings = load("[search]\nfuzzy = 'whatever it was'\nlimit = 4\n", retired=retired)

    assert settings.count("search.limit") == 4
    assert settings.warnings == (
        "setting 'search.fuzzy' in remvault.toml is retired and ignored: search matches word forms by itself",
    )
    assert load(environ={"REMVAULT_SEARCH_FUZZY": "?"}, retired=retired).warnings == (
        "REMVAULT_SEARCH_FUZZY is retired and ignored: search matches word forms by itself",
    )


def test_a_vault_of_a_newer_format_is_read_only_and_its_unknown_keys_only_warn() -> None:
    newer = "[vault]\nformat = 2\nshape = 'round'\n[dreams]\nx = 1\n[search]\nlimit = 4\n"

    settings = load(newer)

    assert settings.read_only_reason == (
        "remvault.toml says format 2, this remvault knows up to 1: upgrade remvault to write"
    )
    assert settings.count("search.limit") == 4
    assert len(settings.warnings) == 2
    assert load("[vault]\nformat = 1\n").read_only_reason is None


def test_a_file_that_is_not_toml_is_named_with_the_line() -> None:
    with pytest.raises(SettingsUnreadable) as caught:
        load("[search]\nlimit = \n")

    assert VAULT in caught.value.message
    assert "line 2" in caught.value.message
    assert caught.value.exit_code == 2


def test_a_byte_order_mark_and_windows_line_ends_are_read() -> None:
    assert load("\ufeff[search]\r\nlimit = 3\r\n").count("search.limit") == 3


def test_a_hostile_value_cannot_paint_the_terminal() -> None:
    with pytest.raises(SettingError) as caught:
        load('["\\u001b[31m"]\n"\\u0007" = "\\u001b[2J"\n')

    assert caught.value.message.isprintable()


def test_a_new_vault_file_reads_back_and_writes_out_what_decides() -> None:
    text = render_vault_toml(kind="embedded", vault_id="v-1", commit="stage", project="acme", name='say "hi"\\\x7f😀')

    assert tomllib.loads(text)["vault"]["name"] == 'say "hi"\\\x7f😀'
    settings = load(render_vault_toml(kind="embedded", vault_id="v-1", commit="stage", project="acme"))
    assert settings.text("vault.id") == "v-1"
    assert settings.text("vault.project") == "acme"
    assert settings.origin("git.commit") == VAULT


def test_the_listing_names_every_setting_with_its_origin() -> None:
    listing = load('[rules]\nRV102 = "off"\n', environ={"REMVAULT_SEARCH_LIMIT": "2"}).listing()

    assert ("search.limit", 2, "REMVAULT_SEARCH_LIMIT") in listing
    assert ("rules.RV102", "off", VAULT) in listing
    assert ("surface.max-chars", 2400, "default") in listing
    assert len({name for name, _, _ in listing}) == len(listing)


def test_every_row_has_help_and_a_section() -> None:
    for row in SETTINGS:
        assert row.help, row.name
        assert not row.help.endswith(".")
        assert "." in row.name
