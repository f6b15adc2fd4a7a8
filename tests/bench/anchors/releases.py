"""Released versions of open-source projects, fetched by name through `pip` and `npm`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Project:
    """A project and the releases that follow each other here, oldest first."""

    name: str
    language: str  # "Python", "JavaScript" or "Go"
    source: str  # "wheel", "sdist" or "npm"
    versions: tuple[str, ...]

    @property
    def suffix(self) -> str:
        """How the names of its source files end."""
        return {"Python": ".py", "JavaScript": ".js", "Go": ".go"}[self.language]


MOST_CHARACTERS = 200_000  # beyond it a table, or a bundle
PROJECTS = (
    Project("flask", "Python", "wheel", ("1.0.4", "1.1.4", "2.0.3", "2.3.3", "3.0.3", "3.1.0")),
    Project("click", "Python", "wheel", ("7.0", "7.1.2", "8.0.4", "8.1.7", "8.2.1")),
    Project("requests", "Python", "wheel", ("2.25.1", "2.27.1", "2.28.2", "2.31.0", "2.32.3")),
    Project("express", "JavaScript", "npm", ("4.16.4", "4.17.3", "4.18.3", "4.21.2", "5.1.0")),
    Project("axios", "JavaScript", "npm", ("0.21.4", "0.27.2", "1.2.6", "1.4.0", "1.7.9")),
    Project("commander", "JavaScript", "npm", ("5.1.0", "6.2.1", "7.2.0", "9.5.0", "12.1.0")),
    # These four were first replayed when the rules of what is looks were done.
    Project("jinja2", "Python", "wheel", ("2.11.3", "3.0.3", "3.1.2", "3.1.6")),
    Project("werkzeug", "Python", "wheel", ("1.0.1", "2.0.3", "2.2.3", "2.3.8", "3.0.6")),
    Project("semver", "JavaScript", "npm", ("6.3.0", "7.3.8", "7.5.4", "7.6.3")),
    Project("fastify", "JavaScript", "npm", ("3.29.5", "4.10.2", "4.28.1", "5.0.0")),
    # Python's registry holds the Go source of this one: the bindings are built from it.
    Project("gojsonnet", "Go", "sdist", ("0.16.0", "0.17.0", "0.19.1", "0.20.0", "0.21.0")),
)


class NotFetched(Exception):
    """The registry, or the tool that asks it, is not to be had."""


def fetch(project: Project, version: str, folder: Path) -> dict[str, str]:
    """The source files of a release in the project's language: text by path. `folder` keeps the archive.

    Raises:
        NotFetched: with what the tool said.
    """
    found = fetch_all(project, version, folder)
    return {path: text for path, text in found.items() if path.endswith(project.suffix) and _is_written(path, text)}


def fetch_all(project: Project, version: str, folder: Path) -> dict[str, str]:
    """Every file of a release; raises NotFetched as `fetch` does."""
    found = archive(project, version, folder)
    return _zipped(found) if found.suffix == ".whl" else _tarred(found)


def archive(project: Project, version: str, folder: Path) -> Path:
    """The file of a release; raises NotFetched as `fetch` does."""
    place = folder / f"{project.name}-{version}"
    if not place.is_dir():
        place.mkdir(parents=True)
        if project.source == "npm":
            _run("npm", "pack", "--silent", f"{project.name}@{version}", folder=place)
        else:
            kind = "--only-binary" if project.source == "wheel" else "--no-binary"
            wanted = f"{project.name}=={version}"
            _run(sys.executable, "-m", "pip", "download", "-q", "--no-deps", kind, ":all:", wanted, folder=place)
    archives = [path for path in place.iterdir() if path.suffix in (".whl", ".gz", ".tgz")]
    if len(archives) != 1:
        shutil.rmtree(place)
        raise NotFetched(f"{project.name} {version}: no archive")
    return archives[0]


def acorn(folder: Path) -> Path:
    """The file of the JavaScript parser that the oracle uses.

    Raises:
        NotFetched: no npm, or it does not reach a registry.
    """
    return unpacked("acorn@8", folder / "acorn") / "dist" / "acorn.js"


def unpacked(package: str, place: Path) -> Path:
    """A package of npm in a folder of its own; raises NotFetched as `acorn` does."""
    if not (place / "package").is_dir():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        _run("npm", "pack", "--silent", package, folder=place)
        with tarfile.open(next(place.glob("*.tgz"))) as opened:
            opened.extractall(place, filter="data")
    return place / "package"


def _is_written(path: str, text: str) -> bool:
    """Whether people of the project wrote this file: bundles and tables are made from others."""
    parts = path.split("/")
    is_made = "Code generated" in text[:500] or len(text) > MOST_CHARACTERS
    return not is_made and "dist" not in parts and "vendor" not in parts


def _run(*command: str, folder: Path) -> None:
    try:
        subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=300)
    except (OSError, subprocess.SubprocessError) as err:
        shutil.rmtree(folder)
        said = (getattr(err, "stderr", None) or str(err)).strip().splitlines()
        raise NotFetched(f"{command[-1]}: {said[-1] if said else 'failed'}") from err


def _zipped(archive: Path) -> dict[str, str]:
    with zipfile.ZipFile(archive) as opened:
        return {name: _text(opened.read(name)) for name in opened.namelist() if not name.endswith("/")}


def _tarred(archive: Path) -> dict[str, str]:
    """The files of an archive, without the folder that they all stand in."""
    with tarfile.open(archive) as opened:
        found = {}
        for member in opened.getmembers():
            read = opened.extractfile(member) if member.isfile() else None
            if read is not None:
                found[member.name.partition("/")[2]] = _text(read.read())
        return found


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
