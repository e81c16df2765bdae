"""Check that an adapter is active in the engine that serves it, before anything is judged with it.

Then the checkpoints of its training, of which nothing more is to be made, are removed.
"""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from excam.core import provenance
from excam.error_reports import adapter_check
from scripts import run, step
from scripts._asking import ModelOptions, model_of, prepare_process

VERSION = 2


@step
def main(
    options: ModelOptions,
    name: Annotated[str, "<model>/<trained_on>"],
    weights_path: Annotated[Path, "manifest of the fetched base model"],
    adapter_path: Annotated[Path, "manifest of the adapter"],
    checkpoints_path: Annotated[Path, "of its training"],
    verified_path: Path,
) -> None:
    model = model_of(options)
    prepare_process(model, name, weights_path, adapter_path)
    proof = adapter_check.verify(name, model, weights_path, adapter_path)
    inputs = {str(path): provenance.sha256(path) for path in (weights_path, adapter_path)}
    provenance.write_json(verified_path, {"backend": model.backend, "inputs": inputs, **asdict(proof)})
    shutil.rmtree(checkpoints_path, ignore_errors=True)
    provenance.say(
        f"{name}: at work: it moves {proof.moved:.3f} a token, {model.backend} is {proof.apart:.4f} from PEFT "
        f"({proof.answers} fixed answers, {proof.tokens} tokens)"
    )


if __name__ == "__main__":
    run(main)
