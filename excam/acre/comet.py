"""COMET in an environment of its own (envs/mt.yaml): it needs other releases than ours. This module needs few of ours.

A folder has `model.safetensors`, `hparams.yaml` and `encoder/` (configuration and tokenizer). `convert` makes one of a
checkpoint, whose pickle is read as tensors alone.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from excam.acre.sentence_metrics import Column
from excam.acre.translations import Translated
from excam.core.exceptions import InputInvalid, ModelInvalid

WEIGHTS, SETTINGS, ENCODER = "model.safetensors", "hparams.yaml", "encoder"
KINDS = ("regression_metric", "referenceless_regression_metric")
INSTALL = "expected unbabel-comet; run in the environment of envs/mt.yaml (docs/cult-eval.md)"


def convert(checkpoint: Path, encoder: Path, to: Path) -> None:
    """Write the folder of a checkpoint (`checkpoints/model.ckpt` beside hparams.yaml) and the folder of its encoder.

    Raise ModelInvalid for a checkpoint that is no table of tensors.
    """
    import torch
    from safetensors.torch import save_file

    from excam.inference.loading import loading

    with loading(checkpoint, "a checkpoint of COMET"):
        stored: Any = torch.load(checkpoint, map_location="cpu", weights_only=True)
        tensors = {name: tensor.clone().contiguous() for name, tensor in stored["state_dict"].items()}
    to.mkdir(parents=True, exist_ok=True)
    save_file(tensors, to / WEIGHTS)
    shutil.copy(checkpoint.parents[1] / SETTINGS, to / SETTINGS)
    shutil.copytree(encoder, to / ENCODER, ignore=shutil.ignore_patterns("*.bin", "*.safetensors", "*.h5"))


def measure(rows: Sequence[Translated], folder: Path, batch: int = 8, gpus: int = 0) -> Column:
    """Return COMET's score of each translation. Raise InputInvalid without COMET, ModelInvalid for another folder."""
    try:
        from comet.models import str2model  # pyright: ignore[reportMissingImports]
    except ImportError as problem:
        raise InputInvalid(f"comet: {problem}; {INSTALL}") from None
    from importlib.metadata import version

    from safetensors.torch import load_file

    from excam.inference.loading import loading

    with loading(folder, f"{WEIGHTS}, {SETTINGS} and {ENCODER}/"):
        settings = dict(yaml.safe_load((folder / SETTINGS).read_text(encoding="utf-8")))
        kind = str(settings.pop("class_identifier"))
    if kind not in KINDS:
        raise ModelInvalid(f"{folder}: found {kind}; expected {' or '.join(KINDS)}")
    if settings.get("layer_transformation") == "sparsemax_patch":
        settings["layer_transformation"] = "softmax"  # as COMET does since 2.2.4 with its own checkpoints
    settings |= {"pretrained_model": str(folder / ENCODER), "load_pretrained_weights": False, "local_files_only": True}
    with loading(folder, f"{WEIGHTS}, {SETTINGS} and {ENCODER}/"):
        model = str2model[kind](**settings)
        model.load_state_dict(load_file(folder / WEIGHTS))
        model.eval()
    samples = [{"src": row.item.source, "mt": row.translation, "ref": row.item.reference} for row in rows]
    prediction = model.predict(samples, batch_size=batch, gpus=gpus, progress_bar=False, num_workers=1)
    signature = f"comet:{version('unbabel-comet')}|weights:{folder.resolve().name}"
    return Column(tuple(map(float, prediction.scores)), signature)
