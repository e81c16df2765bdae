"""The metric for people who just want to score their texts: open a model once, score any number of pairs.

>>> metric = Metric.open("results/adapters/smollm2-135m/all")
>>> for scored in metric.score([{"instruction": "Name a Greek dish.", "output": "Sushi."}]):
...     print(scored.score, scored.report)
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import excam
from excam import gpus, scoring
from excam.config import Model, Sampling
from excam.exceptions import ModelInvalid
from excam.inference import opening
from excam.inference.journal import Journal, ask
from excam.inference.run import run
from excam.judges import report
from excam.metric import pairs as reading
from excam.metric import served, turns
from excam.metric.pairs import Pair
from excam.metric.scored import Scored, Scores
from excam.provenance import Progress, say, sha256
from excam.records import Report, Sample, Verdict

BATCH = 256  # rows asked about before the first of them is given back; bounds memory for long files
ADAPTER = "adapter_model.safetensors"
MAX_TOKENS = 512  # longest report, as the paper's Phi-3 (Table 6)


class Metric:
    """A model that writes error reports. Open it with `Metric.open` (or `excam.load`)."""

    def __init__(self, backend: opening.Lazily, signature: str, max_tokens: int) -> None:
        self._backend, self.signature = backend, signature
        self._sampling = opening.sampling(
            backend.model.model_copy(update={"sampling": Sampling(max_tokens=max_tokens)}), 0
        )

    @classmethod
    def open(
        cls,
        adapter: str | Path,
        base: str | Path | None = None,
        max_tokens: int = MAX_TOKENS,
        server: str | None = None,
    ) -> Metric:
        """Open the adapter in a folder. `base` is the folder of its base model; by default where the workflow put it.

        With `server`, the address of one that speaks OpenAI's chat completions, `adapter` is its name there, and the
        signature says "on:served". Raises ModelInvalid when either folder is missing or not what the adapter's manifest
        says.
        """
        if server is not None:
            return cls(served.backend(str(adapter), server), served.signature(str(adapter)), max_tokens)
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
            dtype="bfloat16"
            if gpus.visible()
            else "float32",  # bench/neighbours.py: float32 gives each row its verdict
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

    def score(
        self,
        pairs: Iterable[Mapping[str, Any] | Pair],
        journal: Path | None = None,
        progress: Progress | None = None,
    ) -> Scores:
        """Judge pairs with keys `output` and, optionally, `instruction`, `id`, `language`, `system`; a result each.

        In order, and as soon as a batch is judged: an iterator of any length takes the memory of one batch. Without an
        instruction a neutral one stands in (spec 19). With `journal`, answers are kept there and a second call asks
        only for what is missing. Raises InputInvalid for a row that is no pair or has the id of another: before
        anything is asked where the rows are at hand (a list), else when it comes to it.
        """
        if isinstance(pairs, Sequence):
            known = list(reading.distinct(_pair(number, row) for number, row in enumerate(pairs, 1)))
            return Scores(self._results(iter(known), journal, progress or Progress("scoring, rows", len(known))))
        coming = (_pair(number, row) for number, row in enumerate(pairs, 1))
        return Scores(self._results(reading.distinct(coming), journal, progress or Progress("scoring, rows", None)))

    def ascore(self, pairs: Iterable[Mapping[str, Any] | Pair], journal: Path | None = None) -> AsyncIterator[Scored]:
        """The same for `async for`: a thread waits for the model, so that the event loop goes on meanwhile.

        Behind a server, as many requests are open at once as the backend allows; results keep the order of the pairs.
        """
        return turns.waiting(self.score(pairs, journal))

    def _results(self, pairs: Iterator[Pair], journal: Path | None, progress: Progress) -> Iterator[Scored]:
        with tempfile.TemporaryDirectory() as scratch:
            kept = None if journal is None else Journal(journal)
            while part := list(islice(pairs, BATCH)):
                answers = Journal(Path(scratch, f"{progress.done}.jsonl")) if kept is None else kept
                asking = partial(ask, self._backend, self._sampling, answers, progress=progress)
                verdicts = run(report.judge, [_sample(pair) for pair in part], asking)
                yield from map(self._scored, part, verdicts)

    def _scored(self, pair: Pair, verdict: Verdict) -> Scored:
        return Scored(
            id=pair.id,
            instruction=pair.instruction,
            output=pair.output,
            score=None if verdict.report is None else scoring.score(verdict.report, verdict.certainty),
            certainty=verdict.certainty,
            report=verdict.report,
            failure=verdict.failure,
            recovered=verdict.recovered,
            thinking=verdict.thinking,
            signature=self.signature,
            language=pair.language,
            system=pair.system,
        )


def _pair(number: int, row: Mapping[str, Any] | Pair) -> Pair:
    return row if isinstance(row, Pair) else reading.pair(number, row)


def _sample(pair: Pair) -> Sample:
    nothing: dict[str, Any] = dict.fromkeys(("dataset", "culture", "stratum", "licence", "answer"), "")
    same = dict.fromkeys(("id", "pair", "base"), pair.id)
    texts = {"instruction": pair.instruction, "output": pair.output, "language": pair.language}
    return Sample(**same, **texts, task="generation", report=Report(), origin="source", **nothing)


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
