"""`excam calmqa`: questions, campaigns and reports. Tables go to files, counts to stderr.

S of a file of answers is `excam score FILE --metric calmqa --model M --evidence PACK`; the pack is made by
`excam knowledge build`. Its surface alone is `--metric calmqa-surface`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from excam.annotation.options import CAMPAIGN, DRAWN, EXPORTS, RATERS, SOURCE, SOURCE_EXPORTS
from excam.core.provenance import say
from excam.core.terminal import DRAW_SEED, FOLDER, exit_on_error, stop
from excam.scoring.options import MODEL, Serving, with_options

if TYPE_CHECKING:
    from excam.calmqa.source import Question

app = typer.Typer(no_args_is_help=True, help="Score long answers: right language, no loops, true, to the point.")
QUESTIONS = Annotated[Path, typer.Option(help="the questions, as Parquet")]


@app.command()
def report(
    file: Annotated[Path, typer.Argument(help="ratings in the columns of the authors' all_ratings.csv")],
    to: FOLDER,
) -> None:
    """Write the workflow's files of what ratings follow: every usual R² of omissions, factual errors, model and type.

    Example: excam calmqa report all_ratings.csv --to report
    """
    from excam.pages import by_hand

    with exit_on_error():
        by_hand.write("calmqa", to, {"ratings": [file]}, {})


@app.command("filter")
@with_options
def filter_(
    file: Annotated[Path, typer.Argument(help="questions in the official columns")],
    model: MODEL,
    to: Annotated[Path, typer.Option(help="JSON Lines: each question with what was decided in each round")],
    *,
    serving: Serving,
) -> None:
    """Keep questions that are about a culture, then those that are clear: the two rounds of the paper's collection.

    Example: excam calmqa filter questions.jsonl --model qwen3:14b@http://localhost:11434/v1 --to kept.jsonl
    """
    from dataclasses import asdict

    from excam.calmqa import asks, source
    from excam.core import tables
    from excam.scoring.asking import recorded_answers

    with exit_on_error():
        questions: list[Question] = source.read_questions([file])
        if not questions:
            stop(f"{file}: 0 questions; expected one JSON object a line, in the official columns")
        with recorded_answers(model, serving, 64, file, to) as recorder:
            decided = recorder.record("filtering, requests", asks.keep, questions, None)
            votes = [{name: picked.option or picked.failure for name, picked in rounds.items()} for rounds in decided]
            cultural, is_clear = ([rounds.get(name) == "yes" for rounds in votes] for name in asks.FILTERS)
            outcomes = zip(questions, votes, is_clear, strict=True)
            tables.write_jsonl(
                to, (asdict(question) | {"rounds": rounds, "kept": yes} for question, rounds, yes in outcomes)
            )
        failed = sum(bool(picked.failure) for rounds in decided for picked in rounds.values())
        say(
            f"{to}: {len(questions)} questions; about a culture {sum(cultural)}, and clear {sum(is_clear)} "
            f"({100 * sum(is_clear) / len(questions):.0f} %; the paper kept 52 %); unreadable: {failed}"
        )


@app.command()
def draw(
    file: Annotated[Path, typer.Argument(help="answers, as Parquet: results/calmqa/answers.parquet")],
    questions: QUESTIONS,
    subjects: Annotated[str, typer.Option(help="three subjects, parted by commas")],
    to: DRAWN,
    people: RATERS = 1,
    each: Annotated[int, typer.Option(min=1, help="questions of a language, half of each type")] = 20,
    languages: Annotated[str | None, typer.Option(help="languages, parted by commas; without: all")] = None,
    seed: DRAW_SEED = 0,
) -> None:
    """Draw a campaign in which people rate three answers to a question. What is not drawn is listed beside it.

    Example: excam calmqa draw answers.parquet --questions questions.parquet --subjects a,b,c --to campaign.json
    """
    from excam.annotation.campaign import write, write_left_out
    from excam.calmqa import campaign, source
    from excam.core.language_identity import code_name, language_code

    with exit_on_error():
        rows, codes = source.questions_of(questions), {language_code(name) for name in _listed(languages or "")}
        for code in codes - {row.language for row in rows.values()}:
            stop(f"{questions}: no question in {code_name(code)}; expected some in each of --languages")
        wanted = {name: row for name, row in rows.items() if not codes or row.language in codes}
        drawn, left_out = campaign.drawing(wanted, source.answers_of(file), _listed(subjects), people, each, seed)
        left_out |= {name: "another language" for name in rows if name not in wanted}
        write(to, drawn)
        say(f"{to}: {len(drawn.tasks)} questions, three answers each; left out: {write_left_out(to, left_out)}")


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


@app.command()
def collect(
    file: CAMPAIGN,
    exports: EXPORTS,
    questions: QUESTIONS,
    to: Annotated[Path, typer.Option(help="CSV file with the columns of the authors' all_ratings.csv")],
) -> None:
    """Collect what people submitted as the CSV file that `report` reads.

    Example: excam calmqa collect campaign.json ada.json --questions questions.parquet --to ratings.csv
    """
    from excam.annotation import campaign as campaigns
    from excam.calmqa import campaign, source
    from excam.core import tables

    with exit_on_error():
        drawn = campaigns.read(file)
        rows = list(campaign.ratings(exports, drawn, source.questions_of(questions)))
        if not rows:
            stop(f"{len(exports)} files hold nothing that was submitted; expected some; submit on the page first")
        tables.write_lines(to, campaign.COLUMNS, rows)
        say(f"{to}: {len(rows)} ratings of {len(drawn.tasks)} questions")


@app.command()
def draw_seeds(
    languages: Annotated[str, typer.Argument(help="languages to write in, parted by commas")],
    to: DRAWN,
    people: Annotated[int, typer.Option(min=1, help="writers of a language")] = 1,
    each: Annotated[int, typer.Option(min=1, help="questions of a writer")] = 20,
    only: Annotated[str, typer.Option(help="these writers alone, parted by commas: those who passed a test")] = "",
) -> None:
    """Draw a campaign in which people write questions of their culture. `excam annotate` shows it to them.

    Example: excam calmqa draw-seeds Wolof,Fijian --people 2 --each 20 --to campaign.json
    """
    from excam.annotation.campaign import write
    from excam.calmqa import seeds

    with exit_on_error():
        drawn = seeds.drawing(_listed(languages), people, each, _listed(only))
        write(to, drawn)
        writers = dict.fromkeys(name for task in drawn.tasks for name in task.assigned)
        say(f"{to}: {len(drawn.tasks)} questions to write, by {', '.join(writers)}")


@app.command()
def qualify(
    source: SOURCE,
    to: Annotated[Path, typer.Option(help="CSV file: each writer with their questions, and whether they passed")],
    exports: SOURCE_EXPORTS = None,
    least: Annotated[float, typer.Option(min=0, max=1, help="share of good questions that is enough")] = 0.8,
) -> None:
    """Say who passed the qualification test: whose questions others judged to be good, by the form seed_review.

    Example: excam calmqa qualify review.json li.json --least 0.8 --to writers.csv
    """
    from excam.annotation.result_commands import campaign_and_answers
    from excam.calmqa import seeds
    from excam.core import tables

    with exit_on_error():
        lines = seeds.tested(*campaign_and_answers(source, exports or []), least)
        tables.write_lines(to, seeds.TESTED, lines)
        passed = [line["writer"] for line in lines if line["passed"] == "yes"]
        say(f"{to}: {len(passed)} of {len(lines)} writers passed: {','.join(passed) or 'none'}")


@app.command()
def collect_seeds(
    file: CAMPAIGN,
    exports: EXPORTS,
    to: Annotated[
        Path, typer.Option(help="JSON Lines in the official columns, as `filter` and `calmqa.questions` read")
    ],
) -> None:
    """Collect the questions that people wrote, in the official columns.

    Example: excam calmqa collect-seeds campaign.json wo-1.json --to questions.jsonl
    """
    from excam.annotation import campaign as campaigns
    from excam.calmqa import seeds
    from excam.core import tables

    with exit_on_error():
        rows, counts = seeds.collected(exports, campaigns.read(file))
        if not rows:
            stop(f"{len(exports)} files hold no submitted question; expected some; submit on the page first")
        tables.write_jsonl(to, rows)
        say(f"{to}: {len(rows)} questions; {', '.join(f'{name} {n}' for name, n in counts.items())}")
