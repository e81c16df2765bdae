"""The metric for people who just want to score their texts: open a model once, score any number of pairs.

>>> metric = Metric.open("results/adapters/smollm2-135m/all")
>>> for scored in metric.score([{"instruction": "Name a Greek dish.", "output": "Sushi."}]):
...     print(scored.score, scored.report)
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import excam
from excam import scoring
from excam.config import Model, Sampling
from excam.construction.wrapping import STAND_IN_INSTRUCTION
from excam.exceptions import InputInvalid, ModelInvalid
from excam.inference import opening
from excam.inference.journal import Journal, ask
from excam.inference.run import run
from excam.judges import report
from excam.provenance import Progress, say, sha256
from excam.records import Report, Sample, Verdict

BATCH = 256  # rows asked about before the first of them is given back; bounds memory for long files
ADAPTER = "adapter_model.safetensors"
MAX_TOKENS = 512  # longest report, as the paper's Phi-3 (Table 6)


@dataclass(frozen=True, slots=True)
class Scored:
    """One judged pair. `score` is Eq. 1 of the paper: below 0 for errors, else p(R) in (0, 1]; None on a failure.

    `recovered` says what the reader overlooked in an answer that is not exactly a report (`report.RECOVERED`), and
    `thinking` is what the model wrote before its answer, if marked as such.
    """

    id: str
    instruction: str
    output: str
    score: float | None
    certainty: float | None
    report: Report | None
    failure: str | None
    recovered: tuple[str, ...]
    thinking: str
    signature: str

    def to_dict(self) -> dict[str, Any]:
        """As a JSON-ready dictionary."""
        return asdict(self)


class Metric:
    """A model that writes error reports. Open it with `Metric.open` (or `excam.load`)."""

    def __init__(self, backend: opening.Lazily, signature: str, max_tokens: int) -> None:
        self._backend, self.signature = backend, signature
        self._sampling = opening.sampling(
            backend.model.model_copy(update={"sampling": Sampling(max_tokens=max_tokens)}), 0
        )

    @classmethod
    def open(cls, adapter: str | Path, base: str | Path | None = None, max_tokens: int = MAX_TOKENS) -> Metric:
        """Open the adapter in a folder. `base` is the folder of its base model; by default where the workflow put it.

        Raises ModelInvalid when either is missing or not what the adapter's manifest says.
        """
        folder = Path(adapter)
        manifest = _manifest(folder, "an adapter", ("model", "base", "trained_on", "outputs"))
        _check_adapter(folder, manifest["outputs"])
        kept = [*folder.resolve().parents][:3][-1] / "models" / manifest.get("weights", manifest["model"])
        weights = Path(base) if base else kept
        weights_manifest = weights / "manifest.json"
        found = _manifest(weights, "its base model; name its folder with --base", ("revision", "licence", "settings"))
        if found["revision"] != manifest["base"]:
            raise ModelInvalid(
                f"{weights}: base model at revision {found['revision']}; the adapter was trained on {manifest['base']}"
            )
        source = found["settings"]
        model = Model(
            gpus=0,
            backend="transformers",
            licence=found["licence"],
            hub=source.get("hub") or "local",
        )
        backend = opening.lazily(manifest["model"], model, weights_manifest, folder / "manifest.json")
        digest = manifest["outputs"][ADAPTER][:8]
        signature = "|".join(
            [
                "excam",
                f"model:{manifest['model']}@{manifest['base'].removeprefix('sha256:')[:8]}",
                f"on:{manifest['trained_on']}@{digest}",
                f"judge:report.{report.VERSION.asks}.{report.VERSION.reads}",
                "sev:minor1,major5",
                "tie:certainty",
                f"v:{excam.__version__}",
            ]
        )
        return cls(backend, signature, max_tokens)

    def score(self, pairs: Iterable[Mapping[str, Any]], journal: Path | None = None) -> Iterator[Scored]:
        """Judge pairs with keys `output` and, optionally, `instruction` and `id`; one result each, in order.

        Without an instruction a neutral one stands in (spec 19). With `journal`, answers are kept there and a second
        call asks only for what is missing. Raises InputInvalid, before anything is asked, for a row that is no pair.
        """
        samples = [_sample(number, pair) for number, pair in enumerate(pairs, 1)]
        _refuse_duplicates(samples)
        progress = Progress("scoring, rows", len(samples))
        with tempfile.TemporaryDirectory() as scratch:
            kept = Journal(journal or Path(scratch, "journal.jsonl"))
            asking = partial(ask, self._backend, self._sampling, kept, progress=progress)
            for start in range(0, len(samples), BATCH):
                part = samples[start : start + BATCH]
                verdicts = run(report.judge, part, asking)
                yield from (self._scored(sample, verdict) for sample, verdict in zip(part, verdicts, strict=True))

    def _scored(self, sample: Sample, verdict: Verdict) -> Scored:
        score = None if verdict.report is None else scoring.score(verdict.report, verdict.certainty)
        return Scored(
            sample.id,
            sample.instruction,
            sample.output,
            score,
            verdict.certainty,
            verdict.report,
            verdict.failure,
            verdict.recovered,
            verdict.thinking,
            self.signature,
        )


def read_pairs(path: Path) -> list[dict[str, Any]]:
    """Instruction-output pairs of a JSON Lines file. Raises InputInvalid naming the line that is none."""
    try:
        text = path.read_text(encoding="utf-8").removeprefix("\ufeff")
    except OSError as problem:
        reason = str(problem.strerror).lower()
        raise InputInvalid(f"{path}: {reason}; expected JSON Lines with the keys instruction and output") from None
    except UnicodeDecodeError as problem:
        raise InputInvalid(f"{path}: not UTF-8 at byte {problem.start}; save it as UTF-8") from None
    pairs = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            pair = json.loads(line)
        except (ValueError, RecursionError):  # ValueError: also digits beyond Python's limit
            raise InputInvalid(f'{path}:{number}: not JSON; expected {{"instruction": ..., "output": ...}}') from None
        _sample(number, pair, str(path))
        pairs.append(pair)
    if not pairs:
        raise InputInvalid(f"{path}: 0 rows; expected one JSON object a line")
    return pairs


def _sample(number: int, pair: object, where: str = "row") -> Sample:
    if not isinstance(pair, Mapping):
        raise InputInvalid(f"{where}:{number}: found {type(pair).__name__}; expected an object with a key output")
    texts = {key: pair.get(key, default) for key, default in (("instruction", STAND_IN_INSTRUCTION), ("output", None))}
    for key, text in texts.items():
        if not isinstance(text, str):
            found = ", ".join(map(str, pair))[:100] or "no keys"
            raise InputInvalid(f"{where}:{number}: key {key}: expected text; found {type(text).__name__} ({found})")
    given = pair.get("id")
    name = str(number if given is None else given)
    nothing: dict[str, Any] = dict.fromkeys(("dataset", "language", "culture", "stratum", "licence", "answer"), "")
    return Sample(
        id=name, pair=name, base=name, task="generation", report=Report(), origin="source", **texts, **nothing
    )


def _refuse_duplicates(samples: Sequence[Sample]) -> None:
    seen: set[str] = set()
    for sample in samples:
        if sample.id in seen:
            raise InputInvalid(f"id {sample.id}: occurs twice; expected unique ids, or none")
        seen.add(sample.id)


def _manifest(folder: Path, what: str, keys: Sequence[str]) -> dict[str, Any]:
    path = folder / "manifest.json"
    if not path.is_file():
        raise ModelInvalid(f"{folder}: no {path.name}; expected the folder of {what}")
    try:
        loaded = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        loaded = None
    manifest: dict[str, Any] = loaded if isinstance(loaded, dict) else {}
    for key in keys:
        if key not in manifest:
            raise ModelInvalid(f"{path}: no key {key}; expected the manifest of {what}")
    say(f"using {folder}")
    return manifest


def _check_adapter(folder: Path, outputs: Mapping[str, str]) -> None:
    """Raises ModelInvalid where the weights are not those of the manifest: they would answer under a wrong name."""
    file = folder / ADAPTER
    expected = outputs.get(ADAPTER, "none")
    found = sha256(file) if file.is_file() else "no such file"
    if found != expected:
        raise ModelInvalid(f"{file}: expected sha256 {expected}, as in its manifest; found {found}; train it again")
