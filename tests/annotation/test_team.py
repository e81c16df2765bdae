"""Who gets which task: by language, at most one co-author, as the paper's four annotators share a hundred."""

from collections import Counter

import campaigns
import pytest
from annotation_server_process import command, written
from one_line_errors import line_of

from excam.annotation import campaign, team
from excam.core.exceptions import InputInvalid

HEAD = "annotator,languages,coauthor\n"
PAPER = (
    "first,English,yes\nsecond,German;Japanese;Chinese,yes\nstudent,English; German ;Japanese;Chinese,no\n"
    "freelancer,English;German;Japanese;Chinese,no\n"
)
SIZES = {"English": (80, 3), "German": (8, 2), "Japanese": (6, 2), "Chinese": (6, 2)}  # tasks, people of each


def hundred():
    wanted = [(name, people) for name, (rows, people) in SIZES.items() for _ in range(rows)]
    tasks = [campaigns.task(n, language=name, annotators=people) for n, (name, people) in enumerate(wanted)]
    return campaign.campaign("A hundred", campaigns.SOFT, tasks)


def test_a_hundred_tasks_for_the_four_of_the_paper(tmp_path):
    (tmp_path / "team.csv").write_text(HEAD + PAPER)
    drawn = written(tmp_path / "c.json", hundred())
    done = command("assign", drawn, tmp_path / "team.csv", "--to", tmp_path / "to.json")
    shared = campaign.read(tmp_path / "to.json")
    for task in shared.tasks:
        assert len(task.assigned) == SIZES[task.language][1]
        assert len({"first", "second"} & {*task.assigned}) <= 1
    assert {task.language for task in shared.tasks_of("second")} == SIZES.keys() - {"English"}
    load = Counter(name for task in shared.tasks for name in task.assigned)
    assert load["first"] == 80
    assert abs(load["student"] - load["freelancer"]) <= 1
    assert all(f"{name} {count}" in done.stderr for name, count in load.items())
    members = team.read(tmp_path / "team.csv")
    assert team.assign(hundred(), members, 0)[0] == shared
    assert team.assign(hundred(), members, 1)[0] != shared
    assert "assigned to" in line_of(InputInvalid, team.assign, shared, members, 0)
    line = line_of(InputInvalid, team.assign, hundred(), members[:2], 0)
    assert "are wanted, 1 of the team can be, with one co-author at most" in line


@pytest.mark.parametrize("lines", ["", "a b,English,no\n", "ada,,no\n", "ada,English,maybe\n", "ada,German,no\n" * 2])
def test_a_team_that_is_none_is_one_line(tmp_path, lines):
    (tmp_path / "team.csv").write_text(HEAD + lines)
    assert "team.csv" in line_of(InputInvalid, team.read, tmp_path / "team.csv")
