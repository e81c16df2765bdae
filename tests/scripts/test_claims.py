"""Claims of the ExCAM paper beside ours: the printed tables answer their own claims, and no claim is left out."""

import csv
import json
from pathlib import Path

import pytest
import yaml

from excam import config
from excam.core import tables
from excam.core.exceptions import InputInvalid
from excam.core.steps import read_steps
from excam.excam40k.validation.human_ratings import VALID
from excam.excam40k.validation.human_tables import TABLES
from excam.pages import claims
from excam.pages.claims import Ours, Quote
from scripts import claims as steps
from scripts import evaluation, figures, reports

pytestmark = pytest.mark.usefixtures("here")

ROOT = Path(__file__).parents[2]
PAPER = ROOT / "paper"
SEEN = "gemma3-27b/all/report"


def lines_of(path):
    with Path(path).open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


# --- one claim


def test_a_difference_is_ours_minus_printed_and_words_have_none():
    printed = [Quote("a", "rows", "12.2k", "rows", "§4"), Quote("b", "order", "x > y", "", "§5", "Table 2")]
    printed.append(Quote("c", "", "2", "", ""))
    ours = {"a": Ours(12_000, "file"), "b": Ours("y > x", "file"), "c": Ours("", "nobody counted")}
    rows, order, uncounted = claims.beside(printed, ours)
    assert (rows["ours"], rows["difference"]) == ("12000", "-200")
    assert (order["ours"], order["difference"], order["note"]) == ("y > x", "", "file; against it: Table 2")
    assert (uncounted["ours"], uncounted["difference"], uncounted["note"]) == ("", "", "nobody counted")
    assert "3 claims: 1 with a difference" in claims.page_table([rows, order, uncounted])


def test_a_claim_on_one_side_only_is_refused():
    for ours, why in (("", "a: printed"), ("az", "z: a line of ours")):
        with pytest.raises(InputInvalid, match=why):
            claims.beside([Quote("a", "", "1", "", "")], {name: Ours(1, "") for name in ours})


# --- all claims of the paper


def settings():
    """The paper's experiment, as the rule hands it over."""
    whole = config.load(yaml.safe_load((ROOT / "config.yaml").read_text())).model_dump(mode="json")
    return json.dumps(whole | {"soft": ["mango", "normad", "nativqa", "calmqa"]})


def printed_table_4():
    """The paper's Table 4 as ours; one more prompt and an adapter that left a dataset out."""
    columns = ("model", "trained_on", "judge", "fallback", "scaled_accuracy")
    lines = [{name: line[name] for name in columns} for line in lines_of(PAPER / "table-4.csv")]
    plain = [line | {"fallback": ""} for line in lines if line["trained_on"] == "all"]
    more = (
        *(("phi4", "nothing", "binary", "", 0.2), ("gemma3-27b", "without-epic", "report", "", 0.9)),
        ("random", "nothing", "none", "", 0.01),
    )
    others = [dict(zip(columns, line, strict=True)) for line in more]
    tables.write_lines(Path("t4.csv"), evaluation.TABLE_4_COLUMNS, [*lines, *plain, *others])


def figure_3_line(row, column, value, p="", p_own="", low=None):
    low = value - 0.1 if low is None else low
    return {
        **{"row": row, "column": column, "scaled_accuracy": value, "low": low, "high": value + 0.1},
        **{"p_baselines": p, "p_own_base": p_own},
    }


def page(**more):
    """Run the step on small files and return its lines by claim."""
    Path("t2.csv").write_text(
        "claim,ours\nsoft error samples,4000\nhard error samples,6000\nerror-free samples,10000\n"
    )
    Path("cultures.csv").write_text("dataset,culture\nmango,a\nmango,b\nepic,c\n")
    Path("tests.json").write_text(json.dumps({"tests": [{"draws": 1000}, {"untested": "a constant"}]}))
    printed_table_4()
    empty = {"f3": figures.FIGURE_3_COLUMNS, "f10": figures.FIGURE_10_COLUMNS, "rates": reports.RATE_COLUMNS}
    for name, columns in (empty | {"left_out": evaluation.LEFT_OUT_COLUMNS}).items():
        tables.write_lines(Path(f"{name}.csv"), columns, more.pop(name, []))
    words = {
        **{"table-2": "t2.csv", "cultures": "cultures.csv", "table-4": "t4.csv", "correlation-tests": "tests.json"},
        **{"figure-3": "f3.csv", "figure-10": "f10.csv", "error-rates": "rates.csv", "leave-one-out": "left_out.csv"},
        **{"experiment": settings(), "printed": PAPER / "claims.csv", "numbers": "c.csv", "page": "c.md"},
    }
    words |= more
    listed = {name: value if isinstance(value, list) else [value] for name, value in words.items()}
    steps.paper_claims([str(word) for name, values in listed.items() for word in (f"--{name}", *values)])
    return {line["id"]: line for line in lines_of("c.csv")}


def test_every_claim_has_a_value_or_a_reason_and_a_line_of_the_page():
    at = page()
    assert list(at) == [line["id"] for line in lines_of(PAPER / "claims.csv")]
    assert not [name for name, line in at.items() if not line["note"]]
    rows = [line for line in Path("c.md").read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert len(rows) == len(at) + 2
    assert {row.count(" | ") for row in rows} == {5}


def test_the_printed_table_answers_the_claims_about_it():
    at = page()
    assert at["accuracy-best"]["ours"] == "0.7955", "of the adapter trained on all, not of a leave-one-out one"
    assert (at["gap-gemma3"]["ours"], at["gap-gemma3"]["difference"]) == ("0.28", "+0.1"), "the contradiction"
    assert (at["gap-phi4"]["ours"], at["gap-phi4"]["difference"]) == ("0.24", "+0.1")
    assert [at[f"rows-{name}"]["difference"] for name in ("hard", "soft", "clean")] == ["-6200", "-4300", "-8800"]
    assert at["weakest"]["ours"] == "phi3-medium-4k (0.270), qwen3-14b (0.280)"
    assert at["best-baseline-prompt"]["ours"] == "count 1 of 1", "of models that were asked two printed prompts"


def test_the_shipped_experiment_has_the_printed_settings_but_for_named_ones():
    at = page()
    names = [name for name in at if name.startswith(("training-", "lora-", "human-", "generation-", "weight-"))]
    names += ["base-datasets", "cap", "paraphrases", "loo-adapters", "gpt5-samples-all", "largest-model", "score-best"]
    differing = {name for name in names if at[name]["difference"] not in ("", "+0")}
    assert differing == {"training-batch", "training-gpus", "training-logging-steps", "training-save-steps"}
    assert (at["pairs"]["ours"], at["gpt5-alpha"]["difference"]) == ("all", "+0")
    assert at["best-in-all"]["ours"] == SEEN


def test_out_of_domain_claims_are_those_of_the_better_excam():
    own, base = "ExCAM (m)", "m (count)"
    f3 = [
        *(figure_3_line(own, "blend", 0.5, "0.01", "0.01"), figure_3_line(base, "blend", 0.2)),
        *(figure_3_line(own, "mango", 0.4, "0.2", "0.03"), figure_3_line(base, "mango", 0.3)),
        *(figure_3_line(own, "epic", 0.02, "1.0", "1.0"), figure_3_line(base, "epic", 0.03)),
        figure_3_line("ExCAM (weak)", "blend", 0.1, "0.001", "0.001"),
        figure_3_line(own, figures.IN_DOMAIN, 0.9, "0.001", "0.001"),
    ]
    at = page(f3=f3)
    assert at["ood-significant-all-baselines"]["ours"] == "blend"
    assert at["ood-significant-own-base"]["ours"] == "2 of 3"
    assert at["ood-better"]["ours"] == "mango"
    assert at["ood-random"]["ours"] == "epic"


def test_minutes_are_those_of_the_printed_model_alone():
    for model, seconds, processes in (("gemma3-27b", 3600, 2), ("other", 60, 1)):
        layout = {"processes": processes, "device": "gpu"}
        manifest = {"model": model, "training_seconds": seconds, "settings": {"layout": layout}}
        Path(f"{model}.json").write_text(json.dumps(manifest))
    Path("judged.json").write_text(json.dumps({"seconds": 1800}))
    at = page(adapters=["gemma3-27b.json", "other.json"], judged=["judged.json"])
    assert (at["training-time-gemma3"]["ours"], at["training-time-gemma3"]["difference"]) == ("60", "-20")
    assert at["training-time-phi3"]["ours"] == ""
    assert "gemma3-27b: 60.0 min" in at["training-time-phi3"]["note"]
    assert at["evaluation-time"]["ours"] == "0.5"
    assert float(at["gpu-hours"]["ours"]) == pytest.approx(2 + 1 / 60, abs=1e-4), "two cards for an hour"


def printed_votes():
    """The paper's tables of people's answers as ours, and two annotators."""
    for name in ("table-3", "table-13"):
        tables.write_lines(Path(f"{name}.csv"), TABLES[name].columns, [
            {column: line[column] for column in TABLES[name].columns if column in line} for line in lines_of(PAPER / f"{name}.csv")
        ])  # fmt: skip
    (valid,) = [line for line in lines_of(PAPER / "table-12.csv") if line["criterion"] == "Expl. valid"]
    spoken = [
        {"criterion": "Expl. valid", "language": name, "percent": valid[name.lower()], "n": 6}
        for name in ("Chinese", "German")
    ]
    tables.write_lines(Path("table-12.csv"), TABLES["table-12"].columns, spoken)
    rated = {"items": VALID, "system": SEEN, "n": 90, "percent": 67.0, "mean": 4.01}
    ratings = [rated, rated | {"items": "all", "n": 100}]
    tables.write_lines(Path("human-ratings.csv"), TABLES["human-ratings"].columns, ratings)
    people = {"a": {"seconds": 3600, "skipped": 0}, "b": {"seconds": 9000, "skipped": 12}}
    Path("answers.counts.json").write_text(json.dumps({"annotators": people}))
    return [*(f"{name}.csv" for name in ("table-3", "table-12", "table-13", "human-ratings")), "answers.counts.json"]


def test_the_printed_tables_answer_the_claims_about_people():
    at = page(people=printed_votes())
    of_people = [line["id"] for line in lines_of(PAPER / "claims.csv") if line["why"].startswith("people's answers")]
    differing = {name: at[name]["difference"] for name in of_people if at[name]["difference"] not in ("", "+0")}
    assert differing == {"human-annotators": "-2", "human-severity-minor": "+0.7", "human-severity-major": "-1"}, (
        "two people of ours; the others are contradictions of the paper"
    )
    assert at["human-explanations-zh-de"]["ours"] == "Chinese 50.0 (n = 6), German 50.0 (n = 6)"
    assert (at["human-hours"]["ours"], at["explanation-soft-n"]["difference"]) == ("1.0 to 2.5", "+0")
    assert "phi3-medium-4k" in at["explanation-likert-phi3"]["note"]


# --- every printed file has its page


# CulT-Eval's page reads its whole folder; what the rubric's manual prints is in the manual
@pytest.mark.parametrize("folder", ["paper", "excam/calmqa/paper", "excam/macaron/paper"])
def test_every_file_of_printed_numbers_is_read_by_a_page(folder):
    pages = [step.rule for step in read_steps(ROOT).values() if step.rule]
    inputs = [source for page in pages for source in page.inputs.values()]
    named = {name for source in inputs for name in ([source] if isinstance(source, str) else source)}
    named |= {f"paper/{table}.csv" for page in pages for table in page.wildcards.get("table", [])}  # printed_votes
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).glob("*.csv")}
    assert files
    assert not files - named, "typed in, and on no page"
