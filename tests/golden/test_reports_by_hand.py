"""A report by hand is the workflow's: the same files with the same bytes, for every system that has a report."""

from pathlib import Path

import golden_stages
import pytest
from excam_commands import succeed

from excam.core.steps import steps_of

OVERLAY = """\
macaron: {folder: mini/first/macaron, modes: [text], proofreader: null, categories: {small: open-weight}}
cult_eval: {folder: mini/first/cult-eval, models: []}
rubric: {responses: mini/first/rubric/responses.jsonl, people: mini/first/rubric/ratings}
"""
ABSENT = {  # of an experiment alone
    "acre": "not written: printed: found no tables, no settings\n",
    "calmqa": (
        "not written: table: found no scores, no languages, no seed, no how\n"
        "not written: printed: found no questions, no surface, no scores, no languages, no seed, no settings\n"
    ),
}
REPORTS = {  # room -> the command, where results/ is
    "macaron": (
        "macaron report {results}/answers/small/text.parquet --instances {results}/instances.parquet"
        " --scenarios {results}/scenarios.parquet --category small=open-weight"
    ),
    "acre": (
        "acre report {results}/rows/written/0.parquet --labels mini/first/cult-eval/labels.jsonl"
        " --removed mini/first/cult-eval/removed.jsonl --expressions {results}/items.parquet --judged {results}/judged/equivalent/written/0.parquet"
        " --judged {results}/judged/small/written/0.parquet --measured {results}/metrics/written/0.parquet"
    ),
    "rubric": (
        "rubric analyse mini/first/rubric/ratings {results}/raters/small/ratings.parquet"
        " --responses mini/first/rubric/responses.jsonl"
    ),
    "calmqa": "calmqa report mini/calmqa-answers/ratings.csv",
}


@pytest.fixture(scope="module")
def workflow(tmp_path_factory):
    """The folder in which the workflow made its pages, with a model that answers by rule; and its jobs."""
    folder = tmp_path_factory.mktemp("workflow")
    golden_stages.checkout(folder)
    golden_stages._model(folder / "by-rule")
    (folder / "overlay.yaml").write_text(OVERLAY)
    targets = ("macaron", "cult_eval", "rubric", "results/calmqa/ranks.csv")
    jobs = golden_stages.planned(folder, "overlay.yaml", targets=targets)
    golden_stages.run(folder, jobs)
    return folder, jobs


@pytest.mark.parametrize("room", REPORTS)
def test_a_report_by_hand_is_the_workflows(room, workflow, tmp_path, monkeypatch):
    folder, jobs = workflow
    monkeypatch.chdir(folder)
    steps = steps_of(golden_stages.ROOT / "excam" / room / "report.py")
    absent = ABSENT.get(room, "")
    pages = [Path(path) for job in jobs if job["rule"] in steps for path in job["outputs"]]
    pages = [path for path in pages if f"not written: {path.stem}:" not in absent]
    command = REPORTS[room].format(results=pages[0].parent)
    done = succeed(*command.split(), "--to", tmp_path / "report")
    assert "".join(line for line in done.stderr.splitlines(keepends=True) if line.startswith("not written")) == absent
    by_hand = {path.name: path.read_bytes() for path in (tmp_path / "report").iterdir()}
    assert by_hand == {path.name: path.read_bytes() for path in pages}
