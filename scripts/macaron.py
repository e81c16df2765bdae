"""Build and ask Macaron, and make its tables and figures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from excam.core import counts, provenance, tables
from excam.core.exceptions import InputInvalid
from excam.core.provenance import say, write_text
from excam.inference import transcript
from excam.macaron import (
    answers,
    asks,
    breakdowns,
    categories,
    derive,
    pages,
    printed,
    proofread,
    rows_page,
    scenarios,
    source,
)
from excam.macaron.answers import System
from excam.pages import claims, plotting
from excam.pages.markdown import printed_table
from scripts import step
from scripts.asking import RecordedOptions, Recorder


@step(version=4)
def macaron_build(
    files_paths: Annotated[Sequence[Path], "of one folder"],
    columns: Annotated[str, "names of official columns, ours to theirs, as JSON"],
    scenarios_path: Path,
    dropped_path: Annotated[Path, "what is left out, and why"],
) -> None:
    """Read a Macaron benchmark, authors' exports or the official tables, and write its scenarios."""
    built = source.read(files_paths, json.loads(columns))
    tables.write_lines(dropped_path, scenarios.DROPPED, built.dropped_lines)
    if not built.scenarios:
        raise InputInvalid(f"{files_paths[0].parent}: 0 scenarios; left out: {built.reasons}; see {dropped_path}")
    tables.write_frame(scenarios_path, scenarios.to_frame(built.scenarios))
    say(f"macaron: {len(built.scenarios)} scenarios; left out: {counts.in_words(built.reasons)}")


@step(version=1)
def macaron_derive(scenarios_path: Path, orders: Literal["shuffled", "given"], seed: int, instances_path: Path) -> None:
    """Derive six aligned instances of each scenario: multiple choice, true and false, in both languages."""
    source_scenarios = scenarios.read(scenarios_path)
    made = derive.instances(source_scenarios, seed, orders)
    tables.write_frame(instances_path, derive.to_frame(made))
    say(f"macaron: {len(made)} instances of {len(source_scenarios)} scenarios")


@step(version=3)
def macaron_proofread(
    asking: RecordedOptions,
    name: Annotated[str, "the key of the model in config.yaml"],
    scenarios_path: Path,
    proofread_path: Annotated[Path, "the scenarios with the accepted edits"],
    edits_path: Annotated[Path, "what was said about each field"],
) -> None:
    """Let a model correct spelling and grammar of the English texts of scenarios; a guard refuses any other edit."""
    asker = Recorder(asking, name, f"{name} proofreads")
    source_scenarios = scenarios.read(scenarios_path)
    fields = sum(len(list(proofread.fields_of(scenario))) for scenario in source_scenarios)
    done = asker.record("proofreading, fields", proofread.proofread, source_scenarios, fields)
    tables.write_lines(edits_path, proofread.EDITS, proofread.edit_rows(done))
    tables.write_frame(proofread_path, scenarios.to_frame(edited.scenario for edited in done))
    counted = proofread.counts(done)
    asker.write_manifest([scenarios_path], [edits_path, proofread_path], fields=dict(counted))
    provenance.say(f"macaron: fields proofread by {name}: {counted}")


@step(version=1)
def macaron_sheet(
    name: Annotated[str, "of the sheet"],
    instances_path: Path,
    sheet_path: Annotated[Path, "a CSV file of scenario, format, lang, answer"],
    answers_path: Path,
) -> None:
    """Turn a written answer sheet into answers, as if a model had given them."""
    instances = derive.read(instances_path)
    answered = answers.read_sheet(sheet_path, instances)
    tables.write_frame(answers_path, answers.to_frame(instances, name, answers.WRITTEN, answered))


@step(version=1)
def macaron_ask(
    asking: RecordedOptions,
    name: Annotated[str, "<model>/<mode>: the key in config.yaml, and for progress lines"],
    mode: asks.Mode,
    instances_path: Path,
) -> None:
    """Ask one model about every instance; write a transcript of every request and answer."""
    asker = Recorder(asking, name.split("/")[0], name)
    instances = derive.read(instances_path)
    requests = len(instances) * (2 if mode == "choose" else 1)
    asker.record(f"asking {name}, requests", partial(asks.answer, mode=mode), instances, requests)
    asker.write_manifest([instances_path], seed=asking.seed)
    provenance.say(f"{name}: {len(instances)} instances asked in {asker.seconds:.0f} s")


@step(version=2)
def macaron_answers(
    name: Annotated[str, "the model"],
    mode: asks.Mode,
    instances_path: Path,
    transcript_path: Path,
    answers_path: Path,
) -> None:
    """Parse a transcript into answers. A new parser needs no model."""
    instances = derive.read(instances_path)
    answered = transcript.replay(partial(asks.answer, mode=mode), instances, transcript_path)
    tables.write_frame(answers_path, answers.to_frame(instances, name, mode, answered))
    say(f"{name}/{mode}: {len(answered)} answers; failures: {counts.failures(answered)}")


# The inputs of `AnswerFiles`.
ANSWERS = {"answers": "macaron_answers", "instances": "results/macaron/instances.parquet"}


@dataclass(frozen=True, kw_only=True)
class AnswerFiles:
    """What pages of answers are made of."""

    answers_paths: Annotated[Sequence[Path], "of each model and mode"]
    instances_path: Path


def systems(files: AnswerFiles) -> Sequence[System]:
    """Return each model and mode with its answers."""
    return answers.join(derive.read(files.instances_path), files.answers_paths)


@step(version=7)
def macaron_rows(files: AnswerFiles, page_path: Path) -> None:
    """Write every instance with the answers of one model on one page, with search and filters."""
    write_text(page_path, rows_page.page(systems(files)))


@step(
    version=7,
    result="results/macaron/table-3",
    outputs=["numbers", "page"],
    target="macaron",
    category="Macaron",
    inputs={
        **ANSWERS,
        "printed": "paper/macaron/table-3-averages.csv",
        "printed_models": "paper/macaron/table-3.csv",
    },
    settings={"seed": "seed", "categories": "macaron_categories"},
)
def macaron_table_3(
    files: AnswerFiles,
    numbers_path: Path,
    page_path: Path,
    printed_path: Annotated[Path, "averages of the paper, by category of model"],
    printed_models_path: Annotated[Path, "the numbers of the paper's models"],
    categories_json: Annotated[str, "of models, as JSON"],
    seed: int,
) -> None:
    """Write the accuracy of every model and mode (Table 3), beside floors, and averages beside the printed ones.

    Accuracy of each model and mode in the four cells of Macaron, with intervals over scenarios; gaps are local minus
    English. Floors answer without knowledge. Averages are by category of model, beside those of the paper.
    """
    answered = systems(files)
    averaged = categories.averages(answered, json.loads(categories_json), seed)
    printed = {line["category"]: line for line in tables.read_lines(printed_path)}
    estimated = pages.estimates(answered, seed)
    lines, page = pages.table_3(answered, estimated, averaged, seed, printed)
    tables.write_lines(numbers_path, pages.TABLE_3, lines)
    write_text(page_path, page + pages.printed_models(answered, estimated, tables.read_lines(printed_models_path)))


@step(
    version=9,
    result="results/macaron/{by}",
    outputs=["numbers", "page", "pictures"],
    target="macaron",
    category="Macaron",
    inputs=ANSWERS,
    settings={"seed": "seed"},
    wildcards={"by": ["reasoning", "aspects", "contexts"]},
)
def macaron_breakdown(
    files: AnswerFiles,
    numbers_path: Path,
    page_path: Path,
    pictures_paths: Sequence[Path],
    by: Annotated[str, list(breakdowns.TITLES)],
    seed: int,
) -> None:
    """Draw accuracy by reasoning type, cultural aspect or context (Figures 3 to 5), from the numbers it writes.

    Accuracy by reasoning type, cultural aspect or context, in points above the accuracy of guessing at the same
    instances; of contexts English and the local language apart, with the mean of all systems.
    """
    tables.write_lines(numbers_path, breakdowns.BREAKDOWN, breakdowns.breakdown(systems(files), by, seed))
    lines = breakdowns.read(numbers_path)
    write_text(page_path, breakdowns.page(lines, by))
    plotting.save(breakdowns.figure(lines, by), pictures_paths)


@step(
    version=3,
    result="results/macaron/coverage",
    outputs=["numbers", "page"],
    target="macaron",
    category="Macaron",
    inputs={
        "scenarios": "macaron_scenarios",
        "instances": "macaron_instances",
        "printed": "paper/macaron/table-2.csv",
    },
)
def macaron_coverage(
    scenarios_path: Path,
    instances_path: Path,
    printed_path: Annotated[Path, "the paper's table"],
    numbers_path: Path,
    page_path: Path,
) -> None:
    """Write the coverage of the benchmark: scenarios and instances by country (Table 2), tags (Figures 6 and 7).

    Scenarios and instances of each country; scenarios, and templates, by reasoning type and cultural aspect.
    """
    lines, page = pages.coverage(
        scenarios.read(scenarios_path), [asdict(instance) for instance in derive.read(instances_path)]
    )
    tables.write_lines(numbers_path, pages.COVERAGE, lines)
    write_text(page_path, page + printed_table("Of its own benchmark.", tables.read_lines(printed_path)))


@step(
    version=7,
    result="results/macaron/paired",
    outputs=["numbers", "page"],
    target="macaron",
    category="Macaron",
    inputs={
        **ANSWERS,
        "printed": "paper/macaron/table-5.csv",
    },
    settings={"seed": "seed", "categories": "macaron_categories"},
)
def macaron_paired(
    files: AnswerFiles,
    numbers_path: Path,
    page_path: Path,
    printed_path: Annotated[Path, "averages of the paper, by category of model"],
    categories_json: Annotated[str, "of models, as JSON"],
    seed: int,
) -> None:
    """Write the accuracy of single statements and of pairs (Table 5), with the bounds of pairs, and averages.

    Accuracy of single statements and of pairs of a true and a false one. Pairs at a given accuracy lie within the
    bounds. Averages are by category of model, beside those of the paper.
    """
    answered = systems(files)
    averaged = categories.averages(answered, json.loads(categories_json), seed)
    names = {"tf": "tf_avg", "paired": "paired_tf"}
    printed = {
        line["category"]: {names.get(name, name): value for name, value in line.items()}
        for line in tables.read_lines(printed_path)
    }
    lines, page = pages.paired(answered, pages.estimates(answered, seed), averaged, seed, printed)
    tables.write_lines(numbers_path, pages.PAIRED, lines)
    write_text(page_path, page)


@step(
    version=1,
    result="results/macaron/scripts",
    outputs=["numbers"],
    target="macaron",
    category="Macaron",
    inputs=ANSWERS,
)
def macaron_scripts(files: AnswerFiles, numbers_path: Path) -> None:
    """Write the accuracy in the local language by script: the mean over its languages (Appendix B).

    Accuracy in the local language by script: the mean over its languages.
    """
    tables.write_lines(numbers_path, pages.SCRIPTS, pages.scripts(systems(files)))


@step(
    version=4,
    result="results/macaron/templates",
    outputs=["numbers", "page"],
    target="macaron",
    category="Macaron",
    inputs={
        **ANSWERS,
        "printed": "paper/macaron/table-4.csv",
        "printed_templates": "paper/macaron/templates.csv",
    },
    settings={"seed": "seed"},
)
def macaron_templates(
    files: AnswerFiles,
    numbers_path: Path,
    page_path: Path,
    printed_path: Annotated[Path, "Table 4 of the paper"],
    printed_templates_path: Annotated[Path, "all templates that the paper prints"],
    seed: int,
) -> None:
    """Write the easiest and the hardest templates (Table 4), and whether those that ask "how many" are harder.

    Mean accuracy of each template over models and modes; the five easiest and hardest; templates that ask "how many"
    beside all others.
    """
    lines, page = pages.templates(systems(files), seed)
    tables.write_lines(numbers_path, pages.TEMPLATES, lines)
    page += printed_table("Means over its 21 models, of its own templates.", tables.read_lines(printed_path))
    note = "`excam macaron lint` takes each of them. Most have no printed accuracy."
    page += printed_table(note, tables.read_lines(printed_templates_path), "Templates that the paper prints")
    write_text(page_path, page)


@step(
    version=4,
    result="results/macaron/printed",
    outputs=["numbers", "page"],
    target="macaron",
    category="Macaron",
    inputs={
        **ANSWERS,
        "scenarios": "macaron_scenarios",
        "printed": "paper/macaron/claims.csv",
    },
    settings={"seed": "seed", "categories": "macaron_categories"},
)
def macaron_printed(
    files: AnswerFiles,
    scenarios_path: Path,
    numbers_path: Path,
    page_path: Path,
    printed_path: Annotated[Path, "what the paper says in its text"],
    categories_json: Annotated[str, "of models, as JSON"],
    seed: int,
) -> None:
    """Compare what the paper says in its text with this experiment: value, difference, or why there is none.

    Each number of the paper's text, ours, and the difference, or the reason why there is none.
    """
    answered = systems(files)
    of_models = json.loads(categories_json)
    known = printed.data(scenarios.read(scenarios_path), len(answered[0].rows), answered, of_models, seed)
    stated = claims.stated(tables.read_lines(printed_path))
    head = f"# Macaron: what the paper says in its text, and ours\n\n{printed.introduction(known)}"
    claims.write(numbers_path, page_path, head, stated, printed.answers(known, stated))
