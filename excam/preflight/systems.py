"""The requests that Macaron, the rubric, CulT-Eval and CaLMQA send at most, from the files that their sections name.

Requests are built by the flows that will send them, and not sent. What a model has yet to write is stood in for: a
translation by the item's reference, a long answer by `ANSWER`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from excam.acre import asks as acre
from excam.acre import items, translate
from excam.acre import source as cult_eval
from excam.acre.translations import Translated
from excam.calmqa import asks as calmqa
from excam.calmqa import source as calmqa_source
from excam.config import Experiment
from excam.config.calmqa import Calmqa
from excam.config.cult_eval import CultEval
from excam.config.macaron import Macaron
from excam.config.rubric import Rubric
from excam.inference import Choose, Flow, Request
from excam.macaron import asks as macaron
from excam.macaron import derive, proofread
from excam.macaron import source as macaron_source
from excam.rubric import asks as rubric
from excam.rubric import changes, responses

ANSWER = 1900  # bytes of a long answer: the mean of 600 of CaLMQA's 12,808 public ones, which have 13 sentences
SENTENCES = 13  # each counts as one claim
PASSAGE = 600  # bytes
TEMPLATE = 1000  # bytes of a prompt's own words, where no flow builds it


@dataclass(frozen=True, slots=True)
class Requests:
    """At most this many requests of one kind to one model: UTF-8 bytes of all prompts, and how many want a text."""

    what: str
    model: str
    count: int
    prompt_bytes: int
    texts: int


def requests(experiment: Experiment) -> list[Requests]:
    """Return the requests of each section that is not null. Raises InputInvalid for files that cannot be read."""
    counted: list[Requests] = []
    if experiment.macaron:
        counted += _macaron(experiment.macaron, experiment)
    if experiment.rubric:
        counted += _rubric(experiment.rubric)
    if experiment.cult_eval:
        counted += _cult_eval(experiment.cult_eval, experiment)
    if experiment.calmqa:
        counted += _calmqa(experiment.calmqa)
    return counted


def _sized(what: str, flows: Iterable[Flow[Any]], model: str = "", times: int = 1) -> Requests:
    """Return what flows ask first, so many times."""
    asked: list[Request] = [request for flow in flows for request in next(flow, ())]
    size = sum(len(message.content.encode("utf-8", "replace")) for request in asked for message in request.messages)
    texts = sum(not isinstance(request, Choose) for request in asked)
    return Requests(what, model, times * len(asked), times * size, times * texts)


def _to_each(asked: Requests, models: Iterable[str]) -> Iterator[Requests]:
    """Yield the same requests to each of these models."""
    return (replace(asked, model=model) for model in dict.fromkeys(models))


def _macaron(section: Macaron, experiment: Experiment) -> Iterator[Requests]:
    """Yield a line for each model and mode. A server without likelihoods is asked for a text instead."""
    scenarios = macaron_source.read(macaron_source.files(Path(section.folder)), section.columns).scenarios
    instances = derive.instances(scenarios, experiment.seed, section.orders)
    by_mode = {
        mode: _sized(f"macaron, {mode}", (macaron.answer(instance, mode) for instance in instances))
        for mode in macaron.MODES
    }
    for model in dict.fromkeys(section.models):
        server = experiment.models[model].server
        blind = server is not None and "logprobs" in server.omit
        modes = dict.fromkeys("text" if mode == "choose" and blind else mode for mode in section.modes)
        yield from (replace(by_mode[mode], model=model) for mode in modes)
    yield from _to_each(by_mode["thinking"], section.thinking)
    if section.proofreader:
        yield _sized("macaron, proofreading", map(proofread.proofread, scenarios), section.proofreader)


def _rubric(section: Rubric) -> Iterator[Requests]:
    """Yield a line for each model that rates."""
    manual = changes.opened(section.version).with_weights(section.weights)
    known = responses.read(responses.files(Path(section.responses)))
    asked = _sized(f"rubric, {section.mode}", map(rubric.rater(section.mode, manual, ""), known))
    yield from _to_each(asked, section.models)


def _cult_eval(section: CultEval, experiment: Experiment) -> Iterator[Requests]:
    """Yield a line for each model that translates, and each judge of all translations in all variants."""
    folder = Path(section.folder)
    items_by_id = items.read(cult_eval.files(folder)[0])
    example = next((items.held_out(items_by_id, path) for path in cult_eval.example(folder)), None)
    rows = cult_eval.written(cult_eval.files(folder)[1:], items_by_id)
    for model in dict.fromkeys(section.models):
        plain = experiment.models[model].backend == "seq2seq"
        for shots in [0] if plain else dict.fromkeys(section.shots):
            form: translate.Form = "plain" if plain else "prompt"
            shown = example if shots else None
            flow = partial(translate.translate, system=model, form=form, example=shown)
            yield _sized(f"cult-eval, {shots}-shot", map(flow, items_by_id.values()), model)
            rows += [Translated(item, model, item.reference, shots) for item in items_by_id.values()]
    tasks = acre.tasks(rows, ("no-gate",), section.mode, section.quality)
    asked = _sized("cult-eval, judging", map(acre.flow, tasks), times=len(dict.fromkeys(section.variants)))
    yield from _to_each(asked, section.judges)


def _calmqa(section: Calmqa) -> Iterator[Requests]:
    """Yield a line for each model that answers, and each later stage that asks a model."""
    questions = calmqa_source.read_questions(calmqa_source.files(Path(section.questions), "calmqa.questions"))
    asked = _sized("calmqa, answers", map(calmqa.answer, questions))
    yield from _to_each(asked, section.models)
    written = calmqa_source.files(Path(section.written), "calmqa.written") if section.written else []
    answers = len(questions) * (len(set(section.models)) + len(written))
    for what, model, each, size in (
        ("translations", section.translator, 1, ANSWER),
        ("claims", section.extractor, SENTENCES, ANSWER),
        ("verdicts", section.verifier, SENTENCES, section.passages * PASSAGE),
        ("relevance", section.relevance, 1, ANSWER),
    ):
        if model and model != "rules":
            count = answers * each
            yield Requests(f"calmqa, {what}", model, count, count * (TEMPLATE + size), count)
