"""What a hundred million texts cost on so many cards, from the assumptions of bench/hours.yaml; nothing is measured.

    python -m bench.score_cost --texts 1e8 --cards 8 64

One H100 holds the model, and all cards work all the time. Each asks batches of 256 rows and waits for the longest
answer of a batch. A text with its instruction has `--tokens` tokens; the prompts around it were counted with the
tokenizer of Qwen2.5. vLLM computes the examples of `prompted-report`, which begin every prompt, once, so they are left
out in the line "examples cached".
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence

import yaml

from bench.hours import Estimate, assumptions
from bench.processes import ROOT, Job
from excam import config
from excam.pages import markdown
from excam.scoring.defaults import BATCH
from scripts import run

MODELS = ("phi3-medium-4k", "gemma3-27b")
AROUND = {"report": 65, "prompted-report": 465, "prompted-report, examples cached": 20}  # tokens of a prompt, measured


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=float, default=1e8)
    parser.add_argument("--tokens", type=float, default=100, help="of a text with its instruction")
    parser.add_argument("--cards", type=int, nargs="+", default=[8, 64])
    args = parser.parse_args(argv)

    experiment = config.load(yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8")))
    estimate = Estimate(experiment, *assumptions(["join=0"]))  # a batch begins at once: its engine runs
    rows: list[tuple[str, ...]] = []
    for model in MODELS:
        for judge, around in AROUND.items():
            trained_on = "all" if judge == "report" else "nothing"
            job = Job("judge", "", (), (), (), {"model": model, "trained_on": trained_on})
            read, written = args.tokens + around, estimate.assumed["answer/report"]
            batches = [job] * math.ceil(args.texts / BATCH)
            work = estimate.asking("", model, batches, args.texts, args.texts * read, args.texts * written, "")
            days = [f"{work.hours / cards / 24:.1f}" for cards in args.cards]
            rows.append((model, judge, f"{args.texts / work.hours / 3600:.0f}", f"{work.hours:,.0f}", *days))
    head = ("model", "judge", "texts per s and card", "H100-hours", *(f"days on {cards} cards" for cards in args.cards))
    print(markdown.table(head, rows))


if __name__ == "__main__":
    run(main)
