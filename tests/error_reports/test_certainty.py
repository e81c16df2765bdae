"""How far certainty can be trusted: numbers by hand and by scikit-learn, pages and figures as their reader sees them."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from excam import stats
from excam.core import tables
from excam.error_reports import record_files
from excam.error_reports.evaluation import certainty
from excam.stats.clusters import by_content
from scripts import certainty as certainty_steps
from scripts.certainty import evaluate_certainty, figure_abstention, figure_reliability, table_certainty

pytestmark = pytest.mark.usefixtures("here")


def frame(rows: list[tuple], dataset: str = "blend") -> pl.DataFrame:
    """(gold error, error found or None, p(R) or None) per row; the rows of a pair are neighbours."""
    lines = [
        {
            **{"id": f"{dataset}{n}", "base": f"{dataset}{n // 2}", "group": f"{dataset}{n // 2}", "dataset": dataset},
            **{
                "gold_error": gold,
                "gold_score": -5 * gold,
                "certainty": p,
                "failure": None if said is not None else "x",
            },
            **{"errors_found": said and int(said), "score": None if said is None else -5.0 * said},
        }
        for n, (gold, said, p) in enumerate(rows)
    ]
    empty = dict.fromkeys(record_files.JUDGEMENT_SCHEMA)
    return pl.DataFrame([{**empty, **line} for line in lines], schema=record_files.JUDGEMENT_SCHEMA, orient="row")


def simulated(seed: int, rows: int = 400) -> pl.DataFrame:
    """A judge that is right as often as it says, and that cannot be read now and then."""
    rng = np.random.default_rng(seed)
    p, gold = rng.uniform(0.5, 1, rows), rng.random(rows) < 0.5
    said = np.where(rng.random(rows) < p, gold, ~gold)
    lost = rng.random(rows) < 0.05
    return frame([(bool(g), None if x else bool(s), None if x else float(q)) for g, s, q, x in zip(gold, said, p, lost, strict=True)])  # fmt: skip


SMALL = [(True, True, 0.9), (False, False, 0.8), (True, False, 0.6), (False, None, None), (True, True, None)]


def test_numbers_by_hand():
    numbers = certainty.evaluate(frame(SMALL), None, 0)
    assert (numbers["n"], numbers["failures"], numbers["without_certainty"], numbers["dev"]) == (5, 1, 1, None)
    # signed certainties .9, -.8, -.6: of the two pairs of an error and none, both are in order
    assert numbers["ranking"]["certainty"] | {"low": 0, "high": 0} == {
        **{"auroc": 1.0, "strict": 2 / 6, "n": 3, "unscored": 2, "errors": 2, "low": 0, "high": 0}
    }
    assert numbers["ranking"]["score"]["auroc"] == pytest.approx((1 + 0.5 + 1) / 3), "scores -5, 0, 0 and -5"
    assert numbers["ranking"]["score"]["n"] == 4
    squares = [0.1**2, 0.2**2, 0.6**2]
    assert numbers["verdict"]["brier"] == pytest.approx(sum(squares) / 3)
    assert numbers["verdict"]["brier_floor"] == pytest.approx(2 / 3 * 1 / 3)
    assert numbers["error"].keys() == {"uncalibrated"}
    assert numbers["error"]["uncalibrated"]["brier"] == pytest.approx((0.05**2 + 0.1**2 + 0.8**2) / 3)
    # surest first: right, right, wrong, then two without a certainty of which one is right, in either order
    risks = [0, 0, 1 / 3, (1 + 0.5) / 4, 2 / 5]
    assert numbers["abstention"]["certainty"]["area"] == pytest.approx(sum(risks) / 5)
    assert numbers["abstention"]["certainty"]["curve"][-1] == [1.0, 0.4]
    mean = 1 / 3  # of the three in any order
    assert numbers["abstention"]["certainty"]["any_order"] == pytest.approx((3 * mean + risks[3] + risks[4]) / 5)


def test_a_judge_that_says_how_often_it_is_right_is_calibrated():
    test, dev = simulated(0, 4000), simulated(1, 4000)
    numbers = certainty.evaluate(test, dev, 0)
    assert numbers["verdict"]["expected_error"] < 0.03
    assert numbers["verdict"]["brier_low"] < numbers["verdict"]["brier"] < numbers["verdict"]["brier_high"]
    for method in certainty.METHODS:
        assert numbers["error"][method]["brier"] < numbers["error"][method]["brier_floor"]
        chosen = numbers["abstention"][method]
        assert chosen["area"] < chosen["any_order"] - 0.05, "the surest answers are right more often"
    assert numbers["error"]["isotonic"]["expected_error"] < 0.04 < numbers["error"]["uncalibrated"]["expected_error"]
    assert numbers["error"]["platt"]["expected_error"] < 0.15, "no logistic curve is flat where there is no data"
    assert numbers["dev"]["n"] == 4000
    assert numbers["dev"]["fitted"]["platt"]["unscored"] == numbers["dev"]["failures"]


def test_without_a_probability_the_verdict_of_the_report_is_kept():
    rows = [(True, True, 0.9), (False, False, 0.8), (True, True, None), (False, False, None)]
    abstention = certainty.evaluate(frame(rows), frame([(True, True, 0.9), (False, False, 0.9)] * 5), 0)["abstention"]
    assert all(numbers["curve"][-1] == [1.0, 0.0] for numbers in abstention.values())
    assert [(numbers["n"], numbers["unscored"]) for numbers in abstention.values()] == [(4, 2)] * 3


def test_nothing_is_fitted_on_dev_sets_of_one_class():
    numbers = certainty.evaluate(simulated(0), frame([(True, True, 0.9), (True, False, 0.8)]), 0)
    assert numbers["dev"]["fitted"] == {"platt": None, "isotonic": None}
    assert numbers["error"].keys() == {"uncalibrated"}
    assert numbers["abstention"].keys() == {"certainty"}


def test_auroc_interval_is_that_of_scikit_learn_on_the_same_draws(monkeypatch):
    monkeypatch.setattr(stats.bootstrap, "FEW", 30)
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(3)
    gold, scores, groups = rng.random(120) < 0.5, rng.integers(-4, 3, 120).astype(float), np.arange(120) // 3
    values, number = [], by_content(groups, ~gold, np.unique(scores, return_inverse=True)[1])
    generator = np.random.default_rng(5)
    for _ in range(50):
        times = np.bincount(generator.integers(40, size=40), minlength=40)
        kept = np.repeat(np.arange(120), times[number])
        values.append(roc_auc_score(gold[kept], -scores[kept]))
    interval = stats.ranking_interval(gold.tolist(), scores.tolist(), groups.tolist(), draws=50, seed=5)
    assert interval == pytest.approx(np.quantile(values, [0.025, 0.975]), abs=1e-12)


@pytest.mark.nightly
def test_auroc_intervals_hold_the_truth_as_often_as_they_say():
    held, cases, truth = 0, 400, 0.7602499389065233  # P(a < b), normal, one deviation apart
    for case in range(cases):
        rng = np.random.default_rng(case)
        gold = np.arange(200) % 2 == 0
        low, high = stats.ranking_interval(gold, rng.normal(size=200) - gold, draws=400, seed=case) or (0, 0)
        held += low <= truth <= high
    assert 0.92 <= held / cases <= 0.975


SYSTEMS = ("m/nothing/count", "m/all/report")


def write_certainty() -> list[str]:
    """Certainty of a baseline without dev sets and of a tuned judge, as the rule writes them."""
    paths = []
    for name, judged in (("test", simulated(0)), ("dev", simulated(1))):
        tables.write_frame(Path(f"{name}.parquet"), judged)
    for system in SYSTEMS:
        path = f"results/certainty/{system}/test.json"
        Path(path).parent.mkdir(parents=True)
        dev = ["--dev", "dev.parquet"] if "/all/" in system else ["--dev"]
        evaluate_certainty(["--test", "test.parquet", *dev, "--seed", "1", "--numbers", path])
        paths.append(path)
    return paths


def test_page_and_numbers_of_every_system():
    table_certainty(["--cells", *write_certainty(), "--numbers", "c.csv", "--page", "c.md"])
    lines = tables.read_lines(Path("c.csv"))
    assert {line["system"] for line in lines} == set(SYSTEMS)
    assert all(
        int(line["n"]) + int(line["unscored"]) == 400 for line in lines if line["measure"] in ("AUROC", "verdict ECE")
    )
    page = Path("c.md").read_text(encoding="utf-8")
    assert all(int(line["n"]) + int(line["unscored"]) == 400 for line in lines if line["measure"] == "area of risk")
    assert page.count("| m/all/report | Platt, on dev |") == 2, "its calibration and its abstention"
    assert "| m/nothing/count | Platt" not in page, "nothing was fitted for a baseline"
    widths = [[line.count("|") for line in part.splitlines() if line.startswith("|")] for part in page.split("\n\n")]
    assert all(len(set(counts)) == 1 for counts in widths if counts)


@pytest.mark.variants
@pytest.mark.parametrize(
    ("figure", "draw"),
    [(figure_reliability, certainty_steps.draw_reliability), (figure_abstention, certainty_steps.draw_abstention)],
)
def test_figures_are_drawn_from_their_numbers_alone(figure, draw):
    paths = write_certainty()
    figure(["--cells", *paths, "--numbers", "f.csv", "--pictures", "f.svg", "f.pdf", "f.png"])
    first = {name: Path(name).read_bytes() for name in ("f.svg", "f.pdf", "f.png")}
    draw(tables.read_lines(Path("f.csv")), [Path(name) for name in first])
    assert {name: Path(name).read_bytes() for name in first} == first


def test_figures_without_any_certainty_say_so():
    path = Path("results/certainty/m/all/report/test.json")
    path.parent.mkdir(parents=True)
    none = certainty.evaluate(frame([(True, True, None), (False, None, None)]), None, 0)
    path.write_text(json.dumps(none), encoding="utf-8")
    for figure in (figure_reliability, figure_abstention):
        figure(["--cells", str(path), "--numbers", "f.csv", "--pictures", "f.svg"])
        assert Path("f.svg").stat().st_size > 0
        assert tables.read_lines(Path("f.csv")) == []
    table_certainty(["--cells", str(path), "--numbers", "c.csv", "--page", "c.md"])
    shown = "| m/all/report | – (n = 1) | – (n = 1) | – (n = 0) | 2 | 1 |"
    assert shown in Path("c.md").read_text(encoding="utf-8"), "one verdict is a score, without p(R) too"
