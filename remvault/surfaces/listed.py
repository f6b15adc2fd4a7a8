"""The vaults that the user's settings file lists as providers, besides the one we are in."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from remvault.config import Settings
from remvault.errors import UserError
from remvault.store.layout import VAULT_FILE
from remvault.surfaces.settings_files import user_settings
from remvault.surfaces.surroundings import Surroundings


class ProviderRefused(UserError):
    """A listed provider cannot be used as it stands in the settings file."""

    code = "provider"

    def __init__(self, provider: str, reason: str, *, hint: str | None = None) -> None:
        self.provider, self.reason = provider, reason
        super().__init__(f"provider {provider}: {reason}", hint=hint)


@dataclass(frozen=True, slots=True)
class Listed:
    """One `[providers.<name>]` of the settings file."""

    name: str
    path: str | None  # as typed
    is_writable: bool

    @property
    def root(self) -> Path:
        """Its folder, links resolved; nothing says that there is a vault.

        Raises:
            ProviderRefused: when the path is missing or would depend on the current folder.
        """
        if self.path is None:
            raise ProviderRefused(self.name, "no path is set", hint=f"add path below [providers.{self.name}]")
        place = Path(self.path).expanduser()
        if not place.is_absolute():
            hint = "write an absolute path, or one that begins with ~"
            raise ProviderRefused(self.name, f"path {self.path!r} is relative", hint=hint)
        resolved = Path(os.path.realpath(place))
        return resolved.parent if resolved.name == VAULT_FILE else resolved

    @property
    def why_read_only(self) -> str:
        """What to say to a write where none is allowed."""
        return f"provider {self.name} is listed for reading only: set write = true below [providers.{self.name}]"


def named_provider(name: str, around: Surroundings) -> Listed | None:
    """The listed provider that `--vault NAME` means; None when there is none or a folder is called so."""
    if "/" in name or "\\" in name or (around.cwd / name).exists():
        return None
    return next((one for one in listed_providers(user_settings(around)) if one.name == name), None)


def listed_providers(settings: Settings) -> list[Listed]:
    """Every listed provider, in the file's order."""
    found: dict[str, Listed] = {}
    for key, value in settings.table("providers").items():
        name, _, what = key.rpartition(".")
        known = found.get(name, Listed(name, None, False))
        found[name] = replace(known, path=str(value)) if what == "path" else replace(known, is_writable=bool(value))
    return list(found.values())


def others(providers: Sequence[Listed], own: Path, own_name: str) -> tuple[list[Listed], list[str]]:
    """The listed providers that are not the vault we are in, each folder once, and what to say of those left out.

    Args:
        own: the folder of the vault we are in.
        own_name: what it is called on its items.
    """
    seen = {own}
    kept: list[Listed] = []
    notices: list[str] = []
    for one in providers:
        try:
            root = one.root
        except (UserError, OSError, RuntimeError, ValueError) as err:
            notices.append(f"provider {one.name} did not answer: {getattr(err, 'reason', None) or err}")
            continue
        if root in seen:
            continue
        if one.name == own_name:
            notices.append(f"provider {one.name} was not asked: this vault has the same name, call it otherwise")
            continue
        seen.add(root)
        kept.append(one)
    return kept, notices
