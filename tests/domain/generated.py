"""Notes as people and editors write them, generated in pieces, so that a test knows which lines belong to which key."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from pathlib import Path

INPUTS = Path(__file__).parent.parent / "cases" / "inputs"

WORDS = """
deploys store cache linker half-past Zürich 東京 naïve 🚀 x1 0123 1e3 12:30 yes no on null ~ 2026-03-01 it's C# a#b
key:value http://host/p?q=1 snake_case kebab-case [[link]] `code` é -5 +7 0x1F .5 50% @home v1.2.3
""".split()  # noqa: SIM905
KEYS = """
id title type scope scope-id freshness status provenance anchors summary aliases tags entities parent importance
created supersedes relations cssclasses reviewer due my_key X-Custom données 键 key.with.dots
""".split()  # noqa: SIM905


@dataclass(frozen=True, slots=True)
class Piece:
    """Whole lines of a block. `key` is None for comments and blank lines between keys."""

    key: str | None
    text: str
    is_list: bool = False


@dataclass(frozen=True, slots=True)
class GeneratedNote:
    """A note and the pieces its block is made of."""

    bom: str
    opening: str
    pieces: tuple[Piece, ...]
    closing: str
    body: str

    @property
    def text(self) -> str:
        return self.around("")[0] + self.closing + self.body

    @property
    def keys(self) -> list[str]:
        return [piece.key for piece in self.pieces if piece.key is not None]

    def around(self, key: str) -> tuple[str, str]:
        """The text before a key's lines and after them; for a key that is not there, all and the rest."""
        texts = [piece.text for piece in self.pieces]
        at = next((n for n, piece in enumerate(self.pieces) if piece.key == key), None)
        start = self.bom + self.opening
        if at is None:
            return start + "".join(texts), self.closing + self.body
        return start + "".join(texts[:at]), "".join(texts[at + 1 :]) + self.closing + self.body

    def lines_of(self, key: str) -> str:
        """The lines of a key, as they stand."""
        return next(piece.text for piece in self.pieces if piece.key == key)


def real_bytes() -> list[bytes]:
    """The byte-exact input files of the public faults."""
    return [path.read_bytes() for path in sorted(INPUTS.glob("*.md"))]


def generated_note(rng: random.Random, *, tabs: bool = True) -> GeneratedNote:
    """Make one note: any line ends, quoting and layout that YAML has and our subset allows.

    Without `tabs` none stands between tokens, where only libyaml takes them.
    """
    ends = rng.choice((("\n",), ("\n",), ("\r\n",), ("\n", "\r\n")))

    def end() -> str:
        return rng.choice(ends)

    indent = rng.choice(("", "", "", "", " ", "   "))
    pieces: list[Piece] = []
    after_block_text = False  # an indented comment or blank line behind it would be part of the text
    for key in rng.sample(KEYS, rng.randint(1, 9)):
        if rng.random() < 0.25:
            kinds = ("# a comment: with colon", "", "#", *(() if after_block_text else ("  # indented", "   ")))
            pieces.append(Piece(None, rng.choice(kinds) + end()))
        lines, is_list = _lines(rng, key)
        after_block_text = bool(re.search(r": [|>][-+]?\s", lines[0] + " "))
        if not tabs:
            lines = [line.replace("\t", " ") for line in lines]
        pieces.append(Piece(key, "".join(indent + line + end() for line in lines), is_list))
    body = "".join(rng.choice(("Text.", "---- ", "", "  indented", "# Heading", "a: b")) + end() for _ in range(3))
    body = rng.choice((body, body.rstrip(), ""))
    closing = "---" + rng.choice(("", "", "  ", "\t")) + (end() if body or rng.random() < 0.5 else "")
    return GeneratedNote(
        bom=rng.choice(("", "", "", "\ufeff")),
        opening="---" + rng.choice(("", "", " ")) + end(),
        pieces=tuple(pieces),
        closing=closing,
        body=body,
    )


def _words(rng: random.Random, most: int = 4) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, most)))


def _safe(rng: random.Random) -> str:
    """Text that may stand without quotes anywhere."""
    return " ".join(
        rng.choice(("alpha", "Beta", "gamma-1", "ünï", "7", "0123", "yes")) for _ in range(rng.randint(1, 3))
    )


def _single(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _double(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _scalar(rng: random.Random) -> str:
    return rng.choice((_safe(rng), _safe(rng), _single(_words(rng)), _double(_words(rng)), "2026-03-01T10:00:00+02:00"))


def _lines(rng: random.Random, key: str) -> tuple[list[str], bool]:
    """The lines of one key without the block's own indent and line ends; whether the value is a list."""
    name = rng.choice((key, key, key, key, _single(key), _double(key)))
    gap = rng.choice((" ", " ", "  ", "\t"))
    comment = rng.choice(("", "", "", "  # why", " #", "\t# x: y"))
    inner = rng.choice(("  ", "  ", "    ", " "))
    kind = rng.randrange(16)
    if kind < 4:
        return [f"{name}:{gap}{_scalar(rng)}{comment}"], False
    if kind == 4:
        return [name + ":" + rng.choice(("", " ", comment, " null", " ~"))], False
    if kind == 5:
        return [f"{name}: {_safe(rng)}", f"{inner}{_safe(rng)}", f"{inner}{_safe(rng)}{comment}"], False
    if kind == 6:
        return [f'{name}: "{_safe(rng)}', f"{inner}{_safe(rng)}", f'{inner}{_safe(rng)}"{comment}'], False
    if kind == 7:
        sign = rng.choice(("|", ">", "|-", ">-", "|+"))
        return [
            f"{name}: {sign}{comment}",
            f"{inner}{_words(rng)}",
            *(f"{inner}{rng.choice(('', '  '))}{_words(rng)}" for _ in range(rng.randint(0, 2))),
        ], False
    if kind in (8, 9, 10):
        blank = rng.choice(("", "", " "))
        items = f",{gap}".join(_scalar(rng) for _ in range(rng.randint(0, 4)))
        return [f"{name}:{gap}[{blank}{items}{blank}]{comment}"], True
    if kind == 11:
        items = [f"{inner}{_scalar(rng)},{rng.choice(('', '  # item'))}" for _ in range(rng.randint(1, 3))]
        return [f"{name}: [", *items, f"{inner}]{comment}"], True
    if kind in (12, 13):
        depth = rng.choice(("", "  ", "    "))
        items = [f"{depth}-{gap if gap != chr(9) else ' '}{_scalar(rng)}{comment}" for _ in range(rng.randint(1, 3))]
        extra = [f"{depth}# about the next"] if rng.random() < 0.2 else []
        return [f"{name}:{comment}", *items[:1], *(extra if len(items) > 1 else []), *items[1:]], True
    if kind == 14:
        depth = rng.choice(("", "  "))
        entry = [f"{depth}- source: {_scalar(rng)}", f"{depth}  actor: {_scalar(rng)}{comment}"]
        return [f"{name}:", *entry * rng.randint(1, 2)], True
    return [f"{name}:", f"{inner}one: {_scalar(rng)}", f"{inner}two:", f"{inner} - {_scalar(rng)}"], False
