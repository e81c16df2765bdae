"""Make an adapter and its base model in the workflow's layout, with tiny weights, and a model that answers by rule."""

import json
import struct
from pathlib import Path

from excam.core.provenance import sha256
from excam.error_reports.judges import report
from excam.error_reports.records import CulturalError, Report

SUSHI = Report((CulturalError("output", "Sushi", "major", "incorrect answer"),), "Sushi is Japanese.")
HEADER = json.dumps({"x": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}}).encode()
WEIGHTS = struct.pack("<Q", len(HEADER)) + HEADER + b"\x07"  # the least that is a safetensors file

LORA = {"peft_type": "LORA", "r": 4, "lora_alpha": 8, "target_modules": ["q_proj"], "auto_mapping": None}


def answer(request) -> str:
    """For the fake backend: Sushi is an error, and whoever says mumble gets prose instead of a report."""
    text = request.messages[-1].content
    if "mumble" in text:
        return "I think there is no error."
    return report.write(SUSHI if "Sushi" in text else Report())


def make(results: Path, name: str = "tiny", trained_on: str = "all") -> Path:
    """The folder of the adapter below `results`."""
    folder, base = results / "adapters" / name / trained_on, results / "models" / name
    (base / "files").mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True)
    texts = {"README.md": "# A card\n", "adapter_config.json": json.dumps(LORA), "loss.csv": "1\n"}
    (folder / "adapter_model.safetensors").write_bytes(WEIGHTS)
    for file, text in texts.items():
        (folder / file).write_text(text)
    outputs = {path.name: sha256(path) for path in sorted(folder.iterdir())}
    fields = {"model": name, "weights": name, "base": "c" * 40, "trained_on": trained_on, "outputs": outputs}
    (folder / "manifest.json").write_text(json.dumps({**fields, "inputs": {}, "settings": {"rank": 4}}))
    (base / "files" / "model.safetensors").write_bytes(WEIGHTS)
    files = {"model.safetensors": sha256(base / "files" / "model.safetensors")}
    settings = {"hub": f"owner/{name}", "revision": "main", "licence": "MIT"}
    fields = {"revision": "c" * 40, "licence": "MIT", "origin": f"hub owner/{name}", "settings": settings}
    (base / "manifest.json").write_text(json.dumps({**fields, "outputs": files}))
    return folder
