"""Build ExCAM40k by the workflow's own scripts in this process, for tests of the complete data set."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path

from excam.core.licences import terms
from excam.core.splits import SPLITS
from excam.error_reports import record_files
from excam.error_reports.records import Sample
from excam.excam40k import datasets
from scripts import StepProgram, load

ROOT = Path(__file__).parents[2]

SHARES = json.dumps({"train": 0.7, "dev": 0.1, "test": 0.2})
SEED = 20260401


def script(step: StepProgram | str, **flags) -> None:
    """Run a step, or the one of this name, with these flags, as its rule does."""
    words = []
    for flag, value in flags.items():
        values = value if isinstance(value, list) else [value]
        words += [f"--{flag.replace('_', '-')}", *map(str, values)]
    (load(step) if isinstance(step, str) else step)(words)


def build(home: Path, raw: dict[str, Path], cap: int = 40, caps: Mapping[str, int] = {}, shards: int = 2) -> Path:
    """Build every dataset of `raw` (name -> folder of official files) below `home`; return its results folder.

    `caps`: other caps than `cap`, by data set.
    """
    results = home / "results"
    for name, folder in raw.items():
        manifest = results / f"sources/{name}/manifest.json"
        script("fetch_source", dataset=name, source=json.dumps({"folder": str(folder)}), manifest=manifest)
        _build(results, name, caps.get(name, cap), shards)
    script(
        "find_near_duplicates",
        bases=[results / f"samples/{name}.bases.jsonl" for name in raw],
        samples=[results / f"excam40k/{name}/{split}.parquet" for name in raw for split in SPLITS],
        near_duplicates=results / "excam40k/near-duplicates.csv",
    )
    return results


def _build(results: Path, name: str, cap: int, shards: int) -> None:
    made = results / "samples" / name
    bases, right = made.with_suffix(".bases.jsonl"), made.with_suffix(".parquet")
    script(
        "build_samples",
        **{"dataset": name, "source": results / f"sources/{name}/manifest.json", "cap": cap, "cap_stage": "after"},
        **{"allocation": "equal", "shares": SHARES, "seed": SEED},
        **{"bases": bases, "samples": right, "counts": made.with_suffix(".counts.json")},
    )
    kind = datasets.load(name).ERRORS
    wrong = results / f"errors/{kind}/{name}.parquet"
    written = {"errors": wrong, "counts": wrong.with_suffix(".counts.json")}
    if kind == "hard":
        script("make_hard_errors", dataset=name, bases=bases, samples=right, seed=SEED, **written)
    else:
        answers = _generated(results, name, right, shards)
        script("collect_soft_errors", samples=right, answers=answers, spans="strict", severity="requested", **written)
    folder = results / f"excam40k/{name}"
    script("split_samples", right=right, wrong=wrong, cap=cap, seed=SEED, folder=folder)
    script("draw_subset", samples=folder / "test.parquet", rows=4, seed=SEED, subset=folder / "test-100.parquet")


def _generated(results: Path, name: str, right: Path, shards: int) -> list[Path]:
    answers = []
    for severity in ("minor", "major"):
        for shard in range(shards):
            path = results / f"errors/soft/{name}/{severity}/{shard:02d}.jsonl"
            script(
                "generate_soft_errors",
                **{"samples": right, "severity": severity, "shard": shard, "shards": shards, "generator": "lexicon"},
                **{
                    "model": "null",
                    "journal": results / "journal.jsonl",
                    "seed": SEED,
                    "answers": path,
                    "manifest": path.with_suffix(".manifest.json"),
                },
            )
            answers.append(path)
    return answers


def audit(results: Path, names: list[str]) -> dict[str, list[dict]]:
    """Run every audit on a build, as its rule does; the checks of each audit by its name."""
    samples = [results / f"excam40k/{name}/{split}.parquet" for name in names for split in (*SPLITS, "test-100")]
    near = results / "excam40k/near-duplicates.csv"
    mixtures = [results / f"mixtures/{trained_on}/train.jsonl" for trained_on in ("all", f"without-{names[0]}")]
    for path in mixtures:
        train = [results / f"excam40k/{name}/train.parquet" for name in names if path.parent.name != f"without-{name}"]
        script(
            "mix_samples",
            **{"samples": train, "trained_on": path.parent.name, "near_duplicates": near},
            **{"seed": SEED, "mixture": path, "counts": path.with_suffix(".counts.json")},
        )
    bases = [results / f"samples/{name}.bases.jsonl" for name in names]
    soft = [name for name in names if datasets.load(name).ERRORS == "soft"]
    counts = [results / f"excam40k/{name}/counts.json" for name in names]
    soft_counts = [results / f"errors/soft/{name}.counts.json" for name in soft]
    folder = results / "audits"
    listed = {kind: ROOT / f"paper/appendix-e-{kind}.csv" for kind in ("regions", "languages")}
    licences = json.dumps(
        {name: [(of := datasets.load(name).SOURCE.licence), sorted(terms(of) or []), f"{name}.py"] for name in names}
    )
    sources = [results / f"sources/{name}/manifest.json" for name in names]
    flags = {
        "leaks": {"near_duplicates": near, "mixtures": mixtures, "bases": bases},
        "shortcuts": {},
        "balance": {
            "bases": bases,
            "counts": counts,
            "soft": soft_counts,
            "uses": folder / "uses.csv",
            "shares": SHARES,
        },
        "inventory": {**listed, "cultures": folder / "cultures.csv"},
        "licences": {"sources": sources, "licences": licences, "ledger": folder / "licences.parquet"},
    }
    for name, own in flags.items():
        pages = {"numbers": folder / f"{name}.csv", "page": folder / f"{name}.md"}
        script(f"audit_{name}", samples=samples, **own, **pages)
    return {name: list(csv.DictReader((folder / f"{name}.csv").open(encoding="utf-8"))) for name in flags}


def samples_of(results: Path, name: str) -> list[Sample]:
    """All rows of one dataset, split after split."""
    return [row for split in SPLITS for row in record_files.read_samples(results / f"excam40k/{name}/{split}.parquet")]
