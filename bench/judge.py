"""How fast are judges asked? Each backend against the `transformers` pipeline.

    python -m bench.judge --weights results/models/smollm2-135m/manifest.json \\
        --adapter results/adapters/smollm2-135m/all/manifest.json --samples results/excam40k/*/test.parquet

All ways answer the same rows greedily with the same weights, one after the other in every round, so that a machine
whose speed drifts slows all of them; loading is timed apart. Rows a second, tokens a second, their ratio to the first
named way, and how many answers are equal to that way's. `--ways vllm` and its kin need vLLM (run it with .venv-vllm);
`--shape phi3-medium` takes random weights of that shape, an adapter of the paper's rank, and answers of exactly
`--max-tokens` tokens; its tokenizer is that of `--weights`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from excam.config import Model
from excam.core import provenance
from excam.error_reports import judges, record_files
from excam.error_reports.records import Sample
from excam.inference import Backend, Completion, Generate, Sampling, backend_factory
from scripts import run

WAYS = ("pipeline", "pipeline-batched", "transformers", "transformers-merged", "vllm", "vllm-merged")
BATCHED = 16  # rows of the pipeline's batches if it batches
Ask = Callable[[Sequence[Generate]], list[tuple[str, int]]]  # (text, generated tokens) of each


@dataclass
class Timing:
    """What one way took. `load` and `seconds` in seconds; `answers` by row."""

    load: float = 0.0
    seconds: float = 0.0
    answers: list[tuple[str, int]] = field(default_factory=list)

    def row(self, first: Timing) -> dict[str, Any]:
        """Rates, and rows a second against the first way's."""
        equal = sum(a[0].strip() == b[0].strip() for a, b in zip(self.answers, first.answers, strict=True))
        return {
            "rows": len(self.answers),
            "load_s": round(self.load, 1),
            "seconds": round(self.seconds, 1),
            "rows_per_s": round(len(self.answers) / self.seconds, 3),
            "tokens_per_s": round(sum(tokens for _, tokens in self.answers) / self.seconds, 1),
            "times_first": round(first.seconds / self.seconds, 2),
            "equal_to_first": equal,
        }


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path, required=True, help="manifest of a fetched model")
    parser.add_argument("--adapter", type=Path, help="manifest of an adapter")
    parser.add_argument("--samples", type=Path, nargs="+", required=True)
    parser.add_argument("--judge", default="report", choices=judges.available())
    parser.add_argument("--ways", nargs="+", default=["pipeline", "pipeline-batched", "transformers"], choices=WAYS)
    parser.add_argument("--rows", type=int, default=64, help="a round")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--max-tokens", type=int, default=128)
    parser.add_argument("--dtype", default="bfloat16", choices=["bfloat16", "float32"])
    parser.add_argument("--gpus", type=int, default=1, help="tensor parallel, for vLLM")
    parser.add_argument("--shape", choices=["phi3-medium"], help="random weights; tokenizer and prompts of --weights")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--numbers", type=Path, help="write them here, as JSON")
    args = parser.parse_args(argv)

    samples = [sample for path in args.samples for sample in record_files.read_samples(path)]
    chosen = Random(args.seed).sample(samples, min(len(samples), args.rows * args.rounds))
    requests = [_request(args.judge, sample) for sample in chosen]
    timings: dict[str, Timing] = {}
    with ExitStack() as stack:
        files, adapter = args.weights.parent / "files", args.adapter and args.adapter.parent
        if args.shape:
            files, adapter = _shaped(files, Path(stack.enter_context(tempfile.TemporaryDirectory())))
        asks: dict[str, Ask] = {}
        for way in args.ways:
            started = time.monotonic()
            asks[way] = _open(way, files, adapter, args)
            timings[way] = Timing(load=time.monotonic() - started)
            asks[way](requests[:2])  # the first call compiles and allocates
        for start in range(0, len(requests), args.rows):
            for way, ask in asks.items():
                started = time.monotonic()
                timings[way].answers += ask(requests[start : start + args.rows])
                timings[way].seconds += time.monotonic() - started
                provenance.say(f"{way}: {start + args.rows}/{len(requests)} rows, {timings[way].seconds:.1f} s")
    table = {way: timing.row(timings[args.ways[0]]) for way, timing in timings.items()}
    _show(table)
    if args.numbers:
        about = {"command": sys.argv, "device": _device(), "judge": args.judge, "dtype": args.dtype}
        provenance.write_json(args.numbers, {**about, "ways": table})


def _request(judge: str, sample: Sample) -> Generate:
    """What a judge asks first about a sample."""
    (request,) = next(judges.load(judge).judge(sample))
    assert isinstance(request, Generate)
    return request


def _open(way: str, files: Path, adapter: Path | None, args: argparse.Namespace) -> Ask:
    if way.startswith("pipeline"):
        return _library(way, files, adapter, args)
    name, _, merged = way.partition("-")
    model = Model(backend=name, licence="", dtype=args.dtype, gpus=args.gpus, serve="merged" if merged else "lora")
    backend = backend_factory.backend_module(model).open_model(way, model, files, adapter, way)
    if args.shape:
        backend.stops = frozenset()  # random weights end an answer anywhere
    return _asking(backend, Sampling(max_tokens=args.max_tokens))


def _asking(backend: Backend, sampling: Sampling) -> Ask:
    def ask(requests: Sequence[Generate]) -> list[tuple[str, int]]:
        by_number: dict[int, Any] = dict(pair for batch in backend.generate(requests, sampling) for pair in batch)
        answers: Iterator[Completion] = (by_number[at] for at in range(len(requests)))
        return [(answer.text, answer.completion_tokens) for answer in answers]

    return ask


def _library(way: str, files: Path, adapter: Path | None, args: argparse.Namespace) -> Ask:
    """What a reader would write: no code of ours."""
    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer, pipeline

    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = AutoTokenizer.from_pretrained(files, padding_side="left")
    loaded: Any = AutoModelForCausalLM.from_pretrained(files, dtype=getattr(torch, args.dtype))
    model: Any = loaded.to(device).eval()
    if adapter:
        model = PeftModel.from_pretrained(model, adapter).to(model.dtype)
    settings = {"max_new_tokens": args.max_tokens, "do_sample": False, "pad_token_id": tokenizer.eos_token_id}
    settings |= {"eos_token_id": -1} if args.shape else {}
    generating = pipeline("text-generation", model=model, tokenizer=tokenizer, device=device)
    batch = BATCHED if way == "pipeline-batched" else 1

    def piped(requests: Sequence[Generate]) -> list[tuple[str, int]]:
        out: Any = generating(list(map(_chat, requests)), batch_size=batch, return_full_text=False, **settings)
        texts = [generated[0]["generated_text"] for generated in out]
        return [(text, len(tokenizer.encode(text, add_special_tokens=False))) for text in texts]

    return piped


def _chat(request: Generate) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.content} for message in request.messages]


def _shaped(files: Path, folder: Path) -> tuple[Path, Path]:
    """Random weights of the shape of Phi-3-medium in bfloat16, and a random adapter of the paper's rank."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM, AutoTokenizer, Phi3Config

    tokenizer = AutoTokenizer.from_pretrained(files)
    config = Phi3Config(
        hidden_size=5120, intermediate_size=17920, num_hidden_layers=40, num_attention_heads=40, num_key_value_heads=10,
        max_position_embeddings=4096, vocab_size=max(32064, len(tokenizer)), sliding_window=None,
        pad_token_id=tokenizer.eos_token_id, bos_token_id=None, eos_token_id=tokenizer.eos_token_id,
    )  # fmt: skip
    with torch.device("cuda" if torch.cuda.is_available() else "cpu"):
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    model.save_pretrained(folder / "files")
    tokenizer.save_pretrained(folder / "files")
    lora = LoraConfig(r=128, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM", init_lora_weights=False)
    get_peft_model(model, lora).save_pretrained(str(folder / "adapter"))
    return folder / "files", folder / "adapter"


def _device() -> str:
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else f"CPU, {torch.get_num_threads()} threads"


def _show(table: dict[str, dict[str, Any]]) -> None:
    columns = list(next(iter(table.values())))
    print(" | ".join(["way", *columns]))
    for way, row in table.items():
        print(" | ".join([way, *(json.dumps(row[column]) for column in columns)]))


if __name__ == "__main__":
    run(main)
