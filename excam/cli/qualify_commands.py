"""`excam qualify`: what a model is worth as a judge of texts with documents."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from excam.core.provenance import say
from excam.core.terminal import exit_on_error
from excam.scoring.options import MODEL, Serving, with_options
from excam.scoring.target import OVERWRITE, target


@with_options
def qualify(
    model: MODEL,
    to: Annotated[Path, typer.Option(help="file to write, for `excam score --qualified`")],
    minutes: Annotated[
        float, typer.Option(min=0, help="stop then: fewer rows, wider intervals; a small model on a CPU needs 200")
    ] = 5.0,
    base: Annotated[Path | None, typer.Option(help="folder of an adapter's base model")] = None,
    overwrite: OVERWRITE = False,
    *,
    serving: Serving,
) -> None:
    """Find out in minutes how often a model judges rightly by documents, and when it should be silent.

    It reads answers to questions on short documents in nine languages, right, wrong and undecidable ones; the set is
    ours and ships with this package. The table says, beside floors without a model: net (right verdicts minus wrong
    ones; silence about what no document says is right), AUC, the share of right verdicts, of texts with a verdict, of
    silence where nothing decides, of right verdicts where a passage gives orders, the F1 of the marked words.

    Example: excam qualify --model qwen3:14b@http://localhost:11434/v1 --to qwen3.qualified.json
    """
    from excam.core.exceptions import InputInvalid
    from excam.core.language_identity import code_name
    from excam.core.provenance import Progress, quiet_libraries, write_json
    from excam.error_reports import qualification, readers
    from excam.error_reports.metrics import ErrorReports
    from excam.error_reports.qualification import asking, numbers, question_set
    from excam.inference import Sampling
    from excam.inference.journal import Journal, ask
    from excam.scoring.display import console, table
    from excam.scoring.files import journal_of
    from excam.scoring.models import open_model, parse

    quiet_libraries()
    with exit_on_error():
        to = target(to)
        if to.exists() and not overwrite:
            raise InputInvalid(f"--to: {to} is there; expected a new file; give another name or --overwrite")
        opened = open_model(model, base, serving)
        rows, journal = question_set.questions(), journal_of(to)  # answers, if the command is killed
        progress = Progress("qualifying, rows", len(rows))
        sampling = Sampling(ErrorReports.max_tokens, logprobs=False)
        answering = partial(ask, opened.backend, sampling, Journal(journal))
        reader = readers.of(readers.facts_of(opened), is_qualified=True)
        examined, seconds = asking.examine(rows, answering, reader, minutes, progress.advance)
        of_model, *floors = numbers.numbers(reader.signature.partition(".")[0], examined, seconds)
        way, lines = (of_model.way if of_model.is_worth_something else None), list(numbers.lines([of_model, *floors]))
        facts = {"version": qualification.REVISION, "model": opened.described, "reader": reader.signature}
        facts |= {"set": question_set.identity(), "rows": len(examined)}
        write_json(to, {**facts, "way": asdict(way) if way else None, "table": lines})
        journal.unlink(missing_ok=True)
        table(console(), lines)
        if way:
            say(f"measured in {', '.join(map(code_name, way.slopes))}; a text of another language is not known")
            say(f"`excam score FILE --model {parse(model).shown} --evidence PACK --qualified {to}`")
        elif not of_model.way:
            say(f"{len(examined)} rows are too few to fit anything; give more --minutes")
        else:
            say("this model is no better than the floors on these rows: do not rely on its verdicts")
