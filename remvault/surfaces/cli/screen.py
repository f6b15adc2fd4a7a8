"""What reaches the terminal: answers on stdout, talk on stderr, nothing that drives the terminal from a note."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TextIO

from remvault.domain.hostile_text import shown
from remvault.errors import RemvaultError

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


@dataclass(slots=True)
class Screen:
    """The two streams and how to use them."""

    out: TextIO
    err: TextIO
    as_json: bool = False
    quiet: bool = False
    verbose: bool = False
    colours: bool = False

    @classmethod
    def of_process(cls, *, as_json: bool = False) -> Screen:
        """The process's own streams; colours only for a terminal, and never with NO_COLOR."""
        if sys.stdout is None:  # closed by whoever started us
            sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (lives as long as the process)
        if sys.stderr is None:
            sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        colours = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # a lone surrogate in a file name must not end the program
                stream.reconfigure(errors="backslashreplace")
        return cls(sys.stdout, sys.stderr, as_json, colours=colours)

    def configure(self, *, as_json: bool, quiet: bool, verbose: bool, no_color: bool) -> None:
        """Take over the global options."""
        self.as_json = self.as_json or as_json
        self.quiet, self.verbose = quiet, verbose
        self.colours = self.colours and not no_color

    def answer(self, data: Mapping[str, Any], text: Callable[[], str]) -> None:
        """Print the answer: one JSON object, or the text, which is made only when needed."""
        if self.as_json:
            self.out.write(json.dumps(data, ensure_ascii=False, indent=2) + "\n")
        else:
            written = text()
            if written:
                self.out.write(written if written.endswith("\n") else written + "\n")

    def bytes(self, data: bytes) -> None:
        """Print a file's own bytes, untouched."""
        self.flush()
        self.out.buffer.write(data)

    def say(self, message: str) -> None:
        """Tell something about the run, unless quiet."""
        if not self.quiet:
            self.err.write(f"remvault: {_said(message)}\n")

    def plain(self) -> Screen:
        """The same screen without colours: for lines that `say` will make safe as a whole."""
        return replace(self, colours=False)

    def detail(self, message: str) -> None:
        """Tell something only with --verbose."""
        if self.verbose:
            self.say(message)

    def failure(self, err: RemvaultError) -> None:
        """Report a failed operation: JSON on stdout, or message and hint on stderr."""
        if self.as_json:
            error = {"code": err.code, "message": err.message, "hint": err.hint} | err.facts()
            self.out.write(json.dumps({"error": error}, ensure_ascii=False, indent=2) + "\n")
            self.flush()
            return
        self.flush()
        self.err.write(f"{self.style('error:', 'red')} {_said(err.message)}\n")
        if err.hint:
            self.err.write(f"{self.style('hint:', 'cyan')} {_said(err.hint)}\n")

    def style(self, text: str, *names: str) -> str:
        """Wrap text in colour codes where colours are on."""
        if not self.colours or not text:
            return text
        return f"\x1b[{';'.join(_STYLES[name] for name in names)}m{text}\x1b[0m"

    def flush(self) -> None:
        """Hand everything to the system, so that a closed pipe shows here and not at exit."""
        self.out.flush()


def _said(message: str) -> str:
    """A message that stays one: lines after the first are indented, so that none looks like a line of our own."""
    return shown(message).replace("\n", "\n  ")
