"""Judge rows of the data set by documents and without a model: the judge `words` of `excam score --evidence`.

It is shown a row's question and answer without the paraphrases around them. A judge of a test set must answer: where
the documents decide nothing, its report has no error, and `because` among the parts says why. Among them are also the
heights of the floors that read the same passages (`excam.error_reports.floors`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from excam.error_reports import readers
from excam.error_reports.floors import FLOORS
from excam.error_reports.judges import grounded
from excam.error_reports.metrics import BY_EVIDENCE, WORDS
from excam.error_reports.records import BaseSample, Report, Sample, Verdict
from excam.excam40k.construction.wrapping import answer_start
from excam.inference import Ask, Flow, run
from excam.knowledge import documents, index
from excam.knowledge.passages import Passage

VERSION = 1


def judge(
    samples: Sequence[Sample], bases: Mapping[str, BaseSample], files: Sequence[Path], seed: int
) -> list[Verdict]:
    """Return a verdict on each row. `seed` is that with which the rows were wrapped."""
    pack = index.in_memory(documents.read(files, documents.DocumentDefaults(licence="not published")).passages)
    reader, way = readers.of(None), BY_EVIDENCE[WORDS]

    def judged(sample: Sample) -> Flow[Verdict]:
        base = bases[sample.base]
        start = answer_start(base, base.answer, sample.pair.rpartition("/")[2], sample.templates, seed)

        def search(question: str, text: str) -> Sequence[Passage]:
            return pack.passages_for(question, text, culture=sample.culture)

        alone = replace(sample, instruction=base.question, output=sample.output[start:])
        texts = grounded.as_texts(search(alone.instruction, alone.output))
        heights = {
            name: height(alone.instruction, alone.output, texts, sample.language) for name, height in FLOORS.items()
        }
        verdict = _answered((yield from grounded.judge(alone, search, way, reader)), start)
        return replace(verdict, parts={**verdict.parts, "floors": heights})

    asked_nothing: Ask = lambda requests: []  # noqa: E731 - the reader `words` asks no model
    return run.run(judged, samples, asked_nothing)


def _answered(verdict: Verdict, start: int) -> Verdict:
    """Return a verdict with places in the whole output, which begins `start` characters earlier; no error for none."""
    if verdict.report is None:
        explanation = f"The documents do not decide: {verdict.parts['because']}."
        return replace(verdict, errors_found=0, score=0.0, certainty=0.5, failure=None, report=Report((), explanation))
    errors = [replace(error, start=error.start + start, end=error.end + start) for error in verdict.report.errors]
    return replace(verdict, report=replace(verdict.report, errors=tuple(errors)))
