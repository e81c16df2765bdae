"""Cross-field validation of the configuration, and validation errors as one line."""

from __future__ import annotations

import difflib
import json
from math import isclose
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import to_jsonable_python

from excam.config.sections import (
    EACH,
    LEXICON,
    Annotation,
    Baselines,
    Calmqa,
    Construction,
    CultEval,
    Dataset,
    Experiment,
    Generation,
    Invented,
    Macaron,
    Model,
    Price,
    Recipe,
    Repetition,
    Rubric,
    Sampling,
    Scoring,
    Section,
    Server,
    Teaching,
    Tuned,
    Wheel,
)
from excam.core.addresses import key_in
from excam.core.exceptions import ConfigInvalid
from excam.core.registries import CHAT_TEMPLATES, LAYOUTS, modules_in, stems
from excam.core.rule_inputs import input_names
from excam.core.splits import SPLITS

RESERVED = ("all", "permissive", "nothing")  # what stands in the place of a data set, or of a mixture


def cross_check(experiment: Experiment, where: str) -> None:
    """Raise ConfigInvalid if sections of the experiment are inconsistent; `where` is the file name in messages."""

    def known(value: str, at: str, what: str, names: tuple[str, ...], otherwise: str = "") -> None:
        if value not in names:
            close = difflib.get_close_matches(value, names, n=1)
            hint = f"did you mean `{close[0]}`? " if close else ""
            escaped = _json_escaped(value)
            raise ConfigInvalid(
                f"{where}: {at}: no such {what}: `{escaped}`; {hint}known: {', '.join(names)}{otherwise}"
            )

    if not experiment.texts and (experiment.model or experiment.columns):
        setting = "model" if experiment.model else "columns"
        raise ConfigInvalid(f"{where}: {setting}: given without `texts`; expected --config texts=FOLDER model=MODEL")
    if experiment.texts and not experiment.model and experiment.metric == "excam":
        raise ConfigInvalid(f"{where}: texts: given without `model`; expected --config texts=FOLDER model=MODEL")
    if not experiment.datasets:
        raise ConfigInvalid(f"{where}: datasets: none is switched on; expected at least one")
    benchmarks, judges, models = (
        modules_in("excam40k/datasets"),
        modules_in("error_reports/judges"),
        tuple(experiment.models),
    )
    for name, dataset in experiment.datasets.items():
        if dataset.module:
            _check_own_module(name, dataset, benchmarks, where)
        else:
            known(name, f"datasets.{name}", "benchmark", benchmarks, "; set `module` to the file of one of your own")
        if not (dataset.hub or dataset.url or dataset.folder or dataset.invented):
            raise ConfigInvalid(f"{where}: datasets.{name}: no source; expected `hub`, `url`, `folder` or `invented`")
        if dataset.invented and dataset.folder:
            raise ConfigInvalid(f"{where}: datasets.{name}: `folder` and `invented`; expected one of them")
    servers = {
        f"models.{name}.server.endpoint": entry.server.endpoint
        for name, entry in experiment.models.items()
        if entry.server
    }
    for at, address in {**servers, "model": experiment.model or ""}.items():
        if key := key_in(address):
            raise ConfigInvalid(
                f"{where}: {at}: a key in the address ({key}), which would stand in files and command lines; expected "
                "none; set it in the environment (EXCAM_ENDPOINT_KEY for `model`, else the variable of `key_env`)"
            )
    for name, model in experiment.models.items():
        known(model.backend, f"models.{name}.backend", "backend", modules_in("inference/backends"))
        if model.backend == "openai" and model.is_local:
            raise ConfigInvalid(f"{where}: models.{name}.server: missing; backend openai needs one")
        if model.backend != "openai" and not model.is_local:
            raise ConfigInvalid(f"{where}: models.{name}.backend: {model.backend} takes no server; expected openai")
        own = [key for key in ("hub", "wheel", "folder", "teach") if getattr(model, key)]
        if model.is_local and not own and not model.base:
            raise ConfigInvalid(f"{where}: models.{name}: no source; expected `hub`, `wheel`, `folder` or `server`")
        if model.teach:
            known(model.teach.base, f"models.{name}.teach.base", "model", models)
            taught = experiment.models[model.teach.base]
            if len(own) > 1 or not taught.is_local or taught.base or taught.teach:
                raise ConfigInvalid(
                    f"{where}: models.{name}.teach: expected no other source here, and a base with weights of its own"
                )
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
    for model_name in experiment.tuned.compared:
        known(model_name, "tuned.compared", "model", models)
    for model_name in dict.fromkeys([*experiment.tuned.models, *experiment.tuned.compared]):
        if not experiment.models[model_name].is_local:
            raise ConfigInvalid(f"{where}: tuned.models: `{model_name}` is behind a server; expected weights")
        if experiment.models[model_name].thinking is not None:
            raise ConfigInvalid(
                f"{where}: models.{model_name}.thinking: set for a model of tuned.models; expected none: adapters "
                "learn reports as the chat template asks by default"
            )
    known(experiment.judging.comparator, "judging.comparator", "comparator", modules_in("error_reports/comparators"))
    for mixture in experiment.tuned.mixtures:
        known(mixture, "tuned.mixtures", "mixture", (*experiment.mixtures, EACH))
    known(experiment.generation.generator, "generation.generator", "generator", (LEXICON, *models))
    layouts = stems(LAYOUTS, "*.yaml")
    known(experiment.training.layout, "training.layout", "layout", layouts)
    for name in models:
        known(experiment.recipe(name).layout, f"models.{name}.training.layout", "layout", layouts)
    reporting = tuple("/".join(system) for system in experiment.systems if system[2] == "report")
    for system in experiment.annotation.systems:
        known(system, "annotation.systems", "system that writes reports", reporting)
    for name in experiment.annotation.languages:
        known(name, "annotation.languages", "benchmark", benchmarks)
    if experiment.macaron:
        asked = experiment.macaron
        for at, names in (("models", asked.models), ("thinking", asked.thinking), ("proofreader", [asked.proofreader])):
            for name in filter(None, names):
                known(name, f"macaron.{at}", "model", models)
        if not (asked.models and asked.modes) and not asked.thinking and not asked.sheets:
            raise ConfigInvalid(f"{where}: macaron: nobody answers; expected `models`, `thinking` or `sheets`")
    if experiment.rubric:
        for name in experiment.rubric.raters:
            known(name, "rubric.raters", "model", models)
        if not (experiment.rubric.raters or experiment.rubric.ratings or experiment.rubric.evaluator):
            raise ConfigInvalid(f"{where}: rubric: nobody rates; expected `raters`, `ratings` or `evaluator`")
    labelled = {
        "excam40k": experiment.datasets,
        "cult-eval": experiment.cult_eval,
        "calmqa": experiment.calmqa and experiment.calmqa.ratings,
        "macaron": experiment.macaron,
        "rubric": experiment.rubric and experiment.rubric.ratings,
    }
    for name in experiment.crossing.sets if experiment.crossing else []:
        if not labelled[name]:
            raise ConfigInvalid(f"{where}: crossing.sets: {name}: no labelled rows; expected its section, with labels")
    for name, crossed in (experiment.crossing.metrics if experiment.crossing else {}).items():
        at = f"crossing.metrics.{name}"
        if crossed.model:
            known(crossed.model, f"{at}.model", "model", models)
        if crossed.trained_on and (crossed.model, crossed.trained_on) not in experiment.adapters:
            trained = ", ".join("/".join(pair) for pair in experiment.adapters) or "none"
            raise ConfigInvalid(
                f"{where}: {at}: no such adapter: `{crossed.judge}`; known: {trained}; or `crossing: null`"
            )
        if crossed.evidence and not experiment.calmqa:
            raise ConfigInvalid(f"{where}: {at}.evidence: `calmqa` is switched off; expected its documents")
    if experiment.cult_eval:
        wanted = experiment.cult_eval
        single = {"encoder": wanted.encoder, "metricx": wanted.metricx}
        for at, names in (
            ("systems", wanted.systems),
            ("judges", wanted.judges),
            *((n, [v]) for n, v in single.items()),
        ):
            for name in filter(None, names):
                known(name, f"cult_eval.{at}", "model", models)
    if experiment.calmqa:
        judged = experiment.calmqa
        for name in judged.subjects:
            known(name, "calmqa.subjects", "model", models)
        for at in ("translator", "extractor", "verifier", "relevance", "encoder"):
            name = getattr(judged, at)
            if name and name != "rules":
                known(name, f"calmqa.{at}", "model", models)
        if not judged.subjects and not judged.sheets:
            raise ConfigInvalid(f"{where}: calmqa: nobody answers; expected `subjects` or `sheets`")
        if "rules" in (judged.translator, judged.encoder) or (judged.relevance == "rules" and not judged.encoder):
            raise ConfigInvalid(
                f"{where}: calmqa.relevance: rules without an encoder; expected `encoder`, or a model; only extractor, "
                "verifier and relevance can be `rules`"
            )
    _check_numbers(experiment, where)


def _check_own_module(name: str, dataset: Dataset, benchmarks: tuple[str, ...], where: str) -> None:
    """Raise ConfigInvalid for a benchmark outside of the package that cannot be there, or has the name of another."""
    at = f"{where}: datasets.{name}"
    if name.replace("_", "-") in benchmarks:
        raise ConfigInvalid(f"{at}.module: `{name}` is a benchmark of the package; expected another name")
    if name in (*RESERVED, EACH) or name.startswith("without-"):
        raise ConfigInvalid(f"{at}: `{name}` is or may be the name of a mixture; expected another name")
    if dataset.invented:
        raise ConfigInvalid(f"{at}: `module` and `invented`; expected one of them")
    input_names(f"{at}.module", [Path(str(dataset.module))])
    if not Path(str(dataset.module)).is_file():
        raise ConfigInvalid(f"{at}.module: {dataset.module}: no such file; expected a Python file (docs/extending.md)")


def _check_recipe(experiment: Experiment, name: str, where: str) -> None:
    """Raise ConfigInvalid if a model's overrides of `training` are invalid, or change the rows of the mixtures."""
    changed = experiment.models[name].training
    try:
        experiment.recipe(name)
    except ValidationError as problem:
        raise ConfigInvalid(f"{where}: models.{name}.training.{first_error(problem, ('training',))}") from None
    if "rows" in changed:
        raise ConfigInvalid(f"{where}: models.{name}.training.rows: mixtures are drawn once for all; set training.rows")


def _check_numbers(experiment: Experiment, where: str) -> None:
    """Raise ConfigInvalid for numbers that would stop a job, or distort its results, hours later."""
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


def first_error(problem: ValidationError, within: tuple[str, ...] = ()) -> str:
    """Return the first validation error as one line; `within` is the path of the validated section."""
    first = problem.errors()[0]
    path = _json_escaped(".".join(str(part) for part in first["loc"] if part != "[key]"))
    more = f" (and {problem.error_count() - 1} more)" if problem.error_count() > 1 else ""
    if first["type"] == "extra_forbidden":
        known = _known_keys((*within, *first["loc"][:-1]))
        close = difflib.get_close_matches(str(first["loc"][-1]), known, n=1)
        hint = f"did you mean `{close[0]}`?" if close else f"known: {', '.join(sorted(known))}"
        return f"{path}: unknown key; {hint}{more}"
    value = json.dumps(to_jsonable_python(first["input"], fallback=str), ensure_ascii=False)
    is_number = first["type"] == "string_type" and isinstance(first["input"], int | float)
    advice = "; put quotes around it in a file, or write ./ before a path after --config" if is_number else ""
    return f"{path}{': ' * bool(path)}{first['msg'].lower()}; found {value[:60]}{advice}{more}"


def _json_escaped(text: str) -> str:
    """Return a text with control characters and quotes escaped as in JSON, without the quotes around it."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _known_keys(loc: tuple[int | str, ...]) -> list[str]:
    """Return the valid keys of the section at a path of the configuration."""
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
        "annotation": Annotation,
        "macaron": Macaron,
        "rubric": Rubric,
        "cult_eval": CultEval,
        "calmqa": Calmqa,
    }
    if not loc:
        return list(Experiment.model_fields)
    section = kinds.get(str(loc[0]), Experiment)
    inner = {
        "sampling": Sampling,
        "wheel": Wheel,
        "server": Server,
        "price": Price,
        "repetition": Repetition,
        "invented": Invented,
        "teach": Teaching,
    }.get(str(loc[-1]), section)
    return list(inner.model_fields)
