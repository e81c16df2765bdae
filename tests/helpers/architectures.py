"""Run the classes of the paper's models through all stages, with tiny random weights in the published file layout.

Runs the scripts of the workflow as its rules call them: a model is fetched from a folder, rows are tokenised, an
adapter of the paper's shape (rank 128, alpha 32, all linear layers) is trained on the CPU, proven to be at work and
asked: first with transformers, then, where there is an environment with vLLM (`./setup.sh vllm`), with vLLM, beside the
weights and merged into them. Proven in bfloat16, in which models are served; asked in float32 where the engine can, in
which two engines give the same answers. What random weights say is not worth reading. It is seen whether stages end,
whether a LoRA is where it belongs, and how far two engines are apart.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tiny_checkpoints import ARCHITECTURES, SEED, Architecture, make

from excam.config import Model, Recipe
from excam.core import provenance
from excam.error_reports import record_files
from excam.error_reports.records import CulturalError, Report, Sample, to_row
from excam.inference import Completion, transcript
from excam.inference.hosting import FOLDER_VARIABLE

ROOT = Path(__file__).parents[2]
VLLM = ROOT / ".venv-vllm/bin/python"
IN_NAME = Path(__file__).with_name("in_name")
STAGES = (
    "fetch", "tokenise", "train", "verify", "judge", "verify vLLM", "judge vLLM", "verify merged", "judge merged"
)  # fmt: skip
RECIPE = Recipe(rank=128, alpha=32, epochs=3, learning_rate=2e-3, warmup_steps=1, save_steps=4, max_length=2048)
SMALL = {"enforce_eager": True, "kv_cache_memory_bytes": 2**26, "max_num_seqs": 8}  # of `engine:`
NO_EXPERTS = "on a CPU, vLLM has no LoRA beside the weights of a mixture of experts"
DISHES = {
    "Japan": "sushi", "Peru": "ceviche", "Italy": "risotto", "Greece": "moussaka", "Mexico": "mole", "Korea": "kimchi",
    "India": "dal", "Morocco": "tajine",
}  # fmt: skip


@dataclass(slots=True)
class Stage:
    """What became of one stage: the seconds it took, else why it failed or was left out."""

    seconds: float | None = None
    failed: str | None = None
    left_out: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Found:
    """What was found of one architecture."""

    class_name: str = ""
    files: list[str] = field(default_factory=list)  # as fetched
    lora: dict[str, int] = field(default_factory=dict)  # layers by the last part of their name
    not_of_text: list[str] = field(default_factory=list)  # layers with a LoRA outside of the language model
    engines: int = 0  # that jobs shared: one for each backend and type
    stages: dict[str, Stage] = field(default_factory=dict)


def tried(name: str, folder: Path) -> Found:
    """Take one architecture through all stages in an empty folder of its own; a failed one is noted, not raised."""
    chosen, record = ARCHITECTURES[name], Found()
    source = make(name, folder / "published")
    record.class_name = json.loads((source / "config.json").read_text(encoding="utf-8"))["architectures"][0]
    _samples(folder)
    with _engines(folder) as environment:
        place = Path(environment[FOLDER_VARIABLE])
        for stage in STAGES:
            why = _left_out(stage, chosen, record)
            record.stages[stage] = Stage(left_out=why) if why else _done(stage, name, folder, environment)
            _looked_at(stage, folder, record)
        record.engines = len(list(place.glob("*.lock")))
    return record


def _left_out(stage: str, chosen: Architecture, record: Found) -> str | None:
    """Why a stage is not run."""
    if any(done.failed for before, done in record.stages.items() if before in STAGES[:3]):
        return "an earlier stage failed"
    if "vLLM" not in stage and "merged" not in stage:
        return None
    if not VLLM.is_file():
        return "no environment with vLLM; ./setup.sh vllm makes one"
    return NO_EXPERTS if chosen.mixture_of_experts and "merged" not in stage else None


def _done(stage: str, name: str, folder: Path, environment: dict[str, str]) -> Stage:
    """Run one stage as its rule does."""
    words = [str(word) for word in command(stage, name, folder)]
    started = time.monotonic()
    if stage.partition(" ")[2] and not any(VLLM.parents[2].glob("lib/python*/site-packages/torchvision")):
        path = os.pathsep.join(filter(None, [str(IN_NAME), os.environ.get("PYTHONPATH")]))
        environment = environment | {"PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        return Stage(failed=(lines or ["it said nothing"])[-1][:400])
    return Stage(seconds=round(time.monotonic() - started, 1))


def command(stage: str, name: str, folder: Path) -> list[str | Path | int]:
    """What is typed after `python` for a stage, as in rules/."""
    at = Places(folder)
    trained_on: list[str | Path | int] = ["--trained-on", "all", "--mixture", at.mixture, "--tokens", at.tokens]
    words: dict[str, list[str | Path | int]] = {
        "fetch": ["fetch_model", "--model", name, "--manifest", at.weights,
                  "--source", Model(folder=str(folder / "published"), licence="none").model_dump_json()],
        "tokenise": ["tokenize_samples", "--weights", at.weights, "--samples", at.samples, "--tokens", at.tokens,
                     "--counts", folder / "tokens.json", "--recipe", RECIPE.model_dump_json(include={"max_length"})],
        "train": ["train_adapter", "--model", name, "--weights", at.weights, *trained_on,
                  "--recipe", RECIPE.adapter_settings,
                  "--layout", "cpu", "--save-steps", RECIPE.save_steps, "--seed", SEED,
                  "--checkpoints", at.checkpoints, "--adapter", at.adapter.parent],
    }  # fmt: skip
    if stage in words:
        return ["-m", "scripts", *words[stage]]
    doing, _, way = stage.partition(" ")
    entry: dict[str, Any] = {"backend": "vllm" if way else "transformers", "licence": "none"}
    entry |= {"serve": "merged"} if way == "merged" else {}
    pace = json.dumps(SMALL if way else {})
    asked: list[str | Path | int] = ["--gpus", 0, "--pace", pace, "--weights", at.weights, "--adapter", at.adapter]
    if doing == "verify":
        files: list[str | Path | int] = ["--checkpoints", at.checkpoints, "--verified", at.verified(way)]
        return [
            "-m",
            "scripts",
            "verify_adapter",
            "--name",
            f"{name}/all",
            "--model",
            json.dumps(entry),
            *asked,
            *files,
        ]
    entry |= {"dtype": ARCHITECTURES[name].dtype, "sampling": {"max_tokens": 24}}
    files = ["--judge", "report", "--samples", at.samples, "--journal", folder / f"journal {way}.jsonl"]
    files += ["--seed", SEED, "--transcripts", at.transcript(way)]
    files += ["--manifests", folder / f"transcript {way}.manifest.json"]
    return ["-m", "scripts", "judge", "--name", f"{name}/all/report", "--model", json.dumps(entry), *asked, *files]


class Places:
    """Paths of the files of a run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.weights = folder / "models/manifest.json"
        self.adapter = folder / "adapter/manifest.json"
        self.samples = folder / "dishes/train.parquet"
        self.mixture = folder / "mixture.jsonl"
        self.tokens = folder / "tokens.parquet"
        self.checkpoints = folder / "checkpoints"

    def verified(self, way: str) -> Path:
        return self.folder / f"verified {way}.json"

    def transcript(self, way: str) -> Path:
        return self.folder / f"transcript {way}.jsonl"


def _samples(folder: Path) -> None:
    """Pairs of a right and a wrong row, to train on and to ask about."""
    rows = []
    for at, (country, dish) in enumerate(DISHES.items()):
        other = list(DISHES.values())[at - 1]
        wrong = CulturalError("output", other, "major", "incorrect information", start=16, end=16 + len(other))
        reports = {"right": Report(), "wrong": Report((wrong,), f"People in {country} eat {dish}.")}
        rows += [
            Sample(
                id=f"dishes/{at}/{way}", pair=f"dishes/{at}", base=f"dishes/{at}", dataset="dishes", task="freeform",
                instruction=f"What is eaten in {country}?", report=report, origin="hard", language="English",
                output=f"People there eat {dish if way == 'right' else other}.", culture=country, stratum=country,
                licence="CC0-1.0", answer=dish,
            )
            for way, report in reports.items()
        ]  # fmt: skip
    at = Places(folder)
    record_files.write_samples(at.samples, rows)
    lines = [json.dumps(to_row(row)) + "\n" for row in rows]
    provenance.write_text(at.mixture, "".join(lines))


def _looked_at(stage: str, folder: Path, record: Found) -> None:
    """Read what a stage left."""
    at, state = Places(folder), record.stages[stage]
    doing, _, way = stage.partition(" ")
    if state.seconds is None:
        return
    if stage == "fetch":
        record.files = sorted(file.name for file in (at.weights.parent / "files").iterdir())
    elif stage == "train":
        names = _adapted(at.adapter.parent)
        record.lora = dict(sorted(Counter(name.rpartition(".")[2] for name in names).items()))
        record.not_of_text = [name for name in names if not _is_of_text(name)]
        kept = provenance.read_json(at.adapter)
        state.facts = {name: kept[name] for name in ("steps", "tokens", "final_loss", "fixed_answers")}
    elif doing == "verify":
        state.facts = provenance.read_json(at.verified(way))
    elif doing == "judge":
        ours, reference = (_answers(at.transcript(variant)) for variant in (way, ""))
        same = sum(answer.text == other.text for answer, other in zip(ours, reference, strict=True))
        state.facts = {"rows": len(ours), "same_text": same}


def _adapted(adapter: Path) -> list[str]:
    """Names of the layers that have a LoRA."""
    from safetensors import safe_open

    with safe_open(adapter / "adapter_model.safetensors", "pt") as stored:
        names = list(stored.keys())
    return sorted(name.removesuffix(".lora_B.weight") for name in names if name.endswith(".lora_B.weight"))


def _is_of_text(layer: str) -> bool:
    """Whether a layer is one of a language model, and neither its head nor part of anything that sees."""
    parts = layer.split(".")
    return "layers" in parts and not {"vision_tower", "visual", "multi_modal_projector", "lm_head"} & set(parts)


def _answers(file: Path) -> list[Completion]:
    entries = transcript.read(file)
    return [answer for entry in entries.values() for turn in entry.rounds for answer in turn.answers]  # pyright: ignore


@contextmanager
def _engines(folder: Path) -> Iterator[dict[str, str]]:
    """The environment of all stages, with a place for engines of their own, which end with it."""
    with tempfile.TemporaryDirectory(prefix="arch-") as place:  # sockets have short paths
        threads = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
        own = {FOLDER_VARIABLE: place, "EXCAM_CACHE": str(folder / "cache"), "VLLM_CACHE_ROOT": str(folder / "vllm")}
        try:
            yield {**os.environ, **threads, **own}
        finally:
            _end(place)


def _end(place: str) -> None:
    """End the engines that were started below this place: left alone, they wait for more jobs."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if "excam.inference.host" in words and any(word.startswith(f"{place}/") for word in words):
            os.kill(int(process.name), signal.SIGTERM)
