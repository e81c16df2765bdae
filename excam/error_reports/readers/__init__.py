"""Readers: what says how far passages support a text. One module for each kind of model. The folder is the registry.

of(facts).read(task)    a generator: yields requests, receives answers, returns a Reading
"""

from __future__ import annotations

from excam.core.exceptions import InputInvalid
from excam.core.registries import load_module, modules_in
from excam.error_reports.readers.base import ModelFacts, ReaderModule, TextReader
from excam.inference.backends import classifier
from excam.scoring.opened_model import OpenedModel


def available() -> tuple[str, ...]:
    """Return names of the kinds of readers, sorted: the modules of this folder, with `-` for `_`."""
    return modules_in("error_reports/readers")


def load(name: str) -> ReaderModule:
    """Return the module of this folder with that name. Raises ConfigInvalid, listing the known ones, without one."""
    return load_module("error_reports/readers", name)


def of(model: ModelFacts | None, *, is_qualified: bool = False) -> TextReader:
    """Return the reader for a model, chosen by what it is; that without a model for None. See `base.ReaderModule`.

    Raises InputInvalid if no kind reads with it, ModelInvalid as the kind does.
    """
    for name in available():
        if reader := load(name).reader(model, is_qualified=is_qualified):
            return reader
    kind = f"{model.name}: {model.architecture or 'a model behind a server'}" if model else "no model"
    raise InputInvalid(f"--model: found {kind}; expected a model for one of {', '.join(available())}")


def facts_of(model: OpenedModel) -> ModelFacts:
    """Return what a reader is chosen by; nothing is loaded."""
    names = tuple(dict.fromkeys(filter(None, model.names)))
    if fitted := model.tuned.fitted if model.tuned else None:
        return ModelFacts(names, fitted=fitted)
    if model.weights is None:
        return ModelFacts(names)
    kind = classifier.kind_of(model.weights)
    labels = classifier.labels_of(model.weights) if kind else ()
    return ModelFacts(names, classifier.architecture_of(model.weights), labels, writes=not kind)
