"""ExCAM as a metric of the `evaluate` library.

>>> metric = ExCAM("results/adapters/smollm2-135m/all")
>>> metric.compute(predictions=["Sushi."], instructions=["Name a Greek dish."])["excam"]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import datasets
import evaluate

from excam.core.exceptions import InputInvalid
from excam.error_reports.integrations import aggregates
from excam.scoring.options import Options, open_scorer

DESCRIPTION = "Finds, rates and explains cultural errors in generated texts. No references are needed."
INPUTS = """
Args:
    predictions: texts.
    instructions: the instruction that each text answers; none for a metric that is opened with without=["instruction"].
    references: ignored.
Returns:
    excam: mean score over the judged rows (below 0 for errors, else a certainty in (0, 1]); None if no row was judged.
    share_with_errors: share of the judged rows with an error. rows, not_judged: number of rows, number of failures.
    scores, reports, failure_reasons, warnings: a value for each row. signature: model, adapter, versions and settings.
"""


class ExCAM(evaluate.Metric):
    """A reference-free metric: `compute(predictions=..., instructions=...)` returns the dictionary described in INPUTS.

    Raises ModelInvalid if the adapter cannot be opened. Other keywords go to `evaluate.Metric`; texts are kept in
    memory unless `keep_in_memory` is False.
    """

    def __init__(
        self,
        adapter: str | Path,
        base: str | Path | None = None,
        max_tokens: int | None = None,
        without: Sequence[str] = (),
        **options: Any,
    ) -> None:
        super().__init__(**{"keep_in_memory": options.get("num_process", 1) == 1, **options})
        bases = () if base is None else (Path(base),)
        self.metric = open_scorer(
            Options(models=(adapter,), bases=bases, max_tokens=max_tokens, without=tuple(without))
        )

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=DESCRIPTION,
            citation="",
            inputs_description=INPUTS,
            features=datasets.Features({"predictions": text, "instructions": text}),
        )

    def add_batch(self, *, predictions: Any = None, references: Any = None, **more: Any) -> None:
        """Keep texts, and the `instructions` they answer, until `compute`."""
        super().add_batch(predictions=predictions, references=references, **self._with_instructions(predictions, more))

    def compute(self, *, predictions: Any = None, references: Any = None, **more: Any) -> dict[str, Any] | None:
        """Judge these texts, or those added before."""
        return super().compute(
            predictions=predictions, references=references, **self._with_instructions(predictions, more)
        )

    def _with_instructions(self, predictions: Sequence[str] | None, more: dict[str, Any]) -> dict[str, Any]:
        """Return `more` with an instruction per text. Raises InputInvalid if their numbers differ."""
        if predictions is None:
            return more
        stated, expected = list(more.get("instructions") or ()), len(predictions)
        if self.metric.metric.without and not any(stated):
            stated = [""] * expected
        elif self.metric.metric.without or len(stated) != expected:
            wanted = "none beside `without`" if self.metric.metric.without else f"{expected}, one for each prediction"
            raise InputInvalid(f"instructions: {len(stated)}; expected {wanted}")
        return {**more, "instructions": stated}

    def _compute(self, predictions: Sequence[str], instructions: Sequence[str]) -> dict[str, Any]:  # pyright: ignore[reportIncompatibleMethodOverride]  # by name, from the features
        rows = [
            {"instruction": instruction, "output": text}
            for instruction, text in zip(instructions, predictions, strict=True)
        ]
        results = list(self.metric.score(rows))
        whole = aggregates.aggregate(results)
        return {
            "excam": whole.mean,
            "share_with_errors": whole.share_with_errors,
            "rows": whole.rows,
            "not_judged": whole.not_judged,
            "scores": [result.score for result in results],
            "reports": [asdict(result.report) if result.report else None for result in results],
            "failure_reasons": [result.failure for result in results],
            "warnings": [list(result.warnings) for result in results],
            "signature": self.metric.signature,
        }
