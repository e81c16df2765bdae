"""Train one LoRA adapter (Appendix B) on the processes of its layout; resume from its last checkpoint.

The manifest is written last. Checkpoints stay: until Snakemake has seen this job end it may start it once more
(`verify_adapter` removes them).
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from excam.config import Recipe
from excam.core import provenance, tables
from excam.core.exceptions import InputInvalid
from excam.error_reports import adapter_card, fixed_answers
from excam.error_reports.judges import report
from excam.inference import gpus
from excam.training import devices, sft, tokens
from excam.training.layout import load_layout
from scripts import run, step

VERSION = 3


@step
def main(
    model: str,
    weights_path: Annotated[Path, "manifest of the fetched base model"],
    trained_on: str,
    mixture_path: Annotated[Path, "the rows, by id"],
    tokens_paths: Annotated[Sequence[Path], "the same rows as tokens of this model"],
    recipe_json: Annotated[str, "the section `training` of config.yaml as JSON"],
    layout: Annotated[str, "a file of excam/training/layouts"],
    save_steps: int,
    seed: int,
    checkpoints_path: Path,
    adapter_path: Annotated[Path, "folder of the adapter"],
    report_to: Annotated[str, "a tracker that follows the loss"] = "none",
) -> None:
    started = time.monotonic()
    chosen = load_layout(layout)
    name = f"{model}/{trained_on}"
    if "LOCAL_RANK" not in os.environ:  # the first process, before it starts others
        gpus.refuse_unusable(chosen.processes if chosen.device == "gpu" else 0, "set training.layout: cpu")
        provenance.refuse_changed(weights_path, weights_path.parent / "files")  # takes minutes, and no card
    devices.launch_processes(chosen, "scripts.train_adapter", sys.argv[1:], name)
    how = {"layout": layout, "save_steps": save_steps, "report_to": report_to}
    recipe = Recipe.model_validate({**json.loads(recipe_json), **how})
    rows = _mixture(mixture_path, trained_on)
    tokenised = tokens.read(tokens_paths, [row["id"] for row in rows])
    facts = sft.train(
        weights=weights_path.parent / "files",
        base=provenance.outputs_json(weights_path),
        rows=tokenised,
        recipe=recipe,
        layout=chosen,
        seed=seed,
        checkpoints=checkpoints_path,
        folder=adapter_path,
        name=name,
        probe=fixed_answers.scores,
        verdict=report.VERDICT,
        version=VERSION,
    )
    if facts is None:  # another process of the layout publishes
        return
    facts |= {"rows_too_long": len(rows) - tokenised.height}
    base = provenance.read_json(weights_path, "settings", "licence")
    settings = {**recipe.model_dump(), "layout": {"name": layout, **chosen.model_dump(exclude_none=True)}}
    page = adapter_card.text(
        model=model,
        source=base["settings"]["hub"],
        licence=base["licence"],
        trained_on=trained_on,
        by_dataset=dict(sorted(Counter(row["dataset"] for row in rows).items())),
        mixture=provenance.sha256(mixture_path),
        recipe=settings,
        measured=facts,
    )
    provenance.write_text(adapter_path / "README.md", page)
    provenance.write_manifest(
        adapter_path / "manifest.json",
        inputs=[mixture_path, *tokens_paths, weights_path],
        outputs=[adapter_path / name for name in (*sft.PUBLISHED, "README.md")],
        settings=settings,
        seconds=time.monotonic() - started,
        model=model,
        weights=weights_path.parent.name,
        base=base["revision"],
        trained_on=trained_on,
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
