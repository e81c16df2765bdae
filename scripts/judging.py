"""Ask judges about rows, with or without passages, and read their answers as scores."""

from __future__ import annotations

import json
import shutil
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

from excam.config import Judging
from excam.core import provenance
from excam.core.exceptions import InputInvalid
from excam.core.provenance import say
from excam.error_reports import adapter_check, judges, record_files
from excam.error_reports.records import Sample, Verdict
from excam.excam40k import shown_evidence
from excam.inference import Flow, transcript
from scripts import step
from scripts.asking import Asker, AskingOptions, ModelOptions, model_of, prepare_process


@dataclass(frozen=True, kw_only=True)
class JudgingOptions:
    """What `judge_of` reads."""

    judge: str
    samples_paths: Annotated[Sequence[Path], "of each set"]
    evidence_paths: Annotated[Sequence[Path], "passages of these rows, for a judge that reads them"] = ()
    judging: Annotated[str, "section `judging` as JSON"] = "{}"


def judge_of(options: JudgingOptions) -> Callable[[Sample], Flow[Verdict]]:
    """Return the function that judges one sample. Raise InputInvalid if passages lack, or nobody reads them."""
    reads = options.judge == "grounded"
    if reads != bool(options.evidence_paths):
        expected = "expected --evidence FILE" if reads else "expected no --evidence: it reads none"
        raise InputInvalid(
            f"judge {options.judge}: found {next(iter(options.evidence_paths), 'no passages')}; {expected}"
        )
    if options.evidence_paths:
        shown = {name: row for path in options.evidence_paths for name, row in shown_evidence.read(path).items()}
        return shown_evidence.judging(shown, Judging.model_validate_json(options.judging))
    return judges.load(options.judge).judge


@step(version=2)
def draw_evidence(
    samples_path: Annotated[Path, "<dataset>/<split>.parquet"],
    among_path: Annotated[Path, "rows that hold these; passages are made of their facts"],
    bases_path: Annotated[Path, "<dataset>.bases.jsonl"],
    judging: Annotated[str, "section `judging` as JSON"],
    seed: int,
    evidence_path: Path,
) -> None:
    """Draw the passages that a judge is shown before the rows of one set."""
    bases = {base.id: base for base in record_files.read_bases(bases_path)}
    wanted = {sample.id for sample in record_files.read_samples(samples_path)}
    among = record_files.read_samples(among_path)
    shares = Judging.model_validate_json(judging).evidence
    shown = [row for row in shown_evidence.drawn(among, bases, shares, seed) if row.id in wanted]
    shown_evidence.write(evidence_path, shown)
    counts = Counter(row.kind for row in shown)
    say(f"{evidence_path}: passages of {len(shown)} rows: {dict(sorted(counts.items()))}")


@step(version=4)
def judge(
    asking: AskingOptions,
    judging: JudgingOptions,
    name: Annotated[str, "<model>/<trained_on>/<judge>, for progress lines"],
    transcripts_paths: Annotated[Sequence[Path], "every request and answer, of each set"],
    manifests_paths: Annotated[Sequence[Path], "what each was made of, and what it cost: its share of the seconds"],
) -> None:
    """Ask one model with one judge about the rows of all sets together; write a transcript of each set."""
    judge, started = judge_of(judging), time.monotonic()
    asker = Asker(asking, name.split("/")[0], name)
    sets = [record_files.read_samples(path) for path in judging.samples_paths]
    samples = [sample for rows in sets for sample in rows]
    ask = asker.ask_with_progress(f"judging {name}, rows", len(samples))
    entries = iter(transcript.record(judge, samples, ask)[1])
    seconds = time.monotonic() - started
    files = zip(sets, judging.samples_paths, transcripts_paths, manifests_paths, strict=True)
    for place, (rows, samples_path, transcript_path, manifest_path) in enumerate(files):
        own = [next(entries) for _ in rows]
        transcript.write(transcript_path, own)
        read = (samples_path, *judging.evidence_paths[place : place + 1], asking.weights_path, asking.adapter_path)
        provenance.write_manifest(
            manifest_path,
            inputs=[path for path in read if path],
            outputs=[transcript_path],
            settings=json.loads(asking.model),
            seconds=seconds * len(rows) / (len(samples) or 1),
            **asker.facts(transcript.answers(own)),
            seed=asking.seed,
        )
    provenance.say(f"{name}: {len(samples)} rows judged in {seconds:.0f} s")


@step(version=4)
def score(
    judging: JudgingOptions,
    transcripts_paths: Annotated[Sequence[Path], "of each set"],
    end_token: Annotated[Literal["yes", "no"], "does the token that ends a turn count towards p(R)?"],
    judgements_paths: Annotated[Sequence[Path], "of each set"],
) -> None:
    """Parse transcripts into judgements. No model is needed."""
    judge = judge_of(judging)
    for samples_path, recorded, path in zip(judging.samples_paths, transcripts_paths, judgements_paths, strict=True):
        samples = record_files.read_samples(samples_path)
        verdicts = transcript.replay(judge, samples, recorded)
        record_files.write_judgements(path, samples, verdicts, end_token=end_token == "yes")  # noqa: S105 - no password


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
