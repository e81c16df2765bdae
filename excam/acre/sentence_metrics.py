"""Metrics of whole sentences beside ACRE: BLEU, chrF++, BERTScore, COMET, MetricX-QE. Each states its signature.

Higher is better in every column: MetricX-QE predicts an error from 0 to 25, so its negative is kept. COMET runs in an
environment of its own (`scripts/comet.py`), because it needs other releases than we do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from excam.acre import translations
from excam.acre.translations import Translated
from excam.core.exceptions import ModelInvalid
from excam.core.extras import require_extra
from excam.core.language_identity import language_code
from excam.core.typed_tables import read_typed

METRICS = ("bleu", "chrf", "bertscore", "comet", "metricx_qe")
TITLES = {"bleu": "BLEU", "chrf": "chrF++", "bertscore": "BERTScore", "comet": "COMET", "metricx_qe": "MetricX-QE"}
SCHEMA: dict[str, Any] = {**dict.fromkeys(("id", "asked"), pl.String()), **dict.fromkeys(METRICS, pl.Float64())}
METRICX_TOKEN = 250_089  # <extra_id_10> of mT5's vocabulary, whose first logit is the score
METRICX_RANGE = (0.0, 25.0)
MAX_SUBWORDS = 1024


@dataclass(frozen=True, slots=True)
class Column:
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


def bleu(rows: Texts, tokenizers: Sequence[str] = ()) -> Column:
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
    return Column(tuple(next(columns[name]) for name in tokenizers), " and ".join(signatures))


def corpus_bleu(rows: Sequence[Translated]) -> float | None:
    """Return BLEU of all translations together, as usually reported; None if their languages divide words otherwise."""
    require_extra("translation", "sacrebleu")
    from sacrebleu.metrics.bleu import BLEU

    names = {tokenizer(row.item.target_language) for row in rows}
    outputs, references = zip(*texts(rows), strict=True)
    return BLEU(tokenize=names.pop()).corpus_score(outputs, [references]).score if len(names) == 1 else None


def chrf(rows: Texts) -> Column:
    """Return sentence chrF++ (`word_order` 2) by sacrebleu, 0 to 100."""
    require_extra("translation", "sacrebleu")
    from sacrebleu.metrics.chrf import CHRF

    return _sacrebleu(CHRF(word_order=2), rows)


def _sacrebleu(metric: Any, rows: Texts) -> Column:
    score_of: dict[tuple[str, str], float] = {}  # systems often give the same translation
    for both in rows:
        if both not in score_of:
            score_of[both] = float(metric.sentence_score(both[0], [both[1]]).score)
    return Column(tuple(score_of[both] for both in rows), str(metric.get_signature()))


def bertscore(rows: Texts, encoder: Path, name: str, layer: int, batch: int = 32) -> Column:
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
    return Column(scores, signature)


def metricx_qe(rows: Sequence[Translated], folder: Path, name: str, device: str = "cpu") -> Column:
    """Return the negative of MetricX-24's error, -25 to 0, without a reference, by an mT5 regression in a local folder.

    The score is the first decoder step's logit of one vocabulary entry, clamped, as the authors' class computes it. It
    was written from the description of that class; without weights at hand it is tested on a random model only. Raise
    ModelInvalid for a folder that cannot be loaded or has a smaller vocabulary.
    """
    import torch
    from transformers import AutoTokenizer, MT5ForConditionalGeneration

    from excam.inference.loading import loading

    with loading(folder):
        tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        model: Any = MT5ForConditionalGeneration.from_pretrained(folder, local_files_only=True, use_safetensors=True)
    if model.config.vocab_size <= METRICX_TOKEN:
        raise ModelInvalid(
            f"{folder}: a vocabulary of {model.config.vocab_size}; expected mT5's, above {METRICX_TOKEN}"
        )
    model = model.to(device).eval()
    start, scores = torch.tensor([[model.config.decoder_start_token_id or 0]], device=device), []
    for row in rows:
        text = f"source: {row.item.source} candidate: {row.translation}"
        ids = tokenizer(text, truncation=True, max_length=MAX_SUBWORDS + 1).input_ids
        ids = ids[:-1] if ids and ids[-1] == tokenizer.eos_token_id else ids  # it was trained without the end
        with torch.inference_mode():
            input_ids = torch.tensor([ids or [0]], device=device)
            logit = float(model(input_ids=input_ids, decoder_input_ids=start).logits[0, 0, METRICX_TOKEN])
        scores.append(-min(max(logit, METRICX_RANGE[0]), METRICX_RANGE[1]))
    return Column(tuple(scores), f"metricx-24-qe|weights:{name}|negative")


def measure(
    rows: Sequence[Translated],
    encoder: tuple[Path, str] | None = None,
    layer: int = 6,
    metricx: tuple[Path, str] | None = None,
) -> dict[str, Column]:
    """Return BLEU and chrF++, and BERTScore and MetricX-QE where a folder with weights and its name is given."""
    compared = texts(rows)
    columns = {"bleu": bleu(compared, [tokenizer(row.item.target_language) for row in rows]), "chrf": chrf(compared)}
    if encoder:
        columns["bertscore"] = bertscore(compared, *encoder, layer)
    if metricx:
        columns["metricx_qe"] = metricx_qe(rows, *metricx)
    return columns


def named(folder: Path) -> str:
    """Return what signatures call the weights of a folder; those of a fetched model lie in `files` below its name."""
    path = folder.resolve()
    return path.parent.name if path.name == "files" else path.name


def to_frame(rows: Sequence[Translated], columns: Mapping[str, Column]) -> pl.DataFrame:
    """Return a table with one column for each of `METRICS`, null where it was not measured."""
    data: dict[str, Any] = {"id": [row.id for row in rows], "asked": [row.digest for row in rows]}
    for name in METRICS:
        data[name] = list(columns[name].scores) if name in columns else [None] * len(rows)
    return pl.DataFrame(data, schema=SCHEMA)


WHAT = "scores, made by `excam acre metrics`"


def read(path: Path, rows: Mapping[str, Translated]) -> dict[str, dict[str, float | None]]:
    """Return the scores of a table of `to_frame` by metric and row; metrics that were not measured are left out.

    Raise InputInvalid for other columns or types, no rows, a row that occurs twice, and other translations than `rows`.
    """
    frame = read_typed(path, SCHEMA, WHAT, ("id", "asked"), ("id",), may_be_empty=False)
    translations.expect_same(path, frame.select("id", "asked").iter_rows(), rows)
    measured = [name for name in METRICS if frame[name].null_count() < len(frame)]
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
