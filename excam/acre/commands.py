"""`excam acre`: from items and translations to verdicts, metrics and tables. Tables go to files, counts to stderr."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from excam.annotation.options import CAMPAIGN, DRAWN, EXPORTS, RATERS
from excam.core.provenance import each_line_once, say
from excam.core.release import SHIPPED_SEED
from excam.core.terminal import DRAW_SEED, FOLDER, SEED, TO, exit_on_error, stop
from excam.scoring.options import MODEL, TOKENS, Serving, with_options

app = typer.Typer(no_args_is_help=True, help="Judge translations of culture-loaded expressions, and compare metrics.")
ITEMS = Annotated[Path, typer.Option(help="the items, as JSON Lines or Parquet")]
ROWS = Annotated[Path, typer.Argument(help="rows, made by `excam acre rows`")]
REMOVED = Annotated[Path | None, typer.Option(help="file of candidates that became no item, with reasons")]


@app.command()
def rows(
    files: Annotated[list[Path], typer.Argument(help="translations: id of the item, translation, system, shots")],
    items: ITEMS,
    to: TO,
) -> None:
    """Join translations with their items; check both. The file is read by the other commands, and by `excam score`.

    Example: excam acre rows ours.jsonl theirs.jsonl --items items.jsonl --to rows.parquet
    """
    from excam.acre import items as reading
    from excam.acre import source, translations
    from excam.core import tables

    with exit_on_error():
        item_of = reading.read(items)
        translated = source.written(files, item_of)
        tables.write_frame(to, translations.to_frame(translated))
        systems = translations.systems(translated)
        absent = len(systems) * len(item_of) - len(translated)
        empty = sum(not row.translation.strip() for row in translated)
        say(f"{to}: {len(translated)} translations by {', '.join(systems)}; empty {empty}; items without one {absent}")


@app.command()
@with_options
def judge(
    file: ROWS,
    to: TO,
    model: MODEL,
    variant: Annotated[
        list[str] | None, typer.Option(help="full, no-gate, no-routing, no-explication, no-reference; several")
    ] = None,
    by: Annotated[str, typer.Option(help="text: a line of JSON; choose: the likelihood of each answer")] = "text",
    max_tokens: TOKENS = 512,
    *,
    serving: Serving,
) -> None:
    """Judge every row as ACRE, in one variant or several, and write the verdicts as Parquet. A killed run continues.

    With --model equivalent no model is asked, and validity alone is judged.

    Example: excam acre judge rows.parquet --model qwen3:14b@http://localhost:11434/v1 --to judged.parquet
    """
    from excam.acre import asks, judgements, translations
    from excam.core import counts, tables
    from excam.core.exceptions import expect_choice
    from excam.scoring.asking import recorded_answers

    with exit_on_error():
        translated = translations.from_frame(file)
        if model == judgements.EQUIVALENT:
            options = {"--variant": variant, "--by": by != "text", "--backend": serving.backend}
            if refused := [name for name, value in options.items() if value]:
                stop(f"{', '.join(refused)}: not for {model}, which asks no model; leave it out")
            judged = judgements.equivalent_frame(translated)
            tables.write_frame(to, judged)
            failed = len(translated) - judged["acre"].count()
            say(f"{to}: {len(translated)} rows judged without a model; failures: {failed}")
            return
        variants: list[asks.Variant] = [expect_choice("--variant", name, asks.VARIANTS) for name in variant or ["full"]]
        tasks = asks.tasks(translated, variants, expect_choice("--by", by, asks.MODES))
        with recorded_answers(model, serving, max_tokens, file, to) as recorder:
            verdicts = judgements.write(recorder, recorder.model_name, translated, tasks, to)
        invalid = sum(verdict.valid is False for verdict in verdicts)
        failures = counts.failures(verdicts)
        say(f"{to}: {len(verdicts)} verdicts, {invalid} invalid; failures: {failures}")


@app.command()
def metrics(
    file: ROWS,
    to: TO,
    encoder: Annotated[Path | None, typer.Option(help="folder with an encoder, for BERTScore")] = None,
    layer: Annotated[int, typer.Option(min=1, help="of the encoder, from which hidden states are taken")] = 6,
) -> None:
    """Measure every row with metrics of whole sentences: BLEU, chrF++, and BERTScore by an encoder.

    Example: excam acre metrics rows.parquet --encoder minilm --to metrics.parquet
    """
    from excam.acre import sentence_metrics, translations
    from excam.core import tables
    from excam.core.provenance import quiet_libraries

    quiet_libraries()
    with exit_on_error():
        translated = translations.from_frame(file)
        named_encoder = (encoder, sentence_metrics.named(encoder)) if encoder else None
        columns = sentence_metrics.measure(translated, named_encoder, layer)
        tables.write_frame(to, sentence_metrics.to_frame(translated, columns))
        for name, column in columns.items():
            say(f"{sentence_metrics.TITLES[name]}: {column.signature}")


@app.command()
def report(
    file: ROWS,
    to: FOLDER,
    labels: Annotated[Path | None, typer.Option(help="labels of people: id, system, correct, errors")] = None,
    judged: Annotated[list[Path] | None, typer.Option(help="verdicts, made by `excam acre judge`")] = None,
    measured: Annotated[list[Path] | None, typer.Option(help="made by `excam acre metrics`")] = None,
    scored: Annotated[list[str] | None, typer.Option(help="NAME=FILE of `excam score` on the same rows")] = None,
    expressions: Annotated[Path | None, typer.Option(help="the items of the benchmark: for their counts")] = None,
    removed: REMOVED = None,
    seed: SEED = SHIPPED_SEED,
) -> None:
    """Write the tables and figures of the workflow for these rows; without labels, the systems under ACRE alone.

    Example: excam acre report rows.parquet --labels labels.jsonl --judged judged.parquet --to report
    """
    from excam.pages import by_hand

    with exit_on_error(), each_line_once():
        scores = dict(_name_and_file(assignment) for assignment in scored or [])
        if not (judged or measured or scores):
            stop("--judged, --measured: found none of them; expected verdicts or metrics to report on")
        single = {"rows": file, "labels": labels, "expressions": expressions, "removed": removed}
        made_of = {name: [path] for name, path in single.items() if path}
        made_of |= {"judged": judged or [], "measured": measured or [], "scores": list(scores.values())}
        by_hand.write("acre", to, made_of, {"scored": list(scores), "seed": seed})


def _name_and_file(assignment: str) -> tuple[str, Path]:
    name, sign, file = assignment.partition("=")
    if not (name and sign and file):
        stop(f"--scored: found {assignment}; expected NAME=FILE")
    return name, Path(file)


@app.command()
def draw(
    file: Annotated[Path, typer.Argument(help="sentences with translations, or rows made by `excam acre rows`")],
    form: Annotated[str, typer.Option(help="culture_spans: mark expressions; translation_errors: judge translations")],
    to: DRAWN,
    each: RATERS = 2,
    seed: DRAW_SEED = 0,
) -> None:
    """Draw a campaign for people, which `excam annotate` shows them; systems behind translations are hidden.

    Example: excam acre draw rows.parquet --form translation_errors --to campaign.json
    """
    from excam.acre import campaign, translations
    from excam.annotation.campaign import write
    from excam.core.exceptions import expect_choice

    with exit_on_error():
        if expect_choice("--form", form, ("culture_spans", "translation_errors")) == "culture_spans":
            drawn, repeated = campaign.marking(file, each, seed)
        else:
            drawn, repeated = campaign.labelling(translations.from_frame(file), each, seed), 0
        write(to, drawn)
        more = f"; rows with the sentence of another {repeated}" if repeated else ""
        say(f"{to}: {len(drawn.tasks)} tasks, each for {each} annotators{more}")


@app.command()
def collect(
    file: CAMPAIGN,
    exports: EXPORTS,
    to: TO,
    removed: REMOVED = None,
) -> None:
    """Collect what people submitted, where annotators agree: items of marked expressions, or labels.

    Example: excam acre collect campaign.json ada.json grace.json --to labels.jsonl
    """
    from excam.acre import campaign
    from excam.annotation import campaign as campaigns
    from excam.core import counts, tables

    with exit_on_error():
        rows, no_items, left_out = campaign.collect(exports, campaigns.read(file))
        tables.write_jsonl(to, rows)
        if removed:
            tables.write_jsonl(removed, no_items)
        say(f"{to}: {len(rows)} rows; left out: {counts.in_words(left_out)}")
        if uneven := campaign.uneven(rows):
            say(f"{len(uneven)} expressions with several categories or translations: {', '.join(uneven[:10])}")


@app.command()
@with_options
def candidates(
    file: Annotated[Path, typer.Argument(help="Chinese sentences: id, source, and what else is to be kept")],
    model: MODEL,
    to: TO,
    max_tokens: TOKENS = 256,
    *,
    serving: Serving,
) -> None:
    """List expressions of a corpus that may be culture-loaded, rather too many than too few. People decide about each.

    Example: excam acre candidates corpus.jsonl --model qwen3:14b@http://localhost:11434/v1 --to candidates.jsonl
    """
    from excam.acre import candidates as finding
    from excam.core import tables
    from excam.scoring.asking import recorded_answers

    with exit_on_error():
        sentences = finding.read(file)
        with recorded_answers(model, serving, max_tokens, file, to) as recorder:
            extractions = recorder.record("reading, sentences", finding.flow, sentences, len(sentences))
            tables.write_jsonl(to, (row for extraction in extractions for row in extraction.rows))
        say(f"{to}: {finding.summary(extractions)}")
