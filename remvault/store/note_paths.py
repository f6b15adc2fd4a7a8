"""Which names under a vault are notes, and which paths may be opened at all.

Owns: the one definition of "a note's path", shared by every tree, and the refusal of paths that walk out.
Leaves alone: how new names are made (layout), opening files (trees, files).
"""

from __future__ import annotations

import re
import unicodedata

from remvault.errors import UserError

NOTE_SUFFIX = ".md"
# Folders at the top of a vault whose Markdown files are not (yet) memory that git carries.
SET_APART = frozenset({"private", "inbox", "handoffs", "ledger"})
LOCAL_ONLY = frozenset({"private", "handoffs"})
# Besides notes, what operations of ours write at the top of a vault, and into its ledger.
_OWN_FILES = frozenset({"remvault.toml", ".gitignore", ".gitattributes"})
_LEDGER_FILE = re.compile(r"ledger/[^/.][^/]*\.jsonl\Z")
# `git mergetool` leaves note_LOCAL_1234.md and its three companions beside a note for a moment.
_MERGE_COPY = re.compile(r"_(?:BACKUP|BASE|LOCAL|REMOTE)_\d+\.md\Z")


class PathRefused(UserError):
    """A path that leaves the vault, is absolute, or enters a `.git` folder."""

    code = "path_refused"

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(
            f"path {path!r} is refused: {reason}", hint="give a path inside the vault, such as global/x.md"
        )


def is_note_name(name: str) -> bool:
    """Say whether a file name is a note's: ends in `.md`, no dot-file, no editor's working copy.

    Working copies that also end in `.md`: `note~.md`, `~$note.md`, `.#note.md`, `#note#.md`, `note_LOCAL_1234.md`.
    """
    # Asked of every file before every read: plain comparisons first, a pattern costs as much as the stat.
    if not name.endswith(NOTE_SUFFIX) or name[0] in ".~" or name[-4] == "~":
        return False
    if name[0] == "#" and name[-4] == "#":
        return False
    return "_" not in name or _MERGE_COPY.search(name) is None


def is_note_path(path: str) -> bool:
    """Say whether a path relative to the vault, with "/", is where a note of the vault lies.

    False below dot-folders and below the folders set apart at the top; nothing on disk is looked at.
    """
    *folders, name = path.split("/")
    if not is_note_name(name) or (folders and folders[0] in SET_APART):
        return False
    return not any(folder.startswith(".") for folder in folders)


def is_own_path(path: str) -> bool:
    """Say whether an operation of ours may put a path relative to the vault into git: notes, candidates, own files."""
    note = path.removeprefix("inbox/")
    return is_note_path(note) or path in _OWN_FILES or _LEDGER_FILE.match(path) is not None


def is_local_only(path: str) -> bool:
    """Say whether a path lies in a folder that never enters git by our hand unless settings say so."""
    return path.split("/", 1)[0] in LOCAL_ONLY and "/" in path


def checked_parts(path: str) -> tuple[str, ...]:
    """Split a path relative to the vault into its parts.

    Raises:
        PathRefused: for an absolute path, `..`, `.`, an empty part, NUL, a backslash, a drive, or a `.git` part.
    """
    if "\0" in path:
        raise PathRefused(path, "it contains a NUL character")
    if path.startswith(("/", "~")) or re.match(r"[A-Za-z]:", path):
        raise PathRefused(path, "it is absolute")
    if "\\" in path:
        raise PathRefused(path, "it contains a backslash")
    parts = tuple(path.split("/"))
    if any(part in ("", ".", "..") for part in parts):
        raise PathRefused(path, "it has an empty, '.' or '..' part")
    if any(_is_git_folder(part) for part in parts):
        raise PathRefused(path, "it enters a .git folder")
    return parts


def name_key(path: str) -> str:
    """Fold a path to what a case-folding or normalising file system takes it for (NFC, casefold)."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _is_git_folder(part: str) -> bool:
    # As git itself: case, trailing dots and blanks (Windows), the short name, and what HFS+ ignores make no difference.
    seen = "".join(char for char in part if unicodedata.category(char) != "Cf").casefold().rstrip(". ")
    return seen in (".git", "git~1")
