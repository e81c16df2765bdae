"""How rows are scored and a server is asked, as options of commands and of programs. Loads nothing heavy."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, get_args, get_type_hints

import typer

from excam.core.exceptions import InputInvalid

if TYPE_CHECKING:
    from excam.scoring.agreement import Combine
    from excam.scoring.metric import Metric
    from excam.scoring.models import Address

    MetricName: TypeAlias = str | Metric
    ModelName: TypeAlias = str | Path | Address
    CombineName: TypeAlias = Combine
else:  # as commands have them
    MetricName = ModelName = CombineName = str

METRICS = (
    "excam, rubric, rubric-choice, acre, acre-choice, acre-equivalent, calmqa, calmqa-surface, bleu, chrf, bertscore"
)
MODEL = Annotated[
    str, typer.Option(help="an adapter, a folder with weights, ORG/NAME (hub), PROVIDER/NAME, or NAME@http://host/v1")
]
TOKENS = Annotated[int, typer.Option(min=1, help="token limit of an answer")]
OMITTED = ("temperature", "top_p", "seed", "logprobs", "schema", "system")  # what people may leave out of requests


@dataclass(frozen=True, slots=True)
class Serving:
    """The engine of a local model, or how a server is asked, beside what is found out with the first request.

    None or () is not given.
    """

    concurrency: Annotated[
        int | None, typer.Option(min=1, help="open requests to a server, at most; by default 64, fewer if busy or slow")
    ] = None
    rate: Annotated[int | None, typer.Option(min=1, help="requests to a server in a minute, at most")] = None
    timeout: Annotated[float | None, typer.Option(help="seconds to wait for an answer of a server, 600 by default")] = (
        None
    )
    omit: Annotated[
        tuple[str, ...],  # of OMITTED
        typer.Option(
            help="what is left out of requests to a server: temperature, top_p, seed, logprobs, schema or system; "
            "repeat the option for several; what a server refuses is left out without it"
        ),
    ] = ()
    backend: Annotated[
        str | None, typer.Option(help="engine of a local model: vllm (the default with a GPU) or transformers")
    ] = None

    def checked(self) -> Serving:
        """Return itself. Raise InputInvalid for a value that it cannot have."""
        for name, value in (("concurrency", self.concurrency), ("rate", self.rate)):
            if value is not None and (not isinstance(value, int) or value < 1):
                raise InputInvalid(f"--{name}: found {value}; expected a whole number from 1")
        if self.timeout is not None and not 0 < self.timeout < math.inf:
            raise InputInvalid(f"--timeout: found {self.timeout}; expected seconds above 0")
        if unknown := [name for name in self.omit if name not in OMITTED]:
            raise InputInvalid(f"--omit: found {unknown[0]}; expected {', '.join(OMITTED)}")
        return self

    @property
    def given(self) -> list[str]:
        """Return the names of the options that are given."""
        return [item.name for item in fields(self) if getattr(self, item.name) != item.default]

    @property
    def settings(self) -> dict[str, Any]:
        """Return those of a server that are given, beside what is omitted."""
        named = {"concurrency": self.concurrency, "requests_per_minute": self.rate, "timeout": self.timeout}
        return {name: value for name, value in named.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Options(Serving):
    """How rows are scored, and the options of commands for it. None, empty or as it stands here is not given."""

    metric: Annotated[
        MetricName, typer.Option(help=f"{METRICS} (`excam list metrics`), or a file with one of your own: my_metric.py")
    ] = "excam"
    models: Annotated[
        tuple[ModelName, ...],
        typer.Option(
            "--model",
            "--adapter",
            help="an adapter or its name below results/adapters, a folder with a model (for --judge grounded also a "
            "classifier, such as LettuceDetect), ORG/NAME of the hub, PROVIDER/NAME, or NAME@http://host/v1; repeat "
            "the option for several judges",
        ),
    ] = ()
    bases: Annotated[
        tuple[Path, ...], typer.Option("--base", help="folder of the base model; one for each adapter, or none")
    ] = ()
    without: Annotated[
        tuple[str, ...],
        typer.Option(
            help="a column that the rows lack, such as instruction: the metric's own text stands in; repeatable"
        ),
    ] = ()
    judge: Annotated[
        str | None,
        typer.Option(
            help="how excam judges: report (as adapters are trained), prompted-report (any other), grounded (by "
            "documents: --evidence), words (by documents without a model; the "
            "default with --evidence and no --model)"
        ),
    ] = None
    dtype: Annotated[
        str | None,
        typer.Option(help="float32, bfloat16 or float16, of a model of this machine; by default float32 without a GPU"),
    ] = None
    max_tokens: Annotated[int | None, typer.Option(min=1, help="token limit of an answer; by default the metric's")] = (
        None
    )
    evidence: Annotated[
        Path | None, typer.Option(help="a pack of `excam knowledge build`: its passages are put before the judge")
    ] = None
    calibration: Annotated[
        Path | None, typer.Option(help="a file of `excam calibrate`; that of an adapter is found beside it")
    ] = None
    qualification: Annotated[
        Path | None,
        typer.Option("--qualified", help="a file of `excam qualify`: judge in the way that is best for the model"),
    ] = None
    band: Annotated[
        tuple[float, float] | None,
        typer.Option(help="probabilities of an error between which the verdict is unsure; by default .4 .6"),
    ] = None
    repeat: Annotated[int, typer.Option(help="number of judgements by each model; needs --temperature")] = 1
    temperature: Annotated[float, typer.Option(help="0: greedy decoding; above 0: sampled, with fixed seeds")] = 0.0
    combine: Annotated[
        CombineName | None, typer.Option(help="score of several judgements: mean (by default) or median")
    ] = None

    @property
    def serving(self) -> Serving:
        """Return the engine, and how a model behind a server is asked."""
        return Serving(**{item.name: getattr(self, item.name) for item in fields(Serving)})


OPTION_NAMES = {"models": "--model", "bases": "--base", "qualification": "--qualified"}


def option_name(name: str) -> str:
    """Return an option as people type it."""
    return OPTION_NAMES.get(name, f"--{name.replace('_', '-')}")


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the fields of its parameters that are dataclasses, as options of their own in the same place.

    A field with the name of another parameter is no option: `excam serve` has a --timeout that is not a server's.
    """
    signature = inspect.signature(command, eval_str=True)
    listed = signature.parameters
    groups: dict[str, Any] = {name: item.annotation for name, item in listed.items() if is_dataclass(item.annotation)}
    parameters: list[inspect.Parameter] = []  # typer reads the signature
    for name, item in listed.items():
        options = (
            [option for option in _options(groups[name]) if option.name not in listed] if name in groups else [item]
        )
        parameters += [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in options]

    @wraps(command)
    def with_fields(**values: Any) -> None:
        for name, group in groups.items():
            chosen = {field.name: values.pop(field.name) for field in fields(group) if field.name not in listed}
            values[name] = group(
                **{
                    field: tuple(value) if isinstance(value, list) else value
                    for field, value in chosen.items()
                    if value is not None
                }
            )
        command(**values)

    with_fields.__signature__ = signature.replace(parameters=parameters)  # pyright: ignore[reportAttributeAccessIssue]
    with_fields.__annotations__ = {item.name: item.annotation for item in parameters} | {"return": None}
    return with_fields


def _options(group: Any) -> Iterator[inspect.Parameter]:
    """Yield the fields of a dataclass as typer reads options: one that takes several values is a list, or None."""
    hints = get_type_hints(group, include_extras=True)
    for field in sorted(fields(group), key=lambda field: field.name not in group.__annotations__):  # a base's last
        kind, *facts = get_args(hints[field.name])
        if get_args(kind)[1:] == (...,):
            kind = list[get_args(kind)[0]] | None
        default = None if field.default == () else field.default
        yield inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, *facts]
        )
