"""Let a model correct spelling and grammar of the English texts of scenarios; a guard refuses any other edit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from excam.core import provenance, tables
from excam.macaron import proofread, scenarios
from scripts import run, step
from scripts._asking import RecordedOptions, Recorder

VERSION = 2


@step
def main(
    asking: RecordedOptions,
    name: Annotated[str, "the key of the model in config.yaml"],
    scenarios_path: Path,
    proofread_path: Annotated[Path, "the scenarios with the accepted edits"],
    edits_path: Annotated[Path, "what was said about each field"],
) -> None:
    asker = Recorder(asking, name, f"{name} proofreads")
    source_scenarios = scenarios.read(scenarios_path)
    fields = sum(len(list(proofread.fields_of(scenario))) for scenario in source_scenarios)
    done = asker.record("proofreading, fields", proofread.proofread, source_scenarios, fields)
    tables.write_lines(edits_path, proofread.EDITS, proofread.edit_rows(done))
    tables.write_frame(proofread_path, scenarios.to_frame(edited.scenario for edited in done))
    counts = proofread.counts(done)
    asker.write_manifest([scenarios_path], [edits_path, proofread_path], fields=dict(counts))
    provenance.say(f"macaron: fields proofread by {name}: {counts}")


if __name__ == "__main__":
    run(main)
