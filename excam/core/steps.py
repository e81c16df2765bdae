"""What the steps of the workflow declare: their versions, and the rules that most of them are run by.

A step is a function under `@step(version=N)`, which also names the fields of its `StepRule`, as literals. A step that
wants of a machine what no field says has its rule in `rules/`. What several steps share stands once, in a dictionary
above them: `inputs=STUDY`, `inputs={**STUDY, "more": ...}`, `**PAGE`. They are read without an import, so that planning
loads no library for them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from excam.core.exceptions import InputInvalid

_NO_SEQUENCE = re.compile(r"(?:Annotated\[)?(list|tuple|set)\[")
SUFFIXES = {"numbers": (".csv",), "page": (".md",), "pictures": (".pdf", ".svg", ".png")}
READ = (".md", ".svg")  # what a report shows of a page; of a page without them, its numbers


@dataclass(frozen=True)
class StepRule:
    """A rule. Each input, setting and output is an option of its step, under the same name; so is a wildcard that the
    step has a parameter for. A step that asks a model has the options of `scripts.asking` too.

    An input is a path, a list of paths, or the name of a set of files; a setting is the name of a value, or its path in
    the configuration. A path with a star stands for those of every data set.
    """

    name: str  # of the step and the rule
    caption: str  # in the report: the docstring behind its first paragraph, in reStructuredText
    parameters: Sequence[str]  # of the step
    # of SUFFIXES, behind `result`; or the path or paths of each, or of its set
    outputs: Sequence[str] | Mapping[str, str | list[str]]
    result: str = ""  # the files of a page without their suffixes; may hold wildcards
    category: str = ""  # of a page, in the report
    inputs: Mapping[str, str | list[str]] = field(default_factory=dict)
    optional: Sequence[str] = ()  # inputs without which a page is made all the same
    settings: Mapping[str, str] = field(default_factory=dict)
    more: Mapping[str, str] = field(default_factory=dict)  # further outputs of a page
    silent: Sequence[str] = ()  # inputs and outputs that are no options
    wildcards: Mapping[str, str | list[str]] = field(default_factory=dict)  # their values, or the setting that has them
    stages: Sequence[str] = ()  # whose versions count beside its own
    target: str = ""  # the target that asks for it, wherever there is something to make it of
    environment: str = "data"  # a file of envs/
    local: bool = True  # on a cluster, made where the command is typed
    asks: str = ""  # the model: a name of `ASKED` in rules/step_files.smk
    minutes: int | str = 60  # that it may take, or the setting that says so
    journal: str = ""  # of its answers; may hold wildcards

    def __post_init__(self) -> None:
        if isinstance(self.outputs, Mapping):
            return
        if unknown := [name for name in self.outputs if name not in SUFFIXES]:
            raise ValueError(f"outputs: found {unknown[0]}, expected {', '.join(SUFFIXES)}; others stand in `more`")
        if not self.result or not self.category:
            raise ValueError("a page without result and category")

    @property
    def files(self) -> dict[str, list[str]]:
        """Return the paths of each output."""
        if isinstance(self.outputs, Mapping):
            return {name: [paths] if isinstance(paths, str) else paths for name, paths in self.outputs.items()}
        pages = {name: [self.result + suffix for suffix in SUFFIXES[name]] for name in self.outputs}
        return pages | {name: [path] for name, path in self.more.items()}

    @property
    def shown(self) -> list[str]:
        """Return the files that a report shows."""
        files = [path for paths in self.files.values() for path in paths]
        return [path for path in files if path.endswith(READ)] or files[:1]

    @property
    def axes(self) -> list[str]:
        """Return the names of the wildcards."""
        return list(dict.fromkeys(re.findall(r"\{(\w+)\}", str(self.files))))

    @property
    def record(self) -> str:
        """Return the path of its log and its times, without the folder and the suffix."""
        return "/".join([self.name, *(f"{{{name}}}" for name in self.axes)])


@dataclass(frozen=True)
class DeclaredStep:
    """A step: the module that holds it, its version, and its rule, if it declares one."""

    module: Path
    version: int
    rule: StepRule | None


def read_steps(root: Path) -> dict[str, DeclaredStep]:
    """Return the steps of `scripts/` and of the reports of systems, by name. Raises InputInvalid for an invalid one."""
    steps: dict[str, DeclaredStep] = {}
    for module in [*sorted(root.glob("scripts/*.py")), *sorted(root.glob("excam/*/report.py"))]:
        for name, declared in steps_of(module).items():
            if name in steps:
                raise InputInvalid(f"{module}: {name}: also a step of {steps[name].module}; expected another name")
            steps[name] = declared
    return steps


def steps_of(module: Path) -> dict[str, DeclaredStep]:
    """Return the steps that a module declares, by name, in its order. Raises InputInvalid for an invalid one."""
    try:
        body = ast.parse(module.read_text(encoding="utf-8")).body
    except SyntaxError as problem:
        raise InputInvalid(f"{module}:{problem.lineno}: {problem.msg}; expected a module of Python") from None
    shared = {
        target.id: node.value
        for node in body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    functions = [node for node in body if isinstance(node, ast.FunctionDef)]
    calls = [(function, _declaration(function)) for function in functions]
    return {function.name: _read(module, function, call, shared) for function, call in calls if call}


def _declaration(function: ast.FunctionDef) -> ast.Call | None:
    """Return the call `step(...)` among the decorators of a function; of a bare `step`, one without arguments."""
    for decorator in function.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else ast.Call(decorator, [], [])
        if isinstance(call.func, ast.Name) and call.func.id == "step":
            return call
    return None


def _read(module: Path, function: ast.FunctionDef, call: ast.Call, shared: Mapping[str, ast.Dict]) -> DeclaredStep:
    place = f"{module}: {function.name}"
    docstring = ast.get_docstring(function)
    if not docstring:
        raise InputInvalid(
            f"{place}: no docstring; expected one: it is the help of the step, and the caption of a page"
        )
    for parameter in (*function.args.args, *function.args.kwonlyargs):
        if plain := _NO_SEQUENCE.match(ast.unparse(parameter.annotation) if parameter.annotation else ""):
            raise InputInvalid(f"{place}: {parameter.arg}: found {plain[1]}[...]; expected Sequence[...]")
    try:
        values: dict[str, Any] = {}
        for keyword in call.keywords:
            value = _literal(keyword.value, shared)
            values |= {keyword.arg: value} if keyword.arg else value
        version = values.pop("version")
        values = ({"environment": "inference", "local": False} if "asks" in values else {}) | values
        caption = docstring.partition("\n\n")[2] or docstring
        parameters = [parameter.arg for parameter in (*function.args.args, *function.args.kwonlyargs)]
        rule = StepRule(name=function.name, caption=caption, parameters=parameters, **values) if values else None
        return DeclaredStep(module, version, rule)
    except (TypeError, ValueError, KeyError) as problem:
        names = ", ".join(rule_field.name for rule_field in fields(StepRule)[3:])
        why = "no version" if isinstance(problem, KeyError) else problem
        raise InputInvalid(f"{place}: {why}; expected version=N, and of a rule literals of {names}") from None


def option_words(values: Mapping[str, Any]) -> list[str]:
    """Return the words of a command line that give a step these values: of each, its name and what it holds."""
    words: list[str] = []
    for name, value in values.items():
        several = isinstance(value, Iterable) and not isinstance(value, str)
        words += [f"--{name.replace('_', '-')}", *map(str, value if several else [value])]
    return words


def _literal(node: ast.expr, shared: Mapping[str, ast.Dict]) -> Any:
    """Return the value of a literal, of a shared dictionary, or of one that begins with shared entries."""
    if isinstance(node, ast.Name):
        if node.id not in shared:
            raise ValueError(f"{node.id} is no dictionary of literals in this module")
        return _literal(shared[node.id], shared)
    if isinstance(node, ast.Dict):
        merged: dict[str, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            merged |= _literal(value, shared) if key is None else {ast.literal_eval(key): ast.literal_eval(value)}
        return merged
    return ast.literal_eval(node)
