"""Human validation: votes built so that the paper's tables come out, and every number against one counted by hand."""

import csv
import json
import random
from collections import Counter
from pathlib import Path

import campaigns
import polars as pl
import pytest
from campaigns import CHOICES, SOFT, STEPS, blank

from excam.annotation import campaign, exchange
from excam.core import tables
from excam.core.exceptions import InputInvalid
from excam.core.steps import read_steps
from excam.excam40k.validation import (
    human_agreement,
    human_answers,
    human_ratings,
    human_tables,
    human_votes,
)
from excam.pages import claims
from scripts import load

ROOT = Path(__file__).parents[2]
PAPER = ROOT / "paper"
NAMES = ("Ann", "Bo", "Cy", "Di")
SYSTEMS = ("gemma3-27b/all/report", "phi3-medium-4k/all/report")
LANGUAGES = ["English"] * 80 + ["German"] * 8 + ["Chinese"] * 6 + ["Japanese"] * 6


def script(name, home, options=(), **files):
    """Run a script on a folder of annotations."""
    named = {"campaign": "campaign.json", "answers": "answers.parquet", **files}
    words = [*options]
    for key, value in named.items():
        paths = value if isinstance(value, list) else [value]
        words += [f"--{key.replace('_', '-')}", *(str(home / path) for path in paths)]
    load(name)(words)


def lines(path):
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_the_workflow_makes_every_table():
    page = read_steps(ROOT)["table_votes"].rule
    assert page.wildcards["table"] == [*human_tables.TABLES]


# --- the paper's votes


def spread(*counts):
    """3, 2, 1, 0 positive votes of three, so many times each."""
    return [votes for votes, count in zip((3, 2, 1, 0), counts, strict=True) for _ in range(count)]


# positive votes per item: English of three, then German, Chinese, Japanese of two, as Tables 3 and 12 count them
CULTURE = spread(70, 8, 2, 0) + [2] * 8 + [2, 2, 2, 2, 2, 1] * 2
VALID = spread(49, 18, 9, 4) + [1, 2] * 4 + [0, 0, 0, 0, 1, 1] * 2
PARTLY = [3] * 75 + [2] * 5 + [2] * 8 + [2, 2, 2, 2, 0, 1] + [2, 2, 2, 2, 2, 1]
EXPLAINED = spread(63, 15, 1, 1) + [2] * 4 + [1] * 4 + [2, 2, 2, 0, 1, 1] + [2, 2, 2, 2, 2, 1]
SEVERITY = {"minor": 31, "major": 38}  # Table 13: of 60 and 40
KEPT = [at for at, votes in enumerate(EXPLAINED) if votes >= 2]  # valid by majority
FOUND = {SYSTEMS[0]: set(KEPT[:60]) | {78}, SYSTEMS[1]: set(KEPT[-54:])}


def paper_campaign():
    tasks = []
    for at, language in enumerate(LANGUAGES):
        order = SYSTEMS[:: 1 if at % 3 else -1]  # blinded: not always the same first
        compared = {f"comparison_{k}": "So." if at in FOUND[s] else None for k, s in enumerate(order, 1)}
        hidden = {f"source_{k}": system for k, system in enumerate(order, 1)}
        wanted, severity = 3 if language == "English" else 2, "minor" if at % 5 < 3 else "major"
        fields = {"language": language, "annotators": wanted, "severity": severity, "hidden": hidden, **compared}
        tasks.append(campaigns.task(at, **fields))
    return campaign.campaign("As printed", SOFT, tasks)


def paper_answers(validation_campaign):
    """Answers with the printed votes; of a language two annotators speak it and the other two skip."""
    made, grades = [], {system: iter_grades(system, validation_campaign) for system in SYSTEMS}
    seen = Counter()
    for at, task in enumerate(validation_campaign.tasks):
        speak = NAMES[:3] if at < 80 else (NAMES[at % 4], NAMES[(at + 1) % 4])
        severity = task.shown["severity"]
        nth = seen[severity]
        seen[severity] += 1
        agreed = {"severity_ok": nth < SEVERITY[severity], "type_ok": at < 96, "changed_mind": at < 4}
        for k, name in enumerate(speak):
            fields = {
                "culture_related": "yes" if k < CULTURE[at] else ("no", "dont_know")[k % 2],
                "error_valid": "valid" if k < VALID[at] else "partly" if k < PARTLY[at] else "no_change",
                "explanation_valid": "valid" if k < EXPLAINED[at] else "partly",
                **{key: value if k != 1 or len(speak) == 2 else not value for key, value in agreed.items()},
            }
            fields["changed_mind"] = "yes" if fields["changed_mind"] else "no"
            for place in (1, 2):
                text, system = task.shown[f"comparison_{place}"], task.hidden[f"source_{place}"]
                fields[f"similarity_{place}"] = next(grades[system]) if text else "no_error"
            made.append(campaigns.answer(at, name, **fields))
        skips = [name for name in NAMES if name not in speak] if at >= 80 else []
        made += [blank(task.id, name, skipped=True, saved=campaigns.FULL["saved"]) for name in skips]
    return made


def iter_grades(system, validation_campaign):
    """Ratings whose mean is printed as 4.01 and 3.88, over the items that are kept; those of others change nothing."""
    ratings = sum(validation_campaign.tasks[at].annotators for at in FOUND[system] & set(KEPT))
    beside = {SYSTEMS[0]: 0.01, SYSTEMS[1]: -0.12}[system]
    moved = round(abs(beside) * ratings)
    yield from [str(4 + (1 if beside > 0 else -1))] * moved + ["4"] * (ratings - moved)
    while True:
        yield "1"


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """The folder of a campaign that went as the paper's, every step run, and the answers."""
    folder = tmp_path_factory.mktemp("annotation")
    validation_campaign = paper_campaign()
    (folder / "campaign.json").write_text(json.dumps(validation_campaign.content), encoding="utf-8")
    made = paper_answers(validation_campaign)
    for at, name in enumerate(NAMES):
        own = [answer for answer in made if answer.annotator == name]
        kind, write = (("csv", exchange.to_csv), ("json", exchange.to_json))[at % 2]
        (folder / f"{name}.{kind}").write_bytes(write(validation_campaign, own).encode())
    exports = ["Ann.csv", "Bo.json", "Cy.csv", "Di.json"]
    script("collect_answers", folder, exports=exports, counts="counts.json")
    for name in human_tables.TABLES:
        printed = {"printed": PAPER / f"{name}.csv"} if name.startswith("table-") else {}
        out = {"counts": "counts.json", "numbers": f"{name}.csv", "page": f"{name}.md"}
        words = ["--table", name, "--printed-claims", str(PAPER / "claims.csv"), "--seed", "7"]
        script("table_votes", folder, words, **printed, **out)
    return folder, validation_campaign, made


def test_table_3_comes_out_as_printed(printed):
    folder, *_ = printed
    table, paper = lines(folder / "table-3.csv"), lines(PAPER / "table-3.csv")
    assert len(paper) == 4
    for ours, line in zip(table, paper, strict=False):
        assert ours["criterion"] == line["criterion"]
        assert [ours[share] for share in human_votes.SHARES] == [line[share] for share in human_votes.SHARES]
        assert ours["n"] == line["n"] == ours["printed_n"]
        assert ours["left_out"] == "20"
        assert ours["few"] == ""
    assert table[4]["criterion"].endswith("(ours)")
    assert [table[4][share] for share in human_votes.SHARES] == ["100.0", "0.0", "0.0", "0.0"]
    votes = CULTURE[:80]
    assert int(table[0]["dont_know"]) == sum(k % 2 and k >= count for count in votes for k in range(3))
    assert int(table[1]["no_change"]) == sum(3 - count for count in PARTLY[:80])


def test_table_12_comes_out_as_printed(printed):
    folder, *_ = printed
    paper = {line["criterion"]: line for line in lines(PAPER / "table-12.csv")}
    table = lines(folder / "table-12.csv")
    assert [line["language"] for line in table] == ["Chinese"] * 3 + ["German"] * 3 + ["Japanese"] * 3
    for line in table:
        column = line["language"].lower()
        assert line["percent"] == paper[line["criterion"]][column] == line["printed_percent"]
        assert line["n"] == paper["N"][column]
        assert line["few"] == "yes"
    assert (table[0]["low"], table[0]["high"]) == ("43.6", "97.0")  # Wilson's interval of 5 of 6


def test_table_13_comes_out_as_printed(printed):
    folder, *_ = printed
    for ours, line in zip(lines(folder / "table-13.csv"), lines(PAPER / "table-13.csv"), strict=True):
        assert ours.items() >= {key: line[key] for key in ("criterion", "yes", "n", "percent")}.items()
        assert [ours["printed_yes"], ours["printed_n"]] == [line["yes"], line["n"]]
    page = (folder / "table-13.md").read_text(encoding="utf-8")
    assert "Table 13 gives 95.0" in page
    assert "Table 13 gives 51.7" in page
    assert "both of two" in page


def test_ratings_come_out_as_printed(printed):
    folder, *_ = printed
    paper = claims.read(PAPER / "claims.csv")
    kept = [line for line in lines(folder / "human-ratings.csv") if line["items"] == human_ratings.VALID]
    for line, name in zip(kept, ("gemma3", "phi3"), strict=True):
        assert line["n"] == paper["explanation-soft-n"]["printed"] == "90"
        assert f"{float(line['percent']):.0f}" == paper[f"explanation-soft-found-{name}"]["printed"]
        assert f"{float(line['mean']):.2f}" == paper[f"explanation-likert-{name}"]["printed"]
        assert float(line["low"]) < float(line["mean"]) < float(line["high"])
        assert float(line["percent_low"]) < float(line["percent"]) < float(line["percent_high"])
        assert [line[f"printed_{key}"] for key in ("n", "percent", "mean")] == [
            paper[claim]["printed"]
            for claim in ("explanation-soft-n", f"explanation-soft-found-{name}", f"explanation-likert-{name}")
        ]
    others = [line for line in lines(folder / "human-ratings.csv") if line["items"] != human_ratings.VALID]
    assert {line["printed_mean"] for line in others} == {""}
    assert {line["n"] for line in others if line["items"] == "all"} == {"100"}
    assert [line["found"] for line in others if line["items"] == "all"] == ["61", "54"]


def test_files_tasks_and_answers_are_counted(printed):
    folder, validation_campaign, _ = printed
    counted = json.loads((folder / "counts.json").read_text())
    expected = {"files": 4, "repeated": 0, "superseded": 0, "tasks": 100, "wanted": 280, "answers": 320, "skipped": 40}
    expected |= {"finished": 280, "unfinished": 0}
    assert {key: counted[key] for key in expected} == expected
    assert [each["skipped"] for each in counted["annotators"].values()] == [10] * 4
    assert counted["campaign"] == validation_campaign.id
    said = "320 answers of 4 annotators about 100 items (280 wanted): 280 finished, 0 unfinished, 40 skipped"
    for name in ("table-3", "table-12", "table-13", "human-ratings", "human-agreement"):
        page = (folder / f"{name}.md").read_text(encoding="utf-8")
        assert said in page
        assert ("†: fewer than 30 items" in page) == (name in ("table-12", "human-agreement"))


def test_annotators_are_pseudonymous(printed):
    folder, validation_campaign, made = printed
    frame = pl.read_parquet(folder / "answers.parquet")
    assert set(frame["annotator"]) == {"a1", "a2", "a3", "a4"}
    expected = human_answers.to_frame(SOFT, exchange.in_campaign_order(validation_campaign, made))
    assert frame.drop("annotator").equals(expected.drop("annotator"))
    assert frame.group_by("task").agg(pl.col("annotator").n_unique())["annotator"].sum() == len(made)
    for path in folder.glob("*.md"):
        assert not [name for name in NAMES if name in path.read_text(encoding="utf-8").split()]
    names = human_answers.pseudonyms(validation_campaign, made)
    assert names == human_answers.pseudonyms(validation_campaign, made[::-1])
    assert sorted(names) == list(NAMES)
    orders = {tuple(human_answers.pseudonyms(campaigns.small(n), made).items()) for n in range(1, 9)}
    assert len(orders) > 1  # nobody is a1 in every campaign


def test_agreement_has_its_denominator(printed):
    folder, *_ = printed
    table = lines(folder / "human-agreement.csv")
    measures = {(line["question"], line["measure"], line["raters"]): line for line in table}
    strict = measures["Error valid (strict): yes or not", "alpha", "2 or more"]
    assert (strict["n"], strict["ratings"], strict["annotators"], strict["left_out"]) == ("100", "280", "4", "0")
    kappa = measures["Error valid (strict): yes or not", "kappa", "3"]
    yes, no = sum(VALID[:80]), 240 - sum(VALID[:80])
    alike = sum(v * (v - 1) + (3 - v) * (2 - v) for v in VALID[:80]) / 6 / 80
    chance = (yes**2 + no**2) / 240**2
    assert float(kappa["value"]) == pytest.approx((alike - chance) / (1 - chance), abs=1e-4)
    assert kappa["n"] == "80"
    assert float(kappa["low"]) < float(kappa["value"]) < float(kappa["high"])
    culture = measures["Culture-related", "alpha", "2 or more"]
    unsure = sum(k % 2 and k >= votes for votes, n in zip(CULTURE, [3] * 80 + [2] * 20, strict=True) for k in range(n))
    assert int(culture["left_out"]) == unsure > 0
    for system in SYSTEMS:
        line = measures[f"Similarity of {system}", "alpha", "2 or more"]
        assert (int(line["n"]), line["left_out"]) == (len(FOUND[system]), "0")  # not those it found no error in
    page = (folder / "human-agreement.md").read_text(encoding="utf-8")
    assert page.count("no variation") == page.count("– (no variation)")


# --- against counting by hand


@pytest.fixture(params=range(6))
def random_answers(request):
    """A campaign with gaps: skips, unfinished answers, too few and too many annotators."""
    draw = random.Random(request.param)
    validation_campaign = campaigns.small(40)
    made = []
    for at in range(40):
        for name in draw.sample(NAMES, draw.choice([0, 1, 2, 3, 3, 3, 4])):
            if draw.random() < 0.1:
                made.append(blank(f"{at:016x}", name, skipped=True, saved=campaigns.FULL["saved"]))
                continue
            steps = draw.choice([0, 1, 2, 3, 3, 3])
            fields = {field: draw.choice(list(CHOICES[field])) for step in STEPS for field in step}
            begun = draw.choice([0, 1])  # of the step that is open, its first question is answered
            left = [field for step in STEPS[steps:] for field in step][begun:]
            fields |= dict.fromkeys(left, "")
            fields |= {field: steps > 1 and draw.random() < 0.6 for field in ("severity_ok", "type_ok")}
            made.append(campaigns.answer(at, name, **fields))
    return validation_campaign, made


def by_hand(validation_campaign, made, at, step):
    """Those who answered every question up to a step, counted without the code that is tested."""
    asked = [field for fields in STEPS[:step] for field in fields]
    own = [answer for answer in made if answer.task == validation_campaign.tasks[at].id and not answer["skipped"]]
    return [answer for answer in own if all(answer[field] for field in asked)]


def test_votes_are_those_counted_by_hand(random_answers):
    validation_campaign, made = random_answers
    items = human_answers.items(validation_campaign, human_answers.to_frame(SOFT, made))
    everyone = range(len(validation_campaign.tasks))
    said = {
        "Culture rel.": (1, lambda answer: answer["culture_related"] == "yes"),
        "Error valid (strict)": (1, lambda answer: answer["error_valid"] == "valid"),
        "Error valid (partial)": (1, lambda answer: answer["error_valid"] in ("valid", "partly")),
        "Expl. valid": (2, lambda answer: answer["explanation_valid"] == "valid"),
        "Expl. valid or partly (ours)": (2, lambda answer: answer["explanation_valid"] in ("valid", "partly")),
    }
    for line in human_votes.table_3(items, []):
        step, yes = said[line["criterion"]]
        voted = [three for at in everyone if len(three := by_hand(validation_campaign, made, at, step)) == 3]
        sums = Counter(sum(map(yes, three)) for three in voted)
        expected = [f"{100 * sums[k] / len(voted):.1f}" for k in (3, 2, 1, 0)]
        assert [line[share] for share in human_votes.SHARES] == expected
        assert (line["n"], line["left_out"]) == (len(voted), 40 - len(voted))
    said_13 = {
        "Severity OK (minor)": (lambda task: task.shown["severity"] == "minor", lambda answer: answer["severity_ok"]),
        "Severity OK (major)": (lambda task: task.shown["severity"] == "major", lambda answer: answer["severity_ok"]),
        "Type OK": (lambda task: True, lambda answer: answer["type_ok"]),
        "Changed mind": (lambda task: True, lambda answer: answer["changed_mind"] == "yes"),
    }
    for line in human_votes.table_13(items, []):
        of, yes = said_13[line["criterion"]]
        own = [by_hand(validation_campaign, made, at, 2) for at in everyone if of(validation_campaign.tasks[at])]
        voted = [some for some in own if len(some) > 1]
        count = sum(sum(map(yes, some)) > len(some) / 2 for some in voted)
        assert (line["yes"], line["n"], line["left_out"]) == (count, len(voted), len(own) - len(voted))


def test_ratings_are_those_counted_by_hand(random_answers):
    validation_campaign, made = random_answers
    items = human_answers.items(validation_campaign, human_answers.to_frame(SOFT, made))
    paper = claims.read(PAPER / "claims.csv")
    positives = {"explanation valid": ("valid",), "explanation valid or partly": ("valid", "partly")}
    for line in human_ratings.lines(validation_campaign, items, paper, 0):
        positive = positives.get(line["items"])
        n = texts = against = without = agreed = 0
        ratings = []
        for at, task in enumerate(validation_campaign.tasks):
            votes = [answer["explanation_valid"] for answer in by_hand(validation_campaign, made, at, 2)]
            if positive and (len(votes) < 2 or sum(vote in positive for vote in votes) <= len(votes) / 2):
                continue
            n += 1
            (place,) = [k for k in (1, 2) if task.hidden[f"source_{k}"] == line["system"]]
            text = task.shown[f"comparison_{place}"]
            texts += text is not None
            for answer in by_hand(validation_campaign, made, at, 3):
                said = answer[f"similarity_{place}"]
                if said == "no_error":
                    against, agreed = against + (text is not None), agreed + (text is None)
                elif text is None:
                    without += 1
                else:
                    ratings.append(int(said))
        keys = ("n", "found", "no_error_of_text", "rated_without_text", "no_error", "ratings")
        assert [line[key] for key in keys] == [n, texts, against, without, agreed, len(ratings)]
        assert line["mean"] == (round(sum(ratings) / len(ratings), 4) if ratings else None)
        assert [line[grade] for grade in "12345"] == [ratings.count(grade) for grade in range(1, 6)]
        assert "printed_mean" not in line  # systems of another experiment


def test_majority_is_more_than_half_of_at_least_two():
    yes, no = True, False
    few = [], [yes], [yes, yes], [yes, no], [no, no]
    assert [human_votes.majority(votes) for votes in few] == [None, None, yes, no, no]
    assert [human_votes.majority([yes] * k + [no] * (3 - k)) for k in range(4)] == [no, no, yes, yes]
    assert human_votes.majority([yes, yes, no, no]) is no


def test_nothing_exported_is_said_and_not_drawn(tmp_path):
    validation_campaign = campaigns.small(3)
    (tmp_path / "campaign.json").write_text(json.dumps(validation_campaign.content))
    (tmp_path / "empty.json").write_text(exchange.to_json(validation_campaign, []))
    for exports, said in (([], "0 exported files hold 0 answers"), (["empty.json"], "1 exported files hold 0")):
        with pytest.raises(InputInvalid, match=said):
            script("collect_answers", tmp_path, exports=exports, counts="counts.json")
    assert not (tmp_path / "answers.parquet").exists()


def test_tables_of_hardly_anything_hold_no_numbers():
    validation_campaign = campaigns.small(2)
    items = human_answers.items(validation_campaign, human_answers.to_frame(SOFT, [campaigns.answer(0, "b")]))
    paper = claims.read(PAPER / "claims.csv")
    for line in human_votes.table_3(items, []):
        assert line["n"] == 0
        assert {line[share] for share in human_votes.SHARES} == {None}
    rated = list(human_ratings.lines(validation_campaign, items, paper, 0))
    assert [line["mean"] for line in rated] == [None] * 4 + [4.0, None]  # "no error" of a text that names one
    assert [line["no_error_of_text"] for line in rated] == [0] * 5 + [1]
    assert {line["percent"] for line in rated} == {None, 100.0}
    agreed = list(human_agreement.lines(validation_campaign, items, 0))
    assert {line["value"] for line in agreed} == {None}
    assert {(line["why"], line["few"]) for line in agreed} == {("no items", "yes")}
    assert all(len(line) == len(human_agreement.COLUMNS) for line in agreed)


def test_pages_say_how_many_answers_were_replaced():
    counted = human_answers.counts(campaigns.small(2), [campaigns.answer(0, "b")])
    replaced = "; 3 replaced by later ones of the same annotator.\n"
    for number, is_said in ((3, True), (0, False)):
        page = human_tables.page(human_tables.TABLES["human-agreement"], [], {**counted, "superseded": number}, {})
        assert (replaced in page, "replaced" in page) == (is_said, is_said)


def test_pages_show_what_others_wrote_as_text(tmp_path):
    validation_campaign = campaigns.small(2, language="<b>|x|</b>", annotators=2)
    made = [campaigns.answer(0, name) for name in "ab"]
    items = human_answers.items(validation_campaign, human_answers.to_frame(SOFT, made))
    table = human_votes.table_12(items, lines(PAPER / "table-12.csv"))
    tables.write_lines(tmp_path / "n.csv", human_votes.COLUMNS_12, table)
    counted = {"superseded": 0, **human_answers.counts(validation_campaign, made)}
    paper = claims.read(PAPER / "claims.csv")
    printed = [line | {"printed_percent": "87.5"} for line in tables.read_lines(tmp_path / "n.csv")]
    page = human_tables.page(human_tables.TABLES["table-12"], printed, counted, paper)
    assert "| 87.5 |" in page
    assert "<b>" not in page
    assert "100.0 \\[" not in page
    assert "100.0 [20.7, 100.0]" in page
