"""Run the real program, in this process or in one of its own."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest

from remvault.surfaces.cli.program import run

ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Done:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Cli(Protocol):
    def __call__(self, *args: str, cwd: Path | None = None, code: int | None = 0, stdin: str = "") -> Done: ...


class _Bytes(io.TextIOWrapper):
    """A text stream whose bytes can be read back, as a process's standard output has it."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", newline="")

    def text(self) -> str:
        self.flush()
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode("utf-8")


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run `remvault` in this process; checks the exit code unless `code` is None."""

    def call(*args: str, cwd: Path | None = None, code: int | None = 0, stdin: str = "") -> Done:
        out, err = _Bytes(), _Bytes()
        here = Path.cwd()
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        try:
            if cwd is not None:
                os.chdir(cwd)
            with redirect_stdout(out), redirect_stderr(err):
                got = run(args)
        finally:
            os.chdir(here)
        done = Done(got, out.text(), err.text())
        assert "Traceback" not in done.err
        if code is not None:
            assert done.code == code, f"{args}: exit {done.code}\n{done.out}\n{done.err}"
        return done

    return call


@pytest.fixture
def process() -> Cli:
    """Run `remvault` in a process of its own."""

    def call(*args: str, cwd: Path | None = None, code: int | None = 0, stdin: str = "") -> Done:
        got = subprocess.run(
            [sys.executable, "-m", "remvault", *args],
            cwd=cwd, capture_output=True, text=True, input=stdin, env=os.environ | {"PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        done = Done(got.returncode, got.stdout, got.stderr)
        assert "Traceback" not in done.err
        if code is not None:
            assert done.code == code, f"{args}: exit {done.code}\n{done.out}\n{done.err}"
        return done

    return call


@pytest.fixture
def vault(repo: Path, cli: Cli) -> Path:
    """A standalone vault, committed."""
    cli("init", cwd=repo)
    return repo
