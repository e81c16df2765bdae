"""What types cannot say of an experiment, and what is wrong with one, each in one line."""

from __future__ import annotations

import difflib
import json
from math import isclose

from pydantic import ValidationError
from pydantic_core import to_jsonable_python

from excam.config.registries import CHAT_TEMPLATES, LAYOUTS, modules_in, stems
from excam.config.sections import (
    LEXICON,
    Annotation,
    Baselines,
    Construction,
    Dataset,
    Experiment,
    Generation,
    Model,
    Price,
    Recipe,
    Sampling,
    Scoring,
    Section,
    Server,
    Similarity,
    Tuned,
    Wheel,
)
from excam.exceptions import ConfigInvalid
from excam.records import SPLITS


def cross_check(experiment: Experiment, where: str) -> None:
    """What hangs together across sections. Raises ConfigInvalid."""

    def known(value: str, at: str, what: str, names: tuple[str, ...]) -> None:
        if value not in names:
            close = difflib.get_close_matches(value, names, n=1)
            hint = f"did you mean `{close[0]}`? " if close else ""
            found = _escaped(value)
            raise ConfigInvalid(f"{where}: {at}: no such {what}: `{found}`; {hint}known: {', '.join(names)}")

    if not experiment.datasets:
        raise ConfigInvalid(f"{where}: datasets: none is switched on; expected at least one")
    benchmarks, judges, models = modules_in("datasets"), modules_in("judges"), tuple(experiment.models)
    for name, dataset in experiment.datasets.items():
        known(name, f"datasets.{name}", "benchmark", benchmarks)
        if not (dataset.hub or dataset.url or dataset.folder):
            raise ConfigInvalid(f"{where}: datasets.{name}: no source; expected `hub`, `url` or `folder`")
    for name, model in experiment.models.items():
        known(model.backend, f"models.{name}.backend", "backend", modules_in("inference/backends"))
        if model.backend == "openai" and model.is_local:
            raise ConfigInvalid(f"{where}: models.{name}.server: missing; backend openai needs one")
        if model.backend != "openai" and not model.is_local:
            raise ConfigInvalid(f"{where}: models.{name}.backend: {model.backend} takes no server; expected openai")
        own = [key for key in ("hub", "wheel", "folder") if getattr(model, key)]
        if model.is_local and not own and not model.base:
            raise ConfigInvalid(f"{where}: models.{name}: no source; expected `hub`, `wheel`, `folder` or `server`")
        if model.base:
            known(model.base, f"models.{name}.base", "model", models)
            other = experiment.models[model.base]
            if own or not model.is_local or other.base or not other.is_local:
                raise ConfigInvalid(
                    f"{where}: models.{name}.base: expected an entry with weights of its own, and none of them here"
                )
        if model.chat_template:
            known(model.chat_template, f"models.{name}.chat_template", "template", stems(CHAT_TEMPLATES, "*.jinja"))
            if not own:
                raise ConfigInvalid(f"{where}: models.{name}.chat_template: expected where the weights are named")
        _check_recipe(experiment, name, where)
    for role in ("tuned", "baselines", "external"):
        section = getattr(experiment, role)
        for model_name in section.models:
            known(model_name, f"{role}.models", "model", models)
        for judge in section.judges:
            known(judge, f"{role}.judges", "judge", judges)
    for model_name in experiment.tuned.models:
        if not experiment.models[model_name].is_local:
            raise ConfigInvalid(f"{where}: tuned.models: `{model_name}` is behind a server; expected weights")
    for mixture in experiment.tuned.mixtures:
        known(mixture, "tuned.mixtures", "mixture", experiment.mixtures)
    known(experiment.generation.generator, "generation.generator", "generator", (LEXICON, *models))
    layouts = stems(LAYOUTS, "*.yaml")
    known(experiment.training.layout, "training.layout", "layout", layouts)
    for name in models:
        known(experiment.recipe(name).layout, f"models.{name}.training.layout", "layout", layouts)
    if embedder := experiment.similarity.model:
        known(embedder, "similarity.model", "model", models)
        _check_embedder(experiment, embedder, where)
    reporting = tuple("/".join(system) for system in experiment.systems if system[2] == "report")
    for system in experiment.annotation.systems:
        known(system, "annotation.systems", "system that writes reports", reporting)
    for name in experiment.annotation.languages:
        known(name, "annotation.languages", "benchmark", benchmarks)
    if model_name := experiment.annotation.pre_annotator:
        known(model_name, "annotation.pre_annotator", "model", models)
    _check_numbers(experiment, where)


def _check_embedder(experiment: Experiment, name: str, where: str) -> None:
    """Its weights are read here, and nothing is ever asked of it."""
    if not experiment.models[name].is_local:
        raise ConfigInvalid(f"{where}: similarity.model: `{name}` is behind a server; expected weights")
    asked = {role for role in ("tuned", "baselines", "external") if name in getattr(experiment, role).models}
    asked |= {"generation"} if experiment.generation.generator == name else set()
    if asked:
        raise ConfigInvalid(
            f"{where}: similarity.model: `{name}` is named in {', '.join(sorted(asked))} too; expected a model that "
            "only embeds texts; add an entry of its own"
        )


def _check_recipe(experiment: Experiment, name: str, where: str) -> None:
    """What a model changes in `training`; which rows there are is every model's."""
    changed = experiment.models[name].training
    try:
        experiment.recipe(name)
    except ValidationError as problem:
        raise ConfigInvalid(f"{where}: models.{name}.training.{one_line(problem, ('training',))}") from None
    if "rows" in changed:
        raise ConfigInvalid(f"{where}: models.{name}.training.rows: mixtures are drawn once for all; set training.rows")


def _check_numbers(experiment: Experiment, where: str) -> None:
    """What would stop, or silently bend, a job hours later."""
    shares = experiment.construction.shares
    if set(shares) != set(SPLITS) or min(shares.values()) <= 0 or not isclose(sum(shares.values()), 1):
        raise ConfigInvalid(
            f"{where}: construction.shares: found {shares}; expected train, dev and test above 0 that add up to 1"
        )
    if experiment.construction.subset % 2:
        raise ConfigInvalid(
            f"{where}: construction.subset: found {experiment.construction.subset}; expected an even number: "
            "pairs stay together"
        )


def one_line(problem: ValidationError, within: tuple[str, ...] = ()) -> str:
    """The first of a validation's errors; `within` is the section of the experiment that it is about."""
    first = problem.errors()[0]
    path = _escaped(".".join(str(part) for part in first["loc"] if part != "[key]"))
    more = f" (and {problem.error_count() - 1} more)" if problem.error_count() > 1 else ""
    if first["type"] == "extra_forbidden":
        known = _fields_at((*within, *first["loc"][:-1]))
        close = difflib.get_close_matches(str(first["loc"][-1]), known, n=1)
        hint = f"did you mean `{close[0]}`?" if close else f"known: {', '.join(sorted(known))}"
        return f"{path}: unknown key; {hint}{more}"
    found = json.dumps(to_jsonable_python(first["input"], fallback=str), ensure_ascii=False)
    return f"{path}{': ' * bool(path)}{first['msg'].lower()}; found {found[:60]}{more}"


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _fields_at(loc: tuple[int | str, ...]) -> list[str]:
    kinds: dict[str, type[Section]] = {
        "datasets": Dataset,
        "models": Model,
        "construction": Construction,
        "generation": Generation,
        "training": Recipe,
        "scoring": Scoring,
        "tuned": Tuned,
        "baselines": Baselines,
        "external": Baselines,
        "similarity": Similarity,
        "annotation": Annotation,
    }
    if not loc:
        return list(Experiment.model_fields)
    section = kinds.get(str(loc[0]), Experiment)
    inner = {"sampling": Sampling, "wheel": Wheel, "server": Server, "price": Price}.get(str(loc[-1]), section)
    return list(inner.model_fields)
