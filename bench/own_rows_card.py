"""Adapters of real benchmark rows in minutes on one card, without Snakemake: one for all sets, one without each.

    python -m bench.own_rows_card --weights FOLDER --samples results/excam40k --to own-rows

`--samples` is the folder of built rows of a run of `experiments/own-data.yaml`, whose recipe this follows. Steps:

prepare    training rows of each adapter and the test rows, as token ids
compute    train each adapter and let it judge. Needs torch, transformers and peft, and of the package nothing
score      read the reports and write `numbers.csv`: scaled accuracy by adapter and data set, with 95 % intervals

Adapters: `all-seed-1`, `-2` and `-3`; `permuted`, a control whose labels are exchanged in half of the pairs;
`without-<set>` for each set that has test rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import taught_card
from bench.taught_card import asked_line, read_lines, say, training_lines, write_judgements, write_lines

if TYPE_CHECKING:
    from excam.config import Recipe
    from excam.error_reports.records import Sample

STEPS = ("prepare", "compute", "score")
EXPERIMENT = Path("experiments/own-data.yaml")
SEED = 1
FEWEST = 20  # test rows below which a set is not left out
MAX_TOKENS = 160  # of a report


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, required=True, help="folder of all results")
    parser.add_argument("--weights", type=Path, required=True, help="folder with the base's weights and tokenizer")
    parser.add_argument("--samples", type=Path, help="folder with <set>/train.parquet and <set>/test.parquet")
    parser.add_argument("--rows", type=int, default=6000, help="training rows of an adapter")
    parser.add_argument("--test", type=int, default=400, help="test rows of a set")
    parser.add_argument("--adapters", nargs="+", help="only these")
    parser.add_argument("--batch", type=int, default=256, help="rows that are judged at once")
    parser.add_argument("--steps", nargs="+", choices=STEPS, default=list(STEPS))
    args = parser.parse_args(argv)

    if args.samples is None and {"prepare", "score"} & set(args.steps):
        parser.error("--samples is needed for prepare and score")
    for step in STEPS:
        if step in args.steps:
            {"prepare": prepare, "compute": compute, "score": score}[step](args)


def prepare(args: argparse.Namespace) -> None:
    """Write `ids.jsonl.gz`: settings, the rows of each adapter in the order of training, and the test rows."""
    from transformers import GenerationConfig

    from excam.excam40k.construction import splits
    from excam.inference import chat

    recipe = taught_card.read_experiment(EXPERIMENT).training.model_copy(update={"rows": args.rows, "epochs": 1})
    tokenizer = chat.load_tokenizer(args.weights)
    train, test = (_samples(args.samples, split) for split in ("train", "test"))
    judged = _drawn(test, args.test)
    recipes = _recipes(recipe, [name for name, samples in test.items() if len(samples) >= FEWEST])
    stops = sorted(chat.stop_ids(tokenizer, GenerationConfig.from_pretrained(args.weights)))
    lines: list[dict[str, Any]] = [
        {"kind": "settings", "seed": SEED, "stops": stops, "max_tokens": MAX_TOKENS}
        | {"recipes": {name: own.model_dump(mode="json") for name, (_, own) in recipes.items()}}
    ]
    for name, (mixture, own) in recipes.items():
        mixed = splits.mixture(train, mixture, own.rows, seed=SEED)
        lines += training_lines(name, mixed, own, tokenizer, SEED if own.seed is None else own.seed)
    lines += [asked_line(sample, tokenizer) for sample in judged]
    args.to.mkdir(parents=True, exist_ok=True)
    write_lines(args.to / "ids.jsonl.gz", lines)
    say(f"{args.to / 'ids.jsonl.gz'}: {len(recipes)} adapters, {len(judged)} test rows")


def _recipes(recipe: Recipe, left_out: Sequence[str]) -> dict[str, tuple[str, Recipe]]:
    """Return name of an adapter -> its mixture and recipe."""
    seeds = {f"all-seed-{seed}": ("all", recipe.model_copy(update={"seed": seed})) for seed in (1, 2, 3)}
    control = {"permuted": ("all", recipe.model_copy(update={"labels": "permuted"}))}
    return seeds | control | {f"without-{name}": (f"without-{name}", recipe) for name in left_out}


def _samples(folder: Path, split: str) -> dict[str, list[Sample]]:
    from excam.error_reports import record_files

    samples_by_set = {
        path.parent.name: list(record_files.read_samples(path)) for path in sorted(folder.glob(f"*/{split}.parquet"))
    }
    return {name: samples for name, samples in samples_by_set.items() if samples}


def _drawn(test: dict[str, list[Sample]], limit: int) -> list[Sample]:
    """Return at most `limit` rows of each set, whole pairs."""
    from excam.excam40k.construction import splits

    judged: list[Sample] = []
    for name, samples in test.items():
        pairs = sorted({sample.pair for sample in samples})
        kept = set(splits.draw([(pair, name, 2) for pair in pairs], limit, SEED))
        judged += [sample for sample in samples if sample.pair in kept]
    return judged


def compute(args: argparse.Namespace) -> None:
    """Train each adapter and write its reports, as ids: `answers-<adapter>.jsonl`."""
    kinds: dict[str, list[dict[str, Any]]] = {}
    for line in read_lines(args.to / "ids.jsonl.gz"):
        kinds.setdefault(line["kind"], []).append(line)
    settings = kinds["settings"][0]
    for name, recipe in settings["recipes"].items():
        to = args.to / f"answers-{name}.jsonl"
        if to.exists() or name not in (args.adapters or settings["recipes"]):
            continue
        rows = [line for line in kinds["train"] if line["model"] == name]
        own = settings if recipe["seed"] is None else settings | {"seed": recipe["seed"]}
        taught_card.judge(args.weights, rows, kinds["asked"], own, name, to, args.batch, args.to.name)


def score(args: argparse.Namespace) -> None:
    """Write `judgements-<adapter>.parquet` and `numbers.csv`."""
    from excam.core import tables
    from excam.error_reports.evaluation import verdicts
    from excam.inference import chat

    settings = next(iter(read_lines(args.to / "ids.jsonl.gz")))
    tokenizer = chat.load_tokenizer(args.weights)
    samples = {sample.id: sample for own in _samples(args.samples, "test").values() for sample in own}
    lines = []
    for name in settings["recipes"]:
        path = args.to / f"answers-{name}.jsonl"
        if not path.exists():
            continue
        written = args.to / f"judgements-{name}.parquet"
        write_judgements(written, list(read_lines(path)), samples, tokenizer, settings["stops"])
        numbers = verdicts.evaluate(tables.read_frame(written), SEED)
        parts = {"all": numbers["accuracy"] | {"n": numbers["n"]}} | numbers["by_dataset"]
        for dataset, part in parts.items():
            line = {"adapter": name, "dataset": dataset}
            lines.append(line | {key: part[key] for key in ("n", "scaled", "low", "high", "failures")})
        for rows, rate in numbers["rates"].items():
            lines[-len(parts)][f"reported_in_{rows}"] = rate["error_reported"]
    columns = ("adapter", "dataset", "n", "scaled", "low", "high", "failures")
    columns += ("reported_in_error_free", "reported_in_erroneous")
    tables.write_lines(args.to / "numbers.csv", columns, lines)
    say(f"{args.to / 'numbers.csv'}: {len(lines)} lines")


if __name__ == "__main__":
    main()
