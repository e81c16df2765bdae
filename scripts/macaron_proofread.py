"""Let a model correct spelling and grammar of the English texts of scenarios; a guard refuses any other edit."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

from excam.core import provenance, tables
from excam.inference import transcript
from excam.macaron import proofread, scenarios
from scripts import run, step
from scripts._asking import Asker, AskingOptions

VERSION = 2


@step
def main(
    asking: AskingOptions,
    name: Annotated[str, "the key of the model in config.yaml"],
    scenarios_path: Path,
    proofread_path: Annotated[Path, "the scenarios with the accepted edits"],
    edits_path: Annotated[Path, "what was said about each field"],
    transcript_path: Path,
    manifest_path: Path,
) -> None:
    started = time.monotonic()
    asker = Asker(asking, name, f"{name} proofreads")
    source_scenarios = scenarios.read(scenarios_path)
    ask = asker.ask_with_progress(
        "proofreading, fields", sum(len(list(proofread.fields_of(scenario))) for scenario in source_scenarios)
    )
    done, entries = transcript.record(proofread.proofread, source_scenarios, ask)
    transcript.write(transcript_path, entries)
    tables.write_lines(edits_path, proofread.EDITS, proofread.edit_rows(done))
    tables.write_frame(proofread_path, scenarios.to_frame(edited.scenario for edited in done))
    counts = proofread.counts(done)
    provenance.write_manifest(
        manifest_path,
        inputs=[path for path in (scenarios_path, asking.weights_path) if path],
        outputs=[transcript_path, edits_path, proofread_path],
        settings=json.loads(asking.model),
        seconds=time.monotonic() - started,
        **asker.facts(answer for entry in entries for exchange in entry.rounds for answer in exchange.answers),
        fields=dict(counts),
    )
    provenance.say(f"macaron: fields proofread by {name}: {counts}")


if __name__ == "__main__":
    run(main)
