"""What people are shown: the rows drawn, the marks in their texts, the order, what a page may not know."""

import hashlib
import json
from collections import Counter
from dataclasses import replace

import campaigns
import pytest
from campaigns import SOFT, changed
from hypothesis import given
from hypothesis import strategies as st

from excam import config
from excam.annotation import answers, campaign
from excam.core.exceptions import InputInvalid
from excam.error_reports import record_files
from excam.error_reports.records import CulturalError, Report, Sample, Verdict
from excam.excam40k.construction import spans
from excam.excam40k.validation import sampling
from scripts.annotation import draw_campaign

SYSTEMS = ("big/all/report", "small/all/report")


def pair(number, *, dataset="calmqa", language="English", right="Tea is drunk.", wrong="Milk is drunk.", group=""):
    """A right row and its soft error."""
    pair = f"{dataset}/{number}/minor"
    fields = dict.fromkeys(Sample.__slots__, "") | {"pair": pair, "base": f"{dataset}/{number}", "dataset": dataset}
    fields |= {"instruction": f"What is drunk on day {number}?", "language": language, "group": group, "templates": ()}
    right_sample = Sample(**{**fields, "id": f"{pair}/right", "output": right, "report": Report(), "origin": "source"})
    spans_found = spans.diff_spans(right, wrong, "strict").spans
    errors = tuple(CulturalError("output", s.text, "minor", "wrong drink", s.start, s.end) for s in spans_found)
    report = Report(errors, f"Not on day {number}.")
    return right_sample, replace(right_sample, id=f"{pair}/wrong", output=wrong, report=report, origin="soft-minor")


def reports_on(samples, text="It is wrong."):
    return {sample.id: text for sample in samples if sample.report.errors}


def drawn(samples, systems=None, wanted=(("calmqa", "English", 5, 3),), seed=1):
    systems = systems or {name: reports_on(samples, f"{name} says") for name in SYSTEMS}
    cells = [sampling.Wanted(*cell) for cell in wanted]
    return sampling.draw("T", samples, systems, cells, "strict", seed)


@pytest.fixture
def thirty():
    return [sample for number in range(30) for sample in pair(number)]


# --- drawing


def test_as_many_rows_as_wanted_each_language_its_own(thirty):
    samples = thirty + [s for number in range(40, 50) for s in pair(number, language="German")]
    drawn_campaign, counts = drawn(samples, wanted=(("calmqa", "English", 5, 3), ("calmqa", "German", 3, 2)))
    sizes = Counter((task.language, task.annotators) for task in drawn_campaign.tasks)
    assert sizes == {("English", 3): 5, ("German", 2): 3}
    assert [(cell["wanted"], cell["drawn"], cell["eligible"]) for cell in counts] == [(5, 5, 30), (3, 3, 10)]


def test_a_cell_with_too_few_rows_gives_all_of_them_and_counts_the_missing(thirty):
    samples = [*thirty[:8], *pair(90, group="g"), *pair(91, group="g"), pair(92)[1]]
    reports = reports_on(samples)
    systems = {SYSTEMS[0]: reports, SYSTEMS[1]: {name: reports[name] for name in reports if "/0/" not in name}}
    drawn_campaign, (cell,) = drawn(samples, systems, wanted=(("calmqa", "English", 9, 3),))
    assert len(drawn_campaign.tasks) == cell["drawn"] == 4
    assert (cell["unreadable"], cell["same-group"], cell["no-right-twin"]) == (1, 1, 1)
    assert cell["rows"] == cell["eligible"] + sum(cell[reason] for reason in sampling.REASONS)


def test_nothing_to_show_is_refused(thirty):
    with pytest.raises(InputInvalid, match="no soft error can be shown"):
        drawn(thirty, wanted=(("calmqa", "Thai", 5, 2),))


def test_the_same_seed_gives_the_same_campaign_and_another_seed_another(thirty):
    assert drawn(thirty)[0] == drawn(list(reversed(thirty)))[0]
    assert {task.id for task in drawn(thirty)[0].tasks}.isdisjoint(task.id for task in drawn(thirty, seed=2)[0].tasks)


def test_a_new_row_of_another_data_set_moves_no_choice(thirty):
    before = [task.id for task in drawn(thirty)[0].tasks]
    wanted = (("calmqa", "English", 5, 3), ("mango", "English", 1, 3))
    after = drawn([*thirty, *pair(1, dataset="mango")], wanted=wanted)
    assert [task.id for task in after[0].tasks if task.shown["dataset"] == "calmqa"] == before


def test_the_order_of_explanations_does_not_show_the_system(thirty):
    drawn_campaign, _ = drawn(thirty, wanted=(("calmqa", "English", 30, 3),))
    first = Counter(task.hidden["source_1"] for task in drawn_campaign.tasks)
    assert set(first) == set(SYSTEMS)
    assert min(first.values()) >= 5  # 30 fair coins fall below that once in 40,000 times
    for task in drawn_campaign.tasks:
        for place in (1, 2):
            assert task.shown[f"comparison_{place}"] == f"{task.hidden[f'source_{place}']} says"


def test_explanations_of_rows_without_error_and_of_unread_answers():
    report = {"errors": [{}], "explanation": "Why."}
    rows = [{"id": name, "report": error_report and json.dumps(error_report)} for name, error_report in (
        ("found", report), ("none", {"errors": [], "explanation": "All is well."}), ("unread", None), ("bare", {**report, "explanation": " "}),
    )]  # fmt: skip
    assert sampling.explanations(rows) == {"found": "Why.", "none": None}


# --- marks


@pytest.mark.parametrize(
    ("right", "wrong", "old", "new"),
    [
        ("They drink tea at noon.", "They drink milk at noon.", ["tea"], ["milk"]),
        ("They drink tea.", "They drink hot tea.", [""], ["hot"]),
        ("They drink hot tea.", "They drink tea.", ["hot"], [""]),
        ("家で豆をまきます。", "家で餅をまきます。", ["豆"], ["餅"]),
        ("Tea is drunk 🎉 here.", "Milk is drunk 🎉 there.", ["Tea", "here"], ["Milk", "there"]),
    ],
)
def test_marks_in_both_texts(right, wrong, old, new):
    right_sample, other = pair(1, right=right, wrong=wrong)
    original, modified = sampling.boxes(right_sample, other, "strict")["output"]
    assert [text for text, changed in original if changed] == old
    assert [text for text, changed in modified if changed] == new


def plain_text(passage):
    return "".join(text for text, _ in passage)


@given(*[st.text(alphabet="ab cé豆\u0301🎉,.’'", max_size=30)] * 2)
def test_pieces_are_the_text_whatever_changed(right, wrong):
    right_sample, other = pair(1, right=right, wrong=wrong)
    for mode in ("strict", "paper"):
        shown = sampling.boxes(right_sample, other, mode)
        assert tuple(map(plain_text, shown["output"])) == (right, wrong)
        assert tuple(map(plain_text, shown["instruction"])) == (right_sample.instruction, other.instruction)


def test_a_task_shows_the_original_text_and_the_modified_one():
    drawn_campaign, _ = drawn(pair(1), wanted=(("calmqa", "English", 1, 3),))
    shown = drawn_campaign.tasks[0].shown
    texts = [plain_text(shown[name]) for name in ("original_output", "modified_output", "modified_instruction")]
    assert texts == ["Tea is drunk.", "Milk is drunk.", "What is drunk on day 1?"]


# --- the file


def test_a_campaign_is_read_as_it_was_written(tmp_path):
    """In the same order too: the page shows values in the form's."""
    small_campaign = campaigns.small()
    campaign.write(tmp_path / "campaign.json", small_campaign)
    again = campaign.read(tmp_path / "campaign.json")
    assert again == small_campaign
    assert json.dumps(again.content) == json.dumps(small_campaign.content)
    assert again.form.model_dump_json() == SOFT.model_dump_json()
    orders = [[list(question.values) for question in made.questions] for made in (again.form, SOFT)]
    assert orders[0] == orders[1]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda raw: raw.update(title="Mine"), "changed after it was drawn"),
        (lambda raw: raw["tasks"][0]["hidden"].popitem(), "changed after it was drawn"),
        (lambda raw: raw["tasks"][0].update(annotators="some"), "no campaign"),
        (lambda raw: raw["form"].update(steps=[]), "form: no field"),
        (lambda raw: raw.update(more=1), "no campaign"),
        (lambda raw: raw.update(format="excam-campaign/1"), "format: found 'excam-campaign/1'; expected"),
    ],
)
def test_an_invalid_campaign_file_is_refused(tmp_path, change, said):
    raw = json.loads(json.dumps(campaigns.small().content))
    change(raw)
    (tmp_path / "campaign.json").write_text(json.dumps(raw))
    with pytest.raises(InputInvalid, match=said):
        campaign.read(tmp_path / "campaign.json")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda tasks: tasks.append(tasks[0]), "1 tasks with the id of another"),
        (lambda tasks: tasks[1].update(id="x" * 16), "expected an id of 16 hexadecimal digits"),
        (lambda tasks: tasks[1]["shown"].pop("explanation"), "lacks explanation, which the form soft_errors shows"),
        (lambda tasks: tasks[1]["shown"].update(severity=None), "severity cannot be shown as fact"),
        (lambda tasks: tasks[1]["shown"].update(modified_output="text"), "modified_output cannot be shown as changes"),
        (lambda tasks: tasks[1]["shown"].update(dataset=7), "lacks dataset, by which tasks are chosen"),
        (lambda tasks: tasks[1]["shown"].update(error_type="a\ud800"), "holds U.D800, a lone surrogate"),
    ],
)
def test_tasks_that_cannot_be_shown_are_refused_when_made_and_when_read(tmp_path, change, said):
    """Though the id in the file is that of its content."""
    raw = json.loads(json.dumps(campaigns.small(3).content))
    change(raw["tasks"])
    content = json.dumps({name: raw[name] for name in ("title", "form", "tasks")})
    raw["id"] = hashlib.sha256(content.encode()).hexdigest()[:16]
    (tmp_path / "campaign.json").write_text(json.dumps(raw))
    with pytest.raises(InputInvalid, match=said):
        campaign.read(tmp_path / "campaign.json")
    with pytest.raises(InputInvalid, match=said):
        campaign.campaign("Test campaign", SOFT, [campaign.Task(**task) for task in raw["tasks"]])


def test_half_a_character_is_refused_before_a_page_has_to_be_written_of_it():
    with pytest.raises(InputInvalid, match=r"^task 0{16}: holds U\+D800, a lone surrogate; expected .*; draw"):
        campaigns.small(1, language="a\ud800")
    with pytest.raises(InputInvalid, match=r"^title: holds"):
        campaign.campaign("\ud800", SOFT, campaigns.small(1).tasks)


@pytest.mark.parametrize("content", [b"", b"[1]", b"\xff\xfe", b"{" * 10000])
def test_a_broken_file_is_refused_in_one_line(tmp_path, content):
    (tmp_path / "campaign.json").write_bytes(content)
    with pytest.raises(InputInvalid, match="no campaign") as problem:
        campaign.read(tmp_path / "campaign.json")
    assert "\n" not in str(problem.value)


def test_the_script_draws_from_files(tmp_path, capsys, thirty):
    record_files.write_samples(tmp_path / "samples.parquet", thirty)
    wrong = [sample for sample in thirty if sample.report.errors]
    verdicts = [Verdict(1, -1.0, 0.5, Report(sample.report.errors, "So."), None) for sample in wrong]
    for name in "ab":
        record_files.write_judgements(tmp_path / f"{name}.parquet", wrong, verdicts)
    wanted = json.dumps([["calmqa", "English", 40, 3], ["mango", "English", 2, 3]])
    judged = ["--judgements", *(str(tmp_path / f"{name}.parquet") for name in "ab")]
    words = ["--samples", tmp_path / "samples.parquet", "--systems", *SYSTEMS, *judged, "--wanted", wanted]
    words += ["--spans", "strict", "--seed", 1, "--campaign", tmp_path / "c.json", "--counts", tmp_path / "n.json"]
    draw_campaign(list(map(str, words)))
    drawn_campaign = campaign.read(tmp_path / "c.json")
    assert len(drawn_campaign.tasks) == 30
    assert drawn_campaign.form.model_dump_json() == SOFT.model_dump_json()
    assert "mango, English: 0 rows; 2 wanted; found none" in capsys.readouterr().err


# --- answers


def test_steps_and_done():
    def steps_and_done(answer):
        return answers.steps_answered(SOFT, answer.values), answers.is_done(SOFT, answer.values)

    full = campaigns.answer(1, "anna")
    assert steps_and_done(full) == (3, True)
    half = changed(full, similarity_2="")
    assert steps_and_done(half) == (2, False)
    bare = campaigns.blank("0" * 16, "anna", skipped=True, saved=full.saved)
    assert steps_and_done(bare) == (0, True)
    assert answers.read(bare.row(), campaigns.small(1)) == bare


# --- who explains


def test_systems_whose_explanations_are_rated():
    base = {
        "seed": 1,
        "datasets": {"normad": {"hub": "x/y"}},
        "models": {name: {"hub": "x/y", "licence": "MIT"} for name in ("a", "b")},
        "generation": {"generator": "lexicon"},
        "tuned": {"models": ["a", "b"], "mixtures": ["without-normad", "all"]},
        "baselines": {"models": ["a"], "judges": ["report", "count"]},
    }
    assert config.load(base).explainers == ("a/all/report", "b/all/report")
    named = config.load(base | {"annotation": {"systems": ["b/all/report"]}})
    assert named.explainers == ("b/all/report",)
    with pytest.raises(config.ConfigInvalid, match=r"annotation.systems: no such system.*did you mean `a/all/report`"):
        config.load(base | {"annotation": {"systems": ["a/al/report"]}})
