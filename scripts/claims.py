"""Set every claim of the ExCAM paper's text beside what this experiment gives."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Annotated, Any

from excam.config import Recipe
from excam.core import tables
from excam.core.provenance import read_json
from excam.error_reports.evaluation.cells import LEVEL, System
from excam.error_reports.records import WEIGHTS, Report
from excam.error_reports.scoring import score
from excam.excam40k.construction import templates
from excam.excam40k.validation import human_ratings
from excam.pages import claims
from excam.pages.claims import Ours, Quote
from excam.training.layout import load_layout
from scripts import annotation, figures, step

Line = Mapping[str, str]

PRINTED_SYSTEMS = {"gemma3": "gemma3-27b", "phi3": "phi3-medium-4k"}  # in the ids of claims -> the model's key
PRINTED_PROMPTS = ("count", "severity", "binary")

HEAD = (
    "# Every claim of the ExCAM paper beside ours\n\nNumbers compare only where model, data and generator are the "
    "paper's; the last column says what ours is of, names files of this folder, and what contradicts a claim.\n\n"
)


@dataclass(frozen=True)
class _ResultFiles:
    """The numbers that claims are answered from. What an experiment may lack is empty then."""

    table_2_path: Annotated[Path, "table-2-claims.csv"]
    cultures_path: Annotated[Path, "inventory-cultures.csv"]
    table_4_path: Path
    correlation_tests_path: Path
    figure_3_path: Path
    figure_10_path: Path
    error_rates_path: Path
    leave_one_out_path: Path
    in_domain_paths: Annotated[Sequence[Path], "cells of ExCAM, trained on all, on single test sets"] = ()
    reports_paths: Annotated[Sequence[Path], "reports.csv"] = ()
    adapters_paths: Annotated[Sequence[Path], "manifests of adapters"] = ()
    judged_paths: Annotated[Sequence[Path], "manifests of transcripts of ExCAM"] = ()
    generated_paths: Annotated[Sequence[Path], "manifests of soft errors"] = ()
    people_paths: Annotated[Sequence[Path], "answers.counts.json, and the tables of people's answers"] = ()


@step(
    version=4,
    result="results/paper/claims",
    outputs=["numbers", "page"],
    category="Results",
    target="paper",
    inputs={
        "table_2": "results/paper/table-2-claims.csv",
        "cultures": "results/audits/inventory-cultures.csv",
        "table_4": "results/paper/table-4.csv",
        "correlation_tests": "results/significance/all/test.correlations.json",
        "figure_3": "results/paper/figure-3.csv",
        "figure_10": "results/paper/figure-10.csv",
        "error_rates": "results/paper/error-rates.csv",
        "leave_one_out": "results/paper/leave-one-out.csv",
        "in_domain": "cells_of_excam_in_domain",
        "reports": "report_numbers",
        "adapters": "adapter_manifests",
        "judged": "transcript_manifests_of_excam",
        "generated": "soft_error_manifests",
        "people": "human_numbers",
        "printed": "paper/claims.csv",
    },
    optional=["in_domain", "reports", "adapters", "judged", "generated", "people"],
    settings={"experiment": "settings_claimed"},
)
def paper_claims(
    files: _ResultFiles,
    experiment: Annotated[dict[str, Any], json.loads, "sections of the experiment, as JSON"],
    printed_path: Annotated[Path, "paper/claims.csv"],
    numbers_path: Path,
    page_path: Path,
) -> None:
    """Write every claim of the ExCAM paper beside ours, with the difference, or the reason why there is none.

    Every claim of the paper's text and captions: what it prints, what this experiment gives, and the difference, ours
    minus printed; where there is nothing of ours, the reason.
    """
    columns = ("id", "what", "printed", "unit", "source", "contradiction")
    lines = tables.read_lines(printed_path)
    printed = [Quote(*(line[column] for column in columns), why=line["why"]) for line in lines]
    claims.write(numbers_path, page_path, HEAD, printed, claims_answered(files, experiment, printed))


def claims_answered(files: _ResultFiles, experiment: Mapping[str, Any], printed: Sequence[Quote]) -> dict[str, Ours]:
    """Return ours of every claim, by its id."""
    ids = {claim.text: claim.id for claim in printed}
    rows = {ids[line["claim"]]: line["ours"] for line in tables.read_lines(files.table_2_path)}
    table_4 = tables.read_lines(files.table_4_path)
    return (
        dict(_constants(experiment))
        | dict(_data_settings(experiment))
        | dict(_training_settings(experiment))
        | dict(_model_settings(experiment))
        | {claim: Ours(count, "table-2-claims.csv") for claim, count in rows.items()}
        | {"mango-cultures": _cultures(tables.read_lines(files.cultures_path))}
        | {"permutations": _draws(read_json(files.correlation_tests_path, "tests")["tests"])}
        | dict(_best(table_4))
        | dict(_baselines(table_4))
        | dict(_ranks(table_4))
        | dict(_out_of_domain(tables.read_lines(files.figure_3_path)))
        | dict(_in_domain(files.in_domain_paths))
        | dict(_languages(tables.read_lines(files.figure_10_path)))
        | dict(_rates(tables.read_lines(files.error_rates_path)))
        | dict(_explanations([line for path in files.reports_paths for line in tables.read_lines(path)]))
        | dict(_left_out(tables.read_lines(files.leave_one_out_path)))
        | dict(_hours(files, experiment))
        | dict(_people({path.stem: path for path in files.people_paths}))
    )


Answers = Iterator[tuple[str, Ours]]


def _constants(experiment: Mapping[str, Any]) -> Answers:
    slots = {len(templates.names(slot)) for slot in templates.SLOTS if slot not in templates.FEWER}
    pairs = experiment["scoring"]["pairs"]
    yield "weight-minor", Ours(WEIGHTS["minor"], "records.py")
    yield "weight-major", Ours(WEIGHTS["major"], "records.py")
    yield "score-best-heuristic", Ours(score(Report(), None), "a report without errors, without p(R)")
    yield "score-best", Ours(score(Report(), 1.0), "a report without errors, p(R) = 1")
    yield "paraphrases", Ours(min(slots), f"of each slot but {', '.join(templates.FEWER)}")
    yield "random-accuracy", Ours((0 + 1) / 2, "scaled accuracy 0")
    yield "pairs", Ours("all" if pairs is None else pairs, "scoring.pairs; null: exact over all pairs")
    yield "table-4-alpha", Ours(LEVEL, "table-4.csv")
    yield "figure-3-alpha", Ours(LEVEL, "figure-3.csv")
    yield "gpt5-alpha", Ours(annotation.LEVEL, "figure-4.csv")
    yield "language-minimum", Ours(figures.MORE_THAN, "figure-10.csv")
    yield "errors-per-sample", Ours(len(WEIGHTS), "a try for each severity")


def _data_settings(experiment: Mapping[str, Any]) -> Answers:
    datasets, people = experiment["datasets"], experiment["annotation"]
    subset, soft = experiment["construction"]["subset"], experiment["soft"]
    drawn: Counter[str] = Counter()
    for name in soft:
        drawn.update(people["languages"].get(name, {"English": people["rows"]}))
    yield "base-datasets", Ours(len(datasets), "datasets")
    yield "cap", Ours(max(entry["cap"] for entry in datasets.values()), "the highest datasets.<name>.cap")
    yield "gpt5-samples", Ours(subset, "construction.subset")
    yield "gpt5-samples-all", Ours(subset * len(datasets), "construction.subset of each dataset")
    yield "human-samples", Ours(drawn.total(), "annotation: rows to draw")
    for language in ("English", "German", "Japanese", "Chinese"):
        yield f"human-{language.lower()}", Ours(drawn[language], "annotation: rows to draw")
    generation = experiment["generation"]
    generator = experiment["models"].get(generation["generator"])
    gpus = generator["gpus"] if generator else 0
    yield "generation-processes", Ours(generation["shards"] * len(soft) * len(WEIGHTS), "shards, datasets, severities")
    yield "severity-models", Ours(1, "generation.generator; `excam score` with several judges lets them vote on a text")
    yield "generation-gpus", Ours(gpus, f"of each process of {generation['generator']}; the paper's are of all")


def _training_settings(experiment: Mapping[str, Any]) -> Answers:
    tuned = experiment["tuned"]["models"]
    model = tuned[0] if tuned else ""
    recipe = Recipe.model_validate(experiment["training"] | (experiment["models"][model]["training"] if model else {}))
    layout = load_layout(recipe.layout)
    at = f"training of {model}" if model else "training; no adapter is trained"
    values = {
        "training-weight-decay": recipe.weight_decay,
        "training-warmup": recipe.warmup_steps,
        "training-adam-beta1": recipe.beta1,
        "training-adam-beta2": recipe.beta2,
        "training-max-grad-norm": recipe.max_grad_norm,
        "training-learning-rate": recipe.learning_rate,
        "training-epochs": recipe.epochs,
        "lora-r": recipe.rank,
        "lora-alpha": recipe.alpha,
        "lora-dropout": recipe.dropout,
    }
    for claim, value in values.items():
        yield claim, Ours(value, at)
    note = "a killed training repeats at most so many; the paper's interval is never reached"
    yield "training-save-steps", Ours(recipe.save_steps, note)
    in_layout = f"layout {recipe.layout}; {recipe.rows_per_step} rows a step in all, the paper's 8"
    yield "training-batch", Ours(layout.rows_per_pass, in_layout)
    yield "training-accumulation", Ours(layout.passes(recipe.rows_per_step), in_layout)
    yield "training-gpus", Ours(layout.processes if layout.device == "gpu" else 0, f"layout {recipe.layout}")
    yield "training-logging-steps", Ours(1, "loss.csv has every step; means of ten can be taken from it")
    left_out = sum(mixture.startswith("without-") for mixture in experiment["tuned"]["mixtures"])
    yield "loo-adapters", Ours(left_out, "tuned.mixtures")


def _model_settings(experiment: Mapping[str, Any]) -> Answers:
    judges = [judge for judge in experiment["baselines"]["judges"] if judge in PRINTED_PROMPTS]
    yield "baseline-prompts", Ours(len(judges), f"baselines.judges of Table 11: {', '.join(judges) or 'none'}")
    for name, claim in (("phi4", "phi4-version"), ("phi3-medium-4k", "phi3-version")):
        hub = (experiment["models"].get(name) or {}).get("hub")
        yield claim, Ours(hub or "", f"models.{name}" if hub else f"this experiment has no {name}")
    models = {*experiment["tuned"]["models"], *experiment["baselines"]["models"]}
    hubs = [experiment["models"][name]["hub"] or name for name in models]
    sizes = [(float(match[1]), hub) for hub in hubs if (match := re.search(r"(\d+(?:\.\d+)?)b\b", hub, re.IGNORECASE))]
    size, hub = max(sizes, default=("", "no model asked has its size in billions in its name"))
    yield "largest-model", Ours(size, hub)


def _cultures(lines: Sequence[Line]) -> Ours:
    mango = sum(line["dataset"] == "mango" for line in lines)
    return Ours(mango, "inventory-cultures.csv") if mango else Ours("", "no rows of Mango")


def _draws(tests: Sequence[Mapping[str, Any]]) -> Ours:
    draws = [test["draws"] for test in tests if "draws" in test]
    note = "for correlations; tests of accuracy are exact over all swaps"
    return Ours(draws[0], note) if draws else Ours("", f"{note}; no correlation was tested")


def _systems(table_4: Sequence[Line]) -> list[tuple[System, float]]:
    """Return each system once, with its scaled accuracy; scores without judgement are left out."""
    return [
        (System(line["model"], line["trained_on"], line["judge"]), float(line["scaled_accuracy"]))
        for line in table_4
        if line["judge"] != "none" and not line["fallback"]
    ]


def _best(table_4: Sequence[Line]) -> Answers:
    systems = _systems(table_4)
    tuned = [(value, system.key) for system, value in systems if system.tuned and system.trained_on == "all"]
    if not tuned:
        return
    best, key = max(tuned)
    accuracy = (1 + best) / 2
    yield "accuracy-best", Ours(accuracy, f"{key} in table-4.csv")
    yield "accuracy-best-rounded", Ours(100 * accuracy, f"{key}; balanced test set")
    base = [value for system, value in systems if not system.tuned and system.model == key.split("/")[0]]
    others = [(value, system.key) for system, value in systems if not system.tuned]
    yield "gap-gemma3", _gap(best, max(base, default=None), f"{key}, over the best prompt of its base")
    rival, rival_key = max(others, default=(None, "no untuned model"))
    yield "gap-phi4", _gap(best, rival, f"{key}, over the best untuned model: {rival_key}")


def _gap(best: float, other: float | None, note: str) -> Ours:
    return Ours("" if other is None else best - other, note if other is not None else f"{note}: not asked")


def _ranks(table_4: Sequence[Line]) -> Answers:
    """The second of all systems, and the bases whose tuned system is above their best prompt."""
    systems = sorted(_systems(table_4), key=lambda pair: -pair[1])
    none = "no two systems are judged"
    yield "second-best", Ours(systems[1][0].key, "table-4.csv") if len(systems) > 1 else Ours("", none)
    measures = ("scaled_accuracy", "kendall_b", "tie_calibrated_accuracy")
    printed = [line for line in table_4 if line["trained_on"] in ("all", "nothing")]
    measured = {name: [line for line in printed if line[name]] for name in measures}
    firsts = [max(lines, key=lambda line: float(line[name])) for name, lines in measured.items() if lines]
    keys = [System(line["model"], line["trained_on"], line["judge"]).key for line in firsts]
    yield "best-in-all", Ours(_listed(keys), f"with the highest {', '.join(measures)}")
    prompted = {system.model: value for system, value in reversed(systems) if not system.tuned}
    tuned = {system.model: value for system, value in reversed(systems) if system.tuned and system.trained_on == "all"}
    both = [model for model in tuned if model in prompted]
    won = [model for model in both if tuned[model] > prompted[model]]
    note = f"of {len(both)} tuned and prompted"
    yield "tuning-helps", Ours(_listed(won), note) if both else Ours("", "no base model is tuned and prompted")


def _baselines(table_4: Sequence[Line]) -> Answers:
    prompts: dict[str, dict[str, float]] = {}
    for system, value in _systems(table_4):
        if not system.tuned:
            prompts.setdefault(system.model, {})[system.judge] = value
    if not prompts:
        return
    accuracy = {model: max(rates.values()) for model, rates in prompts.items()}
    low = sorted(accuracy, key=accuracy.__getitem__)[:2]
    listed = ", ".join(f"{model} ({accuracy[model]:.3f})" for model in low)
    yield "weakest", Ours(listed, f"the lowest of {len(prompts)} untuned models, each with its best prompt")
    compared = {model: rates for model, rates in prompts.items() if len(set(rates) & set(PRINTED_PROMPTS)) > 1}
    best = Counter(max(rates, key=rates.__getitem__) for rates in compared.values())
    counted = ", ".join(f"{judge} {n} of {len(compared)}" for judge, n in best.most_common())
    judges = sorted({judge for rates in prompts.values() for judge in rates})
    note = f"models for which a prompt is best; asked: {', '.join(judges)}"
    yield "best-baseline-prompt", Ours(counted, note if counted else f"{note}; no model has two of Table 11")
    yield "fallback-effect", Ours(0.0, "by construction: p(R) cannot make or remove an error")


def _out_of_domain(lines: Sequence[Line]) -> Answers:
    columns = [line for line in lines if line["column"] not in (figures.IN_DOMAIN, figures.AVERAGE)]
    tuned = [line for line in columns if line["p_baselines"]]
    if not tuned:
        return
    best = _best_row(tuned)
    cells = {line["column"]: line for line in tuned if line["row"] == best}
    note = f"{best} on {len(cells)} test sets: figure-3.csv"
    surely = [name for name, line in cells.items() if float(line["p_baselines"]) <= LEVEL]
    over_base = [name for name, line in cells.items() if line["p_own_base"] and float(line["p_own_base"]) <= LEVEL]
    rivals = {name: [line for line in columns if line["column"] == name and not line["p_baselines"]] for name in cells}
    above = [
        name
        for name, line in cells.items()
        if name not in surely
        and all(float(line["scaled_accuracy"]) > float(r["scaled_accuracy"]) for r in rivals[name])
    ]
    random = [
        name
        for name in cells
        if all(float(line["low"]) <= 0 for line in columns if line["column"] == name and line["low"])
    ]
    yield "ood-significant-all-baselines", Ours(_listed(surely), note)
    yield "ood-significant-own-base", Ours(f"{len(over_base)} of {len(cells)}", note)
    yield "ood-better", Ours(_listed(above), f"{note}; above every untuned model, p > {LEVEL}")
    yield "ood-random", Ours(_listed(random), "no system with an interval above 0")


def _best_row(lines: Sequence[Line]) -> str:
    """Return the row with the highest mean of scaled accuracies."""
    values: dict[str, list[float]] = {}
    for line in lines:
        values.setdefault(line["row"], []).append(float(line["scaled_accuracy"]))
    return max(values, key=lambda row: mean(values[row]))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def _in_domain(cells: Sequence[Path]) -> Answers:
    read = [(System.from_path(path), read_json(path, "accuracy")["accuracy"]) for path in cells if "epic" in path.parts]
    better = [system.key for system, accuracy in read if accuracy["low"] is not None and accuracy["low"] > 0]
    note = f"interval above 0, of {len(read)} ExCAM systems trained on all"
    yield "epic-in-domain", Ours(_listed(better), note) if read else Ours("", "no ExCAM system was judged on EPIC")


def _languages(lines: Sequence[Line]) -> Answers:
    counted = [line for line in lines if line["shown"] == "True"]
    languages = {line["language"] for line in counted}
    tuned = [line for line in counted if line["tuned"] == "True"]
    if len(languages) < 2 or not tuned:
        return
    row = _best_row(tuned)
    spread = next(line["spread"] for line in tuned if line["row"] == row)
    rows = dict.fromkeys(line["row"] for line in counted)
    means = {name: mean(float(line["scaled_accuracy"]) for line in counted if line["row"] == name) for name in rows}
    order = [f"{name} ({means[name]:.3f})" for name in sorted(means, key=means.__getitem__)]
    yield "language-spread", Ours(spread, f"{row}; the paper does not say of which row its spread is")
    yield "language-count", Ours(len(languages), ", ".join(sorted(languages)))
    yield "language-best", Ours(order[-1], f"highest mean over languages of {len(rows)} rows")
    yield "language-weaker", Ours(", ".join(order[:2]), "the two lowest means")


def _rates(lines: Sequence[Line]) -> Answers:
    rates = {(line["system"], line["rows"]): line for line in lines}
    for claim, rows in (("clean-as-clean", "without error"), ("error-as-error", "with an error")):
        for name, model in PRINTED_SYSTEMS.items():
            line = rates.get((f"{model}/all/report", rows))
            yield f"{claim}-{name}", _of_system(model, line, "rate", "error-rates.csv")


def _explanations(lines: Sequence[Line]) -> Answers:
    held = {
        line["model"]: line
        for line in lines
        if (line["trained_on"], line["judge"], line["dataset"], line["measure"])
        == ("all", "report", "all", "explanations_held")
    }
    for name, model in PRINTED_SYSTEMS.items():
        yield f"explanation-match-{name}", _of_system(model, held.get(model), "value", "reports.csv")


def _of_system(model: str, line: Line | None, column: str, file: str) -> Ours:
    """Return a share of one of the paper's systems in percent."""
    if not line or not line[column]:
        return Ours("", f"this experiment has no {model}/all/report; its own systems: {file}")
    return Ours(round(100 * float(line[column]), 1), f"n = {line['n']}: {file}")


def _left_out(lines: Sequence[Line]) -> Answers:
    changes = [float(line["difference"]) for line in lines if line["on"] == "others"]
    note = f"scaled accuracy on the other datasets, over {len(changes)} adapters: leave-one-out.md"
    value = f"{min(changes):+.3f} to {max(changes):+.3f}" if changes else ""
    yield "leave-one-out", Ours(value, note if changes else "no adapter was trained without a dataset")


def _hours(files: _ResultFiles, experiment: Mapping[str, Any]) -> Answers:
    trained = [read_json(path) for path in files.adapters_paths]
    judged = sum(read_json(path)["seconds"] for path in files.judged_paths)
    minutes: dict[str, list[float]] = {}
    for manifest in trained:
        minutes.setdefault(manifest["model"], []).append(manifest["training_seconds"] / 60)
    minutes_of = "; ".join(f"{model}: {median(values):.1f} min, n = {len(values)}" for model, values in minutes.items())
    for name, model in PRINTED_SYSTEMS.items():
        there = minutes.get(model)
        why = f"this experiment trains no {model} ({minutes_of or 'no adapter'})"
        note = f"median of {len(there or ())} adapters"
        yield f"training-time-{name}", Ours(median(there), note) if there else Ours("", why)
    jobs = f"sum over {len(files.judged_paths)} judging jobs of ExCAM, which may run at once"
    yield "evaluation-time", Ours(judged / 3600, jobs) if judged else Ours("", "no ExCAM system was judged")
    cards = [_cards(manifest) for manifest in trained]
    spent = sum(manifest["training_seconds"] * n for manifest, n in zip(trained, cards, strict=True))
    if any(cards):
        yield "gpu-hours", Ours(spent / 3600, f"training alone, {len(trained)} adapters")
    else:
        yield "gpu-hours", Ours("", "nothing was trained on a GPU")
    shards = [read_json(path)["seconds"] / 3600 for path in files.generated_paths]
    generator = experiment["generation"]["generator"]
    hours = f"{min(shards):.2g} to {max(shards):.2g}" if shards else ""
    yield "generation-hours", Ours(hours, f"{len(shards)} shards of {generator}")


def _cards(manifest: Mapping[str, Any]) -> int:
    layout = manifest["settings"]["layout"]
    return layout["processes"] if layout["device"] == "gpu" else 0


def _people(files: Mapping[str, Path]) -> Answers:
    """Answer the claims about annotators, from the tables of their answers, by the name of the file."""
    if not files:
        return
    each = read_json(files["answers.counts"], "annotators")["annotators"].values()
    hours = [person["seconds"] / 3600 for person in each]
    yield "human-annotators", Ours(len(each), "answers.counts.json")
    yield "human-hours", Ours(f"{min(hours):.1f} to {max(hours):.1f}", "time on tasks, answers.counts.json")
    yield "human-skips", Ours(max(person["skipped"] for person in each), "answers.counts.json")
    yield from _votes({name: tables.read_lines(files[name]) for name in ("table-3", "table-12", "table-13")})
    yield from _ratings(tables.read_lines(files["human-ratings"]))


def _votes(votes: Mapping[str, Sequence[Line]]) -> Answers:
    three = {line["criterion"]: line for line in votes["table-3"]}
    strict, partial = (three[f"Error valid ({how})"] for how in ("strict", "partial"))
    yield "human-spans-all-agree", Ours(strict["3/3"], f"table-3.md, n = {strict['n']}")
    yield "human-error-all-agree", Ours(partial["3/3"], f"table-3.md, n = {partial['n']}")
    against = [float(partial[share]) * int(partial["n"]) / 100 for share in ("1/3", "0/3") if partial[share]]
    yield "human-no-error-majority", Ours(round(sum(against)) if against else "", f"table-3.md, n = {partial['n']}")
    valid = [line for line in votes["table-12"] if line["criterion"] == "Expl. valid" and line["percent"]]
    both = ", ".join(f"{line['language']} {line['percent']} (n = {line['n']})" for line in valid)
    yield "human-explanations-zh-de", Ours(both, "table-12.md, each language" if both else "table-12.md: no votes")
    by_majority = {line["criterion"]: line for line in votes["table-13"]}
    for claim, criterion in (
        ("human-severity-minor", "Severity OK (minor)"),
        ("human-severity-major", "Severity OK (major)"),
        ("human-changed-mind", "Changed mind"),
    ):
        line = by_majority[criterion]
        yield claim, Ours(line["percent"], f"table-13.md, n = {line['n']}")


def _ratings(lines: Sequence[Line]) -> Answers:
    line_of = {line["system"]: line for line in lines if line["items"] == human_ratings.VALID}
    sizes = sorted({int(line["n"]) for line in line_of.values()})
    yield "explanation-soft-n", Ours(" or ".join(map(str, sizes)), "human-ratings.md, items of a system")
    for name, model in PRINTED_SYSTEMS.items():
        line = line_of.get(f"{model}/all/report")
        for claim, column in (("soft-found", "percent"), ("likert", "mean")):
            note = f"human-ratings.md, n = {line['n']}" if line else f"no explanations of {model}/all/report were rated"
            yield f"explanation-{claim}-{name}", Ours(line[column] if line else "", note)
