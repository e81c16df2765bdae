"""Raw files of the four benchmarks with soft errors: Mango, MultiNativQA, NormAd, CaLMQA."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bench.raw import places
from bench.raw.hard import write_csv, write_parquet
from bench.raw.text import Prose, chosen, lengths, spread, tokens

MANGO_ROWS = 167_396
MANGO_MEMBER = "mango_dataset_v1.jsonl"
MANGO_MERGED = 6  # raw assertions of one record, on average
NORMAD_ROWS = 2_633
CALMQA_ROWS, CALMQA_ANSWERS = 1_967, 767
CHUNK = 20_000  # records whose text is in memory at once
EPOCH = (1980, 1, 1, 0, 0, 0)  # a zip member's time is part of the bytes


def mango(folder: Path, scale: float, rng: np.random.Generator) -> int:
    """Assertions of thousands of cultures, each with the raw assertions it was merged from."""
    count, prose = max(1, round(MANGO_ROWS * scale)), Prose("English", rng)
    concepts = prose.phrases(lengths(rng, 4000, 2, most=4), sentences=False)
    popular = (1 / (np.arange(len(places.MANGO)) + 20) ** 0.9).tolist()
    folder.mkdir(parents=True, exist_ok=True)
    entry = zipfile.ZipInfo(MANGO_MEMBER, EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(folder / f"{MANGO_MEMBER}.zip", "w") as archive, archive.open(entry, "w") as stream:
        for start in range(0, count, CHUNK):
            size = min(CHUNK, count - start)
            cultures = chosen(rng, places.MANGO, size, popular)
            topics = chosen(rng, concepts, size)
            for line in _mango_lines(rng, prose, start, cultures, topics):
                stream.write(line)
    return count


def _mango_lines(
    rng: np.random.Generator, prose: Prose, start: int, cultures: list[str], topics: list[str]
) -> Iterable[bytes]:
    count = len(cultures)
    assertions = prose.phrases(lengths(rng, count, 16, least=9, most=40), known=True)
    merged = rng.geometric(1 / MANGO_MERGED, count).tolist()
    ids = iter(tokens(rng, sum(merged), 28))
    raws = iter(prose.phrases(lengths(rng, sum(merged), 14, least=5, most=35)))
    for place, (culture, concept, assertion) in enumerate(zip(cultures, topics, assertions, strict=True)):
        cluster = [
            {
                "id": f"chatcmpl-8{next(ids)}_{number}_0_0_dist",
                "concept": concept,
                "culture": culture,
                "assertion": next(raws),
                "freq": 1,
            }
            for number in range(merged[place])
        ]
        record = {
            "id": f"cluster_{(start + place) // 7}_{place}__{(start + place) % 7}",
            "concept": concept,
            "culture": culture,
            "assertion": f"In {culture} culture, {assertion[:1].lower()}{assertion[1:]}",
            "freq": len(cluster),
            "cluster": cluster,
        }
        yield (json.dumps(record) + "\n").encode()


def nativqa(folder: Path, scale: float, rng: np.random.Generator) -> int:
    """Nine configs of three files, each a JSON array."""
    written = 0
    for config, (language, middle, splits) in places.NATIVQA.items():
        prose = Prose(language, rng)
        for split, size in zip(("train", "dev", "test"), splits, strict=True):
            count = max(1, round(size * scale))
            path = folder / config / f"NativQA_{middle}_{split}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            rows = (json.dumps(row, ensure_ascii=False) for row in _nativqa_rows(rng, prose, count))
            path.write_text("[\n" + ",\n".join(rows) + "\n]\n", encoding="utf-8")
            written += count
    return written


def _nativqa_rows(rng: np.random.Generator, prose: Prose, count: int) -> Iterable[Mapping[str, Any]]:
    names = tokens(rng, count, 32)
    queries = prose.phrases(lengths(rng, count, 4, least=2), sentences=False)
    questions = prose.questions(lengths(rng, count, 9, least=6))
    answers = prose.phrases(lengths(rng, count, 35, least=6, most=250), known=True)
    topics = chosen(rng, ("animals", "business", "clothing", "events", "food & drinks", "travel"), count)
    for place, name in enumerate(names):
        yield {
            "data_id": name,
            "category": topics[place],
            "input_query": queries[place],
            "question": questions[place],
            "is_reliable": "very_reliable",
            "answer": answers[place],
            "source_answer_url": f"https://example.org/{name[:12]}",
        }


def normad(folder: Path, scale: float, rng: np.random.Generator) -> int:
    """Stories from 75 countries; a third is neutral."""
    count, prose = max(3, round(NORMAD_ROWS * scale)), Prose("English", rng)
    stories = prose.phrases(lengths(rng, count, 30, least=12))
    rules = prose.phrases(lengths(rng, count, 15, least=7))
    backgrounds = prose.phrases(lengths(rng, count, 170, least=40))
    reasons = prose.phrases(lengths(rng, count, 35, least=10), known=True)
    labels = ["yes", "no", "neutral", *chosen(rng, ("yes", "no", "neutral"), count - 3, (0.356, 0.327, 0.317))]
    rows = (
        {
            "ID": place + 1,
            "Country": places.NORMAD[place % len(places.NORMAD)],
            "Background": f"{'Visiting' if place % 2 else 'Basic Etiquette'}- {backgrounds[place]}",
            "Axis": "etiquette",
            "Subaxis": "visiting" if place % 2 else "basic_etiquette",
            "Value": " ".join(rules[place].split()[:3]),
            "Rule-of-Thumb": rules[place],
            "Story": f"{stories[place]} Is what Sam did socially acceptable?",
            "Explanation": reasons[place],
            "Gold Label": labels[place],
        }
        for place in range(count)
    )
    write_csv(folder / "normad_etiquette_final_data.csv", rows)
    return count


def calmqa(folder: Path, scale: float, rng: np.random.Generator) -> int:
    """Questions in 23 languages, human answers in twelve of them; labels as the hub's ClassLabels."""
    import datasets

    labels = datasets.ClassLabel(names=places.CALMQA)
    kinds = datasets.ClassLabel(names=["culturally agnostic", "culturally specific"])
    texts = dict.fromkeys(("question", "question_english", "answer"), datasets.Value("string"))
    columns: dict[str, list[Any]] = {name: [] for name in ("language", "question_type", *texts)}
    english = Prose("English", rng)
    unanswered = spread(round(CALMQA_ROWS * scale) - round(CALMQA_ANSWERS * scale), len(places.CALMQA))
    for language, open_ones in zip(places.CALMQA, unanswered, strict=True):
        prose, share = Prose(language, rng), places.CALMQA_ANSWERED.get(language, 0)
        answered = max(1, round(share * scale)) if share else 0
        count = answered + open_ones
        columns["language"] += [language] * count
        columns["question_type"] += chosen(rng, kinds.names, count, (0.45, 0.55))
        columns["question"] += prose.questions(lengths(rng, count, 18, least=7))
        columns["question_english"] += english.questions(lengths(rng, count, 20, least=8))
        columns["answer"] += [None] * open_ones
        columns["answer"] += prose.phrases(lengths(rng, answered, 140, least=10), known=True) if answered else []
    path = folder / "data" / "train-00000-of-00001.parquet"
    write_parquet(path, columns, datasets.Features({"language": labels, "question_type": kinds, **texts}))
    return len(columns["answer"])
