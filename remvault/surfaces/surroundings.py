"""What the process finds around itself: folder, environment, clock, randomness, the user's own folders."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from remvault.errors import UserError


class NoCurrentFolder(UserError):
    """The current folder was deleted under us."""

    code = "no_current_folder"

    def __init__(self) -> None:
        super().__init__("the current folder no longer exists", hint="change to another folder")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the process finds around itself; handed in, so that everything below is a function of it."""

    cwd: Path
    environ: Mapping[str, str]
    now: Callable[[], datetime]
    entropy: Callable[[int], bytes]
    user_config: Path  # platform folders of this user
    user_data: Path
    user_state: Path

    @classmethod
    def of_process(cls) -> Surroundings:
        """The surroundings of this process."""
        import platformdirs

        try:
            cwd = Path.cwd()
        except FileNotFoundError as err:
            raise NoCurrentFolder from err
        return cls(
            cwd=cwd,
            environ=os.environ,
            now=lambda: datetime.now(UTC),
            entropy=os.urandom,
            user_config=Path(platformdirs.user_config_path("remvault")),
            user_data=Path(platformdirs.user_data_path("remvault")),
            user_state=Path(platformdirs.user_state_path("remvault")),
        )
