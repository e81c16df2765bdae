"""Ask the generator for one corrupted version of each original pair of a shard; keep every answer verbatim."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from excam.config import LEXICON
from excam.core import provenance
from excam.error_reports import record_files
from excam.error_reports.records import Sample, Severity
from excam.excam40k.construction import generator, lexicon, norms, splits
from excam.excam40k.construction.norms import Exchange
from excam.inference import ask_for_text
from excam.inference.run import run as run_flows
from scripts import run
from scripts._asking import Asker, add_asking_options

VERSION = 11


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=Path, required=True)
    parser.add_argument("--too-long", type=Path, help="pairs that no error is made for: <dataset>.too-long.json")
    parser.add_argument("--severity", choices=["minor", "major"], required=True)
    parser.add_argument("--shard", type=int, required=True)
    parser.add_argument("--shards", type=int, required=True)
    parser.add_argument("--generator", required=True)
    add_asking_options(parser)
    parser.add_argument("--answers", type=Path, required=True)
    parser.add_argument("--manifest", type=Path, required=True)
    args = parser.parse_args(argv)

    started = time.monotonic()
    too_long = provenance.read_json(args.too_long, "pairs")["pairs"] if args.too_long else []
    every = splits.without_pairs(record_files.read_samples(args.samples), too_long)
    wanted = [
        sample
        for sample in every
        if sample.pair.endswith(f"/{args.severity}") and splits.shard_of(sample.pair, args.shards) == args.shard
    ]
    if args.generator == LEXICON:
        exchanges = norms.exchanges(every, args.severity, args.seed)
        answers = [_from_lexicon(sample, args.severity, args.seed, exchanges.get(sample.pair)) for sample in wanted]
        facts: dict[str, Any] = {}
    else:
        answers, facts = _from_model(wanted, args)
    with provenance.publish(args.answers) as temporary, temporary.open("w", encoding="utf-8") as stream:
        for sample, answer in zip(wanted, answers, strict=True):
            row = {"pair": sample.pair, "severity": args.severity, "generator": args.generator, **answer}
            stream.write(json.dumps(row) + "\n")
    provenance.write_manifest(
        args.manifest,
        inputs=[path for path in (args.samples, args.too_long, args.weights) if path],
        outputs=[args.answers],
        settings={"generator": args.generator, "model": json.loads(args.model), "shards": args.shards},
        seconds=time.monotonic() - started,
        seed=args.seed,
        **facts,
    )
    provenance.say(f"{args.answers}: {len(wanted)} answers in {time.monotonic() - started:.1f} s")


def _from_lexicon(sample: Sample, severity: Severity, seed: int, exchange: Exchange | None) -> dict[str, Any]:
    """Return the answer of a row, with the pair that it is exchanged with; one that is left out ends with the reason
    and has an empty answer.
    """
    said = lexicon.answer(sample, severity, seed, exchange)
    if isinstance(said, lexicon.LeftOut):
        return {"answer": "", "finish": f"left-out:{said.reason}"}
    return {"answer": said, "finish": "stop"} | ({"partner": exchange.partner.pair} if exchange else {})


def _from_model(wanted: list[Sample], args: argparse.Namespace) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return one answer per sample, and what the manifest says about them."""
    asker = Asker(args, args.generator, str(args.answers))
    ask = asker.ask_with_progress(f"{args.generator} writes errors, shard {args.shard}", len(wanted))
    completions = run_flows(lambda sample: ask_for_text(generator.messages(sample, args.severity)), wanted, ask)
    rows = [
        {"answer": c.text, "finish": c.finish, "prompt_tokens": c.prompt_tokens, "tokens": c.completion_tokens}
        for c in completions
    ]
    return rows, asker.facts(completions)


if __name__ == "__main__":
    run(main)
