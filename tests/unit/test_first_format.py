"""Campaigns, stores and answers from before forms were data: read as they are, exported to the letter as then.

The files in tests/fixtures/first-format were written by the release before forms: a store with this campaign, in which
one answer was replaced and one refused, and its export as CSV and as JSON.
"""

import csv
import gzip
import io
import json
from pathlib import Path

import pytest
from annotation_server_process import command
from campaigns import SOFT, SOURCES, changed

from excam.annotation import campaign, exchange, page
from excam.annotation.store import Conflict, Store
from excam.core.exceptions import InputInvalid

FIXTURES = Path(__file__).parents[1] / "fixtures/first-format"
CSV, JSON = ((FIXTURES / f"answers.{kind}").read_bytes() for kind in ("csv", "json"))
CODES = [f"{number:08x}" for number in range(6)]


def task(number, language, culture, annotators, severity, instruction, texts, second="The food is wrong."):
    """A task as the first format has it."""
    before, right, wrong, behind = texts
    return {
        "id": f"{number:016x}",
        "row": f"calmqa/{number}/0/wrong",
        "dataset": "calmqa",
        "language": language,
        "culture": culture,
        "annotators": annotators,
        "original_instruction": [[instruction, False]],
        "modified_instruction": [[instruction, False]],
        "original_output": [[before, False], [right, True], [behind, False]],
        "modified_output": [[before, False], [wrong, True], [behind, False]],
        "explanation": f"{wrong} is not what belongs there.",
        "severity": severity,
        "error_type": "incorrect information",
        "comparisons": [
            {"code": CODES[2 * number], "text": f"Not {wrong}."},
            {"code": CODES[2 * number + 1], "text": second},
        ],
    }


KALE = ("It is made with ", "kale", "seaweed", " and potatoes.")
KRAPFEN = ("Man isst ", "Krapfen", "Lebkuchen", " mit Marmelade.")
MAME = ("家で", "豆をまきます", "餅をつきます", "。")
FILE = {
    "format": "excam-campaign/1",
    "id": "df724f47b9527039",
    "title": "Old campaign",
    "tasks": [
        task(0, "English", "Portugal", 3, "major", "What goes into caldo verde?", KALE),
        task(1, "German", "Austria", 2, "minor", "Was isst man zum Fasching?", KRAPFEN),
        task(2, "Japanese", "Japan", 2, "major", "節分には何をしますか。", MAME, second=None),
    ],
    "sources": dict(zip(CODES, (*SOURCES, *SOURCES[::-1], *SOURCES), strict=True)),
}


def read(raw=FILE):
    return campaign.parse_campaign(json.dumps(raw), "campaign.json")


@pytest.fixture
def path(tmp_path):
    """A copy of the store."""
    (tmp_path / "answers.store").write_bytes(gzip.decompress((FIXTURES / "answers.store.gz").read_bytes()))
    return tmp_path / "answers.store"


# --- campaigns


def test_a_campaign_keeps_its_id_and_its_file_and_asks_what_it_asked():
    found = read()
    assert found.id == FILE["id"]
    assert found.content == FILE
    assert found.form == SOFT
    assert [task.hidden["source_1"] for task in found.tasks] == [SOURCES[0], SOURCES[1], SOURCES[0]]
    assert [task.hidden["source_2"] for task in found.tasks] == [SOURCES[1], SOURCES[0], SOURCES[1]]
    first, last = found.tasks[0], found.tasks[2]
    assert (first.row, first.language, first.culture, first.annotators) == (
        "calmqa/0/0/wrong",
        "English",
        "Portugal",
        3,
    )
    assert [piece for piece in first.shown["modified_output"] if piece[1]] == [["seaweed", True]]
    assert (first.shown["comparison_1"], first.shown["comparison_2"]) == ("Not seaweed.", "The food is wrong.")
    assert last.shown["comparison_2"] is None
    assert not {"comparisons", "row", "annotators"} & set(first.shown)


def test_its_page_tells_no_system_and_no_code():
    found = read()
    data = json.dumps(page._page_data(found, found.tasks))
    assert not [name for name in (*SOURCES, "alpha", "beta", "calmqa/0") if name in data]
    assert not [code for code in CODES if f'"{code}"' in data]
    assert "seaweed is not what belongs there." in data


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda raw: raw.update(title="Mine"), "campaign.json: changed after it was drawn"),
        (lambda raw: raw["tasks"][0].update(severity="minor"), "campaign.json: changed after it was drawn"),
        (lambda raw: raw["tasks"][0]["comparisons"].pop(), "campaign.json: changed after it was drawn"),
        (lambda raw: raw["sources"].update({CODES[0]: SOURCES[1]}), "campaign.json: changed after it was drawn"),
        (lambda raw: raw["sources"].popitem(), "campaign.json: changed after it was drawn"),
        (lambda raw: raw.pop("sources"), "campaign.json: no campaign"),
        (lambda raw: raw.update(tasks=7), "campaign.json: "),
        (lambda raw: raw.update(format="excam-campaign/2"), "campaign.json: no campaign"),
    ],
)
def test_a_campaign_that_was_changed_is_refused(change, said):
    raw = json.loads(json.dumps(FILE))
    change(raw)
    with pytest.raises(InputInvalid) as caught:
        read(raw)
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


# --- answers


def test_files_of_answers_are_read_and_written_again_to_the_letter():
    found = read()
    given = exchange.read(JSON, found)
    assert exchange.read(CSV, found) == given
    assert [(answer.annotator, answer["culture_related"], answer["skipped"]) for answer in given] == [
        ("ada", "yes", False),
        ("grace", "no", False),
        ("ada", "yes", False),
        ("ada", "", True),
        ("grace", "yes", False),
    ]
    assert given[0]["comment_2"] == "'quoted', \"and\"\r\nbroken"
    assert exchange.to_json(found, given).encode() == JSON
    assert exchange.to_csv(found, given, found.form.owner).encode() == CSV
    owners = csv.reader(io.StringIO(CSV.decode("utf-8-sig"), newline=""))
    annotators = csv.reader(io.StringIO(exchange.to_csv(found, given).removeprefix("\ufeff"), newline=""))
    assert list(annotators) == [line[:-2] for line in owners]


# --- stores


def test_a_store_opens_and_its_export_is_that_of_then(path, tmp_path):
    for kind, content in (("csv", CSV), ("json", JSON)):
        done = command("export", path, "--to", tmp_path / f"now.{kind}")
        assert done.stderr == f"{tmp_path}/now.{kind}: 5 answers, 4 finished, 1 not\n"
        assert (tmp_path / f"now.{kind}").read_bytes() == content
        assert command("import", path, tmp_path / f"now.{kind}").stdout.endswith("0 new, 0 newer, 0 older, 5 same\n")


def test_a_store_has_its_history_and_goes_on(path):
    with Store(path) as store:
        assert store.campaign == read()
        assert store.annotators() == ["ada", "grace"]
        first = f"{0:016x}"
        kinds = [[(event.revision, event.kind) for event in store.events(name, first)] for name in ("ada", "grace")]
        assert kinds == [[(1, "saved"), (None, "conflict")], [(1, "saved"), (2, "imported")]]
        (mine,) = [saved for saved in store.latest("grace") if saved.answer.task == first]
        later = changed(mine.answer, culture_related="yes", saved="2026-05-01T00:00:00.000Z")
        assert isinstance(store.save(1, later), Conflict)
        assert store.save(2, mine.answer) == mine  # a reply was lost
        assert store.save(2, later).revision == 3


def test_a_store_takes_annotators_of_its_campaign_s_file(path, tmp_path):
    (tmp_path / "campaign.json").write_text(json.dumps(FILE), encoding="utf-8")
    assert command("create", path, tmp_path / "campaign.json", "eve").exit_code == 0
    with Store(path) as store:
        assert store.annotators() == ["ada", "eve", "grace"]
