"""Ask judges about rows, and read their answers as scores."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

from excam.core import provenance
from excam.error_reports import judges, record_files
from excam.inference import transcript
from scripts import step
from scripts.asking import AskingOptions, ModelOptions, asker_of, model_of, prepare_process


@step(
    version=4,
    asks="model",
    minutes="judging_minutes",
    journal="results/journal/{model}/{trained_on}/{judge}.jsonl",
    inputs={
        "samples": "results/excam40k/*/{split}.parquet",
        "adapter": "judging_adapter",
        "trained": "judging_matrices",
        "verified": "judging_verified",
    },
    settings={"name": "system"},
    outputs={
        "transcripts": "results/transcripts/{model}/{trained_on}/{judge}/*/{split}.jsonl",
        "manifests": "results/transcripts/{model}/{trained_on}/{judge}/*/{split}.manifest.json",
    },
    silent=["trained", "verified"],
    stages=["asks.{judge}"],
)
def judge(
    asking: AskingOptions,
    judge: str,
    samples_paths: Annotated[Sequence[Path], "of each set"],
    name: Annotated[str, "<model>/<trained_on>/<judge>, for progress lines"],
    transcripts_paths: Annotated[Sequence[Path], "every request and answer, of each set"],
    manifests_paths: Annotated[Sequence[Path], "what each was made of, and what it cost: its share of the seconds"],
) -> None:
    """Ask one model with one judge about the rows of all sets together; write a transcript of each set."""
    started = time.monotonic()
    asker = asker_of(asking, name.split("/")[0], name)
    sets = [record_files.read_samples(path) for path in samples_paths]
    samples = [sample for rows in sets for sample in rows]
    ask = asker.ask_with_progress(f"judging {name}, rows", len(samples))
    entries = iter(transcript.record(judges.load(judge).judge, samples, ask)[1])
    seconds = time.monotonic() - started
    files = zip(sets, samples_paths, transcripts_paths, manifests_paths, strict=True)
    for rows, samples_path, transcript_path, manifest_path in files:
        entries_of_set = [next(entries) for _ in rows]
        transcript.write(transcript_path, entries_of_set)
        provenance.write_manifest(
            manifest_path,
            inputs=[path for path in (samples_path, asking.weights_path, asking.adapter_path) if path],
            outputs=[transcript_path],
            settings=json.loads(asking.model),
            seconds=seconds * len(rows) / (len(samples) or 1),
            **asker.facts(transcript.answers(entries_of_set)),
            seed=asking.seed,
        )
    provenance.say(f"{name}: {len(samples)} rows judged in {seconds:.0f} s")


@step(
    version=4,
    inputs={
        "samples": "results/excam40k/*/{split}.parquet",
        "transcripts": "results/transcripts/{model}/{trained_on}/{judge}/*/{split}.jsonl",
    },
    settings={"end_token": "end_token"},
    outputs={"judgements": "results/judgements/{model}/{trained_on}/{judge}/*/{split}.parquet"},
    wildcards={"model": "models"},
    stages=["judges.{judge}"],
)
def score(
    judge: str,
    samples_paths: Annotated[Sequence[Path], "of each set"],
    transcripts_paths: Annotated[Sequence[Path], "of each set"],
    end_token: Annotated[Literal["yes", "no"], "does the token that ends a turn count towards p(R)?"],
    judgements_paths: Annotated[Sequence[Path], "of each set"],
) -> None:
    """Parse transcripts into judgements. No model is needed."""
    for samples_path, recorded, path in zip(samples_paths, transcripts_paths, judgements_paths, strict=True):
        samples = record_files.read_samples(samples_path)
        verdicts = transcript.replay(judges.load(judge).judge, samples, recorded)
        record_files.write_judgements(path, samples, verdicts, end_token=end_token == "yes")  # noqa: S105 - no password


@step(
    version=1,
    inputs={
        "samples": "results/excam40k/*/{split}.parquet",
        "bases": "results/samples/*.bases.jsonl",
        "documents": "documents",
    },
    settings={"seed": "seed"},
    outputs={"judgements": "results/judgements/documents/nothing/words/*/{split}.parquet"},
    stages=["excam40k/by_documents", "error_reports/floors", "readers.words", "knowledge/passages"],
)
def judge_by_documents(
    samples_paths: Annotated[Sequence[Path], "of each set"],
    bases_paths: Annotated[Sequence[Path], "<dataset>.bases.jsonl, of each set"],
    documents_paths: Annotated[Sequence[Path], "as `excam knowledge build` takes them"],
    seed: int,
    judgements_paths: Annotated[Sequence[Path], "of each set"],
) -> None:
    """Judge rows by documents, without a model."""
    from excam.excam40k import by_documents

    sets = [record_files.read_samples(path) for path in samples_paths]
    bases = {base.id: base for path in bases_paths for base in record_files.read_bases(path)}
    samples = [sample for rows in sets for sample in rows]
    verdicts = iter(by_documents.judge(samples, bases, documents_paths, seed))
    for rows, path in zip(sets, judgements_paths, strict=True):
        record_files.write_judgements(path, rows, [next(verdicts) for _ in rows])


@step(version=2)
def verify_adapter(
    options: ModelOptions,
    name: Annotated[str, "<model>/<trained_on>"],
    weights_path: Annotated[Path, "manifest of the fetched base model"],
    adapter_path: Annotated[Path, "manifest of the adapter"],
    checkpoints_path: Annotated[Path, "of its training"],
    verified_path: Path,
) -> None:
    """Check that an adapter is active in the engine that serves it, before anything is judged with it.

    Then the checkpoints of its training, of which nothing more is to be made, are removed.
    """
    from excam.error_reports import adapter_check

    model = model_of(options)
    prepare_process(model, name, weights_path, adapter_path)
    proof = adapter_check.verify(name, model, weights_path, adapter_path)
    inputs = {str(path): provenance.sha256(path) for path in (weights_path, adapter_path)}
    provenance.write_json(verified_path, {"backend": model.backend, "inputs": inputs, **asdict(proof)})
    shutil.rmtree(checkpoints_path, ignore_errors=True)
    provenance.say(
        f"{name}: at work: it moves {proof.moved:.3f} a token, {model.backend} is {proof.apart:.4f} from PEFT "
        f"({proof.answers} fixed answers, {proof.tokens} tokens)"
    )
