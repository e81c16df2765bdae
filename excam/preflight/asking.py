"""Test whether a model on its GPUs answers, and how fast. It is opened as `judge` opens it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from excam.config import Model
from excam.core.exceptions import ModelInvalid
from excam.error_reports.fixed_answers import PAIRS
from excam.error_reports.judges import report
from excam.inference import Completion, Generate, Sampling, backend_factory
from excam.preflight.plan import LONGEST

TOGETHER, TOGETHER_ON_CPU = 64, 4  # questions at once: what a step of the engine answers side by side


def questions(count: int) -> list[Generate]:
    """Return this number of different questions of Table 5, about pairs of our own."""
    pairs = [PAIRS[at % len(PAIRS)] for at in range(count)]
    return [Generate(report.messages(f"{asked} ({at})", output)) for at, (asked, output) in enumerate(pairs)]


def try_model(name: str, model: Model, weights: Path, seed: int) -> dict[str, Any]:
    """Open the model, let it answer one question twice and then many at once; return seconds, tokens, and its settings.

    The first answer waits for the engine, the second does not: the difference is what opening it takes. Raises
    ArtifactBroken or ModelInvalid as any job with this model would.
    """
    import torch

    backend = backend_factory.backend_for(name, model, weights)
    sampling = backend_factory.sampling_for(model, seed)
    sampling = replace(sampling, max_tokens=min(sampling.max_tokens, LONGEST))
    started = time.monotonic()
    backend.check()
    checked = time.monotonic()
    one = questions(1)
    _ask(backend, one, sampling)
    opened = time.monotonic()
    (answer,) = _ask(backend, one, sampling)
    answered = time.monotonic()
    answers = _ask(backend, questions(TOGETHER if torch.cuda.is_available() else TOGETHER_ON_CPU), sampling)
    ended = time.monotonic()
    return {
        "check_seconds": round(checked - started, 2),
        "open_seconds": round(max(0.0, (opened - checked) - (answered - opened)), 2),
        "answer_seconds": round(answered - opened, 2),
        "answer_tokens": answer.completion_tokens,
        "prompt_tokens": answer.prompt_tokens,
        "together": len(answers),
        "together_seconds": round(ended - answered, 2),
        "together_tokens": sum(one.completion_tokens for one in answers),
        "cut": sum(one.finish == "length" for one in answers),
        "engine": dict(backend.settings),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
    }


def _ask(backend: backend_factory.LazyBackend, requests: Sequence[Generate], sampling: Sampling) -> list[Completion]:
    found = dict(pair for batch in backend.generate(requests, sampling) for pair in batch)
    answers = [found.get(at) for at in range(len(requests))]
    for answer in answers:
        if not isinstance(answer, Completion) or answer.finish == "refused":
            why = getattr(answer, "reason", "its prompt was refused")
            raise ModelInvalid(
                f"{backend.name}: no answer to a short question: {why}; check models.*.context and sampling.max_tokens"
            )
    return [answer for answer in answers if isinstance(answer, Completion)]
