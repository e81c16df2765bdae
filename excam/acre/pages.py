"""Tables and figures of CulT-Eval: lines for CSV files, Markdown for people, figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from excam.acre import numbers
from excam.acre.asks import VARIANTS
from excam.acre.errors import ERRORS
from excam.acre.items import Item
from excam.acre.judgements import EQUIVALENT
from excam.acre.study import Study, acre_scores, title
from excam.core import tables
from excam.core.exceptions import InputInvalid
from excam.core.provenance import write_text
from excam.pages import plotting
from excam.pages.markdown import cautions, escape, table
from excam.stats.binary_gold import MEASURES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEW = 30  # translations: with fewer, a mark says so
INTERVALS = "Intervals are 95 % bootstraps over items, whose translations share a source. "
LABELS = "The label is whether the expression is right in the translation, not whether the sentence is good. "
TABLE_1 = ("category", "items", "share", *numbers.LENGTHS)
TABLE_2 = (
    "metric",
    *(f"{name}{end}" for name in MEASURES for end in ("", "_low", "_high")),
    *("n", "failures", "correct"),
    *("tau_difference", "p", "p_holm", "compared", "n_compared"),
)
TABLE_5 = ("metric", "error", "drop", "low", "high", "penalised", "n", "left_out")
RATED = ("validity", "fidelity", "clarity", "acre")
TABLE_6 = ("judge", "system", *(f"{name}{end}" for name in RATED for end in ("", "_low", "_high")), "n", "failures")
FIGURE_3 = ("system", "n", "correct", *ERRORS)
ABLATIONS = ("judge", "variant", "tau_b", "low", "high", "difference", "p", "p_holm", "n", "failures")


def rounded(value: float | None, digits: int = 2) -> str:
    """Return a number for a table, "n/a" for None; a minus is a minus sign."""
    if value is None:
        return "n/a"
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")


def with_interval(line: Mapping[str, Any], name: str, ends: tuple[str, str] | None = None, digits: int = 2) -> str:
    """Return a number with its interval, if it has one."""
    low, high = ends or (f"{name}_low", f"{name}_high")
    interval = "" if line[low] is None else f" [{rounded(line[low], digits)}, {rounded(line[high], digits)}]"
    return rounded(line[name], digits) + interval


def table_1(items: Sequence[Item]) -> tuple[list[dict[str, Any]], str]:
    """Return the counts and mean lengths of the items (Table 1), and the page."""
    lines = numbers.counts(items)
    head = ["category", "items", "%", "term, Chinese", "term, English", "sentence, Chinese"]
    body = [[one["category"], one["items"], *(rounded(one[name]) for name in TABLE_1[2:])] for one in lines]
    text = "# CulT-Eval: items\n\nMean lengths in characters, over items. Licences: "
    licences = ", ".join(sorted({escape(one.licence) for one in items}))
    return lines, f"{text}{licences}.\n\n{table(head, body)}"


def printed(note: str, lines: Sequence[Mapping[str, str]]) -> str:
    """Return a section with numbers that the paper prints, as it prints them."""
    body = [list(line.values()) for line in lines]
    return f"\n## Printed in the paper\n\n{note}\n\n{table(list(lines[0]), body)}"


def table_2(study: Study, seed: int) -> tuple[list[dict[str, Any]], str]:
    """Return how each metric goes with the labels (Table 2), and tests of the last judge's ACRE against each other."""
    lines = numbers.correlations(study.rows, study.metrics, seed)
    ours = title(study.judges[-1])
    tests = {one["b"]: one for one in numbers.compare_with(study.rows, study.metrics, ours, seed=seed)}
    for line in lines:
        if found := tests.get(line["metric"]):
            line |= {"compared": ours, "tau_difference": -found["difference"], "n_compared": found["n"]}
            line |= {name: found[name] for name in ("p", "p_holm")}
    marks = "*" if lines[0]["n"] < FEW else ""
    head = ["metric", "point-biserial", "Spearman", "AUC", "tau-b", "n", "failures", "right"]
    body = [
        [
            escape(one["metric"]) + marks,
            *(with_interval(one, name) for name in MEASURES),
            *(one[name] for name in ("n", "failures", "correct")),
        ]
        for one in lines
    ]
    compared = [
        [
            escape(one["metric"]),
            rounded(one["tau_difference"]),
            *(f"{one[name]:.2g}" for name in ("p", "p_holm")),
            one["n_compared"],
        ]
        for one in lines
        if "p" in one
    ]
    heads = ["metric", f"tau-b minus that of {escape(ours)}", "p", "p after Holm", "n"]
    text = f"# CulT-Eval: metrics against labels\n\n{LABELS}{INTERVALS}An AUC of .5 is chance; a metric with one value "
    text += "only has no correlation. A failure is left out and counted.\n\n" + table(head, body)
    text += "\n## Differences\n\nTwo-sided permutations that swap whole items, on the rows that both scored.\n\n"
    text += table(heads, compared) if compared else "No other metric can be compared.\n"
    return lines, text


def table_5(study: Study, seed: int) -> tuple[list[dict[str, Any]], str]:
    """Return how far each metric drops for each error, and the page that says which it penalises (Table 5)."""
    lines = numbers.sensitivity(study.rows, study.metrics, seed)
    at = {(one["metric"], one["error"]): one for one in lines}
    metrics = list(study.metrics)
    drops = [
        [_error_name(at, metrics, error), *(with_interval(at[one, error], "drop", ("low", "high")) for one in metrics)]
        for error in ERRORS
    ]
    marks = {True: "✓", False: "✗", None: "?"}
    verdicts = [
        [_error_name(at, metrics, error), *(marks[at[one, error]["penalised"]] for one in metrics)] for error in ERRORS
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
    n = max(at[one, error]["n"] for one in metrics)
    return f"{error} ({n}){'*' * (n < FEW)}"


def figure_5(lines: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw the drops as a heat map: errors by metrics."""
    metrics = list(dict.fromkeys(str(one["metric"]) for one in lines))
    at = {(one["metric"], one["error"]): one for one in lines}
    sizes = {error: max(int(at[one, error]["n"]) for one in metrics) for error in ERRORS}
    few = "Few translations have each error: differences between cells are mostly chance. "
    note = (
        few if min(sizes.values()) < FEW else ""
    ) + "Standard deviations below the right translations of the same item; negative: the wrong ones score higher."
    return plotting.heat_map(
        [[at[one, error]["drop"] for one in metrics] for error in ERRORS],
        [f"{error} (n = {sizes[error]})" for error in ERRORS],
        metrics,
        title="Drop of the score by kind of error",
        note=note,
    )


def table_6(study: Study, seed: int) -> tuple[list[dict[str, Any]], str]:
    """Return validity, fidelity, clarity and ACRE of each system by each judge, and the page (Table 6)."""
    lines = numbers.systems(study.rows, study.full, seed)
    head = ["judge", "system", "validity, %", "fidelity", "clarity", "ACRE", "n", "failures"]
    body = [
        [
            escape(one["judge"]),
            escape(one["system"]) + "*" * (one["n"] < FEW),
            with_interval(one, "validity", digits=0),
            *(with_interval(one, name) for name in RATED[1:]),
            *(one[name] for name in ("n", "failures")),
        ]
        for one in lines
    ]
    text = (
        "# CulT-Eval: systems under ACRE\n\nFidelity and clarity are 1 to 5, of valid translations alone; ACRE is "
        f"validity times quality, over all. The judge `{EQUIVALENT}` asks no model and has no quality: its ACRE is its "
        "validity. A failure has no ACRE and is counted. Intervals are 95 % bootstraps over translations.\n\n"
    )
    return lines, text + table(head, body) + _system_differences(study, seed) + _cautions(study, lines, seed)


def _cautions(study: Study, lines: Sequence[Mapping[str, Any]], seed: int) -> str:
    """Return the section that says of which judge a number is worth nothing, "" if of none."""
    notes: list[str] = []
    for judge in study.full:
        shares = [one["validity"] for one in lines if one["judge"] == judge and one["n"]]
        if len(set(shares)) == 1 and shares[0] in (0, 100):
            notes.append(
                f"{escape(judge)} calls {'every' if shares[0] else 'no'} translation valid: that tells none apart."
            )
    if len({one.label.correct for one in study.rows if one.label}) == 2:
        for one in numbers.correlations(study.rows, study.full_scores, seed):
            if said := _no_better_than_chance(one["tau_b"], one["tau_b_low"], one["tau_b_high"]):
                notes.append(
                    f"{escape(one['metric'])} is {said} on the labels (tau-b {with_interval(one, 'tau_b')}, "
                    f"n = {one['n']}): its differences between systems say nothing."
                )
    return cautions(notes)


def _system_differences(study: Study, seed: int) -> str:
    """Return the section with tests between systems, "" for a single system."""
    body = [
        [
            *(escape(text) for text in (judge, one["a"], one["b"])),
            rounded(one["difference"]),
            *(f"{one[name]:.2g}" for name in ("p", "p_holm")),
            one["n"],
        ]
        for judge, verdicts in study.full.items()
        for one in numbers.compare_systems(study.rows, verdicts, seed)
    ]
    head = ["judge", "a", "b", "ACRE of a − b", "p", "p after Holm", "items"]
    text = "\n## Differences between systems\n\nPaired permutation tests on the items that both have a score of.\n\n"
    return text + table(head, body) if body else ""


def ablations(study: Study, seed: int) -> tuple[list[dict[str, Any]], str]:
    """Return tau-b of each variant of ACRE with the labels, and its difference to the full one, on the same rows."""
    lines: list[dict[str, Any]] = []
    for judge in study.judges:
        variants = {name: acre_scores(study.judged[judge, name]) for name in VARIANTS if (judge, name) in study.judged}
        if len(variants) < 2:
            continue
        tests = {one["b"]: one for one in numbers.compare_with(study.rows, variants, "full", seed=seed)}
        for line in numbers.correlations(study.rows, variants, seed):
            found = tests.get(line["metric"])
            values = {"tau_b": line["tau_b"], "low": line["tau_b_low"], "high": line["tau_b_high"]}
            compared = {"difference": -found["difference"], "p": found["p"], "p_holm": found["p_holm"]} if found else {}
            counted = {"n": line["n"], "failures": line["failures"]}
            lines.append({"judge": judge, "variant": line["metric"], **values, **compared, **counted})
    body = [
        [
            *(escape(one["judge"]), one["variant"], with_interval(one, "tau_b", ("low", "high"))),
            *(rounded(one.get("difference")), rounded(one.get("p_holm"), 3), one["n"], one["failures"]),
        ]
        for one in lines
    ]
    head = ["judge", "variant", "tau-b", "minus full", "p after Holm", "n", "failures"]
    text = f"# CulT-Eval: ACRE without its parts\n\n{LABELS}{INTERVALS}Tests as in Table 2.\n\n"
    text += table(head, body) if body else "No judge was asked in more than one variant.\n"
    blind = [
        judge
        for judge in dict.fromkeys(str(one["judge"]) for one in lines)
        if all(_no_better_than_chance(one["tau_b"], one["low"], one["high"]) for one in lines if one["judge"] == judge)
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
    return plotting.heat_map(
        [[100 * int(one[kind]) / int(one["n"]) for kind in kinds] for one in lines],
        [f"{one['system']} (n = {one['n']})" for one in lines],
        kinds,
        title="Right translations and primary errors, percent",
        note="By the labels of people; an error of higher priority hides others of the same translation.",
        separators=(1,),
        digits=0,
    )


def composition(study: Study) -> list[dict[str, Any]]:
    """Return the counts of Figure 3. Raise InputInvalid where nothing is labelled."""
    if lines := numbers.composition(study.rows):
        return lines
    raise InputInvalid("labels: none of the translations has one; expected labels; see docs/cult-eval.md")


Table = Callable[[], tuple[list[dict[str, Any]], str]]


def write_all(folder: Path, study: Study, seed: int) -> list[Path]:
    """Write what these rows allow, and return the files: without labels, the systems under ACRE alone."""
    made: dict[str, tuple[Sequence[str], Table]] = {}
    labelled = any(one.label for one in study.rows)
    if labelled:
        made["table-2"] = TABLE_2, lambda: table_2(study, seed)
        made["table-5"] = TABLE_5, lambda: table_5(study, seed)
        made["ablations"] = ABLATIONS, lambda: ablations(study, seed)
    if study.full:
        made["table-6"] = TABLE_6, lambda: table_6(study, seed)
    written: list[Path] = []
    for name, (columns, make) in made.items():
        lines, text = make()
        written += [folder / f"{name}.csv", folder / f"{name}.md"]
        tables.write_lines(written[-2], columns, lines)
        write_text(written[-1], text)
        if name == "table-5":
            written += _pictures(folder / "figure-5", figure_5(lines))
    if labelled:
        counted = composition(study)
        tables.write_lines(folder / "figure-3.csv", FIGURE_3, counted)
        written += [folder / "figure-3.csv", *_pictures(folder / "figure-3", figure_3(counted))]
    return written


def _pictures(stem: Path, figure: Figure) -> list[Path]:
    paths = [stem.with_suffix(suffix) for suffix in (".pdf", ".svg", ".png")]
    plotting.save(figure, paths)
    return paths
