"""Train readers of passages, and measure them beside the floors (`experiments/reader.yaml`)."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl

from excam.config import Recipe
from excam.core import provenance, tables
from excam.core.exceptions import InputInvalid
from excam.error_reports import reading_rows
from excam.error_reports.readers import lift
from excam.error_reports.reading_rows import ReadingRow
from excam.pages import markdown
from excam.scoring import manifests
from excam.scoring.manifests import BaseManifest
from excam.stats import bootstrap
from excam.stats.binary_gold import auroc
from excam.training import contrast
from scripts import step

OUTPUTS = ("adapter_model.safetensors", "adapter_config.json", "README.md")
STEPS, TINY = 20, 1e-9  # of Newton's method; in place of 0
CARD = """\
---
library_name: peft
license: cc-by-sa-4.0
tags: [excam, lora, reading, evaluation]
---

# ExCAM: a reader of passages

A LoRA adapter for {model} ({licence}, revision {base}). Beside sentences it finds an answer likelier by its question if
they give it, and less likely if they say it of something else. Use it by `excam score --evidence PACK
--model FOLDER`, which sends the conversation of training and reads what `excam.error_reports.readers.lift` describes.

The weights of its log-odds were fitted on paragraphs that it was not trained on. It reads short answers in words of the
passages, in the language that it was trained in. What it is worth beside a count of words stands on `table-reader.md`
of its run. It can be led by orders in a passage, and repeats what its base was trained on.

{facts}"""


@step(
    version=2,
    inputs={"files": "reader_files"},
    settings={"language": "reader.language", "seed": "seed"},
    outputs={"rows": "results/reader/rows.parquet", "counts": "results/reader/rows.json"},
    stages=["error_reports/readers/words"],
)
def reader_rows(
    files_paths: Annotated[Sequence[Path], "JSON lines, see `excam.error_reports.reading_rows`"],
    language: Annotated[str, "code of the language that is kept"],
    seed: int,
    rows_path: Path,
    counts_path: Path,
) -> None:
    """Read rows, find where their answers stand, and draw train, dev and test by paragraph."""
    frame = reading_rows.as_frame(reading_rows.rows_of(files_paths, language, seed))
    tables.write_frame(rows_path, frame)
    counts = Counter(
        f"{split}, {'not ' * bool(unread)}read" for split, unread in frame[["split", "unread"]].iter_rows()
    )
    provenance.write_json(counts_path, dict(sorted(counts.items())))
    provenance.say(f"{rows_path}: {dict(sorted(counts.items()))}")


@step(version=2)
def train_reader(
    model: str,
    weights_path: Annotated[Path, "manifest of the fetched base model"],
    rows_path: Path,
    recipe_json: Annotated[str, "the section `training` of the configuration as JSON"],
    language: str,
    seed: int,
    reader_path: Annotated[Path, "folder of the adapter"],
    scores_path: Path,
) -> None:
    """Train an adapter on the rows that are read, fit the log-odds of its lifts on dev, and read dev and test."""
    started = time.monotonic()
    weights = weights_path.parent / "files"
    provenance.refuse_changed(weights_path, weights)
    recipe = Recipe.model_validate_json(recipe_json)
    seed = recipe.seed if recipe.seed is not None else seed
    read = [row for row in reading_rows.of_frame(tables.read_frame(rows_path)) if not row.unread]
    of_split = {name: [row for row in read if row.split == name] for name in ("train", "dev", "test")}
    losses, lifts_of = contrast.train(weights, reading_rows.groups(of_split["train"]), recipe, seed, reader_path)
    measured = [row for name in ("dev", "test") for row in of_split[name]]
    lifts = lifts_of(reading_rows.alone(measured))
    fitted = _fitted(of_split["dev"], lifts[: len(of_split["dev"])], language)
    margins = [fitted.margin(gain, row.by_words) for gain, row in zip(lifts, measured, strict=True)]
    tables.write_frame(
        scores_path, pl.DataFrame({"id": [row.id for row in measured], "lift": lifts, "margin": margins})
    )
    base = provenance.read_json(weights_path)
    provenance.write_text(reader_path / "README.md", _card(model, base, recipe, fitted, len(of_split["train"])))
    provenance.write_manifest(
        reader_path / "manifest.json",
        inputs=[rows_path, weights_path],
        outputs=[reader_path / name for name in OUTPUTS],
        settings={**recipe.model_dump(), "report": lift.REPORT},
        seconds=time.monotonic() - started,
        model=model,
        weights=weights_path.parent.name,
        base=base["revision"],
        trained_on="reading",
        languages=[language],
        fitted=fitted.model_dump(),
        base_model=manifests.read(weights_path, BaseManifest, "a fetched model").public(),
        seed=seed,
        rows=len(of_split["train"]),
        losses=losses,
    )


def _fitted(rows: Sequence[ReadingRow], lifts: Sequence[float], language: str) -> lift.Fitted:
    """Return the weights of a logistic regression on dev rows, by Newton's method with a penalty of 1 on each.

    Raises InputInvalid if all rows are right, or all wrong.
    """
    right = np.array([float(row.right) for row in rows])
    if len(set(right)) < 2:
        raise InputInvalid(f"{len(rows)} dev rows; expected right and wrong ones to fit weights on; add paragraphs")
    values = np.column_stack([lifts, [lift.log_odds(row.by_words) for row in rows]])
    spread = values.std(axis=0) + TINY
    design, weights = np.column_stack([values / spread, np.ones(len(rows))]), np.zeros(3)
    penalty = np.diag([1.0, 1.0, TINY])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-design @ weights))
        slope = design.T @ (chance - right) + penalty @ weights
        weights -= np.linalg.solve((design * (chance * (1 - chance))[:, None]).T @ design + penalty, slope)
    by_lift, by_words = (weights[:2] / spread).tolist()
    return lift.Fitted(lift=by_lift, words=by_words, offset=float(weights[2]), languages=(language,))


def _card(model: str, base: dict[str, Any], recipe: Recipe, fitted: lift.Fitted, rows: int) -> str:
    """Return the card of a reader."""
    facts = {"rows": rows, "fitted": fitted.model_dump()} | json.loads(recipe.adapter_settings)
    settings = markdown.table(("setting", "value"), [(name, str(value)) for name, value in facts.items()])
    return CARD.format(model=model, licence=base["licence"], base=base["revision"], facts=settings)


@step(
    version=1,
    result="results/paper/table-reader",
    outputs=["numbers", "page"],
    category="reader",
    inputs={"rows": "results/reader/rows.parquet", "scores": "reader_scores"},
    settings={"seed": "seed"},
    target="reader",
)
def table_reader(rows_path: Path, scores_paths: Sequence[Path], seed: int, numbers_path: Path, page_path: Path) -> None:
    """What trained readers are worth on rows of other paragraphs, beside the floors.

    A row without a verdict counts as half right: scaled accuracy is 0 at chance, 1 if all is right. Differences are
    paired; intervals are over paragraphs. AUC is of the rows that are read.
    """
    rows = tables.read_frame(rows_path)
    dev, test = (rows.filter(pl.col("split") == split) for split in ("dev", "test"))
    at = _threshold(dev["overlap"].to_numpy(), dev["right"].to_numpy())
    systems = {
        "question overlap": (test["overlap"] - at, (test["overlap"] - at).sign()),
        "words": (test["by_words"] - 0.5, (test["by_words"] - 0.5).sign()),
    }
    for path in scores_paths:
        margins = test.join(tables.read_frame(path), on="id", how="left", maintain_order="left")["margin"]
        is_sure = (margins.abs() >= lift.SURE).fill_null(False)
        systems[path.parent.name] = (margins, margins.sign().fill_null(0) * is_sure)
    worth = {name: verdicts.to_numpy() * np.where(test["right"], 1, -1) for name, (_, verdicts) in systems.items()}
    lines = [
        {"system": name, "n": test.height} | _line(test, scores, verdicts, worth, name, seed)
        for name, (scores, verdicts) in systems.items()
    ]
    tables.write_lines(numbers_path, list(lines[0]), lines)
    body = [[line["system"], line["n"], *(_shown(line, column) for column in COLUMNS)] for line in lines]
    text = f"# Trained readers\n\n{markdown.table(('system', 'n', *COLUMNS.values()), body)}"
    provenance.write_text(page_path, text)


COLUMNS = {
    "decided": "with a verdict",
    "right": "right, of these",
    "scaled": "scaled accuracy",
    "above": "minus overlap",
    "above_words": "minus words",
    "auc": "AUC",
}


def _line(
    test: pl.DataFrame, scores: pl.Series, verdicts: pl.Series, worth: Mapping[str, np.ndarray], name: str, seed: int
) -> dict[str, Any]:
    """Return the numbers of a system with their intervals; `worth` is 1 for right, -1 for wrong, 0 for not known."""
    clusters, hits = test["paragraph"].to_list(), worth[name]
    decided = (verdicts != 0).to_numpy()
    readable = pl.DataFrame({"error": ~test["right"], "score": scores, "by": clusters})
    readable = readable.filter(test["unread"] == "").drop_nulls()
    errors, scores_read, by = (readable[name].to_list() for name in ("error", "score", "by"))
    means = {"scaled": hits, "above": hits - worth["question overlap"], "above_words": hits - worth["words"]}
    made = bootstrap.in_columns("decided", bootstrap.share(decided, clusters, seed))
    made |= bootstrap.in_columns("right", bootstrap.share(hits > 0, clusters, seed, decided))
    for column, values in means.items():
        made |= bootstrap.in_columns(column, bootstrap.mean(values, clusters, seed))
    return made | bootstrap.in_columns("auc", asdict(auroc(errors, scores_read, by, seed=seed)))


def _shown(line: dict[str, Any], column: str) -> str:
    return markdown.with_interval(line[column], line[f"{column}_low"], line[f"{column}_high"])


def _threshold(values: np.ndarray, right: np.ndarray) -> float:
    """Return the value from which on most rows are right."""
    places = np.unique(values)
    hits = ((values >= places[:, None]) == right).mean(axis=1)
    return float(places[hits.argmax()])
