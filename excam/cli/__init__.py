"""Explainable cultural awareness metrics. Data goes to stdout, everything else to stderr."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from excam.core.release import VERSION

COMMANDS = {  # in the order of the help: a function, or a group of commands
    "demo": "error_reports.demo.command:demo",
    "score": "cli.score_commands:score",
    "explain": "cli.score_commands:explain",
    "calibrate": "cli.calibrate_commands:calibrate",
    "qualify": "cli.qualify_commands:qualify",
    "compare": "cli.compare_commands:compare",
    "meta": "cli.meta_commands:meta",
    "report": "scoring.report_commands:report",
    "serve": "cli.serve_commands:serve",
    "audit": "lineage.commands:audit",
    "rows": "lineage.commands:rows",
    "list": "cli.list_commands:list_",
    "lock": "cli.list_commands:lock",
    "annotate": "annotation.commands:app",
    "knowledge": "knowledge.commands:app",
    "macaron": "macaron.commands:app",
    "rubric": "rubric.commands:app",
    "acre": "acre.commands:app",
    "calmqa": "calmqa.commands:app",
}
_HELP = r'^def {0}\(.*?"""(.*?)"""|^{0} = typer\.Typer\([^"]*help="(.*?)"'


def _summary(place: str) -> str:
    """Return the first paragraph of a command's help, read from its source: to import all modules takes longer."""
    module, _, name = place.partition(":")
    source = (Path(__file__).parents[1] / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")
    match = re.search(_HELP.format(name), source, re.M | re.S)
    assert match, f"{place}: neither a function with a docstring nor a group with a help"
    return " ".join((match[1] or match[2]).split("\n\n")[0].split())


class _LazyGroup(TyperGroup):
    """Commands whose modules are imported when they are used; help and completion show them without."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands.update((name, TyperCommand(name)) for name in COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command = getattr(importlib.import_module(f"excam.{module}"), name)
        parent = typer.Typer()
        if isinstance(command, typer.Typer):
            parent.add_typer(command, name=cmd_name)
        else:
            parent.command(cmd_name)(command)
        return typer.main.get_group(parent).commands[cmd_name]

    def listed(self) -> TyperGroup:
        """Return the group as help and completion show it: commands that have a name and a help, and cannot run."""
        group = TyperGroup(name=self.name, help=self.help, params=self.params, rich_markup_mode=self.rich_markup_mode)
        for name, place in COMMANDS.items():
            group.commands[name] = TyperCommand(name, short_help=_summary(place))
        return group

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self.listed().format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        return self.listed().shell_complete(ctx, incomplete)


app = typer.Typer(
    cls=_LazyGroup,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # to import rich takes a third of the time of a help
    help=__doc__,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(VERSION)
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[  # typer calls the function
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="print the version and exit")
    ] = False,
) -> None: ...
