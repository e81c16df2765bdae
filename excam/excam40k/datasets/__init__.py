"""Benchmarks by name: `load(name)` returns the module of this folder, `available()` lists the folder."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import cast, get_args

import polars as pl

from excam.config import modules_in
from excam.core.exceptions import ConfigInvalid, SourceInvalid, in_a_line
from excam.excam40k.datasets.base import Benchmark, Errors, Mistake, Reading, Source, Task


def available() -> tuple[str, ...]:
    """Return names of all benchmarks, sorted: the modules of this folder, with `-` for `_`."""
    return modules_in("excam40k/datasets")


def load(name: str) -> Benchmark:
    """Return the benchmark module `name`. Raises ConfigInvalid for an unknown name and for an incomplete module."""
    if name not in available():
        raise ConfigInvalid(
            f"datasets.{name}: no such benchmark; known: {', '.join(available())}; "
            f"add excam/excam40k/datasets/{name}.py"
        )
    module = import_module(f"excam.excam40k.datasets.{name.replace('-', '_')}")
    module.__dict__.setdefault("MISTAKE", "fact")
    for constant, of in (("TASK", Task), ("ERRORS", Errors), ("MISTAKE", Mistake)):
        if (found := getattr(module, constant, None)) not in (expected := get_args(of)):
            raise ConfigInvalid(f"{_place(name)}: {constant}: found {found!r}; expected one of {', '.join(expected)}")
    if not isinstance(getattr(module, "SOURCE", None), Source):
        raise ConfigInvalid(f"{_place(name)}: no SOURCE; expected a base.Source with licence and files")
    if not callable(getattr(module, "read", None)):
        raise ConfigInvalid(f"{_place(name)}: no function read; expected read(folder) that returns base.gather(...)")
    return cast(Benchmark, module)


def check_settings(name: str, settings: Mapping[str, float]) -> None:
    """Raise ConfigInvalid for a setting that the benchmark's `read` does not take, and for an impossible value."""
    parameters = inspect.signature(load(name).read).parameters.values()
    known = {one.name: one.default for one in parameters if one.kind is one.KEYWORD_ONLY}
    for setting, value in settings.items():
        if setting not in known:
            raise ConfigInvalid(
                f"datasets.{name}.reading.{setting}: no such setting; known: {', '.join(known) or 'none'}"
            )
        whole = isinstance(known[setting], int)
        if value < 0 or (whole and value != int(value)):
            kind = "a whole number" if whole else "a number"
            raise ConfigInvalid(f"datasets.{name}.reading.{setting}: found {value}; expected {kind}, 0 or more")


def read(name: str, folder: Path, settings: Mapping[str, float]) -> Reading:
    """Return the base samples of a snapshot. Raises SourceInvalid, also where the module names a column it has not."""
    check_settings(name, settings)
    try:
        return load(name).read(folder, **settings)
    except pl.exceptions.PolarsError as problem:
        reason = f"{type(problem).__name__}: {in_a_line(problem)}"
        raise SourceInvalid(f"{_place(name)}: read failed: {reason}; check the columns it names") from problem


def summary_lines(reading: Reading, drawn: int) -> list[str]:
    """Return what a person should know of a reading: rows, drops by reason, wrong and unknown values."""
    dropped = ", ".join(f"{reason} {count}" for reason, count in reading.dropped.most_common())
    counts = f"{reading.rows} rows, {reading.dropped.total()} dropped{f' ({dropped})' if dropped else ''}"
    lines = [f"{reading.dataset}: {counts}; {drawn} of {reading.frame.height} base samples drawn"]
    lines += [f"{reading.dataset}: {reason}, e.g. {example}" for reason, example in reading.examples.items()]
    for kind, values in reading.unknown.items():
        shown = ", ".join(f"{value!r} ({rows} rows)" for value, rows in list(values.items())[:5])
        more = f" and {len(values) - 5} more" if len(values) > 5 else ""
        lines.append(f"{reading.dataset}: unknown {kind}, kept: {shown}{more}")
    return lines


def _place(name: str) -> str:
    return f"excam/excam40k/datasets/{name.replace('-', '_')}.py"
