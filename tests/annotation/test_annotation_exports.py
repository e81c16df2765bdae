"""The folder of exported files: its owner assigns each file to an annotator; no file replaces another's answers."""

import json
import os

import campaigns
import polars as pl
import pytest
from campaigns import changed

from excam.annotation import exchange, exports
from excam.core.exceptions import InputInvalid
from scripts.annotation import collect_answers

CAMPAIGN = campaigns.small(4)
OLD = campaigns.answer(0, "ada")
NEW = changed(OLD, culture_related="no", saved="2026-04-02T00:00:00.000Z")
OTHER = campaigns.answer(1, "ada")


@pytest.fixture
def write_export(tmp_path):
    """Writes a file of answers into the folder; `merged` merges the folder."""

    def write(name, *answers):
        path = tmp_path / "exports" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(exchange.to_json(CAMPAIGN, answers), encoding="utf-8")
        return path

    return write


def merged(tmp_path):
    folder = tmp_path / "exports"
    return exports.merge_exports(
        CAMPAIGN, [exports.read(file, folder, CAMPAIGN) for file in exports.exported_files(str(folder))]
    )


def test_files_are_found_in_the_folder_and_in_its_sub_folders(write_export, tmp_path):
    wanted = [
        write_export("ada.json"),
        write_export("ada (1).json"),
        write_export("ada/one.csv"),
        write_export("$(touch x).json"),
    ]
    write_export("ada/deeper/no.json")
    write_export("ada/notes.txt")
    (tmp_path / "exports/folder.json").mkdir()
    os.mkfifo(tmp_path / "exports/pipe.json")
    assert exports.exported_files(str(tmp_path / "exports")) == sorted(wanted)
    assert exports.exported_files(str(tmp_path / "none")) == exports.exported_files(None) == []


def test_the_same_answer_in_two_files_counts_once(write_export, tmp_path):
    """An annotator who sends a file every day sends what is finished again, unchanged."""
    write_export("ada.json", OLD)
    write_export("ada (1).json", OLD, OTHER)
    write_export("grace.json", campaigns.answer(0, "grace"))
    merged_exports = merged(tmp_path)
    assert merged_exports == exports.Merged([OLD, campaigns.answer(0, "grace"), OTHER], repeated=1, superseded=0)


@pytest.mark.parametrize("names", [("ada.json", "mallory.json"), ("ada/one.json", "mallory.json")])
def test_a_file_without_a_place_replaces_no_answer_of_another(write_export, tmp_path, names):
    first, second = write_export(names[0], OLD), write_export(names[1], NEW)
    with pytest.raises(InputInvalid) as refused:
        merged(tmp_path)
    line = str(refused.value)
    assert line.startswith(f"{first} and {second}: two different answers of ada about task {OLD.task}; expected one; ")
    assert "put both into a sub-folder ada" in line
    assert "\n" not in line


def test_in_the_annotator_s_sub_folder_the_answer_saved_last_counts(write_export, tmp_path):
    write_export("ada/2.json", NEW)
    write_export("ada/1.json", OLD, OTHER)
    assert merged(tmp_path) == exports.Merged([NEW, OTHER], repeated=0, superseded=1)
    write_export("ada/3.json", NEW, OTHER)
    write_export("ada.json", OTHER)
    assert merged(tmp_path) == exports.Merged([NEW, OTHER], repeated=3, superseded=1)


@pytest.mark.parametrize("order", [("1.json", "2.json"), ("2.json", "1.json")])
def test_of_answers_saved_at_once_the_one_that_got_further_counts(write_export, tmp_path, order):
    shorter = changed(OLD, comment_2="more", similarity_1="", similarity_2="")
    write_export(f"ada/{order[0]}", shorter)
    write_export(f"ada/{order[1]}", OLD)
    assert merged(tmp_path).answers == [OLD]


def test_a_file_holds_the_answers_of_one_annotator(write_export, tmp_path):
    path = write_export("bob.json", campaigns.answer(0, "bob"), campaigns.answer(0, "eve"))
    with pytest.raises(InputInvalid, match="answers of bob, eve; expected those of one annotator") as refused:
        merged(tmp_path)
    assert str(refused.value).startswith(f"{path}: ")


def test_a_sub_folder_holds_the_answers_of_its_annotator(write_export, tmp_path):
    path = write_export("ada/mallory.json", campaigns.answer(0, "mallory"))
    with pytest.raises(InputInvalid) as refused:
        merged(tmp_path)
    assert str(refused.value).startswith(f"{path}: answers of mallory; expected those of ada, whose name the folder")
    assert f"move the file to {tmp_path / 'exports/mallory'}" in str(refused.value)


def collected(tmp_path):
    """The table and the counts of the folder, by the script of the workflow."""
    files = {"campaign": tmp_path / "campaign.json", "folder": tmp_path / "exports"}
    files |= {"answers": tmp_path / "answers.parquet", "counts": tmp_path / "counts.json"}
    files["campaign"].write_text(json.dumps(CAMPAIGN.content), encoding="utf-8")
    words = [word for name, path in files.items() for word in (f"--{name}", str(path))]
    collect_answers([*words, "--exports", *map(str, exports.exported_files(str(files["folder"])))])
    return pl.read_parquet(files["answers"]), json.loads(files["counts"].read_text())


def test_what_was_replaced_is_counted_and_said(write_export, tmp_path, capsys):
    write_export("ada/1.json", OLD, OTHER)
    write_export("ada/2.json", NEW, OTHER)
    write_export("grace.json", campaigns.answer(0, "grace"))
    table, counts = collected(tmp_path)
    assert sorted(table["saved"]) == sorted([NEW.saved, OTHER.saved, OLD.saved])
    assert {name: counts[name] for name in ("files", "repeated", "superseded", "answers")} == {
        **{"files": 3, "repeated": 1, "superseded": 1, "answers": 3}
    }
    said = "3 files of 2 annotators: 3 answers; 1 given again, 1 replaced by later ones\n"
    assert capsys.readouterr().err == said


def test_nothing_is_written_where_files_contradict_each_other(write_export, tmp_path):
    write_export("ada.json", OLD)
    write_export("mallory.json", NEW)
    with pytest.raises(InputInvalid):
        collected(tmp_path)
    assert not (tmp_path / "answers.parquet").exists()
