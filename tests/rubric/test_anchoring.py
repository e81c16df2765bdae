"""A form that a metric has filled in beforehand: who gets it, what the page does with it, and what it does to raters."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from annotation_page_driver import text_of
from form_page_driver import opened
from typer.testing import CliRunner

from excam.cli import app
from excam.core.exceptions import InputInvalid
from excam.rubric import anchoring, campaign, checks, manual, responses
from excam.rubric.rules import Findings
from excam.scoring import result_files
from excam.scoring.results import Result
from excam.scoring.spans import ErrorSpan, Report

MINI = Path(__file__).parents[2] / "mini/rubric"
RUBRIC = manual.load()
KNOWN = responses.read([MINI / "responses.jsonl"])
PEOPLE = ("eva", "li", "nia")
WORDS = {response.task_id: {"stereotype_phrase": response.response[:12]} for response in KNOWN[::2]}


@pytest.fixture(scope="module")
def drawn():
    return campaign.drawn(KNOWN, campaign.Design("eva", PEOPLE[1:], 1.0, 4), RUBRIC, 0, WORDS)


def test_every_marked_response_is_in_both_arms_and_every_rater_has_both(drawn):
    armed = [task for task in drawn.tasks if "arm" in task.hidden]
    marked = {task.row for task in drawn.tasks if task.shown["phase"] == "main"} & WORDS.keys()
    assert {(task.row, task.hidden["arm"]) for task in armed} == {
        (task_id, arm) for task_id in marked for arm in anchoring.ARMS
    }
    for row in marked:
        assert sorted(rater for task in armed if task.row == row for rater in task.assigned) == sorted(PEOPLE)
    for rater in PEOPLE:
        assert {task.hidden["arm"] for task in armed if rater in task.assigned} == {"prefilled", "open"}
    for task in drawn.tasks:
        prefilled = task.hidden.get("arm") == "prefilled"
        assert (anchoring.KEY + "stereotype_phrase" in task.shown) == prefilled
    assert drawn == campaign.drawn(KNOWN, campaign.Design("eva", PEOPLE[1:], 1.0, 4), RUBRIC, 0, WORDS)


def test_every_second_rater_has_a_filled_form():
    assert anchoring.arms("x", PEOPLE, 0) == {"prefilled": ("li",), "open": ("eva", "nia")}
    assert anchoring.arms("y", PEOPLE, 0) == {"prefilled": ("eva", "nia"), "open": ("li",)}


def test_a_campaign_without_words_is_what_it_was():
    plain = campaign.drawn(KNOWN, campaign.Design("eva", PEOPLE[1:], 1.0, 4), RUBRIC, 0)
    assert "prefilled" not in json.dumps(plain.content)
    with pytest.raises(InputInvalid, match="no second arm; expected one drawn with `excam rubric draw --words-of`"):
        anchoring.analyse(plain, [], 0)


def test_words_of_a_scored_file(tmp_path):
    def marked(name, *errors):
        texts = {"instruction": "q", "output": "a b c"}
        return Result(id=name, texts=texts, score=-1.0, report=Report(errors, ""), signature="excam|m")

    rows = [
        marked(
            "x", ErrorSpan("output", "a", "major", "stereotyping", 0, 1), ErrorSpan("output", "b", "minor", "x", 2, 3)
        ),
        marked("y", ErrorSpan("instruction", "q", "minor", "overgeneralisation", 0, 1)),
        marked("z", ErrorSpan("output", "gone", "minor", "overgeneralisation", -1, -1)),
        Result(id="v", score=None, failure="truncated", signature="excam|m"),
    ]
    result_files.write(tmp_path / "s.parquet", rows)
    assert anchoring.words_of(tmp_path / "s.parquet") == {"x": {"stereotype_phrase": "a", "false_claim": "b"}}


def rated(drawn, follow):
    """Ratings in which raters of the arm with words keep them in `follow` of the responses, and lower Sensitivity."""
    template = checks.read(sorted((MINI / "ratings").glob("eva.jsonl")), KNOWN, [RUBRIC]).ratings[0]
    for at, task in enumerate(drawn.tasks):
        keeps = task.hidden.get("arm") == "prefilled" and at % 10 < 10 * follow
        words = task.hidden.get(anchoring.KEY + "stereotype_phrase", "") if keeps else ""
        for rater in task.assigned:
            yield replace(
                template,
                task_id=task.row,
                rater=rater,
                phase=task.shown["phase"],
                findings=Findings(stereotype_phrase=words.strip()),
                scores={**template.scores, "sensitivity": 2 if keeps else 4},
            )


def test_raters_who_follow_the_metric_are_found(drawn):
    lines = {line["measure"]: line for line in anchoring.analyse(drawn, rated(drawn, 0.5), 0)}
    assert list(lines) == list(anchoring.MEASURES)
    words = lines["stereotype_phrase: the metric's words"]
    assert words["open"] == 0
    assert 0.2 < words["prefilled"] < 0.8
    assert 0 < words["low"] <= words["difference"] <= words["high"]
    assert lines["sensitivity"]["difference"] == pytest.approx(-2 * words["prefilled"])
    assert words["responses"] == len({task.row for task in drawn.tasks if "arm" in task.hidden})
    assert words["ratings"] == 3 * words["responses"]
    assert lines["false_claim: given"]["responses"] == 0  # the metric had no words for it


def test_raters_who_do_not_follow_it(drawn):
    lines = {line["measure"]: line for line in anchoring.analyse(drawn, rated(drawn, 0), 0)}
    assert lines["sensitivity"]["difference"] == 0
    assert lines["sensitivity"]["low"] is None  # all alike: no interval
    one_rater = campaign.drawn(KNOWN, campaign.Design("eva", [], 0, 4), RUBRIC, 0, WORDS)
    with pytest.raises(InputInvalid, match=r"0 responses rated in both arms, of \d+ with words of a metric"):
        anchoring.analyse(one_rater, rated(one_rater, 1), 0)


def test_as_commands(tmp_path):
    rows = [
        Result(
            id=response.task_id,
            texts={"output": response.response},
            score=-1.0,
            report=Report((ErrorSpan("output", response.response[:9], "minor", "stereotyping", 0, 9),)),
            signature="excam|m",
        )
        for response in KNOWN[:14]
    ]
    result_files.write(tmp_path / "scored.parquet", rows)

    def excam(*words):
        return CliRunner().invoke(app, ["rubric", *map(str, words)])

    who = ("--evaluator", "eva-made-up", "--validators", "li-made-up,nia-made-up", "--overlap", 1, "--calibration", 4)
    words = ("--words-of", tmp_path / "scored.parquet", "--to", tmp_path / "c.json")
    done = excam("draw", MINI / "responses.jsonl", *who, *words)
    assert done.exit_code == 0, done.output
    assert "24 responses: 4 for calibration, 20 after it, 20 of these for all raters" in done.stderr
    assert "in two arms; 14 responses have some" in done.stderr
    done = excam("anchoring", tmp_path / "c.json", MINI / "ratings", "--to", tmp_path / "a.csv")
    assert done.exit_code == 0, done.output
    assert "| sensitivity |" in done.stdout
    assert (tmp_path / "a.csv").read_text().count("\n") == len(anchoring.MEASURES) + 1


def test_the_page_starts_from_the_words_of_the_metric(browser, tmp_path, drawn):
    opened(browser, tmp_path, drawn, "eva")
    brings = f"'{anchoring.KEY}stereotype_phrase'"
    browser.js(f"goTo(data.tasks.find((one) => {brings} in one.shown))")
    words = browser.js(f"session.task.shown[{brings}]")
    assert browser.js("document.getElementById('stereotype_phrase').value") == words
    assert "to do" in text_of(browser, "task-status")
    assert browser.js("answers().size") == 0  # what nobody touched is no answer
    browser.js("change({refusal: 'none'})")
    assert browser.js("answerHere().stereotype_phrase") == words  # kept with the first answer
    browser.js("change({stereotype_phrase: ''})")
    assert browser.js("document.getElementById('stereotype_phrase').value") == ""
    browser.js(f"goTo(data.tasks.find((one) => !({brings} in one.shown)))")
    assert browser.js("document.getElementById('stereotype_phrase').value") == ""
    assert "arm" not in browser.js("Object.keys(session.task)")
