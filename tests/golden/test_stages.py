"""A stage whose output changed has a new version: its outputs on small inputs are the recorded ones."""

import golden_stages
import pytest

from excam.core.steps import read_steps

JOB = {"versions": {"score": "2", "judges.count": "1"}, "command": "c", "inputs": "i", "outputs": "o"}


@pytest.fixture(scope="session")
def now(tmp_path_factory):
    return golden_stages.made(tmp_path_factory.mktemp("stages"))


def test_no_output_changed_without_a_new_version(now):
    assert golden_stages.unversioned(golden_stages.recorded(), now) == []


def test_the_record_is_that_of_the_code(now):
    before = golden_stages.recorded()
    changed = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    assert not changed, f"{len(changed)} jobs, e.g. {changed[:3]}; run: python tests/golden/record_stages.py"


def test_every_rule_of_the_experiment_is_recorded(now):
    """But what looks at a machine, needs a hub or weights of others, trains a reader, or compares recipes."""
    steps = read_steps(golden_stages.ROOT).keys()
    assert steps - {name.split()[0] for name in now} == {
        *("write_needs", "preflight", "table_recipes", "fetch_tokenizer", "encode_answers"),
        *("reader_rows", "train_reader", "table_reader"),
    }


def test_another_output_of_the_same_version_is_named():
    messages = golden_stages.unversioned({"score a.parquet": JOB}, {"score a.parquet": {**JOB, "outputs": "p"}})
    assert messages == [
        "score a.parquet: another output from the same input; expected the recorded one, "
        "or a new version of judges.count or score"
    ]


@pytest.mark.parametrize(
    "other", [{}, {"outputs": "p", "versions": {"score": "3"}}, {"outputs": "p", "inputs": "j"}, {"command": "d"}]
)
def test_what_is_no_forgotten_version(other):
    assert golden_stages.unversioned({"a": JOB}, {"a": {**JOB, **other}, "new": JOB}) == []
