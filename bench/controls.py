"""Controls: a model that cannot know, or a pipeline that cannot learn?

Trains an adapter on 64 rows (32 pairs) until they are learned by heart, then judges (1) the same rows, (2) the same
facts in other templates, (3) as many rows it never saw. Expected: at least .9 scaled accuracy on the first, clearly
above chance on the second, and whatever the model knows, chance included, on the third. A failure of the first is a
bug in the pipeline; chance on the third is a fact about the model.

    python -m bench.controls --weights results/models/smollm2-135m/manifest.json --dataset culturalbench
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from excam import datasets, provenance, tables
from excam.config import Model, Recipe
from excam.config import Sampling as SamplingSettings
from excam.construction import hard, wrapping
from excam.construction.chance import digest
from excam.inference import chat, opening
from excam.inference.journal import Journal, ask
from excam.inference.run import run as run_judge
from excam.judges import report
from excam.metaeval import accuracy
from excam.records import BaseSample, Sample
from excam.training import layout, sft, tokens
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path, required=True, help="manifest of the fetched base model")
    parser.add_argument("--dataset", default="culturalbench", help="one with hard errors")
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--epochs", type=float, default=32)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=20260401)
    parser.add_argument("--folder", type=Path, default=Path("results/controls"))
    args = parser.parse_args(argv)

    bases = {base.id: base for base in tables.read_bases(args.results / f"samples/{args.dataset}.bases.jsonl")}
    known, unseen = (_pairs(args, split) for split in ("train", "test"))
    recipe = Recipe(
        rank=16, learning_rate=args.learning_rate, warmup_steps=8, weight_decay=0.0, epochs=args.epochs,
        layout="cpu",
    )  # fmt: skip
    adapter = args.folder / args.dataset
    facts = sft.train(
        weights=args.weights.parent / "files",
        base=provenance.content(args.weights),
        rows=tokens.encode(chat.load_tokenizer(args.weights.parent / "files"), known),
        recipe=recipe,
        layout=layout.load(recipe.layout),
        seed=args.seed,
        checkpoints=args.folder / "checkpoints",
        folder=adapter,
        name=f"controls/{args.dataset}",
    )
    outputs = [adapter / name for name in sft.PUBLISHED]
    provenance.write_manifest(
        adapter / "manifest.json",
        inputs=[args.weights],
        outputs=outputs,
        settings=recipe.model_dump(),
        seconds=0,
        **(facts or {}),
    )
    shutil.rmtree(args.folder / "checkpoints", ignore_errors=True)
    sets = {"by heart": known, "same facts, other templates": _rewrapped(known, bases, args.seed), "unseen": unseen}
    numbers = {name: _judge(name, samples, args, adapter) for name, samples in sets.items()}
    provenance.write_json(args.folder / f"{args.dataset}.json", {"training": facts, "judged": numbers})
    print(json.dumps(numbers, indent=2))


def _pairs(args: argparse.Namespace, split: str) -> list[Sample]:
    samples = tables.read_samples(args.results / f"excam40k/{args.dataset}/{split}.parquet")
    order = sorted({sample.base for sample in samples}, key=lambda base: digest(args.seed, "controls", base))
    rank = {base: place for place, base in enumerate(order)}
    return sorted(samples, key=lambda sample: (rank[sample.base], sample.id))[: args.rows]


def _rewrapped(samples: list[Sample], bases: dict[str, BaseSample], seed: int) -> list[Sample]:
    """The same answers, right and wrong, in templates drawn anew."""
    wanted = list(dict.fromkeys(sample.base for sample in samples))
    licence = datasets.load(samples[0].dataset).SOURCE.licence
    where = {sample.group: sample.split for sample in samples}
    rewrapped = wrapping.right_samples([bases[b] for b in wanted], "hard", licence, seed + 1, where)
    fresh = {s.pair: s.templates for s in rewrapped}
    wrong = {s.pair: s.report.errors[0].span for s in samples if s.report.errors}
    again = []
    for sample in samples:
        if not sample.id.endswith("/right"):
            continue
        base, variant, templates = bases[sample.base], sample.pair.rpartition("/")[2], fresh[sample.pair]
        instruction, output = wrapping.render(base, base.answer, variant, templates, seed)
        right = replace(sample, instruction=instruction, output=output, templates=templates)
        again += [right, hard.hard_error(right, base, wrong[sample.pair], seed)]
    return again


def _judge(name: str, samples: list[Sample], args: argparse.Namespace, adapter: Path) -> dict[str, float | int]:
    model = Model(
        backend="transformers", hub="local", licence="", context=8192, sampling=SamplingSettings(max_tokens=160)
    )
    backend = opening.lazily("controls", model, args.weights, adapter / "manifest.json")
    progress = provenance.Progress(f"controls, {name}", len(samples))
    asking = partial(
        ask, backend, opening.sampling(model, 0), Journal(args.folder / "journal.jsonl"), progress=progress
    )
    verdicts = run_judge(report.judge, samples, asking)
    gold = [bool(sample.report.errors) for sample in samples]
    guesses = [None if v.errors_found is None else v.errors_found > 0 for v in verdicts]
    result = accuracy.summarise(gold, guesses, clusters=[sample.base for sample in samples], seed=args.seed)
    return {"n": result.n, "failures": result.failures, "scaled": result.scaled, "low": result.low, "high": result.high}


if __name__ == "__main__":
    run(main)
