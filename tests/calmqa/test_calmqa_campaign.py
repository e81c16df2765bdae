"""People rate three answers of a question: drawn, submitted, exported, collected in the authors' columns, regressed."""

import json
from collections import Counter
from dataclasses import replace

import form_campaigns
import polars as pl
import pytest
from excam_commands import refusal, succeed
from exported_answers import answer_to, export
from mini_calmqa import QUESTIONS, SHEETS
from one_line_errors import line_of

from excam.annotation import campaign as campaigns
from excam.annotation import form
from excam.calmqa import campaign, ratings, seeds, source
from excam.core import tables
from excam.core.exceptions import InputInvalid

THIRD = [source.Reply(f"third/{name}", "third", name, f"An answer\r\nto {name}.", "stop") for name in QUESTIONS]
THREE = ("careful", "careless", "third")


def in_files(folder):
    """Write the questions and the answers as tables; return their paths."""
    paths = folder / "questions.parquet", folder / "answers.parquet"
    tables.write_frame(paths[0], source.to_frame(list(QUESTIONS.values()), source.Question))
    tables.write_frame(paths[1], source.to_frame([*SHEETS, *THIRD], source.Reply))
    return paths


def drawn(seed=1):
    return campaign.drawing(QUESTIONS, [*SHEETS, *THIRD], THREE, 2, 20, seed)[0]


def submitted(drawn_campaign, annotator="ada"):
    """An answer to every task: the careful sheet is the best one."""
    rows = []
    for task in drawn_campaign.tasks:
        values = {form.SUBMITTED: True}
        careful = next(place for place in (1, 2, 3) if task.hidden[f"model_{place}"] == "careful")
        for place in (1, 2, 3):
            best = place == careful
            values |= {f"rating_{place}": 5 if best else 2, f"omissions_{place}": "none" if best else "major"}
            values |= {f"factuality_{place}": "none" if best else "minor", f"language_{place}": "yes"}
        values["ranking"] = [str(careful), *(str(place) for place in (1, 2, 3) if place != careful)]
        rows.append(answer_to(drawn_campaign, task, annotator, values))
    return rows


def test_a_campaign_hides_the_models_and_mixes_their_order():
    drawn_campaign = drawn()
    assert len(drawn_campaign.tasks) == 14, "one answer of the careless sheet is empty"
    assert {tuple(sorted(task.hidden.values())) for task in drawn_campaign.tasks} == {tuple(sorted(THREE))}
    assert len({tuple(task.hidden.values()) for task in drawn_campaign.tasks}) > 3
    texts = json.dumps([task.shown for task in drawn_campaign.tasks])
    assert "careless" not in texts
    assert "third" not in texts
    assert drawn_campaign.content == drawn().content
    assert drawn_campaign.content != drawn(2).content
    assert all("\r" not in task.shown["answer_1"] for task in drawn_campaign.tasks)


def test_questions_of_each_language_and_type_are_drawn_and_the_others_listed(tmp_path):
    questions, answers = in_files(tmp_path)
    words = ("--questions", questions, "--subjects", ",".join(THREE), "--each", 2)
    call = ("calmqa", "draw", answers, *words, "--to", tmp_path / "c.json", "--languages")
    done = succeed(*call, "German, de,ja")
    tasks = campaigns.read(tmp_path / "c.json").tasks
    drawn_types = sorted((task.language, task.shown["kind"]) for task in tasks)
    assert drawn_types == [(name, kind) for name in ("German", "Japanese") for kind in ("agnostic", "specific")]
    lines = tables.read_lines(tmp_path / "c.left-out.csv")
    assert {line["row"] for line in lines} | {task.row for task in tasks} == QUESTIONS.keys()
    counts = Counter(line["reason"] for line in lines)
    assert done.stderr.endswith(f"left out: {', '.join(f'{name} {counts[name]}' for name in sorted(counts))}\n")
    assert counts.keys() == {"another language", "not drawn"}
    assert "no question in Fijian" in refusal(*call, "de,fj")
    left_out = campaign.drawing(QUESTIONS, [*SHEETS, *THIRD], THREE, 1, 20, 0)[1]
    assert list(left_out.values()) == ["not answered by all three"]


def test_other_than_three_answered_subjects_are_refused():
    line = line_of(InputInvalid, campaign.drawing, QUESTIONS, SHEETS, ("careful", "careless"), 1, 20, 0)
    assert "found careful, careless; expected three different ones" in line
    line = line_of(InputInvalid, campaign.drawing, QUESTIONS, SHEETS, THREE, 1, 20, 0)
    assert "no question that careful, careless, third all answered" in line


def test_what_people_submitted_becomes_the_authors_columns_and_is_regressed(tmp_path):
    drawn_campaign, exports = drawn(), []
    questions, answers = in_files(tmp_path)
    asked = ["--questions", questions]
    words = ["draw", answers, *asked, "--subjects", "careful, careless,third", "--seed", 1]
    succeed("calmqa", *words, "--people", 2, "--to", tmp_path / "campaign.json")
    assert campaigns.read(tmp_path / "campaign.json").content == drawn_campaign.content
    for name in ("ada", "grace"):
        exports.append(export(tmp_path / f"{name}.json", drawn_campaign, submitted(drawn_campaign, name)))
    more = [*exports, *asked, "--to", tmp_path / "r.csv"]
    succeed("calmqa", "collect", tmp_path / "campaign.json", *more)
    succeed("calmqa", "collect", tmp_path / "campaign.json", exports[0], *more)
    rated = ratings.read(tmp_path / "r.csv")
    assert len(rated) == 84
    assert {rating.rating for rating in rated if rating.model == "careful"} == {5}
    assert {rating.annotator for rating in rated} == {"ada", "grace"}
    assert json.loads(tables.read_lines(tmp_path / "r.csv")[0]["overall-rating"])[0]["rating"] in (2, 5)
    done = succeed("calmqa", "report", tmp_path / "r.csv", "--to", tmp_path)
    assert "84 ratings of 1 to 5 by 2 annotators (ada, grace)" in done.stdout


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("questions", lambda frame: frame.drop("group"), "no group; found columns id, language"),
        ("questions", lambda frame: frame.with_columns(group=pl.lit(1)), "group: found Int32; expected"),
        ("questions", lambda frame: pl.concat([frame, frame]), "is there twice; expected questions"),
        ("questions", lambda frame: frame.with_columns(question=pl.lit(None)), "row 1: no question"),
        ("answers", lambda frame: pl.concat([frame, frame]), "is there twice; expected answers"),
        ("answers", lambda frame: frame.with_columns(text=pl.lit(None)), "row 1: no text"),
        ("answers", lambda frame: frame.drop("finish"), "no finish"),
    ],
)
def test_damaged_questions_and_answers_are_one_line(tmp_path, name, change, words):
    questions, answers = in_files(tmp_path)
    damaged = tmp_path / f"{name}.parquet"
    tables.write_frame(damaged, change(tables.read_frame(damaged)))
    call = ["draw", answers, "--questions", questions]
    call += ["--subjects", ",".join(THREE), "--to", tmp_path / "campaign.json"]
    assert words in refusal("calmqa", *call)


def test_answers_of_another_form_are_refused():

    other = form_campaigns.culture_spans()
    assert "expected long_form" in line_of(InputInvalid, lambda: list(campaign.ratings([], other, QUESTIONS)))
    assert "not among the questions" in line_of(InputInvalid, lambda: list(campaign.ratings([], drawn(), {})))


# --- questions that people write


def written(drawn_, questions):
    """An answer to each task of a campaign: its question, or None for no further one."""
    rows = []
    for task, text in zip(drawn_.tasks, questions, strict=True):
        values = {form.SUBMITTED: True, "no_more": text is None}
        if text:
            values |= {"question": text, "question_en": "Why?", "category": "food and drinks", "why": "Only here."}
        rows.append(answer_to(drawn_, task, task.assigned[0], values))
    return rows


def test_written_questions_become_official_rows_and_the_others_are_counted(tmp_path):
    file, to = tmp_path / "campaign.json", tmp_path / "questions.jsonl"
    done = succeed("calmqa", "draw-seeds", "Wolof,de", "--people", 2, "--each", 2, "--to", file)
    assert "8 questions to write, by wo-1, wo-2, de-1, de-2" in done.stderr
    drawn_campaign = campaigns.read(file)
    assert {task.assigned for task in drawn_campaign.tasks if task.language == "Wolof"} == {("wo-1",), ("wo-2",)}
    texts = ["Lu tax?", None, " lu  TAX?", "Kan?", "Lu tax?", "Warum?", None, "Wer?"]
    answers_ = written(drawn_campaign, texts)
    answers_[-1] = replace(answers_[-1], values=dict(answers_[-1].values) | {form.SUBMITTED: False})
    exported = export(tmp_path / "all.json", drawn_campaign, answers_)
    done = succeed("calmqa", "collect-seeds", file, exported, "--to", to)
    assert "4 questions; submitted 7, not submitted 1, no_more 2, repeated 1" in done.stderr
    read = source.read_questions([to])
    assert [row.language for row in read] == ["wo", "wo", "de", "de"]
    assert [row.question for row in read] == ["Lu tax?", "Kan?", "Lu tax?", "Warum?"]
    assert {row.type for row in read} == {"specific"}
    assert json.loads(to.read_text(encoding="utf-8").splitlines()[0])["why"] == "Only here."


def test_only_who_passes_the_test_goes_on_writing(tmp_path):
    """A test is a campaign of few questions: others judge them, all three answers have to be yes."""
    test = seeds.drawing(["Wolof", "de"], 2, 2)
    exported = export(tmp_path / "all.json", test, written(test, [f"Question {n}?" for n in range(8)]))
    campaigns.write(tmp_path / "test.json", test)
    succeed("calmqa", "collect-seeds", tmp_path / "test.json", exported, "--to", tmp_path / "test.jsonl")
    file = tmp_path / "judging.json"
    succeed("annotate", "draw", tmp_path / "test.jsonl", "--form", "seed_review", "--to", file)
    drawn_campaign = campaigns.read(file)
    assert "writer" not in drawn_campaign.tasks[0].shown
    bad = {("li", 3): {"translated": "no"}, ("mo", 5): {"clear": "no"}, ("li", 7): {form.SUBMITTED: False}}
    yes = {form.SUBMITTED: True, "specific": "yes", "clear": "yes", "translated": "yes"}
    files = []
    for name, judged in (("li", drawn_campaign.tasks), ("mo", drawn_campaign.tasks[:6])):
        said = [answer_to(drawn_campaign, t, name, yes | bad.get((name, at), {})) for at, t in enumerate(judged)]
        files.append(export(tmp_path / f"{name}.json", drawn_campaign, said))
    words = (file, *files, "--to", tmp_path / "writers.csv")
    assert "1 of 4 writers passed: wo-1" in succeed("calmqa", "qualify", *words).stderr
    lines = tables.read_lines(tmp_path / "writers.csv")
    assert [(line["writer"], line["judged"], line["good"]) for line in lines] == [
        *(("wo-1", "2", "2"), ("wo-2", "2", "1"), ("de-1", "2", "1"), ("de-2", "1", "1"))
    ]
    assert "4 of 4" in succeed("calmqa", "qualify", *words, "--least", 0.5).stderr
    more = seeds.drawing(["Wolof", "de"], 2, 20, ["wo-1"])
    assert {task.assigned for task in more.tasks} == {("wo-1",)}
    line = line_of(InputInvalid, seeds.drawing, ["Wolof"], 1, 1, ["wo-2"])
    assert line == "writers: found wo-2; expected some of wo-1"


def test_what_cannot_be_collected_is_refused(tmp_path):

    assert "found Wolof, wo; expected some, each once" in line_of(InputInvalid, seeds.drawing, ["Wolof", "wo"], 1, 1)
    assert "found none; expected some, each once" in line_of(InputInvalid, seeds.drawing, [], 1, 1)
    assert "expected seed_questions" in line_of(InputInvalid, seeds.collected, [], form_campaigns.long_form())
    file = tmp_path / "campaign.json"
    drawn_campaign = seeds.drawing(["Wolof"], 1, 1)
    campaigns.write(file, drawn_campaign)
    exported = export(tmp_path / "a.json", drawn_campaign, written(drawn_campaign, [None]))
    words = (file, exported, "--to", tmp_path / "q.jsonl")
    assert "no submitted question" in refusal("calmqa", "collect-seeds", *words)
