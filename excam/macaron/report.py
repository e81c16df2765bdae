"""The report of Macaron: its tables and figures, of the workflow and of `excam macaron report`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from excam.core import tables
from excam.core.provenance import write_text
from excam.core.step_programs import step
from excam.macaron import answers, breakdowns, categories, derive, pages, printed, scenarios
from excam.macaron.answers import ModelRun
from excam.macaron.cells import with_limits
from excam.pages import claims, plotting
from excam.pages.markdown import printed_table
from excam.pages.table_files import TableFiles

PAGE = {"target": "macaron", "category": "Macaron"}  # of the steps here
TABLE = {**PAGE, "outputs": ["numbers", "page"]}

# The inputs of `_AnswerFiles`.
ANSWERS = {"answers": "macaron_answers", "instances": "macaron_instances"}


@dataclass(frozen=True, kw_only=True)
class _AnswerFiles:
    """What pages of answers are made of."""

    answers_paths: Annotated[Sequence[Path], "of each model and mode"]
    instances_path: Path


def systems(files: _AnswerFiles) -> Sequence[ModelRun]:
    """Return each model and mode with its answers."""
    return answers.join(derive.read(files.instances_path), files.answers_paths)


@step(
    version=9,
    result="results/macaron/table-3",
    inputs={
        **ANSWERS,
        "printed": "excam/macaron/paper/table-3-averages.csv",
        "printed_models": "excam/macaron/paper/table-3.csv",
    },
    settings={"seed": "seed", "categories": "macaron_categories"},
    **TABLE,
)
def macaron_table_3(
    sources: _AnswerFiles,
    files: TableFiles,
    printed_models_path: Annotated[Path, "the numbers of the paper's models"],
    categories_json: Annotated[str, "of models, as JSON"],
    seed: int,
) -> None:
    """Write the accuracy of every model and mode (Table 3), beside floors, and averages beside the printed ones.

    Accuracy of each model and mode in the four cells of Macaron, with intervals over scenarios; gaps are local minus
    English. Floors answer without knowledge. Averages are by category of model, beside those of the paper.
    """
    answered = systems(sources)
    averaged = categories.averages(answered, json.loads(categories_json), seed)
    printed = {line["category"]: line for line in files.printed}
    estimated = pages.estimates(answered, seed)
    lines, page = pages.table_3(answered, estimated, averaged, seed, printed)
    page += pages.printed_models(answered, estimated, tables.read_lines(printed_models_path))
    files.write(pages.TABLE_3, lines, with_limits(page, answered[0].rows))


@step(
    version=10,
    result="results/macaron/{by}",
    outputs=["numbers", "page", "pictures"],
    inputs=ANSWERS,
    settings={"seed": "seed"},
    wildcards={"by": ["reasoning", "aspects", "contexts"]},
    **PAGE,
)
def macaron_breakdown(
    files: _AnswerFiles,
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
    answered = systems(files)
    tables.write_lines(numbers_path, breakdowns.BREAKDOWN, breakdowns.breakdown(answered, by, seed))
    lines = breakdowns.read(numbers_path)
    write_text(page_path, with_limits(breakdowns.page(lines, by), answered[0].rows))
    plotting.save(breakdowns.figure(lines, by), pictures_paths)


@step(
    version=3,
    result="results/macaron/coverage",
    inputs={
        "scenarios": "macaron_scenarios",
        "instances": "macaron_instances",
        "printed": "excam/macaron/paper/table-2.csv",
    },
    **TABLE,
)
def macaron_coverage(scenarios_path: Path, instances_path: Path, files: TableFiles) -> None:
    """Write the coverage of the benchmark: scenarios and instances by country (Table 2), tags (Figures 6 and 7).

    Scenarios and instances of each country; scenarios, and templates, by reasoning type and cultural aspect.
    """
    lines, page = pages.coverage(
        scenarios.read(scenarios_path), [asdict(instance) for instance in derive.read(instances_path)]
    )
    files.write(pages.COVERAGE, lines, page, "Of its own benchmark.")


@step(
    version=8,
    result="results/macaron/paired",
    inputs={**ANSWERS, "printed": "excam/macaron/paper/table-5.csv"},
    settings={"seed": "seed", "categories": "macaron_categories"},
    **TABLE,
)
def macaron_paired(
    sources: _AnswerFiles,
    files: TableFiles,
    categories_json: Annotated[str, "of models, as JSON"],
    seed: int,
) -> None:
    """Write the accuracy of single statements and of pairs (Table 5), with the bounds of pairs, and averages.

    Accuracy of single statements and of pairs of a true and a false one. Pairs at a given accuracy lie within the
    bounds. Averages are by category of model, beside those of the paper.
    """
    answered = systems(sources)
    averaged = categories.averages(answered, json.loads(categories_json), seed)
    names = {"tf": "tf_avg", "paired": "paired_tf"}
    printed = {
        line["category"]: {names.get(name, name): value for name, value in line.items()} for line in files.printed
    }
    lines, page = pages.paired(answered, pages.estimates(answered, seed), averaged, seed, printed)
    files.write(pages.PAIRED, lines, with_limits(page, answered[0].rows))


@step(
    version=1,
    result="results/macaron/scripts",
    outputs=["numbers"],
    inputs=ANSWERS,
    **PAGE,
)
def macaron_scripts(files: _AnswerFiles, numbers_path: Path) -> None:
    """Write the accuracy in the local language by script: the mean over its languages (Appendix B).

    Accuracy in the local language by script: the mean over its languages.
    """
    tables.write_lines(numbers_path, pages.SCRIPTS, pages.scripts(systems(files)))


@step(
    version=5,
    result="results/macaron/templates",
    inputs={
        **ANSWERS,
        "printed": "excam/macaron/paper/table-4.csv",
        "printed_templates": "excam/macaron/paper/templates.csv",
    },
    settings={"seed": "seed"},
    **TABLE,
)
def macaron_templates(
    sources: _AnswerFiles,
    files: TableFiles,
    printed_templates_path: Annotated[Path, "all templates that the paper prints"],
    seed: int,
) -> None:
    """Write the easiest and the hardest templates (Table 4), and whether those that ask "how many" are harder.

    Mean accuracy of each template over models and modes; the five easiest and hardest; templates that ask "how many"
    beside all others.
    """
    answered = systems(sources)
    lines, page = pages.templates(answered, seed)
    page += printed_table("Means over its 21 models, of its own templates.", files.printed)
    note = "`excam macaron lint` takes each of them. Most have no printed accuracy."
    page += printed_table(note, tables.read_lines(printed_templates_path), "Templates that the paper prints")
    files.write(pages.TEMPLATES, lines, with_limits(page, answered[0].rows))


@step(
    version=6,
    result="results/macaron/printed",
    inputs={**ANSWERS, "scenarios": "macaron_scenarios", "printed": "excam/macaron/paper/claims.csv"},
    settings={"seed": "seed", "categories": "macaron_categories"},
    **TABLE,
)
def macaron_printed(
    sources: _AnswerFiles,
    files: TableFiles,
    scenarios_path: Path,
    categories_json: Annotated[str, "of models, as JSON"],
    seed: int,
) -> None:
    """Compare what the paper says in its text with this experiment: value, difference, or why there is none.

    Each number of the paper's text, ours, and the difference, or the reason why there is none.
    """
    answered = systems(sources)
    of_models = json.loads(categories_json)
    data = printed.data(scenarios.read(scenarios_path), len(answered[0].rows), answered, of_models, seed)
    stated = claims.stated(files.printed)
    head = f"# Macaron: what the paper says in its text, and ours\n\n{printed.introduction(data)}"
    head = with_limits(head, answered[0].rows)
    files.write_claims(head, stated, printed.answers(data, stated))
