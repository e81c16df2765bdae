"""`excam macaron`: from templates to instances, from a model to its numbers. Tables go to files, counts to stderr."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from excam.annotation.options import CAMPAIGN, DRAWN, EXPORTS
from excam.core.provenance import each_line_once, say
from excam.core.release import SHIPPED_SEED
from excam.core.terminal import DRAW_SEED, FOLDER, SEED, TO, exit_on_error, stop
from excam.scoring.options import MODEL, TOKENS, Serving, with_options

app = typer.Typer(no_args_is_help=True, help="Build a benchmark from templates, ask models, report their numbers.")
TEMPLATES = Annotated[Path, typer.Argument(help="templates, as YAML")]
CONTEXTS = Annotated[Path, typer.Option(help="CSV file with country, language and script")]
SCENARIOS = Annotated[Path, typer.Argument(help="scenarios, as Parquet")]


@app.command()
def lint(file: TEMPLATES) -> None:
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
    file: TEMPLATES,
    contexts: CONTEXTS,
    to: DRAWN,
    each: Annotated[int, typer.Option(min=1, help="authors of a context")] = 2,
    times: Annotated[int, typer.Option(min=1, help="authors of a context who fill the same template")] = 1,
    pilot: Annotated[int | None, typer.Option(min=1, help="draw so many templates, which all authors fill")] = None,
    seed: DRAW_SEED = 0,
) -> None:
    """Draw a campaign: which templates each author fills, in an order of their own. `excam annotate` shows it to them.

    Example: excam macaron draw templates.yaml --contexts contexts.csv --each 2 --to campaign.json
    """
    from excam.annotation.campaign import write
    from excam.macaron import campaign, templates
    from excam.macaron.contexts import read_contexts

    with exit_on_error():
        templates_ = templates.read(file)
        if problems := templates.problems(templates_):
            stop(f"{file}: {problems[0]} ({len(problems)} problems); expected none; see `excam macaron lint {file}`")
        if pilot:
            templates_, times = campaign.pilot(templates_, pilot, seed), each
        drawn = campaign.authoring(templates_, read_contexts(contexts), each, times, seed)
        write(to, drawn)
        authors = sorted({name for task in drawn.tasks for name in task.assigned})
        say(f"{to}: {len(drawn.tasks)} tasks for {len(authors)} authors: {', '.join(authors)}")


@app.command()
def review(
    file: SCENARIOS,
    to: DRAWN,
    most: Annotated[int | None, typer.Option(min=1, help="scenarios of a country; without: all")] = None,
    seed: DRAW_SEED = 0,
) -> None:
    """Draw a campaign in which people of the culture approve, revise or remove scenarios. What is not drawn is listed.

    Example: excam macaron review scenarios.parquet --most 20 --to review.json
    """
    from excam.annotation.campaign import write, write_left_out
    from excam.macaron import campaign, scenarios

    with exit_on_error():
        drawn, left_out = campaign.reviewing(scenarios.read(file), most, seed)
        write(to, drawn)
        say(f"{to}: {len(drawn.tasks)} scenarios to review; left out: {write_left_out(to, left_out)}")


@app.command()
def feedback(
    file: Annotated[Path, typer.Argument(help="the campaign of authors")],
    review: Annotated[Path, typer.Argument(help="the campaign of the reviewers of what they submitted")],
    exports: EXPORTS,
    to: DRAWN,
) -> None:
    """Return to its authors what reviewers did not approve: they see what was said of it, and fill it again.

    Example: excam macaron feedback pilot.json review.json li.json --to again.json
    """
    from excam.annotation import campaign as campaigns
    from excam.macaron import campaign

    with exit_on_error():
        drawn, approved = campaign.rejected(campaigns.read(file), campaigns.read(review), exports)
        campaigns.write(to, drawn)
        say(f"{to}: {len(drawn.tasks)} tasks to fill again; approved {approved}")


@app.command()
def collect(
    file: CAMPAIGN,
    exports: EXPORTS,
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
    contexts: CONTEXTS,
    to: TO,
    reviews: Annotated[Path | None, typer.Option(help="decisions of reviewers, as JSON Lines")] = None,
) -> None:
    """Fill the templates with what authors submitted, check everything, and write scenarios as Parquet.

    Omitted submissions are listed with the reason in a CSV file beside it.

    Example: excam macaron build exports/ --templates templates.yaml --contexts contexts.csv --to scenarios.parquet
    """
    from excam.macaron import scenarios, source, templates
    from excam.macaron.contexts import read_contexts

    with exit_on_error():
        built = scenarios.build(
            templates.read(templates_),
            read_contexts(contexts),
            scenarios.read_exports(exports),
            scenarios.read_exports(reviews) if reviews else (),
        )
        source.write(built, to, to.with_suffix(".dropped.csv"))


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
    from excam.macaron import official, source

    with exit_on_error():
        named = [assignment.partition("=") for assignment in column or ()]
        columns = {ours: theirs for ours, _, theirs in named}
        source.write(official.read(choices, statements, columns), to, to.with_suffix(".dropped.csv"))


@app.command()
@with_options
def proofread(
    file: SCENARIOS,
    model: MODEL,
    to: TO,
    max_tokens: TOKENS = 512,
    *,
    serving: Serving,
) -> None:
    """Let a model correct spelling and grammar of the English texts; a guard refuses any other edit.

    Every edit, accepted or not, is listed in a CSV file beside the new scenarios. Local texts are unchanged.

    Example: excam macaron proofread scenarios.parquet --model qwen3:14b@http://localhost:11434/v1 --to new.parquet
    """
    from excam.macaron import proofread as proofreading
    from excam.macaron import scenarios
    from excam.scoring.asking import recorded_answers

    with exit_on_error():
        scenarios_ = scenarios.read(file)
        with recorded_answers(model, serving, max_tokens, file, to) as recorder:
            outcomes = proofreading.write(recorder, scenarios_, to.with_suffix(".edits.csv"), to)
        counted = ", ".join(f"{outcome} {count}" for outcome, count in outcomes.items())
        say(f"{to}: {len(scenarios_)} scenarios; fields: {counted}")


@app.command()
def derive(
    file: SCENARIOS,
    to: TO,
    seed: DRAW_SEED = 0,
) -> None:
    """Derive six instances of each scenario: multiple choice, true and false, in English and the local language.

    Example: excam macaron derive scenarios.parquet --to instances.parquet
    """
    from excam.core import tables
    from excam.macaron import derive as deriving
    from excam.macaron import scenarios

    with exit_on_error():
        scenarios_ = scenarios.read(file)
        made = deriving.instances(scenarios_, seed)
        tables.write_frame(to, deriving.to_frame(made))
        without = sum(scenario.true_en is None for scenario in scenarios_)
        say(f"{to}: {len(made)} instances of {len(scenarios_)} scenarios; without statements: {without}")
        say("letters are balanced over each country: a part of the scenarios has other orders of options")


@app.command()
@with_options
def ask(
    file: Annotated[Path, typer.Argument(help="instances, as Parquet")],
    model: MODEL,
    to: TO,
    mode: Annotated[
        str,
        typer.Option(
            help="choose: likelihoods of lines; letter: of letters; text: a line; thinking: a line after reasoning"
        ),
    ] = "choose",
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
    from excam.macaron import answers, asks, derive
    from excam.scoring.asking import recorded_answers

    with exit_on_error():
        ask_mode, instances = expect_choice("mode", mode, asks.MODES), derive.read(file)
        limit = max_tokens or (4096 if ask_mode == "thinking" else 64)
        with recorded_answers(model, serving, limit, file, to) as recorder:
            answered = recorder.record("asking, requests", partial(asks.answer, mode=ask_mode), instances, None)
            tables.write_frame(to, answers.to_frame(instances, recorder.model_name, ask_mode, answered))
        say(f"{to}: {len(answered)} answers; failures: {counts.failures(answered)}")


@app.command()
def report(
    files: Annotated[list[Path], typer.Argument(help="answers, as Parquet: one file for each model and mode")],
    instances: Annotated[Path, typer.Option(help="the instances that they answer")],
    to: FOLDER,
    scenarios: Annotated[Path | None, typer.Option(help="their scenarios, for coverage and the paper's values")] = None,
    category: Annotated[
        list[str] | None, typer.Option(help="MODEL=CATEGORY: thinking, standard or open-weight, for averages")
    ] = None,
    seed: SEED = SHIPPED_SEED,
) -> None:
    """Write the tables and figures of the workflow for these answers, beside those of the paper.

    Example: excam macaron report a.parquet b.parquet --instances instances.parquet --to report
    """
    import json

    from excam.macaron import answers, categories, derive
    from excam.pages import by_hand

    with exit_on_error(), each_line_once():
        systems = answers.join(derive.read(instances), files)
        of_models = categories.parse(category or (), [system.model for system in systems])
        made_of = {"answers": files, "instances": [instances], "scenarios": [scenarios] if scenarios else []}
        by_hand.write("macaron", to, made_of, {"seed": seed, "categories": json.dumps(of_models, sort_keys=True)})
