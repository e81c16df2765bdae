"""The metric for people who just want to score their texts: open a model once, score any number of pairs.

>>> metric = Metric.open("results/adapters/smollm2-135m/all")
>>> for scored in metric.score([{"instruction": "Name a Greek dish.", "output": "Sushi."}]):
...     print(scored.score, scored.report)
"""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import excam
from excam import extras, gpus, hashing, scoring
from excam.config import Model, Sampling
from excam.exceptions import InputInvalid, ModelInvalid
from excam.inference import Answer, lora, opening
from excam.inference.journal import Journal, ask
from excam.inference.run import run
from excam.judges import report
from excam.metric import adapters, manifests, probability, served, turns
from excam.metric import pairs as reading
from excam.metric.cautions import Cautions
from excam.metric.defaults import BAND, MAX_TOKENS
from excam.metric.manifests import AdapterManifest, BaseManifest
from excam.metric.pairs import Pair
from excam.metric.probability import Calibrated
from excam.metric.scored import Scored, Scores
from excam.provenance import Progress, say
from excam.records import Report, Sample, Verdict

BATCH = 256  # rows asked about before the first of them is given back; bounds memory for long files
ADAPTER = "adapter_model.safetensors"


class Metric:
    """A model that writes error reports. Open it with `Metric.open` (or `excam.load`)."""

    def __init__(
        self,
        backend: opening.Lazily,
        described: str,
        max_tokens: int,
        cautions: Cautions,
        calibrated: Calibrated | None = None,
    ) -> None:
        """`described`: what a signature says of the judge, without its calibration and our version."""
        self._backend, self._described, self._cautions, self._calibrated = backend, described, cautions, calibrated
        self._sampling = opening.sampling(
            backend.model.model_copy(update={"sampling": Sampling(max_tokens=max_tokens)}), 0
        )

    @property
    def described(self) -> str:
        """The judge in a signature: model, adapter, prompt and reader, calibration; not how answers are drawn."""
        return f"{self._described}|{self._calibrated.said if self._calibrated else probability.NONE}"

    @property
    def longest(self) -> str:
        """The longest report in a signature, where it is not the usual one: what is cut is a failure."""
        return f"|max:{self._sampling.max_tokens}" if self._sampling.max_tokens != MAX_TOKENS else ""

    @property
    def signature(self) -> str:
        """Everything a score hangs on, on one line."""
        how = self._sampling
        drawn = f"|temp:{how.temperature:g},seed{how.seed}" if how.temperature else ""
        return f"excam|{self.described}{drawn}{self.longest}|v:{excam.__version__}"

    def sampled(self, temperature: float, seed: int) -> Metric:
        """The same judge with answers drawn at a temperature; the model is shared. A calibration is of greedy answers.

        p(R) stays that of the unmodified distribution. Raises InputInvalid for a temperature that is not above 0.
        """
        if not temperature > 0:
            raise InputInvalid(f"temperature {temperature:g}: every answer would be the same; expected more than 0")
        other = copy.copy(self)
        other._sampling, other._calibrated = replace(self._sampling, temperature=temperature, seed=seed), None
        return other

    def close(self) -> None:
        """Give the model's memory back; the next question opens it again."""
        self._backend.close()

    @classmethod
    def open(
        cls,
        adapter: str | Path,
        base: str | Path | None = None,
        max_tokens: int = MAX_TOKENS,
        band: tuple[float, float] = BAND,
        calibration: str | None = probability.FILE,
        endpoint: str | None = None,
    ) -> Metric:
        """Open an adapter: its folder, or its name below ./results/adapters (`smollm2-135m/all`).

        `base` is the folder of its base model, by default where the workflow or `excam pull` put it. The file
        `calibration` of the folder, where it is there, gives each row the probability of an error, and a verdict that
        is "unsure" inside `band`. Raises ModelInvalid when adapter or base is missing or not what the adapter's
        manifest says, or the calibration is that of another judge; InputInvalid for a band that is none; NotInstalled
        in a light install.

        With `endpoint`, the address of a server that speaks OpenAI's chat completions, `adapter` is its name there, and
        the signature says "on:served"; its key, where it wants one, is in EXCAM_ENDPOINT_KEY.
        """
        if endpoint is not None:
            name = str(adapter)
            cautions = Cautions.of_judge([name])
            return cls(served.backend(name, endpoint), served.described(name), max_tokens, cautions)
        extras.needed("inference", "torch", "transformers", "peft")
        folder = adapters.found(adapter)
        manifest = adapters.manifest(folder)
        say(f"using {folder}")
        _check_adapter(folder, manifest.outputs)
        lora.read(folder)
        weights = Path(base) if base else adapters.base_of(folder, manifest)
        weights_manifest = weights / adapters.MANIFEST
        found = manifests.read(weights_manifest, BaseManifest, "its base model; name its folder with --base")
        say(f"using {weights}")
        if found.revision != manifest.base:
            raise ModelInvalid(
                f"{weights}: base model at revision {found.revision}; the adapter was trained on {manifest.base}"
            )
        source = found.settings
        # In bfloat16 the rows beside a row moved 6 of 64 verdicts, in float32 none (bench/neighbours.py).
        cards = gpus.visible()
        gpus.refuse_unusable(min(1, len(cards)), f"set {gpus.VISIBLE}= (nothing)")
        dtype = "bfloat16" if cards else "float32"
        model = Model(gpus=0, backend="transformers", dtype=dtype, licence=found.licence, hub=source.hub or "local")
        backend = opening.lazily(manifest.model, model, weights_manifest, folder / adapters.MANIFEST)
        described = f"{_described(manifest)}|dtype:{dtype}"
        band = probability.checked_band(band)
        fitted = folder / calibration if calibration else None
        calibrated = fitted and probability.opened(fitted, manifest.outputs[ADAPTER], f"excam|{described}", band)
        names = (manifest.model, source.hub, source.wheel and source.wheel.gguf, source.folder)
        return cls(backend, described, max_tokens, Cautions.of_judge(names, manifest.languages), calibrated)

    def score(
        self,
        pairs: Iterable[Mapping[str, Any] | Pair],
        journal: Path | None = None,
        progress: Progress | None = None,
    ) -> Scores:
        """Judge pairs with keys `output` and, optionally, `instruction`, `id`, `language`, `system`, `culture`.

        In order, and as soon as a batch is judged: an iterator of any length takes the memory of one batch. Without an
        instruction a neutral one stands in (spec 19). With `journal`, answers are kept there and a second call asks
        only for what is missing. Raises InputInvalid for a row that is no pair or has the id of another: before
        anything is asked where the rows are at hand (a list), else when it comes to it.
        """
        coming, total = reading.given(pairs), len(pairs) if isinstance(pairs, Sequence) else None
        return Scores(self._results(coming, journal, progress or Progress("scoring, rows", total)))

    def ascore(
        self,
        pairs: Iterable[Mapping[str, Any] | Pair],
        journal: Path | None = None,
        progress: Progress | None = None,
    ) -> AsyncIterator[Scored]:
        """The same for `async for`: a thread waits for the model, so that the event loop goes on meanwhile.

        Behind a server, as many requests are open at once as the backend allows; results keep the order of the pairs.
        """
        return turns.waiting(self.score(pairs, journal, progress))

    def _results(self, pairs: Iterator[Pair], journal: Path | None, progress: Progress) -> Iterator[Scored]:
        kept = None if journal is None else Journal(journal)
        while part := list(islice(pairs, BATCH)):
            answers = _Batch() if kept is None else kept
            asking = partial(ask, self._backend, self._sampling, answers, progress=progress)
            verdicts = run(report.judge, [_sample(pair) for pair in part], asking)
            yield from map(self._scored, part, verdicts)

    def _scored(self, pair: Pair, verdict: Verdict) -> Scored:
        chance = self._calibrated.probability(verdict.report, verdict.certainty) if self._calibrated else None
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
            warnings=self._cautions.of(pair, verdict.failure),
            probability=chance,
            verdict=probability.verdict(verdict.report, chance, self._calibrated.band if self._calibrated else BAND),
            culture=pair.culture,
        )


def _described(manifest: AdapterManifest) -> str:
    """What a signature says of an adapter, its base, how it is asked, and how answers become scores."""
    parts = (
        f"model:{manifest.model}@{manifest.base.removeprefix('sha256:')[:8]}",
        f"on:{manifest.trained_on}@{manifest.outputs[ADAPTER][:8]}",
        served.asked(),
    )
    return "|".join(parts)


class _Batch(Journal):
    """The answers of one batch where nobody asks for a journal: in memory, since no later run goes on from them."""

    def __init__(self) -> None:
        self._answers: dict[str, Answer] = {}

    def add(self, identity: str, batch: Mapping[str, Answer]) -> None:
        self._answers |= batch


def _sample(pair: Pair) -> Sample:
    nothing: dict[str, Any] = dict.fromkeys(("dataset", "culture", "stratum", "licence", "answer"), "")
    same = dict.fromkeys(("id", "pair", "base"), pair.id)
    texts = {"instruction": pair.instruction, "output": pair.output, "language": pair.language}
    return Sample(**same, **texts, task="generation", report=Report(), origin="source", **nothing)


def _check_adapter(folder: Path, outputs: Mapping[str, str]) -> None:
    """Raises ModelInvalid where the weights are not those of the manifest: they would answer under a wrong name."""
    file = folder / ADAPTER
    expected = outputs.get(ADAPTER, "none")
    if found := hashing.unlike({file: expected}).get(file):
        found = "no such file" if found == hashing.GONE else found
        raise ModelInvalid(f"{file}: expected sha256 {expected}, as in its manifest; found {found}; train it again")
