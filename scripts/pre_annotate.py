"""Ask a model the questions of steps 1 and 2; its answers lie apart from people's, and no page shows them."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

from excam import provenance
from excam.annotation import campaign, pre_annotation
from excam.exceptions import AnswersMissing
from excam.inference import Completion, Generate, opening
from excam.inference.journal import Journal, ask, totals
from scripts import run, settle


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaign", type=Path, required=True)
    parser.add_argument("--name", required=True, help="the model's name")
    parser.add_argument("--model", required=True, help="the model's entry of config.yaml as JSON")
    parser.add_argument("--gpus", type=int, default=0, help="how many GPUs the model may use")
    parser.add_argument(
        "--pace", default="{}", help="how hard it is asked and how its engine is tuned, as JSON; decides no answer"
    )
    parser.add_argument("--weights", type=Path, help="manifest of the fetched model")
    parser.add_argument("--journal", type=Path, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--answers", type=Path, required=True)
    parser.add_argument("--manifest", type=Path, required=True)
    args = parser.parse_args(argv)

    started = time.monotonic()
    model, tasks = opening.described(args.model, args.gpus, args.pace), campaign.read(args.campaign).tasks
    settle(model, str(args.answers), args.weights)
    backend = opening.shared(args.name, model, args.weights)
    requests = [Generate(pre_annotation.messages(task)) for task in tasks]
    progress = provenance.Progress(f"{args.name} answers, tasks", len(tasks))
    try:
        answers = ask(backend, opening.sampling(model, args.seed), Journal(args.journal), requests, progress)
    except AnswersMissing as missing:
        raise missing.named([task.row for task in tasks]) from None
    completions = [answer for answer in answers if isinstance(answer, Completion)]
    rows = pre_annotation.lines(tasks, completions, args.name)
    provenance.write_text(args.answers, "".join(json.dumps(row) + "\n" for row in rows))
    provenance.write_manifest(
        args.manifest,
        inputs=[path for path in (args.campaign, args.weights) if path],
        outputs=[args.answers],
        settings=json.loads(args.model),
        seconds=time.monotonic() - started,
        seed=args.seed,
        identity=backend.identity,
        engine=backend.settings,
        **totals(completions, model.server and model.server.price),
    )
    failed = sum(row["failure"] is not None for row in rows)
    provenance.say(f"{args.answers}: {len(rows)} tasks, {failed} answers not readable")


if __name__ == "__main__":
    run(main)
