"""Ask one model, in one way, about the test sets of every dataset: one load, one transcript per dataset."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from excam import judges, provenance, tables
from excam.inference import opening, transcript
from excam.inference.journal import Journal, ask, totals
from scripts import run, settle


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="<model>/<trained_on>/<judge>, for progress lines")
    parser.add_argument("--model", required=True, help="the model's entry of config.yaml as JSON")
    parser.add_argument("--gpus", type=int, default=0, help="how many GPUs the model may use")
    parser.add_argument(
        "--pace", default="{}", help="how hard it is asked and how its engine is tuned, as JSON; decides no answer"
    )
    parser.add_argument("--weights", type=Path, help="manifest of the fetched base model")
    parser.add_argument("--adapter", type=Path, help="manifest of the adapter")
    parser.add_argument("--judge", required=True)
    parser.add_argument("--samples", type=Path, nargs="+", required=True, help="<dataset>/<split>.parquet")
    parser.add_argument("--journal", type=Path, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--transcripts", type=Path, required=True, help="folder: <dataset>/<split>.jsonl")
    args = parser.parse_args(argv)

    started = time.monotonic()
    model, judge = opening.described(args.model, args.gpus, args.pace), judges.load(args.judge).judge
    settle(model, args.name, args.weights, args.adapter)
    by_dataset = {path: tables.read_samples(path) for path in args.samples}
    samples = [sample for part in by_dataset.values() for sample in part]
    backend = opening.shared(args.name.split("/")[0], model, args.weights, args.adapter)
    progress = provenance.Progress(f"judging {args.name}, rows", len(samples))
    asking = partial(ask, backend, opening.sampling(model, args.seed), Journal(args.journal), progress=progress)
    _, entries = transcript.record(judge, samples, asking)
    rest = iter(entries)
    targets = {path: args.transcripts / path.parent.name / f"{path.stem}.jsonl" for path in by_dataset}
    for path, part in by_dataset.items():
        transcript.write(targets[path], [next(rest) for _ in part])
    provenance.write_manifest(
        args.transcripts / f"{args.samples[0].stem}.manifest.json",
        inputs=[path for path in (*args.samples, args.weights, args.adapter) if path],
        outputs=targets.values(),
        settings=json.loads(args.model),
        seconds=time.monotonic() - started,
        identity=backend.identity,
        engine=backend.settings,
        **totals(
            (answer for entry in entries for one in entry.rounds for answer in one.answers),
            model.server and model.server.price,
        ),
        seed=args.seed,
    )
    provenance.say(f"{args.name}: {len(samples)} rows judged in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    run(main)
