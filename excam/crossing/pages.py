"""The tables and figures of the two experiments, and ExCAM's reports beside people's ratings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from excam.core.exceptions import InputInvalid
from excam.crossing.columns import LENGTH, spoken
from excam.crossing.kinds import KINDS
from excam.crossing.numbers import ALL
from excam.pages import markdown, plotting
from excam.pages.markdown import escape, table
from excam.scoring.results import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEW = 30  # erroneous texts, or scenarios: with fewer, a mark says so
Line = Mapping[str, Any]


def _kinds(lines: Sequence[Line]) -> list[str]:
    return [kind for kind in KINDS if any(kind == line["kind"] for line in lines)]


def _metrics(lines: Sequence[Line]) -> list[str]:
    return list(dict.fromkeys(str(line["metric"]) for line in lines))


def blind_spots(lines: Sequence[Line], notes: Sequence[str]) -> str:
    """Return the page of the blind-spot matrix."""
    at = {(line["metric"], line["kind"]): line for line in lines}
    kinds = _kinds(lines)
    body = [[escape(metric), *(_cell(at.get((metric, kind))) for kind in kinds)] for metric in _metrics(lines)]
    counts = [
        [
            kind,
            KINDS[kind],
            ", ".join(sorted({name for line in lines if line["kind"] == kind for name in line["sets"].split()})),
        ]
        for kind in kinds
    ]
    return (
        "# Blind spots\n\nWhich kinds of errors does each metric miss? A cell is the share of pairs of an erroneous "
        "text and a correct text on the same question in which the correct one scores higher, ties half: .5 is chance, "
        "1 sees every error, below .5 prefers the erroneous texts. In brackets the 95 % interval over questions, if "
        "draws differ; then the erroneous texts, what the length of the text reaches **on the same pairs**, and "
        f"the texts without a score where there are any. * marks fewer than {FEW} erroneous texts: such a cell "
        "describes these rows, not the metric.\n\n"
        + table(["metric", *kinds], body)
        + "\nEmpty: the metric needs columns that these rows lack.\n"
        + markdown.cautions(_blind_spot_cautions(lines))
        + "\n## Kinds of errors\n\n"
        + table(["kind", "what is wrong", "rows of"], counts)
        + "\n"
        + "".join(f"{note}\n" for note in notes)
    )


def _cell(cell: Line | None) -> str:
    if cell is None:
        return ""
    if cell["auc"] is None:
        return f"n/a, n = 0{_lost(cell)}"
    interval = "" if cell["low"] is None else f" [{_share(cell['low'])}, {_share(cell['high'])}]"
    length = "" if cell["metric"] == LENGTH else f", length {_share(cell['length'])}"
    return f"{_share(cell['auc'])}{interval}, n = {_counted(cell)}{length}{_lost(cell)}"


def _counted(cell: Line) -> str:
    return f"{cell['wrong']}{'*' * (cell['wrong'] < FEW)}"


def _blind_spot_cautions(lines: Sequence[Line]) -> Iterator[str]:
    """Yield what the cells cannot show: other rows down a column, texts told apart by length, a metric of one score."""
    yield (
        "Cells below one another may be of other rows, since a metric scores the rows that have its columns. On the "
        "same rows `excam meta` compares metrics, with tests."
    )
    with_auc = [line for line in lines if line["auc"] is not None]
    cells = {metric: [line for line in with_auc if line["metric"] == metric] for metric in _metrics(with_auc)}
    above = [
        f"{escape(metric)} {sum(line['auc'] > line['length'] for line in of_metric)} of {len(of_metric)}"
        for metric, of_metric in cells.items()
        if metric != LENGTH
    ]
    if above:
        yield f"Kinds in which a metric is above the length of the text on the same pairs: {', '.join(above)}."
    if same := [metric for metric, of_metric in cells.items() if all(line["auc"] == 0.5 for line in of_metric)]:
        yield f"In every cell exactly .5: {', '.join(map(escape, same))}."


def _lost(cell: Line) -> str:
    return f", {cell['failures']} failed" if cell["failures"] else ""


def _share(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


def figure_blind_spots(lines: Sequence[Line]) -> Figure:
    """Draw the matrix: metrics by kinds of errors; a frame where the interval of enough texts excludes chance."""
    if not lines:
        raise InputInvalid("blind spots: 0 cells; expected erroneous rows that a metric can score")
    at = {(line["metric"], line["kind"]): line for line in lines}
    drawn = [line for line in lines if line["auc"] is not None and line["wrong"] >= plotting.LEAST]
    metrics, kinds = _metrics(drawn), _kinds(drawn)
    hidden = {
        "kinds": [kind for kind in _kinds(lines) if kind not in kinds],
        "metrics": sorted({*_metrics(lines)} - {*metrics}),
    }
    left_out = "; ".join(f"{what} {', '.join(map(spoken, names))}" for what, names in hidden.items() if names)
    title = "What each metric does not see"
    if not drawn:
        return plotting.words(
            title, f"No metric scored {plotting.LEAST} texts with one kind of error: nothing to show."
        )
    few = "Few erroneous texts: most differences between cells are chance. "
    return plotting.heat_map(
        [[_drawn_cell(at.get((metric, kind))) for kind in kinds] for metric in metrics],
        plotting.Axis(list(map(spoken, metrics))),
        plotting.Axis(kinds),
        plotting.Scale("share of pairs", limits=(0.0, 1.0), centre=0.5),
        title=title,
        note=(few if all(line["wrong"] < FEW for line in lines) else "")
        + "Share of pairs in which a correct text scores above an erroneous one on the same question; .5 is chance. "
        f"Below it the erroneous texts, * fewer than {FEW}, and what the length of the text reaches on the same pairs. "
        f"Framed: {FEW} texts or more, and the 95 % interval over questions excludes .5. Cells of one column may be of "
        "other rows. n/a: the metric cannot score these rows, or has no pair of them."
        + (f" Not drawn, fewer than {plotting.LEAST} texts: {left_out}." if left_out else ""),
    )


def _drawn_cell(line: Line | None) -> plotting.Tile:
    if line is None:
        return plotting.Tile(None)
    below = "" if line["auc"] is None else _beneath(line)
    return plotting.Tile(line["auc"], line["wrong"], below=below, framed=_excludes_chance(line))


def _beneath(cell: Line) -> str:
    return f"n {_counted(cell)}" + ("" if cell["metric"] == LENGTH else f", length {_share(cell['length'])}")


def _excludes_chance(cell: Line) -> bool:
    return cell["wrong"] >= FEW and cell["low"] is not None and not cell["low"] <= 0.5 <= cell["high"]


def language_gap(lines: Sequence[Line], notes: Sequence[str]) -> str:
    """Return the page of the language gap."""
    body = [
        [
            escape(line["metric"]),
            line["language"],
            *(("n/a", "n/a", "n/a") if line["difference"] is None else _gap_cells(line)),
            f"{line['scenarios']}{'*' * (line['scenarios'] < FEW)}",
            line["failures"],
        ]
        for line in lines
    ]
    head = ["metric", "local language", "English", "local", "local − English [95 %]", "scenarios", "left out"]
    return (
        "# Language gap\n\nIs a metric worse in the local language on the very same error? The true and the false "
        "statement of each scenario of Macaron, in English and in the local language, as answers to the same question. "
        "A share: scenarios in which the true statement scores higher, ties half; .5 is chance. Only scenarios of "
        f"which all four texts have a score. * marks fewer than {FEW} of them: such a row describes these scenarios, "
        f"not the metric, and its interval is too narrow.\n\n{table(head, body)}\n"
        + "".join(f"{note}\n" for note in notes)
    )


def _gap_cells(line: Line) -> tuple[str, str, str]:
    interval = "" if line["low"] is None else f" [{_signed(line['low'])}, {_signed(line['high'])}]"
    return _share(line["english"]), _share(line["local"]), _signed(line["difference"]) + interval


def _signed(value: float) -> str:
    return f"{value:+z.2f}".replace("-", "−").replace("0.", ".", 1)


def figure_language_gap(lines: Sequence[Line]) -> Figure:
    """Draw the difference of each metric, over all local languages and in each."""
    metrics = _metrics(lines)
    if not metrics:
        raise InputInvalid("language gap: 0 scenarios in two languages; expected those of Macaron, with statements")
    at = {(line["metric"], line["language"]): line for line in lines}
    most = {
        name: max(int(at[metric, name]["scenarios"]) for metric in metrics)
        for name in dict.fromkeys(str(line["language"]) for line in lines)
    }
    languages = [name for name, scenarios in most.items() if scenarios >= plotting.LEAST]
    title = "Is a metric worse in the local language on the same error?"
    if not languages:
        return plotting.words(title, f"Fewer than {plotting.LEAST} scenarios have all four scores: nothing to show.")
    hidden = f" Not drawn, fewer than {plotting.LEAST} scenarios: {len(most) - len(languages)} of the languages."
    points = {
        spoken(metric).replace(": ", ":\n", 1): [_point(at[metric, name]) for name in languages] for metric in metrics
    }
    few = f"Fewer than {FEW} scenarios in each language: the rows below the first say nothing about a language. "
    return plotting.forest(
        points,
        [
            plotting.ForestRow(f"{'all local languages' if name == ALL else name} ({most[name]})", name == ALL)
            for name in languages
        ],
        "local language − English, share of scenarios",
        title=title,
        note=(few if max((most[name] for name in languages if name != ALL), default=FEW) < FEW else "")
        + "Share of scenarios whose true statement scores above the false one, local language minus English; 0: as "
        "good. Intervals are 95 % over scenarios (their number in brackets). A metric at chance in both languages has "
        "no gap either: see its shares in the table." + hidden * (len(languages) < len(most)),
    )


def _point(line: Line) -> plotting.Point | None:
    value, low, high = line["difference"], line["low"], line["high"]
    if value is None:
        return None
    return (value, value, value) if low is None else (value, min(low, value), max(high, value))


def how_scored(scores: Mapping[str, Sequence[Result]]) -> list[str]:
    """Return lines that say by which signature each metric scored how many rows, and how many failed."""
    lines = [
        [escape(name), len(scored), sum(result.score is None for result in scored), escape(scored[0].signature)]
        for name, scored in scores.items()
    ]
    return ["## Metrics\n", table(["metric", "rows", "failed", "signature"], lines)]


def cautions(lines: Iterable[Line]) -> list[str]:
    """Return in words for which metrics no gap can be shown: few scenarios, or an interval that has 0."""
    chance = [
        str(line["metric"])
        for line in lines
        if line["language"] == ALL
        and (line["scenarios"] < FEW or line["low"] is None or line["low"] <= 0 <= line["high"])
    ]
    return [f"No difference from 0 can be shown for {', '.join(map(escape, chance))}.\n"] if chance else []
