"""How often does a pack find the passage with a fact by a question in other words: BM25, an encoder, and both?

    python -m bench.knowledge --encoder FOLDER [--data FOLDER [--questions 600]] [--to TABLE.csv]

Packs, each with its questions:

- the documents of the qualification set, in nine languages, with the questions that they decide;
- `--data`, folders of three benchmarks: every English base sample, once as one statement each and once inside prose
  documents of several facts, in other words than the questions (`excam/excam40k/statements.py`). Here, the questions
  that find a passage of their own base sample although it was left out are counted, which must be 0.

The first is also searched with the question and the answer to judge together, as `excam score` searches. Printed
are the shares of questions whose passage is the first, among the first three and the first five, with 95 % intervals
over documents or base samples, and the differences to BM25; of each language or benchmark, the share of the first.
`both` is what a pack with embeddings does, `ranks` joins the same two by reciprocal ranks. `--to` keeps the table.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from excam.core.provenance import write_text
from excam.error_reports.qualification.question_set import pack, questions
from excam.excam40k import datasets
from excam.excam40k.culture_documents import knowledge_documents, prose_documents
from excam.excam40k.statements import paraphrase
from excam.knowledge import documents
from excam.knowledge.embeddings import LEAST_COSINE, EncoderFolder, encoder_folder
from excam.knowledge.index import Index, in_memory
from excam.knowledge.passages import Passage
from excam.stats.bootstrap import ratio_interval
from scripts import run

SETS = ("blend", "culturalbench", "globalopinionqa")
LICENCE = "of the benchmarks"  # nothing of the pack is kept
COUNTS = (1, 3, 5)
RANK = 60  # of reciprocal rank fusion: Cormack, Clarke and Büttcher, SIGIR 2009


@dataclass(frozen=True, slots=True)
class Case:
    """A query, the source of the passages that answer it, and what it belongs to."""

    query: str
    source: str
    group: str
    cluster: str


Rank = Callable[[Case], int]  # the place of the first right passage, counted from 0


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", type=Path, help="folder of a sentence encoder; without it, BM25 alone")
    parser.add_argument("--data", type=Path, help="folder with a folder for each set")
    parser.add_argument("--questions", type=int, default=600, help="of --data")
    parser.add_argument("--seed", type=int, default=1, help="of --data")
    parser.add_argument("--to", type=Path, help="table to write")
    args = parser.parse_args(argv)

    chosen = encoder_folder(args.encoder) if args.encoder else None
    rows = _qualification(chosen)
    if args.data:
        rows += _benchmarks(args.data, args.questions, args.seed, chosen)
    if args.to:
        write_text(args.to, pl.DataFrame(rows).with_columns(pl.col("share", "low", "high").round(4)).write_csv())


def _qualification(chosen: EncoderFolder | None) -> list[dict[str, Any]]:
    decided = [question for question in questions() if question.label != "undecidable"]
    asked = {
        question.question: Case(question.question, question.document, question.language, question.document)
        for question in decided
    }
    judged = [
        Case(f"{question.question}\n{question.text}", question.document, question.language, question.document)
        for question in decided
    ]
    passages = pack().passages
    return _report("qualification", passages, {"question": list(asked.values()), "with answer": judged}, chosen)


def _benchmarks(folder: Path, count: int, seed: int, chosen: EncoderFolder | None) -> list[dict[str, Any]]:
    bases = [base for name in SETS for base in datasets.read(name, folder / name, {}).samples()]
    bases = [base for base in bases if base.language == "English"]
    asked = random.Random(seed).sample(bases, count)
    packs = {
        "statements": list(knowledge_documents(bases, LICENCE, seed)),
        "prose": [asdict(document) for document in prose_documents(bases, LICENCE, seed)],
    }
    cases = [Case(paraphrase(base, seed), base.id, base.dataset, base.id) for base in asked]
    cultures = {case.query: base.culture for case, base in zip(cases, asked, strict=True)}
    result = []
    for name, rows in packs.items():
        with tempfile.TemporaryDirectory() as scratch:
            source = Path(scratch, "documents.jsonl")
            source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
            passages = documents.read([source]).passages
        for stated_cultures in ({}, cultures):
            label = f"{name} of benchmarks, culture {'given' if stated_cultures else 'not given'}"
            result += _report(label, passages, {"question": cases}, chosen, stated_cultures)
    return result


def _report(
    name: str,
    passages: Sequence[Passage],
    queries: dict[str, list[Case]],
    chosen: EncoderFolder | None,
    cultures: dict[str, str] | None = None,
) -> list[dict[str, Any]]:
    """Print and return the shares of cases whose passage is found, for each way of searching.

    `cultures` holds the culture that a query is limited to.
    """
    known = cultures or {}
    plain, both = in_memory(passages), in_memory(passages, chosen) if chosen else None
    ways: dict[str, Rank] = {"BM25": lambda case: _searched(plain, case, known)}
    if both:
        ways |= {
            "encoder": lambda case: _best(case, both, _cosines(both, case, known)),
            "ranks": lambda case: _best(case, both, _ranks_joined(both, case, known)),
            "both": lambda case: _searched(both, case, known),
        }
    result = []
    for query, cases in queries.items():
        print(f"{name}, {len(passages)} passages, searched by {query}: n = {len(cases)}")
        ranks = {way: np.array([rank(case) for case in cases]) for way, rank in ways.items()}
        about = {"pack": name, "passages": len(passages), "query": query}
        for group in ("all", *sorted({case.group for case in cases})):
            shares = _shares(cases, ranks, group)
            result += [about | share for share in shares]
            _print([share for share in shares if group == "all" or share["count"] == 1], group)
        if cultures is not None:
            leaks = sum(_searched(plain, case, known, {case.source}) < max(COUNTS) for case in cases)
            print(f"  found although left out: {leaks}")
    if both:
        _print_cosines(both, next(iter(queries.values())))
    return result


def _shares(cases: Sequence[Case], ranks: dict[str, np.ndarray], group: str) -> list[dict[str, Any]]:
    """Return a row for each way and count: the share of a group's cases that are found, and the difference to BM25."""
    kept = np.array([group in ("all", case.group) for case in cases])
    clusters = [case.cluster for case, is_kept in zip(cases, kept, strict=True) if is_kept]
    rows = []
    for count in COUNTS:
        hits = {way: (places[kept] < count).astype(float) for way, places in ranks.items()}
        if "both" in hits:
            hits |= {f"{way} minus BM25": hits[way] - hits["BM25"] for way in ("ranks", "both")}
        for way, values in hits.items():
            bounds = ratio_interval(values, np.ones(len(values)), clusters) or (None, None)
            row = {"group": group, "way": way, "count": count, "n": len(values), "share": float(values.mean())}
            rows.append(row | {"low": bounds[0], "high": bounds[1]})
    return rows


def _print(shares: Sequence[dict[str, Any]], group: str) -> None:
    for way in dict.fromkeys(share["way"] for share in shares):
        numbers = ", ".join(
            f"first {share['count']} {share['share']:.3f}"
            + (f" [{share['low']:.3f}, {share['high']:.3f}]" if share["low"] is not None else "")
            for share in shares
            if share["way"] == way
        )
        print(f"  {group}, {way}: {numbers}; n = {shares[0]['n']}")


def _searched(index: Index, case: Case, cultures: dict[str, str], without: Collection[str] = frozenset()) -> int:
    hits = index.search(case.query, max(COUNTS), culture=cultures.get(case.query, ""), without=without)
    places = (place for place, hit in enumerate(hits) if case.source in hit.passage.sources)
    return next(places, max(COUNTS))


def _best(case: Case, index: Index, scores: np.ndarray) -> int:
    order = np.argsort(-scores, kind="stable")[: max(COUNTS)]
    places = (place for place, at in enumerate(order) if case.source in index.passages[at].sources)
    return next(places, max(COUNTS))


def _cosines(index: Index, case: Case, cultures: dict[str, str]) -> np.ndarray:
    assert index.embeddings
    return np.where(index._allowed("", cultures.get(case.query, "")), index.embeddings.cosines(case.query), -1)


def _ranks_joined(index: Index, case: Case, cultures: dict[str, str]) -> np.ndarray:
    bm25 = np.where(index._allowed("", cultures.get(case.query, "")), index._scores(case.query), 0)
    total = np.zeros(len(bm25))
    for scores in (bm25, _cosines(index, case, cultures)):
        ranks = np.empty(len(scores))
        ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
        total += np.where(scores > 0, 1 / (RANK + ranks), 0)
    return total


def _print_cosines(index: Index, cases: Sequence[Case]) -> None:
    """Print how many right passages, and other ones, have a cosine of at least `LEAST_COSINE`."""
    right, other = [], []
    for case in cases:
        cosines = _cosines(index, case, {})
        is_right = np.array([case.source in passage.sources for passage in index.passages])
        right.append(cosines[is_right].max() >= LEAST_COSINE)
        other.append((cosines[~is_right] >= LEAST_COSINE).mean())
    print(
        f"  cosine of at least {LEAST_COSINE}: right {sum(right)} of {len(right)}, other passages {np.mean(other):.3f}"
    )


if __name__ == "__main__":
    run(main)
