"""Score with one metric all rows that have its columns; keep every request and answer."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

from excam.core import provenance
from excam.core.exceptions import InputInvalid
from excam.crossing import rows
from excam.inference import transcript
from excam.knowledge.index import open_index
from excam.scoring import models, result_files
from excam.scoring.metric import Setup
from excam.scoring.options import Options, checked
from excam.scoring.scorer import Scorer, ask_nobody
from scripts import run, step
from scripts._asking import Asker, AskingOptions

VERSION = 3


@step
def main(
    asking: AskingOptions,
    name: Annotated[str, "the key of the metric in crossing.metrics"],
    judge: Annotated[str, "the key of its model in config.yaml, with what it was tuned on, or none"],
    metric: Annotated[str, "as in `excam score`"],
    rows_path: Path,
    scores_path: Path,
    transcript_path: Path,
    manifest_path: Annotated[Path, "what it was made of, and what it cost"],
    evidence_path: Annotated[Path | None, "folder with an index of documents"] = None,
) -> None:
    started = time.monotonic()
    asker = None if asking.model == "null" else Asker(asking, judge.split("/")[0], f"crossing, {name}")
    judges = (judge,) if asker else ()
    chosen = checked(Options(metric=metric, models=judges, evidence=evidence_path))
    wanted = rows.for_metric(rows.read(rows_path), chosen)
    if not wanted:
        raise InputInvalid(
            f"crossing.metrics.{name}: 0 rows have {', '.join(chosen.columns)}; expected some; switch their system on"
        )
    model = (
        models.of_entry(asker.name, asker.model, asker.backend, asking.weights_path, asking.adapter_path)
        if asker
        else None
    )
    index = open_index(evidence_path) if evidence_path else None
    own = index if chosen.evidence == "own" else None
    scorer = Scorer(chosen.prepared(Setup(model, own)), model, asker.sampling if asker else None)
    scorer = (scorer.with_open_book(index) if index and own is None else scorer).for_rows(wanted)
    ask = asker.ask_with_progress(f"scoring with {name}, requests", None) if asker else ask_nobody
    results, entries = transcript.record(scorer.flow, wanted, ask)
    transcript.write(transcript_path, entries)
    result_files.write(scores_path, results)
    provenance.write_manifest(
        manifest_path,
        inputs=[path for path in (rows_path, asking.weights_path, asking.adapter_path) if path],
        outputs=[transcript_path, scores_path],
        settings={"metric": metric, "model": json.loads(asking.model)},
        seconds=time.monotonic() - started,
        **(asker.facts(transcript.answers(entries)) if asker else {}),
        seed=asking.seed,
    )
    failures = sum(result.score is None for result in results)
    provenance.say(f"{name}: {len(results)} rows in {time.monotonic() - started:.0f} s; {failures} failures")


if __name__ == "__main__":
    run(main)
