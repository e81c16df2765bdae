"""Ask judges about rows, with or without passages, and read their answers as scores."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
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
from scripts.asking import ModelOptions, RecordedOptions, Recorder, model_of, prepare_process


@dataclass(frozen=True, kw_only=True)
class JudgingOptions:
    """What `judge_of` reads."""

    judge: str
    samples_path: Path
    evidence_path: Annotated[Path | None, "passages of these rows, for a judge that reads them"] = None
    judging: Annotated[str, "section `judging` as JSON"] = "{}"


def judge_of(options: JudgingOptions) -> Callable[[Sample], Flow[Verdict]]:
    """Return the function that judges one sample. Raise InputInvalid if passages lack, or nobody reads them."""
    reads = options.judge == "grounded"
    if reads != bool(options.evidence_path):
        expected = "expected --evidence FILE" if reads else "expected no --evidence: it reads none"
        raise InputInvalid(f"judge {options.judge}: found {options.evidence_path or 'no passages'}; {expected}")
    if options.evidence_path:
        return shown_evidence.judging(
            shown_evidence.read(options.evidence_path), Judging.model_validate_json(options.judging)
        )
    return judges.load(options.judge).judge


@step(version=1)
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


@step(version=3)
def judge(
    asking: RecordedOptions,
    judging: JudgingOptions,
    name: Annotated[str, "<model>/<trained_on>/<judge>, for progress lines"],
) -> None:
    """Ask one model with one judge about one file of rows; write a transcript of every request and answer."""
    judge = judge_of(judging)
    asker = Recorder(asking, name.split("/")[0], name)
    samples = record_files.read_samples(judging.samples_path)
    asker.record(f"judging {name}, rows", judge, samples, len(samples))
    asker.write_manifest([judging.samples_path, judging.evidence_path], seed=asking.seed)
    provenance.say(f"{name}: {len(samples)} rows judged in {asker.seconds:.0f} s")


@step(version=3)
def score(
    judging: JudgingOptions,
    transcript_path: Path,
    end_token: Annotated[Literal["yes", "no"], "does the token that ends a turn count towards p(R)?"],
    judgements_path: Path,
) -> None:
    """Parse a transcript into judgements. No model is needed."""
    samples = record_files.read_samples(judging.samples_path)
    verdicts = transcript.replay(judge_of(judging), samples, transcript_path)
    record_files.write_judgements(judgements_path, samples, verdicts, end_token=end_token == "yes")  # noqa: S105 - no password


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
