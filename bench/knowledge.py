"""Does a base model know? The share of pairs in which it finds the right output likelier than the wrong one.

No training and no prompt: the mean log-probability of the output's tokens after the instruction, compared within each
pair. Chance is .5. It says how much cultural knowledge there is to unlock,
apart from whether the model can write reports.

    python -m bench.knowledge --weights results/models/NAME/manifest.json --samples results/excam40k/*/test.parquet ...
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from scipy.stats import binomtest

from excam import tables
from excam.inference import Message, chat
from excam.inference.backends.transformers import Backend
from excam.provenance import Progress, write_json
from excam.records import Sample
from scripts import run

MAX_TOKENS = 600  # longer pairs are left out, and counted


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path, required=True, help="manifest of the fetched base model")
    parser.add_argument("--samples", type=Path, nargs="+", required=True)
    parser.add_argument("--numbers", type=Path, required=True)
    args = parser.parse_args(argv)

    backend = Backend(args.weights.parent / "files")
    samples = [sample for path in args.samples for sample in tables.read_samples(path)]
    pairs: defaultdict[str, dict[str, Sample]] = defaultdict(dict)
    for sample in samples:
        pairs[sample.pair][sample.id.rpartition("/")[2]] = sample
    progress = Progress(f"{args.weights.parent.name}: pairs", len(pairs))
    won: defaultdict[str, list[bool]] = defaultdict(list)
    too_long = 0
    for pair in pairs.values():
        right, wrong = (_likelihood(backend, pair[side]) for side in ("right", "wrong"))
        progress.advance()
        if right is None or wrong is None:
            too_long += 1
            continue
        won[f"{pair['right'].dataset}/{pair['right'].pair.rpartition('/')[2]}"].append(right > wrong)
    numbers = {name: _summary(wins) for name, wins in sorted(won.items())}
    numbers["all"] = _summary([win for wins in won.values() for win in wins])
    result = {"model": args.weights.parent.name, "too_long": too_long, "pairs": numbers}
    write_json(args.numbers, result)
    print(json.dumps(result, indent=2))


def _summary(wins: list[bool]) -> dict[str, float | int]:
    interval = binomtest(sum(wins), len(wins)).proportion_ci(method="wilson")
    return {
        "n": len(wins),
        "right_likelier": round(sum(wins) / len(wins), 3),
        "low": round(interval.low, 3),
        "high": round(interval.high, 3),
    }


def _likelihood(backend: Backend, sample: Sample) -> float | None:
    """Mean log-probability per token of the output, given the instruction; None for a pair that is too long."""
    encoded = chat.encode(backend.tokenizer, [Message("user", sample.instruction)], sample.output)
    if len(encoded.input_ids) > MAX_TOKENS:
        return None
    return fmean(backend.logprobs([encoded])[0])


if __name__ == "__main__":
    run(main)
