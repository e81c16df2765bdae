"""Check that an adapter is active in the engine that serves it; without it the engine would answer like the base model.

Some engines accept LoRA weights whose names they do not know and never apply them. So fixed answers to a few questions
are scored three times: by the base model and by PEFT with the adapter where it was trained, and by the serving engine
with the adapter's files. The serving engine is thus compared with what was trained, and not with itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from excam.config import Model
from excam.core.exceptions import ModelInvalid
from excam.core.provenance import read_json
from excam.error_reports import fixed_answers
from excam.error_reports.fixed_answers import Scores, difference
from excam.inference import backend_factory, chat, lora
from excam.inference.loading import loading

# Mean absolute difference in natural log-probability per token of the fixed answers.
MOVED = 0.01  # least change from the base by an adapter at work; a dead one changes nothing at all
APART = 0.25  # the engine may be this far from PEFT, as a share of the change; rounding to bfloat16 stays below it


@dataclass(frozen=True, slots=True)
class _Proof:
    """Mean absolute differences of log-probability per token over the fixed answers, in nats."""

    modules: int  # with a LoRA, all of them matched with a module of the base
    answers: int
    tokens: int
    moved: float  # PEFT with the adapter against the base
    apart: float  # the serving engine against PEFT
    from_base: float  # the serving engine against the base


def verify(name: str, model: Model, weights: Path, adapter: Path) -> _Proof:
    """Score the fixed answers; `weights` and `adapter` are manifests.

    Raises ArtifactBroken when the files are not what their manifests say. Raises ModelInvalid, with the numbers, when
    the adapter changes nothing, when it changes nothing in the serving engine, or when the engine does not agree with
    PEFT; also when LoRA weights and modules do not match.
    """
    # The name that judges ask under
    engine = backend_factory.SharedBackend(name.split("/")[0], model, weights, adapter)
    engine.check()
    modules = _trained_modules(name, adapter.parent)
    base, tuned = _where_trained(adapter)
    served = fixed_answers.scores(engine.choose)
    proof = _Proof(
        modules=modules,
        answers=len(base),
        tokens=sum(tokens for _, tokens in base),
        moved=difference(tuned, base),
        apart=difference(served, tuned),
        from_base=difference(served, base),
    )
    judge(name, proof)
    return proof


def _where_trained(adapter: Path) -> tuple[Scores, Scores]:
    """Return the scores of base and adapter from the adapter's manifest. Raises ModelInvalid if it has none."""
    scores = read_json(adapter).get("fixed_answers")
    if not scores:
        raise ModelInvalid(
            f"{adapter}: no scores of the fixed answers; expected `fixed_answers`, which training leaves there where "
            "the base has room for them; train it again, on a base with more positions"
        )
    return scores["base"], scores["tuned"]


def judge(name: str, proof: _Proof) -> None:
    """Raise ModelInvalid unless these differences are those of an active adapter."""
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
    """Return the number of modules with a LoRA. Raises ModelInvalid if some hold zeros, as before the first step."""
    from safetensors import deserialize

    file = chat.adapter_weights(adapter)
    with loading(file, lora.WEIGHTS):
        matrices = {key: matrix["data"] for key, matrix in deserialize(file.read_bytes()) if "lora_B" in key}
    trained = {key: bool(data.strip(b"\x00\x80")) for key, data in matrices.items()}  # -0.0 is a zero, too
    if not trained or not all(trained.values()):
        zero = [key for key, moved in trained.items() if not moved]
        problem = f"{len(zero)} of {len(trained)} hold zeros only, e.g. {min(zero)}" if trained else "none"
        raise ModelInvalid(f"{name}: LoRA modules: {problem}; expected trained ones; train it again")
    return len(trained)
