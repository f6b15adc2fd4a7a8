"""The notes that a set becomes: what a capture tool would have written, as files of a vault."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from remvault.domain.scope import owner_key

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's
_TITLE_CHARS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchNote:
    """One note of a set, and what the harness knows of it without asking the product."""

    key: str  # the set's own id
    path: str  # in the vault
    title: str
    body: str
    type: str = "semantic"
    scope: str = "global"
    scope_id: str | None = None
    source: str
    actors: tuple[str, ...] = ("user:bench",)  # one provenance entry each
    captured: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)  # further frontmatter, as YAML
    is_superseded: bool = False

    @property
    def id(self) -> str:
        """The memory's id, made from the key."""
        return note_id(self.key)

    @property
    def owner(self) -> str:
        """The one owner that may see it, as `domain.scope.owner_key` names it."""
        owner = owner_key(self.scope, self.scope_id)
        assert owner is not None
        return owner

    def text(self) -> str:
        """The file."""
        values = {
            "id": self.id,
            "title": quoted(self.title),
            "type": self.type,
            "scope": self.scope,
            **({"scope-id": quoted(self.scope_id)} if self.scope_id else {}),
            "freshness": "superseded" if self.is_superseded else "current",
            **self.fields,
        }
        lines = [f"{name}: {value}" for name, value in values.items()]
        lines.append("provenance:")
        for actor in self.actors:
            lines += [f"  - source: {quoted(self.source)}", f"    actor: {quoted(actor)}", "    trust: user"]
            lines += [f"    captured: {self.captured}"] if self.captured else []
        return "---\n" + "\n".join(lines) + f"\n---\n{self.body.strip()}\n"


def note_id(key: str) -> str:
    """A memory id that is always the same for one key."""
    number = int.from_bytes(hashlib.sha256(key.encode()).digest()[:7], "big")
    return "m-" + "".join(_ALPHABET[number >> 5 * place & 31] for place in range(10))


def title_of(text: str) -> str:
    """The first words of a text as a title: its first sentence, at most 60 characters, whole words."""
    line = one_line(text)
    sentence = re.split(r"(?<=[.!?])\s", line, maxsplit=1)[0]
    if len(sentence) > _TITLE_CHARS:
        cut = sentence[: _TITLE_CHARS + 1].rsplit(" ", 1)[0] if " " in sentence[:_TITLE_CHARS] else sentence
        sentence = cut[:_TITLE_CHARS]
    return sentence.rstrip(" .,;:") or "Untitled"


def one_line(text: str) -> str:
    """The text in one line: blanks and what cannot be printed become single spaces."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def quoted(text: str) -> str:
    """A scalar that YAML reads back as this line of text."""
    return json.dumps(one_line(text), ensure_ascii=False)


def slug(text: str) -> str:
    """A text as a project id: lower case, everything else a dash."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-._") or "x"
