"""What CulT-Eval's paper prints, its text and every cell of its tables, answered from the tables of an experiment.

Its Tables 3 and 6 are blank. A cell is a claim: its id is table/row/column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from excam.acre import equivalent, sentence_metrics
from excam.core import tables
from excam.pages.claims import Ours, Quote, stated

Lines = Sequence[Mapping[str, str]]
Answers = Iterator[tuple[str, Ours]]

TEXTS = ("source", "reference", "translation")  # columns of Table 4 that hold no number
NAMES = {"chrf": "chrF++", "chrf++": "chrF++", "bert": "BERTScore"}  # of metrics, where the paper has others
OTHERS = "other items, systems and judges than the paper's"
NO_LABELS = "no labels of people: labels.jsonl"


def claims(folder: Sequence[Path]) -> list[Quote]:
    """Return every claim of the printed files: the lines of claims.csv, the cells of the tables; a blank one is one."""
    listed: list[Quote] = []
    for path in folder:
        lines = tables.read_lines(path)
        if path.stem == "claims":
            listed += stated(lines)
            continue
        place = path.stem.replace("table-", "Table ")
        for line in lines:
            row, *columns = line
            listed += [
                Quote(f"{path.stem}/{line[row]}/{column}", f"{line[row]}, {column}", line[column] or "blank", "", place)
                for column in columns
                if column not in TEXTS
            ]
    return listed


def answers(printed: Mapping[str, Lines], ours: Mapping[str, Lines], settings: Mapping[str, Any]) -> dict[str, Ours]:
    """Return ours of each claim by its id, or the reason why there is none.

    `printed` are the tables of the paper, `ours` those of this experiment, both by name; `settings` are the models that
    translate, with their backends, and the numbers of examples that they see.
    """
    return (
        dict(_ablations(ours.get("ablations")))
        | dict(_text(ours, settings))
        | dict(_table_1(printed["table-1"], ours["table-1"]))
        | dict(_table_2(printed["table-2"], ours.get("table-2")))
        | dict(_table_4(printed["table-4"]))
        | dict(_table_5(printed["table-5"], ours.get("table-5")))
        | dict(_table_7(printed["table-7"], ours.get("ablations")))
    )


def _text(ours: Mapping[str, Lines], settings: Mapping[str, Any]) -> Answers:
    counted = {line["outcome"]: int(line["candidates"]) for line in ours["removals"]}
    yield "items", Ours(counted["kept"], "table-1.csv")
    yield "items-over", Ours(counted["kept"], "table-1.csv")
    yield "candidates", Ours(counted["all"], "removals.csv: items, and candidates that were left out")
    backends = list(settings["models"].values())
    written = "models of the configuration; systems of the folder were written or collected"
    yield "systems-mt", Ours(backends.count("seq2seq"), written)
    yield "systems-llm", Ours(len(backends) - backends.count("seq2seq"), written)
    yield "paradigms", Ours(len(settings["shots"]), f"cult_eval.shots: {', '.join(map(str, settings['shots']))}")


def _table_1(printed: Lines, ours: Lines) -> Answers:
    at = {line["category"]: line for line in ours}
    for line in printed:
        numbers = at[line["category"]]
        for column in line:
            if column != "category":
                value = float(numbers[column]) if numbers[column] else ""
                note = f"table-1.csv: {numbers['items']} items of this benchmark"
                yield f"table-1/{line['category']}/{column}", Ours(round(value, 2) if value else value, note)


def _table_2(printed: Lines, ours: Lines | None) -> Answers:
    columns = {"pearson": "point_biserial", "spearman": "spearman"}
    for line in printed:
        numbers = _of_metric(line["metric"], ours or [])
        for name, column in columns.items():
            value = numbers.get(column) if numbers else None
            why = NO_LABELS if ours is None else _not_measured(line["metric"]) if numbers is None else "no variation"
            note = f"table-2.csv: {numbers['metric']}, n = {numbers['n']}, times 100; {OTHERS}" if numbers else ""
            yield (
                f"table-2/{line['metric']}/{name}",
                Ours(round(100 * float(value), 1), note) if value else Ours("", why),
            )


def _of_metric(printed: str, ours: Lines) -> Mapping[str, str] | None:
    """Return our line of a printed metric, the last of several; ACRE is that of the last judge with a model."""
    if printed == "ACRE":
        return next((line for line in reversed(ours) if line["metric"].startswith("ACRE, ")), None)
    return next((line for line in ours if line["metric"] == NAMES.get(printed.lower(), printed)), None)


def _not_measured(metric: str) -> str:
    return "no judge with a model: cult_eval.judges" if metric == "ACRE" else f"{metric} was not measured: no weights"


def _table_4(printed: Lines) -> Answers:
    for line in printed:
        bleu = sentence_metrics.bleu([(line["translation"], line["reference"])]).scores[0]
        expected = equivalent.Expected(line["type"], line["reference"], None, (), ())
        valid = equivalent.judge(expected, line["translation"]).valid
        row = f"table-4/{line['type']}"
        yield f"{row}/bleu", Ours(round(bleu, 1), "of the printed fragments; the paper's sentences are cut")
        yield f"{row}/comet", Ours("", "the paper's sentences are cut, and COMET was not measured: no weights")
        yield f"{row}/valid", Ours(int(valid), "by the judge without a model, with the reference as explication")


def _table_5(printed: Lines, ours: Lines | None) -> Answers:
    marks = {"True": "✓", "False": "✗", "": "?"}
    for line in printed:
        for metric in line:
            if metric == "error":
                continue
            name = NAMES.get(metric.lower(), metric)
            own_cell = next(
                (cell for cell in ours or [] if (cell["metric"], cell["error"]) == (name, line["error"])), None
            )
            why = NO_LABELS if ours is None else _not_measured(name)
            mark = marks[own_cell["penalised"]] if own_cell else ""
            same = "the same" if mark == line[metric] else "another mark" if line[metric] else "blank in the paper"
            note = f"{same}; table-5.csv, n = {own_cell['n']}; {OTHERS}" if own_cell else why
            yield f"table-5/{line['error']}/{metric}", Ours(mark, note)


def _ablations(ours: Lines | None) -> Answers:
    """The parts whose removal moves the last judge's correlation most and least."""
    last = ours[-1]["judge"] if ours else ""
    dropped = {
        line["variant"]: float(line["difference"])
        for line in ours or []
        if line["judge"] == last and line["difference"]
    }
    for name, choose in (("most", min), ("least", max)):
        value = choose(dropped, key=dropped.__getitem__) if dropped else ""
        yield f"ablation-{name}", Ours(value, f"ablations.csv: {last}; {OTHERS}" if dropped else NO_LABELS)


def _table_7(printed: Lines, ours: Lines | None) -> Answers:
    last = ours[-1]["judge"] if ours else ""
    at = {line["variant"]: line for line in ours or [] if line["judge"] == last}
    for line in printed:
        numbers = at.get(line["variant"])
        why_not = f"{line['variant']}: not in cult_eval.variants, or no judge was asked in several"
        why = NO_LABELS if ours is None else why_not
        for name, column in (("correlation", "tau_b"), ("delta", "difference")):
            value = numbers.get(column) if numbers else None
            note = f"ablations.csv: tau-b of {last}, n = {numbers['n']}; {OTHERS}" if numbers else ""
            none = "the full metric: no difference" if name == "delta" and line["variant"] == "full" else why
            yield f"table-7/{line['variant']}/{name}", Ours(float(value), note) if value else Ours("", none)
