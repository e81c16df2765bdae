"""Train one LoRA adapter (Appendix B); resumes from its last checkpoint; the manifest is written last."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

from excam import provenance, tables
from excam.config import Recipe
from excam.records import sample_from_row
from excam.training import sft
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--weights", type=Path, required=True, help="manifest of the fetched base model")
    parser.add_argument("--trained-on", required=True)
    parser.add_argument("--mixture", type=Path, required=True)
    parser.add_argument("--recipe", required=True, help="the section `training` of config.yaml as JSON")
    parser.add_argument("--rows-per-pass", type=int, required=True)
    parser.add_argument("--save-steps", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--checkpoints", type=Path, required=True)
    parser.add_argument("--adapter", type=Path, required=True, help="folder of the adapter")
    args = parser.parse_args(argv)

    started = time.monotonic()
    hardware = {"rows_per_pass": args.rows_per_pass, "save_steps": args.save_steps}
    recipe = Recipe.model_validate({**json.loads(args.recipe), **hardware})
    samples = [sample_from_row(row) for row in tables.jsonl(args.mixture)]
    facts = sft.train(
        weights=args.weights.parent / "files",
        base=provenance.content(args.weights),
        samples=samples,
        recipe=recipe,
        seed=args.seed,
        checkpoints=args.checkpoints,
        folder=args.adapter,
        name=f"{args.model}/{args.trained_on}",
    )
    provenance.write_manifest(
        args.adapter / "manifest.json",
        inputs=[args.mixture, args.weights],
        outputs=[args.adapter / name for name in sft.PUBLISHED],
        settings=recipe.model_dump(),
        seconds=time.monotonic() - started,
        model=args.model,
        base=json.loads(args.weights.read_text(encoding="utf-8"))["revision"],
        trained_on=args.trained_on,
        seed=args.seed,
        **facts,
    )
    sft.discard(args.checkpoints)


if __name__ == "__main__":
    run(main)
