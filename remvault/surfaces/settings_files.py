"""Where settings are read from: the vault's `remvault.toml` and the user's own file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from remvault.config import Settings, load_settings
from remvault.errors import UserError
from remvault.surfaces.surroundings import Surroundings

_MAX_BYTES = 1024 * 1024


def vault_settings(root: Path, around: Surroundings, options: Mapping[str, str] | None = None) -> Settings:
    """Read and combine every source of settings for one vault."""
    vault_file, user_file = root / "remvault.toml", user_settings_path(around)
    return load_settings(
        vault_toml=read_optional(vault_file),
        vault_source=str(vault_file),
        user_toml=read_optional(user_file),
        user_source=str(user_file),
        environ=around.environ,
        options=options,
    )


def user_settings(around: Surroundings) -> Settings:
    """The user's own settings alone, without any vault's."""
    user_file = user_settings_path(around)
    return load_settings(
        vault_toml=None,
        vault_source="",
        user_toml=read_optional(user_file),
        user_source=str(user_file),
        environ=around.environ,
    )


def user_settings_path(surroundings: Surroundings) -> Path:
    """Where the user's own settings lie."""
    return surroundings.user_config / "config.toml"


def read_optional(path: Path) -> str | None:
    """A file's text, None when there is none.

    Raises:
        UserError: when it is there but cannot be read as UTF-8, or is over 1 MiB.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise UserError(f"{path} is over 1 MiB, which no settings are", hint="mend or remove it")
        return data.decode("utf-8").replace("\r\n", "\n")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as err:
        raise UserError(f"{path} cannot be read: {err}", hint="mend or remove it") from err
