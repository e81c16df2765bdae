"""What judges with documents are worth, each beside the fair floors on equal rows: those of XQuAD and WiCE.

    python -m bench.reading --reading FOLDER --judges words reader --to docs/results/reading.csv

`--reading` has files as `excam.error_reports.reading_rows` reads them, and `wice.dev.jsonl.gz`, a claim a line. Judges
are `words` (no model) and models as `excam score --model` takes them. The fair floors of `excam.error_reports.floors`
are judges, too. Printed are the shares of right answers by what a judge says of dev rows.

Of floors a threshold is chosen on the dev rows. Scaled accuracy is 2 * accuracy - 1; a row without a verdict counts as
half right. Intervals: 95 %, bootstrap over paragraphs; a difference is paired. At equal coverage a floor keeps as many
of its most certain rows as the judge decides. Speed is by processor time.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.processes import ROOT
from excam.core import tables
from excam.core.hash_order import digest
from excam.core.language_identity import code_name
from excam.error_reports import floors, readers, reading_rows
from excam.error_reports.judges import grounded
from excam.error_reports.metrics import BY_EVIDENCE
from excam.error_reports.records import unlabelled
from excam.inference import Answer, Flow, Request, Sampling, journal
from excam.inference.journal import InMemory
from excam.inference.run import run
from excam.knowledge.passages import Passage
from excam.scoring.models import open_model
from excam.stats import bootstrap
from excam.stats.clusters import cluster_numbers

COLUMNS = ("topic", "what", "value", "low", "high", "n", "command", "commit_or_date")
NOT_ENGLISH = "all but English"
FLOORS = tuple(floors.FLOORS)


@dataclass(frozen=True, slots=True)
class Row:
    """An answer to judge. `right`: whether its passages make it right, None where they do not decide.

    `group` is what an interval draws; `expected` the right answer. `fit` rows choose thresholds and are not counted.
    """

    id: str
    group: str
    language: str
    question: str
    text: str
    passages: tuple[str, ...]
    right: bool | None
    expected: str = ""
    fit: bool = False


def xquad(folder: Path) -> list[Row]:
    """Return each question with its right answer and another of its paragraph; half of these are to fit on."""
    lines = list(reading_rows.lines(sorted(folder.glob("xquad.*"))))
    answers = {_question(line): line.output for line in lines if line.label == "right"}
    return [
        Row(
            id=f"{line.language}/{line.id}",
            group=str(line.paragraph),
            language=code_name(line.language),
            question=line.instruction,
            text=line.output,
            passages=(line.passage,),
            right=line.label == "right",
            expected=answers.get(_question(line), ""),
            fit=int(line.paragraph) // 2 % 2 == 0,
        )
        for line in lines
    ]


def _question(line: reading_rows.ReadingLine) -> tuple[str, ...]:
    return line.language, str(line.paragraph), line.instruction


def undecided(folder: Path) -> list[Row]:
    """Return the same with the passage of another paragraph, which holds neither answer."""
    rows = xquad(folder)
    passages = defaultdict[str, dict[str, None]](dict)
    for row in rows:
        passages[row.language][row.passages[0]] = None
    return [replace(row, passages=(_other(row, list(passages[row.language])),), right=None, fit=False) for row in rows]


def _other(row: Row, passages: Sequence[str]) -> str:
    start = passages.index(row.passages[0]) + 1 + int(digest(1, "other", row.group), 16) % (len(passages) - 1)
    order = (passages[(start + at) % len(passages)] for at in range(len(passages)))
    return next(text for text in order if row.text not in text and row.expected not in text)


def wice(folder: Path) -> list[Row]:
    """Return claims of Wikipedia with a part of the page that they cite; those supported in part are not right."""
    with gzip.open(folder / "wice.dev.jsonl.gz", "rt", encoding="utf-8") as stream:
        claims = [json.loads(line) for line in stream]
    return [
        Row(
            id=f"{claim['meta']['id']}/{number}",
            group=claim["meta"]["id"],
            language="English",
            question="",
            text=claim["claim"],
            passages=(" ".join(claim["evidence"]),),
            right=claim["label"] == "supported",
        )
        for number, claim in enumerate(claims)
    ]


SETS: Mapping[str, Callable[[Path], list[Row]]] = {"xquad": xquad, "undecided xquad": undecided, "wice": wice}
BELOW = {"undecided xquad": (), "wice": FLOORS[:1]}  # the floors of a set: a claim has no question


@dataclass(frozen=True, slots=True)
class Judged:
    """What a judge says of a row: a score (higher: rather right), None if it has none; its verdict."""

    score: float | None
    verdict: bool | None = None


@dataclass(frozen=True)
class Answers:
    """What a judge says of the rows of a set, in order. `fitted`: verdicts follow from scores by a threshold."""

    rows: Sequence[Row]
    judged: Sequence[Judged]
    fitted: bool = False
    seconds: float = 0.0

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        return np.array([np.nan if row.score is None else row.score for row in self.judged])

    @cached_property
    def margins(self) -> NDArray[np.float64]:
        """Return how far scores are from their threshold, which dev rows give."""
        if not self.fitted:
            return self.scores
        fit = np.array([row.fit for row in self.rows])
        return self.scores - threshold(self.scores[fit], np.array([bool(row.right) for row in self.rows])[fit])

    @cached_property
    def verdicts(self) -> NDArray[np.float64]:
        """Return 1 for right, 0 for wrong, NaN for not known."""
        if not self.fitted:
            return np.array([np.nan if row.verdict is None else float(row.verdict) for row in self.judged])
        return np.where(np.isnan(self.scores), np.nan, (self.margins >= 0).astype(float))


def threshold(scores: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """Return the threshold with the most right verdicts, the middle of the best ones; right is from it on."""
    is_known = ~np.isnan(scores)
    if not is_known.any():
        return 0.0
    places = np.unique(np.quantile(scores[is_known], np.linspace(0, 1, 101)))
    hits = ((scores[is_known, None] >= places) == right[is_known, None]).mean(axis=0)
    best = np.flatnonzero(hits >= hits.max() - 1e-12)
    return float(places[best[len(best) // 2]])


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reading", type=Path, required=True, help="folder of XQuAD and WiCE")
    parser.add_argument("--judges", nargs="*", default=["words"])
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--to", type=Path, required=True)
    args = parser.parse_args(argv)
    made: list[dict[str, Any]] = []
    for name in args.sets:
        rows = SETS[name](args.reading)
        judges = (*BELOW.get(name, FLOORS), *args.judges)
        answers = {judge: asked(judge, rows) for judge in judges}
        for judge in args.judges:
            print_shares(f"{name}, {judge}", answers[judge])
        lines = list(numbers(name, rows, answers))
        made += [line | {"command": command(args, name), "commit_or_date": commit()} for line in lines]
        tables.write_lines(args.to, COLUMNS, ({key: rounded(value) for key, value in line.items()} for line in made))
        print(f"{name}: {len(rows)} rows, {len(lines)} numbers", file=sys.stderr, flush=True)


def print_shares(name: str, answers: Answers) -> None:
    """Print how many answers of dev rows are right, by the probability that the judge gives them."""
    right = defaultdict[float, list[bool]](list)
    for row, judged in zip(answers.rows, answers.judged, strict=True):
        if row.fit and judged.score is not None:
            right[round(1 / (1 + np.exp(-judged.score)), 2)].append(bool(row.right))
    for probability, values in sorted(right.items()):
        print(f"{name}, {probability:.2f}: {np.mean(values):.3f} of {len(values)}", file=sys.stderr)


def command(args: argparse.Namespace, name: str) -> str:
    judges = " ".join(("--judges", *args.judges))
    return f"python -m bench.reading --reading FOLDER {judges} --sets {name!r}"


def commit() -> str:
    return subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, text=True).strip()


def rounded(value: Any) -> Any:
    return "" if value is None else round(value, 4) if isinstance(value, float) else value


# Judges


def asked(name: str, rows: Sequence[Row]) -> Answers:
    """Return what a judge of this process says of rows."""
    judge = opened(name)
    judge(rows[::100])  # what it loads at first is no time of a row
    forget_texts()
    started = time.process_time()
    return Answers(rows, judge(rows), name in FLOORS, time.process_time() - started)


def forget_texts() -> None:
    """Empty the caches that hold what was found in texts before: those with a limit."""
    loaded = (module for name, module in sys.modules.copy().items() if name.startswith("excam."))
    for value in (value for module in loaded for value in vars(module).values()):
        if hasattr(value, "cache_parameters") and value.cache_parameters()["maxsize"]:
            value.cache_clear()


def opened(name: str) -> Callable[[Sequence[Row]], list[Judged]]:
    """Return a floor, or the product's judge with a reader: `words`, or that of a model."""
    if name in FLOORS:
        return lambda rows: [height(name, row) for row in rows]
    model = None if name == "words" else open_model(name)
    reader = readers.of(readers.facts_of(model) if model else None)
    ask = partial(journal.ask, model.backend, Sampling(max_tokens=64), InMemory()) if model else nobody

    is_fitted = model is None or (model.tuned is not None and model.tuned.fitted is not None)
    way = BY_EVIDENCE["words" if is_fitted else "grounded"]

    def flow(row: Row) -> Flow[Judged]:
        passages = tuple(Passage(id=str(at), title="", text=text) for at, text in enumerate(row.passages, 1))
        sample = unlabelled(row.id, row.question, row.text, row.language)
        verdict = yield from grounded.judge(sample, lambda *_: passages, way, reader)
        return Judged(verdict.parts.get("margin"), None if verdict.failure else not verdict.errors_found)

    return lambda rows: run(flow, rows, ask)


def nobody(requests: Sequence[Request]) -> list[Answer]:
    """Answer for readers that ask no model."""
    raise AssertionError(f"{len(requests)} requests to no model")


def height(name: str, row: Row) -> Judged:
    """Return how high a row stands by a floor."""
    return Judged(floors.FLOORS[name](row.question, row.text, row.passages, row.language))


# Numbers


def numbers(name: str, rows: Sequence[Row], answers: Mapping[str, Answers]) -> Iterator[dict[str, Any]]:
    """Yield the numbers of a set: of all its parts together and, of verdicts, of each part."""
    measure = {"xquad": judging, "wice": ranking}.get(name, silence)
    languages = list(dict.fromkeys(row.language for row in rows if not row.fit))
    of_languages = [NOT_ENGLISH, *languages] if len(languages) > 1 else []
    for part in ("all", *of_languages):
        of_part = {
            judge: only(own, np.array([not row.fit and _is_in(row, part) for row in own.rows]))
            for judge, own in answers.items()
        }
        for line in measure(of_part):
            yield line | {"topic": name, "what": f"{part} | {line['what']}"}
    for judge, own in answers.items():
        if own.seconds:
            speed = {"value": len(rows) / own.seconds, "low": None, "high": None, "n": len(rows)}
            yield {"topic": name, "what": f"all | {judge} | rows a second of processor time"} | speed


def _is_in(row: Row, part: str) -> bool:
    return part in ("all", row.language) or (part == NOT_ENGLISH and row.language != "English")


def only(answers: Answers, mask: NDArray[np.bool_]) -> Answers:
    """Return the answers about some rows, with the margins and verdicts that thresholds of all rows give."""
    chosen = [(row, judged) for row, judged, keep in zip(answers.rows, answers.judged, mask, strict=True) if keep]
    chosen_answers = Answers([row for row, _ in chosen], [judged for _, judged in chosen], answers.fitted)
    chosen_answers.__dict__.update(margins=answers.margins[mask], verdicts=answers.verdicts[mask])  # what is cached
    return chosen_answers


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def judging(answers: Mapping[str, Answers]) -> Iterator[dict[str, Any]]:
    """Yield scaled accuracy, share with a verdict, right ones of these, AUC, and what a judge has more than floors."""
    for judge, own in answers.items():
        hits, decided, groups = hits_of(own), ~np.isnan(own.verdicts), [row.group for row in own.rows]
        yield _line(judge, "scaled accuracy", _scaled(bootstrap.share(hits, groups, 0)), len(hits))
        yield _line(judge, "AUC", auc([own], groups), len(hits))
        if judge in FLOORS:
            continue
        yield _line(judge, "with a verdict", bootstrap.share(decided.astype(float), groups, 0), len(hits))
        if decided.any():
            right = bootstrap.share(hits * decided, groups, 0, decided.astype(float))
            yield _line(judge, "right, of those with a verdict", right, int(decided.sum()))
        for floor in FLOORS:
            below = answers[floor]
            difference = bootstrap.mean(2 * (hits - hits_of(below)), groups, 0)
            yield _line(judge, f"scaled accuracy, minus {floor}", difference, len(hits))
            yield _line(judge, f"AUC, minus {floor}", auc([own, below], groups), len(hits))
            if 0 < decided.sum() < len(decided):
                most_certain = _most_certain(below.margins, int(decided.sum()))
                columns = [hits * decided, decided, hits_of(below) * most_certain, most_certain]
                apart = bootstrap.estimate(columns, lambda sums: _ratio(sums[:2]) - _ratio(sums[2:]), groups, 0)
                yield _line(judge, f"right at equal coverage, minus {floor}", apart, int(decided.sum()))


def ranking(answers: Mapping[str, Answers]) -> Iterator[dict[str, Any]]:
    """Yield AUC, and what a judge has more than the floors: of rows of which two thirds are wrong."""
    for judge, own in answers.items():
        groups = [row.group for row in own.rows]
        yield _line(judge, "AUC", auc([own], groups), len(groups))
        for floor in filter(answers.get, () if judge in FLOORS else FLOORS):
            yield _line(judge, f"AUC, minus {floor}", auc([own, answers[floor]], groups), len(groups))


_ratio = bootstrap.ratio


def hits_of(answers: Answers) -> NDArray[np.float64]:
    """Return 1 for a right verdict, 0 for a wrong one, .5 where there is none."""
    verdicts = answers.verdicts
    right = np.array([float(bool(row.right)) for row in answers.rows])
    return np.where(np.isnan(verdicts), 0.5, (verdicts == right).astype(float))


def _most_certain(margins: NDArray[np.float64], count: int) -> NDArray[np.bool_]:
    """Return which `count` rows are farthest from the threshold."""
    mask = np.zeros(len(margins), bool)
    mask[np.argsort(-np.abs(np.nan_to_num(margins)), kind="stable")[:count]] = True
    return mask


def _scaled(share: Mapping[str, float | None]) -> dict[str, float | None]:
    return {name: None if value is None else 2 * value - 1 for name, value in share.items()}


def auc(compared: Sequence[Answers], groups: Sequence[str]) -> dict[str, float | None]:
    """Return the AUC of scores, or that of the first minus that of the second; not known is in the middle."""
    wrong = np.array([not row.right for row in compared[0].rows])
    levels = [np.unique(np.nan_to_num(own.scores), return_inverse=True)[1] for own in compared]
    number = cluster_numbers(groups, len(groups))

    def measures(taken: NDArray[np.intp]) -> list[float]:
        weights = taken[number].astype(float)
        values: list[float] = []
        for level in levels:
            of_wrong, of_right = (np.bincount(level, weights * of, level.max() + 1) for of in (wrong, ~wrong))
            pairs = of_wrong.sum() * of_right.sum()
            won = float(of_right @ (np.cumsum(of_wrong) - of_wrong / 2))
            values.append(won / pairs if pairs else float("nan"))
        return [values[0] - values[1] if len(values) > 1 else values[0]]

    [between] = bootstrap.intervals(measures, int(number.max()) + 1, draws=1000)
    [value] = measures(np.ones(int(number.max()) + 1, np.intp))
    low, high = between or (None, None)
    return {"value": _number(value), "low": low, "high": high}


def silence(answers: Mapping[str, Answers]) -> Iterator[dict[str, Any]]:
    """Yield in how many rows that passages do not decide there is no verdict."""
    for judge, own in answers.items():
        silent = np.isnan(own.verdicts).astype(float)
        yield _line(judge, "not known", bootstrap.share(silent, [row.group for row in own.rows], 0), len(silent))


def _line(judge: str, measure: str, estimated: Mapping[str, float | None], n: int) -> dict[str, Any]:
    return {"what": f"{judge} | {measure}", **estimated, "n": n}


if __name__ == "__main__":
    main()
