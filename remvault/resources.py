"""The files that come with remvault: note templates, git hooks, and a vault to try things on.

Owns: finding them, in an installed package or in a checkout.
Leaves alone: what they say (`templates/`, `hooks/`, `vault/` at the top of the repository).
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from remvault.errors import RemvaultError

PACKAGE = Path(__file__).parent
TEMPLATES, HOOKS, DEMO_VAULT = "templates", "hooks", "vault"


class ResourceMissing(RemvaultError):
    """A file that should have come with the installation is not there."""

    code = "resource_missing"

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"{name!r} did not come with this installation", hint="install remvault again")


def resource(name: str, *, package: Path = PACKAGE) -> Path:
    """The file or folder of this name, such as `templates/decision.md`.

    An installed package carries them in `_data/`. A checkout has them beside the package; a folder there counts only
    when the `pyproject.toml` next to it is ours, since a `templates/` in somebody's site-packages is not.

    Args:
        name: relative, with "/".
        package: the folder of the package; the default is this one.

    Raises:
        ResourceMissing: if it is not there.
    """
    data = package / "_data"
    base = data if data.is_dir() else package.parent if _is_checkout(package.parent) else None
    if base is None or not (base / name).exists():
        raise ResourceMissing(name)
    return base / name


def template(memory_type: str) -> str:
    """The skeleton of a note of this type; raises ResourceMissing."""
    return resource(f"{TEMPLATES}/{memory_type}.md").read_text(encoding="utf-8")


def template_body(memory_type: str) -> str:
    """The text of a template below its frontmatter; raises ResourceMissing."""
    return template(memory_type).split("\n---\n", 1)[1]


def hook_script(event: str) -> str:
    """The script that runs our part of a git hook; raises ResourceMissing."""
    return resource(f"{HOOKS}/{event}").read_text(encoding="utf-8")


def demo_vault() -> Path:
    """The vault of this project, as it came with the installation; raises ResourceMissing."""
    return resource(DEMO_VAULT)


def _is_checkout(folder: Path) -> bool:
    try:
        table = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return False
    project = table.get("project")
    return isinstance(project, dict) and project.get("name") == "remvault"
