"""Near-duplicate questions: within a benchmark they go to one split; across benchmarks they are listed.

Two rows are near-duplicates if the sets of their 5-character shingles have a Jaccard similarity of at least .8. MinHash
(datasketch) proposes candidates, the sets decide. A shingle that more than a fifth of a benchmark's texts contain is
boilerplate ("Indicate whether this text is ironic ...") and does not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any
from zlib import crc32

import polars as pl

from excam.core.splits import SPLITS, Split
from excam.core.tables import read_csv
from excam.error_reports.records import BaseSample
from excam.excam40k.construction.groups import joined

ALIKE = 0.8  # Jaccard similarity from which two texts are near-duplicates
CANDIDATES = 0.6  # similarity aimed at when proposing: at .8, every sixth pair just above it would be missed
SHINGLE = 5  # characters
PERMUTATIONS = 128
BOILERPLATE = 0.2  # share of a benchmark's texts
FEWEST = 10  # texts that hold a shingle before it can be boilerplate


@dataclass(frozen=True, slots=True)
class Alike:
    """Two near-duplicate texts, by their places in the list that was searched."""

    first: int
    second: int
    similarity: float


def compared_text(base: BaseSample) -> str:
    """Return the text of a base sample to compare: the question, with the answer if the question is only a topic."""
    return f"{base.question} {base.answer}" if base.task == "generation" else base.question


def near_duplicates(texts: Mapping[str, Sequence[str]]) -> list[Alike]:
    """Return pairs among all texts of all benchmarks (name -> texts), each once; positions count through in order."""
    from datasketch import MinHash, MinHashLSH

    sets = [shingles for name in texts for shingles in _shingles(texts[name])]
    distinct = list(dict.fromkeys(sets))  # equal sets are compared once
    as_bytes = [[shingle.encode("utf-8", "surrogatepass") for shingle in shingles] for shingles in distinct]
    hashes = MinHash.bulk(as_bytes, num_perm=PERMUTATIONS, hashfunc=crc32)
    index = MinHashLSH(threshold=CANDIDATES, num_perm=PERMUTATIONS)
    pairs: list[tuple[frozenset[str], frozenset[str], float]] = []
    for number, (shingles, minhash) in enumerate(zip(distinct, hashes, strict=True)):
        for other in map(int, index.query(minhash)):  # pyright: ignore # any hashable may be a key
            if (similarity := _jaccard(shingles, distinct[other])) >= ALIKE:
                pairs.append((shingles, distinct[other], similarity))
        index.insert(number, minhash)
    return _spelled_out(sets, pairs)


def in_one_group(bases: Sequence[BaseSample]) -> list[BaseSample]:
    """Return the base samples of one benchmark with near-duplicates and declared groups joined: connected ones form a
    group.

    A joined group takes the first of its names in alphabetical order. The order of `bases` is kept.
    """
    groups = [base.group or base.id for base in bases]
    by_text: dict[tuple[str, str], int] = {}  # one text of a group is enough
    for place, base in enumerate(bases):
        by_text.setdefault((groups[place], compared_text(base)), place)
    places = list(by_text.values())
    alike = near_duplicates({"": [compared_text(bases[place]) for place in places]})
    first = joined((groups[places[pair.first]], groups[places[pair.second]]) for pair in alike)
    return [replace(base, group=first.get(group, group)) for base, group in zip(bases, groups, strict=True)]


COLUMNS: Mapping[str, Any] = {
    **dict.fromkeys(("dataset_a", "base_a", "split_a", "dataset_b", "base_b", "split_b"), pl.String),
    "similarity": pl.Float64,
    "leak": pl.Boolean,
    **dict.fromkeys(("text_a", "text_b"), pl.String),
}


def near_duplicate_rows(bases: Iterable[BaseSample], splits: Mapping[str, Split]) -> pl.DataFrame:
    """Return the near-duplicates among the base samples of all benchmarks, one row per pair, with the columns COLUMNS.

    `bases` are all that were drawn, so that boilerplate is the same as in `in_one_group`; `splits` names the split of
    those in the data set, and only they are listed. A pair is a `leak` if base_a may be trained on while base_b, of
    another benchmark, is judged: base_a is in an earlier split (train, dev, test). Within a benchmark such pairs share
    a group, hence a split; of equal texts one base sample represents all.
    """
    texts: dict[tuple[str, str], list[str]] = {}  # (dataset, text) -> ids
    for base in sorted(bases, key=lambda base: base.id):
        texts.setdefault((base.dataset, compared_text(base)), []).append(base.id)
    keys = sorted(texts)
    names = dict.fromkeys(dataset for dataset, _ in keys)
    pairs = near_duplicates({name: [text for dataset, text in keys if dataset == name] for name in names})
    rows = (
        row
        for pair in pairs
        for row in _table_rows(keys[pair.first], keys[pair.second], round(pair.similarity, 3), texts, splits)
    )
    return pl.DataFrame(list(rows), schema=COLUMNS, orient="row")


def _table_rows(
    key: tuple[str, str],
    other: tuple[str, str],
    similarity: float,
    texts: Mapping[tuple[str, str], Sequence[str]],
    splits: Mapping[str, Split],
) -> Iterator[tuple[object, ...]]:
    within = key[0] == other[0]
    here, there = ([base for base in texts[side] if base in splits] for side in (key, other))
    pairs = product(here[:1], there[:1]) if within else product(here, there)
    for a, b in pairs:
        sides = [(key[0], a, splits[a], key[1]), (other[0], b, splits[b], other[1])]
        sides.sort(key=lambda side: (SPLITS.index(side[2]), side[0]))
        leak = not within and sides[0][2] != sides[1][2]
        yield (*sides[0][:3], *sides[1][:3], similarity, leak, sides[0][3][:300], sides[1][3][:300])


def read(path: Path) -> pl.DataFrame:
    """Return the list that `near_duplicate_rows` made, from its CSV file. Raises ArtifactBroken for any other file."""
    return read_csv(path, COLUMNS)


def _shingles(texts: Sequence[str]) -> list[frozenset[str]]:
    flat = [" ".join(text.casefold().split()) for text in texts]
    shingle_sets = [{text[at : at + SHINGLE] for at in range(max(1, len(text) - SHINGLE + 1))} for text in flat]
    common = Counter(
        shingle for flat_text in dict(zip(flat, shingle_sets, strict=True)).values() for shingle in flat_text
    )
    limit = max(FEWEST, BOILERPLATE * len(set(flat)))
    boilerplate = {shingle for shingle, count in common.items() if count > limit}
    return [frozenset(shingles - boilerplate or shingles) for shingles in shingle_sets]


def _jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    return len(first & second) / len(first | second)


def _spelled_out(
    sets: Sequence[frozenset[str]], pairs: Iterable[tuple[frozenset[str], frozenset[str], float]]
) -> list[Alike]:
    """Return pairs of positions from pairs of distinct sets; positions that share a set have similarity 1."""
    where: dict[frozenset[str], list[int]] = {}
    for place, shingles in enumerate(sets):
        where.setdefault(shingles, []).append(place)
    alike = [Alike(a, b, 1.0) for places in where.values() for i, b in enumerate(places) for a in places[:i]]
    for shingles, other, similarity in pairs:
        alike += [Alike(min(a, b), max(a, b), similarity) for a in where[shingles] for b in where[other]]
    return sorted(alike, key=lambda pair: (pair.first, pair.second))
