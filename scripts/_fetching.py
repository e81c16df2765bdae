"""Fetch files of a model in a job, and write the manifest last."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from excam.config import Model
from excam.core import provenance
from excam.inference import sources


def fetch(argv: Sequence[str] | None, what: str | None, fill: Callable[[str, Model, Path], dict[str, str]]) -> None:
    """Parse the options, let `fill` put files of the model into a folder, and write their manifest.

    `what` describes the command, `fill` is a function of `excam.inference.sources`.
    """
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--model", required=True)
    parser.add_argument("--source", required=True, help="the entry of config.yaml as JSON")
    parser.add_argument("--manifest", type=Path, required=True)
    args = parser.parse_args(argv)

    started = time.monotonic()
    model, folder = Model.model_validate(json.loads(args.source)), args.manifest.parent / "files"
    args.manifest.unlink(missing_ok=True)  # if it exists, the files are those it names
    facts = fill(args.model, model, folder)
    provenance.write_manifest(
        args.manifest,
        inputs=[],
        outputs=sources.matching_files(folder, ["**/*"]),
        settings=json.loads(args.source),
        seconds=time.monotonic() - started,
        licence=model.licence,
        **facts,
    )
