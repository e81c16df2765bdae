"""Ask one model about every instance; write a transcript of every request and answer."""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path
from typing import Annotated

from excam.core import provenance
from excam.inference import transcript
from excam.macaron import asks, derive
from scripts import run, step
from scripts._asking import Asker, AskingOptions

VERSION = 1


@step
def main(
    asking: AskingOptions,
    name: Annotated[str, "<model>/<mode>: the key in config.yaml, and for progress lines"],
    mode: asks.Mode,
    instances_path: Path,
    transcript_path: Path,
    manifest_path: Annotated[Path, "what it was made of, and what it cost"],
) -> None:
    started = time.monotonic()
    asker = Asker(asking, name.split("/")[0], name)
    instances = derive.read(instances_path)
    requests = len(instances) * (2 if mode == "choose" else 1)
    ask = asker.ask_with_progress(f"asking {name}, requests", requests)
    _, entries = transcript.record(partial(asks.answer, mode=mode), instances, ask)
    transcript.write(transcript_path, entries)
    provenance.write_manifest(
        manifest_path,
        inputs=[path for path in (instances_path, asking.weights_path) if path],
        outputs=[transcript_path],
        settings=json.loads(asking.model),
        seconds=time.monotonic() - started,
        **asker.facts(answer for entry in entries for exchange in entry.rounds for answer in exchange.answers),
        seed=asking.seed,
    )
    provenance.say(f"{name}: {len(instances)} instances asked in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    run(main)
