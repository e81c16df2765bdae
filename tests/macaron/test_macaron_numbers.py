"""The numbers of Macaron: by hand, against what the paper prints, and on pages."""

import json
import re
import shutil
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import tiny
from excam_commands import refusal, succeed
from matplotlib.text import Text
from mini_macaron import ANSWERS, BUILT, INSTANCES, MINI, TEMPLATES
from one_line_errors import line_of

from excam.core import provenance, tables
from excam.core.exceptions import InputInvalid
from excam.core.steps import steps_of
from excam.inference import transcript
from excam.macaron import answers, asks, breakdowns, categories, derive, numbers, pages, scenarios, templates
from excam.macaron import printed as paper
from excam.macaron.numbers import STATISTICS
from excam.pages import by_hand, claims
from excam.pages.markdown import escape

ROOT = Path(__file__).parents[2]
CELLS = ("mc_en", "mc_l", "tf_en", "tf_l")


def row(scenario, format_, lang, right, language="Greek", **more):
    gold = "A" if format_ == "MC" else format_
    wrong = "B" if format_ == "MC" else {"T": "F", "F": "T"}[format_]
    return {"scenario": scenario, "language": language, "format": format_, "lang": lang, "gold": gold, "pred": gold if right else wrong} | more  # fmt: skip


def scenario(name, right, language="Greek"):
    """Six rows; `right` has six letters, 1 where the answer is right: MC, T, F in English, then in the local language."""
    kinds = [(format_, lang) for lang in ("EN", "L") for format_ in ("MC", "T", "F")]
    return [row(name, *kind, mark == "1", language) for kind, mark in zip(kinds, right, strict=True)]


# --- by hand


def test_numbers_of_four_scenarios_by_hand():
    rows = scenario("a", "111111") + scenario("b", "010101") + scenario("c", "101010") + scenario("d", "100000")
    assert numbers.accuracies(rows) == {
        **{"mc_en": 75.0, "mc_l": 50.0, "delta_mc": -25.0},
        **{"tf_en": 50.0, "tf_l": 50.0, "delta_tf": 0.0, "overall": 56.25, "tf_avg": 50.0},
        **{"paired_tf_en": 25.0, "paired_tf_l": 25.0, "paired_tf": 25.0, "drop": 25.0},
    }


def test_an_unanswered_instance_is_wrong_and_one_that_is_not_there_is_none():
    rows = [row("a", "MC", "EN", right=True), row("b", "MC", "EN", right=True) | {"pred": None}]
    accuracies = numbers.accuracies(rows)
    assert accuracies["mc_en"] == 50.0
    assert {name for name, value in accuracies.items() if value is None} == set(STATISTICS) - {"mc_en"}
    assert numbers.accuracies([]) == dict.fromkeys(STATISTICS)


def test_a_pair_needs_both_statements_of_one_language():
    rows = [row("a", "T", "EN", right=True), row("a", "F", "L", right=True), row("b", "T", "EN", right=True), row("b", "F", "EN", right=False)]  # fmt: skip
    accuracies = numbers.accuracies(rows)
    assert accuracies["tf_en"] == pytest.approx(200 / 3)
    assert (accuracies["paired_tf_en"], accuracies["paired_tf_l"]) == (0.0, None)


def test_scenarios_of_one_name_in_two_languages_are_two():
    rows = scenario("a", "111111") + scenario("a", "000000", "Hindi")
    assert numbers.accuracies(rows)["overall"] == 50.0


@pytest.mark.parametrize("rows", [[row("a", "MC", "EN", right=True)] * 2, [row("a", "T", "EN", right=True) | {"format": "X"}], [row("a", "T", "EN", right=True) | {"lang": "DE"}]])  # fmt: skip
def test_rows_that_are_no_instances_are_refused(rows):
    assert "expected" in line_of(InputInvalid, numbers.accuracies, rows)


def test_intervals_resample_whole_scenarios():
    rows = [row for n in range(40) for row in scenario(f"s{n}", "111111" if n % 2 else "000000")]
    estimates = numbers.estimates(rows, seed=3)
    assert estimates["overall"]["value"] == 50.0
    assert 30 < estimates["overall"]["low"] < 40, "forty scenarios, not 240 independent rows"
    assert estimates["delta_mc"] == {"value": 0.0, "low": None, "high": None}
    assert estimates == numbers.estimates(rows, seed=3)


def test_floors_bounds_and_counts():
    rows = scenario("a", "111111") + scenario("b", "000000")
    floors = numbers.floors(rows)
    assert (floors["chance"]["overall"], floors["chance"]["paired_tf"], floors["chance"]["drop"]) == (37.5, 25.0, 25.0)
    assert numbers.floors([row("a", "T", "EN", right=True)])["chance"]["mc_en"] is None
    assert (floors["always A and T"]["tf_en"], floors["always A and T"]["paired_tf"]) == (50.0, 0.0)
    assert numbers.bounds(56.6) == (pytest.approx(13.2), 56.6)
    assert numbers.bounds(40.0) == (0.0, 40.0)
    of_statements = [answer_row | {"pred": "T"} for answer_row in rows if answer_row["format"] != "MC"]
    assert numbers.counts(of_statements)["said_true"] == 100.0
    assert numbers.counts([row("a", "T", "EN", right=True) | {"pred": None}]) == {"n": 1, "failures": 1, "scenarios": 1, "said_true": None}  # fmt: skip


def test_a_row_counts_in_each_of_its_groups():
    rows = [row("a", "MC", "EN", right=True, tags=["x", "y"]), row("b", "MC", "L", right=False, tags=["y"])]
    lines = numbers.breakdown(rows, lambda r: r["tags"])
    values = {(line["group"], line["lang"]): (line["value"], line["n"]) for line in lines}
    assert values == {("x", "EN"): (100.0, 1), ("x", "all"): (100.0, 1), ("y", "EN"): (100.0, 1), ("y", "L"): (0.0, 1), ("y", "all"): (50.0, 2), ("y", "gap"): (-100.0, 2)}  # fmt: skip


def test_a_script_is_the_mean_of_its_languages():
    rows = [row("a", "MC", "L", right=True, language="Zulu", script="Latin")]
    rows += [row(f"b{n}", "MC", "L", right=n == 0, language="Turkish", script="Latin") for n in range(4)]
    rows += [row("c", "MC", "EN", right=True, script="Greek")]
    assert numbers.by_script(rows) == [{"script": "Latin", "accuracy": 62.5, "languages": "Turkish, Zulu", "n": 5}]


def with_ids(rows):
    return [row | {"id": str(at)} for at, row in enumerate(rows)]


def test_a_paired_test_is_of_the_number_that_the_table_prints():
    """Two systems that are right equally often over all instances differ in Overall: questions are half of it."""
    a = with_ids([row for n in range(40) for row in scenario(f"s{n}", "100100")])
    b = with_ids([row for n in range(40) for row in scenario(f"s{n}", "010010")])
    (difference,) = numbers.compare([a, b], "overall")
    assert sum(map(numbers.is_right, a)) == sum(map(numbers.is_right, b))
    overall = [numbers.accuracies(rows)["overall"] for rows in (a, b)]
    assert difference["value"] == pytest.approx(overall[0] - overall[1]) == 25.0
    assert difference["p"] < 0.001
    (pairs,) = numbers.compare([a, b], "paired_tf")
    assert (pairs["value"], pairs["p"]) == (0.0, 1.0)
    assert "the same ones" in line_of(InputInvalid, numbers.compare, [a, b[::-1]], "overall")
    assert "two finite columns or more" in line_of(InputInvalid, numbers.compare, [a], "overall")
    questions = [row for row in a if row["format"] == "MC"]
    assert "tf_avg: a cell without instances" in line_of(InputInvalid, numbers.compare, [questions] * 2, "tf_avg")


def test_an_average_draws_the_same_scenarios_for_all_systems():
    """Two systems that err on opposite scenarios: their mean has no variance, though each of them has."""
    a = [row for n in range(40) for row in scenario(f"s{n}", "111111" if n % 2 else "000000")]
    b = [row for n in range(40) for row in scenario(f"s{n}", "000000" if n % 2 else "111111")]
    assert numbers.averages([a, b])["overall"] == {"value": 50.0, "low": None, "high": None}
    assert numbers.averages([a])["overall"] == numbers.estimates(a)["overall"]
    assert numbers.estimates(a)["overall"]["low"] is not None


# --- what the paper prints


def printed(name):
    return tables.read_lines(ROOT / f"excam/macaron/paper/{name}.csv")


TABLE_3 = printed("table-3")


def from_cells(line):
    """What our statistics make of the four printed accuracies, as sums over a thousand instances."""
    sums = np.zeros((12, 1))
    for cell in CELLS:
        at = 2 * numbers.CELLS.index(cell)
        sums[at : at + 2, 0] = round(10 * float(line[cell])), 1000
    return {name: float(STATISTICS[name](sums)[0]) for name in ("overall", "delta_mc", "delta_tf", "tf_avg")}


@pytest.mark.parametrize("line", TABLE_3, ids=lambda line: line["model"])
def test_table_3_is_what_our_numbers_make_of_its_cells(line):
    statistics = from_cells(line)
    assert abs(statistics["overall"] - float(line["overall"])) <= 0.05 + 1e-9
    for name in ("delta_mc", "delta_tf"):
        assert statistics[name] == pytest.approx(float(line[name]), abs=1e-9)


# --- printed and ours on pages


@pytest.fixture(scope="module")
def pages_with_printed_numbers(tmp_path_factory):
    """The page that reads each file of excam/macaron/paper. A made-up model answers."""
    folder = tmp_path_factory.mktemp("pages")
    tables.write_frame(folder / "scenarios.parquet", scenarios.to_frame(BUILT.scenarios))
    tables.write_frame(folder / "instances.parquet", derive.to_frame(INSTANCES))
    for mode in ("choose", "text"):
        frame = answers.to_frame(INSTANCES, f"says-yes-{mode}", mode, ANSWERS["says-yes"])
        tables.write_frame(folder / f"{mode}.parquet", frame)
    made_of = {"answers": [folder / "choose.parquet", folder / "text.parquet"]}
    made_of |= {name: [folder / f"{name}.parquet"] for name in ("instances", "scenarios")}
    by_hand.write("macaron", folder, made_of, {"seed": 1, "categories": '{"says-yes-choose": "open-weight"}'})
    declared = [step.rule for step in steps_of(ROOT / "excam/macaron/report.py").values()]
    reads = {path: page for page in declared for path in page.inputs.values() if path.endswith(".csv")}
    return {path: (folder / f"{Path(page.result).name}.md").read_text() for path, page in reads.items()}


def test_every_printed_number_is_on_the_page_that_reads_it(pages_with_printed_numbers):
    files = {str(path.relative_to(ROOT)) for path in (ROOT / "excam/macaron/paper").glob("*.csv")}
    assert set(pages_with_printed_numbers) == files
    for file in files:
        rows = [row for row in pages_with_printed_numbers[file].splitlines() if row.startswith("| ")]
        for line in tables.read_lines(ROOT / file):
            cells = [escape(value) for value in line.values() if value]
            assert any(all(cell in row for cell in cells) for row in rows), (file, line)


def test_a_claim_has_ours_with_the_difference_or_a_reason(systems):
    model = answers.ModelRun("m", "choose", systems[0].rows)
    stated = claims.stated(printed("claims"))
    known = paper.data(BUILT.scenarios, 240, [model], {"m": "open-weight"}, 1)
    at = {line["id"]: line for line in claims.beside(stated, paper.answers(known, stated))}
    assert (at["templates"]["ours"], at["templates"]["difference"]) == ("24", "-76")
    assert at["models"]["ours"] == "1"
    assert at["payment"]["note"].startswith("a benchmark's files do not say")
    own = [row for row in model.rows if "Naming" in row["aspects"]]
    share = 100 * sum(map(numbers.is_right, own)) / len(own)
    assert at["aspect-mean-naming"]["ours"] == at["aspect-naming-lowest"]["ours"]
    assert float(at["aspect-mean-naming"]["ours"]) == pytest.approx(share, abs=1e-3)
    assert at["aspect-mean-naming"]["note"].startswith("95 % interval [")
    assert float(at["aspect-mean-naming"]["difference"]) == pytest.approx(share - 92.5, abs=1e-3)
    accuracies = numbers.accuracies(model.rows)
    assert float(at["tf-open-weight-lowest"]["ours"]) == pytest.approx(accuracies["tf_avg"], abs=1e-3)
    assert float(at["overall-open-weight"]["ours"]) == pytest.approx(accuracies["overall"], abs=1e-3)
    assert at["order-overall"]["ours"] == f"open-weight ({accuracies['overall']:.1f})"
    assert at["delta-mc-thinking"]["note"].startswith("no thinking model was asked; against it: Gemini 2.5 Flash")
    assert (at["pairs-below-single"]["ours"], at["above-chance-mc"]["ours"]) == ("1 of 1", "1 of 1")
    assert at["mathematical-lowest"]["ours"] in ("0 of 1", "1 of 1")
    assert all(line["ours"] or line["note"] for line in at.values())
    assert "nothing here computes it" not in {line["note"] for line in at.values()}
    without = paper.answers(paper.data(BUILT.scenarios, 240, [], {}, 1), stated)
    assert {ours.note for claim, ours in without.items() if claim.startswith("aspect-")} == {"no model was asked"}


# --- pages and commands


@pytest.fixture(scope="module")
def systems(tmp_path_factory):
    folder = tmp_path_factory.mktemp("answers")
    for name, of_model in ANSWERS.items():
        tables.write_frame(folder / f"{name}.parquet", answers.to_frame(INSTANCES, name, "text", of_model))
    return answers.join(INSTANCES, sorted(folder.iterdir()))


def printed_averages():
    """Table 3's averages, with numbers of Table 5 that no test looks at."""
    return {line["category"]: line | dict.fromkeys(pages.SHORT_PAIRED, "1") for line in printed("table-3-averages")}


def test_the_tables_name_their_denominators(systems):
    averaged = categories.averages(systems, {}, 1)
    lines, page = pages.table_3(systems, pages.estimates(systems, 1), averaged, 1, printed_averages())
    behind = {line["number"]: line["n"] for line in lines if line["mode"] == "text"}
    assert [behind[name] for name in ("mc_en", "tf_l", "paired_tf_l", "delta_tf", "overall")] == [40, 80, 40, 240, 240]
    assert f"| better-in-english | text | {numbers.accuracies(systems[0].rows)['mc_en']:.1f} [" in page
    assert "| chance | floor | 25.0 | 25.0 | 0.0 | 50.0 | 50.0 | 0.0 | 37.5 |" in page
    lines, page = pages.paired(systems, pages.estimates(systems, 1), averaged, 1, printed_averages())
    answered = [line for line in lines if line.get("failures") == 0]
    assert all(line["bound_low"] <= line["paired_tf"] <= line["bound_high"] for line in answered)
    assert " to " in page


def test_the_order_of_instances_changes_no_page(systems):
    def written(of):
        averaged, estimated = categories.averages(of, {}, 1), pages.estimates(of, 1)
        lines = [page(of, estimated, averaged, 1, printed_averages()) for page in (pages.table_3, pages.paired)]
        return *lines, pages.templates(of, 1), *(breakdowns.breakdown(of, by, 1) for by in breakdowns.TITLES)

    backwards = [replace(system, rows=system.rows[::-1]) for system in systems]
    assert str(written(backwards)) == str(written(systems))


def test_averages_are_of_models_by_category_beside_the_printed_ones(systems):
    a, b = (answers.ModelRun(f"m{at}", mode, system.rows) for at, (mode, system) in enumerate(zip(("text", "choose"), systems, strict=True)))  # fmt: skip
    thinking = answers.ModelRun("m0", "thinking", b.rows)
    averaged = categories.averages([a, b, thinking], {"m0": "standard", "m1": "standard"}, 1)
    members = {average.category: [system.name for system in average.systems] for average in averaged}
    plain, thinker = ["m0, text", "m1, choose"], ["m0, thinking"]
    assert members == {"thinking": thinker, "standard": plain, "open-weight": [], "all": plain + thinker}
    mean_of_two = (numbers.accuracies(a.rows)["overall"] + numbers.accuracies(b.rows)["overall"]) / 2
    assert averaged[1].estimates["overall"]["value"] == pytest.approx(mean_of_two)
    lines = {line["category"]: line for line in printed("table-3-averages")}
    page = categories.section(averaged, pages.SHORT, lines)
    assert "| open-weight | ours | no model |" in page
    assert f"| standard | printed |  |  | {' | '.join(list(lines['standard'].values())[1:])} |" in page
    assert page.split("| standard | difference |")[1].splitlines()[0].endswith(f"{mean_of_two - 73.9:.1f} |".replace("-", "−"))  # fmt: skip


@pytest.mark.parametrize("assignment", ["m=fast", "n=standard", "standard"])
def test_an_unknown_category_is_one_line(assignment):
    assert categories.parse(["m=standard"], ["m"]) == {"m": "standard"}
    line = line_of(InputInvalid, categories.parse, [assignment], ["m"])
    assert "expected MODEL=CATEGORY, a model of m, a category of thinking, standard" in line


@pytest.mark.parametrize(("fewest", "few"), [(29, True), (30, False)])
def test_few_scenarios_are_those_of_both_languages_together(fewest, few):
    lines = [{"scenarios": 40, "lang": "all"}, {"scenarios": fewest, "lang": "all"}, {"scenarios": 3, "lang": "en"}]
    assert breakdowns._is_few(lines) is few


@pytest.mark.parametrize("by", breakdowns.TITLES)
def test_breakdowns_are_drawn_from_the_numbers_they_write(systems, by, tmp_path):
    from excam.pages import plotting

    lines = breakdowns.breakdown(systems, by, 1)
    tables.write_lines(tmp_path / "b.csv", breakdowns.BREAKDOWN, lines)
    drawn = breakdowns.read(tmp_path / "b.csv")
    plotting.save(breakdowns.figure(drawn, by), [tmp_path / "b.svg"])
    assert (tmp_path / "b.svg").stat().st_size > 5000
    page = breakdowns.page(drawn, by)
    assert page.count("\n| ") == 2 * (len({line["group"] for line in lines}) + 2)
    assert "* |" not in page or "* marks fewer than 30 scenarios" in page


def test_contexts_have_the_mean_of_systems_in_both_languages(systems):
    lines = breakdowns.breakdown(systems, "contexts", 1)
    for lang in ("EN", "L"):
        own = [line["value"] for line in lines if line["group"] == "Japan" and line["lang"] == lang]
        assert own[-1] == pytest.approx(sum(own[:-1]) / 2) == pytest.approx(breakdowns.means_of(lines, lang)["Japan"])
    (gap,) = [line for line in lines if line["lang"] == "gap" and line["group"] == "Japan" and line["mode"] == ""]
    assert gap["value"] == pytest.approx(breakdowns.means_of(lines, "L")["Japan"] - breakdowns.means_of(lines, "EN")["Japan"])  # fmt: skip


def test_the_figure_of_contexts_shows_each_of_ten_instances_and_says_what_its_axis_is(systems):
    lines = [dict(line) for line in breakdowns.breakdown(systems, "contexts", 1)]
    for line in lines:
        line["n"] = 9.0 if line["group"] == "Japan" else 10.0
    words = "\n".join(text.get_text() for text in breakdowns.figure(lines, "contexts").findobj(Text))
    assert "Share of right answers above that of guessing" in words.replace("\n", " ")
    assert "Not drawn, fewer than 10 instances: 1 of the contexts." in words.replace("\n", " ")
    assert [name for name in breakdowns.ordered("contexts", lines) if name not in words] == ["Japan"]


def test_the_order_of_files_turns_no_difference(systems):
    orders = (systems, systems[::-1])
    forwards, back = (pages._differences(of, pages.estimates(of, 1), "overall", "Overall", 1) for of in orders)
    assert forwards == back != ""


def test_aspects_stand_from_hard_to_easy_and_the_lowest_are_counted():
    shares = {"Naming": (90.0, 80.0, 85.0), "Music": (40.0, 60.0, 50.0), "Time": (45.0, 50.0, 47.5)}
    models = (("a", "text"), ("b", "text"), ("mean of systems", ""))
    line = {"low": None, "high": None, "above_chance": 0.0, "n": 9.0, "scenarios": 40.0, "lang": "all"}
    lines = [
        line | {"model": model, "mode": mode, "group": group, "value": value}
        for group, values in shares.items()
        for (model, mode), value in zip(models, values, strict=True)
    ]
    assert breakdowns.ordered("aspects", lines) == ["Time", "Music", "Naming"]
    page = breakdowns.page(lines, "aspects")
    assert "| Music | 40.0 | 60.0 | 50.0 | 9 | 40 |" in page
    assert "Spread, Naming minus Time, means of systems: 37.5 points." in page
    assert "- Music: 1 of 2 systems (a, text)\n" in page
    assert "- Time: 1 of 2 systems (b, text)\n" in page


def test_how_many_is_compared_with_all_other_templates(systems):
    lines, page = pages.templates(systems, 1)
    counting = {line["template"] for line in lines if line["how_many"]}
    assert counting == {2, 12, 15, 19, 22, 24}
    assert re.search("6 of 24 templates ask .+ of the 5 hardest do", page)
    own = [row for row in systems[0].rows if row["template"] in counting]
    share = 100 * sum(map(numbers.is_right, own)) / len(own)
    assert f"| better-in-english* | text | {share:.1f} [" in page


def test_every_number_up_to_four_is_right_in_some_question_of_how_many():
    right = Counter(scenario.options_en[0] for scenario in BUILT.scenarios if scenario.template in {2, 12, 15, 22, 24})
    assert set(right) == {"1", "2", "3", "4"}
    assert max(right.values()) <= len(BUILT.scenarios) / 10


def test_percent_of_tags_are_over_the_set_of_templates():
    _, page = pages.coverage(BUILT.scenarios, [])
    total = sum(len(template.reasoning) for template in TEMPLATES)
    causal = sum("causal" in template.reasoning for template in TEMPLATES)
    assert f"40 scenarios, 24 templates that have one, {total} tags of templates" in page
    assert re.search(rf"\| causal \| \d+ \| {causal} \| {100 * causal / total:.1f} \|", page)


def test_the_linter_takes_every_template_that_the_paper_prints():
    for row in tables.read_lines(ROOT / "excam/macaron/paper/templates.csv"):
        named = [name for name in templates.slots_in(row["template"]) if name not in templates.OPTIONS]
        template = templates.Template(
            id=int(row["number"]),
            question=row["template"],
            slots={name: templates.Slot("text") for name in named},
            options=("a", "b", "c", "d"),
            reasoning=templates.REASONING[:1],
            aspects=(row["aspect"] or templates.ASPECTS[0],),  # some are printed without one
            true="It is [OPTION A].",
            false="It is [OPTION B].",
        )
        assert templates.problems([template]) == [], row


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What a benchmark author makes by the commands, from templates to instances."""
    folder = tmp_path_factory.mktemp("author")
    succeed("macaron", "lint", MINI / "templates.yaml")
    contexts = ("--contexts", MINI / "contexts.csv")
    succeed("macaron", "draw", MINI / "templates.yaml", *contexts, "--to", folder / "c.json")
    options = ("--templates", MINI / "templates.yaml", *contexts)
    built = succeed("macaron", "build", MINI / "exports", *options, "--to", folder / "scenarios.parquet")
    assert "40 scenarios; left out: not-applicable 5" in built.stderr
    succeed("macaron", "derive", folder / "scenarios.parquet", "--to", folder / "instances.parquet")
    return folder


def test_an_author_comes_from_templates_to_instances(folder):
    tasks = json.loads((folder / "c.json").read_text())["tasks"]
    assert len(tasks) == 24 * 5
    assert len(derive.read(folder / "instances.parquet")) == 240
    assert (folder / "scenarios.dropped.csv").read_text().count("not-applicable") == 5


def test_bad_input_is_one_line(folder, tmp_path):
    (tmp_path / "t.yaml").write_text("- 3")
    (tmp_path / "empty").mkdir()
    calls = [
        ("lint", tmp_path / "t.yaml"),
        ("lint", tmp_path / "none.yaml"),
        ("build", tmp_path / "empty", "--templates", MINI / "templates.yaml", "--contexts", MINI / "contexts.csv", "--to", tmp_path / "s"),
        ("derive", folder / "instances.parquet", "--to", tmp_path / "i"),
        ("ask", folder / "scenarios.parquet", "--model", tmp_path, "--to", tmp_path / "a"),
        ("ask", folder / "instances.parquet", "--model", tmp_path / "none", "--to", tmp_path / "a"),
        ("ask", folder / "instances.parquet", "--model", tmp_path, "--mode", "loud", "--to", tmp_path / "a"),
        ("report", folder / "instances.parquet", "--instances", folder / "instances.parquet", "--to", tmp_path / "r"),
    ]  # fmt: skip
    for call in calls:
        assert "expected" in refusal("macaron", *call), call
    assert not list(tmp_path.glob("[sia]"))


def test_a_model_is_asked_and_its_numbers_are_reported(folder, tmp_path):
    tiny.model(tmp_path / "model", positions=2048)
    made = scenarios.read(folder / "scenarios.parquet")
    few = [scenario for scenario in made if scenario.country in ("Japan", "Mexico")][::2]
    folder = tmp_path / "few"
    tables.write_frame(folder / "scenarios.parquet", scenarios.to_frame(few))
    succeed("macaron", "derive", folder / "scenarios.parquet", "--to", folder / "instances.parquet")
    for mode in ("choose", "text"):
        succeed("macaron", "ask", folder / "instances.parquet", "--model", tmp_path / "model", "--mode", mode, "--max-tokens", 4, "--to", tmp_path / f"{mode}.parquet")  # fmt: skip
    assert not list(tmp_path.glob(".*.journal"))
    files = [tmp_path / "choose.parquet", tmp_path / "text.parquet"]
    instances = derive.read(folder / "instances.parquet")
    for mode, file in zip(("choose", "text"), files, strict=True):  # the record is that of the workflow
        replayed = transcript.replay(partial(asks.answer, mode=mode), instances, Path(f"{file}.transcript.jsonl"))
        again = answers.to_frame(instances, str(tmp_path / "model"), mode, replayed)
        assert again.drop("model").equals(tables.read_frame(file).drop("model"))
        record = provenance.read_json(Path(f"{file}.manifest.json"))
        assert record["outputs"][file.name] == provenance.sha256(file)
        assert record["inputs"] == {str(folder / "instances.parquet"): provenance.sha256(folder / "instances.parquet")}
    first, _ = answers.join(instances, files)
    assert {row["said"]["by"] for row in first.rows} == {"json"}
    assert all(len(row["said"]["letter_logprobs"]) == len(row["said"]["logprobs"]) for row in first.rows)
    of_these = ("--instances", folder / "instances.parquet", "--to", tmp_path / "report")
    done = succeed("macaron", "report", *files, *of_these)
    assert "not written: coverage: found no scenarios\nnot written: printed: found no scenarios\n" in done.stderr
    for name in ("table-3", "paired", "contexts", "aspects", "templates"):
        page = (tmp_path / f"report/{name}.md").read_text()
        assert page.split("\n\n")[1].startswith("**Limits.** 2 contexts, 2 languages, 2 scripts: "), name
    succeed("macaron", "derive", folder / "scenarios.parquet", "--seed", 1, "--to", tmp_path / "other.parquet")
    other = refusal("macaron", "report", files[0], "--instances", tmp_path / "other.parquet", "--to", tmp_path / "r")
    assert "was asked with another text or order of options" in other
    again = shutil.copy(files[0], tmp_path / "again.parquet")
    twice = refusal("macaron", "report", *files, again, *of_these)
    assert re.search(r"again\.parquet: \S+/choose is in \S+/choose\.parquet too; expected one file", twice)


def test_multiple_choice_equals_lm_evaluation_harness(folder, tmp_path):
    """The same prompts, options and model: its log-likelihoods, hence its choices and its accuracy, are ours."""
    pytest.importorskip("lm_eval")
    from lm_eval.api.instance import Instance as Request
    from lm_eval.models.huggingface import HFLM

    from excam.inference import Choose, Message, chat
    from excam.inference.backends.transformers import Backend

    tiny.model(tmp_path / "model", positions=2048)
    backend = Backend(tmp_path / "model", dtype="float32")
    made = derive.read(folder / "instances.parquet")
    asked = [instance for instance in made if (instance.format, instance.lang) == ("MC", "EN")]
    theirs = HFLM(pretrained=str(tmp_path / "model"), dtype="float32", device="cpu", add_bos_token=False, batch_size=4)
    requests, ours = [], []
    for instance in asked:
        message = Message("user", asks.prompt(instance, thinking=False))
        ids = chat.encode(backend.tokenizer, (message,)).input_ids
        for letter in instance.valid:
            line = chat.encode(backend.tokenizer, (message,), asks.line(letter)).input_ids[len(ids) : -1]
            requests.append(Request("loglikelihood", {}, (("", ""), list(ids), list(line)), 0))
        ((_, choice),) = next(iter(backend.choose([Choose((message,), tuple(map(asks.line, instance.valid)))])))
        ours.append(choice.logprobs)
    their_logprobs = [value for value, _ in theirs._loglikelihood_tokens([request.args for request in requests])]
    for at, mine in enumerate(ours):
        assert mine == pytest.approx(their_logprobs[4 * at : 4 * at + 4], abs=1e-3)
    best = [max(range(4), key=lambda k, at=at: their_logprobs[4 * at + k]) for at in range(len(asked))]
    accuracy = 100 * sum("ABCD"[k] == instance.gold for k, instance in zip(best, asked, strict=True)) / len(asked)
    rows = [{"scenario": instance.scenario, "language": instance.language, "format": "MC", "lang": "EN", "gold": instance.gold, "pred": "ABCD"[mine.index(max(mine))]} for instance, mine in zip(asked, ours, strict=True)]  # fmt: skip
    assert numbers.accuracies(rows)["mc_en"] == pytest.approx(accuracy)


def test_chance_at_questions_of_four_and_statements():
    rows = [{"format": form, "lang": lang} for form, lang in (("MC", "EN"), ("T", "EN"), ("F", "EN"), ("T", "L"))]
    expected = {("all of them", "EN"): 125 / 3, ("all of them", "L"): 50, ("all of them", "all"): 175 / 4}
    assert breakdowns._chance(rows, lambda row: ["all of them"]) == pytest.approx(expected)
