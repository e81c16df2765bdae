"""Translate CulT-Eval, judge the translations with ACRE, and make its tables and figures."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

from excam.acre import asks, items, judgements, sentence_metrics, source, translate, translations
from excam.core import counts, provenance, tables
from excam.core.provenance import quiet_libraries, say, write_manifest
from scripts import step
from scripts.asking import RecordedOptions, recorder_of


@step(
    version=3,
    inputs={"files": "cult_eval_files"},
    outputs={"expressions": "results/cult_eval/items.parquet", "rows": "results/cult_eval/rows/written/0.parquet"},
)
def cult_eval_read(
    files_paths: Annotated[Sequence[Path], "items, then a file for each system"],
    expressions_path: Path,
    rows_path: Annotated[Path, "the translations, each with the texts of its item"],
) -> None:
    """Read a benchmark of translations: its items, and the translations that its folder has."""
    items_path, *sheets = files_paths
    items_by_id = items.read(items_path)
    rows = source.written(sheets, items_by_id)
    tables.write_frame(expressions_path, translations.items_frame(items_by_id.values()))
    tables.write_frame(rows_path, translations.to_frame(rows))
    say(f"cult-eval: {len(items_by_id)} items, {len(rows)} translations by {len(translations.systems(rows))} systems")


@step(
    version=4,
    asks="model",
    journal="results/journal/cult_eval/{model}.jsonl",
    inputs={"expressions": "results/cult_eval/items.parquet", "example": "cult_eval_example"},
    settings={"name": "model", "form": "cult_eval_form"},
    outputs={
        "rows": "results/cult_eval/rows/{model}/{shots}.parquet",
        "transcript": "results/cult_eval/transcripts/translations/{model}/{shots}.jsonl",
        "manifest": "results/cult_eval/transcripts/translations/{model}/{shots}.manifest.json",
    },
)
def cult_eval_translate(
    asking: RecordedOptions,
    name: Annotated[str, "the key of the model in config.yaml"],
    form: translate.Form,
    expressions_path: Path,
    rows_path: Path,
    example_path: Annotated[Path | None, "one item that is not in the test set, for a one-shot prompt"] = None,
) -> None:
    """Translate every item with one model; write the translations and a transcript of every request and answer."""
    asker = recorder_of(asking, name, f"{name} translates")
    items_by_id = items.read(expressions_path)
    example = items.held_out(items_by_id, example_path) if example_path else None
    flow = partial(translate.translate, system=name, form=form, example=example)
    rows = asker.record(f"translating with {name}, items", flow, list(items_by_id.values()), len(items_by_id))
    tables.write_frame(rows_path, translations.to_frame(rows))
    settings = {**json.loads(asking.model), "form": form}
    asker.write_manifest([expressions_path, example_path], [rows_path], settings, seed=asking.seed)
    provenance.say(f"{name}: {len(rows)} translations in {asker.seconds:.0f} s")


@step(
    version=4,
    inputs={"rows": "results/cult_eval/rows/{translator}/{shots}.parquet"},
    outputs={"judged": "results/cult_eval/judged/equivalent/{translator}/{shots}.parquet"},
    stages=["acre/equivalent"],
)
def cult_eval_equivalent(rows_path: Path, judged_path: Path) -> None:
    """Judge translations without a model: by accepted equivalents, listed glosses, words of the explication."""
    tables.write_frame(judged_path, judgements.equivalent_frame(translations.from_frame(rows_path)))


@step(
    version=3,
    asks="model",
    minutes=120,
    journal="results/journal/cult_eval/{model}.jsonl",
    inputs={"rows": "results/cult_eval/rows/{translator}/{shots}.parquet"},
    settings={"name": "model", "variants": "cult_eval.variants", "by": "cult_eval.mode"},
    outputs={
        "judged": "results/cult_eval/judged/{model}/{translator}/{shots}.parquet",
        "transcript": "results/cult_eval/transcripts/judged/{model}/{translator}/{shots}.jsonl",
        "manifest": "results/cult_eval/transcripts/judged/{model}/{translator}/{shots}.manifest.json",
    },
    stages=["acre/asks"],
)
def cult_eval_judge(
    asking: RecordedOptions,
    name: Annotated[str, "the key of the model in config.yaml"],
    variants: Sequence[asks.Variant],
    by: asks.Mode,
    rows_path: Path,
    judged_path: Path,
) -> None:
    """Judge translations as ACRE with one model, in every variant of the ablation; keep every request and answer."""
    asker = recorder_of(asking, name, f"{name} judges translations")
    rows = translations.from_frame(rows_path)
    tasks = asks.tasks(rows, variants, by)
    verdicts = judgements.write(asker, name, rows, tasks, judged_path)
    settings = {**json.loads(asking.model), "by": by, "quality": "mean", "prompts": "ours"}
    asker.write_manifest([rows_path], [judged_path], settings, seed=asking.seed)
    failures = counts.failures(verdicts)
    provenance.say(f"{name}: {len(verdicts)} verdicts in {asker.seconds:.0f} s; failures: {failures}")


@step(
    version=4,
    inputs={"rows": "results/cult_eval/rows/{translator}/{shots}.parquet", "encoder": "cult_eval_encoder"},
    settings={"layer": "cult_eval.layer"},
    outputs={
        "metrics": "results/cult_eval/metrics/{translator}/{shots}.parquet",
        "manifest": "results/cult_eval/metrics/{translator}/{shots}.manifest.json",
    },
    environment="translation",
    local=False,
)
def cult_eval_metrics(
    rows_path: Path,
    layer: Annotated[int, "of the encoder"],
    metrics_path: Path,
    manifest_path: Annotated[Path, "the signature of each metric"],
    encoder_path: Annotated[Path | None, "manifest of BERTScore's encoder"] = None,
) -> None:
    """Measure translations with metrics of whole sentences: BLEU, chrF++, BERTScore."""
    quiet_libraries()
    started = time.monotonic()
    rows = translations.from_frame(rows_path)
    encoder = (encoder_path.parent / "files", encoder_path.parent.name) if encoder_path else None
    columns = sentence_metrics.measure(rows, encoder, layer)
    tables.write_frame(metrics_path, sentence_metrics.to_frame(rows, columns))
    write_manifest(
        manifest_path,
        inputs=[path for path in (rows_path, encoder_path) if path],
        outputs=[metrics_path],
        settings={"signatures": {name: column.signature for name, column in columns.items()}},
        seconds=time.monotonic() - started,
    )
    say(f"{len(rows)} translations measured: {', '.join(columns)}")
