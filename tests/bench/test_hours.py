"""The hours on paper: arithmetic worked out by hand, and what must not move them."""

from collections import Counter

import pytest
import yaml

from bench import dag
from bench.hours import Estimate, assumptions, loads
from bench.processes import ROOT, Job
from excam import config

RAW = yaml.safe_load((ROOT / "config.yaml").read_text())
RAW["training"]["layout"] = "single-padded"  # a row attends to itself
NAMES = list(RAW["datasets"])


def job(rule, gpus=1, dataset="", **wildcards):
    return Job(rule, dataset, (), (), (), wildcards, gpus)


def estimate(*changed):
    return Estimate(config.load(RAW), *assumptions(changed))


def asked(*datasets):
    return [job("judge", 1, d, model="gemma3-27b", trained_on="all", judge="report", split="test") for d in datasets]


def test_training_by_hand():
    """One adapter on everything: two passes and one again, no gradient of the weights, the adapter's and attention."""
    rows = {name: min(5000, {"culturalbench": 4908, "calmqa": 2070}.get(name, 5000)) for name in NAMES}
    lengths = {"blend": 131.3, "culturalbench": 156.1, "globalopinionqa": 170.4, "normad": 198.5, "calmqa": 914.6}
    tokens = sum(0.7 * rows[name] * (lengths | {"epic": 223.7}).get(name, 176.0) for name in NAMES)
    flop = tokens * (6 * 14.0e9 + 8 * 0.446e9 + 16 * 204800 * 2 * tokens / (0.7 * sum(rows.values())))
    saved = 0.7 * sum(rows.values()) / 8 / 500 * 12 * 0.446e9 / 2e9
    cost = estimate("start=0", "mfu_of_steps=.33").training(
        "phi3-medium-4k", [job("train_adapter", model="phi3-medium-4k", trained_on="all")]
    )
    assert cost.read == pytest.approx(tokens)
    assert cost.hours == pytest.approx((flop / (989e12 * 0.33) + saved) / 3600)
    twice = estimate("start=0", "mfu_of_steps=.66", "disk=4e9")
    assert twice.training("phi3-medium-4k", [job("train_adapter", trained_on="all")]).hours == pytest.approx(
        cost.hours / 2
    )


def test_a_job_for_each_cell_asks_the_same_as_one_for_all():
    """Only the start of each job and its last answers come on top."""
    bare = estimate("join=0", "longest=1")
    single, many = (bare.judging("", "gemma3-27b", asked(*names)) for names in ([""], NAMES))
    assert (many.read, many.written, many.hours) == pytest.approx((single.read, single.written, single.hours))
    more = [estimate("longest=1").judging("", "gemma3-27b", asked(*names)).hours for names in ([""], NAMES)]
    assert more[1] - more[0] == pytest.approx(8 * 2 / 3600)


def test_each_figure_says_what_it_rests_on():
    rests = estimate("reading=.5").judging("", "gemma3-27b", asked("blend")).rests
    assert "answer/report (measured)" in rests
    assert "row (assumed, measured)" in rests
    assert "reading (changed)" in rests


def test_a_step_reads_what_it_computes_with():
    """One answer of the mixture of experts takes the weights of a token, many take all; a state is read and written."""
    a = estimate("pause=0", "reduce=0")
    together = estimate("pause=0").step("qwen3.5-122b-a10b", 1, 1000, 4) - a.step("qwen3.5-122b-a10b", 1, 1000, 4)
    assert together == pytest.approx(2 * 48 * 25e-6)
    assert a.step("qwen3.5-122b-a10b", 1, 1000, 4) == pytest.approx((20e9 + 49_152_000 + 302e6) / (4 * 3.35e12 * 0.525))
    assert a.step("phi4", 10, 1000, 1) == pytest.approx((29.4e9 + 10 * 204_800_000) / (3.35e12 * 0.525))
    assert a.room("phi4", 1000, 1) == pytest.approx((85e9 * 0.9 - 4e9 - 29.4e9) / 204_800_000)


def test_as_many_answers_at_once_as_the_models_entry_says():
    settings = {**RAW, "models": {**RAW["models"]}}
    settings["models"]["qwen3.5-122b-a10b"] = RAW["models"]["qwen3.5-122b-a10b"] | {"engine": {"max_num_seqs": 100}}
    rooms = [Estimate(config.load(raw), *assumptions()).room("qwen3.5-122b-a10b", 1000, 8) for raw in (RAW, settings)]
    assert rooms == [128, 100]


def test_loads_wait_for_the_file_system_with_their_cards():
    cost = estimate().loading([job("generate_soft_errors", 4), job("judge", model="phi4")])
    assert cost.jobs == 2
    assert cost.hours == pytest.approx((4 * (244e9 * 2 / 2e9 + 90) + 29.4e9 * 2 / 2e9 + 90) / 3600)


@pytest.mark.parametrize("changed", ["mfx=1", "mfu", "mfu=much", "phi4=1"])
def test_what_is_no_assumption_is_refused(changed):
    with pytest.raises(ValueError, match="expected NAME=NUMBER"):
        assumptions([changed])


def test_there_is_an_assumption_for_every_way_of_asking_that_the_configuration_has():
    assumed, _ = assumptions([])
    asked_ways = {judge for _, _, judge in config.load(yaml.safe_load((ROOT / "config.yaml").read_text())).systems}
    assert {f"words/{judge}" for judge in asked_ways} <= assumed.keys()


SHARED = {"engine_{model}": 5, "generator": 4}


def test_loads_of_weights_are_counted():
    """Of each training; of an engine once an allocation, twice where adapters and the base itself are asked."""
    adapters = [{"model": model, "trained_on": str(n)} for model in ("gemma3-27b", "phi4") for n in range(10)]
    rules = ("train_adapter", "verify_adapter", "judge")
    trained = [job(rule, **adapter) for adapter in adapters for rule in rules]
    bare = [job("judge", model="phi4", trained_on="nothing") for _ in "abc"]
    shards = [job("generate_soft_errors", 4) for _ in range(16)]

    def counted(jobs, sizes):
        return Counter(load.rule for load in loads(jobs, sizes))

    assert counted(trained, {}) == {"train_adapter": 20, "judge": 20}
    assert counted(trained, SHARED) == {"train_adapter": 20, "judge": 4}
    assert counted([*bare, *shards], SHARED) == {"judge": 1, "generate_soft_errors": 4}
    assert counted([*bare, job("judge", model="phi4", trained_on="all")], SHARED) == {"judge": 2}


def test_a_larger_experiment_is_an_experiment():
    from snakemake.utils import update_config

    raw = yaml.safe_load((ROOT / "config.yaml").read_text())
    single = config.load(raw)
    update_config(raw, dag.enlarged(10))
    ten = config.load(raw)
    assert len(ten.systems) == 10 * len(single.systems)
    assert ten.generation.shards == 10 * single.generation.shards
