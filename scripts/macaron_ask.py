"""Ask one model about every instance; write a transcript of every request and answer."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from excam.core import provenance
from excam.macaron import asks, derive
from scripts import run, step
from scripts._asking import RecordedOptions, Recorder

VERSION = 1


@step
def main(
    asking: RecordedOptions,
    name: Annotated[str, "<model>/<mode>: the key in config.yaml, and for progress lines"],
    mode: asks.Mode,
    instances_path: Path,
) -> None:
    asker = Recorder(asking, name.split("/")[0], name)
    instances = derive.read(instances_path)
    requests = len(instances) * (2 if mode == "choose" else 1)
    asker.record(f"asking {name}, requests", partial(asks.answer, mode=mode), instances, requests)
    asker.write_manifest([instances_path], seed=asking.seed)
    provenance.say(f"{name}: {len(instances)} instances asked in {asker.seconds:.0f} s")


if __name__ == "__main__":
    run(main)
