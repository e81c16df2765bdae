"""Make the erroneous twin of a pair: a wrong option, or an error that a generator writes."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from excam.core import provenance, tables
from excam.core.exceptions import ArtifactBroken, SourceInvalid
from excam.error_reports import record_files
from excam.error_reports.records import SEVERITIES, Sample, Severity
from excam.excam40k import datasets as benchmarks
from excam.excam40k.construction import figures, generator, hard, lexicon, norms, soft, splits
from excam.excam40k.construction.norms import Exchange
from excam.inference import ask_for_text
from excam.inference.run import run as run_flows
from scripts import step
from scripts.asking import AskingOptions, asker_of

if TYPE_CHECKING:
    from excam.scoring.asking import Asker


@step(version=4)
def make_hard_errors(
    dataset: str,
    bases_path: Path,
    samples_path: Path,
    seed: int,
    errors_path: Path,
    counts_path: Path,
    module: Annotated[str | None, "file of a benchmark that is not in the package"] = None,
) -> None:
    """Make the corrupted versions of original pairs of a benchmark with options."""
    bases = {base.id: base for base in record_files.read_bases(bases_path)}
    mistake = benchmarks.load(dataset, module).MISTAKE
    samples = record_files.read_samples(samples_path)
    corrupted, dropped = hard.hard_errors(samples, bases, seed, mistake)
    record_files.write_samples(errors_path, corrupted)
    provenance.write_json(counts_path, {"kept": len(corrupted), "dropped": dict(dropped)})


@step(version=18)
def generate_soft_errors(
    asking: AskingOptions,
    samples_path: Path,
    severity: Literal["minor", "major"],
    shard: int,
    shards: int,
    generator: str,
    answers_path: Path,
    manifest_path: Path,
    too_long_path: Annotated[Path | None, "pairs that no error is made for: <dataset>.too-long.json"] = None,
) -> None:
    """Ask the generator for one corrupted version of each original pair of a shard; keep every answer verbatim."""
    from excam.config import LEXICON

    started = time.monotonic()
    too_long = provenance.read_json(too_long_path, "pairs")["pairs"] if too_long_path else []
    samples = splits.without_pairs(record_files.read_samples(samples_path), too_long)
    wanted = [
        sample
        for sample in samples
        if sample.pair.endswith(f"/{severity}") and splits.shard_of(sample.pair, shards) == shard
    ]
    if generator == LEXICON:
        exchanges = {
            **norms.exchanges(samples, severity, asking.seed),
            **figures.exchanges(samples, asking.seed),
        }
        answers = [_from_lexicon(sample, severity, asking.seed, exchanges.get(sample.pair)) for sample in wanted]
        facts: dict[str, Any] = {}
    else:
        answers, facts = _from_model(
            asker_of(asking, generator, str(answers_path)),
            wanted,
            severity,
            f"{generator} writes errors, shard {shard}",
        )
    with provenance.publish(answers_path) as temporary, temporary.open("w", encoding="utf-8") as stream:
        for sample, answer in zip(wanted, answers, strict=True):
            row = {"pair": sample.pair, "severity": severity, "generator": generator, **answer}
            stream.write(json.dumps(row) + "\n")
    provenance.write_manifest(
        manifest_path,
        inputs=[path for path in (samples_path, too_long_path, asking.weights_path) if path],
        outputs=[answers_path],
        settings={"generator": generator, "model": json.loads(asking.model), "shards": shards},
        seconds=time.monotonic() - started,
        seed=asking.seed,
        **facts,
    )
    provenance.say(f"{answers_path}: {len(wanted)} answers in {time.monotonic() - started:.1f} s")


def _from_lexicon(sample: Sample, severity: Severity, seed: int, exchange: Exchange | None) -> dict[str, Any]:
    """Return the answer of a row, with the pair that it is exchanged with, or the right verdict if that stands alone.

    One that is left out ends with the reason and has an empty answer.
    """
    answer = lexicon.answer(sample, severity, seed, exchange)
    if isinstance(answer, lexicon.LeftOut):
        return {"answer": "", "finish": f"left-out:{answer.reason}"}
    row = {"answer": answer, "finish": "stop"}
    if exchange and exchange.partner:
        return row | {"partner": exchange.partner.pair}
    return row | ({"right": norms.verdict_alone(sample).answer} if exchange and exchange.turns_verdict else {})


def _from_model(
    asker: Asker, wanted: list[Sample], severity: Severity, what: str
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return one answer per sample, and what the manifest says about them."""
    ask = asker.ask_with_progress(what, len(wanted))
    completions = run_flows(lambda sample: ask_for_text(generator.messages(sample, severity)), wanted, ask)
    rows = [
        {"answer": c.text, "finish": c.finish, "prompt_tokens": c.prompt_tokens, "tokens": c.completion_tokens}
        for c in completions
    ]
    return rows, asker.facts(completions)


@step(
    version=7,
    inputs={"samples": "results/samples/{dataset}.parquet", "answers": "soft_answers"},
    settings={"spans": "construction.spans", "severity": "construction.severity"},
    outputs={"errors": "results/errors/soft/{dataset}.parquet", "counts": "results/errors/soft/{dataset}.counts.json"},
    wildcards={"dataset": "soft"},
    local=False,
)
def collect_soft_errors(
    samples_path: Path,
    answers_paths: Sequence[Path],
    spans: Literal["paper", "strict"],
    severity: Annotated[Literal["requested", "stated"], "what labels an error"],
    errors_path: Path,
    counts_path: Path,
) -> None:
    """Read the generator's answers of all shards; keep the usable ones, count the others by reason."""
    right = {sample.pair: sample for sample in record_files.read_samples(samples_path)}
    rows = sorted((row for path in answers_paths for row in tables.read_jsonl(path)), key=lambda row: row["pair"])
    if unknown := next((row["pair"] for row in rows if row["pair"] not in right), None):
        raise ArtifactBroken(f"{samples_path}: no pair {unknown}, which was answered; delete the answers and run again")
    corrupted: list[Sample] = []
    dropped: Counter[str] = Counter()
    for row in rows:
        if row["finish"] != "stop":  # a draft inside a cut answer is not the answer
            dropped["truncated" if row["finish"] == "length" else row["finish"]] += 1
            continue
        original = norms.verdict_alone(right[row["pair"]]) if "right" in row else right[row["pair"]]
        made = soft.soft_error(original, row["severity"], row["answer"], spans, severity)
        if isinstance(made, Sample):
            corrupted.append(made)
        else:
            dropped[made.reason] += 1
    corrupted = soft.in_joined_groups(corrupted, {row["pair"]: row["partner"] for row in rows if "partner" in row})
    generators = sorted({row["generator"] for row in rows})
    if not corrupted:
        raise SourceInvalid(
            f"{samples_path}: none of {len(rows)} answers of {', '.join(generators)} is usable "
            f"({', '.join(f'{reason} {count}' for reason, count in dropped.most_common())}); expected one; "
            f"choose another generation.generator, or hard errors (ERRORS)"
        )
    record_files.write_samples(errors_path, corrupted)
    counts = {"answers": len(rows), "kept": len(corrupted), "dropped": dict(sorted(dropped.items()))}
    stated = Counter((sample.origin.removeprefix("soft-"), sample.stated_severity) for sample in corrupted)
    counts["severity"] = {kind: {s: n for (a, s), n in sorted(stated.items()) if a == kind} for kind in SEVERITIES}
    counts |= {"generators": generators, "exchanged": sum("partner" in row for row in rows)}
    provenance.write_json(counts_path, counts)
    provenance.say(f"{errors_path}: {len(corrupted)} of {len(rows)} answers kept; dropped {dict(dropped)}")
