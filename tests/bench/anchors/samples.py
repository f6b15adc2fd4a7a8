"""Source texts with a definition in them, and what people do to it: `texts/*.txt`.

A text file names the language and two paths, then sections of prefixed lines. `[head]`, three `[other]` and `[tail]`
make a file around the definition of a `[target SYMBOL]`. The sections after a target are its variants: `|` lines are
a whole text, `-` and `+` lines are whole lines to take out and what comes in their place. `look` and `comment` mean
the same as the target; `body` and `signature` do not; `renamed SYMBOL` has another name only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

TEXTS = Path(__file__).parent / "texts"
KINDS = ("look", "comment", "body", "signature", "renamed")


@dataclass(frozen=True, slots=True)
class Variant:
    """Another text of one definition."""

    kind: str  # one of KINDS
    name: str  # what was done; for "renamed" the new symbol
    text: str


@dataclass(slots=True)
class Target:
    """A definition that is anchored, and its variants."""

    symbol: str
    text: str = ""
    variants: list[Variant] = field(default_factory=list)

    def of(self, *kinds: str) -> list[Variant]:
        """The variants of these kinds."""
        return [one for one in self.variants if one.kind in kinds]


@dataclass(slots=True)
class Sample:
    """A file of one language."""

    language: str = ""
    path: str = ""
    moved_path: str = ""  # for another file of the same language
    head: str = ""
    tail: str = ""
    others: list[str] = field(default_factory=list)  # definitions that nothing is anchored to
    targets: list[Target] = field(default_factory=list)

    def file(self, *pieces: str) -> str:
        """A file of these definitions."""
        return self.head + "\n".join(pieces) + self.tail


def load_all() -> list[Sample]:
    """Every sample, by language."""
    return [load(path.read_text(encoding="utf-8")) for path in sorted(TEXTS.glob("*.txt"))]


def load(text: str) -> Sample:
    """Read one text file.

    Raises:
        ValueError: a line that belongs to no section, or a variant that does not fit its target.
    """
    sample = Sample()
    title = ""
    lines: list[str] = []
    for line in [*text.splitlines(), "[end]"]:
        if line.startswith("["):
            _close(sample, title, lines)
            title, lines = line.strip("[]"), []
        elif line[:1] in "|-+" and line:
            lines.append(line)
        elif not title and ": " in line:
            name, _, value = line.partition(": ")
            setattr(sample, name.replace("-", "_"), value)
        elif line and not line.startswith("#"):
            raise ValueError(f"no part of a sample: {line!r}")
    return sample


def _close(sample: Sample, title: str, lines: list[str]) -> None:
    kind, _, name = title.partition(" ")
    whole = "".join(f"{line[1:]}\n" for line in lines)
    if kind in ("head", "tail"):
        setattr(sample, kind, whole)
    elif kind == "other":
        sample.others.append(whole)
    elif kind == "target":
        sample.targets.append(Target(name, whole))
    elif kind in KINDS:
        target = sample.targets[-1]
        text = whole if lines[0].startswith("|") else _patched(target.text, lines, title)
        target.variants.append(Variant(kind, name, text))
    elif kind:
        raise ValueError(f"no kind of section: {title!r}")


def _patched(text: str, lines: list[str], title: str) -> str:
    """`text` with each run of `-` lines, which stands in it once, replaced by the `+` lines after it."""
    hunks: list[tuple[str, str]] = []
    before = "+"
    for line in lines:
        if line[0] == "-" and before == "+":
            hunks.append(("", ""))
        old, new = hunks[-1]
        hunks[-1] = (old + line[1:] + "\n", new) if line[0] == "-" else (old, new + line[1:] + "\n")
        before = line[0]
    for old, new in hunks:
        if ("\n" + text).count("\n" + old) != 1:
            raise ValueError(f"[{title}] does not fit: {old!r}")
        text = ("\n" + text).replace("\n" + old, "\n" + new)[1:]
    return text
