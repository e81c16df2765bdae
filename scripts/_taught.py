"""The judgements of trained systems, joined with what their bases were told and what they know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from excam.core import paths, provenance, tables
from excam.core.exceptions import InputInvalid
from excam.error_reports import record_files
from excam.error_reports.evaluation import known_facts
from excam.error_reports.evaluation.known_facts import Facts, Verdict
from excam.error_reports.records import BaseSample
from excam.excam40k import corpus
from excam.excam40k.invented.blind_judges import JUDGES, Corpus

READINGS = (*known_facts.READINGS, *JUDGES)
POINT_COLUMNS = (*known_facts.POINT, *READINGS)


@dataclass(frozen=True, kw_only=True)
class StudyFiles:
    """What `Study` reads."""

    judgements_paths: Annotated[Sequence[Path], "of adapters, on every test set"]
    samples_paths: Annotated[Sequence[Path], "<dataset>/test.parquet"]
    knowledge_paths: Annotated[Sequence[Path], "facts.parquet of each base"]
    facts_paths: Annotated[Sequence[Path], "facts.csv of each taught base"]
    manifests_paths: Annotated[Sequence[Path], "of the taught bases"]
    bases_paths: Annotated[Sequence[Path], "<dataset>.bases.jsonl"]
    weights: Annotated[Sequence[str], "MODEL=NAME of the weights that it uses"]


class Study:
    """What the options name. A base that was not taught is judged by the facts of the first that was.

    Raises InputInvalid for a base that was taught other facts than its list of facts says.
    """

    def __init__(self, files: StudyFiles) -> None:
        self.weights = dict(entry.split("=") for entry in files.weights)
        self._judgements = {paths.Cell.from_path(path): path for path in files.judgements_paths}
        self._knowledge = {paths.axes(path)["model"]: tables.read_frame(path) for path in files.knowledge_paths}
        _refuse_other_corpus(files.manifests_paths, {paths.axes(path)["model"]: path for path in files.facts_paths})
        self._times = {paths.axes(path)["model"]: corpus.read_times(path) for path in files.facts_paths}
        self._bases = {base.id: base for path in files.bases_paths for base in record_files.read_bases(path)}
        self._samples = {
            sample.id: sample for path in files.samples_paths for sample in record_files.read_samples(path)
        }

    def points(self, model: str, trained_on: str, dataset: str, names: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the points of one adapter on one test set or on all, as `known_facts.points` does."""
        judged = [
            tables.read_frame(path)
            for cell, path in self._judgements.items()
            if (cell.model, cell.trained_on) == (model, trained_on) and dataset in (paths.ALL, cell.dataset)
        ]
        base = self.weights[model]
        times = self._times.get(base) or next(iter(self._times.values()))
        known = {line["base"]: line for line in self._knowledge[base].iter_rows(named=True)}
        facts = Facts(
            times,
            {name: base.answer for name, base in self._bases.items()},
            {name: line["margin"] for name, line in known.items()},
            {name: line["choice"] for name, line in known.items()},
        )
        frame = known_facts.with_readings(judged, self._samples, facts, blind_verdicts(self._bases, times))
        return known_facts.points(frame, {"world": 1, "base": base, "judged": dataset, **names}, READINGS)


def blind_verdicts(bases: Mapping[str, BaseSample], times: Mapping[str, int]) -> dict[str, Verdict]:
    """Return the judges that know nothing of the people asked about, as functions of a fact's id and an answer."""
    told = Corpus(corpus.tellings((bases[name], count) for name, count in times.items()))
    asked = {name: corpus.question(base) for name, base in bases.items()}

    def bound(name: str) -> Verdict:
        return lambda fact, shown: JUDGES[name](told, asked[fact], shown)

    return {name: bound(name) for name in JUDGES}


def _refuse_other_corpus(manifests: Iterable[Path], facts: Mapping[str, Path]) -> None:
    for manifest in manifests:
        listed = facts[paths.axes(manifest)["model"]]
        digest = provenance.sha256(listed)
        if digest not in provenance.read_json(manifest, "inputs")["inputs"].values():
            raise InputInvalid(
                f"{manifest}: this base was taught another corpus: none of its inputs is {listed} "
                f"(sha256 {digest[:12]}); delete {manifest} and run again"
            )
