"""Fill the templates of a benchmark's rows, and find rows that are too long."""

from __future__ import annotations

import inspect
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from excam.core import provenance
from excam.core.source_tables import unread_files
from excam.core.splits import Split
from excam.error_reports import record_files
from excam.excam40k import agreement, datasets
from excam.excam40k.construction import duplicates, splits, wrapping
from excam.excam40k.construction.drawing import draw_stratified, draw_to_cap
from excam.excam40k.construction.templates import code_of, languages
from excam.excam40k.datasets._changes import applied
from scripts import step

LOCAL_QUESTIONS = "local_questions"  # setting of a reader that has its questions in the language of the country too


MOST_LOCAL = 3  # questions in it of each question and region, as many as there are English ones built from annotations


@step(version=8)
def build_samples(
    dataset: str,
    source_path: Annotated[Path, "manifest of the fetched snapshot"],
    cap: int,
    cap_stage: Literal["before", "after"],
    allocation: Literal["equal", "proportional"],
    shares: Annotated[dict[Split, float], json.loads],
    seed: int,
    bases_path: Path,
    samples_path: Path,
    counts_path: Path,
    module: Annotated[str | None, "file of a benchmark that is not in the package"] = None,
    reading_json: Annotated[str, "settings of the reader, as JSON"] = "{}",
    templates: Annotated[Literal["english", "local", "both"], "language of the templates"] = "english",
    rows: Annotated[Literal["by-rule", "as-published"], "whether rules change what a row says"] = "by-rule",
) -> None:
    """Wrap benchmark rows into original instruction-output pairs, and count what was dropped."""
    benchmark = datasets.load(dataset, module)
    settings = json.loads(reading_json)
    if templates == "both" and LOCAL_QUESTIONS in inspect.signature(benchmark.read).parameters:
        settings = {LOCAL_QUESTIONS: MOST_LOCAL, **settings}
    reading = datasets.read(dataset, source_path.parent / "files", settings, module, rows)
    # what no pattern matches stays in the folder that the files were copied from
    copied_from = provenance.read_json(source_path, "settings")["settings"].get("folder")
    not_read = unread_files(Path(copied_from or source_path.parent / "files"), benchmark.SOURCE.files)
    with applied(rows):
        if cap_stage == "before":
            drawn = draw_stratified(reading, cap, seed, allocation)
        else:
            drawn = draw_to_cap(reading, benchmark.ERRORS, cap, seed, allocation)
        bases = duplicates.in_one_group(drawn)
        where = splits.assign([(base.group, base.stratum) for base in bases], shares, seed)
        local = () if templates == "english" else languages()
        right = wrapping.right_samples(bases, benchmark.ERRORS, benchmark.SOURCE.licence, seed, where, local)
    record_files.write_bases(bases_path, bases)
    record_files.write_samples(samples_path, right)
    frames = wrapping.frames(right)
    counts = {
        "rows": reading.rows,
        "dropped": dict(reading.dropped),
        "changed": {rule: changed for rule, (changed, _) in reading.changed.items()},
        "changed_examples": {rule: example for rule, (_, example) in reading.changed.items()},
        "files_not_read": not_read,
        "base_samples": reading.frame.height,
        "drawn": len(bases),
        "groups": len({base.group for base in bases}),
        "groups_before_near_duplicates": len({base.group or base.id for base in drawn}),
        "pairs": len(right),
        "agreement": agreement.summary(bases),
        "lacks": list(reading.lacks),
        "examples": dict(reading.examples),
        "unknown": reading.unknown,
        **({"frames": frames} if local else {}),  # English ones are around every row, and need no count
    }
    provenance.write_json(counts_path, counts)
    for line in datasets.summary_lines(reading, len(bases)):
        provenance.say(line)
    provenance.say(f"{dataset}: cap {cap}, of {'base samples' if cap_stage == 'before' else 'final rows'}; seed {seed}")
    for line in _remarks(frames if local else {}, not_read):
        provenance.say(f"{dataset}: {line}")


def _remarks(frames: Mapping[str, Mapping[str, int]], not_read: Sequence[str]) -> Iterator[str]:
    """Yield which languages have pairs in English templates, as they have none, and which files are not read."""
    if without := Counter({name: sum(codes.values()) for name, codes in frames.items() if code_of(name) is None}):
        listed = ", ".join(f"{name} {pairs}" for name, pairs in without.most_common())
        yield f"pairs in a language without templates, in English ones: {listed}"
    if not_read:
        listed = ", ".join(not_read[:5]) + (f" and {len(not_read) - 5} more" if len(not_read) > 5 else "")
        yield f"files that look like rows and are not read: {listed}; see SOURCE.files"


@step(
    version=1,
    inputs={"tokenizers": "tokenizers", "samples": "results/samples/*.parquet"},
    settings={"recipes": "longest_rows"},
    outputs={"pairs": "results/samples/*.too-long.json", "counts": "results/samples/*.too-long.counts.json"},
    stages=["asks.report"],
    environment="training",
)
def find_long_rows(
    tokenizers_paths: Annotated[Sequence[Path], "a manifest for each base model"],
    recipes: Annotated[dict[str, Any], json.loads, "max_length and overflow of each, as JSON"],
    samples_paths: Annotated[Sequence[Path], "original pairs: <dataset>.parquet"],
    pairs_paths: Annotated[Sequence[Path], "one of each"],
    counts_paths: Annotated[Sequence[Path], "one of each"],
) -> None:
    """Find the training pairs that are too long for a base model, before errors are made; all models leave them out.

    Training would drop them after a generator was paid for them, and each base model would learn from other rows.
    """
    from excam.config import Recipe
    from excam.error_reports.judges import report
    from excam.inference import chat
    from excam.training import tokens

    folders = [manifest.parent / "files" for manifest in tokenizers_paths]
    encoders = {folder: chat.ids_tokenizer(folder) for folder in folders}
    for samples_path, pairs_path, counts_path in zip(samples_paths, pairs_paths, counts_paths, strict=True):
        learnt = [sample for sample in record_files.read_samples(samples_path) if sample.split == "train"]
        examples = list(report.training_examples(learnt))
        encoded = {folder: tokens.encode(encoder, examples) for folder, encoder in encoders.items()}
        too_long, counts = set[str](), {}
        for (name, recipe), folder in zip(recipes.items(), folders, strict=True):
            rows, most = encoded[folder], chat.max_positions(folder)
            long_pairs, room = tokens.too_long_originals(rows, Recipe.model_validate(recipe), most)
            too_long.update(long_pairs)
            counts[name] = {"too_long": len(long_pairs), "room": room, "longest": rows["input_ids"].list.len().max()}
        provenance.write_json(pairs_path, {"pairs": sorted(too_long)})
        provenance.write_json(counts_path, {"pairs": len(learnt), "too_long": len(too_long), "models": counts})
        summary = ", ".join(f"{name}: {n['too_long']} over {n['room']} tokens" for name, n in counts.items())
        provenance.say(
            f"{pairs_path}: {len(too_long)} of {len(learnt)} training pairs are left out as too long ({summary})"
        )
