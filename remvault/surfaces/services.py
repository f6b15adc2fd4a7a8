"""The watcher as a service of the person's own session: a systemd user unit or a launchd agent, as text to be saved.

Owns: the two texts, their quoting, where they go.
Leaves alone: saving and starting them, which is the person's to do.
"""

from __future__ import annotations

import plistlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from remvault.errors import UserError
from remvault.surfaces.app import OpenVault

# Without a name from the vault: a comment must not hold two dashes in a row.
_AGENT_HELP = "<!-- Save in ~/Library/LaunchAgents, named as the label and .plist, then: launchctl load FILE -->"


class NoServiceKind(UserError):
    """This system starts services in a way we do not write for."""

    code = "no_service_kind"

    def __init__(self, platform: str) -> None:
        self.platform = platform
        super().__init__(f"no service can be written for {platform}", hint="start 'remvault watch' when you log in")


def service_text(vault: OpenVault, *, platform: str = sys.platform, python: str = sys.executable) -> str:
    """The service that watches this vault, with how to install it.

    Args:
        platform: as `sys.platform` names it.
        python: the interpreter that has remvault.

    Raises:
        NoServiceKind: for a system other than Linux and macOS.
    """
    # -P: a folder on the way must not stand in for our modules.
    command = [python, "-P", "-m", "remvault", "--vault", str(vault.root), "watch"]
    name = f"remvault-{re.sub('[^A-Za-z0-9_-]', '_', vault.settings.text('vault.id') or 'vault')}"
    if platform == "darwin":
        return _agent(command, f"org.{name.replace('-', '.', 1)}", vault.root)
    if platform.startswith("linux"):
        return _unit(command, name, vault.root)
    raise NoServiceKind(platform)


def _unit(command: Sequence[str], name: str, root: Path) -> str:
    return f"""\
# Save as ~/.config/systemd/user/{name}.service, then:
#   systemctl --user daemon-reload
#   systemctl --user enable --now {name}.service
[Unit]
Description=remvault: {_specifiers(_plain(root.name))}

[Service]
ExecStart={" ".join(map(_systemd_word, command))}
Restart=on-failure
RestartSec=10
Nice=10

[Install]
WantedBy=default.target
"""


def _agent(command: Sequence[str], label: str, root: Path) -> str:
    values = {
        "Label": label,
        "ProgramArguments": list(command),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ProcessType": "Background",
    }
    try:
        head, _, body = plistlib.dumps(values, sort_keys=False).decode("utf-8").partition("\n")
    except ValueError as err:
        raise UserError(f"launchd cannot be told of the path {root}: {err}", hint="rename the folder") from err
    return f"{head}\n{_AGENT_HELP}\n{body}"


def _systemd_word(word: str) -> str:
    """One argument of a command line in a unit: quoted, with nothing of it expanded."""
    escaped = re.sub(r'["\\]', r"\\\g<0>", _specifiers(word).replace("$", "$$"))
    return '"' + re.sub(r"[^ -~]", _escape, escaped) + '"'


def _escape(match: re.Match[str]) -> str:
    return "".join(f"\\x{byte:02x}" for byte in match[0].encode("utf-8", "surrogateescape"))


def _specifiers(text: str) -> str:
    return text.replace("%", "%%")


def _plain(text: str) -> str:
    """Text that stays on its line."""
    return re.sub(r"[^ -~]|\\", "?", text)
