"""Where things lie: finding the vault, the folder of a scope, the name of a new note, paths that stay inside.

Owns: turning people's and agents' words (titles, scope ids, paths) into safe places below a vault.
Leaves alone: which existing names are notes (`note_paths`), opening and writing them (`trees`, `files`).
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from remvault.domain.memory import ID
from remvault.domain.scope import GLOBAL, SCOPES
from remvault.errors import UserError
from remvault.store.note_paths import NOTE_SUFFIX, PathRefused, checked_parts, name_key

VAULT_FILE = "remvault.toml"
VAULT_FOLDERS = ("vault", ".memory")  # where an embedded vault is looked for below a folder
MAX_NAME_BYTES = 120
MAX_FOLDER_BYTES = 100
NOTES_PER_FOLDER = 500
# Windows reads these as devices, whatever the ending.
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$"} | {f"{d}{n}" for d in ("com", "lpt") for n in range(10)}
)
_NOT_ON_WINDOWS = re.compile(r'[<>:"|?*]')
# Letters that have a usual ASCII spelling but no decomposition.
_SPELLED = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ł": "l", "þ": "th", "ı": "i", "ħ": "h"}
)

Found = Literal["option", "environment", "search", "user"]


class NoVault(UserError):
    """There is no vault where one was looked for."""

    code = "no_vault"

    def __init__(self, looked: str, hint: str) -> None:
        self.looked = looked
        super().__init__(f"no vault: {looked}", hint=hint)


@dataclass(frozen=True, slots=True)
class VaultPlace:
    """A vault's folder and how it came to be chosen."""

    root: Path  # absolute, links resolved
    found: Found

    @property
    def is_named(self) -> bool:
        """Whether a person named it, by option or environment."""
        return self.found in ("option", "environment")


def find_vault(start: Path, *, explicit: Path | None, variable: str | None, user_data: Path) -> VaultPlace:
    """Choose the vault of a command.

    What is named wins, a relative path counted from `start`. Else the nearest folder from `start` upwards that has
    `remvault.toml`; else the nearest `vault/` or `.memory/` with one below those folders; else the user's own.

    Args:
        start: the current directory (of a hook: its JSON's `cwd`).
        explicit: `--vault`.
        variable: `REMVAULT_VAULT`; empty counts as not set.
        user_data: remvault's folder among the platform's data folders.

    Raises:
        NoVault: if what is named is no vault, or nothing is found.
    """
    if explicit is not None:
        return VaultPlace(_named(start, explicit, "--vault"), "option")
    if variable:
        return VaultPlace(_named(start, Path(variable), "REMVAULT_VAULT"), "environment")
    here = Path(os.path.realpath(start))
    folders = (here, *here.parents)
    for folder in folders:
        if is_vault(folder):
            return VaultPlace(folder, "search")
    for folder in folders:
        for name in VAULT_FOLDERS:
            below = folder / name
            # A clone could carry a link to somebody's other vault.
            if is_vault(below) and Path(os.path.realpath(below)) == below:
                return VaultPlace(below, "search")
    own = user_vault(user_data)
    if is_vault(own):
        return VaultPlace(Path(os.path.realpath(own)), "user")
    raise NoVault(f"none from {here} upwards", "make one here with 'remvault init', or name one with --vault PATH")


def user_vault(user_data: Path) -> Path:
    """Where the user's own vault lies, made or not."""
    return user_data / "vault"


def is_vault(folder: Path) -> bool:
    """Whether a folder is marked as a vault, by a regular file: a link could bring settings from elsewhere."""
    try:
        return stat.S_ISREG((folder / VAULT_FILE).lstat().st_mode)
    except (OSError, ValueError):
        return False


def folder_for(scope: str, scope_id: str | None, *, sensitivity: str = "normal", status: str = "active") -> str:
    """The folder of a note, relative to the vault, with "/".

    `private` for local-only notes, `inbox` for candidates, `global`, `workspace` for one without an id, else
    `<scope>/<scope-id>`. The frontmatter decides about a note, the folder is for people: two ids may share one.

    Raises:
        PathRefused: if the scope id could walk out of its folder or into a hidden one, or is no id at all.
    """
    if sensitivity == "local-only":
        return "private"
    if status == "candidate":
        return "inbox"
    if scope == GLOBAL:
        return GLOBAL
    if scope not in SCOPES:
        raise PathRefused(scope, "it is no scope")
    if scope_id is None and SCOPES.row(scope).has_home:
        return scope
    return "/".join((scope, *_id_folders(scope, scope_id or "")))


def note_filename(title: str, memory_id: str, *, taken: Collection[str]) -> str:
    """Make `<slug>-<id>.md` for a new note, at most `MAX_NAME_BYTES` long, unlike every name in `taken`.

    Names that differ only in letter case or accent composition count as equal: on other systems they are one file.

    Raises:
        PathRefused: if the id is none.
    """
    if not ID.match(memory_id):
        raise PathRefused(memory_id, "it is no memory id")
    slug = slugify(title)
    known = {name_key(name) for name in taken}
    number = 1
    while True:
        tail = f"-{memory_id}{NOTE_SUFFIX}" if number == 1 else f"-{memory_id}-{number}{NOTE_SUFFIX}"
        name = (_cut(slug, MAX_NAME_BYTES - len(tail)).rstrip("-") or "note") + tail
        if name_key(name) not in known:
            return name
        number += 1


def slugify(title: str) -> str:
    """Reduce a title to lower-case letters, digits and single dashes; "" when it has none.

    Latin letters lose their accents. Other scripts stay, with the marks that belong to their letters.
    """
    pieces: list[str] = []
    for base, marks in _clusters(unicodedata.normalize("NFC", title).casefold().translate(_SPELLED)):
        folded = unicodedata.normalize("NFKD", base + marks)
        plain = "".join(char for char in folded if not unicodedata.category(char).startswith("M"))
        if plain.isascii():
            pieces.append(re.sub(r"[^a-z0-9]", "-", plain.lower()))
        else:
            pieces.append(base + marks if base.isalnum() else "-")
    return re.sub(r"-+", "-", "".join(pieces)).strip("-")


def shard(root: Path, folder: str, year: int, month: int) -> str:
    """Choose where below `folder` a new note goes: there, or `<year>-<month>/` once it holds about 500 notes.

    When a month fills up too (a large import), `<year>-<month>-2/` and so on. Stops listing where the answer is known.
    """
    if not _is_full(contained(root, folder)):
        return folder
    name = f"{folder}/{year:04}-{month:02}"
    latest, number = name, 2
    while os.path.isdir(root / f"{name}-{number}"):  # noqa: PTH112 (a stat each, no Path objects)
        latest, number = f"{name}-{number}", number + 1
    return f"{name}-{number}" if _is_full(contained(root, latest)) else latest


def contained(root: Path, relative: str) -> Path:
    """Turn a path relative to the vault into one on disk that stays inside; it need not exist.

    Raises:
        PathRefused: for an absolute path, `..`, NUL, a backslash, control characters, `.git`, or a link on the way that
            leaves the vault, enters `.git` or goes in a circle. Nothing is opened.
    """
    parts = checked_parts(relative)
    if any(unicodedata.category(char) == "Cc" for char in relative):
        raise PathRefused(relative, "it contains control characters")
    base = Path(os.path.realpath(root))
    path = base.joinpath(*parts)
    if _is_circle(path):
        raise PathRefused(relative, "a link on the way goes in a circle")
    resolved = Path(os.path.realpath(path))
    if not resolved.is_relative_to(base):
        raise PathRefused(relative, "a link on the way leaves the vault")
    if resolved not in (path, base):
        checked_parts(resolved.relative_to(base).as_posix())
    return root.joinpath(*parts)


def _named(start: Path, given: Path, how: str) -> Path:
    if "\0" in str(given):
        raise NoVault(f"{how} contains a NUL character", "give the path of a folder")
    path = Path(os.path.realpath(start / given))
    if path.name == VAULT_FILE and is_vault(path.parent):
        path = path.parent
    if is_vault(path):
        return path
    for name in VAULT_FOLDERS:
        if is_vault(path / name):
            raise NoVault(f"{how} {given} has no {VAULT_FILE}", f"did you mean {given / name}?")
    hint = "make one there with 'remvault init PATH'" if path.is_dir() else "the folder does not exist"
    raise NoVault(f"{how} {given} has no {VAULT_FILE}", hint)


def _id_folders(scope: str, scope_id: str) -> list[str]:
    if scope_id.startswith((".", "-", "/", "~")):
        raise PathRefused(scope_id, "a scope id begins with a letter or digit")
    if not scope_id.strip() or not scope_id.isprintable():
        raise PathRefused(scope_id, "it is empty or contains control characters")
    parts = checked_parts(scope_id)
    if len(parts) > 1 and not SCOPES.row(scope).is_nested:
        raise PathRefused(scope_id, f"a {scope} id has no '/'")
    return [_folder_name(part) for part in parts]


def _folder_name(part: str) -> str:
    """One part of a scope id as a folder name that every system takes; not reversible."""
    name = _NOT_ON_WINDOWS.sub("_", unicodedata.normalize("NFC", part))
    if name[0] in ".-~ ":
        name = "_" + name[1:]
    if name[-1] in ". ":
        name = name[:-1] + "_"
    if name.split(".")[0].rstrip().casefold() in _DEVICES:
        name = "_" + name
    if len(name.encode("utf-8", "surrogateescape")) > MAX_FOLDER_BYTES:
        mark = hashlib.sha256(part.encode("utf-8", "surrogateescape")).hexdigest()[:8]
        name = f"{_cut(name, MAX_FOLDER_BYTES - 9)}-{mark}"
    return name


def _clusters(text: str) -> Iterator[tuple[str, str]]:
    """Split text into a character and the combining marks that follow it."""
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or not unicodedata.category(text[at]).startswith("M"):
            yield text[start], text[start + 1 : at]
            start = at


def _cut(text: str, size_bytes: int) -> str:
    """Cut to a size in UTF-8, never inside a character or between a letter and its marks."""
    if len(text.encode()) <= size_bytes:
        return text
    kept, used = [], 0
    for base, marks in _clusters(text):
        used += len((base + marks).encode())
        if used > size_bytes:
            break
        kept.append(base + marks)
    cut = "".join(kept)
    word_end = cut.rfind("-")
    return cut[:word_end] if word_end > len(cut) * 2 // 3 else cut


def _is_full(folder: Path) -> bool:
    try:
        with os.scandir(folder) as entries:
            notes = (entry for entry in entries if entry.name.endswith(NOTE_SUFFIX))
            return sum(1 for _ in zip(range(NOTES_PER_FOLDER), notes, strict=False)) >= NOTES_PER_FOLDER
    except FileNotFoundError:
        return False


def _is_circle(path: Path) -> bool:
    try:
        path.stat()
    except OSError as err:
        return err.errno == errno.ELOOP
    return False
