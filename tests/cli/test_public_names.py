"""Names that programs of others import: they stay where they are."""

import importlib
import inspect
import re
from pathlib import Path

import pytest
from typer.main import get_command

from excam import cli

STATISTICS = ("scaled_accuracy", "kendall", "tie_calibrated_accuracy", "paired_permutation")

# --- docs/api.md names them, and each exists

PAGE = (Path(__file__).parents[2] / "docs/api.md").read_text(encoding="utf-8")
NAMES = sorted(set(re.findall(r"`(excam(?:\.\w+)+)", PAGE)))
GROUPS = re.findall(r"^\| `excam ([a-z]+)`: (.+?) \|", PAGE, re.M)
COMMANDS = {*re.findall(r"`excam ([a-z]+)`(?!:)", PAGE)}
COMMANDS |= {f"{group} {name}" for group, names in GROUPS for name in re.findall(r"[a-z-]+", names)}


def resolved(name: str) -> object:
    """The object of a dotted name."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def commands(group, prefix: str = "") -> set[str]:
    """Names of all commands, those of groups after the name of their group."""
    names = set()
    for name in group.commands:
        command = group.get_command(None, name)
        names |= commands(command, f"{prefix}{name} ") if hasattr(command, "commands") else {prefix + name}
    return names


@pytest.mark.parametrize("name", NAMES)
def test_a_documented_name_exists(name):
    assert resolved(name) is not None


def test_the_page_has_the_fixed_names():
    fixed = {"excam.load", "excam.error_reports.read", "excam.excam40k.diff_spans"}
    fixed |= {"excam.macaron.numbers.accuracies", "excam.calmqa.surface.repeated"}
    fixed |= {f"excam.stats.{name}" for name in STATISTICS}
    assert fixed <= set(NAMES)


@pytest.mark.parametrize("call", re.findall(r"^\| `(excam[\w.]+)\(([^)]*)\)`", PAGE, re.M), ids=lambda call: call[0])
def test_a_documented_call_has_these_parameters(call):
    name, written = call
    parameters = inspect.signature(resolved(name)).parameters
    words = [re.match(r"\w+", word) for word in written.split(", ")]
    assert [word[0] for word in words if word] == list(parameters)[: sum(map(bool, words))]


def test_the_page_has_every_command():
    assert commands(get_command(cli.app)) == COMMANDS
