"""What single targets plan, and what is said of one that there is not."""

from checkout import ROOT, Run


def test_preflight_plans_nothing_else():
    assert Run(ROOT).planned("--", "preflight").keys() <= {"write_needs", "preflight"}


def test_a_cell_that_there_is_not_is_said_in_one_line():
    done = Run(ROOT)("-n", "--", "results/evaluation/smollm2-135m/all/repport/blend/test.json", experiment=None)
    assert done.returncode == 1
    assert "/test.json: judge: found repport; expected count, report, words" in done.stdout + done.stderr
