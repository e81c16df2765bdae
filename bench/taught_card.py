"""Three invented worlds and bases in minutes on one card, without Snakemake: verdicts by how often a fact was told.

    python -m bench.taught_card --weights results/models/smollm2-135m/files --to card

Steps, each of which leaves out what is there (`--steps prepare` and so on does one):

prepare    worlds, corpora, training and test rows by the functions of the workflow, as token ids (no model is asked)
compute    for each world: teach all weights, measure likelihoods, train adapters, let them judge. Needs torch,
           transformers and peft, and of the package nothing: it can run on a machine that has no more than this file,
           `taught_training.py`, what `prepare` wrote, and the weights
score      read the answers, join them with what was told: points.csv, one line a fact and adapter
draw       from points.csv alone: taught.csv, taught.md, figure-taught.png

Weights are kept below `--scratch`; everything else, some 10 MB, is below `--to`. The recipe is that of
`experiments/taught-base.yaml`; world 1 is the one of the workflow.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import taught_training as training

if TYPE_CHECKING:
    from excam.config import Experiment, Recipe
    from excam.error_reports.records import BaseSample, Sample
    from excam.excam40k import corpus

STEPS = ("prepare", "compute", "score", "draw")
EXPERIMENT = Path("experiments/taught-base.yaml")
MIXTURE = "all"
Points = list[dict[str, Any]]
STARTED = time.monotonic()


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, required=True, help="folder of all results")
    parser.add_argument("--weights", type=Path, help="folder with the base's weights and tokenizer")
    parser.add_argument("--scratch", type=Path, help="folder for the taught weights; by default <to>/weights")
    parser.add_argument("--experiment", type=Path, default=EXPERIMENT)
    parser.add_argument("--worlds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--models", nargs="+", default=["taught", "errors-first", "permuted"], help="of the experiment")
    parser.add_argument("--steps", nargs="+", choices=STEPS, default=list(STEPS))
    parser.add_argument(
        "--batch", type=int, help="rows at once when nothing is trained; by default 480 on a card, else 8"
    )
    parser.add_argument("--rows", type=int, help="a trial: only so many rows of each kind")
    args = parser.parse_args(argv)

    if not args.weights and {"prepare", "compute", "score"} & set(args.steps):
        parser.error("--weights is needed for all steps but draw")
    for step in STEPS:
        if step in args.steps:
            {"prepare": prepare, "compute": compute, "score": score, "draw": draw}[step](args)


def say(text: str) -> None:
    """Print a line of progress with the seconds since the start."""
    print(f"{time.monotonic() - STARTED:7.1f} s  {text}", file=sys.stderr, flush=True)


# --- prepare


def prepare(args: argparse.Namespace) -> None:
    """Write each world's facts, corpus, samples, and everything that is computed with, as ids."""
    from excam.inference.chat import load_tokenizer

    experiment = read_experiment(args.experiment)
    tokenizer = load_tokenizer(args.weights)
    for world in args.worlds:
        folder = args.to / f"world-{world}"
        if not (folder / "ids.jsonl.gz").exists():
            _prepare_world(experiment, world, args.models, tokenizer, folder, args.weights)
            say(f"world {world}: prepared")


def read_experiment(path: Path) -> Experiment:
    """Return the experiment of a file over that of config.yaml, as `snakemake --configfile` makes it."""
    import yaml

    from excam.config import load

    merged: dict[str, Any] = {}
    for file in (Path("config.yaml"), path):
        merged = _updated(merged, yaml.safe_load(file.read_text(encoding="utf-8")))
    return load(merged, str(path))


def _updated(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    both = dict(old)
    for key, value in new.items():
        nested = isinstance(value, dict) and isinstance(old.get(key), dict)
        both[key] = _updated(old[key], value) if nested else value
    return both


def _prepare_world(
    experiment: Experiment, world: int, models: Sequence[str], tokenizer: Any, folder: Path, weights: Path
) -> None:
    from excam.config import Teaching
    from excam.error_reports import record_files
    from excam.excam40k import corpus

    seed = experiment.seed + world - 1
    bases, samples = _samples(experiment, world, seed, folder / "sources")
    teach = experiment.models[models[0]].teach
    assert isinstance(teach, Teaching), f"{models[0]}: expected the taught base first"
    told = corpus.facts(bases, {sample.base: sample.split for sample in samples}, teach, seed)
    documents = list(corpus.documents(told, teach, seed))
    test = [sample for sample in samples if sample.split == "test"]
    folder.mkdir(parents=True, exist_ok=True)
    corpus.write_facts(folder / "facts.csv", told)
    record_files.write_bases(folder / "bases.jsonl", bases)
    record_files.write_samples(folder / "test.parquet", test)
    lines = [_settings(experiment, models, tokenizer, weights, seed)]
    lines += _corpus_lines(tokenizer, documents, teach.block)
    lines += _training_lines(experiment, models, tokenizer, samples, seed)
    lines += _asked_lines(tokenizer, test, bases)
    write_lines(folder / "ids.jsonl.gz", lines)
    shutil.rmtree(folder / "sources")


def _samples(experiment: Experiment, world: int, seed: int, scratch: Path) -> tuple[list[BaseSample], list[Sample]]:
    """Return base samples and rows of the benchmarks of one world, as the stages of the workflow make them."""
    from excam.excam40k import datasets
    from excam.excam40k.construction import duplicates, hard, splits, wrapping
    from excam.excam40k.construction.drawing import draw_to_cap
    from excam.excam40k.invented import files

    all_bases, all_samples = [], []
    how = experiment.construction
    for name, source in experiment.datasets.items():
        assert source.invented, f"{name}: expected an invented benchmark"
        benchmark = datasets.load(name)
        files.write(name, source.invented.peoples, source.invented.seed + world - 1, scratch / name)
        reading = datasets.read(name, scratch / name, source.reading)
        drawn = draw_to_cap(reading, benchmark.ERRORS, source.cap, seed, how.allocation)
        bases = duplicates.in_one_group(drawn)
        where = splits.assign([(base.group, base.stratum) for base in bases], how.shares, seed)
        right = wrapping.right_samples(bases, benchmark.ERRORS, benchmark.SOURCE.licence, seed, where)
        by_id = {base.id: base for base in bases}
        wrong, _ = hard.hard_errors(right, by_id, seed, benchmark.MISTAKE, hard.CHOICES[how.wrong])
        pairs, _ = splits.pair_up(right, wrong)
        all_samples += splits.cap(pairs, source.cap, seed)
        all_bases += bases
    return all_bases, all_samples


def _settings(
    experiment: Experiment, models: Sequence[str], tokenizer: Any, weights: Path, seed: int
) -> dict[str, Any]:
    """Return the line that says how the ids of the other lines are used."""
    from transformers import GenerationConfig

    from excam.inference import chat

    teach = experiment.models[models[0]].teach
    recipes = {name: experiment.recipe(name).model_dump(mode="json") for name in models}
    return {
        "kind": "settings",
        "seed": seed,
        "stops": sorted(chat.stop_ids(tokenizer, GenerationConfig.from_pretrained(weights))),
        "max_tokens": experiment.models[models[0]].sampling.max_tokens,
        "teach": None if teach is None else teach.model_dump(mode="json"),
        "recipes": recipes,
    }


def _corpus_lines(tokenizer: Any, documents: Iterable[corpus.Document], block: int) -> Iterator[dict[str, Any]]:
    from excam.training.teaching import cut_rows

    texts = [document.turns or document.text for document in documents]
    return ({"kind": "corpus", "ids": row} for row in cut_rows(tokenizer, texts, block))


def _training_lines(
    experiment: Experiment, models: Sequence[str], tokenizer: Any, samples: Sequence[Sample], seed: int
) -> Iterator[dict[str, Any]]:
    """Yield the training rows of each adapter, in the order of training."""
    from excam.excam40k.construction import splits

    train = [sample for sample in samples if sample.split == "train"]
    by_dataset = {name: [sample for sample in train if sample.dataset == name] for name in experiment.datasets}
    for model in models:
        recipe = experiment.recipe(model)
        mixed = splits.mixture(by_dataset, MIXTURE, recipe.rows, seed=seed)
        yield from training_lines(model, mixed, recipe, tokenizer, seed)


def training_lines(
    model: str, mixed: Sequence[Sample], recipe: Recipe, tokenizer: Any, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield the training rows of one adapter, in the order of training."""
    from excam.error_reports.judges import report
    from excam.training import sft, tokens

    assert recipe.report != "grounded", f"{model}: expected a recipe without passages"
    rows = tokens.encode(tokenizer, report.training_examples(mixed, recipe.report, recipe.labels))
    kept = tokens.without_long_rows(rows, recipe, None).drop_nulls("input_ids")
    for ids, prompt in sft.training_order(kept, recipe, seed).select("input_ids", "prompt_tokens").iter_rows():
        yield {"kind": "train", "model": model, "ids": list(ids), "prompt": prompt}


def asked_line(sample: Sample, tokenizer: Any) -> dict[str, Any]:
    """Return the prompt that asks for a report on a test row."""
    from excam.error_reports.judges import report
    from excam.inference import chat

    messages = report.messages(sample.instruction, sample.output)
    return {"kind": "asked", "id": sample.id, "ids": list(chat.encode(tokenizer, messages).input_ids)}


def _asked_lines(tokenizer: Any, test: Sequence[Sample], bases: Iterable[BaseSample]) -> Iterator[dict[str, Any]]:
    """Yield the prompt of each test row, and each option of the facts behind them."""
    from excam.excam40k.corpus import answer, bare_question
    from excam.inference import Message, chat

    yield from (asked_line(sample, tokenizer) for sample in test)
    judged = {sample.base for sample in test}
    for base in bases:
        for option in (base.answer, *base.wrong) if base.id in judged else ():
            whole = chat.encode(tokenizer, (Message("user", bare_question(base)),), answer(option))
            ids = list(whole.input_ids[:-1])  # without the end of turn
            yield {"kind": "option", "base": base.id, "option": option, "ids": ids, "prompt": whole.completion_start}


# --- compute


def compute(args: argparse.Namespace) -> None:
    """Teach, measure, tune and judge, world by world; write `likelihoods.jsonl` and `answers-<model>.jsonl`."""
    scratch = args.scratch or args.to / "weights"
    batch = args.batch or (480 if training.device() == "cuda" else 8)
    say(f"device: {_device_name()}")
    for world in args.worlds:
        folder, weights = args.to / f"world-{world}", scratch / f"world-{world}"
        wanted = [folder / f"answers-{model}.jsonl" for model in args.models] + [folder / "likelihoods.jsonl"]
        if all(path.exists() for path in wanted):
            continue
        kinds: dict[str, list[dict[str, Any]]] = {}
        for line in read_lines(folder / "ids.jsonl.gz"):
            kinds.setdefault(line["kind"], []).append(line)
        limited = {kind: lines[: args.rows] for kind, lines in kinds.items() if kind != "train"}
        weights.mkdir(parents=True, exist_ok=True)
        teach(args.weights, limited["corpus"], kinds["settings"][0], weights / "taught", folder, world)
        measure(args.weights, weights / "taught", limited["option"], folder / "likelihoods.jsonl", batch, world)
        for model in args.models:
            to = folder / f"answers-{model}.jsonl"
            rows = [line for line in kinds["train"] if line["model"] == model][: args.rows]
            if not to.exists():
                judge(
                    weights / "taught", rows, limited["asked"], kinds["settings"][0], model, to, batch, f"world {world}"
                )


def _device_name() -> str:
    import torch

    return torch.cuda.get_device_name() if training.device() == "cuda" else f"{torch.get_num_threads()} threads"


def teach(
    base: Path, rows: Sequence[dict[str, Any]], settings: dict[str, Any], to: Path, folder: Path, world: int
) -> None:
    """Train all weights of the base on the corpus, and write them."""
    if to.exists():
        return
    how = settings["teach"]
    training.set_seeds(settings["seed"])
    model = training.load(base)
    schedule = training.Schedule(how["learning_rate"], how["warmup_steps"], 0.01, how["rows_per_step"])
    facts = training.train(model, [(row["ids"], 0) for row in rows], schedule, f"world {world}, teaching", say)
    training.save(training.round_weights(model), to)
    _record(folder, "teaching", facts)


def measure(base: Path, taught: Path, options: Sequence[dict[str, Any]], to: Path, batch: int, world: int) -> None:
    """Write the log-likelihood of each option under the taught base and under the one it was made of."""
    if to.exists():
        return
    rows = [(line["ids"], line["prompt"]) for line in options]
    likelihoods = {
        name: training.log_likelihoods(training.load(path), rows, batch) for name, path in _bases(base, taught)
    }
    lines = [
        {"base": line["base"], "option": line["option"], **{name: likelihoods[name][at] for name in likelihoods}}
        for at, line in enumerate(options)
    ]
    write_lines(to, lines)
    say(f"world {world}: {len(lines)} likelihoods of {len(likelihoods)} bases")


def _bases(base: Path, taught: Path) -> tuple[tuple[str, Path], ...]:
    return ("taught", taught), ("untaught", base)


def judge(
    base: Path,
    rows: Sequence[dict[str, Any]],
    asked: Sequence[dict[str, Any]],
    settings: dict[str, Any],
    model: str,
    to: Path,
    batch: int,
    run_name: str,
) -> None:
    """Train one adapter on a base, let it judge all test rows, and write its answers as ids."""
    recipe = settings["recipes"][model]
    tuned = training.with_lora(training.load(base), recipe["rank"], recipe["alpha"], settings["seed"])
    schedule = training.Schedule(
        recipe["learning_rate"], recipe["warmup_steps"], recipe["weight_decay"], recipe["rows_per_step"]
    )
    name = f"{run_name}, {model}"
    facts = training.train(tuned, [(row["ids"], row["prompt"]) for row in rows], schedule, name, say)
    started = time.monotonic()
    order = sorted(asked, key=lambda line: len(line["ids"]))
    prompts = [line["ids"] for line in order]
    made = list(training.answers(tuned, prompts, settings["stops"], settings["max_tokens"], batch))
    write_lines(to, ({"id": line["id"], "ids": ids} for line, ids in zip(order, made, strict=True)))
    _record(to.parent, model, facts | {"judging_seconds": round(time.monotonic() - started, 1)})
    say(f"{name}: {len(made)} reports")


def _record(folder: Path, name: str, facts: dict[str, Any]) -> None:
    """Write what a training took, beside what it gave."""
    write_lines(folder / f"training-{name}.jsonl", [facts | {"device": _device_name()}])


# --- score and draw


def score(args: argparse.Namespace) -> None:
    """Write `points.csv`: one line for each world, adapter and test fact that was judged."""
    from excam.core import tables
    from excam.inference.chat import load_tokenizer
    from scripts.teaching import POINT_COLUMNS

    experiment, tokenizer = read_experiment(args.experiment), load_tokenizer(args.weights)
    lines: Points = []
    for world in args.worlds:
        for model in args.models:
            points, before = _points(experiment, world, model, tokenizer, args.to / f"world-{world}")
            lines += [*points, *(before if model == args.models[0] else [])]
    tables.write_lines(args.to / "points.csv", POINT_COLUMNS, lines)
    say(f"{args.to / 'points.csv'}: {len(lines)} points")


def _points(experiment: Experiment, world: int, model: str, tokenizer: Any, folder: Path) -> tuple[Points, Points]:
    """Return the points of one adapter, and those of the likelihoods under the base before it was told anything."""
    from excam.core import tables
    from excam.error_reports import record_files
    from excam.error_reports.evaluation import known_facts
    from excam.excam40k import corpus
    from scripts.teaching import READINGS, blind_verdicts

    settings = next(iter(read_lines(folder / "ids.jsonl.gz")))
    bases = {base.id: base for base in record_files.read_bases(folder / "bases.jsonl")}
    samples = {sample.id: sample for sample in record_files.read_samples(folder / "test.parquet")}
    written = folder / f"judgements-{model}.parquet"
    answers = sorted(read_lines(folder / f"answers-{model}.jsonl"), key=lambda line: line["id"])
    write_judgements(written, answers, samples, tokenizer, settings["stops"])
    times = corpus.read_times(folder / "facts.csv")
    answers_of = {name: base.answer for name, base in bases.items()}
    recipe = experiment.recipe(model)
    system = {"world": world, "system": f"{model}/{MIXTURE}", "base": experiment.weights(model)}
    system |= {"report": recipe.report, "labels": recipe.labels, "seed": settings["seed"], "judged": known_facts.ALL}
    teach = experiment.models[experiment.weights(model)].teach
    before = {"system": "", "base": teach.base if teach else "", "report": "", "labels": ""}
    points = []
    for column, names in (("taught", system), ("untaught", system | before)):
        known = _preferences(folder / "likelihoods.jsonl", column)
        margins, choices = ({base: preference[at] for base, preference in known.items()} for at in (0, 1))
        facts = known_facts.Facts(times, answers_of, margins, choices)
        frame = known_facts.with_readings([tables.read_frame(written)], samples, facts, blind_verdicts(bases, times))
        points.append(known_facts.points(frame, names, READINGS))
    return points[0], [{**point, "verdict": None} for point in points[1]]


def write_judgements(
    to: Path, answers: Sequence[dict[str, Any]], samples: Mapping[str, Sample], tokenizer: Any, stops: Sequence[int]
) -> None:
    """Read the reports that `judge` wrote as ids, and write them with their rows, in their order."""
    from excam.error_reports import record_files
    from excam.error_reports.judges import report
    from excam.inference import chat

    judged = [samples[line["id"]] for line in answers]
    verdicts = [
        report.verdict(
            chat.completion_from_ids(tokenizer, stops, 0, line["ids"], None), sample.instruction, sample.output
        )
        for line, sample in zip(answers, judged, strict=True)
    ]
    record_files.write_judgements(to, judged, verdicts)


def _preferences(path: Path, base: str) -> dict[str, Any]:
    """Return each fact -> what a base (a column of the file) prefers among its options; the right one comes first."""
    from excam.excam40k import knowledge

    options: dict[str, list[tuple[str, float]]] = {}
    for line in read_lines(path):
        options.setdefault(line["base"], []).append((line["option"], line[base]))
    return {fact: knowledge.preferred(*zip(*pairs, strict=True)) for fact, pairs in options.items()}


def draw(args: argparse.Namespace) -> None:
    """Write table, page and figure from `points.csv` alone."""
    from excam.core import provenance, tables
    from scripts import teaching

    numbers = args.to / "taught.csv"
    teaching.write_numbers(args.to / "points.csv", numbers, seed=1)
    lines = tables.read_lines(numbers)
    provenance.write_text(args.to / "taught.md", teaching.page(lines))
    teaching.draw(lines, args.models[:1], [args.to / "figure-taught.png"])


# --- files: JSON Lines, complete once they have their name


def write_lines(path: Path, lines: Iterable[dict[str, Any]]) -> None:
    """Write JSON Lines, compressed if the name ends in .gz."""
    part = path.with_name(f".{path.name}.part")
    opened: Callable[..., Any] = gzip.open if path.suffix == ".gz" else open
    with opened(part, "wt", encoding="utf-8") as stream:
        stream.writelines(json.dumps(line) + "\n" for line in lines)
    part.replace(path)


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines that `write_lines` wrote."""
    opened: Callable[..., Any] = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line)


if __name__ == "__main__":
    main()
