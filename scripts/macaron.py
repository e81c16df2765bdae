"""Build and ask Macaron, and make its tables and figures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

from excam.core import counts, provenance, tables
from excam.core.provenance import say
from excam.inference import transcript
from excam.macaron import answers, asks, derive, proofread, scenarios, source
from scripts import step
from scripts.asking import RecordedOptions, recorder_of


@step(
    version=4,
    inputs={"files": "macaron_files"},
    settings={"columns": "macaron_columns"},
    outputs={"scenarios": "macaron_built", "dropped": "results/macaron/dropped.csv"},
)
def macaron_build(
    files_paths: Annotated[Sequence[Path], "of one folder"],
    columns: Annotated[str, "names of official columns, ours to theirs, as JSON"],
    scenarios_path: Path,
    dropped_path: Annotated[Path, "what is left out, and why"],
) -> None:
    """Read a Macaron benchmark, authors' exports or the official tables, and write its scenarios."""
    source.write(source.read(files_paths, json.loads(columns)), scenarios_path, dropped_path)


@step(
    version=1,
    inputs={"scenarios": "results/macaron/scenarios.parquet"},
    settings={"seed": "seed"},
    outputs={"instances": "results/macaron/instances.parquet"},
)
def macaron_derive(scenarios_path: Path, seed: int, instances_path: Path) -> None:
    """Derive six aligned instances of each scenario: multiple choice, true and false, in both languages."""
    source_scenarios = scenarios.read(scenarios_path)
    made = derive.instances(source_scenarios, seed)
    tables.write_frame(instances_path, derive.to_frame(made))
    say(f"macaron: {len(made)} instances of {len(source_scenarios)} scenarios")


@step(
    version=3,
    asks="proofreader",
    journal="results/journal/macaron/proofreading.jsonl",
    inputs={"scenarios": "results/macaron/built.parquet"},
    settings={"name": "macaron_proofreader"},
    outputs={
        "proofread": "macaron_proofread",
        "edits": "results/macaron/edits.csv",
        "transcript": "results/macaron/transcripts/proofreading.jsonl",
        "manifest": "results/macaron/transcripts/proofreading.manifest.json",
    },
)
def macaron_proofread(
    asking: RecordedOptions,
    name: Annotated[str, "the key of the model in config.yaml"],
    scenarios_path: Path,
    proofread_path: Annotated[Path, "the scenarios with the accepted edits"],
    edits_path: Annotated[Path, "what was said about each field"],
) -> None:
    """Let a model correct spelling and grammar of the English texts of scenarios; a guard refuses any other edit."""
    asker = recorder_of(asking, name, f"{name} proofreads")
    counted = proofread.write(asker, scenarios.read(scenarios_path), edits_path, proofread_path)
    asker.write_manifest([scenarios_path], [edits_path, proofread_path], fields=dict(counted))
    provenance.say(f"macaron: fields proofread by {name}: {counted}")


@step(
    version=1,
    asks="model",
    minutes="macaron_minutes",
    journal="results/journal/macaron/{model}.jsonl",
    inputs={"instances": "results/macaron/instances.parquet"},
    settings={"name": "model"},
    outputs={
        "transcript": "results/macaron/transcripts/{model}/{mode}.jsonl",
        "manifest": "results/macaron/transcripts/{model}/{mode}.manifest.json",
    },
)
def macaron_ask(
    asking: RecordedOptions,
    name: Annotated[str, "the key of the model in config.yaml"],
    mode: asks.Mode,
    instances_path: Path,
) -> None:
    """Ask one model about every instance; write a transcript of every request and answer."""
    asker = recorder_of(asking, name, f"{name}/{mode}")
    instances = derive.read(instances_path)
    requests = len(instances) * (2 if mode == "choose" else 1)
    asker.record(f"asking {name}/{mode}, requests", partial(asks.answer, mode=mode), instances, requests)
    asker.write_manifest([instances_path], seed=asking.seed)
    provenance.say(f"{name}/{mode}: {len(instances)} instances asked in {asker.seconds:.0f} s")


@step(
    version=2,
    inputs={
        "instances": "results/macaron/instances.parquet",
        "transcript": "results/macaron/transcripts/{model}/{mode}.jsonl",
    },
    settings={"name": "model"},
    outputs={"answers": "results/macaron/answers/{model}/{mode}.parquet"},
)
def macaron_answers(
    name: Annotated[str, "the model"], mode: asks.Mode, instances_path: Path, transcript_path: Path, answers_path: Path
) -> None:
    """Parse a transcript into answers. A new parser needs no model."""
    instances = derive.read(instances_path)
    answered = transcript.replay(partial(asks.answer, mode=mode), instances, transcript_path)
    tables.write_frame(answers_path, answers.to_frame(instances, name, mode, answered))
    say(f"{name}/{mode}: {len(answered)} answers; failures: {counts.failures(answered)}")
