"""The scripts of figures and their tables: numbers computed by hand, and files with the same bytes on every run."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml

from excam import config
from excam.core import tables
from excam.core.exceptions import ArtifactBroken
from excam.error_reports import record_files
from excam.error_reports.evaluation import leave_one_out
from excam.excam40k.publishing import about
from excam.stats.permutation import holm, paired_permutation
from scripts import evaluation, figures
from scripts import paper as paper_steps
from scripts.annotation import figure_4
from scripts.figures import figure_3, figure_10, figure_11
from scripts.paper import table_6, table_prompts
from scripts.reports import error_rates

pytestmark = pytest.mark.usefixtures("here")

ROOT = Path(__file__).parents[2]
TUNED, COUNT, OTHER = "m/all/report", "m/nothing/count", "x/nothing/binary"


def call(script, **options):
    words = []
    for name, value in options.items():
        words += [f"--{name.replace('_', '-')}", *map(str, value if isinstance(value, list) else [value])]
    script(words)


def lines_of(path):
    return tables.read_lines(Path(path))


def write_value(path, value):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(json.dumps(value), encoding="utf-8")
    return path


def cell(system, dataset="all", scaled=0.5, n=40, by_language=None):
    accuracy = {"scaled": scaled, "low": scaled - 0.1, "high": scaled + 0.1, "excluding": None, "failures": 3}
    value = {"n": n, "accuracy": accuracy, "by_language": by_language or {}}
    return write_value(f"results/evaluation/{system}/{dataset}/test.json", value)


def language(n, scaled):
    return {"n": n, "scaled": scaled, "low": scaled - 0.05, "high": scaled + 0.05, "excluding": None, "failures": 0}


def won(a, b, p, difference=0.1):
    return {"a": a, "b": b, "p_value": p, "difference": difference}


def judged(system, dataset, right, split="test", groups=2):
    """Judgements of len(right) rows, error-free and wrong by turns; `right[i]` None: unreadable."""
    rows = []
    for at, is_right in enumerate(right):
        wrong = at % 2 == 1
        rows.append(
            {
                **{"id": f"{dataset}/{at}", "group": f"{dataset}/{at // groups}", "dataset": dataset},
                **{"origin": ("hard" if at % 4 == 1 else "soft-minor") if wrong else "source", "gold_error": wrong},
                "gold_score": -1 if wrong else 0,
                "errors_found": None if is_right is None else int(wrong == is_right),
                "failure": "truncated" if is_right is None else None,
            }
        )
    path = Path(f"results/judgements/{system}/{dataset}/{split}.parquet")
    tables.write_frame(path, pl.DataFrame(rows, schema=record_files.JUDGEMENT_SCHEMA, orient="row"))
    return str(path)


# --- cells


# --- figure 3


def test_stars_of_figure_3_are_corrected_over_the_figure():
    """.03 in one column of two is a star in the column alone; .001 is one in the figure."""
    paths = [cell("m/without-blend/report", "blend"), cell("m/without-epic/report", "epic"), cell(COUNT, "blend", 0.1)]
    tests = [
        write_value("significance/blend/test.json", {"tests": [won("m/without-blend/report", COUNT, 0.001)]}),
        write_value("significance/epic/test.json", {"tests": [won("m/without-epic/report", OTHER, 0.06)]}),
    ]
    call(figure_3, datasets=["blend", "epic"], soft="epic", cells=paths, tests=tests, **drawn_above(-0.5))
    at = {(line["row"], line["column"]): line for line in lines_of("f.csv")}
    blend, epic = at["ExCAM (m)", "blend"], at["ExCAM (m)", "epic"]
    assert (blend["p_baselines"], blend["p_baselines_holm"], blend["significant"]) == ("0.001", "0.002", "True")
    assert (epic["p_baselines"], epic["p_baselines_holm"], epic["significant"]) == ("0.06", "0.06", "False")
    assert (blend["p_own_base"], epic["p_own_base"]) == ("0.001", ""), "x is not m's base model"
    assert at["m (count)", "blend"]["p_baselines"] == ""
    assert figures._mark(blend) == "*"
    assert figures._mark({**blend, "p_baselines_holm": "0.06"}) == "°"
    assert figures._mark(epic) == figures._mark({}) == ""


def drawn_above(trivial):
    """What else figure_3 is called with, where the best trivial baseline of each test set gets `trivial`."""
    lines = [f"constant,{on},test,{trivial}\nlength-only,{on},test,{trivial - 1}" for on in ("blend", "epic", "all")]
    Path("floors.csv").write_text("\n".join(["floor,dataset,split,scaled_accuracy", *lines]) + "\n")
    return {"floors": "floors.csv", "numbers": "f.csv", "pictures": "f.svg"}


@pytest.mark.parametrize(("scaled", "mark"), [(-0.11, ""), (0.0, ""), (0.1, ""), (0.11, "*")])
def test_no_star_unless_the_interval_is_above_every_trivial_baseline(scaled, mark):
    """Far better than a model whose answers cannot be read, and not surely better than one answer for every row."""
    paths = [cell("m/without-blend/report", "blend", scaled), cell(COUNT, "blend", -1.0)]
    tests = [write_value("significance/blend/test.json", {"tests": [won("m/without-blend/report", COUNT, 1.9e-6)]})]
    call(figure_3, datasets=["blend"], soft="epic", cells=paths, tests=tests, **drawn_above(0.0))
    line = next(line for line in lines_of("f.csv") if line["row"] == "ExCAM (m)" and line["column"] == "blend")
    assert (line["trivial_baseline"], line["p_baselines"], figures._mark(line)) == ("0.0", "1.9e-06", mark)


# --- figure 10


def spoken(**splits):
    """Files of a data set with so many rows of each language."""
    for split, rows in splits.items():
        languages = [name for name, count in rows.items() for _ in range(count)]
        tables.write_frame(Path(f"set/{split}.parquet"), pl.DataFrame({"language": languages}))
    return [f"set/{split}.parquet" for split in splits]


def test_figure_10_shows_languages_with_more_rows_in_the_data_set_than_the_threshold():
    """The paper counts the samples of a language in the data set, not in the test set."""
    sections = {"Turkish": language(21, 0.3), "German": language(20, 0.9), "Chinese": language(60, 0.44)}
    paths = [cell(TUNED, n=110, by_language=sections), cell(COUNT, n=110, by_language=sections)]
    train = {"Turkish": 80, "German": 80, "Chinese": 240, "Thai": 7}
    test = {"Turkish": 21, "German": 20, "Chinese": 60, "Thai": 9}
    samples = spoken(train=train, test=test)
    call(figure_10, cells=paths, samples=samples, numbers="f.csv", pictures=["f.pdf", "f.svg", "f.png"])
    own = [line for line in lines_of("f.csv") if line["row"] == "ExCAM (m)"]
    assert [(line["language"], line["shown"], line["in_dataset"], line["n"]) for line in own] == [
        ("Chinese", "True", "300", "60"),
        ("Turkish", "True", "101", "21"),
        ("German", "False", "100", "20"),
        ("", "False", "16", "9"),
    ]
    assert sum(int(line["n"]) for line in own) == 110, "no row is left out uncounted"
    assert sum(int(line["in_dataset"]) for line in own) == sum(train.values()) + sum(test.values())
    assert [line["spread"] for line in own] == ["0.14", "0.14", "", ""]
    first = [Path(name).read_bytes() for name in ("f.csv", "f.pdf", "f.svg", "f.png")]
    call(figure_10, cells=paths, samples=samples, numbers="f.csv", pictures=["f.pdf", "f.svg", "f.png"])
    assert [Path(name).read_bytes() for name in ("f.csv", "f.pdf", "f.svg", "f.png")] == first


def test_figure_10_says_so_where_no_language_has_enough_rows():
    path, samples = cell(TUNED, by_language={"English": language(30, 0.1)}), spoken(test={"English": 30})
    call(figure_10, cells=path, samples=samples, numbers="f.csv", pictures="f.pdf")
    assert [line["shown"] for line in lines_of("f.csv")] == ["False", "False"]
    assert Path("f.pdf").read_bytes().startswith(b"%PDF")


# --- leave one out, figure 11


def adapters(change):
    rng = np.random.default_rng(0)
    base = {name: (rng.random(80) < 0.8).tolist() for name in ("blend", "epic", "mango")}
    other = {name: [not v if at < change.get(name, 0) else v for at, v in enumerate(own)] for name, own in base.items()}
    paths = [judged("m/all/report", name, own) for name, own in base.items()]
    return base, other, paths + [judged("m/without-blend/report", name, own) for name, own in other.items()]


def leave_one_out_of(judgements):
    call(evaluation.leave_one_out, judgements=judgements, seed=1, numbers="l.csv", page="l.md")


def test_leave_one_out_equals_the_paired_test_on_the_others_together():
    base, other, paths = adapters({"epic": 10, "mango": 4, "blend": 30})
    leave_one_out_of(paths)
    at = {line["on"]: line for line in lines_of("l.csv")}
    assert list(at) == [leave_one_out.OTHERS, "blend", "epic", "mango"]
    gold = [index % 2 == 1 for index in range(80)] * 2
    names = ("epic", "mango")
    less, whole = ([g == r for g, r in zip(gold, [*own["epic"], *own["mango"]], strict=True)] for own in (other, base))
    clusters = [f"{name}/{index // 2}" for name in names for index in range(80)]
    test = paired_permutation(gold, less, whole, clusters=clusters)
    line = at[leave_one_out.OTHERS]
    assert float(line["difference"]) == pytest.approx(2 * test.difference, abs=1e-4)
    assert float(line["p_value"]) == pytest.approx(test.p_value, rel=1e-3)
    assert (line["n"], line["groups"]) == ("160", "80")
    assert float(line["low"]) <= float(line["difference"]) <= float(line["high"])
    single = [float(at[name]["p_value"]) for name in ("blend", "epic", "mango")]
    assert [float(at[name]["p_holm"]) for name in ("blend", "epic", "mango")] == pytest.approx(holm(single), rel=1e-3)
    text = Path("l.md").read_text(encoding="utf-8")
    assert f"{float(line['difference']):+.3f}" in text
    assert "only weakly influenced" in text


def test_leave_one_out_without_such_adapters_says_so():
    leave_one_out_of([judged("m/all/report", "blend", [True] * 8)])
    assert lines_of("l.csv") == []
    assert evaluation.NONE in Path("l.md").read_text(encoding="utf-8")
    leave_one_out_of([])


def test_adapters_that_judged_other_rows_are_not_compared():
    paths = [judged("m/all/report", "blend", [True] * 8), judged("m/without-blend/report", "blend", [True] * 6)]
    with pytest.raises(ArtifactBroken, match="without blend"):
        leave_one_out_of(paths)


def test_figure_11_has_every_adapter_and_frames_unseen_datasets():
    systems = ("m/all/report", "m/without-blend/report", "m/permissive/report")
    values = {"blend": 0.2, "epic": 0.6, "all": 0.5}
    paths = [cell(system, name, value) for system in systems for name, value in values.items()]
    change = {"judge": "report", "left_out": "blend", "on": "epic", "difference": -0.3}
    changes = [change | {"model": model, "p_holm": p} for model, p in (("m", 0.04), ("x", 0.9))]
    tables.write_lines(Path("l.csv"), evaluation.LEFT_OUT_COLUMNS, changes)
    pictures = ["f.pdf", "f.svg"]
    unseen = ["without-blend/blend", "permissive/epic"]
    words = {"model": "m", "datasets": ["blend", "epic"], "unseen": unseen, "cells": paths, "changes": "l.csv"}
    call(figure_11, **words, numbers="f.csv", pictures=pictures)
    at = {(line["trained_on"], line["column"]): line for line in lines_of("f.csv")}
    assert len(at) == 3 * 4
    assert {"/".join(key) for key, line in at.items() if line["seen"] == "False"} == set(unseen)
    assert at["without-blend", "MEAN"]["scaled_accuracy"] == "0.4", "of the datasets, without ALL"
    assert (at["without-blend", "MEAN"]["n"], at["without-blend", "ALL"]["n"]) == ("2", "40")
    assert at["without-blend", "epic"]["p_holm"] == "0.04", "of this model"
    assert at["all", "epic"]["p_holm"] == ""
    first = [Path(name).read_bytes() for name in pictures]
    figures.draw_figure_11(lines_of("f.csv"), "m", ["blend", "epic"], [Path(name) for name in pictures])
    assert [Path(name).read_bytes() for name in pictures] == first, "drawn from the CSV alone"


# --- figure 4


def test_figure_4_takes_the_rows_of_the_subset_and_tests_both_sides():
    right, names = [True] * 60, ["blend", "epic"]
    tuned = [judged(TUNED, name, right) for name in names]
    external = [judged("gpt/nothing/count", name, [at % 3 > 0 for at in range(40)], "test-100") for name in names]
    files = {"printed_claims": ROOT / "paper/claims.csv", "page": "p.md", "numbers": "f.csv", "pictures": "f.svg"}
    options = {"datasets": names, "tuned": tuned, "external": external, "seed": 1, **files}
    call(figure_4, **options)
    at = {(line["row"], line["column"]): line for line in lines_of("f.csv")}
    assert {line["n"] for (_, column), line in at.items() if column != "ALL"} == {"40"}
    assert at["ExCAM (m)", "ALL"]["n"] == "80"
    assert at["ExCAM (m)", "blend"]["scaled_accuracy"] == "1.0"
    gold = [index % 2 == 1 for index in range(40)]
    theirs = [g == (index % 3 > 0) for index, g in enumerate(gold)]
    test = paired_permutation(gold, gold, theirs, clusters=[index // 2 for index in range(40)])
    assert float(at["ExCAM (m)", "blend"]["p_value"]) == pytest.approx(test.p_value, rel=1e-3)
    assert at["gpt (count)", "blend"]["p_value"] == "1.0", "not better"
    assert "2 of 2: blend, epic" in Path("p.md").read_text(encoding="utf-8")
    with pytest.raises(ArtifactBroken, match="blend/39"):
        call(figure_4, **options | {"tuned": [judged(TUNED, "blend", right[:39]), tuned[1]]})


# --- rates


def test_error_rates_count_unreadable_answers_as_no_hit_and_stand_beside_the_printed():
    paths = [judged("gemma3-27b/all/report", "blend", [True, True, False, True, None, False, True, None])]
    call(error_rates, judgements=paths, printed=ROOT / "paper/error-rates.csv", seed=1, numbers="r.csv", page="r.md")
    by = {line["rows"]: line for line in lines_of("r.csv")}
    assert [(rows, line["hits"], line["n"], line["unreadable"]) for rows, line in by.items()] == [
        ("without error", "2", "4", "1"),
        ("with an error", "2", "4", "1"),
        ("with a hard error", "1", "2", "0"),
        ("with a soft error", "1", "2", "1"),
    ]
    assert (by["without error"]["printed"], by["without error"]["difference"]) == ("0.87", "-0.37")
    assert by["with a hard error"]["printed"] == ""
    assert "phi3" in Path("r.md").read_text(encoding="utf-8").lower(), "printed, not ours"


def test_printed_rates_are_those_of_the_claims():
    claims = {line["id"]: line for line in lines_of(ROOT / "paper/claims.csv")}
    for line in lines_of(ROOT / "paper/error-rates.csv"):
        assert float(line["rate"]) == float(claims[line["claim"]]["printed"]) / 100
        assert line["source"] == claims[line["claim"]]["source"]


# --- tables of settings


def test_prompts_are_shown_to_the_letter():
    call(table_prompts, page="t5.md", soft_errors="t7.md", baselines="t11.md")
    for path, (_, prompts) in zip(("t5.md", "t7.md", "t11.md"), paper_steps.TABLES.values(), strict=True):
        text = Path(path).read_text(encoding="utf-8")
        for name, prompt in prompts.items():
            assert f"## {name}\n\n~~~~text\n{prompt}\n~~~~\n" in text
    assert "Return an error report in JSON format." in Path("t5.md").read_text(encoding="utf-8")


def test_table_6_names_what_differs_from_the_printed():
    printed = [ROOT / "paper/table-6.csv", ROOT / "paper/table-6-software.csv"]
    greedy = {"temperature": 0.0, "top_p": 1.0, "top_k": 0, "max_tokens": 1024}
    models = {
        "gemma3-27b": {"roles": ["tuned"], "weights": "google/gemma-3-27b-it", "sampling": greedy},
        "phi4": {
            "roles": ["baselines"],
            "weights": "microsoft/phi-4",
            "sampling": {**greedy, "top_k": 5, "max_tokens": 9},
        },
        "own": {"roles": ["tuned"], "weights": "folder", "sampling": greedy},
    }
    Path("a.lock").write_text("torch==9.1 \\\n    --hash=sha256:0\nvllm-cpu==3\n")
    call(table_6, models=json.dumps(models), locks=["a.lock"], printed=printed, numbers="t.csv", page="t.md")
    assert [line["differs"] for line in lines_of("t.csv")] == ["no", "top_k, max_tokens", "not in the paper's table"]
    text = Path("t.md").read_text(encoding="utf-8")
    assert "| torch | 9.1 | 2.10.0 |" in text
    assert "| vllm | 3 | 0.17.1 |" in text
    shipped = config.load(yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))).models
    models = {name: models["own"] | {"sampling": entry.sampling.model_dump()} for name, entry in shipped.items()}
    call(table_6, models=json.dumps(models), locks=["a.lock"], printed=printed, numbers="t.csv", page="t.md")
    assert [line["differs"] for line in lines_of("t.csv") if line["temperature_printed"]] == ["no"] * 6


def test_titles_of_datasets_in_figures():
    assert about.title("globalopinionqa") == "GlobalOpinionQA"
    assert about.title("ALL (ID)") == "ALL (ID)"
