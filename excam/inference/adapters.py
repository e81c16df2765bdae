"""Is an adapter at work in the engine that serves it? A dead one answers like its base, and nobody would see.

Some engines accept LoRA weights whose names they do not know and never apply them. So fixed answers to a few questions
are scored three times: by the base model, by PEFT with the adapter, and by the serving engine with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from excam.config import Model
from excam.exceptions import ModelInvalid
from excam.inference import Backend, Choose, chat, lora, opening
from excam.inference.loading import loading
from excam.judges import report
from excam.records import CulturalError, Report

# Mean absolute difference in natural log-probability per token of the fixed answers.
MOVED = 0.01  # least change from the base by an adapter at work; a dead one changes nothing at all
APART = 0.25  # the engine may be this far from PEFT, as a share of the change; rounding to bfloat16 stays below it

PAIRS = (
    ("Name a dish that is often eaten at New Year in Japan.", "Toshikoshi soba, long noodles eaten on the last night."),
    ("Write one sentence about weddings in Scotland.", "The groom may wear a kilt in the colours of his clan."),
    ("Which language do most people in Brazil speak at home?", "Spanish"),
    ("वाराणसी किस नदी के किनारे है?", "यमुना"),
)
REPORTS = (
    Report(),
    Report((CulturalError("output", "Spanish", "major", "incorrect information"),), "Portuguese is spoken there."),
)


@dataclass(frozen=True, slots=True)
class Proof:
    """Mean absolute differences of log-probability per token over the fixed answers, in nats."""

    modules: int  # with a LoRA, all of them matched with a module of the base
    answers: int
    tokens: int
    moved: float  # PEFT with the adapter against the base
    apart: float  # the serving engine against PEFT
    from_base: float  # the serving engine against the base


def questions() -> list[Choose]:
    """Fixed reports as answers to the question of Table 5 about pairs of our own."""
    reports = tuple(map(report.write, REPORTS))
    return [Choose(report.messages(instruction, output), reports) for instruction, output in PAIRS]


def verify(name: str, model: Model, weights: Path, adapter: Path) -> Proof:
    """Score the fixed answers; `weights` and `adapter` are manifests.

    Raises ArtifactBroken when the files are not what their manifests say. Raises ModelInvalid, with the numbers, when
    the adapter changes nothing, when it changes nothing in the serving engine, or when the engine does not agree with
    PEFT; also when LoRA weights and modules do not match.
    """
    engine = opening.lazily(name, model, weights, adapter)
    engine.check()  # PEFT loads the same files before it
    modules = _trained_modules(name, adapter.parent)
    base, tuned = _with_peft(model, weights, adapter)
    served = _scores(engine)
    proof = Proof(
        modules=modules,
        answers=len(base),
        tokens=sum(tokens for _, tokens in base),
        moved=_difference(tuned, base),
        apart=_difference(served, tuned),
        from_base=_difference(served, base),
    )
    judge(name, proof)
    return proof


def judge(name: str, proof: Proof) -> None:
    """Raise ModelInvalid unless these differences are those of an adapter at work."""
    if proof.moved < MOVED:
        problem = f"it changes log-probabilities by {proof.moved:.4f} a token, below {MOVED}: it learned nothing"
    elif proof.from_base < MOVED:
        problem = f"the serving engine answers like the base ({proof.from_base:.4f} a token): it never applies it"
    elif proof.apart > APART * proof.moved:
        problem = (
            f"the serving engine is {proof.apart:.4f} a token from PEFT; expected at most {APART} of the change "
            f"{proof.moved:.4f}"
        )
    else:
        return
    raise ModelInvalid(f"{name}: the adapter is not at work: {problem}; nothing was judged with it")


def _trained_modules(name: str, adapter: Path) -> int:
    """How many modules have a LoRA. Raises ModelInvalid when some hold zeros, as before the first step."""
    from safetensors import safe_open

    file = chat.adapter_weights(adapter)
    with loading(file, lora.WEIGHTS), safe_open(file, "pt") as stored:
        keys = [key for key in stored.keys() if "lora_B" in key]  # noqa: SIM118 - it is no dictionary
        trained = {key: bool(stored.get_tensor(key).any()) for key in keys}
    if not trained or not all(trained.values()):
        zero = [key for key, moved in trained.items() if not moved]
        found = f"{len(zero)} of {len(trained)} hold zeros only, e.g. {min(zero)}" if trained else "none"
        raise ModelInvalid(f"{name}: LoRA modules: {found}; expected trained ones; train it again")
    return len(trained)


def _with_peft(model: Model, weights: Path, adapter: Path) -> tuple[list[tuple[float, int]], list[tuple[float, int]]]:
    """The base model's and the tuned model's scores, from one load; memory is given back for the serving engine."""
    import torch

    from excam.inference.backends import transformers

    files = weights.parent / "files"
    backend = transformers.Backend(files, adapter.parent, dtype=model.dtype, context=model.context)
    tuned = _scores(backend)
    with backend.model.disable_adapter():
        base = _scores(backend)
    del backend
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return base, tuned


def _scores(backend: Backend) -> list[tuple[float, int]]:
    """(sum of log-probabilities, tokens) of each fixed answer."""
    found: dict[int, Any] = dict(pair for batch in backend.choose(questions()) for pair in batch)
    scores: list[tuple[float, int]] = []
    for at in range(len(PAIRS)):
        if getattr(found.get(at), "logprobs", None) is None:
            raise ModelInvalid(
                f"{backend.identity[:60]}: it gave no log-probabilities of a fixed answer: {found.get(at)}"
            )
        scores += zip(found[at].logprobs, found[at].tokens, strict=True)
    return scores


def _difference(one: Sequence[tuple[float, int]], other: Sequence[tuple[float, int]]) -> float:
    return sum(abs(a - b) / n for (a, n), (b, _) in zip(one, other, strict=True)) / len(one)
