"""The program: global options, the table of verbs, and what happens to failures.

Verbs are imported when they are asked for: building all of them costs more than most of them take to run.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer._click.exceptions import ClickException  # vendored by typer, hence the pin below 0.29
from typer.core import TyperGroup

from remvault.domain.suggestions import suggest
from remvault.errors import RemvaultError, UsageError
from remvault.surfaces.cli.invocation import Invocation
from remvault.surfaces.cli.screen import Screen

# Verb: the panel of `--help` that it stands in. The module is verbs/<verb>.py, its function <verb>.
VERBS: dict[str, str] = {
    "init": "Begin",
    "demo": "Begin",
    "new": "Write",
    "edit": "Write",
    "set": "Write",
    "unset": "Write",
    "supersede": "Write",
    "confirm": "Correct",
    "retract": "Correct",
    "archive": "Correct",
    "restore": "Correct",
    "delete": "Correct",
    "link": "Correct",
    "unlink": "Correct",
    "clear": "Correct",
    "undo": "Correct",
    "search": "Find",
    "surface": "Find",
    "catalog": "Find",
    "list": "Find",
    "show": "Find",
    "log": "Audit",
    "diff": "Audit",
    "blame": "Audit",
    "why": "Audit",
    "verify": "Audit",
    "conflicts": "Judge",
    "resolve": "Judge",
    "useful": "Judge",
    "irrelevant": "Judge",
    "stale": "Judge",
    "stats": "Keep",
    "check": "Keep",
    "doctor": "Keep",
    "status": "Keep",
    "reindex": "Keep",
    "watch": "Keep",
    "context": "Keep",
    "settings": "Keep",
    "hooks": "Keep",
}
EXIT_BUG = 3
EXIT_INTERRUPTED = 130


class VerbGroup(TyperGroup):
    """A command group whose commands are imported on demand."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Every verb, in the order of the help."""
        return list(VERBS)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The verbs of the help, by what they are for."""
        width = formatter.width - 6 - max(len(name) for name in VERBS)
        for panel in dict.fromkeys(VERBS.values()):
            rows = [(name, self.get_command(ctx, name)) for name in VERBS if VERBS[name] == panel]
            with formatter.section(panel):
                formatter.write_dl([(name, verb.get_short_help_str(width)) for name, verb in rows])

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import and build one verb; None for an unknown one."""
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"remvault.surfaces.cli.verbs.{cmd_name}")
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        if hasattr(module, "app"):  # a verb with verbs of its own
            group = typer.main.get_group(module.app)
            group.name, group.rich_help_panel = cmd_name, VERBS[cmd_name]
            return group
        app.command(name=cmd_name, rich_help_panel=VERBS[cmd_name], no_args_is_help=False)(module.verb)
        return typer.main.get_command(app)


_app = typer.Typer(
    cls=VerbGroup,
    name="remvault",
    help="Long-term memory for people and coding agents: Markdown notes in a git repository.",
    epilog="Notes are plain files: edit them anywhere, the next command sees it. Begin with 'remvault init'.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@_app.callback(invoke_without_command=True)
def _globals(
    ctx: typer.Context,
    vault: Annotated[
        str | None, typer.Option(metavar="PATH", help="The vault's folder (REMVAULT_VAULT); default: the nearest one")
    ] = None,
    context: Annotated[
        list[str] | None,
        typer.Option(metavar="SCOPE=ID", help="Act in this context, repeatable (REMVAULT_CONTEXT); default: resolved"),
    ] = None,
    actor: Annotated[
        str | None, typer.Option(metavar="KIND:NAME", help="Who acts: user:, agent: or tool: (REMVAULT_ACTOR)")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Answer with one JSON object")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but the answer")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say more about what happens")] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="No colours (also NO_COLOR)")] = False,
    version: Annotated[bool, typer.Option("--version", help="Print the version")] = False,
) -> None:
    invocation: Invocation = ctx.obj
    invocation.vault, invocation.contexts, invocation.actor = vault, context or [], actor
    invocation.screen.configure(as_json=as_json, quiet=quiet, verbose=verbose, no_color=no_color)
    if version:
        from remvault import __version__

        invocation.screen.answer({"version": __version__}, lambda: f"remvault {__version__}")
        raise typer.Exit(0)
    if ctx.invoked_subcommand is None:
        ctx.fail("no verb given")


_globals.__doc__ = None


def command() -> Any:
    """The whole command, for running, completing and documenting."""
    built = typer.main.get_command(_app)
    built.no_args_is_help = True
    return built


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; no failure leaves as a traceback."""
    screen = Screen.of_process(as_json="--json" in arguments)
    try:
        _refuse_bytes(arguments)
        invocation = Invocation.of_process(screen)
        result = command().main(args=list(arguments), prog_name="remvault", standalone_mode=False, obj=invocation)
        screen.flush()
        return result if isinstance(result, int) else 0
    except RemvaultError as err:
        screen.failure(err)
        return err.exit_code
    except ClickException as err:
        usage = UsageError(err.format_message().rstrip("."), hint=_usage_hint(err, arguments))
        if err.__class__.__name__ == "NoArgsIsHelpError":
            print(err.format_message(), file=sys.stderr)
        else:
            screen.failure(usage)
        return usage.exit_code
    except (KeyboardInterrupt, typer.Abort):
        screen.say("interrupted")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader went away, as `| head` does. Keep the interpreter from failing again when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as err:
        if err.filename is not None:
            screen.failure(Unreachable(err))
            return Unreachable.exit_code
        # Standard output itself cannot be written: one line on standard error is all that is left.
        print(f"remvault: the answer cannot be written: {err.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as err:
        return _bug(screen, err)


def _bug(screen: Screen, err: Exception) -> int:
    if os.environ.get("REMVAULT_DEBUG") == "1":
        traceback.print_exc()
    screen.failure(_Bug(err))
    return EXIT_BUG


def _refuse_bytes(arguments: Sequence[str]) -> None:
    """Arguments that are not UTF-8 arrive as half surrogates, which no file and no JSON can hold."""
    for argument in arguments:
        try:
            argument.encode("utf-8")
        except UnicodeEncodeError as err:
            raise UsageError(f"argument {argument!r} is not UTF-8 text", hint="check the terminal's encoding") from err


class Unreachable(RemvaultError):
    """A file or folder that is needed cannot be reached."""

    code = "unreachable"

    def __init__(self, err: OSError) -> None:
        self.path, self.reason = str(err.filename), err.strerror or type(err).__name__
        super().__init__(f"{self.path}: {self.reason[:1].lower()}{self.reason[1:]}", hint="check its permissions")


class _Bug(RemvaultError):
    code = "bug"
    exit_code = EXIT_BUG

    def __init__(self, err: Exception) -> None:
        frame = traceback.extract_tb(err.__traceback__)[-1]
        self.kind, self.place = type(err).__name__, f"{Path(frame.filename).name}:{frame.lineno}"
        hint = (
            "this is a bug in remvault; your notes are plain files and untouched. REMVAULT_DEBUG=1 shows the traceback"
        )
        super().__init__(f"unexpected {self.kind} at {self.place}: {err}", hint=hint)


def _usage_hint(err: ClickException, arguments: Sequence[str]) -> str:
    context = getattr(err, "ctx", None)
    path = context.command_path if context is not None else "remvault"
    unknown = next((word for word in arguments if not word.startswith("-")), None)
    close = suggest(unknown, list(VERBS)) if path == "remvault" and unknown and unknown not in VERBS else None
    return f"did you mean 'remvault {close}'?" if close else f"see '{path} --help'"
