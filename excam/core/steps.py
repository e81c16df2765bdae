"""What the steps of the workflow declare: their versions, and the pages of the results that some of them make.

A step is a function under `@step(version=N)`; the step of a page names the fields of `Page` there too, as literals.
Inputs that several pages share stand once, in a dictionary above them: `inputs=STUDY`, `inputs={**STUDY, "more": ...}`.
They are read without an import, so that planning loads no library for them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from inspect import cleandoc
from pathlib import Path
from typing import Any

from excam.core.exceptions import InputInvalid

SUFFIXES = {"numbers": (".csv",), "page": (".md",), "pictures": (".pdf", ".svg", ".png")}
# What follows `@step(`: its arguments, the name of the function, its parameters and its docstring.
_DECLARED = re.compile(r'((?:(?!\ndef ).)*?)\)\ndef (\w+)\(((?:(?!\ndef ).)*?)\) -> None:\n    """(.*?)"""', re.DOTALL)
_SHARED = re.compile(r"^([A-Z_]+) = (\{[^{}]*\})", re.MULTILINE)
_NO_SEQUENCE = re.compile(r"(\w+): (?:Annotated\[)?(list|tuple|set)\[")
READ = (".md", ".svg")  # what a report shows of a page; of a page without them, its numbers


@dataclass(frozen=True)
class Page:
    """A page. Each input, setting, output and wildcard is an option of its step, under the same name.

    An input is a path, a list of paths, or the name of a set of files; a setting is the name of a value.
    """

    name: str  # of the step and the rule
    caption: str  # in the report: the docstring behind its first paragraph, in reStructuredText
    result: str  # its files without their suffixes; may hold wildcards
    outputs: Sequence[str]  # of SUFFIXES
    category: str  # in the report
    inputs: Mapping[str, str | list[str]] = field(default_factory=dict)
    optional: Sequence[str] = ()  # inputs without which the page is made all the same
    settings: Mapping[str, str] = field(default_factory=dict)
    more: Mapping[str, str] = field(default_factory=dict)  # further outputs
    wildcards: Mapping[str, list[str]] = field(default_factory=dict)  # the values of wildcards of its own
    stages: Sequence[str] = ()  # whose versions count beside its own
    target: str = ""  # the target that asks for it, wherever there is something to make it of
    local: bool = True  # on a cluster, made where the command is typed

    def __post_init__(self) -> None:
        if unknown := [name for name in self.outputs if name not in SUFFIXES]:
            raise ValueError(f"outputs: found {unknown[0]}, expected {', '.join(SUFFIXES)}; others stand in `more`")

    @property
    def files(self) -> dict[str, list[str]]:
        """Return the paths of each output."""
        made = {name: [self.result + suffix for suffix in SUFFIXES[name]] for name in self.outputs}
        return made | {name: [path] for name, path in self.more.items()}

    @property
    def shown(self) -> list[str]:
        """Return the files that a report shows."""
        files = [path for paths in self.files.values() for path in paths]
        return [path for path in files if path.endswith(READ)] or files[:1]

    @property
    def axes(self) -> list[str]:
        """Return the names of the wildcards."""
        return re.findall(r"\{(\w+)\}", self.result)

    @property
    def record(self) -> str:
        """Return the path of its log and its times, without the folder and the suffix."""
        return "/".join([self.name, *(f"{{{name}}}" for name in self.axes)])


@dataclass(frozen=True)
class DeclaredStep:
    """A step: the module that holds it, its version, and the page that it makes, if it makes one."""

    module: Path
    version: int
    page: Page | None


def read_steps(folder: Path) -> dict[str, DeclaredStep]:
    """Return the steps that the modules of a folder declare, by name. Raises InputInvalid for an invalid one."""
    steps: dict[str, DeclaredStep] = {}
    for module in sorted(folder.glob("*.py")):
        whole = module.read_text(encoding="utf-8")
        before, *declarations = re.split(r"^@step\(", whole, flags=re.MULTILINE)
        line = before.count("\n") + 1
        shared = dict(_SHARED.findall(whole))
        for text in declarations:
            match = _DECLARED.match(text)
            if not match:
                raise InputInvalid(
                    f"{module}:{line}: expected `@step(version=N, ...)`, on the next line `def NAME(...) -> None:`, "
                    'then a docstring in """'
                )
            declared, name, parameters, docstring = match.groups()
            if name in steps:
                raise InputInvalid(f"{module}: {name}: also a step of {steps[name].module}; expected another name")
            if plain := _NO_SEQUENCE.search(parameters):
                raise InputInvalid(f"{module}: {name}: {plain[1]}: found {plain[2]}[...]; expected Sequence[...]")
            steps[name] = _read(module, name, declared, cleandoc(docstring), shared)
            line += text.count("\n")
    return steps


def _read(module: Path, name: str, declared: str, docstring: str, shared: Mapping[str, str]) -> DeclaredStep:
    try:
        call: Any = ast.parse(f"step({declared})", mode="eval").body
        values = {keyword.arg: _literal(keyword.value, shared) for keyword in call.keywords}
        version = values.pop("version")
        caption = docstring.partition("\n\n")[2] or docstring
        return DeclaredStep(module, version, Page(name=name, caption=caption, **values) if values else None)
    except (SyntaxError, TypeError, ValueError, KeyError) as problem:
        names = ", ".join(page_field.name for page_field in fields(Page)[2:])
        why = "no version" if isinstance(problem, KeyError) else problem
        raise InputInvalid(f"{module}: {name}: {why}; expected version=N, and of a page literals of {names}") from None


def _literal(node: ast.expr, shared: Mapping[str, str]) -> Any:
    """Return the value of a literal, of a shared dictionary, or of one that begins with shared entries."""
    if isinstance(node, ast.Name):
        if node.id not in shared:
            raise ValueError(f"{node.id} is no dictionary of literals in this module")
        return ast.literal_eval(shared[node.id])
    if isinstance(node, ast.Dict):
        merged: dict[str, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            merged |= _literal(value, shared) if key is None else {ast.literal_eval(key): ast.literal_eval(value)}
        return merged
    return ast.literal_eval(node)
