"""ExCAM as a scorer of inspect_ai.

>>> Task(dataset=dataset, solver=generate(), scorer=cultural_errors("results/adapters/smollm2-135m/all"))

A text that could not be judged is `Score.unscored`, with its reason: it is in no mean, and inspect counts it in
`unscored_samples`.
"""

from __future__ import annotations

import threading
from dataclasses import asdict
from pathlib import Path

import anyio.to_thread
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, mean, metric, scorer, stderr
from inspect_ai.solver import TaskState

from excam.scoring.options import Options, open_scorer
from excam.scoring.results import Result


@metric
def share_with_errors() -> Metric:
    """Share of the judged samples in which an error was found (a score below 0)."""

    def share(scores: list[SampleScore]) -> float:
        erroneous = [sample_score.score.as_float() < 0 for sample_score in scores]
        return sum(erroneous) / len(erroneous) if erroneous else float("nan")

    return share


@scorer(metrics=[mean(), stderr(), share_with_errors()])
def cultural_errors(adapter: str | Path, base: str | Path | None = None, max_tokens: int | None = None) -> Scorer:
    """Judge the output of each sample as the answer to its input; the target is ignored.

    Raises ModelInvalid if the adapter cannot be opened, before anything is generated.
    """
    bases = () if base is None else (Path(base),)
    opened = open_scorer(Options(models=(adapter,), bases=bases, max_tokens=max_tokens))
    one_at_a_time = threading.Lock()

    def judged(instruction: str, output: str) -> Result:
        with one_at_a_time:  # inspect scores samples concurrently; there is one model
            # an iterator, so that no progress is printed for a single row
            return next(opened.score(iter([{"instruction": instruction, "output": output}])))

    async def score(state: TaskState, target: Target) -> Score:
        return as_score(await anyio.to_thread.run_sync(judged, state.input_text, state.output.completion))

    return score


def as_score(result: Result) -> Score:
    """Return a result as inspect's type; the errors with their spans are in the metadata."""
    metadata = {
        "errors": [asdict(error) for error in result.report.errors] if result.report else None,
        "certainty": result.certainty,
        "failure": result.failure,
        "warnings": list(result.warnings),
        "signature": result.signature,
    }
    if result.score is None:
        reason = f"not judged: {result.failure}"
        return Score.unscored(reason="grader_failed", answer=result.output, explanation=reason, metadata=metadata)
    why = result.report.explanation if result.report else ""
    return Score(value=result.score, answer=result.output, explanation=why or "no error found", metadata=metadata)
