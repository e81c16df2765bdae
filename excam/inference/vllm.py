"""Generation with vLLM's offline engine (GPUs). An environment of its own: `pip install 'excam[vllm]'`.

Prompts are tokenised by `chat.encode`, so that this engine reads the very tokens that training and transformers read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from excam.exceptions import ModelInvalid
from excam.inference import Completion, Generate, Sampling, chat
from excam.inference.journal import seed
from excam.inference.transformers import content_identity, load_tokenizer, stop_ids

ROWS_PER_BATCH = 1024  # rows between two writes of the journal; the engine runs empty at the end of each


class Backend:
    """A causal language model from a local folder, with one LoRA adapter if given."""

    def __init__(
        self,
        weights: Path,
        adapter: Path | None = None,
        *,
        identity: str = "",
        tensor_parallel_size: int = 1,
        quantization: str | None = None,
        max_model_len: int | None = None,
        dtype: str = "bfloat16",
    ) -> None:
        """Start the engine. Raises ModelInvalid when vLLM is not installed or cannot take the model."""
        try:
            from vllm import LLM  # pyright: ignore
            from vllm.lora.request import LoRARequest  # pyright: ignore
        except ImportError:
            raise ModelInvalid(
                "backend vllm: vLLM is not installed here; expected vllm>=0.17.1; pip install 'excam[vllm]'"
            ) from None
        self.tokenizer = load_tokenizer(weights)
        self.stops = stop_ids(self.tokenizer, _generation_config(weights))
        self.identity = identity or content_identity("vllm", weights, adapter)
        self._lora = LoRARequest("adapter", 1, str(adapter)) if adapter else None
        try:
            self._engine = LLM(
                model=str(weights),
                dtype=dtype,
                tensor_parallel_size=tensor_parallel_size,
                quantization=quantization,
                max_model_len=max_model_len,
                trust_remote_code=False,
                load_format="safetensors",
                logprobs_mode="raw_logprobs",  # of the unmodified distribution
                generation_config="vllm",  # decoding settings come from us alone
                **({"enable_lora": True, "max_loras": 1, "max_lora_rank": _rank(adapter)} if adapter else {}),
            )
        except ValueError as problem:
            reason = " ".join(str(problem).split())[:200]
            raise ModelInvalid(f"{weights}: vLLM cannot take it: {reason}; check models.*.context and gpus") from None
        self.context: int = self._engine.llm_engine.model_config.max_model_len

    def complete(self, requests: Sequence[Generate], sampling: Sampling) -> Iterator[list[tuple[int, Completion]]]:
        """Yield batches of `ROWS_PER_BATCH`; a prompt that leaves no room for `max_tokens` is refused, never cut."""
        prompts = [list(chat.encode(self.tokenizer, request.messages).input_ids) for request in requests]
        fits = [len(prompt) + sampling.max_tokens <= self.context for prompt in prompts]
        if not all(fits):
            yield [(at, Completion("", None, "refused", len(prompts[at]))) for at, fit in enumerate(fits) if not fit]
        order = [at for at, fit in enumerate(fits) if fit]
        for start in range(0, len(order), ROWS_PER_BATCH):
            batch = order[start : start + ROWS_PER_BATCH]
            outputs = self._engine.generate(
                [{"prompt_token_ids": prompts[at]} for at in batch],
                [self._parameters(requests[at], sampling) for at in batch],
                lora_request=self._lora,
                use_tqdm=False,
            )
            yield [(at, _completion(output)) for at, output in zip(batch, outputs, strict=True)]

    def _parameters(self, request: Generate, sampling: Sampling) -> Any:
        from vllm import SamplingParams  # pyright: ignore

        return SamplingParams(
            max_tokens=sampling.max_tokens,
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            top_k=sampling.top_k,
            seed=seed(request, sampling),
            logprobs=0,  # of the chosen token alone
            stop_token_ids=sorted(self.stops),
        )


def _completion(output: Any) -> Completion:
    answer = output.outputs[0]
    chosen = zip(answer.token_ids, answer.logprobs, strict=True)
    return Completion(
        text=answer.text,
        logprobs=tuple(float(position[token].logprob) for token, position in chosen),
        finish="length" if answer.finish_reason == "length" else "stop",
        prompt_tokens=len(output.prompt_token_ids),
    )


def _generation_config(weights: Path) -> Any:
    """The folder's generation settings (which tokens end an answer); None where it has none."""
    from transformers import GenerationConfig

    if not (weights / "generation_config.json").is_file():
        return None
    return GenerationConfig.from_pretrained(weights, local_files_only=True)


def _rank(adapter: Path) -> int:
    """Slots are allocated for `max_lora_rank`: exactly the adapter's r. Raises ModelInvalid when that is unknown."""
    try:
        return int(json.loads((adapter / "adapter_config.json").read_text(encoding="utf-8"))["r"])
    except (OSError, ValueError, KeyError, TypeError):
        raise ModelInvalid(f"{adapter}: no adapter_config.json with a rank r; expected a LoRA adapter") from None
