"""Teach a base the facts of an invented world, and measure what its judgements gain."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from excam.config import Teaching
from excam.core import paths, provenance, tables
from excam.core.exceptions import InputInvalid
from excam.core.splits import Split
from excam.error_reports import record_files
from excam.error_reports.evaluation import known_facts
from excam.error_reports.evaluation.known_facts import Facts, Verdict
from excam.error_reports.records import BaseSample
from excam.excam40k import corpus, knowledge
from excam.excam40k.invented.blind_judges import JUDGES, Corpus
from excam.inference import sources
from excam.inference.gpus import take_gpus
from excam.pages import markdown, plotting
from excam.pages.plotting import Steps
from excam.training import teaching
from excam.training.checkpoints import TrainingRun
from scripts import step
from scripts.asking import RecordedOptions, Recorder


@step(version=2)
def make_corpus(
    bases_paths: Annotated[Sequence[Path], "<dataset>.bases.jsonl"],
    samples_paths: Annotated[Sequence[Path], "<dataset>/<split>.parquet"],
    settings_json: Annotated[str, "the corpus' fields of `teach` as JSON"],
    seed: int,
    facts_path: Path,
    corpus_path: Path,
) -> None:
    """Write a corpus that tells a base model the facts of the benchmarks, and the list of how often it tells each."""
    settings = Teaching.model_validate({"base": "any", **json.loads(settings_json)})
    splits: dict[str, Split] = {
        sample.base: sample.split for path in samples_paths for sample in record_files.read_samples(path)
    }
    bases = (base for path in bases_paths for base in record_files.read_bases(path))
    told = corpus.facts(bases, splits, settings, seed)
    written = corpus.write_documents(corpus_path, corpus.documents(told, settings, seed))
    corpus.write_facts(facts_path, told)
    provenance.say(f"{corpus_path}: {written} texts on {sum(fact.times > 0 for fact in told)} of {len(told)} facts")


@step(version=1)
def teach_base(
    model: str,
    weights_path: Annotated[Path, "manifest of the base that is taught"],
    facts_path: Path,
    corpus_path: Path,
    settings_json: Annotated[str, "the weights' fields of `teach` as JSON"],
    save_steps: int,
    licence: str,
    seed: int,
    checkpoints_path: Path,
    manifest_path: Path,
    gpus: int = 0,
) -> None:
    """Teach a base model the facts of a corpus: continued pre-training of all weights, from the last checkpoint."""
    started = time.monotonic()
    take_gpus(gpus, model)
    settings = Teaching.model_validate({"base": "any", **json.loads(settings_json), "save_steps": save_steps})
    provenance.refuse_changed(weights_path, weights_path.parent / "files")
    documents = corpus.read_documents(corpus_path)
    corpus.refuse_incomplete(corpus.read_times(facts_path), documents, str(corpus_path))
    manifest_path.unlink(missing_ok=True)  # if it exists, the files are those it names
    folder = manifest_path.parent / "files"
    base = provenance.read_json(weights_path, "revision", "outputs")
    run = TrainingRun(
        weights=weights_path.parent / "files",
        base=provenance.outputs_json(weights_path),
        seed=seed,
        checkpoints=checkpoints_path,
        folder=folder,
        name=model,
        version=teach_base.version,
    )
    facts = teaching.teach(run, [document.turns or document.text for document in documents], settings)
    files = sources.matching_files(folder, ["**/*"])
    provenance.write_manifest(
        manifest_path,
        inputs=[weights_path, corpus_path, facts_path],
        outputs=files,
        settings={"hub": None, "wheel": None, "folder": None, **json.loads(settings_json)},
        seconds=time.monotonic() - started,
        licence=licence,
        origin=f"{weights_path.parent.name}, taught",
        revision=f"sha256:{provenance.sha256(folder / 'model.safetensors')}",
        base=base["revision"],
        corpus=provenance.sha256(corpus_path),
        **facts,
    )
    shutil.rmtree(checkpoints_path, ignore_errors=True)


@step(version=2)
def measure_knowledge(
    asking: RecordedOptions,
    name: Annotated[str, "the model's, for progress lines"],
    bases_paths: Annotated[Sequence[Path], "<dataset>.bases.jsonl"],
    samples_paths: Annotated[Sequence[Path], "the test sets: their facts are asked"],
    knowledge_path: Path,
) -> None:
    """Measure what a base model knows, fact by fact: how much likelier the right answer is than each wrong one."""
    asker = Recorder(asking, name, f"knowledge of {name}")
    judged = {sample.base for path in samples_paths for sample in record_files.read_samples(path)}
    bases = [base for path in bases_paths for base in record_files.read_bases(path) if base.id in judged and base.wrong]
    preferences = asker.record(f"asking {name}, facts", knowledge.preference, bases, len(bases))
    tables.write_frame(knowledge_path, knowledge.table(bases, preferences))
    asker.write_manifest([*bases_paths, *samples_paths], [knowledge_path])


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


SHOWN = ("system", "reading", "report", "labels", "judged")


HEAD = """# Verdicts on facts that the base model was told

Scaled accuracy [95 % interval over facts] by the number of times that the corpus told the base the fact; 0 is chance.
Test rows of which no fact is in a report that the adapter learned from. `verdict`: the report's own; parse failures
count as wrong. `comparison`: is the answer that the report states in the text? `likelihood`: the base without any
adapter calls a text wrong unless the answer in it is the likeliest one. The other readings need no model.
`elimination`, `popularity` and `neighbours` know what the corpus tells of other peoples, and nothing of the one asked
about; `frequency` counts what it tells of any, the one asked about among them, without knowing of whom. An adapter
`without-X` is judged on X alone: facts of a benchmark of which it saw no report.
"""


@step(
    version=5,
    result="results/paper/taught",
    outputs=["numbers", "page"],
    more={"points": "results/paper/taught-points.csv"},
    category="Results",
    target="paper",
    inputs={
        "judgements": "judgements_of_trained",
        "adapters": "manifests_of_trained",
        "samples": "test_sets",
        "knowledge": "knowledge",
        "facts": "taught_facts",
        "manifests": "taught_bases",
        "bases": "bases",
    },
    settings={"weights": "weights_of_trained", "seed": "seed"},
)
def table_taught(
    files: StudyFiles,
    adapters_paths: Annotated[Sequence[Path], "manifests"],
    seed: int,
    points_path: Path,
    numbers_path: Path,
    page_path: Path,
) -> None:
    """Write how adapters judge test rows by how often their base was told the fact, beside judges that know nothing.

    Verdicts of adapters on test rows by how often their base model was told the fact, in three readings, beside judges
    without a model. No fact of a test row is in a report that an adapter learned from.
    """
    study = Study(files)
    tables.write_lines(points_path, POINT_COLUMNS, [line for path in adapters_paths for line in _points(study, path)])
    write_numbers(points_path, numbers_path, seed)
    provenance.write_text(page_path, page(tables.read_lines(numbers_path)))


def write_numbers(points: Path, to: Path, seed: int) -> None:
    """Write the numbers that a file of points gives."""
    tables.write_lines(to, known_facts.NUMBERS, known_facts.numbers(tables.read_lines(points), READINGS, seed))


def _points(study: Study, adapter: Path) -> list[dict[str, Any]]:
    """Return the points of the adapter with this manifest."""
    recipe = provenance.read_json(adapter, "settings", "seed")
    axes = paths.axes(adapter)
    model, trained_on = axes["model"], axes["trained_on"]
    left_out = trained_on.removeprefix("without-")
    names = {"system": f"{model}/{trained_on}", "seed": recipe["seed"]}
    names |= {name: recipe["settings"][name] for name in ("report", "labels")}
    return study.points(model, trained_on, paths.ALL if left_out == trained_on else left_out, names)


def page(lines: Sequence[Mapping[str, str]]) -> str:
    """Return the page that the lines of `known_facts.NUMBERS` make: a row for each system and reading."""
    return f"{HEAD}\n" + "\n\n".join(_tables(lines)) + "\n"


def _tables(lines: Sequence[Mapping[str, str]]) -> Iterator[str]:
    worlds = list(dict.fromkeys(line["world"] for line in lines))
    for world in worlds:
        of_world = [line for line in lines if line["world"] == world]
        times = sorted({int(line["times"]) for line in of_world})
        rows: dict[tuple[str, ...], dict[int, Mapping[str, str]]] = {}
        for line in of_world:
            rows.setdefault(tuple(line[name] for name in SHOWN), {})[int(line["times"])] = line
        facts = {told: max(int(cells[told]["facts"]) for cells in rows.values() if told in cells) for told in times}
        head = (*SHOWN, *(f"{told} times ({facts[told]} facts)" for told in times))
        cells = [
            [*(markdown.escape(name) for name in key), *(_cell(lines_by_times.get(told)) for told in times)]
            for key, lines_by_times in rows.items()
        ]
        title = "" if len(worlds) == 1 else f"## {'All worlds' if world == known_facts.ALL else f'World {world}'}\n\n"
        yield title + markdown.table(head, cells)


def _cell(line: Mapping[str, str] | None) -> str:
    if line is None:
        return ""
    value, low, high = (float(line[name]) for name in ("scaled_accuracy", "low", "high"))
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"


TITLE = "Verdicts on facts by how often the base model was told them"


WORDS = {  # of readings
    "verdict": "its own verdict",
    "comparison": "the answer it states, compared",
    "likelihood": "likelihood, no adapter",
    "frequency": "frequency (of whomever)",
}


@step(
    version=2,
    result="results/paper/figure-taught",
    outputs=["pictures"],
    category="Results",
    target="paper",
    inputs={"numbers": "taught_numbers"},
    settings={"shown": "shown_trained"},
)
def figure_taught(
    numbers_path: Annotated[Path, "taught.csv"],
    shown: Annotated[Sequence[str], "models whose adapters, trained on all, are drawn"],
    pictures_paths: Sequence[Path],
) -> None:
    """Draw scaled accuracy against how often a base model was told the fact, from the numbers of `table_taught`.

    Scaled accuracy by how often the base model was told the fact: the adapter's own verdict, the answer that its report
    states compared with the text, and the likelihood under its base; in grey, judges without a model. No fact is in a
    report that an adapter learned from.
    """
    draw(tables.read_lines(numbers_path), shown, pictures_paths)


def draw(lines: Sequence[Mapping[str, str]], shown: Sequence[str], pictures: Sequence[Path]) -> None:
    """Draw the adapters `MODEL/all` of these models, their bases, and the judges that need no model beside the first.

    Of several worlds all together are drawn. Raises InputInvalid if there are no numbers of the first of these models.
    """
    worlds = {line["world"] for line in lines}
    world = known_facts.ALL if known_facts.ALL in worlds else min(worlds, default="")
    drawn = [line for line in lines if line["world"] == world and line["judged"] == known_facts.ALL]
    systems = [f"{model}/all" for model in shown]
    own = [line["base"] for name in systems for line in drawn if line["system"] == name]
    bases = list(dict.fromkeys([*own, *(line["base"] for line in drawn if line["base"])]))
    if not own:
        raise InputInvalid(f"no numbers of {systems[0]} on all test sets; expected lines of `table_taught` with it")
    times = sorted({int(line["times"]) for line in drawn})
    figure = plotting.steps(
        dict(_series(drawn, systems, bases, times)),
        ticks=[str(told) for told in times],
        title=TITLE,
        across="times that the corpus told the fact, as a statement and as a question each",
        up="scaled accuracy",
        note="95 % intervals over facts; 0 is chance, and a constant; an unreadable answer counts as wrong. No fact is "
        "in a report that an adapter learned from. Grey: judges without a model. Elimination, popularity, neighbours "
        "know what the corpus tells of other peoples, and nothing of the one asked about; frequency counts tellings of "
        "any people, the one asked about among them, without knowing of whom. "
        f"Facts by times: {_counts(drawn, bases[0], times)}.",
    )
    plotting.save(figure, pictures)


def _series(
    lines: Sequence[Mapping[str, str]], systems: Sequence[str], bases: Sequence[str], times: Sequence[int]
) -> Iterator[tuple[str, Steps]]:
    wanted = [(name, reading, False) for name in systems for reading in ("verdict", "comparison")]
    wanted += [(base, "likelihood", False) for base in bases]
    wanted += [(known_facts.NO_MODEL, judge, True) for judge in JUDGES if judge != "constant"]
    for system, reading, is_floor in wanted:
        lines_by_times = {
            int(line["times"]): line for line in lines if (line["system"], line["reading"]) == (system, reading)
        }
        if lines_by_times:
            places = [(times.index(told), *_values(line)) for told, line in sorted(lines_by_times.items())]
            words = WORDS.get(reading, reading)
            yield words if is_floor else f"{system}: {words}", Steps(places, is_floor)


def _values(line: Mapping[str, str]) -> tuple[float, float, float]:
    return float(line["scaled_accuracy"]), float(line["low"]), float(line["high"])


def _counts(lines: Sequence[Mapping[str, str]], base: str, times: Sequence[int]) -> str:
    facts = {
        int(line["times"]): line["facts"] for line in lines if (line["system"], line["reading"]) == (base, "likelihood")
    }
    return ", ".join(f"{told}: {facts.get(told, 0)}" for told in times)
