"""Is a killed training the same training? `kill -9` at random moments, and the adapter of an uninterrupted run.

    python -m bench.training_kills --kills 20

Trains a tiny random model with `scripts.train_adapter`, once without and then with kills, each at a random moment of
the run (loading, stepping, writing a checkpoint, publishing), until it has ended. Compares the files byte for byte;
another byte stops it.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from excam import provenance, tables
from excam.config import Recipe
from excam.exceptions import ArtifactBroken
from excam.inference import chat
from excam.records import CulturalError, Report, Sample, to_row
from excam.training import sft, tokens
from scripts import run

SEED = 20260401
ROWS = 240
RECIPE = Recipe(rank=4, alpha=8, learning_rate=1e-2, warmup_steps=2, max_length=512)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", type=Path, default=Path("results/models/smollm2-135m/files"))
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--save-steps", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--numbers", type=Path, help="write them here, as JSON")
    args = parser.parse_args(argv)

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        _prepare(folder, args.tokenizer)
        seconds = time.monotonic()
        _finish(folder / "whole", folder, args.save_steps)
        seconds = time.monotonic() - seconds
        wanted = _digests(folder / "whole")
        chance = random.Random(args.seed)
        kills = rounds = 0
        while kills < args.kills:
            target = folder / f"killed-{rounds}"
            rounds += 1
            while kills < args.kills and _killed(target, folder, args.save_steps, chance.uniform(0, seconds)):
                kills += 1
            _finish(target, folder, args.save_steps)
            if _digests(target) != wanted:
                raise ArtifactBroken(f"after {kills} kills the adapter differs; expected {wanted}")
            provenance.say(f"{kills} kills, {rounds} runs: the same bytes")
    numbers = {"kills": kills, "runs": rounds, "seconds_of_a_run": round(seconds, 1)}
    print(json.dumps(numbers))
    if args.numbers:
        provenance.write_json(args.numbers, numbers)


def _prepare(folder: Path, tokenizer_files: Path) -> None:
    """Base, tokens and mixture of a tiny run."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = chat.load_tokenizer(tokenizer_files)
    torch.manual_seed(0)
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), num_key_value_heads=2, **shape))
    model.to(torch.bfloat16).save_pretrained(folder / "base/files")
    tokenizer.save_pretrained(folder / "base/files")
    settings = {"hub": None}
    provenance.write_manifest(
        folder / "base/manifest.json", inputs=[], outputs=[], settings=settings, seconds=0, licence="MIT", revision="0"
    )
    samples = [_sample(number) for number in range(ROWS)]
    tables.write_frame(folder / "tokens.parquet", tokens.encode(tokenizer, samples))
    (folder / "train.jsonl").write_text("".join(json.dumps(to_row(sample)) + "\n" for sample in samples))


def _sample(number: int) -> Sample:
    """Every other one a wrong twin."""
    pair, wrong = f"blend/{number // 2}", number % 2
    error = CulturalError("output", "Sushi", "major", "incorrect answer", 0, 5)
    return Sample(
        **{"id": f"{pair}/{'wrong' if wrong else 'right'}", "pair": pair, "base": pair, "dataset": "blend"},
        **{"task": "qa", "instruction": "Name a dish. " * (number // 2 % 7 + 1), "output": "Sushi.", "stratum": ""},
        **{"report": Report((error,), "Not Greek.") if wrong else Report(), "origin": "hard" if wrong else "source"},
        **{"language": "English", "culture": "Greece", "licence": "MIT", "answer": "Moussaka"},
    )


def _start(target: Path, folder: Path, save_steps: int) -> subprocess.Popen[str]:
    recipe = RECIPE.decides
    command = ["--model", "tiny", "--weights", folder / "base/manifest.json", "--trained-on", "all"]
    command += ["--mixture", folder / "train.jsonl", "--tokens", folder / "tokens.parquet", "--recipe", recipe]
    command += ["--layout", "cpu", "--save-steps", save_steps, "--seed", SEED, "--adapter", target]
    command += ["--checkpoints", folder / "checkpoints" / target.name]
    words = [sys.executable, "-m", "scripts.train_adapter", *map(str, command)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def _finish(target: Path, folder: Path, save_steps: int) -> None:
    process = _start(target, folder, save_steps)
    log, _ = process.communicate()
    if process.returncode:
        raise ArtifactBroken(f"training failed: {log.strip().splitlines()[-1]}")


def _killed(target: Path, folder: Path, save_steps: int, after: float) -> bool:
    """Whether the run was still going after so many seconds, and was killed."""
    process = _start(target, folder, save_steps)
    try:
        process.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return True
    return False


def _digests(target: Path) -> dict[str, str]:
    with (target / "loss.csv").open(newline="", encoding="utf-8") as stream:
        steps = len(list(csv.DictReader(stream)))
    files = {name: hashlib.sha256((target / name).read_bytes()).hexdigest()[:16] for name in sft.PUBLISHED}
    return {**files, "steps": str(steps)}


if __name__ == "__main__":
    run(main)
