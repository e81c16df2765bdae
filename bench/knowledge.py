"""How often is the passage with a fact found by its question in other words? Is a source that is left out never found?

    python -m bench.knowledge --data FOLDER [--questions 600] [--encoder FOLDER]

The pack holds every English base sample of three benchmarks, once as one statement each and once inside prose documents
of several facts; both are written in other words than the questions (`excam/excam40k/statements.py`). Printed are the
shares of questions whose fact is in the first passage, the first three and the first twenty, with 95 % intervals over
questions, with and without the culture of the question; and how many questions find a passage of their own base sample
although it was left out, which must be 0. With `--encoder`, the first twenty are ordered again by the sum of
standardised BM25 scores and cosines.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from excam.error_reports.records import BaseSample
from excam.excam40k import datasets
from excam.excam40k.culture_documents import knowledge_documents, prose_documents, to_row
from excam.excam40k.statements import paraphrase
from excam.inference.encoder import Encoder, open_encoder
from excam.knowledge.index import Index, build
from excam.knowledge.passages import Found
from excam.stats.bootstrap import ratio_interval
from scripts import run

SETS = ("blend", "culturalbench", "globalopinionqa")
LICENCE = "of the benchmarks"  # nothing of the pack is kept
CANDIDATES = 20  # passages that are searched for


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with a folder for each set")
    parser.add_argument("--questions", type=int, default=600)
    parser.add_argument("--encoder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(argv)

    bases = [base for name in SETS for base in datasets.read(name, args.data / name, {}).samples()]
    bases = [base for base in bases if base.language == "English"]
    asked = random.Random(args.seed).sample(bases, args.questions)
    encoder = open_encoder(args.encoder) if args.encoder else None
    documents = {
        "statements": list(knowledge_documents(bases, LICENCE, args.seed)),
        "prose": [to_row(document) for document in prose_documents(bases, LICENCE, args.seed)],
    }
    for name, rows in documents.items():
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "documents.jsonl")
            source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
            index = build([source], Path(folder, "pack"))
        for filtered in (False, True):
            print(f"{name}, {len(index.passages)} passages, culture {'given' if filtered else 'not given'}")
            _report(index, asked, args.seed, filtered, encoder)


def _report(index: Index, asked: Sequence[BaseSample], seed: int, filtered: bool, encoder: Encoder | None) -> None:
    ranks: dict[str, list[int]] = {"BM25": [], "BM25 and encoder": []}
    leaks, spent = 0, 0.0
    for base in asked:
        query, culture = paraphrase(base, seed), base.culture if filtered else ""
        started = time.perf_counter()
        hits = index.search(query, CANDIDATES, culture=culture)
        spent += time.perf_counter() - started
        ranks["BM25"].append(_rank(hits, base))
        if encoder:
            ranks["BM25 and encoder"].append(_rank(_reordered(hits, query, encoder), base))
        left = index.search(query, CANDIDATES, culture=culture, without={base.id})
        leaks += _rank(left, base) < CANDIDATES
    for name, found in ranks.items():
        if found:
            shares = ", ".join(f"first {count} {_share(found, count)}" for count in (1, 3, CANDIDATES))
            print(f"  {name}: {shares}; n = {len(found)}")
    print(f"  found although left out: {leaks}; {1000 * spent / len(asked):.1f} ms a search")


def _rank(hits: Sequence[Found], base: BaseSample) -> int:
    """Return the place of the first passage with the fact, counted from 0; CANDIDATES if there is none."""
    places = (place for place, hit in enumerate(hits) if base.id in hit.passage.sources)
    return next(places, CANDIDATES)


def _reordered(hits: Sequence[Found], query: str, encoder: Encoder) -> list[Found]:
    if not hits:
        return []
    vectors = encoder.vectors([query, *(f"{hit.passage.title}: {hit.passage.text}" for hit in hits)]).numpy()
    scores = _standardised([hit.score for hit in hits]) + _standardised(vectors[1:] @ vectors[0])
    return [hits[at] for at in np.argsort(-scores, kind="stable")]


def _standardised(values: Sequence[float] | np.ndarray) -> np.ndarray:
    array = np.asarray(values, float)
    return (array - array.mean()) / (array.std() + 1e-9)


def _share(ranks: Sequence[int], count: int) -> str:
    found = np.asarray(ranks) < count
    bounds = ratio_interval(found, np.ones(len(found)))
    return f"{found.mean():.3f}" + (f" [{bounds[0]:.3f}, {bounds[1]:.3f}]" if bounds else "")


if __name__ == "__main__":
    run(main)
