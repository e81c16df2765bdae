"""Rows of real benchmarks with passages, for measuring judges that read evidence.

    python -m bench.grounded_rows --data FOLDER --to FOLDER

Of each set `--cap` base samples are drawn; splits are by base sample, near-duplicates together. Written are
`train.jsonl`, `dev.jsonl` and `test.jsonl`: for each base sample a right and a wrong text with the same passages.
Passages are objects of title, text, sources, and `states`: "fact" if the passage states the right answer to the
question, "false" if it states the wrong one, else "". The lists of a row are

    qa             the fact among four near misses, "country: question answer"
    statement      the same, each passage one declarative sentence
    prose          the same, each passage a document of 60 to 200 words, the fact in the middle of one; ask `paraphrase`
    absent         five near misses in prose, the fact in none
    absent_qa      the same as question and answer
    false          one document in prose that states the wrong answer
    contradicting  two documents in prose, one right and one wrong
    unrelated      five documents in prose about other countries and topics

Passages of training rows are made of the facts of training rows and of rows that were not drawn; all are of the same
set as their row, so that a set can be left out.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from excam.core.provenance import write_text
from excam.core.splits import Split
from excam.error_reports.records import BaseSample, Sample
from excam.excam40k import datasets, evidence
from excam.excam40k.construction import duplicates, hard, splits, wrapping
from excam.excam40k.construction.drawing import draw_stratified
from excam.excam40k.evidence import EvidencePassage
from excam.excam40k.near_misses import NearMisses
from excam.excam40k.question_forms import clean
from excam.excam40k.statements import paraphrase
from scripts import run

SETS = ("blend", "culturalbench", "globalopinionqa")
SHARES: dict[Split, float] = {"train": 0.6, "dev": 0.1, "test": 0.3}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with a folder for each set")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--cap", type=int, default=480, help="base samples of each set")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--to", type=Path, required=True)
    args = parser.parse_args(argv)

    rows: list[tuple[Split, dict[str, Any]]] = []
    for name in args.sets:
        rows += rows_of_set(name, args.data / name, args.cap, args.seed)
    args.to.mkdir(parents=True, exist_ok=True)
    for split in SHARES:
        lines = [json.dumps(row, ensure_ascii=False) for part, row in rows if part == split]
        write_text(args.to / f"{split}.jsonl", "".join(f"{line}\n" for line in lines))
    counts = Counter((split, row["dataset"]) for split, row in rows)
    print(", ".join(f"{split} {name} {count // 2} bases" for (split, name), count in sorted(counts.items())))


def rows_of_set(name: str, folder: Path, cap: int, seed: int) -> list[tuple[Split, dict[str, Any]]]:
    """Return the rows of a benchmark with their splits, two for each base sample."""
    reading = datasets.read(name, folder, {})
    benchmark = datasets.load(name)
    everything = reading.samples()
    drawn = duplicates.in_one_group(draw_stratified(reading, cap, seed))
    where = splits.assign([(base.group, base.stratum) for base in drawn], SHARES, seed)
    groups = {base.id: base.group for base in drawn}
    held_out = {base.group for base in drawn if where[base.group] != "train"}
    by_id = {base.id: base for base in drawn}
    taught = [base for base in everything if not _is_held_out(base, groups, held_out)]
    near = {"train": NearMisses(taught), "other": NearMisses(everything)}
    rows = []
    for right, wrong in _pairs(drawn, benchmark, seed, where):
        base, split = by_id[right.base], where[groups[right.base]]
        lists = passages(base, right, wrong, near["train" if split == "train" else "other"], seed)
        for sample in (right, wrong):
            rows.append((split, row(base, sample, seed) | lists))
    return rows


def row(base: BaseSample, sample: Sample, seed: int) -> dict[str, Any]:
    """Return the fields of a row but for its passages."""
    errors = sample.report.errors
    asked = " ".join(part for part in (base.role, base.context, clean(base.question)) if part)
    return {
        "id": sample.id,
        "base": base.id,
        "dataset": base.dataset,
        "culture": base.culture,
        "language": base.language,
        "question": asked,
        "paraphrase": paraphrase(base, seed),
        "instruction": sample.instruction,
        "options": list(base.options),
        "answer": base.answer,
        "text": sample.output,
        "label": "wrong" if errors else "right",
        "gold_span": (errors[0].span or "") if errors else "",
    }


def passages(base: BaseSample, right: Sample, wrong: Sample, near: NearMisses, seed: int) -> dict[str, list[Any]]:
    """Return the lists of passages of a base sample."""
    false = wrong.report.errors[0].span or base.wrong[0]
    text = right.output if len(right.output) > len(base.answer) else ""
    made: dict[str, list[EvidencePassage]] = {
        "qa": evidence.with_fact(base, "qa", near, seed, text=text),
        "statement": evidence.with_fact(base, "statement", near, seed, text=text),
        "prose": evidence.with_fact(base, "prose", near, seed, text=text),
        "absent": evidence.without_fact(base, "prose", near, seed, text=text),
        "absent_qa": evidence.without_fact(base, "qa", near, seed, text=text),
        "false": [evidence.stating(base, false, "prose", near, seed)],
        "contradicting": evidence.contradicting(base, false, "prose", near, seed),
        "unrelated": evidence.unrelated(base, "prose", near, seed),
    }
    return {name: [asdict(passage) for passage in listed] for name, listed in made.items()}


def _is_held_out(base: BaseSample, groups: dict[str, str], held_out: set[str]) -> bool:
    return groups.get(base.id, base.group or base.id) in held_out or base.group in held_out


def _pairs(
    drawn: Sequence[BaseSample], benchmark: datasets.Benchmark, seed: int, where: dict[str, Split]
) -> list[tuple[Sample, Sample]]:
    """Return one pair of texts for each base sample, without options where there is one."""
    right = wrapping.right_samples(drawn, benchmark.ERRORS, benchmark.SOURCE.licence, seed, where)
    by_id = {base.id: base for base in drawn}
    wrong, _ = hard.hard_errors(right, by_id, seed, benchmark.MISTAKE)
    texts = {sample.pair: sample for sample in wrong}
    chosen: dict[str, Sample] = {}
    for sample in sorted(right, key=lambda sample: sample.pair.endswith("/options")):
        if sample.pair in texts:
            chosen.setdefault(sample.base, sample)
    return [(sample, texts[sample.pair]) for _, sample in sorted(chosen.items())]


if __name__ == "__main__":
    run(main)
