"""Formatters over released sources: every definition whose digest changes is one that would drift for its looks.

Ruff over Python, Prettier over JavaScript, clang-format over C, C++, C# and Java, each in settings that differ much.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from remvault.store.outlines import outline
from tests.bench.anchors import releases
from tests.bench.anchors.releases import NotFetched, Project

MOST_FILES = 60  # of one suffix
_RUFF = (
    ("--line-length=79",),
    ("--line-length=120", "--config", 'format.quote-style="single"'),
    ("--line-length=60", "--preview"),
)
_PRETTIER = (
    {"printWidth": 80},
    {"printWidth": 60, "singleQuote": True, "semi": False, "arrowParens": "avoid", "trailingComma": "none"},
    {"printWidth": 140, "tabWidth": 4, "quoteProps": "consistent"},
)
_CLANG = ("Google", "Microsoft", "LLVM")
# Their archives hold C, C++, C# and Java.
_SOURCES = (
    Project("psutil", "C", "sdist", ("7.0.0",)),
    Project("kiwisolver", "C++", "sdist", ("1.4.8",)),
    Project("pythonnet", "C#", "sdist", ("3.0.5",)),
    Project("jep", "Java", "sdist", ("4.2.2",)),
)


@dataclass(frozen=True, slots=True)
class Formatted:
    """What one formatter did to the files of one suffix."""

    formatter: str
    suffix: str
    definitions: int
    changed: tuple[str, ...]  # path and name


def formatted(folder: Path) -> Iterator[Formatted]:
    """Run every formatter that is to be had; says which is not, and why."""
    for name, run in (("Ruff", _ruff), ("Prettier", _prettier), ("clang-format", _clang)):
        try:
            pairs = list(run(folder))
        except NotFetched as err:
            print(f"SKIPPED {name}: {err}")
            continue
        for suffix in sorted({PurePosixPath(path).suffix for path, *_ in pairs}):
            of = [pair for pair in pairs if pair[0].endswith(suffix)]
            yield Formatted(name, suffix, *_compared(of))


def _compared(pairs: Iterable[tuple[str, str, str]]) -> tuple[int, tuple[str, ...]]:
    count, changed = 0, []
    for path, before, after in pairs:
        old, new = _digests(path, before), _digests(path, after)
        count += len(old)
        changed += [f"{path}#{name}" for name, digests in old.items() if new.get(name) != digests]
    return count, tuple(changed)


def _digests(path: str, text: str) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for one in outline(path, text.encode()).definitions:
        found.setdefault(one.name, Counter())[one.digest] += 1
    return found


def _files(folder: Path, language: str) -> dict[str, str]:
    """The first release of each project: what nobody had formatted yet."""
    of = [project for project in releases.PROJECTS if project.language == language]
    texts = {}
    for project in of:
        for path, text in list(releases.fetch(project, project.versions[0], folder).items())[:MOST_FILES]:
            texts[f"{project.name}/{path}"] = text
    return texts


def _ruff(folder: Path) -> Iterator[tuple[str, str, str]]:
    for path, text in _files(folder, "Python").items():
        for options in _RUFF:
            command = [sys.executable, "-m", "ruff", "format", "--isolated", *options, "--stdin-filename", path, "-"]
            after = _piped(command, text)
            if after is not None:
                yield path, text, after


def _prettier(folder: Path) -> Iterator[tuple[str, str, str]]:
    package = releases.unpacked("prettier@3", folder / "prettier")
    script = Path(__file__).with_name("prettier_format.cjs")
    texts = _files(folder, "JavaScript")
    asked = json.dumps({"texts": texts, "options": _PRETTIER})
    answer = _piped(["node", str(script), str(package / "index.cjs")], asked)
    if answer is None:
        raise NotFetched("prettier does not run")
    found: Mapping[str, list[str]] = json.loads(answer)
    for path, several in found.items():
        yield from ((path, texts[path], after) for after in several)


def _clang(folder: Path) -> Iterator[tuple[str, str, str]]:
    binary = _clang_binary(folder)
    for project in _SOURCES:
        texts = releases.fetch_all(project, project.versions[0], folder)
        suffixes = (".c", ".cpp", ".h", ".cs", ".java")
        for suffix in suffixes:
            for path in [path for path in texts if path.endswith(suffix)][:MOST_FILES]:
                for style in _CLANG:
                    options = f"{{BasedOnStyle: {style}, SortIncludes: Never, BreakStringLiterals: false}}"
                    command = [str(binary), f"--style={options}", f"--assume-filename={path}"]
                    after = _piped(command, texts[path])
                    if after:
                        yield path, texts[path], after


def _clang_binary(folder: Path) -> Path:
    project = Project("clang-format", "", "wheel", ("19.1.7",))
    archive = releases.archive(project, project.versions[0], folder)
    with zipfile.ZipFile(archive) as opened:
        name = next(name for name in opened.namelist() if name.endswith("bin/clang-format"))
        binary = archive.with_name("clang-format")
        with opened.open(name) as source, binary.open("wb") as target:
            shutil.copyfileobj(source, target)
    binary.chmod(0o755)
    return binary


def _piped(command: list[str], text: str) -> str | None:
    """What a formatter makes of a text; None when it refuses it."""
    try:
        done = subprocess.run(command, input=text.encode(), capture_output=True, check=True, timeout=300)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace")
