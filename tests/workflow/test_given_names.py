"""Names that people gave their files: no shell runs them, the right files are read, and what cannot pass is said."""

import json

import polars as pl
import pytest
import yaml
from checkout import Run, copy_checkout
from planner import plan

from excam.annotation import campaign, exchange, form
from excam.annotation.answers import Answer

ANSWERS = "results/annotation/answers.parquet"
FORM = form.load("soft_errors")
CARRIED = (
    *("plain", "ada (1)", " before and after ", "it's", 'a "quoted" one', "back\\slash", "naïve 名前 שם", "\u202f"),
    *("$(touch RAN)", "`touch RAN`", "a; touch RAN #", "a && touch RAN", "a | tee RAN", "> RAN", "$HOME", "~", "!!"),
    *("*", "?", "[a-z]", "-x", "--answers", "%(a)s", "a=b", "a,b", "'; touch RAN; '", "'\"'; touch RAN; '\"'"),
)
REFUSED = ("{dataset}", "a}b", "{", "line\nbreak", "tab\t", "\x1b[2Jred", "\x9b1m", "\u202egnj", "\u2028", "\udcff")
pytestmark = pytest.mark.nightly  # every day, `test_conventions` sees that commands quote each value


@pytest.fixture(scope="module")
def campaign_run(tmp_path_factory):
    """A checkout with a campaign of one task, and nothing else done."""
    run = Run(tmp_path_factory.mktemp("given") / "checkout")
    copy_checkout(run.folder)
    text = (("What is eaten?", False),)
    shown = dict.fromkeys(("original_instruction", "modified_instruction", "original_output", "modified_output"), text)
    shown |= {"dataset": "calmqa", "explanation": "Not so.", "severity": "minor", "error_type": "incorrect information"}
    shown |= dict.fromkeys(("comparison_1", "comparison_2"), "So.")
    hidden = dict.fromkeys(FORM.owner, "a/all/report")
    task = campaign.Task("0" * 16, "calmqa/0/0/wrong", "English", "Portugal", 3, shown, hidden)
    made = campaign.campaign("Names", FORM, [task])
    (run.folder / "results/annotation").mkdir(parents=True)
    (run.folder / "results/annotation/campaign.json").write_text(json.dumps(made.content))
    run.campaign = made
    return run


def overlaid(run, name, **sections):
    """Words of a command with other values laid over the experiment."""
    (run.folder / f"{name}.yaml").write_text(yaml.safe_dump(sections))
    return ("--configfile", "tests/experiment.yaml", f"{name}.yaml")


def export(run, path, annotator, comment=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    values = {**FORM.empty(), "skipped": True, "comment_1": comment}
    answer = Answer("0" * 16, annotator, values, saved="2026-04-01T12:00:00.000Z")
    write = exchange.to_csv if path.suffix == ".csv" else exchange.to_json
    path.write_text(write(run.campaign, [answer]), encoding="utf-8", newline="")


def test_exported_files_may_have_any_name_that_can_be_carried(campaign_run):
    """In the folder, and in a sub-folder that is named for its annotator; nothing but the answers is made."""
    for number, name in enumerate(CARRIED):
        kind = ("json", "csv")[number % 2]
        export(campaign_run, campaign_run.folder / f"exports/{name}.{kind}", f"n{number}", name)
        export(campaign_run, campaign_run.folder / f"exports/s{number}/{name}.{kind}", f"s{number}", name)
    words = (*overlaid(campaign_run, "any-name", annotation={"people": "exports"}), "--", ANSWERS)
    before = {path.name for path in campaign_run.folder.iterdir()}
    done = campaign_run(*words, experiment=None)
    assert done.returncode == 0, done.text[-3000:]
    assert f"{2 * len(CARRIED)} files of {2 * len(CARRIED)} annotators" in done.text
    answers = pl.read_parquet(campaign_run.folder / ANSWERS)
    assert sorted(answers["comment_1"]) == sorted([*CARRIED, *CARRIED])
    assert {path.name for path in campaign_run.folder.iterdir()} - before <= {"logs", "benchmarks", ".snakemake"}
    assert not list(campaign_run.folder.rglob("RAN"))
    assert campaign_run.planned(*words, experiment=None) == {}, "Snakemake's records hold the names as they are"


def test_a_name_that_cannot_be_carried_is_refused_in_one_line_before_anything_runs(campaign_run, tmp_path):
    requests, expected = [], []
    for number, name in enumerate(REFUSED):
        folder = f"refused-{number}"
        export(campaign_run, campaign_run.folder / folder / f"{name}.json", "ada")
        words = overlaid(campaign_run, folder, annotation={"people": folder})
        requests.append((campaign_run.folder, ["--profile", "local", *words, "--", ANSWERS]))
        expected.append(f"annotation.people: {f'{folder}/{name}.json'!r}: has ")
    for dry_run, said in zip(plan(requests, tmp_path, campaign_run.environment), expected, strict=True):
        assert dry_run.code == 1
        (line,) = [line for line in dry_run.text.split("\n") if line.startswith("annotation.people")]
        assert line.startswith(said)
        assert line.endswith("; rename it")
        assert line.isprintable()
        assert "Traceback" not in dry_run.text
