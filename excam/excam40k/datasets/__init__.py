"""Benchmarks by name: `load` returns a module of this folder or one outside, `available` lists the folder."""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import cast, get_args

import polars as pl

from excam.core.exceptions import ConfigInvalid, SourceInvalid, in_a_line
from excam.core.licences import Term, expected_instead, terms
from excam.core.registries import modules_in
from excam.excam40k.datasets._changes import Rows as Rows
from excam.excam40k.datasets._changes import applied
from excam.excam40k.datasets.base import Benchmark, Errors, Mistake, Reading, Source, Task

_BUGS = (TypeError, NameError, AttributeError, LookupError)  # of a module's own code
_LEAST_QUESTIONS = 5  # of a culture: fewer say nothing about it


def available() -> tuple[str, ...]:
    """Return names of all benchmarks of the package, sorted: the modules of this folder, with `-` for `_`."""
    return modules_in("excam40k/datasets")


def load(name: str, path: str | None = None) -> Benchmark:
    """Return the benchmark `name`: a module of this folder or, where `path` is given, the one in that file.

    Raises ConfigInvalid for an unknown name, and for a module that cannot be run or is incomplete.
    """
    if path is None and name not in available():
        raise ConfigInvalid(
            f"datasets.{name}: no such benchmark; known: {', '.join(available())}; "
            f"for one of your own set datasets.{name}.module to its file (docs/extending.md)"
        )
    module = _run(name, path) if path else import_module(f"excam.excam40k.datasets.{name.replace('-', '_')}")
    module.__dict__.setdefault("MISTAKE", "fact")
    for problem in _problems(module):
        raise ConfigInvalid(f"{place_of(name, path)}: {problem}")
    return cast(Benchmark, module)


def _problems(module: ModuleType) -> Iterator[str]:
    """Yield what is missing or wrong in the module of a benchmark."""
    for constant, of in (("TASK", Task), ("ERRORS", Errors), ("MISTAKE", Mistake)):
        if (value := getattr(module, constant, None)) not in (expected := get_args(of)):
            yield f"{constant}: found {value!r}; expected one of {', '.join(expected)}"
    source = getattr(module, "SOURCE", None)
    if not isinstance(source, Source):
        yield "no SOURCE; expected a base.Source with licence and files"
        return
    if isinstance(source.files, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # each letter would be a pattern
        yield f"SOURCE.files: found a text; expected patterns: ({source.files!r},)"
    if unknown := set(source.terms).difference(get_args(Term)):
        yield f"SOURCE.terms: found {', '.join(sorted(unknown))}; expected some of {', '.join(get_args(Term))}"
    if terms(source.licence, source.terms) is None:
        instead = expected_instead(source.licence)
        yield f"SOURCE.licence: found {source.licence!r}, whose terms are not known; expected {instead}"
    if not callable(getattr(module, "read", None)):
        yield "no function read; expected read(folder) that returns base.gather(...)"


def place_of(name: str, path: str | None = None) -> str:
    """Return the file of a benchmark, for messages: `path`, or that of the package."""
    return path or f"excam/excam40k/datasets/{name.replace('-', '_')}.py"


def _run(name: str, path: str) -> ModuleType:
    """Run the file of a benchmark outside of the package, afresh each time. Raises ConfigInvalid if that fails."""
    if not Path(path).is_file():
        raise ConfigInvalid(
            f"datasets.{name}.module: {path}: no such file; expected a Python module (docs/extending.md)"
        )
    module = ModuleType(f"excam_benchmark_{name}")
    module.__file__ = path
    sys.modules[module.__name__] = module  # dataclasses look there
    try:
        exec(compile(Path(path).read_bytes(), path, "exec"), module.__dict__)  # noqa: S102  # leaves no bytecode behind
    except Exception as problem:  # a user's own code may raise anything
        reason = f"{type(problem).__name__}: {in_a_line(problem)}"
        raise ConfigInvalid(
            f"{path}{_line_in(path, problem)}: cannot be run: {reason}; expected a module with SOURCE and read"
        ) from None
    return module


def _line_in(file: str, problem: Exception) -> str:
    """Return the last line of a file that led to an exception, with a colon before it; "" if none did."""
    lines = [frame.lineno for frame in traceback.extract_tb(problem.__traceback__) if frame.filename == file]
    return f":{lines[-1]}" if lines else ""


def check_settings(name: str, benchmark: Benchmark, settings: Mapping[str, float]) -> None:
    """Raise ConfigInvalid for a setting that the benchmark's `read` does not take, and for an impossible value."""
    parameters = inspect.signature(benchmark.read).parameters.values()
    known = {parameter.name: parameter.default for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}
    for setting, value in settings.items():
        if setting not in known:
            raise ConfigInvalid(
                f"datasets.{name}.reading.{setting}: no such setting; known: {', '.join(known) or 'none'}"
            )
        whole = isinstance(known[setting], int)
        if value < 0 or (whole and value != int(value)):
            kind = "a whole number" if whole else "a number"
            raise ConfigInvalid(f"datasets.{name}.reading.{setting}: found {value}; expected {kind}, 0 or more")


def read(
    name: str, folder: Path, settings: Mapping[str, float], path: str | None = None, rows: Rows = "by-rule"
) -> Reading:
    """Return the base samples of a snapshot; `path` as for `load`, `rows`: whether rules change any.

    Raises SourceInvalid, also where the module names a column or a field that there is not, fails in another way, or
    reads under another name.
    """
    benchmark, place = load(name, path), place_of(name, path)
    check_settings(name, benchmark, settings)
    try:
        with applied(rows):
            reading = benchmark.read(folder, **settings)
    except (*_BUGS, pl.exceptions.PolarsError) as problem:
        line = _line_in(getattr(benchmark, "__file__", ""), problem)
        reason = f"{type(problem).__name__}: {in_a_line(problem)}"
        advice = "correct the module" if isinstance(problem, _BUGS) else "check the columns it names"
        raise SourceInvalid(f"{place}{line}: read failed: {reason}; {advice}") from problem
    if reading.dataset != name or reading.task != benchmark.TASK:
        raise SourceInvalid(
            f"{place}: gather got {reading.dataset}, {reading.task}; expected {name}, {benchmark.TASK}: the name of "
            "the entry in the configuration, and TASK"
        )
    return reading


def summary_lines(reading: Reading, drawn: int) -> list[str]:
    """Return what a person should know of a reading: rows, drops by reason, wrong and unknown values."""
    dropped = ", ".join(f"{reason} {count}" for reason, count in reading.dropped.most_common())
    counts = f"{reading.rows} rows, {reading.dropped.total()} dropped{f' ({dropped})' if dropped else ''}"
    lines = [f"{reading.dataset}: {counts}; {drawn} of {reading.frame.height} base samples drawn"]
    if changed := ", ".join(f"{rule} {rows}" for rule, (rows, _) in reading.changed.items()):
        lines.append(f"{reading.dataset}: changed by rule: {changed}")
    lines += [f"{reading.dataset}: {reason}, e.g. {example}" for reason, example in reading.examples.items()]
    for kind, values in reading.unknown.items():
        examples = ", ".join(f"{value!r} ({rows} rows)" for value, rows in list(values.items())[:5])
        more = f" and {len(values) - 5} more" if len(values) > 5 else ""
        lines.append(f"{reading.dataset}: unknown {kind}, kept: {examples}{more}")
    return lines + _culture_lines(reading)


def _culture_lines(reading: Reading) -> list[str]:
    """Return the culture with fewest questions, and how many cultures have too few; nothing where there is one."""
    question = pl.when(pl.col("group") == "").then("id").otherwise("group")
    of_culture = reading.frame.group_by("culture").agg(questions=question.n_unique()).sort("questions", "culture")
    if of_culture.height < 2:
        return []
    fewest, questions = of_culture.row(0)
    lines = [f"{reading.dataset}: {of_culture.height} cultures, fewest questions: {questions} ({fewest})"]
    if few := of_culture.filter(pl.col("questions") < _LEAST_QUESTIONS)["culture"].to_list():
        names = ", ".join(few[:5]) + (f" and {len(few) - 5} more" if len(few) > 5 else "")
        lines.append(f"{reading.dataset}: warning: under {_LEAST_QUESTIONS} questions: {names}")
    return lines
