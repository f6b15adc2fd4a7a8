"""The vault's `synonyms.toml`, read as what anybody may have put there: a file of limited size, never through a link.

Owns: reading it, making a problem of what is wrong with it.
Leaves alone: what may stand in it (domain.synonyms).
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from remvault.domain.problems import Problem, problem
from remvault.domain.synonyms import MAX_BYTES, BadSynonyms, Synonyms, parse_synonyms
from remvault.store.trees import ROOT, open_below

SYNONYMS_FILE = "synonyms.toml"


@dataclass(frozen=True, slots=True)
class VaultSynonyms(Synonyms):
    """What the file says; with a problem (RV604) it says nothing."""

    problem: Problem | None = None

    def notices(self) -> tuple[str, ...]:
        """What to say beside an answer that was found without them."""
        if self.problem is None:
            return ()
        line = "" if self.problem.line is None else f":{self.problem.line}"
        return (f"{SYNONYMS_FILE}{line} cannot be used, so no synonyms hold: 'remvault check' says why",)


def read_synonyms(root: Path) -> VaultSynonyms:
    """Read the synonyms of a vault; without a file there are none. Never fails."""
    try:
        text = _read(root)
        return VaultSynonyms(() if text is None else parse_synonyms(text).groups)
    except BadSynonyms as err:
        return VaultSynonyms(problem=problem("RV604", SYNONYMS_FILE, err.line, err.reason, err.hint))


def _read(root: Path) -> str | None:
    try:
        handle = open_below(root, ROOT, [], SYNONYMS_FILE)
    except (FileNotFoundError, NotADirectoryError):
        if not os.path.lexists(root / SYNONYMS_FILE):
            return None
        raise BadSynonyms(None, "it lies behind a link") from None
    except OSError as err:
        is_link = (root / SYNONYMS_FILE).is_symlink()
        raise BadSynonyms(None, "a link, links are not followed" if is_link else f"{err.strerror}") from err
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise BadSynonyms(None, "not a regular file")
    with os.fdopen(handle, "rb") as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise BadSynonyms(None, f"over {MAX_BYTES // 1024} KiB")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as err:
        raise BadSynonyms(data.count(b"\n", 0, err.start) + 1, "not UTF-8") from err
