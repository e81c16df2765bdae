"""Lines of finished jobs on a terminal, and the times of earlier runs that they estimate from."""

import logging
from types import SimpleNamespace

import pytest

from excam.lineage import progress
from excam.lineage.progress import FinishedJobs, job_seconds


@pytest.fixture
def logger(tmp_path):
    terminal = logging.FileHandler(tmp_path / "terminal")
    vars(terminal)["is_tty"] = True
    logger = logging.Logger("workflow")
    for handler in (terminal, logging.FileHandler(tmp_path / "log")):
        logger.addHandler(handler)
    return logger


def log(logger, event, text, **values):
    logger.info(text, extra={"event": SimpleNamespace(name=event), **values})


def test_a_finished_job_is_a_line_and_the_log_keeps_all(logger, tmp_path, capsys):
    progress.show(logger, {"judge": 2}, tmp_path / "benchmarks")
    logger.info("Select jobs to execute...")
    log(logger, "JOB_INFO", "rule judge", jobid=4, rule_name="judge", output=["a.csv", "a.pdf"])
    log(logger, "JOB_FINISHED", "Finished", job_id=4)
    log(logger, "JOB_ERROR", "Error in rule judge")
    assert capsys.readouterr().err == "  0:00 1 of 2: judge: a.csv and 1 more\n"
    assert (tmp_path / "terminal").read_text() == "Error in rule judge\n"
    assert (tmp_path / "log").read_text().count("\n") == 4


def test_without_a_terminal_nothing_changes(logger, tmp_path):
    del vars(logger.handlers[0])["is_tty"]
    progress.show(logger, {"judge": 2}, tmp_path)
    assert len(logger.handlers) == 2
    assert not logger.handlers[0].filters


@pytest.mark.parametrize(
    ("judged", "passed", "left"),
    [
        ([40.0, 50.0], 40.0, "; about 2 min left"),
        ([40.0, 50.0], 100.0, "; less than a minute left"),
        ([40.0, 50.0], 1.0, ""),
        ([], 40.0, ""),
    ],
    ids=["half-way", "at the end", "at the start", "a rule never ran"],
)
def test_what_is_left_follows_the_times_of_earlier_runs(judged, passed, left):
    earlier = {"judge": [(wall, 1.0) for wall in judged], "floors": [(10.0, 1.0)]}
    jobs = FinishedJobs({"judge": 2, "floors": 1}, {rule: times for rule, times in earlier.items() if times})
    jobs.passed = passed
    assert jobs.line("judge", ["a"], 90.0) == f"  1:30 0 of 3: judge: a{left}"


def test_seconds_are_those_of_the_jobs_of_each_rule(tmp_path):
    for name, cpu in (("judge/a.tsv", "2"), ("judge/b.tsv", "NA"), ("floors.tsv", "1")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"s\tcpu_time\n3.5\t{cpu}\n")
    assert job_seconds(tmp_path) == {"floors": [(3.5, 1.0)], "judge": [(3.5, 2.0), (3.5, 0.0)]}
