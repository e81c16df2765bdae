"""The whole experiment: its sections, what follows from them, and the checks across them."""

from __future__ import annotations

import difflib
import json
from collections import Counter
from datetime import date
from functools import cached_property
from typing import Any, Literal, get_args

from pydantic import Field, ValidationError

from excam.config import annotation, calmqa, crossing, cult_eval, datasets, macaron, models, reader, rubric
from excam.config.annotation import Annotation
from excam.config.base import EACH, IN_WORDS, LEXICON, DatasetName, Name, Place, Section, json_escaped
from excam.config.calmqa import Calmqa
from excam.config.crossing import Crossing, RowSet
from excam.config.cult_eval import CultEval
from excam.config.datasets import Construction, Dataset
from excam.config.macaron import Macaron
from excam.config.models import Model
from excam.config.reader import Reader
from excam.config.rubric import Rubric
from excam.config.training import Baselines, External, Generation, Judging, Recipe, Scoring, Tuned
from excam.core.escapes import visible_line
from excam.core.registries import LAYOUTS, modules_in, stems

BY_DOCUMENTS = ("documents", "nothing", "words")  # the system without a model: `judging.documents`


class Experiment(Section):
    """All settings that determine results. Settings of execution are in the profiles."""

    seed: int
    datasets: dict[DatasetName, Dataset]
    models: dict[Name, Model]
    construction: Construction = Construction()
    generation: Generation
    training: Recipe = Recipe()
    scoring: Scoring = Scoring()
    judging: Judging = Judging()
    tuned: Tuned = Tuned()
    baselines: Baselines = Baselines()
    external: External = External()
    annotation: Annotation = Annotation()
    macaron: Macaron | None = None
    rubric: Rubric | None = None
    cult_eval: CultEval | None = None
    calmqa: Calmqa | None = None
    crossing: Crossing | None = None
    reader: Reader | None = None
    audits: Literal["stop", "warn"] = Field(
        default="stop", description="a failed audit stops training and publishing, or is only said"
    )

    @cached_property
    def mixtures(self) -> tuple[str, ...]:
        """All training mixtures that this experiment defines, including leave-one-out ones (`without-<dataset>`)."""
        return ("all", "permissive", *(f"without-{name}" for name in self.datasets))

    def recipe(self, model: str) -> Recipe:
        """Return the recipe of this model's adapters: `training` with the model's overrides."""
        return Recipe.model_validate({**self.training.model_dump(), **self.models[model].training})

    def weights(self, model: str) -> str:
        """Return the name of the entry whose weights this model uses: its base or itself."""
        return self.models[model].base or model

    @cached_property
    def variants(self) -> tuple[str, ...]:
        """Tuned models that share their weights with another one, to compare recipes."""
        shared = Counter(map(self.weights, self.tuned.models))
        return tuple(model for model in self.tuned.models if shared[self.weights(model)] > 1)

    @cached_property
    def trained(self) -> tuple[str, ...]:
        """The models of which adapters are trained."""
        return tuple(dict.fromkeys([*(self.tuned.models if self.tuned.mixtures else []), *self.tuned.compared]))

    @cached_property
    def adapters(self) -> tuple[tuple[str, str], ...]:
        """(model, trained_on) of every adapter."""
        pairs = [(m, t) for m in self.tuned.models for t in self.tuned.mixtures]
        return tuple(dict.fromkeys(pairs + [(m, "all") for m in self.tuned.compared]))

    @cached_property
    def systems(self) -> tuple[tuple[str, str, str], ...]:
        """(model, trained_on, judge) of all systems evaluated on the full test sets, baselines first."""
        plain = [(m, "nothing", j) for m in self.baselines.models for j in self.baselines.judges]
        read = [BY_DOCUMENTS] if self.judging.documents else []
        tuned = [(m, t, j) for m, t in self.adapters for j in self.tuned.judges]
        return tuple(dict.fromkeys(plain + read + tuned))

    @cached_property
    def explainers(self) -> tuple[str, ...]:
        """The systems whose explanations annotators rate: the configured ones, or the first two with reports."""
        reporting = [system for system in self.systems if system[2] == "report"]
        by_training = sorted(reporting, key=lambda system: (system[1] == "nothing", system[1] != "all"))
        return tuple(self.annotation.systems) or tuple("/".join(system) for system in by_training[:2])


def check(experiment: Experiment, at: Place) -> None:
    """Raise ConfigInvalid if sections of the experiment are inconsistent."""
    datasets.check(experiment.datasets, at)
    models.check(experiment.models, at)
    for name in experiment.models:
        _check_recipe(experiment, name, at)
    _check_systems(experiment, at)
    reporting = tuple("/".join(system) for system in experiment.systems if system[2] == "report")
    annotation.check(experiment.annotation, reporting, at)
    names = tuple(experiment.models)
    if experiment.macaron:
        macaron.check(experiment.macaron, names, at)
    if experiment.rubric:
        rubric.check(experiment.rubric, names, at)
    if experiment.crossing:
        crossing.check(experiment.crossing, names, experiment.adapters, _labelled(experiment), at)
        _check_documents(experiment.crossing, experiment.calmqa, at)
    if experiment.cult_eval:
        cult_eval.check(experiment.cult_eval, names, at)
    if experiment.calmqa:
        calmqa.check(experiment.calmqa, names, at)
    if experiment.reader:
        reader.check(experiment.reader, names, at)
    datasets.check_construction(experiment.construction, at)


def _labelled(experiment: Experiment) -> dict[RowSet, bool]:
    """Return which sets of the crossing have labelled rows."""
    return {
        "excam40k": bool(experiment.datasets),
        "cult-eval": experiment.cult_eval is not None,
        "calmqa": experiment.calmqa is not None and bool(experiment.calmqa.people),
        "macaron": experiment.macaron is not None,
        "rubric": experiment.rubric is not None and bool(experiment.rubric.people),
    }


def _check_documents(section: Crossing, documents: Calmqa | None, at: Place) -> None:
    """Raise ConfigInvalid if a metric of the crossing wants documents of a system that is switched off."""
    for name, crossed in section.metrics.items():
        if crossed.evidence and documents is None:
            raise at.invalid(f"crossing.metrics.{name}.evidence: `calmqa` is switched off; expected its documents")


def _check_systems(experiment: Experiment, at: Place) -> None:
    """Raise ConfigInvalid for a model, judge, mixture, generator or layout that is not there."""
    judges = [name for name in modules_in("error_reports/judges") if name != "grounded"]  # it reads documents
    models = tuple(experiment.models)
    if experiment.judging.documents and BY_DOCUMENTS[0] in models:
        raise at.invalid(f"models.{BY_DOCUMENTS[0]}: is what `judging.documents` is called; expected another name")
    for role in ("tuned", "baselines", "external"):
        section = getattr(experiment, role)
        at.known_models(section, role, ("models",), models)
        for judge in section.judges:
            at.known(judge, f"{role}.judges", "judge", judges)
    at.known_models(experiment.tuned, "tuned", ("compared",), models)
    at.known_models(experiment.baselines, "baselines", ("encoder",), models)
    encoder = experiment.baselines.encoder
    if encoder and not experiment.models[encoder].is_local:
        raise at.invalid(f"baselines.encoder: `{encoder}` is behind a server; expected weights of a sentence encoder")
    for model_name in dict.fromkeys([*experiment.tuned.models, *experiment.tuned.compared]):
        if not experiment.models[model_name].is_local:
            raise at.invalid(f"tuned.models: `{model_name}` is behind a server; expected weights")
        if experiment.models[model_name].thinking is not None:
            raise at.invalid(
                f"models.{model_name}.thinking: set for a model of tuned.models; expected none: adapters "
                "learn reports as the chat template asks by default"
            )
    for mixture in experiment.tuned.mixtures:
        at.known(mixture, "tuned.mixtures", "mixture", (*experiment.mixtures, EACH))
    at.known(experiment.generation.generator, "generation.generator", "generator", (LEXICON, *models))
    layouts = stems(LAYOUTS, "*.yaml")
    at.known(experiment.training.layout, "training.layout", "layout", layouts)
    for name in models:
        at.known(experiment.recipe(name).layout, f"models.{name}.training.layout", "layout", layouts)


def _check_recipe(experiment: Experiment, name: str, at: Place) -> None:
    """Raise ConfigInvalid if a model's overrides of `training` are invalid, or change the rows of the mixtures."""
    changed = experiment.models[name].training
    try:
        experiment.recipe(name)
    except ValidationError as problem:
        raise at.invalid(f"models.{name}.training.{first_error(problem, ('training',))}") from None
    if "rows" in changed:
        raise at.invalid(f"models.{name}.training.rows: mixtures are drawn once for all; set training.rows")


def first_error(problem: ValidationError, within: tuple[str, ...] = ()) -> str:
    """Return the first validation error, and where the others are, as one line.

    `within` is the path of the validated section.
    """
    first = problem.errors()[0]
    places = [".".join(str(part) for part in error["loc"] if part != "[key]") for error in problem.errors()]
    path, *others = dict.fromkeys(map(json_escaped, places))
    more = f" (and {', '.join(others)})" if others else ""
    if first["type"] == "extra_forbidden":
        keys = _known_keys((*within, *first["loc"][:-1]))
        close = difflib.get_close_matches(str(first["loc"][-1]), keys, n=1)
        hint = f"did you mean `{close[0]}`?" if close else f"known: {', '.join(sorted(keys))}"
        return f"{path}: unknown key; {hint}{more}"
    if first["type"] == "string_pattern_mismatch" and (words := IN_WORDS.get(first.get("ctx", {}).get("pattern", ""))):
        return f"{path}{': ' * bool(path)}found {_beginning(first['input'])}; expected {words}{more}"
    is_converted = first["type"] == "string_type" and isinstance(first["input"], int | float | date)  # by YAML
    advice = "; put quotes around it in a file, or write ./ before a path after --config" if is_converted else ""
    return f"{path}{': ' * bool(path)}{first['msg'].lower()}; found {_beginning(first['input'])}{advice}{more}"


def _beginning(value: object, room: int = 60) -> str:
    """Return the first characters of a value as JSON. No more of it is written: it may be long, or hold itself."""
    encoder = json.JSONEncoder(ensure_ascii=False, check_circular=False, skipkeys=True, default=_as_text)
    written = ""
    for part in encoder.iterencode(value):
        written += part
        if len(written) > room:
            break
    return visible_line(written[:room])


def _as_text(value: object) -> str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def _known_keys(loc: tuple[int | str, ...]) -> list[str]:
    """Return the valid keys of the section at a path of the configuration."""
    section: type[Section] = Experiment
    for key in loc:  # a key that is no section is the name of an entry
        field = section.model_fields.get(str(key))
        section = (field and _section_in(field.annotation)) or section
    return list(section.model_fields)


def _section_in(kind: Any) -> type[Section] | None:
    """Return the section that the type of a field holds: itself, or in `Section | None` or a mapping."""
    if isinstance(kind, type) and issubclass(kind, Section):
        return kind
    return next(filter(None, map(_section_in, get_args(kind))), None)
