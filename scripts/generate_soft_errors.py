"""Ask the generator for one corrupted version of each original pair of a shard; keep every answer verbatim."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any, Literal

from excam.config import LEXICON
from excam.core import provenance
from excam.error_reports import record_files
from excam.error_reports.records import Sample, Severity
from excam.excam40k.construction import generator, lexicon, norms, splits
from excam.excam40k.construction.norms import Exchange
from excam.inference import ask_for_text
from excam.inference.run import run as run_flows
from scripts import run, step
from scripts._asking import Asker, AskingOptions

VERSION = 11


@step
def main(
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
    started = time.monotonic()
    too_long = provenance.read_json(too_long_path, "pairs")["pairs"] if too_long_path else []
    samples = splits.without_pairs(record_files.read_samples(samples_path), too_long)
    wanted = [
        sample
        for sample in samples
        if sample.pair.endswith(f"/{severity}") and splits.shard_of(sample.pair, shards) == shard
    ]
    if generator == LEXICON:
        exchanges = norms.exchanges(samples, severity, asking.seed)
        answers = [_from_lexicon(sample, severity, asking.seed, exchanges.get(sample.pair)) for sample in wanted]
        facts: dict[str, Any] = {}
    else:
        answers, facts = _from_model(
            Asker(asking, generator, str(answers_path)),
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
    """Return the answer of a row, with the pair that it is exchanged with; one that is left out ends with the reason
    and has an empty answer.
    """
    said = lexicon.answer(sample, severity, seed, exchange)
    if isinstance(said, lexicon.LeftOut):
        return {"answer": "", "finish": f"left-out:{said.reason}"}
    return {"answer": said, "finish": "stop"} | ({"partner": exchange.partner.pair} if exchange else {})


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


if __name__ == "__main__":
    run(main)
