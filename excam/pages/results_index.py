"""The first page of the results: what was run, what came out, and links to every file that a person can read.

One HTML file beside `results/`'s folders: pictures are inside of it, links are relative, nothing is fetched, no script.
"""

from __future__ import annotations

import base64
import html
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from excam.core import tables
from excam.core.steps import StepRule
from excam.lineage.progress import job_seconds
from excam.pages.html import content_security_policy, fill_template
from excam.pages.markdown import rounded, with_interval
from excam.pages.plotting import LEAST

ASSETS = Path(__file__).parent / "assets"
READ = (".md", ".html", ".csv", ".svg", ".pdf")  # what a link is made to; models and tables for programs have none
AXES = 'id="axes_1"'  # in a picture of something: one of words alone, why nothing is drawn, has none
SYSTEMS = {  # folders of results, and what a reader finds there
    ("paper", "annotation"): (
        "ExCAM",
        "Reads an instruction and a text, and reports which words are a cultural error.",
    ),
    ("macaron",): ("Macaron", "Asks a model questions about cultures, in English and in the local language."),
    ("rubric",): ("Rubric", "Rates answers from 1 to 5 by a scoring manual: people, and models beside them."),
    ("cult_eval",): ("ACRE, on CulT-Eval", "Judges whether a translation keeps the meaning of one expression."),
    ("calmqa",): ("CaLMQA's S", "Scores long answers: right language × facts × relevance."),
    ("crossing",): ("Crossing", "All instruments on the same texts: which errors does each not see?"),
    ("audits",): ("The data set's audits", "Leaks, shortcuts, balance, licences; training waits for them."),
    ("published", "adapters"): ("The data set and the adapters", "What others would get, and its cards."),
}


@dataclass(frozen=True, slots=True)
class _TableMeasure:
    """A number with an interval in a table of results, and the floor that a system must be above."""

    system: str
    what: str
    table: str  # below the folder of results
    where: Mapping[str, str]  # columns that choose its lines
    name: str  # column
    value: str  # prefix of the columns
    floor: str | float  # column, or a number
    ends: tuple[float, float]  # of the measure's scale
    rows: str = "n"  # column
    trivial: tuple[str, ...] = ()  # ends of names of lines that read no word: the best of them is a floor too


MEASURES = (
    _TableMeasure(
        *("ExCAM", "scaled accuracy, all test sets", "paper/figure-3.csv", {"column": "ALL (ID)"}, "row"),
        *("scaled_accuracy", "trivial_baseline", (-1, 1)),
    ),
    _TableMeasure(
        *("Macaron", "all instances, % right", "macaron/table-3.csv", {"number": "overall"}, "model", "value", 0.0),
        ends=(0, 100),
        trivial=("always A and T", "chance"),
    ),
    _TableMeasure(
        *("Macaron", "choice in English, % right", "macaron/table-3.csv", {"number": "mc_en"}, "model", "value", 0.0),
        ends=(0, 100),
        trivial=("always A and T", "chance"),
    ),
    _TableMeasure(
        *("Rubric", "ICC of overall scores", "rubric/reliability.csv", {"score": "overall"}, "raters", "icc", 0.0),
        ends=(-1, 1),
        trivial=(" and always 3", " and length"),
    ),
    _TableMeasure("ACRE", "AUC, wrong from right", "cult_eval/table-2.csv", {}, "metric", "auc", 0.5, (0, 1)),
    _TableMeasure(
        *("CaLMQA", "S of all answers; an empty one has 0", "calmqa/table.csv", {"language": "all", "type": "all"}),
        *("subject", "s", 0.0, (0, 1), "answers"),
    ),
)


@dataclass(frozen=True, slots=True)
class _SystemStanding:
    """A system's number beside its floor."""

    measure: _TableMeasure
    name: str
    value: float
    low: float | None
    high: float | None
    n: str
    floor: float

    @property
    def above(self) -> bool | None:
        """Return whether the whole interval is above the floor, None if the items are too few for an interval."""
        return None if self.low is None else self.low > self.floor

    def drawn(self) -> str:
        """Return a picture as SVG: the scale, the floor's stroke, the interval, and the value's dot."""
        start, end = self.measure.ends
        at = {
            name: f"{4 + 142 * (min(max(value, start), end) - start) / (end - start):.1f}"
            for name, value in (("value", self.value), ("low", self.low), ("high", self.high), ("floor", self.floor))
            if value is not None
        }
        between = f'<path class="interval" d="M{at["low"]} 12H{at["high"]}"/>' if "low" in at and "high" in at else ""
        return (
            f'<svg width="150" height="24" role="img" aria-label="{start:g} to {end:g}"><path d="M4 12H146"/>'
            f'<path class="floor" d="M{at["floor"]} 2V22"/>{between}<circle cx="{at["value"]}" cy="12" r="4"/></svg>'
        )


@dataclass(frozen=True, slots=True)
class Told:
    """What is said in words: HTML of the run, a report, and the judge with documents."""

    run: str
    report: str
    documents: str


def standings(results: Path) -> list[_SystemStanding]:
    """Return every system of which there is a number with an interval and a floor, of enough rows to be drawn."""
    measured = []
    for measure in MEASURES:
        lines = tables.read_lines(results / measure.table) if (results / measure.table).is_file() else ()
        lines = [line for line in lines if all(line[column] == wanted for column, wanted in measure.where.items())]
        trivial = [line for line in lines if line[measure.name].endswith(measure.trivial)]
        reached = [float(line[measure.value]) for line in trivial if line[measure.value]]
        for line in (line for line in lines if line not in trivial):
            prefix = f"{measure.value}_" if f"{measure.value}_low" in line else ""
            low, high = (float(line[at]) if line[at] else None for at in (f"{prefix}low", f"{prefix}high"))
            if line[measure.value] and int(line[measure.rows] or 0) >= LEAST:
                floor = float(line[measure.floor]) if isinstance(measure.floor, str) else measure.floor
                numbers = (float(line[measure.value]), low, high, line[measure.rows], max([floor, *reached]))
                measured.append(_SystemStanding(measure, line[measure.name], *numbers))
    return measured


def page(results: Path, files: Sequence[Path], pages: Sequence[StepRule], benchmarks: Path, facts: Told) -> str:
    """Return the page of the folder `results`; `files` are all that the run made, `pages` says what they are."""
    sections, contents = [], {"report": "An error report", "floors": "Which systems are above their floor"}
    standing = standings(results)
    for folders, (title, about) in SYSTEMS.items():
        if of := [file for file in files if file.relative_to(results).parts[0] in folders]:
            is_drawn = any(title.startswith(each.measure.system) for each in standing)
            section = _section(results, folders[0], title, about, _entries(results, of, pages), is_drawn=is_drawn)
            sections.append(section)
            contents[folders[0]] = title
    contents["times"] = "How long it took"
    style = (ASSETS / "index.css").read_text(encoding="utf-8")
    values = {
        "policy": content_security_policy(style, "", "img-src data:"),
        "style": style,
        "run": facts.run,
        "contents": " · ".join(f'<a href="#{at}">{html.escape(title)}</a>' for at, title in contents.items()),
        "report": facts.report,
        "standing": _standing_part(standing, facts.documents),
        "sections": "\n".join(sections),
        "times": _times(job_seconds(benchmarks)),
    }
    return fill_template((ASSETS / "index.html").read_text(encoding="utf-8"), values)


def _possible(page: StepRule, wildcard: re.Match[str]) -> str:
    """Return a pattern of the values of a wildcard."""
    values = page.wildcards.get(wildcard[1], "")
    return "[^/]+" if isinstance(values, str) else f"(?:{'|'.join(map(re.escape, values))})"


def _entries(results: Path, files: Sequence[Path], pages: Sequence[StepRule]) -> dict[str, tuple[str, list[Path]]]:
    """Return caption and files of each entry by its name: those of one page, or of one name, are one entry."""
    patterns = [
        (re.compile(re.sub(r"\\\{(\w+)\\\}", partial(_possible, page), re.escape(declared))), page.caption)
        for page in sorted(pages, key=lambda page: len(page.axes))  # a path without wildcards says most
        for paths in page.files.values()
        for declared in paths
    ]
    entries: dict[str, tuple[str, list[Path]]] = {}
    for file in (file for file in files if file.suffix in READ):
        caption = next((caption for pattern, caption in patterns if pattern.fullmatch(str(file))), "")
        name = str(file.relative_to(results).with_suffix("")).partition("/")[2]
        entries.setdefault(name, (caption, []))[1].append(file.relative_to(results))
    for file in files:
        folder = file.parent.relative_to(results)
        if file.name == "manifest.json" and folder.parts[0] == "published":
            entries[f"data set, {folder.name}"] = ("As others get it.", [folder, folder / "README.md"])
        elif file.name == "manifest.json" and folder.parts[0] == "adapters":
            entries["adapter, " + "/".join(folder.parts[1:])] = ("Trained weights.", [folder])
    return entries


def _section(
    results: Path, at: str, title: str, about: str, entries: Mapping[str, tuple[str, list[Path]]], *, is_drawn: bool
) -> str:
    """Return the section of a system; `is_drawn`: its numbers stand among those of all systems."""
    pictures, listed, before = [], [], ""
    for name, (caption, files) in entries.items():
        links = " · ".join(f'<a href="{html.escape(str(file))}">{_kind(file)}</a>' for file in files)
        picture = next((results / file for file in files if file.suffix == ".svg"), None)
        if picture and AXES in picture.read_text(encoding="utf-8"):
            pictures.append((name, _words(caption), links, picture))
        else:
            first = _words(re.split(r"\.?\s*$|\.\s|[;:]\s(?![^(]*\))", caption)[0])
            words = f"{first}." * (first not in ("", before)) + " Not drawn: too few rows." * bool(picture)
            listed.append(
                f"<li><b>{html.escape(name)}</b> {links}" + f"<br><span>{words}</span>" * bool(words) + "</li>"
            )
            before = first
    drawn_parts = "".join(
        f'<figure><div class="wide"><img alt="{html.escape(name)}" src="{_inside(picture)}"></div>'
        f"<figcaption><b>{html.escape(name)}</b> {caption} {links}</figcaption></figure>"
        for name, caption, links, picture in pictures
    )
    if not pictures and any("Not drawn" in entry for entry in listed):
        drawn_parts = f"<p>Fewer than {LEAST} rows are behind each cell of its figures: none is drawn.</p>"
    if not pictures and is_drawn:
        drawn_parts += '<p>Its numbers are drawn <a href="#floors">above</a>.</p>'
    return (
        f'<section id="{at}"><h2>{html.escape(title)}</h2><p>{html.escape(about)}</p>{drawn_parts}'
        f"<details><summary>Tables and pages: {len(listed)}</summary><ul>{''.join(listed)}</ul></details></section>"
    )


def _kind(file: Path) -> str:
    return {".md": "page", ".html": "page to browse", ".csv": "numbers", "": "folder"}.get(file.suffix, file.suffix[1:])


def _inside(picture: Path) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(picture.read_bytes()).decode()


def _words(caption: str) -> str:
    """Return reStructuredText of a caption as HTML."""
    return re.sub(r"``(.+?)``", r"<code>\1</code>", html.escape(" ".join(caption.split())))


def _standing_part(measured: Sequence[_SystemStanding], documents: str) -> str:
    verdicts = {True: "✓ above", False: "not above", None: "no interval"}
    rows = "".join(
        f'<tr class="{"above" if each.above else "below"}"><td><b>{html.escape(each.measure.system)}</b> '
        f"{html.escape(each.name.removeprefix(each.measure.system).lstrip(', '))}"
        f"<br><span>{html.escape(each.measure.what)}</span></td>"
        f"<td>{each.drawn()}<br>{with_interval(each.value, each.low, each.high)} <span>n = {html.escape(each.n)}; "
        f"floor {rounded(each.floor)}: {verdicts[each.above]}</span></td></tr>"
        for each in measured
    )
    above = ", ".join(each.name for each in measured if each.measure.system == "ExCAM" and each.above)
    words = (
        "The floor (red) is what reads nothing: lengths, words, one constant answer; for documents, it is also the "
        "overlap of question and passages. A system is above it if its whole 95 % interval (blue) is. "
        f"ExCAM's judges above their floor: {html.escape(above) or 'none'}. They find errors by facts that their model "
        "knows or reads: a few rows of training teach the form of a report, no facts, and few test rows give wide "
        "intervals."
    )
    return f'<p>{words}</p><div class="wide"><table>{rows}</table></div>{documents}'


def _times(seconds: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """Return how long the jobs of each part took, the longest rule named."""
    parts: defaultdict[str, dict[str, Sequence[tuple[float, float]]]] = defaultdict(dict)
    for rule, jobs in seconds.items():
        named = next((title for folders, (title, _) in SYSTEMS.items() if rule.startswith(folders)), "ExCAM")
        parts["The data set's audits" if "audit" in rule else named][rule] = jobs
    rows = []
    for title, rules in sorted(parts.items(), key=lambda part: -_wall(part[1].values())):
        longest = max(rules, key=lambda rule: _wall([rules[rule]]))
        rows.append(
            f"<tr><td>{html.escape(title)}</td><td>{sum(map(len, rules.values()))}</td>"
            f"<td>{_wall(rules.values()) / 60:.1f}</td><td>{longest} ({_wall([rules[longest]]) / 60:.1f})</td></tr>"
        )
    rows.append(
        f"<tr><td>all</td><td>{sum(map(len, seconds.values()))}</td><td>{_wall(seconds.values()) / 60:.1f}</td></tr>"
    )
    head = "".join(f"<th>{name}</th>" for name in ("part", "jobs", "minutes", "most of it"))
    return f'<div class="wide"><table><tr>{head}</tr>{"".join(rows)}</table></div>' if rows else "<p>Not recorded.</p>"


def _wall(jobs: Iterable[Sequence[tuple[float, float]]]) -> float:
    return sum(wall for job in jobs for wall, _ in job)
