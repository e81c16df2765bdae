"""Train one LoRA adapter (Appendix B) on the processes of its layout; resume from its last checkpoint.

The manifest is written last. Checkpoints stay: until Snakemake has seen this job end it may start it once more
(`verify_adapter` removes them).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from excam.config import Recipe
from excam.core import provenance, tables
from excam.core.exceptions import InputInvalid
from excam.error_reports import adapter_card, fixed_answers
from excam.error_reports.judges import report
from excam.inference import gpus
from excam.training import devices, layout, sft, tokens
from scripts import run

VERSION = 3


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--weights", type=Path, required=True, help="manifest of the fetched base model")
    parser.add_argument("--trained-on", required=True)
    parser.add_argument("--mixture", type=Path, required=True, help="the rows, by id")
    parser.add_argument("--tokens", type=Path, nargs="+", required=True, help="the same rows as tokens of this model")
    parser.add_argument("--recipe", required=True, help="the section `training` of config.yaml as JSON")
    parser.add_argument("--layout", required=True, help="a file of excam/training/layouts")
    parser.add_argument("--save-steps", type=int, required=True)
    parser.add_argument("--report-to", default="none", help="a tracker that follows the loss")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--checkpoints", type=Path, required=True)
    parser.add_argument("--adapter", type=Path, required=True, help="folder of the adapter")
    args = parser.parse_args(argv)

    started = time.monotonic()
    chosen = layout.load_layout(args.layout)
    name = f"{args.model}/{args.trained_on}"
    if "LOCAL_RANK" not in os.environ:  # the first process, before it starts others
        gpus.refuse_unusable(chosen.processes if chosen.device == "gpu" else 0, "set training.layout: cpu")
        provenance.refuse_changed(args.weights, args.weights.parent / "files")  # takes minutes, and no card
    devices.launch_processes(chosen, "scripts.train_adapter", list(sys.argv[1:] if argv is None else argv), name)
    how = {"layout": args.layout, "save_steps": args.save_steps, "report_to": args.report_to}
    recipe = Recipe.model_validate({**json.loads(args.recipe), **how})
    rows = _mixture(args.mixture, args.trained_on)
    tokenised = tokens.read(args.tokens, [row["id"] for row in rows])
    facts = sft.train(
        weights=args.weights.parent / "files",
        base=provenance.outputs_json(args.weights),
        rows=tokenised,
        recipe=recipe,
        layout=chosen,
        seed=args.seed,
        checkpoints=args.checkpoints,
        folder=args.adapter,
        name=name,
        probe=fixed_answers.scores,
        verdict=report.VERDICT,
        version=VERSION,
    )
    if facts is None:  # another process of the layout publishes
        return
    facts |= {"rows_too_long": len(rows) - tokenised.height}
    base = provenance.read_json(args.weights, "settings", "licence")
    settings = {**recipe.model_dump(), "layout": {"name": args.layout, **chosen.model_dump(exclude_none=True)}}
    page = adapter_card.text(
        model=args.model,
        source=base["settings"]["hub"],
        licence=base["licence"],
        trained_on=args.trained_on,
        by_dataset=dict(sorted(Counter(row["dataset"] for row in rows).items())),
        mixture=provenance.sha256(args.mixture),
        recipe=settings,
        measured=facts,
    )
    provenance.write_text(args.adapter / "README.md", page)
    provenance.write_manifest(
        args.adapter / "manifest.json",
        inputs=[args.mixture, *args.tokens, args.weights],
        outputs=[args.adapter / name for name in (*sft.PUBLISHED, "README.md")],
        settings=settings,
        seconds=time.monotonic() - started,
        model=args.model,
        weights=args.weights.parent.name,
        base=base["revision"],
        trained_on=args.trained_on,
        languages=sorted({row["language"] for row in rows}),
        **facts,
    )


def _mixture(mixture: Path, trained_on: str) -> list[dict[str, Any]]:
    """Return a mixture's rows. Raises InputInvalid when the dataset that was to be left out is among them."""
    rows = list(tables.read_jsonl(mixture))
    left_out = [row["id"] for row in rows if trained_on == f"without-{row['dataset']}"]
    if left_out:
        raise InputInvalid(
            f"{mixture}: {len(left_out)} rows of the left-out dataset, the first is {left_out[0]}; expected none; "
            "delete it and run again"
        )
    return rows


if __name__ == "__main__":
    run(main)
