"""Test whether a model on its GPUs answers, and how fast. It is opened as `judge` opens it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from excam.config import Model
from excam.core.exceptions import ModelInvalid
from excam.core.hash_order import digest
from excam.error_reports.fixed_answers import PAIRS
from excam.error_reports.judges import report
from excam.error_reports.records import Sample, Severity
from excam.excam40k.construction import generator, soft, splits, word_balance
from excam.inference import Completion, Generate, Sampling, backend_factory
from excam.preflight.plan import LONGEST

PROBED = 200  # original rows in which a generator writes errors
TOGETHER, TOGETHER_ON_CPU = 64, 4  # questions at once: what a step of the engine answers side by side


def questions(count: int) -> list[Generate]:
    """Return this number of different questions of Table 5, about pairs of our own."""
    pairs = [PAIRS[at % len(PAIRS)] for at in range(count)]
    return [Generate(report.messages(f"{asked} ({at})", output)) for at, (asked, output) in enumerate(pairs)]


def try_model(name: str, model: Model, weights: Path, seed: int, originals: Sequence[Sample] = ()) -> dict[str, Any]:
    """Open the model, let it answer one question twice and then many at once; return seconds, tokens, and its settings.

    The first answer waits for the engine, the second does not: the difference is what opening it takes. With original
    rows it is also asked for errors in `PROBED` of them, to see whether its words give them away. Raises ArtifactBroken
    or ModelInvalid as any job with this model would.
    """
    import torch

    backend = backend_factory.LazyBackend(name, model, weights)
    whole = backend_factory.sampling_for(model, seed)
    sampling = replace(whole, max_tokens=min(whole.max_tokens, LONGEST))
    started = time.monotonic()
    backend.check()
    checked = time.monotonic()
    single = questions(1)
    _ask(backend, single, sampling)
    opened = time.monotonic()
    (answer,) = _ask(backend, single, sampling)
    answered = time.monotonic()
    answers = _ask(backend, questions(TOGETHER if torch.cuda.is_available() else TOGETHER_ON_CPU), sampling)
    ended = time.monotonic()
    return {
        **({"words": _trace(backend, originals, whole, seed)} if originals else {}),
        "check_seconds": round(checked - started, 2),
        "open_seconds": round(max(0.0, (opened - checked) - (answered - opened)), 2),
        "answer_seconds": round(answered - opened, 2),
        "answer_tokens": answer.completion_tokens,
        "prompt_tokens": answer.prompt_tokens,
        "together": len(answers),
        "together_seconds": round(ended - answered, 2),
        "together_tokens": sum(completion.completion_tokens for completion in answers),
        "cut": sum(completion.finish == "length" for completion in answers),
        "engine": dict(backend.settings),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
    }


def _trace(
    backend: backend_factory.LazyBackend, originals: Sequence[Sample], sampling: Sampling, seed: int
) -> dict[str, Any]:
    """Return what words tell about errors that the model writes, and how many of its answers are errors."""
    drawn = sorted(originals, key=lambda sample: digest(seed, "probe", sample.pair))[:PROBED]
    severity: list[Severity] = [soft.asked_severity(sample.pair) for sample in drawn]
    asked = [Generate(generator.messages(*pair)) for pair in zip(drawn, severity, strict=True)]
    answers = dict(pair for batch in backend.generate(asked, sampling) for pair in batch)
    made = [
        soft.soft_error(sample, wanted, answer.text, "strict")
        for at, (sample, wanted) in enumerate(zip(drawn, severity, strict=True))
        if isinstance(answer := answers.get(at), Completion) and answer.finish == "stop"
    ]
    pairs, _ = splits.pair_up(drawn, [outcome for outcome in made if isinstance(outcome, Sample)])
    balance = word_balance.telling_pairs(pairs, keep_all=True)[1] if pairs else None
    return {"asked": len(drawn), "pairs": len(pairs) // 2, "scaled": list(balance.before) if balance else None}


def _ask(backend: backend_factory.LazyBackend, requests: Sequence[Generate], sampling: Sampling) -> list[Completion]:
    by_number = dict(pair for batch in backend.generate(requests, sampling) for pair in batch)
    answers = [by_number.get(at) for at in range(len(requests))]
    for answer in answers:
        if not isinstance(answer, Completion) or answer.finish == "refused":
            why = getattr(answer, "reason", "its prompt was refused")
            raise ModelInvalid(
                f"{backend.name}: no answer to a short question: {why}; check models.*.context and sampling.max_tokens"
            )
    return [answer for answer in answers if isinstance(answer, Completion)]
