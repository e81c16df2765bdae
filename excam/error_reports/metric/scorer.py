"""The metric for users' own texts: open a model once, score any number of pairs.

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

from excam.core.exceptions import InputInvalid
from excam.core.provenance import Progress
from excam.core.release import VERSION
from excam.error_reports import judges, scoring
from excam.error_reports.metric import probability
from excam.error_reports.metric.probability import Calibrated
from excam.error_reports.records import WEIGHTS, Report, Sample, Verdict
from excam.inference import Request, Sampling, backend_factory
from excam.inference.budget import Budget
from excam.inference.journal import InMemory, Journal, ask
from excam.inference.run import run
from excam.scoring import adapters, async_bridge, local_model, server_model
from excam.scoring import pairs as reading
from excam.scoring.defaults import BAND, BATCH, MAX_TOKENS
from excam.scoring.evidence import OPEN_BOOK_PASSAGES, Index, open_book
from excam.scoring.manifests import AdapterManifest
from excam.scoring.pairs import Pair
from excam.scoring.scored import Scored, Scores
from excam.scoring.warnings import WarningRules

TUNED, PROMPTED = "report", "prompted-report"  # judges of adapters, and of models that were not tuned for it


class Metric:
    """A model that writes error reports. Open it with `Metric.open` (or `excam.load`)."""

    def __init__(
        self,
        backend: backend_factory.LazyBackend,
        described: str,
        max_tokens: int,
        warnings: WarningRules,
        calibrated: Calibrated | None = None,
        judge: str = TUNED,
    ) -> None:
        """`described` is the judge's part of a signature, without its calibration and our version."""
        self._backend, self._described, self._warnings, self._calibrated = backend, described, warnings, calibrated
        self._judge = judges.load(judge).judge
        self._sampling = Sampling(max_tokens=max_tokens)

    @property
    def described(self) -> str:
        """Return the judge's part of a signature: model, adapter, prompt, parser and calibration, without sampling."""
        return f"{self._described}|{self._calibrated.signature if self._calibrated else probability.NONE}"

    @property
    def token_limit(self) -> str:
        """Return the limit of a report in a signature, "" for the default: a truncated report is a failure."""
        return f"|max:{self._sampling.max_tokens}" if self._sampling.max_tokens != MAX_TOKENS else ""

    @property
    def signature(self) -> str:
        """Return everything that a score depends on, in one line."""
        how = self._sampling
        sampled = f"|temp:{how.temperature:g},seed{how.seed}" if how.temperature else ""
        return f"excam|{self.described}{sampled}{self.token_limit}|v:{VERSION}"

    def sampled(self, temperature: float, seed: int) -> Metric:
        """Return this judge with sampled answers and no calibration, which is of greedy answers; the model is shared.

        p(R) is still computed from the unmodified distribution. Raises InputInvalid for a temperature of 0 or less.
        """
        if not temperature > 0:
            raise InputInvalid(f"temperature {temperature:g}: every answer would be the same; expected more than 0")
        other = copy.copy(self)
        other._sampling, other._calibrated = replace(self._sampling, temperature=temperature, seed=seed), None
        return other

    def with_open_book(self, index: Index) -> Metric:
        """Return this judge with passages of an index before each pair, and no calibration, which is of a closed book.

        The model is shared.
        """
        other = copy.copy(self)
        other._judge = open_book(self._judge, lambda sample: index.passages_for(sample.instruction, sample.output))
        other._described, other._calibrated = f"{self._described}|{index.signature}x{OPEN_BOOK_PASSAGES}", None
        return other

    def close(self) -> None:
        """Free the model's memory; the next request loads it again."""
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
        judge: str | None = None,
        engine: str | None = None,
        budget: Budget | None = None,
    ) -> Metric:
        """Open a model that judges: an adapter's folder, or its name below ./results/adapters (`smollm2-135m/all`).

        Or the folder of a whole model, or one behind a server. `judge` is how it is asked: an adapter as it was trained
        (`report`), any other model with an explanation and examples (`prompted-report`), if it is not given.

        `base` is the folder of its base model, by default where the workflow or `excam pull` put it. If the folder has
        the file `calibration`, each row gets the probability of an error, and the verdict "unsure" inside `band`.
        Raises ModelInvalid if adapter or base is missing or not what the adapter's manifest says, or if the calibration
        is that of another judge; InputInvalid for an invalid band; NotInstalled in a light install.

        With `endpoint`, the address of a server that speaks OpenAI's chat completions, `adapter` is its name there, and
        the signature has "on:served". The server's key, if it needs one, is in EXCAM_ENDPOINT_KEY. The form
        `NAME@http://host/v1` of `adapter` is name and endpoint together.

        `engine` runs a model of this machine: "vllm" or "transformers", by default vLLM where a GPU is visible and vLLM
        is installed. `budget` limits what a model behind a server may cost; BudgetSpent is raised where it ends.
        """
        if judge not in (None, TUNED, PROMPTED):
            raise InputInvalid(f"--judge: found {judge}; expected {TUNED} or {PROMPTED}")
        if served := server_model.name_and_address(str(adapter)):
            adapter, endpoint = served
        if endpoint is not None:
            server_model.refuse_engine(str(adapter), engine)
            return cls._served(str(adapter), endpoint, max_tokens, judge or PROMPTED, budget)
        if local_model.is_weights(Path(adapter)):
            return cls._untuned(Path(adapter), max_tokens, judge or PROMPTED, engine)
        if judge == PROMPTED:
            raise InputInvalid(f"--judge: found {PROMPTED} for adapter {adapter}; expected {TUNED}, as it was trained")
        folder, manifest, model = local_model.open_adapter(adapter, base, engine)
        described = f"{_described(manifest)}|{model.computed}"
        band = probability.checked_band(band)
        fitted = folder / calibration if calibration else None
        calibrated = fitted and probability.read_calibration(
            fitted, manifest.outputs[adapters.ADAPTER], f"excam|{described}", band
        )
        source = model.base.settings
        names = (manifest.model, source.hub, source.wheel and source.wheel.gguf, source.folder)
        return cls(model.backend, described, max_tokens, WarningRules.of_judge(names, manifest.languages), calibrated)

    @classmethod
    def _served(cls, name: str, endpoint: str, max_tokens: int, judge: str, budget: Budget | None) -> Metric:
        if judge == PROMPTED:
            server = server_model.probed(name, endpoint, budget)
        else:
            server = server_model.ProbedServer(server_model.backend(name, endpoint, budget=budget), structure=False)
        described = f"model:{name}|on:served|{_asked(judge)}{_structure(judge, server.structure)}"  # version unknown
        described += "|logprobs:none" * (not server.logprobs)
        found = cls(server.backend, described, max_tokens, WarningRules.of_judge([name]), judge=judge)
        found._sampling = replace(found._sampling, logprobs=server.logprobs)
        return found

    @classmethod
    def _untuned(cls, folder: Path, max_tokens: int, judge: str, engine: str | None) -> Metric:
        model = local_model.open_weights(folder, engine)
        structure = _structure(judge, model.engine == "vllm")
        described = f"{local_model.described(folder, model)}|on:nothing|{_asked(judge)}{structure}"
        rules = WarningRules.of_judge([folder.resolve().name, model.base.settings.hub])
        return cls(model.backend, f"{described}|{model.computed}", max_tokens, rules, judge=judge)

    def score(
        self,
        pairs: Iterable[Mapping[str, Any] | Pair],
        journal: Path | None = None,
        progress: Progress | None = None,
    ) -> Scores:
        """Judge pairs with keys `output` and, optionally, `instruction`, `id`, `language`, `system`, `culture`.

        Results come in order, batch by batch, so an iterator of any length takes the memory of one batch. A neutral
        instruction replaces a missing one. With `journal`, answers are kept there and a second call asks only for
        missing ones. Raises InputInvalid for a row that is not a pair or repeats an id: before anything is asked if the
        rows are a sequence, else when the row is reached.
        """
        coming, total = reading.given(pairs), len(pairs) if isinstance(pairs, Sequence) else None
        return Scores(self._results(coming, journal, progress or Progress("scoring, rows", total)))

    def ascore(
        self,
        pairs: Iterable[Mapping[str, Any] | Pair],
        journal: Path | None = None,
        progress: Progress | None = None,
    ) -> AsyncIterator[Scored]:
        """Judge pairs as `score` does, for `async for`: a thread waits for the model, so the event loop is not blocked.

        Behind a server, as many requests are open at once as the backend allows; results keep the order of the pairs.
        """
        return async_bridge.to_async(self.score(pairs, journal, progress))

    def _results(self, pairs: Iterator[Pair], journal: Path | None, progress: Progress) -> Iterator[Scored]:
        kept = None if journal is None else Journal(journal)
        while part := list(islice(pairs, BATCH)):
            answers = InMemory() if kept is None else kept
            asking = partial(ask, self._backend, self._sampling, answers, progress=progress)
            verdicts = run(self._judge, [_sample(pair) for pair in part], asking)
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
            warnings=self._warnings.codes(pair, verdict.failure),
            probability=chance,
            verdict=probability.verdict(verdict.report, chance, self._calibrated.band if self._calibrated else BAND),
            culture=pair.culture,
        )


def _described(manifest: AdapterManifest) -> str:
    """Return an adapter's part of a signature: its base, its weights, prompt, parser and score."""
    parts = (
        f"model:{manifest.model}@{manifest.base.removeprefix('sha256:')[:8]}",
        f"on:{manifest.trained_on}@{manifest.outputs[adapters.ADAPTER][:8]}",
        _asked(TUNED),
    )
    order = manifest.settings.report
    return "|".join(parts) + f"|report:{order}" * (order != "errors-first")  # the paper's order is not named


def _asked(judge: str) -> str:
    """Return the part of a signature that names the judge with its prompt and parser versions, and the score."""
    weights = ",".join(f"{severity}{-weight}" for severity, weight in WEIGHTS.items())
    version = judges.load(judge).VERSION
    return f"judge:{judge}.{version.asks}.{version.reads}|sev:{weights}|tie:certainty"


def _structure(judge: str, constrained: bool) -> str:
    """Return the part of a signature that says whether answers are constrained to the report's JSON Schema."""
    return f"|structure:{'json_schema' if constrained else 'none'}" if judge == PROMPTED else ""


def first_requests(judge: str | None, pair: Pair) -> Sequence[Request]:
    """Return what a judge, by default that of a model behind a server, first asks about a pair."""
    return next(judges.load(judge or PROMPTED).judge(_sample(pair)))


def _sample(pair: Pair) -> Sample:
    nothing: dict[str, Any] = dict.fromkeys(("dataset", "culture", "stratum", "licence", "answer"), "")
    same = dict.fromkeys(("id", "pair", "base"), pair.id)
    texts = {"instruction": pair.instruction, "output": pair.output, "language": pair.language}
    return Sample(**same, **texts, task="generation", report=Report(), origin="source", **nothing)
