"""Near-duplicate questions: within a benchmark they go to one split; across benchmarks they are listed.

Two rows are near-duplicates if the sets of their 5-character shingles have a Jaccard similarity of at least .8. MinHash
(datasketch) proposes candidates, the sets decide. A shingle that more than a fifth of a benchmark's texts contain is
boilerplate ("Indicate whether this text is ironic ...") and does not count.

The same fact in other words counts too: equal culture, equal answers or one within the other, and questions alike in
their characters. `docs/reading/facts.csv` has the 200 pairs that were read for the threshold: 14 of 17 of one fact
reach it, as do 46 of 183 of two (by MiniLM, from a cosine of .75 on, 14 and 33).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product
from pathlib import Path
from typing import Any
from zlib import crc32

import polars as pl
import regex

from excam.core.splits import SPLITS, Split
from excam.core.tables import read_csv
from excam.error_reports.records import BaseSample
from excam.excam40k.construction.groups import joined

WORD = regex.compile(r"\w+")
ALIKE = 0.8  # Jaccard similarity from which two texts are near-duplicates
CANDIDATES = 0.6  # similarity aimed at when proposing: at .8, every sixth pair just above it would be missed
SHINGLE = 5  # characters
PERMUTATIONS = 128
BOILERPLATE = 0.2  # share of a benchmark's texts
SAME_FACT = 0.4  # cosine of two questions from which equal answers about a culture are one fact
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


def same_facts(bases: Sequence[BaseSample]) -> list[Alike]:
    """Return pairs of base samples, of one or two benchmarks, that state the same fact of a culture in other words."""
    of_culture: defaultdict[str, list[int]] = defaultdict(list)
    for place, base in enumerate(bases):
        if base.culture and base.task != "generation" and not base.label:
            of_culture[base.culture].append(place)
    answers = [f" {' '.join(WORD.findall(base.answer.casefold()))} " for base in bases]
    alike: list[Alike] = []
    for places in of_culture.values():
        if not any(answers[a] in answers[b] for a, b in permutations(places, 2)):
            continue  # before a library is loaded
        from sklearn.feature_extraction.text import HashingVectorizer

        vectorizer = HashingVectorizer(analyzer="char_wb", ngram_range=(4, 5), binary=True)
        vectors: Any = vectorizer.transform([bases[place].question.encode("utf-8", "replace") for place in places])
        cosines = vectors @ vectors.T
        for row, column in zip(*(cosines >= SAME_FACT).nonzero(), strict=True):
            first, second = places[row], places[column]
            if first < second and (answers[first] in answers[second] or answers[second] in answers[first]):
                alike.append(Alike(first, second, float(cosines[row, column])))
    return sorted(alike, key=lambda pair: (pair.first, pair.second))


def in_one_group(bases: Sequence[BaseSample]) -> list[BaseSample]:
    """Return the base samples of one benchmark with near-duplicates, same facts and declared groups joined: connected
    ones form a group.

    A joined group takes the first of its names in alphabetical order. The order of `bases` is kept.
    """
    groups = [base.group or base.id for base in bases]
    by_text: dict[tuple[str, str], int] = {}  # one text of a group is enough
    for place, base in enumerate(bases):
        by_text.setdefault((groups[place], compared_text(base)), place)
    places = list(by_text.values())
    alike = near_duplicates({"": [compared_text(bases[place]) for place in places]})
    links = [(places[pair.first], places[pair.second]) for pair in alike]
    links += [(pair.first, pair.second) for pair in same_facts(bases)]
    first = joined((groups[first], groups[second]) for first, second in links)
    return [replace(base, group=first.get(group, group)) for base, group in zip(bases, groups, strict=True)]


COLUMNS: Mapping[str, Any] = {
    **dict.fromkeys(("dataset_a", "base_a", "split_a", "dataset_b", "base_b", "split_b"), pl.String),
    "similarity": pl.Float64,
    "leak": pl.Boolean,
    **dict.fromkeys(("text_a", "text_b"), pl.String),
}


def near_duplicate_rows(bases: Iterable[BaseSample], splits: Mapping[str, Split]) -> pl.DataFrame:
    """Return near-duplicates and same facts among base samples of all benchmarks, a row per pair, with columns COLUMNS.

    `bases` are all that were drawn, so that boilerplate is the same as in `in_one_group`; `splits` names the split of
    those in the data set, and only they are listed. A pair is a `leak` if base_a may be trained on while base_b, of
    another benchmark, is judged: base_a is in an earlier split (train, dev, test). Within a benchmark such pairs share
    a group, hence a split; of equal texts one base sample represents all.
    """
    bases = sorted(bases, key=lambda base: base.id)
    texts: dict[tuple[str, str], list[str]] = {}  # (dataset, text) -> ids
    for base in bases:
        texts.setdefault((base.dataset, compared_text(base)), []).append(base.id)
    keys = sorted(texts)
    names = dict.fromkeys(dataset for dataset, _ in keys)
    pairs = near_duplicates({name: [text for dataset, text in keys if dataset == name] for name in names})
    rows = [
        row
        for pair in pairs
        for row in _table_rows(keys[pair.first], keys[pair.second], round(pair.similarity, 3), texts, splits)
    ]
    for pair in same_facts(bases):
        a, b = ((base.dataset, compared_text(base)) for base in (bases[pair.first], bases[pair.second]))
        if a != b:
            ids = {a: [bases[pair.first].id], b: [bases[pair.second].id]}
            rows += _table_rows(a, b, round(pair.similarity, 3), ids, splits)
    frame = pl.DataFrame(rows, schema=COLUMNS, orient="row")
    return frame.unique(["base_a", "base_b"], keep="first", maintain_order=True)


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
