"""Translate every item with one model; write the translations and a transcript of every request and answer."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from excam.acre import items, translate, translations
from excam.core import provenance, tables
from scripts import run, step
from scripts._asking import RecordedOptions, Recorder

VERSION = 2


@step
def main(
    asking: RecordedOptions,
    name: Annotated[str, "the key of the model in config.yaml"],
    form: translate.Form,
    expressions_path: Path,
    rows_path: Path,
    example_path: Annotated[Path | None, "one item that is not in the test set, for a one-shot prompt"] = None,
) -> None:
    asker = Recorder(asking, name, f"{name} translates")
    items_by_id = items.read(expressions_path)
    example = items.held_out(items_by_id, example_path) if example_path else None
    flow = partial(translate.translate, system=name, form=form, example=example)
    rows = asker.record(f"translating with {name}, items", flow, list(items_by_id.values()))
    tables.write_frame(rows_path, translations.to_frame(rows))
    asker.write_manifest([expressions_path, example_path], [rows_path], {"form": form}, seed=asking.seed)
    provenance.say(f"{name}: {len(rows)} translations in {asker.seconds:.0f} s")


if __name__ == "__main__":
    run(main)
