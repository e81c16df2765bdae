"""Translate every item with one model; write the translations and a transcript of every request and answer."""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path
from typing import Annotated

from excam.acre import items, translate, translations
from excam.core import provenance, tables
from excam.inference import transcript
from scripts import run, step
from scripts._asking import Asker, AskingOptions

VERSION = 2


@step
def main(
    asking: AskingOptions,
    name: Annotated[str, "the key of the model in config.yaml"],
    form: translate.Form,
    expressions_path: Path,
    rows_path: Path,
    transcript_path: Path,
    manifest_path: Annotated[Path, "what it was made of, and what it cost"],
    example_path: Annotated[Path | None, "one item that is not in the test set, for a one-shot prompt"] = None,
) -> None:
    started = time.monotonic()
    asker = Asker(asking, name, f"{name} translates")
    items_by_id = items.read(expressions_path)
    example = items.held_out(items_by_id, example_path) if example_path else None
    flow = partial(translate.translate, system=name, form=form, example=example)
    ask = asker.ask_with_progress(f"translating with {name}, items", len(items_by_id))
    rows, entries = transcript.record(flow, list(items_by_id.values()), ask)
    transcript.write(transcript_path, entries)
    tables.write_frame(rows_path, translations.to_frame(rows))
    provenance.write_manifest(
        manifest_path,
        inputs=[path for path in (expressions_path, example_path, asking.weights_path) if path],
        outputs=[transcript_path, rows_path],
        settings=json.loads(asking.model) | {"form": form},
        seconds=time.monotonic() - started,
        **asker.facts(answer for entry in entries for exchange in entry.rounds for answer in exchange.answers),
        seed=asking.seed,
    )
    provenance.say(f"{name}: {len(rows)} translations in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    run(main)
