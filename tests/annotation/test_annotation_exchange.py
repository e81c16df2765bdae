"""Exported answers: both files hold every answer, give the same bytes again, and refuse what is not theirs."""

import csv
import io
import json
import re
from datetime import UTC, datetime, timedelta

import campaigns
import pytest
from campaigns import SOFT, STEPS, WRITERS, changed, changed_task
from hypothesis import given
from hypothesis import strategies as st
from one_line_errors import line_of

from excam.annotation import answers, campaign, exchange
from excam.core.exceptions import InputInvalid

CAMPAIGN = campaigns.small(5)
OTHER = campaigns.small(4)
LONGER = ("\r\n", "''", "\uff1d", "\u2028", "\x85", "\x1f", "\x7f", "שלום", "\u202e", "👩‍👩‍👧", "e\u0301")
SIGNS = st.sampled_from([*"=+-@\t',\"\r\n; a", *LONGER])
ANY = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
TEXTS = st.lists(SIGNS, max_size=6).map("".join) | st.text(ANY, max_size=30)


@given(st.lists(st.tuples(TEXTS, TEXTS, st.sampled_from(["Bo", "a.b", "a-b", "b", "0"])), max_size=5))
def test_both_files_give_every_answer_and_the_same_bytes_again(rows):
    numbered = enumerate(rows)
    made = [campaigns.answer(n, name, comment_1=first, comment_2=other) for n, (first, other, name) in numbered]
    for write in WRITERS:
        text = write(CAMPAIGN, made)
        kept = exchange.read(text.encode(), CAMPAIGN)
        assert kept == made
        assert write(CAMPAIGN, kept[::-1]) == text


def cells(text):
    """The cells of a file for a spreadsheet that takes no comma for a separator, and quotes for it only in front."""
    return [piece.lstrip('"') for piece in re.split("[;\t\r\n]", text)]


@pytest.mark.parametrize("formula", campaigns.FORMULAS)
def test_no_text_of_others_is_a_formula(formula):
    """Names of datasets, languages and systems are others' texts too; all come back as they were."""
    names = {"dataset": formula, "language": formula, "hidden": dict.fromkeys(SOFT.owner, formula)}
    hostile_campaign = campaign.campaign("Hostile", SOFT, [changed_task(task, **names) for task in CAMPAIGN.tasks])
    made = [campaigns.answer(number, "b", comment_1=formula, comment_2=f"x{formula}") for number in range(5)]
    text = exchange.to_csv(hostile_campaign, made, SOFT.owner)
    assert exchange.read(text.encode(), hostile_campaign) == made
    for line in csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True):
        assert not [value for value in line.values() if value[:1] in tuple("=+-@\t\r\n\uff1d\uff20")]
    assert not [cell for cell in cells(text) if cell[:1] in tuple("=+-@\uff1d\uff0b\uff0d\uff20")]


def test_the_files_are_written_to_the_letter():
    """The words that the page's script must write too."""
    made = [
        campaigns.answer(1, "b", comment_1='=1+1, "x"\r\ny', comment_2="'tis", borderline=True),
        campaigns.blank("0" * 16, "Ann", skipped=True, saved=campaigns.FULL["saved"]),
    ]
    skipped = (
        f"{CAMPAIGN.id},calmqa,English,0000000000000000,Ann,,false,true,,,false,false,,,,,,0,2026-04-01T12:00:00.000Z"
    )
    full = (
        f'{CAMPAIGN.id},calmqa,German,0000000000000001,b,yes,true,false,valid,"\'=1+1, ""x""\r\ny",true,true,'
        "valid,no,''tis,4,no_error,30,2026-04-01T12:00:00.000Z"
    )
    head = (
        "campaign,dataset,language,task,annotator,culture_related,borderline,skipped,error_valid,comment_1,severity_ok,"
        "type_ok,explanation_valid,changed_mind,comment_2,similarity_1,similarity_2,seconds,saved"
    )
    assert exchange.to_csv(CAMPAIGN, made) == f"\ufeff{head}\r\n{skipped}\r\n{full}\r\n"
    owners = exchange.to_csv(CAMPAIGN, made, SOFT.owner).split("\r\n")
    assert owners[0] == f"\ufeff{head},source_1,source_2"
    assert owners[1] == f"{skipped},{','.join(campaigns.SOURCES)}"
    text = exchange.to_json(CAMPAIGN, made)
    assert text.startswith(
        f'{{\n "format": "excam-answers/1",\n "campaign": "{CAMPAIGN.id}",\n "answers": [\n  {{\n   "task": '
    )
    assert '   "comment_1": "=1+1, \\"x\\"\\r\\ny",\n' in text
    assert text.endswith('   "saved": "2026-04-01T12:00:00.000Z"\n  }\n ]\n}\n')
    assert exchange.to_json(CAMPAIGN, []).endswith(' "answers": []\n}\n')
    assert "alpha/all/report" not in text + exchange.to_csv(CAMPAIGN, made)


def test_what_a_person_typed_into_a_file_is_kept_as_it_is():
    text = exchange.to_csv(CAMPAIGN, [campaigns.answer(0, "b", comment_1="MARK")])
    for typed in ("=1", "'quoted'", "''", "'", "a'"):
        (answer,) = exchange.read(text.replace("MARK", typed).encode(), CAMPAIGN)
        assert answer["comment_1"] == (typed[1:] if typed == "''" else typed)


def test_a_file_is_read_from_its_path_too(tmp_path):
    made = [campaigns.answer(0, "b")]
    path = tmp_path / "one.csv"
    path.write_bytes(exchange.to_csv(CAMPAIGN, made).encode())
    assert exchange.read(path, CAMPAIGN) == made
    path.write_bytes(exchange.to_csv(CAMPAIGN, made).removeprefix("\ufeff").replace("\r\n", "\n").encode())
    assert exchange.read(path, CAMPAIGN) == made
    assert "none.json: No such file" in line_of(InputInvalid, exchange.read, tmp_path / "none.json", CAMPAIGN)


ONE = [campaigns.answer(0, "b")]
JSON, CSV = exchange.to_json(CAMPAIGN, ONE), exchange.to_csv(CAMPAIGN, ONE)
LINE = CSV.split("\r\n")[1]
RAW = json.loads(JSON)


def json_with(**changes):
    return json.dumps({**RAW, **changes})


BROKEN = {
    "empty": ("", "the column campaign is there 0 times; expected once"),
    "partial JSON": (JSON[:-20], "not complete JSON"),
    "deep JSON": ('{"answers":' + "[" * 100_000, "not complete JSON"),
    "another form": (json_with(format="excam-answers/2"), "not in the form excam-answers/1"),
    "a field more": (json_with(more=1), "not in the form"),
    "answers that are none": (json_with(answers={}), "not a list of objects"),
    "JSON of another campaign": (json_with(campaign=OTHER.id), f"campaign '{OTHER.id}'; expected {CAMPAIGN.id}"),
    "CSV of another campaign": (CSV.replace(CAMPAIGN.id, OTHER.id), f"expected {CAMPAIGN.id}"),
    "unknown task": (CSV.replace("0" * 16, "f" * 16), "task ffffffffffffffff is not in campaign"),
    "twice": (CSV + LINE + "\r\n", "answered twice by b"),
    "a column missing": (CSV.replace(",saved\r\n", "\r\n").replace(",2026-04-01T12:00:00.000Z", ""), "column saved is"),
    "a column twice": (CSV.replace(",saved\r\n", ",saved,saved\r\n"), "the column saved is there 2 times"),
    "a field missing": (JSON.replace('   "borderline": false,\n', ""), "borderline is missing"),
    "a field too many": (CSV[:-2] + ",more\r\n", "line 2: 20 fields; expected 19"),
    "a partial line": (CSV[: CSV.rindex(",")] + "\r\n", "line 2: 18 fields; expected 19"),
    "a quote open": (CSV.replace(",30,", ',"30,'), "not complete CSV"),
    "another language": (CSV.replace("English", "German"), "language of task 0000000000000000 is 'German'"),
    "a spreadsheet's booleans": (CSV.replace("true", "TRUE"), "severity_ok is a str"),
    "a spreadsheet's number": (CSV.replace(",30,", ",30.0,"), "seconds is a float; expected int"),
    "a day that is none": (CSV.replace("2026-04-01T", "2026-02-30T"), "expected a time that is on the calendar"),
    "a tick before its step": (
        json_with(answers=[RAW["answers"][0] | dict.fromkeys((*STEPS[0][1:], *STEPS[1], *STEPS[2]), "")]),
        "before the step",
    ),
    "a step before another": (JSON.replace('"error_valid": "valid"', '"error_valid": ""'), "before the step"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_of_another_program_is_refused_in_one_line(name):
    text, said = BROKEN[name]
    with pytest.raises(InputInvalid) as caught:
        exchange.read(text.encode(), CAMPAIGN)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_an_answer_of_the_day_after_tomorrow_is_refused(tmp_path):
    """A clock may be some hours wrong; an answer from the far future would replace every later one."""
    made = []
    for number, hours in enumerate((-30, 23, 25)):
        moment = datetime.now(UTC) + timedelta(hours=hours)
        made.append(campaigns.answer(number, "b", saved=answers.utc_text(moment)))
    path = tmp_path / "b.json"
    path.write_text(exchange.to_json(CAMPAIGN, made[:2]), encoding="utf-8")
    assert exchange.read(path, CAMPAIGN) == made[:2]
    for text in (exchange.to_json(CAMPAIGN, made), exchange.to_csv(CAMPAIGN, made)):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputInvalid) as caught:
            exchange.read(path, CAMPAIGN)
        said = f"{path}: 1 of 3 answers are saved more than a day from now, as task {made[2].task} at {made[2].saved};"
        assert str(caught.value).startswith(said)


def test_of_answers_in_several_files_the_one_saved_later_counts(tmp_path, capsys):
    """People are counted once, also where they send a file every day, with what was finished before."""
    own = [campaigns.answer(number, name) for number, name in ((0, "b"), (1, "b"), (0, "c"))]
    later = campaigns.changed(own[0], culture_related="no", saved="2026-04-02T00:00:00.000Z")
    parts = {"b.json": own[:2], "c.json": own[2:], "d/e.csv": [later, own[1]]}
    (tmp_path / "d").mkdir()
    for name, part in parts.items():
        text = (exchange.to_json if name.endswith("json") else exchange.to_csv)(CAMPAIGN, part)
        (tmp_path / name).write_bytes(text.encode())
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "notes.txt").touch()
    files = exchange.exported_files(str(tmp_path))
    assert files == [tmp_path / name for name in parts]
    for order in (files, files[::-1]):
        assert exchange.read_all(order, CAMPAIGN) == exchange.Merged([later, own[2], own[1]], repeated=1, superseded=1)
        assert "1 replaced by what the same annotator saved later" in capsys.readouterr().err
    assert exchange.exported_files(str(tmp_path / "none")) == exchange.exported_files(None) == []


def test_bytes_that_are_no_text_and_too_many_of_them_are_refused(tmp_path, monkeypatch):
    assert "not UTF-8 at byte 1" in line_of(InputInvalid, exchange.read, b"a\xff", CAMPAIGN)
    monkeypatch.setattr(exchange, "LARGEST", 2**20)
    (tmp_path / "large.csv").write_bytes(b"a" * (2**20 + 1))
    for given_ in (tmp_path / "large.csv", b"a" * (2**20 + 1)):
        assert "more than 1 MB" in line_of(InputInvalid, exchange.read, given_, CAMPAIGN)


def test_columns_of_the_owner_are_not_read():
    for owner in (exchange.owner_columns(CAMPAIGN), SOFT.owner):
        assert exchange.read(exchange.to_csv(CAMPAIGN, ONE, owner).encode(), CAMPAIGN) == ONE


def test_writing_refuses_what_reading_would():
    for write in (exchange.to_json, exchange.to_csv):
        assert "twice" in line_of(InputInvalid, write, CAMPAIGN, ONE * 2)
        assert "is not in campaign" in line_of(InputInvalid, write, CAMPAIGN, [changed(ONE[0], task="f" * 16)])
    assert ONE[0].row()["task"] == "0" * 16
