"""A metric opened with its models, for commands, programs, servers and jobs alike; which options a metric has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from functools import partial

from excam.core.exceptions import InputInvalid, ModelInvalid
from excam.core.paths import ADAPTERS
from excam.inference import Generate, Sampling
from excam.knowledge.index import Index, open_index
from excam.scoring import calibration, metric
from excam.scoring.defaults import BAND
from excam.scoring.ensemble import Ensemble, RepeatSettings
from excam.scoring.metric import Metric, Row, Setup
from excam.scoring.models import open_model, parse
from excam.scoring.opened_model import OpenedModel
from excam.scoring.options import Options, Serving, option_name
from excam.scoring.scorer import Scorer
from excam.scoring.served_model import SHORT

DEFAULT = ADAPTERS / "smollm2-135m" / "all"  # trained by the first command of the README


def refusals(wanted: Metric) -> Mapping[str, str]:
    """Return which options of scoring a metric cannot have, and why, by the option's name in `Options`."""
    reasons: dict[str, str] = {}
    if wanted.asks == "nothing":
        models = ("backend", "dtype", "bases", *(() if wanted.needs_model else ("models",)))
        others = ("max_tokens", "repeat", "temperature", "combine")
        serving_options = (item.name for item in fields(Serving))
        reasons |= dict.fromkeys((*models, *others, *serving_options), "it asks no model")
    elif wanted.asks == "likelihoods":
        generated = ("max_tokens", "repeat", "temperature")
        reasons |= dict.fromkeys(generated, "it reads likelihoods, and nothing is generated")
    if len(wanted.judges) < 2:
        reasons["judge"] = "it has one way of asking"
    if not wanted.stand_ins:
        reasons["without"] = "it needs all of its columns"
    if not wanted.qualifies:
        reasons["qualification"] = "no model is qualified for it"
    if wanted.evidence == "none" or (wanted.evidence == "before" and not wanted.pair):
        reasons["evidence"] = "it reads none"
    if why := calibration.refusal(wanted):
        reasons |= dict.fromkeys(("calibration", "band"), why)
    return reasons


def checked(options: Options) -> Metric:
    """Return the metric of the options. Raises InputInvalid for an option that it cannot have, or that it lacks."""
    wanted = metric.load(options.metric)
    wanted = wanted.lacking(options.without) if options.without and wanted.stand_ins else wanted
    has_model = bool(options.models or options.qualification)
    wanted = wanted.judging_by(options.judge, has_model=has_model, has_evidence=options.evidence is not None)
    for problem in _option_problems(options, wanted):
        raise InputInvalid(problem)
    options.serving.checked()
    RepeatSettings(options.repeat, options.temperature, options.combine or "mean").checked()
    calibration.checked_band(options.band or BAND)
    return wanted


def _needs_model(wanted: Metric) -> bool:
    return wanted.asks != "nothing" or wanted.needs_model


def _option_problems(options: Options, wanted: Metric) -> Iterator[str]:
    """Yield what a metric cannot have of the options, what it lacks, and which of them exclude each other."""
    reasons, count, limit = refusals(wanted), max(1, len(options.models)), options.max_tokens
    for name in options.given:
        if name in reasons:
            yield f"{option_name(name)}: metric {wanted.name} has none: {reasons[name]}; leave it out"
    if options.judge and options.judge not in wanted.judges:
        yield f"--judge: found {options.judge}; expected {' or '.join(wanted.judges)}"
    if not options.models and wanted.name != "excam" and _needs_model(wanted):
        expected = "an adapter, the folder of a model, or NAME@http://host/v1"
        yield f"--model: missing; metric {wanted.name} asks one; expected {expected}"
    if wanted.evidence == "own" and options.evidence is None:
        yield f"--evidence: missing; metric {wanted.name} needs an index: `excam knowledge build SOURCE --to INDEX`"
    if options.calibration and options.temperature:
        yield "--calibration: found beside --temperature; expected greedy answers; leave one of them out"
    if options.combine and options.repeat < 2 and count < 2:
        yield "--combine: found for one judgement; expected --repeat or several models; leave it out"
    if options.bases and len(options.bases) != count:
        yield f"--base: {len(options.bases)} bases of {count} models; expected none, or one each in order"
    if limit is not None and (not isinstance(limit, int) or limit < 1):
        yield f"--max-tokens: found {limit}; expected a whole number from 1"


def open_scorer(options: Options) -> Scorer | Ensemble:
    """Open a metric with its models; nothing is loaded yet.

    Raises InputInvalid for an option that the metric cannot have, ModelInvalid for a model that there is not.
    """
    wanted = checked(options)
    needs_model = _needs_model(wanted)
    if needs_model and not options.models and not DEFAULT.exists():
        raise ModelInvalid(
            f"--model: missing, and there is no adapter ./{DEFAULT}; expected the folder of a model or "
            "adapter, or NAME@http://host/v1; docs/tutorial.md says how to get one, `excam demo` needs none"
        )
    addresses = [parse(address) for address in options.models or (DEFAULT,)]
    index = open_index(options.evidence) if options.evidence else None
    models: list[OpenedModel | None] = [None]
    if needs_model:
        bases = options.bases or (None,) * len(addresses)
        probe = partial(first_request, wanted, options, index) if wanted.asks != "nothing" else None
        models = [
            open_model(address, base, options.serving, dtype=options.dtype, probe=probe)
            for address, base in zip(addresses, bases, strict=True)
        ]
    judges = [_judge(wanted, options, model, index) for model in models]
    if len(judges) > 1 or options.repeat > 1:
        how = RepeatSettings(options.repeat, options.temperature, options.combine or "mean", options.band or BAND)
        return Ensemble(judges, how)
    return judges[0].sampled(options.temperature, 0) if options.temperature else judges[0]


def first_request(
    wanted: Metric, options: Options, index: Index | None, model: OpenedModel
) -> tuple[Generate, Sampling]:
    """Return what a metric asks first about its example, and how; a short request for a metric without one.

    Args:
        wanted: the metric
        options: how rows are scored
        index: passages; None without evidence
        model: that will be asked
    """
    how = Sampling(options.max_tokens or wanted.max_tokens, options.temperature, logprobs=wanted.probabilities)
    ready = wanted.prepared(Setup(model, index, options.judge, options.qualification))
    example = Row("example", {**wanted.stand_ins, **wanted.example})
    requests = next(Scorer(ready, model, how).flow(example), ()) if wanted.example else ()
    schema = '{"type": "object", "additionalProperties": false}' if wanted.sends_schema(options.judge) else ""
    return next((request for request in requests if isinstance(request, Generate)), replace(SHORT, schema=schema)), how


def scorer_of(
    wanted: Metric, options: Options, model: OpenedModel | None, index: Index | None, sampling: Sampling | None = None
) -> Scorer:
    """Return a metric with one model, and with passages; a job gives the sampling of its model's entry.

    Args:
        wanted: the metric
        options: how rows are scored
        model: that it asks; None for a metric that asks nothing
        index: passages; None without evidence
        sampling: of the model's entry; None: greedy, with the limit of tokens of options or metric
    """
    ready = wanted.prepared(Setup(model, index, options.judge, options.qualification))
    scorer = Scorer(ready, model, sampling or Sampling(options.max_tokens or wanted.max_tokens))
    return scorer.with_open_book(index) if index and not ready.reads_evidence else scorer


def _judge(wanted: Metric, options: Options, model: OpenedModel | None, index: Index | None) -> Scorer:
    """Return a metric with a model, calibrated by the file of the options, else by that in the adapter's folder.

    The latter was fitted without passages and sampling: with either, no calibration is used.
    """
    scorer = scorer_of(wanted, options, model, index)
    ready = scorer.metric
    beside = model.folder / calibration.FILE if model and model.tuned and model.folder else None
    plain = not (options.evidence or options.temperature or ready.reads_evidence) and wanted.name == "excam"
    file = options.calibration or (beside if beside and plain and beside.exists() else None)
    if file is None and options.band:
        raise InputInvalid("--band: no calibration to use it with; expected one; give --calibration, or leave it out")
    return scorer.with_calibration(file, options.band or BAND) if file else scorer
