"""Fetch one model's weights and tokenizer, pinned, and write the manifest last."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

from excam import provenance, sources
from excam.config import Model
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--source", required=True, help="the entry of config.yaml as JSON")
    parser.add_argument("--manifest", type=Path, required=True)
    args = parser.parse_args(argv)

    started = time.monotonic()
    model, folder = Model.model_validate(json.loads(args.source)), args.manifest.parent / "files"
    args.manifest.unlink(missing_ok=True)  # where it stands, the files are those it names
    facts = sources.fetch_model(args.model, model, folder)
    provenance.write_manifest(
        args.manifest,
        inputs=[],
        outputs=sources.matching(folder, ["**/*"]),
        settings=json.loads(args.source),
        seconds=time.monotonic() - started,
        licence=model.licence,
        **facts,
    )


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "0")  # the only programs that may ask the hub
    run(main)
