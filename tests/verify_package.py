"""Build the package, install it in an environment of its own outside the repository, and use it from there.

Run by `make verify-package`; exit code 0 when everything that should have come along did and works.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
CARRIED = ("templates", "hooks", "vault")
IN_SDIST = ("LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "Makefile", "pyproject.toml", ".ci/run",
            "tests/conftest.py", ".pre-commit-hooks.yaml")  # fmt: skip
LIST_VERBS = """
from remvault.surfaces.cli.program import VERBS, command

top = command()
for verb in VERBS:
    print(verb)
    for inner in getattr(top.get_command(None, verb), "commands", {}):
        print(verb, inner)
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Verify the package of this checkout and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--no-isolation", action="store_true", help="build with what is installed, fetching nothing")
    asked = parser.parse_args(arguments)
    with TemporaryDirectory(prefix="verify-") as place:
        folder = Path(place)
        wheel, sdist = build(folder / "dist", isolated=not asked.no_isolation)
        missing = [*missing_in_wheel(wheel), *missing_in_sdist(sdist)]
        for name in missing:
            print(f"missing: {name}")
        if missing:
            return 1
        Installed(folder, wheel).try_everything()
    print("the package is whole")
    return 0


def build(folder: Path, *, isolated: bool) -> tuple[Path, Path]:
    """Build sdist and, from it, wheel; return wheel and sdist."""
    command = [sys.executable, "-m", "build", "--outdir", str(folder)]
    subprocess.run(
        [*command, *([] if isolated else ["--no-isolation"]), str(ROOT)], check=True, stdout=subprocess.DEVNULL
    )
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    print(f"built {wheel.name} ({wheel.stat().st_size // 1024} KiB), {sdist.name} ({sdist.stat().st_size // 1024} KiB)")
    return wheel, sdist


def tracked(*folders: str) -> list[str]:
    """What git tracks below folders of the checkout; below the folders themselves where there is no git."""
    done = subprocess.run(["git", "ls-files", "-z", "--", *folders], cwd=ROOT, capture_output=True, check=False)
    if done.returncode == 0 and done.stdout:
        return done.stdout.decode().rstrip("\0").split("\0")
    return [path.relative_to(ROOT).as_posix() for one in folders for path in (ROOT / one).rglob("*") if path.is_file()]


def missing_in_wheel(wheel: Path) -> list[str]:
    """Carried files and modules that are not in the wheel; and what has no business there."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    wanted = {f"remvault/_data/{name}" for name in tracked(*CARRIED)} | set(tracked("remvault"))
    strangers = {name for name in names if name.split("/")[0] != "remvault" and ".dist-info/" not in name}
    strangers |= {name for name in names if "/private/" in name or "/handoffs/" in name}
    return [f"{name} in the wheel" for name in sorted(wanted - names)] + [
        f"reason for {name} in the wheel" for name in sorted(strangers)
    ]


def missing_in_sdist(sdist: Path) -> list[str]:
    """Files of the checkout that the sdist should have and has not."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {*IN_SDIST, *tracked("remvault", "tests", *CARRIED)}
    return [f"{name} in the sdist" for name in sorted(wanted - names)]


class Installed:
    """The wheel in an environment of its own, with an empty home, away from the checkout."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.work = folder / "work"
        self.work.mkdir()
        home = folder / "home"
        home.mkdir()
        (home / "gitconfig").write_text("[user]\n\tname = Dana\n\temail = dana@example.org\n")
        kept = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("GIT_", "PYTHON", "REMVAULT_", "XDG_"))
        }
        self.bin = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
        self.environ = kept | {
            "HOME": str(home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
            "NO_COLOR": "1",
            "PATH": f"{self.bin}{os.pathsep}{kept.get('PATH', os.defpath)}",
        }
        venv.create(folder / "env", with_pip=True)
        # The home of the person's own pip settings is still the real one here: it may name the index to use.
        self.python = str(self.bin / "python")
        subprocess.run(
            [self.python, "-m", "pip", "install", "-q", "--disable-pip-version-check", str(wheel)], check=True
        )

    def run(self, *command: str, folder: Path | None = None) -> str:
        """Run a command and return what it printed; its failure ends the verification."""
        done = subprocess.run(
            command, cwd=folder or self.work, env=self.environ, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)} failed with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def try_everything(self) -> None:
        """Use what was installed the way people do."""
        self.try_help()
        self.try_resources()
        self.try_journey()
        self.try_hook()
        self.run("remvault", "demo")
        print("the demo ran")

    def try_help(self) -> None:
        """Every verb explains itself, and so does the hook."""
        assert "remvault" in self.run("remvault", "--version")
        verbs = self.run(self.python, "-c", LIST_VERBS).splitlines()
        for verb in verbs:
            assert "Usage" in self.run("remvault", *verb.split(), "--help"), verb
        self.run("remvault-hook", "--help")
        self.run(self.python, "-m", "remvault", "--help")
        print(f"{len(verbs)} verbs explain themselves")

    def try_resources(self) -> None:
        """Templates, hooks and the demo's vault are found inside the installation, as they are in the checkout."""
        where = "from remvault.resources import resource; print(resource('templates').parent)"
        data = Path(self.run(self.python, "-c", where).strip())
        assert self.bin.parent in data.parents, f"{data} is not inside the installation"
        for name in tracked(*CARRIED):
            assert (data / name).read_bytes() == (ROOT / name).read_bytes(), name
        print(f"{len(tracked(*CARRIED))} carried files are the checkout's")

    def try_journey(self) -> None:
        """A vault, a memory, and finding it again."""
        folder = self.work / "notes"
        self.run("git", "init", "-q", str(folder))
        self.run("remvault", "init", folder=folder)
        fields = ("--type", "decision", "--scope", "global", "--body", "Nobody is there on Saturday to mend it.")
        self.run("remvault", "new", "Deploys: never on Friday", *fields, folder=folder)
        found = json.loads(self.run("remvault", "search", "deploys", "--json", folder=folder))
        assert [hit["title"] for hit in found["hits"]] == ["Deploys: never on Friday"]
        assert "Remvault-Op: new" in self.run("git", "log", "--format=%B", "-1", folder=folder)
        assert self.run("git", "status", "--porcelain", folder=folder) == ""
        print("a memory was written, committed and found")

    def try_hook(self) -> None:
        """The installed hook refuses a note without provenance."""
        folder = self.work / "notes"
        self.run("remvault", "hooks", "install", folder=folder)
        (folder / "global/bad.md").write_text("---\nid: m-bad\ntitle: Bad\n---\nNo source.\n")
        self.run("git", "add", "global/bad.md", folder=folder)
        done = subprocess.run(
            ["git", "commit", "-q", "-m", "bad"],
            cwd=folder,
            env=self.environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode != 0, "the hook let a bad note in"
        assert "global/bad.md:" in done.stderr, done.stderr
        assert "RV4" in done.stderr, done.stderr
        print("the hook refused a note without provenance")


if __name__ == "__main__":
    sys.exit(main())
