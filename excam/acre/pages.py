"""Tables and figures of CulT-Eval: lines for CSV files, Markdown for people, figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from excam.acre import numbers, sentence_metrics
from excam.acre.asks import VARIANTS
from excam.acre.errors import ERRORS
from excam.acre.items import REASONS, TermSentence
from excam.acre.judgements import EQUIVALENT
from excam.acre.sentence_metrics import TITLES
from excam.acre.study import AcreStudy, acre_scores, title
from excam.acre.translations import name as system_name
from excam.core.exceptions import InputInvalid
from excam.pages import markdown, plotting
from excam.pages.markdown import cautions, escape, rounded, table
from excam.stats.binary_gold import MEASURES
from excam.stats.permutation import floor_note

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MADE_UP = "made-up"  # what the name of a system begins with that is none: translations written for a demonstration
FEW = 30  # translations: with fewer, a mark says so
INTERVALS = "Intervals are 95 %, over sources, which their translations share. "
LABELS = "The label is whether the expression is right in the translation, not whether the sentence is good. "
PRINTED = (*TITLES.values(), "COMET", "MetricX-QE")  # the columns of the paper's Table 3
REMOVALS = ("outcome", "candidates", "share")
TABLE_1 = ("category", "items", "share", *numbers.LENGTHS)
TABLE_2 = (
    "metric",
    *(f"{name}{end}" for name in MEASURES for end in ("", "_low", "_high")),
    *("n", "failures", "correct"),
    *("tau_difference", "p", "p_holm", "compared", "n_compared"),
)
TABLE_3 = ("part", "system", "metric", "mean", "low", "high", "n", "failures")
TABLE_5 = ("metric", "error", "drop", "low", "high", "penalised", "n", "left_out")
RATED = ("validity", "fidelity", "clarity", "acre")
TABLE_6 = ("judge", "system", *(f"{name}{end}" for name in RATED for end in ("", "_low", "_high")), "n", "failures")
FIGURE_3 = ("system", "n", "correct", *ERRORS)
ABLATIONS = ("judge", "variant", "tau_b", "low", "high", "difference", "p", "p_holm", "n", "failures")


def with_interval(line: Mapping[str, Any], name: str, ends: tuple[str, str] | None = None, digits: int = 2) -> str:
    """Return a number with its interval, if it has one."""
    low, high = ends or (f"{name}_low", f"{name}_high")
    return markdown.with_interval(line[name], line[low], line[high], digits)


def table_1(items: Sequence[TermSentence]) -> tuple[list[dict[str, Any]], str]:
    """Return the counts and mean lengths of the items (Table 1), and the page."""
    lines = numbers.counts(items)
    head = ["category", "items", "%", "term, Chinese", "term, English", "sentence, Chinese"]
    body = [[line["category"], line["items"], *(rounded(line[name]) for name in TABLE_1[2:])] for line in lines]
    text = "# CulT-Eval: items\n\nMean lengths in characters, over items. Licences: "
    licences = ", ".join(sorted({escape(item.licence) for item in items}))
    return lines, f"{text}{licences}.\n\n{table(head, body)}"


def removals(items: int, reasons: Sequence[str]) -> tuple[list[dict[str, Any]], str]:
    """Return how many candidates became items or were left out, by reason (§3.4), and the section."""
    lines = numbers.removals(items, reasons)
    names = {"kept": "**became an item**", "all": "**all candidates**", **REASONS}
    body = [[names[line["outcome"]], line["candidates"], rounded(line["share"], 1)] for line in lines]
    text = "\n## From candidates to items\n\nOne reason a candidate, the first that held.\n\n"
    return lines, text + table(["outcome", "candidates", "%"], body)


def table_2(study: AcreStudy, seed: int) -> tuple[list[dict[str, Any]], str]:
    """Return how each metric goes with the labels (Table 2), and tests of the last judge's ACRE against each other."""
    lines = numbers.correlations(study.rows, study.metrics, seed)
    ours = title(study.judges[-1])
    tests = {test["b"]: test for test in numbers.compare_with(study.rows, study.metrics, ours, seed=seed)}
    for line in lines:
        if test := tests.get(line["metric"]):
            line |= {"compared": ours, "tau_difference": -test["difference"], "n_compared": test["n"]}
            line |= {name: test[name] for name in ("p", "p_holm")}
    marks = "*" if lines[0]["n"] < FEW else ""
    head = ["metric", "point-biserial", "Spearman", "AUC", "tau-b", "n", "failures", "right"]
    body = [
        [
            escape(line["metric"]) + marks,
            *(with_interval(line, name) for name in MEASURES),
            *(line[name] for name in ("n", "failures", "correct")),
        ]
        for line in lines
    ]
    compared = [
        [
            escape(line["metric"]),
            rounded(line["tau_difference"]),
            *(f"{line[name]:.2g}" for name in ("p", "p_holm")),
            line["n_compared"],
        ]
        for line in lines
        if "p" in line
    ]
    heads = ["metric", f"tau-b minus that of {escape(ours)}", "p", "p after Holm", "n"]
    text = f"# CulT-Eval: metrics against labels\n\n{LABELS}{INTERVALS}An AUC of .5 is chance; a metric with one value "
    text += "only has no correlation. A failure is left out and counted.\n\n" + table(head, body)
    text += "\n## Differences\n\nTwo-sided permutations that swap whole sources, on the rows that both scored.\n\n"
    text += table(heads, compared) if compared else "No other metric can be compared.\n"
    if note := floor_note([line["p"] for line in lines if "p" in line], numbers.DRAWS):
        text += f"\n{note}\n"
    return lines, text


def table_3(study: AcreStudy, seed: int) -> tuple[list[dict[str, Any]], str]:
    """Return the mean sentence metrics of each system (Table 3), by category and domain too, and the page."""
    lines = numbers.sentence_scores(study.rows, study.measured, seed)
    metrics = list(study.measured)
    at = {(line["part"], line["system"], line["metric"]): line for line in lines}

    def row(part: str, system: str) -> list[Any]:
        cells = [at[part, system, metric] for metric in metrics]
        n = max(cell["n"] for cell in cells)
        means = [with_interval(cell, "mean", ("low", "high")) for cell in cells]
        return [escape(system) + "*" * (n < FEW), *means, n, max(cell["failures"] for cell in cells)]

    systems = list(dict.fromkeys((line["part"], line["system"]) for line in lines))
    absent = ", ".join(metric for metric in PRINTED if metric not in metrics)
    head = [*map(escape, metrics), "n", "failures"]
    text = (
        "# CulT-Eval: systems by sentence metrics\n\nMeans over translations. The paper's Table 3 has the same columns "
        "and no numbers: its cells are blank. A system with a number of shots saw so many examples, any other none. "
        f"{INTERVALS}* marks fewer than {FEW} translations. "
        + (f"Not measured here: {absent}.\n\n" if absent else "\n\n")
    )
    if not metrics:
        return lines, text
    text += table(["system", *head], [row(part, system) for part, system in systems if part == "all"])
    if "BLEU" in metrics:
        whole = {name: [row for row in study.rows if system_name(row) == name] for _, name in systems}
        lists = [[escape(name), rounded(sentence_metrics.corpus_bleu(rows)), len(rows)] for name, rows in whole.items()]
        text += "\n## BLEU of the corpus\n\nAbove are means of sentence BLEU; the paper does not say which it has.\n\n"
        text += table(["system", "corpus BLEU", "n"], lists)
    text += "\n## By category and domain\n\n"
    by_part = [[part, *row(part, system)] for part, system in systems if part != "all"]
    return lines, text + table(["items", "system", *head], by_part)


def table_5(study: AcreStudy, seed: int) -> tuple[list[dict[str, Any]], str]:
    """Return how far each metric drops for each error, and the page that says which it penalises (Table 5)."""
    lines = numbers.sensitivity(study.rows, study.metrics, seed)
    at = {(line["metric"], line["error"]): line for line in lines}
    metrics = list(study.metrics)
    drops = [
        [
            _error_name(at, metrics, error),
            *(with_interval(at[metric, error], "drop", ("low", "high")) for metric in metrics),
        ]
        for error in ERRORS
    ]
    marks = {True: "✓", False: "✗", None: "?"}
    verdicts = [
        [_error_name(at, metrics, error), *(marks[at[metric, error]["penalised"]] for metric in metrics)]
        for error in ERRORS
    ]
    head = ["error", *map(escape, metrics)]
    text = (
        "# CulT-Eval: what metrics penalise\n\nThe drop of a wrong translation below the right ones of its item, in "
        f"standard deviations. {INTERVALS}In brackets behind an error: how many translations have it as their "
        f"primary error; * marks fewer than {FEW}.\n\n"
    )
    note = (
        f"\n## Penalised\n\n✓: the interval lies above {numbers.PENALISED} standard deviations. ✗: it does not. ?: no "
        "interval, since all drops are alike or there are none.\n\n"
    )
    return lines, text + table(head, drops) + note + table(head, verdicts)


def _error_name(at: Mapping[tuple[str, str], Mapping[str, Any]], metrics: Sequence[str], error: str) -> str:
    n = max(at[metric, error]["n"] for metric in metrics)
    return f"{error} ({n}){'*' * (n < FEW)}"


def figure_5(lines: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw the drops as a heat map: errors by metrics."""
    metrics = list(dict.fromkeys(str(line["metric"]) for line in lines))
    at = {(line["metric"], line["error"]): line for line in lines}
    sizes = {error: max(int(at[metric, error]["n"]) for metric in metrics) for error in ERRORS}
    few = "Few translations have each error: differences between cells are mostly chance. "
    note = (
        few if min(sizes.values()) < FEW else ""
    ) + "Standard deviations below the right translations of the same item; negative: the wrong ones score higher."
    return plotting.heat_map(
        [
            [plotting.Tile(at[metric, error]["drop"], int(at[metric, error]["n"])) for metric in metrics]
            for error in ERRORS
        ],
        plotting.Axis([f"{error} (n = {sizes[error]})" for error in ERRORS]),
        plotting.Axis(metrics),
        plotting.Scale("drop, standard deviations"),
        title="Drop of the score by kind of error",
        note=note,
    )


def table_6(study: AcreStudy, seed: int) -> tuple[list[dict[str, Any]], str]:
    """Return validity, fidelity, clarity and ACRE of each system by each judge, and the page (Table 6)."""
    lines = numbers.systems(study.rows, study.full, seed)
    head = ["judge", "system", "validity, %", "fidelity", "clarity", "ACRE", "n", "failures"]
    body = [
        [
            escape(line["judge"]),
            escape(line["system"]) + "*" * (line["n"] < FEW),
            with_interval(line, "validity", digits=0),
            *(with_interval(line, name) for name in RATED[1:]),
            *(line[name] for name in ("n", "failures")),
        ]
        for line in lines
    ]
    text = (
        "# CulT-Eval: systems under ACRE\n\nFidelity and clarity are 1 to 5, of valid translations alone; ACRE is "
        f"validity times quality, over all. The judge `{EQUIVALENT}` asks no model and has no quality: its ACRE is its "
        "validity. A failure has no ACRE and is counted. Intervals are 95 %, over sources.\n\n"
    )
    return lines, text + table(head, body) + _system_differences(study, seed) + _cautions(study, lines, seed)


def _cautions(study: AcreStudy, lines: Sequence[Mapping[str, Any]], seed: int) -> str:
    """Return the section that says of which judge a number is worth nothing, "" if of none."""
    notes: list[str] = []
    for judge in study.full:
        shares = [line["validity"] for line in lines if line["judge"] == judge and line["n"]]
        if len(set(shares)) == 1 and shares[0] in (0, 100):
            notes.append(
                f"{escape(judge)} calls {'every' if shares[0] else 'no'} translation valid: that tells none apart."
            )
    if len({row.label.correct for row in study.rows if row.label}) == 2:
        for correlation in numbers.correlations(study.rows, study.full_scores, seed):
            if caution := _no_better_than_chance(
                correlation["tau_b"], correlation["tau_b_low"], correlation["tau_b_high"]
            ):
                notes.append(
                    f"{escape(correlation['metric'])} is {caution} on the labels "
                    f"(tau-b {with_interval(correlation, 'tau_b')}, n = {correlation['n']}): "
                    "its differences between systems say nothing."
                )
    return cautions(notes)


def _system_differences(study: AcreStudy, seed: int) -> str:
    """Return the section with tests between systems, "" for a single system."""
    body = [
        [
            *(escape(text) for text in (judge, comparison["a"], comparison["b"])),
            rounded(comparison["difference"]),
            *(f"{comparison[name]:.2g}" for name in ("p", "p_holm")),
            comparison["n"],
        ]
        for judge, verdicts in study.full.items()
        for comparison in numbers.compare_systems(study.rows, verdicts, seed)
    ]
    head = ["judge", "a", "b", "ACRE of a − b", "p", "p after Holm", "items"]
    text = "\n## Differences between systems\n\nPaired permutation tests on the items that both have a score of.\n\n"
    return text + table(head, body) if body else ""


def ablations(study: AcreStudy, seed: int) -> tuple[list[dict[str, Any]], str]:
    """Return tau-b of each variant of ACRE with the labels, and its difference to the full one, on the same rows."""
    lines: list[dict[str, Any]] = []
    for judge in study.judges:
        variants = {name: acre_scores(study.judged[judge, name]) for name in VARIANTS if (judge, name) in study.judged}
        if len(variants) < 2:
            continue
        tests = {test["b"]: test for test in numbers.compare_with(study.rows, variants, "full", seed=seed)}
        for line in numbers.correlations(study.rows, variants, seed):
            test = tests.get(line["metric"])
            values = {"tau_b": line["tau_b"], "low": line["tau_b_low"], "high": line["tau_b_high"]}
            compared = {"difference": -test["difference"], "p": test["p"], "p_holm": test["p_holm"]} if test else {}
            counted = {"n": line["n"], "failures": line["failures"]}
            lines.append({"judge": judge, "variant": line["metric"], **values, **compared, **counted})
    body = [
        [
            *(escape(line["judge"]), line["variant"], with_interval(line, "tau_b", ("low", "high"))),
            *(rounded(line.get("difference")), rounded(line.get("p_holm"), 3), line["n"], line["failures"]),
        ]
        for line in lines
    ]
    head = ["judge", "variant", "tau-b", "minus full", "p after Holm", "n", "failures"]
    text = f"# CulT-Eval: ACRE without its parts\n\n{LABELS}{INTERVALS}Tests as in Table 2.\n\n"
    text += table(head, body) if body else "No judge was asked in more than one variant.\n"
    blind = [
        judge
        for judge in dict.fromkeys(str(line["judge"]) for line in lines)
        if all(
            _no_better_than_chance(line["tau_b"], line["low"], line["high"]) for line in lines if line["judge"] == judge
        )
    ]
    note = f"No variant of {escape(', '.join(blind))} is better than chance: "
    note += "the differences say nothing about the parts of ACRE."
    return lines, text + cautions([note] if blind else [])


def _no_better_than_chance(value: float | None, low: float | None, high: float | None) -> str:
    """Return how a correlation is no better than chance, "" if it is better. All draws alike have no interval."""
    if value is None:
        return "the same for all translations"
    if low is None or high is None:
        return "" if value > 0 else "below chance"
    return "below chance" if high < 0 else "not to be told from chance" if low <= 0 else ""


def figure_3(lines: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw the share of right translations and of each primary error, by system, percent."""
    kinds = ("correct", *ERRORS)
    labels = {str(line["system"]): f"{line['system']} (n = {line['n']})" for line in lines}
    made_up = [label for system, label in labels.items() if system.startswith(MADE_UP)]
    note = "By the labels of people; an error of higher priority hides others of the same translation."
    return plotting.heat_map(
        [[plotting.Tile(100 * int(line[kind]) / int(line["n"]), int(line["n"])) for kind in kinds] for line in lines],
        plotting.Axis(list(labels.values()), made_up=made_up),
        plotting.Axis(kinds, separators=(1,)),
        plotting.Scale("percent of the translations", digits=0),
        title="Right translations and primary errors, percent",
        note=note + (" Made-up (striped): written for a demonstration, by no system." if made_up else ""),
    )


def composition(study: AcreStudy) -> list[dict[str, Any]]:
    """Return the counts of Figure 3. Raise InputInvalid where nothing is labelled."""
    if lines := numbers.composition(study.rows):
        return lines
    raise InputInvalid("labels: none of the translations has one; expected labels; see docs/cult-eval.md")
