"""Metrics of whole sentences beside ACRE: BLEU, chrF++, BERTScore. Each states its signature; more is better.

Scores of others, such as COMET, come from files (`read_scored`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from excam.acre import translations
from excam.acre.translations import Translated
from excam.core.extras import require_extra
from excam.core.language_identity import language_code
from excam.core.typed_tables import read_typed

TITLES = {"bleu": "BLEU", "chrf": "chrF++", "bertscore": "BERTScore"}
SCHEMA: dict[str, Any] = {**dict.fromkeys(("id", "asked"), pl.String()), **dict.fromkeys(TITLES, pl.Float64())}


@dataclass(frozen=True, slots=True)
class Series:
    """The scores of one metric, one per translation, and its signature."""

    scores: tuple[float, ...]
    signature: str


Texts = Sequence[tuple[str, str]]  # translations with their references
# sacrebleu's tokenizers for languages that are written without spaces; its own for Japanese and Korean need packages
# more, and Korean has spaces
TOKENIZERS = {"zh": "zh", "yue": "zh", "ja": "char", "th": "char", "lo": "char", "km": "char", "my": "char"}
TOKENIZER = "13a"  # for all others


def texts(rows: Sequence[Translated]) -> Texts:
    """Return what metrics with a reference compare."""
    return [(row.translation, row.item.reference) for row in rows]


def tokenizer(language: str) -> str:
    """Return the name of sacrebleu's tokenizer for a target language. Raise InputInvalid for an unknown language."""
    return TOKENIZERS.get(language_code(language), TOKENIZER)


def bleu(rows: Texts, tokenizers: Sequence[str] = ()) -> Series:
    """Return sentence BLEU by sacrebleu, 0 to 100, with `effective_order`; an empty translation has 0.

    Each row has its tokenizer, without any the usual one; the signature is sacrebleu's, for each that was used.
    """
    require_extra("translation", "sacrebleu")
    from sacrebleu.metrics.bleu import BLEU

    tokenizers = tokenizers or [TOKENIZER] * len(rows)
    columns: dict[str, Iterator[float]] = {}
    signatures: list[str] = []
    for name in sorted(set(tokenizers)):
        of_tokenizer = [row for row, used in zip(rows, tokenizers, strict=True) if used == name]
        column = _sacrebleu(BLEU(effective_order=True, tokenize=name), of_tokenizer)
        columns[name] = iter(column.scores)
        signatures.append(column.signature)
    return Series(tuple(next(columns[name]) for name in tokenizers), " and ".join(signatures))


def corpus_bleu(rows: Sequence[Translated]) -> float | None:
    """Return BLEU of all translations together, as usually reported; None if their languages divide words otherwise."""
    require_extra("translation", "sacrebleu")
    from sacrebleu.metrics.bleu import BLEU

    names = {tokenizer(row.item.target_language) for row in rows}
    outputs, references = zip(*texts(rows), strict=True)
    return BLEU(tokenize=names.pop()).corpus_score(outputs, [references]).score if len(names) == 1 else None


def chrf(rows: Texts) -> Series:
    """Return sentence chrF++ (`word_order` 2) by sacrebleu, 0 to 100."""
    require_extra("translation", "sacrebleu")
    from sacrebleu.metrics.chrf import CHRF

    return _sacrebleu(CHRF(word_order=2), rows)


def _sacrebleu(metric: Any, rows: Texts) -> Series:
    score_of: dict[tuple[str, str], float] = {}  # systems often give the same translation
    for both in rows:
        if both not in score_of:
            score_of[both] = float(metric.sentence_score(both[0], [both[1]]).score)
    return Series(tuple(score_of[both] for both in rows), str(metric.get_signature()))


def bertscore(rows: Texts, encoder: Path, name: str, layer: int, batch: int = 32) -> Series:
    """Return BERTScore's F1 by an encoder in a local folder, from the hidden states of layer `layer`, not rescaled.

    An empty translation has 0, as in bert-score, which no longer tokenizes one.
    Raise ModelInvalid if the folder has no such encoder.
    """
    from importlib.metadata import version

    require_extra("translation", "bert_score")
    from bert_score import BERTScorer

    from excam.inference.loading import loading

    with loading(encoder):
        scorer = BERTScorer(model_type=str(encoder), num_layers=layer, batch_size=batch, device="cpu", idf=False)
    f1: Any = []
    if written := [(translation, reference) for translation, reference in rows if translation.strip()]:
        _, _, f1 = scorer.score([translation for translation, _ in written], [reference for _, reference in written])
        f1 = f1.double().tolist()
    f1_values = iter(f1)
    scores = tuple(next(f1_values) if translation.strip() else 0.0 for translation, _ in rows)
    signature = f"bert-score:{version('bert-score')}|encoder:{name}|layer:{layer}|idf:no|rescaled:no"
    return Series(scores, signature)


def measure(rows: Sequence[Translated], encoder: tuple[Path, str] | None = None, layer: int = 6) -> dict[str, Series]:
    """Return BLEU and chrF++, and BERTScore where a folder with an encoder and its name is given."""
    compared = texts(rows)
    columns = {"bleu": bleu(compared, [tokenizer(row.item.target_language) for row in rows]), "chrf": chrf(compared)}
    return columns | ({"bertscore": bertscore(compared, *encoder, layer)} if encoder else {})


def named(folder: Path) -> str:
    """Return what signatures call the weights of a folder; those of a fetched model lie in `files` below its name."""
    path = folder.resolve()
    return path.parent.name if path.name == "files" else path.name


def to_frame(rows: Sequence[Translated], columns: Mapping[str, Series]) -> pl.DataFrame:
    """Return a table with one column for each of `TITLES`, null where it was not measured."""
    data: dict[str, Any] = {"id": [row.id for row in rows], "asked": [row.digest for row in rows]}
    for name in TITLES:
        data[name] = list(columns[name].scores) if name in columns else [None] * len(rows)
    return pl.DataFrame(data, schema=SCHEMA)


WHAT = "scores, made by `excam acre metrics`"


def read(path: Path, rows: Mapping[str, Translated]) -> dict[str, dict[str, float | None]]:
    """Return the scores of a table of `to_frame` by metric and row; metrics that were not measured are left out.

    Raise InputInvalid for other columns or types, no rows, a row that occurs twice, and other translations than `rows`.
    """
    frame = read_typed(path, SCHEMA, WHAT, ("id", "asked"), ("id",), may_be_empty=False)
    translations.expect_same(path, frame.select("id", "asked").iter_rows(), rows)
    measured = [name for name in TITLES if frame[name].null_count() < len(frame)]
    return {name: dict(zip(frame["id"], frame[name], strict=True)) for name in measured}


def read_scored(path: Path, rows: Mapping[str, Translated]) -> dict[str, float | None]:
    """Return the score of each row of a file of `excam score`, more is better, None for a failure.

    Raise InputInvalid for an invalid line, a row that occurs twice, rows of several metrics or judges, and a row of
    another text than in `rows`.
    """
    from excam.scoring import compare, result_files

    results = compare.results_by_id(result_files.read(path), str(path))
    compare.shared_signature({str(path): results.values()})
    for name, result in results.items():
        row = rows.get(name)
        texts = row and {result.texts.get(column, row.translation) for column in ("translation", "output")}
        translations.expect_same(path, [(name, row.digest if row and texts == {row.translation} else "")], rows)
    return {name: result.rising_score for name, result in results.items()}
