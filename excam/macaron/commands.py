"""`excam macaron`: from templates to instances, from a model to its numbers. Tables go to files, counts to stderr."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from excam.core.provenance import say
from excam.core.terminal import exit_on_error, stop
from excam.scoring.server_options import ENGINE, MODEL, Serving, with_server_options

if TYPE_CHECKING:
    from excam.macaron.scenarios import Built

app = typer.Typer(no_args_is_help=True, help="Build a benchmark from templates, ask models, report their numbers.")
TO = Annotated[Path, typer.Option(help="the file to write")]
SEED = Annotated[int, typer.Option(help="seed of the orders")]
TOKENS = Annotated[int, typer.Option(min=1, help="token limit of an answer")]


@app.command()
def lint(file: Annotated[Path, typer.Argument(help="templates, as YAML")]) -> None:
    """Check templates: slots, tags, options, true and false children. Exit with code 1 if one has a problem.

    Example: excam macaron lint mini/macaron/templates.yaml
    """
    from excam.macaron import templates

    with exit_on_error():
        templates_ = templates.read(file)
        problems = templates.problems(templates_)
        for problem in problems:
            print(f"{file}: {problem}")
        unused = [tag for tag, count in templates.coverage(templates_).items() if not count]
        say(
            f"{len(templates_)} templates, {len(problems)} problems; "
            f"without a template: {', '.join(unused) or 'no tag'}"
        )
    raise typer.Exit(1 if problems else 0)


@app.command()
def draw(
    file: Annotated[Path, typer.Argument(help="templates, as YAML")],
    contexts: Annotated[Path, typer.Option(help="CSV file with country, language and script")],
    to: TO,
    each: Annotated[int, typer.Option(min=1, help="authors of a context; each fills every template")] = 2,
    seed: SEED = 0,
) -> None:
    """Draw a campaign: what each author fills, in an order of their own. `excam annotate` shows it to them.

    Example: excam macaron draw templates.yaml --contexts contexts.csv --each 2 --to campaign.json
    """
    from excam.annotation.campaign import write
    from excam.macaron import campaign, templates
    from excam.macaron.contexts import read_contexts

    with exit_on_error():
        templates_ = templates.read(file)
        if problems := templates.problems(templates_):
            stop(f"{file}: {problems[0]} ({len(problems)} problems); expected none; see `excam macaron lint {file}`")
        drawn = campaign.authoring(templates_, read_contexts(contexts), each, seed)
        write(to, drawn)
        authors = sorted({name for task in drawn.tasks for name in task.assigned})
        say(f"{to}: {len(drawn.tasks)} tasks for {len(authors)} authors: {', '.join(authors)}")


@app.command()
def review(
    file: Annotated[Path, typer.Argument(help="scenarios, made by `excam macaron build`")],
    to: TO,
) -> None:
    """Draw a campaign in which people of the culture approve, revise or remove each scenario.

    Example: excam macaron review scenarios.parquet --to review.json
    """
    from excam.annotation.campaign import write
    from excam.macaron import campaign, scenarios

    with exit_on_error():
        drawn = campaign.reviewing(scenarios.read(file))
        write(to, drawn)
        say(f"{to}: {len(drawn.tasks)} scenarios to review")


@app.command()
def collect(
    file: Annotated[Path, typer.Argument(help="the campaign of authors or of reviewers")],
    exports: Annotated[list[Path], typer.Argument(help="files that the page or `excam annotate export` wrote")],
    to: TO,
) -> None:
    """Collect what authors or reviewers submitted, as the JSON Lines that `build` reads.

    Example: excam macaron collect campaign.json ada.json grace.json --to exports/all.jsonl
    """
    from excam.annotation import campaign as campaigns
    from excam.core import tables
    from excam.macaron import campaign

    with exit_on_error():
        campaign_ = campaigns.read(file)
        rows = list(
            (campaign.reviews if campaign_.form.name == "macaron_review" else campaign.submissions)(exports, campaign_)
        )
        if not rows:
            stop(f"{len(exports)} files hold nothing that was submitted; expected some; submit on the page first")
        tables.write_jsonl(to, rows)
        say(f"{to}: {len(rows)} submitted of {len(campaign_.tasks)} tasks")


@app.command()
def build(
    exports: Annotated[Path, typer.Argument(help="what authors submitted: a .jsonl file, or a folder of them")],
    templates_: Annotated[Path, typer.Option("--templates", help="templates, as YAML")],
    contexts: Annotated[Path, typer.Option(help="CSV file with country, language and script")],
    to: TO,
    reviews: Annotated[Path | None, typer.Option(help="decisions of reviewers, as JSON Lines")] = None,
) -> None:
    """Fill the templates with what authors submitted, check everything, and write scenarios as Parquet.

    Omitted submissions are listed with the reason in a CSV file beside it.

    Example: excam macaron build exports/ --templates templates.yaml --contexts contexts.csv --to scenarios.parquet
    """
    from excam.macaron import scenarios, templates
    from excam.macaron.contexts import read_contexts

    with exit_on_error():
        built = scenarios.build(
            templates.read(templates_),
            read_contexts(contexts),
            scenarios.read_exports(exports),
            scenarios.read_exports(reviews) if reviews else (),
        )
        _write(built, to)


@app.command()
def read(
    choices: Annotated[Path, typer.Argument(help="the official table of multiple-choice questions")],
    statements: Annotated[Path | None, typer.Argument(help="that of true and false statements")] = None,
    *,
    to: TO,
    column: Annotated[list[str] | None, typer.Option(help="OURS=THEIRS, for a column with another name")] = None,
) -> None:
    """Read the official files of the benchmark, and write scenarios as Parquet.

    Example: excam macaron read macaron_mcq.csv macaron_truefalse.csv --to scenarios.parquet
    """
    from excam.macaron import official

    with exit_on_error():
        named = [assignment.partition("=") for assignment in column or ()]
        columns = {ours: theirs for ours, _, theirs in named}
        _write(official.read(choices, statements, columns), to)


def _write(built: Built, to: Path) -> None:
    from excam.core import counts, tables
    from excam.macaron import scenarios

    left_out = to.with_suffix(".dropped.csv")
    tables.write_lines(left_out, scenarios.DROPPED, built.dropped_lines)
    if not built.scenarios:
        stop(f"{to}: 0 scenarios of {len(built.dropped)} submissions; expected some; {left_out} has the reasons")
    tables.write_frame(to, scenarios.to_frame(built.scenarios))
    say(f"{to}: {len(built.scenarios)} scenarios; left out: {counts.in_words(built.reasons)}")


@app.command()
@with_server_options
def proofread(
    file: Annotated[Path, typer.Argument(help="scenarios, as Parquet")],
    model: MODEL,
    to: TO,
    engine: ENGINE = None,
    max_tokens: TOKENS = 512,
    *,
    serving: Serving,
) -> None:
    """Let a model correct spelling and grammar of the English texts; a guard refuses any other edit.

    Every edit, accepted or not, is listed in a CSV file beside the new scenarios. Local texts are unchanged.

    Example: excam macaron proofread scenarios.parquet --model qwen3:14b@http://localhost:11434/v1 --to new.parquet
    """
    from excam.core import tables
    from excam.macaron import proofread as proofreading
    from excam.macaron import scenarios
    from excam.scoring.asking import recorded_answers

    with exit_on_error():
        scenarios_ = scenarios.read(file)
        with recorded_answers(model, engine, serving, max_tokens, file, to) as answers_to:
            done = answers_to(proofreading.proofread, scenarios_, "proofreading, requests")
            edits = proofreading.edit_rows(done)
            tables.write_lines(to.with_suffix(".edits.csv"), proofreading.EDITS, edits)
            tables.write_frame(to, scenarios.to_frame(edited.scenario for edited in done))
        counted = ", ".join(f"{outcome} {count}" for outcome, count in proofreading.counts(done).items())
        say(f"{to}: {len(done)} scenarios; fields: {counted}")


@app.command()
def derive(
    file: Annotated[Path, typer.Argument(help="scenarios, as Parquet")],
    to: TO,
    seed: SEED = 0,
    orders: Annotated[
        str, typer.Option(help="order of the options: shuffled, or given (the right one first)")
    ] = "shuffled",
) -> None:
    """Derive six instances of each scenario: multiple choice, true and false, in English and the local language.

    Example: excam macaron derive scenarios.parquet --to instances.parquet
    """
    from excam.core import tables
    from excam.core.exceptions import expect_choice
    from excam.macaron import derive as deriving
    from excam.macaron import scenarios

    with exit_on_error():
        order, scenarios_ = expect_choice("--orders", orders, deriving.ORDERS), scenarios.read(file)
        made = deriving.instances(scenarios_, seed, order)
        tables.write_frame(to, deriving.to_frame(made))
        without = sum(scenario.true_en is None for scenario in scenarios_)
        say(f"{to}: {len(made)} instances of {len(scenarios_)} scenarios; without statements: {without}")
        if order == "shuffled":
            say("letters are balanced over each country: a part of the scenarios has other orders of options")


@app.command()
@with_server_options
def ask(
    file: Annotated[Path, typer.Argument(help="instances, as Parquet")],
    model: MODEL,
    to: TO,
    mode: Annotated[
        str, typer.Option(help="choose: the likelihood of each answer; text: a line; thinking: a line after reasoning")
    ] = "choose",
    engine: ENGINE = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="limit of an answer; 64, for thinking 4096")] = None,
    *,
    serving: Serving,
) -> None:
    """Ask a model about every instance and write its answers as Parquet. A killed run continues.

    Example: excam macaron ask instances.parquet --model qwen3:14b@http://localhost:11434/v1 --to qwen.parquet
    """
    from functools import partial

    from excam.core import counts, tables
    from excam.core.exceptions import expect_choice
    from excam.core.names import shown_name
    from excam.macaron import answers, asks, derive
    from excam.scoring.asking import recorded_answers
    from excam.scoring.models import parse

    with exit_on_error():
        asked, instances = expect_choice("mode", mode, asks.MODES), derive.read(file)
        model_name = shown_name(parse(model).label, "--model")
        limit = max_tokens or (4096 if asked == "thinking" else 64)
        with recorded_answers(model, engine, serving, limit, file, to) as answers_to:
            answered = answers_to(partial(asks.answer, mode=asked), instances, "asking, requests")
            tables.write_frame(to, answers.to_frame(instances, model_name, asked, answered))
        say(f"{to}: {len(answered)} answers; failures: {counts.failures(answered)}")


@app.command()
def report(
    files: Annotated[list[Path], typer.Argument(help="answers, as Parquet: one file for each model and mode")],
    instances: Annotated[Path, typer.Option(help="the instances that they answer")],
    to: Annotated[Path, typer.Option(help="folder for tables and figures")],
    category: Annotated[
        list[str] | None, typer.Option(help="MODEL=CATEGORY: thinking, standard or open-weight, for averages")
    ] = None,
    seed: SEED = 0,
) -> None:
    """Write the tables and figures of the paper for these answers: accuracy, pairs, breakdowns, tests.

    Example: excam macaron report a.parquet b.parquet --instances instances.parquet --to report
    """
    from excam.macaron import answers, categories, derive, pages

    with exit_on_error():
        asked_instances = derive.read(instances)
        systems = answers.join(asked_instances, files)
        file_of: dict[tuple[str, str], Path] = {}
        for file, system in zip(files, systems, strict=True):
            name = system.model, system.mode
            if name in file_of:
                stop(f"{file}: {'/'.join(name)} is in {file_of[name]} too; expected one file for each")
            file_of[name] = file
        of_models = categories.parse(category or (), [system.model for system in systems])
        to.mkdir(parents=True, exist_ok=True)
        written = pages.write_all(to, systems, of_models, seed)
        print((to / "table-3.md").read_text(encoding="utf-8"))
        say(f"{to}: {len(written)} files")
