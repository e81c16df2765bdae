"""Generation with transformers (and PEFT) on one CPU or GPU.

An own decoding loop, for three things `generate` lacks: a row that has finished leaves the batch, the log-probabilities
are exact under the unmodified distribution, and a row's random numbers do not depend on the rows beside it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from excam.exceptions import ModelInvalid
from excam.inference import Completion, Generate, Sampling, chat
from excam.inference.journal import seed

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


class Backend:
    """A causal language model from a local folder, with a LoRA adapter if given."""

    def __init__(
        self,
        weights: Path,
        adapter: Path | None = None,
        *,
        dtype: str = "bfloat16",
        device: str | None = None,
        batch_tokens: int | None = None,
        context: int | None = None,
        identity: str = "",
    ) -> None:
        """Load the model (safetensors only, local files only, no code from the folder).

        `batch_tokens`: rows x (longest prompt + max_tokens) of a batch, by default 32768 on a GPU and 8192 on a CPU,
        which gains nothing from more; lower it when memory runs out. `context`:
        longest prompt and answer together, the model's own limit if not given. `identity`: digest of the files if not
        given. `device`: "cuda" where there is one. Raises ModelInvalid.
        """
        import torch

        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self.tokenizer = load_tokenizer(weights)
        self.model: Any = _load_model(weights, adapter, dtype).to(self.device)  # pyright: ignore[reportArgumentType]
        self.batch_tokens = batch_tokens or (8192 if self.device == "cpu" else 32768)
        longest = self.model.config.get_text_config().max_position_embeddings
        self.context = min(context or longest, longest)
        self.stops = stop_ids(self.tokenizer, self.model.generation_config)
        self.identity = identity or content_identity("transformers", weights, adapter)

    def complete(self, requests: Sequence[Generate], sampling: Sampling) -> Iterator[list[tuple[int, Completion]]]:
        """Yield batches, longest prompts first; a prompt that leaves no room for `max_tokens` is refused, never cut."""
        prompts = [chat.encode(self.tokenizer, request.messages).input_ids for request in requests]
        fits = [len(prompt) + sampling.max_tokens <= self.context for prompt in prompts]
        if not all(fits):
            yield [(at, Completion("", None, "refused", len(prompts[at]))) for at, fit in enumerate(fits) if not fit]
        order = sorted((at for at, fit in enumerate(fits) if fit), key=lambda at: -len(prompts[at]))
        while order:
            rows = max(1, self.batch_tokens // (len(prompts[order[0]]) + sampling.max_tokens))
            batch, order = order[:rows], order[rows:]
            chances = [Random(seed(requests[at], sampling)) for at in batch]
            answers = self._decode([prompts[at] for at in batch], chances, sampling)
            yield [(at, self._completion(*answer, len(prompts[at]))) for at, answer in zip(batch, answers, strict=True)]

    def _completion(self, ids: list[int], logprobs: list[float], prompt_tokens: int) -> Completion:
        stopped = ids[-1] in self.stops
        text = self.tokenizer.decode(
            ids[:-1] if stopped else ids, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return Completion(str(text), tuple(logprobs), "stop" if stopped else "length", prompt_tokens)

    def _decode(
        self, prompts: Sequence[Sequence[int]], chances: Sequence[Random], sampling: Sampling
    ) -> list[tuple[list[int], list[float]]]:
        """Token ids and log-probabilities of each row, the token that ends the turn included."""
        import torch

        answers: list[tuple[list[int], list[float]]] = [([], []) for _ in prompts]
        ids, mask = self._padded(prompts)
        positions = (mask.cumsum(-1) - 1).clamp(min=0)
        rows, cache = list(range(len(prompts))), None
        with torch.inference_mode():
            for _ in range(sampling.max_tokens):
                out = self.model(
                    input_ids=ids,
                    attention_mask=mask,
                    position_ids=positions,
                    past_key_values=cache,
                    use_cache=True,
                    logits_to_keep=1,
                )
                logits = out.logits[:, -1].float()
                chosen = choose(logits, [chances[row] for row in rows], sampling)
                scores = logits.log_softmax(-1).gather(-1, chosen).squeeze(-1).tolist()
                tokens = chosen.squeeze(-1).tolist()
                for row, token, score in zip(rows, tokens, scores, strict=True):
                    answers[row][0].append(token)
                    answers[row][1].append(score)
                keep = [at for at, token in enumerate(tokens) if token not in self.stops]
                if not keep:
                    break
                ids, positions, cache = chosen, positions[:, -1:] + 1, out.past_key_values
                if len(keep) < len(rows):
                    kept = torch.tensor(keep, device=self.device)
                    cache.batch_select_indices(kept)
                    ids, positions, mask = ids[kept], positions[kept], mask[kept]
                    rows = [rows[at] for at in keep]
                mask = torch.cat([mask, mask.new_ones(len(rows), 1)], dim=-1)
        return answers

    def _padded(self, prompts: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Ids and attention mask, [rows, longest], padded on the left."""
        import torch

        longest = max(map(len, prompts))
        ids = torch.tensor([[0] * (longest - len(prompt)) + list(prompt) for prompt in prompts])
        mask = torch.tensor([[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts])
        return ids.to(self.device), mask.to(self.device)


def choose(logits: torch.Tensor, chances: Sequence[Random], sampling: Sampling) -> torch.Tensor:
    """The next token of each row, [rows, 1]: the likeliest at temperature 0, else drawn with one number per row.

    Temperature, then top-k, then top-p, as in vLLM and transformers; `logits` are [rows, vocabulary], float32.
    """
    import torch

    if sampling.temperature == 0:
        return logits.argmax(-1, keepdim=True)
    kept = min(sampling.top_k, logits.shape[-1]) or logits.shape[-1]
    values, tokens = (logits / sampling.temperature).topk(kept, sorted=True)
    probabilities = values.softmax(-1)
    before = probabilities.cumsum(-1) - probabilities
    probabilities = probabilities.where(before < sampling.top_p, 0.0)
    cumulative = probabilities.cumsum(-1)
    drawn = torch.tensor([[chance.random()] for chance in chances], device=logits.device) * cumulative[:, -1:]
    at = torch.searchsorted(cumulative, drawn, right=True)
    last = (probabilities > 0).sum(-1, keepdim=True) - 1
    return tokens.gather(-1, at.minimum(last))


def load_tokenizer(weights: Path) -> PreTrainedTokenizerBase:
    """The tokenizer of a local folder. Raises ModelInvalid."""
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(weights, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as problem:
        raise _unusable(weights, problem) from None


def _load_model(weights: Path, adapter: Path | None, dtype: str) -> PreTrainedModel:
    import torch
    from transformers import AutoModelForCausalLM

    try:
        model = AutoModelForCausalLM.from_pretrained(
            weights,
            dtype=getattr(torch, dtype),
            local_files_only=True,
            use_safetensors=True,
            trust_remote_code=False,
        )
    except (OSError, ValueError, KeyError) as problem:
        raise _unusable(weights, problem) from None
    return (model if adapter is None else _with_adapter(model, adapter)).eval()


def _with_adapter(model: PreTrainedModel, adapter: Path) -> Any:
    """Put the adapter on. Raises ModelInvalid unless every LoRA weight of the file found its module (P15)."""
    from peft import PeftModel, get_peft_model_state_dict
    from safetensors import safe_open

    file = adapter / "adapter_model.safetensors"
    if not file.is_file():
        raise ModelInvalid(f"{adapter}: no {file.name}; expected the folder of a LoRA adapter in safetensors")
    try:
        tuned = PeftModel.from_pretrained(model, adapter, local_files_only=True)
    except (OSError, ValueError, KeyError, RuntimeError) as problem:
        raise _unusable(adapter, problem) from None
    with safe_open(file, "pt") as stored:
        unlike = set(stored.keys()) ^ set(get_peft_model_state_dict(tuned, save_embedding_layers=False))
    if unlike:
        raise ModelInvalid(
            f"{adapter}: {len(unlike)} LoRA weights without a counterpart, e.g. {min(unlike)}; expected an adapter of "
            "this very model class; train it on this base"
        )
    return tuned.to(model.dtype)  # PEFT would compute in float32; the serving engines do not


def stop_ids(tokenizer: PreTrainedTokenizerBase, generation_config: Any) -> frozenset[int]:
    """Ids of all tokens that end an answer: the template's, the tokenizer's, those of the generation settings."""
    listed = getattr(generation_config, "eos_token_id", None)
    listed = listed if isinstance(listed, list) else [listed]
    found = [chat.end_of_turn(tokenizer), tokenizer.eos_token_id, *listed]
    return frozenset(one for one in found if isinstance(one, int))


def content_identity(engine: str, *folders: Path | None) -> str:
    """`engine` and a digest of every JSON, Jinja and safetensors file of the folders: what decides the answers."""
    digest = hashlib.sha256()
    for folder in folders:
        for file in sorted(folder.iterdir()) if folder else ():
            if file.suffix in (".json", ".jinja", ".safetensors", ".model"):
                with file.open("rb") as stream:
                    digest.update(file.name.encode() + hashlib.file_digest(stream, "sha256").digest())
        digest.update(b"|")
    return f"{engine}|{digest.hexdigest()}"


def _unusable(folder: Path, problem: Exception) -> ModelInvalid:
    reason = " ".join(str(problem).split())[:200]
    return ModelInvalid(f"{folder}: cannot be loaded: {reason}; expected config.json, *.safetensors and a tokenizer")
