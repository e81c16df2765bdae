"""How fast are texts scored, in how much memory, and how soon does a command begin?

    python -m bench.score --adapter results/adapters/smollm2-135m/all --samples results/excam40k/*/test.parquet

`--parts speed`: the same pairs through each way, every way in a process of its own, in turns of `--turn` rows so that a
machine whose speed drifts slows all of them: `Scorer.score`; the `transformers` pipeline with the same adapter, as it
comes and in batches; and the architecture of COMET-like metrics, an encoder over (instruction, output) with a linear
head. No weights of such a metric are at hand, so those two are stand-ins for its speed and memory, and their scores
mean nothing: `encoder` has the weights of a small sentence encoder, `encoder-large` random ones of the shape of
XLM-RoBERTa large, which COMET and its kin are built on; both in float32, as those metrics are.

`--parts startup`: `import excam` and `excam --help` in new processes, ten times each (and `python -c pass`).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any

from bench.judge import BATCHED
from excam.core import provenance
from excam.error_reports import record_files
from scripts import run

WAYS = ("excam", "pipeline", "pipeline-batched", "encoder", "encoder-large")
Texts = Sequence[tuple[str, str]]  # instruction, output
Score = Callable[[Texts], None]
STARTS = {  # what is started, with its goal in seconds
    "python -c pass": ((sys.executable, "-c", "pass"), None),
    "import excam": ((sys.executable, "-c", "import excam"), 0.2),
    "excam --help": ((sys.executable, "-m", "excam", "--help"), 0.3),
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", default=["speed", "startup"], choices=["speed", "startup"])
    parser.add_argument("--adapter", type=Path, default=Path("results/adapters/smollm2-135m/all"))
    parser.add_argument("--base", type=Path, help="folder of its base model")
    parser.add_argument("--encoder", type=Path, help="folder of a sentence encoder, for the way `encoder`")
    parser.add_argument("--samples", type=Path, nargs="+", help="tables of pairs, for `speed`")
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=WAYS)
    parser.add_argument("--rows", type=int, default=48)
    parser.add_argument("--turn", type=int, default=24, help="rows of one way before the next is at it")
    parser.add_argument("--max-tokens", type=int, default=128, help="longest report")
    parser.add_argument("--starts", type=int, default=10)
    parser.add_argument("--numbers", type=Path, help="write them here, as JSON")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)  # a child
    args = parser.parse_args(argv)
    if args.way:
        _answer(args)
        return
    numbers: dict[str, Any] = {"command": sys.argv}
    if "startup" in args.parts:
        numbers["startup"] = {name: _startup(command, goal, args.starts) for name, (command, goal) in STARTS.items()}
        _show(numbers["startup"])
    if "speed" in args.parts:
        numbers["speed"] = _speed(args)
        _show(numbers["speed"])
    if args.numbers:
        provenance.write_json(args.numbers, numbers)


def _startup(command: tuple[str, ...], goal: float | None, times: int) -> dict[str, Any]:
    walls, processors = [], []
    for _ in range(times):
        began = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
        walls.append(time.perf_counter() - began)
        processors.append(usage.ru_utime + usage.ru_stime)
    middle = {"wall_s": statistics.median(walls), "cpu_s": statistics.median(processors), "least_wall_s": min(walls)}
    return {**{name: round(seconds, 3) for name, seconds in middle.items()}, "goal_s": goal}


def _speed(args: argparse.Namespace) -> dict[str, dict[str, Any]]:
    if not args.samples:
        sys.exit("bench.score: --samples: nothing to score; expected tables such as results/excam40k/*/test.parquet")
    texts = _texts(args)
    taken: dict[str, list[dict[str, float]]] = {way: [] for way in args.ways}
    with ExitStack() as stack:
        children = {way: stack.enter_context(_child(way)) for way in args.ways}
        loaded = {way: _said(child) for way, child in children.items()}
        for start in range(0, len(texts), args.turn):
            for way, child in children.items():
                assert child.stdin
                child.stdin.write(f"{start}\n")
                child.stdin.flush()
                taken[way].append(_said(child))
                provenance.say(f"{way}: rows {start} to {min(start + args.turn, len(texts))}: {taken[way][-1]}")
    return {way: _row(loaded[way], taken[way], len(texts), taken[args.ways[0]]) for way in args.ways}


def _texts(args: argparse.Namespace) -> Texts:
    samples = [sample for path in args.samples for sample in record_files.read_samples(path)]
    chosen = Random(1).sample(samples, min(len(samples), args.rows))
    return [(sample.instruction, sample.output) for sample in chosen]


def _child(way: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "bench.score", *sys.argv[1:], "--way", way]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _said(child: subprocess.Popen[str]) -> dict[str, float]:
    assert child.stdout
    line = child.stdout.readline()
    if not line:
        sys.exit(f"bench.score: {child.args}: ended before it had answered")
    return json.loads(line)


def _row(
    loaded: dict[str, float], taken: list[dict[str, float]], rows: int, first: list[dict[str, float]]
) -> dict[str, Any]:
    seconds = sum(measurement["wall_s"] for measurement in taken)
    return {
        "rows": rows,
        "rows_per_s": round(rows / seconds, 3),
        "cpu_s_per_row": round(sum(measurement["cpu_s"] for measurement in taken) / rows, 3),
        "times_first": round(sum(measurement["wall_s"] for measurement in first) / seconds, 2),
        "load_s": round(loaded["wall_s"], 1),
        "peak_MB": round(max(measurement["peak_MB"] for measurement in taken)),
    }


# --- a child process: opens one way, then scores the rows from each number that it receives


def _answer(args: argparse.Namespace) -> None:
    from resource import RUSAGE_SELF, getrusage

    texts = _texts(args)
    began, used = time.perf_counter(), time.process_time()
    score = _open(args)
    score(texts[:2])  # the first call loads, compiles and allocates
    while True:
        peak = getrusage(RUSAGE_SELF).ru_maxrss / 1024
        measured = {"wall_s": time.perf_counter() - began, "cpu_s": time.process_time() - used, "peak_MB": peak}
        print(json.dumps(measured), flush=True)
        if not (line := sys.stdin.readline()):
            return
        began, used = time.perf_counter(), time.process_time()
        score(texts[int(line) :][: args.turn])


def _open(args: argparse.Namespace) -> Score:
    if args.way.startswith("encoder"):
        return _encoder(args.way, args.encoder)
    if args.way.startswith("pipeline"):
        return _pipeline(args)
    import excam

    scorer = excam.load(args.adapter, base=args.base, max_tokens=args.max_tokens)

    def score(texts: Texts) -> None:
        for _ in scorer.score([{"instruction": instruction, "output": output} for instruction, output in texts]):
            pass

    return score


def _pipeline(args: argparse.Namespace) -> Score:
    """What a reader would write: the same prompt, weights, adapter and precision, no code of ours."""
    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer, pipeline

    from excam.error_reports.judges import report

    manifest = json.loads((args.adapter / "manifest.json").read_text())
    files = (args.base or args.adapter.resolve().parents[2] / "models" / manifest["model"]) / "files"
    tokenizer = AutoTokenizer.from_pretrained(files, padding_side="left")
    model: Any = AutoModelForCausalLM.from_pretrained(files, dtype=torch.float32).eval()
    model = PeftModel.from_pretrained(model, args.adapter).to(model.dtype)
    generating = pipeline("text-generation", model=model, tokenizer=tokenizer, device="cpu")
    settings = {"max_new_tokens": args.max_tokens, "do_sample": False, "pad_token_id": tokenizer.eos_token_id}
    batch = 1 if args.way == "pipeline" else BATCHED

    def score(texts: Texts) -> None:
        chats = [[vars_of(message) for message in report.messages(*text)] for text in texts]
        generating(chats, batch_size=batch, return_full_text=False, **settings)

    def vars_of(message: Any) -> dict[str, str]:
        return {"role": message.role, "content": message.content}

    return score


def _encoder(way: str, files: Path) -> Score:
    """One number a pair: encoder, mean over its tokens, linear head; pairs of like length in batches."""
    import torch
    from transformers import AutoModel, AutoTokenizer, XLMRobertaConfig, XLMRobertaModel

    tokenizer = AutoTokenizer.from_pretrained(files)
    if way == "encoder":
        model: Any = AutoModel.from_pretrained(files, dtype=torch.float32)
    else:
        large = XLMRobertaConfig(vocab_size=250002, hidden_size=1024, num_hidden_layers=24, num_attention_heads=16,
                                 intermediate_size=4096, max_position_embeddings=514, type_vocab_size=1)  # fmt: skip
        model = XLMRobertaModel(large)
    model, head = model.eval(), torch.nn.Linear(model.config.hidden_size, 1)
    limit = 512 - 2  # tokens; longer pairs are cut, as those metrics do

    def score(texts: Texts) -> None:
        pairs = sorted(texts, key=lambda text: len(text[0]) + len(text[1]))
        for start in range(0, len(pairs), BATCHED):
            first, second = zip(*pairs[start : start + BATCHED], strict=True)
            taken = tokenizer(
                list(first), list(second), padding=True, truncation=True, max_length=limit, return_tensors="pt"
            )
            inputs = {key: taken[key] for key in ("input_ids", "attention_mask")}
            with torch.inference_mode():
                vectors, mask = model(**inputs).last_hidden_state, inputs["attention_mask"].unsqueeze(-1)
                head((vectors * mask).sum(1) / mask.sum(1))

    return score


def _show(table: dict[str, dict[str, Any]]) -> None:
    columns = list(next(iter(table.values())))
    print(" | ".join(["", *columns]))
    for name, row in table.items():
        print(" | ".join([name, *(json.dumps(row[column]) for column in columns)]))


if __name__ == "__main__":
    run(main)
