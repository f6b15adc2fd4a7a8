"""`remvault hooks install` and `remvault hooks uninstall`."""

from __future__ import annotations

import sys

import typer

from remvault.domain.hostile_text import one_line
from remvault.errors import UserError
from remvault.store.work_tree import WorkTree
from remvault.surfaces.app import OpenVault
from remvault.surfaces.cli.invocation import Json, of

app = typer.Typer(
    help="Put remvault's git hooks beside those that are there, or take them away.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
def install(ctx: typer.Context, as_json: Json = False) -> None:
    """Check before each commit, of notes and of code that memories rest on; other hooks still run and decide.

    In a project whose memories are kept in a vault elsewhere the hooks go into that project's repository.
    """
    from remvault.store.git_hooks import install

    run = of(ctx)
    vault = run.open(as_json)
    found = install(_tree(vault), vault.surroundings.environ, interpreter=sys.executable)
    answer = {"hooks": [{"event": one.event, "path": str(one.path), "installed": True} for one in found]}
    run.screen.answer(answer, lambda: "\n".join(one_line(f"installed {one.path}") for one in found))


@app.command()
def uninstall(ctx: typer.Context, as_json: Json = False) -> None:
    """Take remvault's hooks away and put back what was there before."""
    from remvault.store.git_hooks import uninstall

    run = of(ctx)
    vault = run.open(as_json)
    found = uninstall(_tree(vault), vault.surroundings.environ)
    answer = {"hooks": [{"event": one.event, "path": str(one.path), "installed": False} for one in found]}
    if not found:
        run.screen.say("no hook of remvault is installed here")
    run.screen.answer(
        answer,
        lambda: "\n".join(
            one_line(f"{'removed' if one.kind == 'installed' else 'put back'} {one.path}") for one in found
        ),
    )


def _tree(vault: OpenVault) -> WorkTree:
    """Where the hooks belong: the project of the current folder if the vault knows it, else the vault's repository."""
    code = vault.anchors.tree
    if code is not None and "project" in vault.bearings.own_context().ids:
        return code
    if vault.work_tree is None:
        raise UserError("the vault is not in a git repository", hint="run 'git init' there")
    return vault.work_tree
