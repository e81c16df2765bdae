"""Ask the generator for one wrong version of each right pair of a shard (spec 22-24); every answer verbatim."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

from excam import provenance, tables
from excam.config import LEXICON
from excam.construction import generator, lexicon, splits
from excam.inference import Generate, opening
from excam.inference.journal import Journal, ask
from excam.records import Sample
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=Path, required=True)
    parser.add_argument("--severity", choices=["minor", "major"], required=True)
    parser.add_argument("--shard", type=int, required=True)
    parser.add_argument("--shards", type=int, required=True)
    parser.add_argument("--generator", required=True)
    parser.add_argument("--model", default="null", help="the generator's entry of config.yaml as JSON")
    parser.add_argument("--gpus", type=int, default=0, help="how many GPUs the model may use")
    parser.add_argument("--weights", type=Path, help="manifest of the fetched generator")
    parser.add_argument("--journal", type=Path, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--answers", type=Path, required=True)
    args = parser.parse_args(argv)

    started = time.monotonic()
    wanted = [
        sample
        for sample in tables.read_samples(args.samples)
        if sample.pair.endswith(f"/{args.severity}") and splits.shard_of(sample.pair, args.shards) == args.shard
    ]
    if args.generator == LEXICON:
        answers = [{"answer": lexicon.answer(sample, args.severity, args.seed), "finish": "stop"} for sample in wanted]
    else:
        answers = _from_model(wanted, args)
    with provenance.publish(args.answers) as temporary, temporary.open("w", encoding="utf-8") as stream:
        for sample, answer in zip(wanted, answers, strict=True):
            row = {"pair": sample.pair, "severity": args.severity, "generator": args.generator, **answer}
            stream.write(json.dumps(row) + "\n")
    provenance.say(f"{args.answers}: {len(wanted)} answers in {time.monotonic() - started:.1f} s")


def _from_model(wanted: list[Sample], args: argparse.Namespace) -> list[dict[str, object]]:
    model = opening.described(args.model, args.gpus)
    requests = [Generate(generator.messages(sample, args.severity)) for sample in wanted]
    progress = provenance.Progress(f"{args.generator} writes errors, shard {args.shard}", len(wanted))
    backend = opening.lazily(args.generator, model, args.weights)
    completions = ask(backend, opening.sampling(model, args.seed), Journal(args.journal), requests, progress)
    return [
        {"answer": c.text, "finish": c.finish, "prompt_tokens": c.prompt_tokens, "tokens": len(c.logprobs or ())}
        for c in completions
    ]


if __name__ == "__main__":
    run(main)
