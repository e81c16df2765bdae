"""Ask the generator for one wrong version of each right pair of a shard (spec 22-24); every answer verbatim."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from excam import provenance, tables
from excam.config import LEXICON
from excam.construction import generator, lexicon, splits
from excam.exceptions import AnswersMissing
from excam.inference import Completion, Generate, opening
from excam.inference.journal import Journal, ask, totals
from excam.records import Sample
from scripts import run, settle


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=Path, required=True)
    parser.add_argument("--severity", choices=["minor", "major"], required=True)
    parser.add_argument("--shard", type=int, required=True)
    parser.add_argument("--shards", type=int, required=True)
    parser.add_argument("--generator", required=True)
    parser.add_argument("--model", default="null", help="the generator's entry of config.yaml as JSON")
    parser.add_argument("--gpus", type=int, default=0, help="how many GPUs the model may use")
    parser.add_argument(
        "--pace", default="{}", help="how hard it is asked and how its engine is tuned, as JSON; decides no answer"
    )
    parser.add_argument("--weights", type=Path, help="manifest of the fetched generator")
    parser.add_argument("--journal", type=Path, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--answers", type=Path, required=True)
    parser.add_argument("--manifest", type=Path, required=True)
    args = parser.parse_args(argv)

    started = time.monotonic()
    wanted = [
        sample
        for sample in tables.read_samples(args.samples)
        if sample.pair.endswith(f"/{args.severity}") and splits.shard_of(sample.pair, args.shards) == args.shard
    ]
    if args.generator == LEXICON:
        answers = [{"answer": lexicon.answer(sample, args.severity, args.seed), "finish": "stop"} for sample in wanted]
        facts: dict[str, Any] = {}
    else:
        answers, facts = _from_model(wanted, args)
    with provenance.publish(args.answers) as temporary, temporary.open("w", encoding="utf-8") as stream:
        for sample, answer in zip(wanted, answers, strict=True):
            row = {"pair": sample.pair, "severity": args.severity, "generator": args.generator, **answer}
            stream.write(json.dumps(row) + "\n")
    provenance.write_manifest(
        args.manifest,
        inputs=[path for path in (args.samples, args.weights) if path],
        outputs=[args.answers],
        settings={"generator": args.generator, "model": json.loads(args.model), "shards": args.shards},
        seconds=time.monotonic() - started,
        seed=args.seed,
        **facts,
    )
    provenance.say(f"{args.answers}: {len(wanted)} answers in {time.monotonic() - started:.1f} s")


def _from_model(wanted: list[Sample], args: argparse.Namespace) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """One answer per sample, and what the manifest says about them."""
    model = opening.described(args.model, args.gpus, args.pace)
    settle(model, str(args.answers), args.weights)
    requests = [Generate(generator.messages(sample, args.severity)) for sample in wanted]
    progress = provenance.Progress(f"{args.generator} writes errors, shard {args.shard}", len(wanted))
    backend = opening.shared(args.generator, model, args.weights)
    try:
        answers = ask(backend, opening.sampling(model, args.seed), Journal(args.journal), requests, progress)
    except AnswersMissing as missing:
        raise missing.named([sample.pair for sample in wanted]) from None
    completions = [answer for answer in answers if isinstance(answer, Completion)]
    rows = [
        {"answer": c.text, "finish": c.finish, "prompt_tokens": c.prompt_tokens, "tokens": c.completion_tokens}
        for c in completions
    ]
    facts = totals(completions, model.server and model.server.price)
    return rows, {"identity": backend.identity, "engine": backend.settings, **facts}


if __name__ == "__main__":
    run(main)
