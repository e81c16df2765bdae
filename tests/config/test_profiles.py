"""How jobs are handed to Slurm: what plugin 2.8.0 gets wrong stays avoided, and profiles/slurm knows no site."""

from pathlib import Path

import yaml

from excam.core.steps import read_steps

PROFILES = Path(__file__).parents[2] / "profiles"
SLURM = yaml.safe_load((PROFILES / "slurm/config.yaml").read_text())
LONGEST_WAIT = 180  # seconds between two questions: the plugin's own limit


def test_no_way_to_lose_sight_of_a_job():
    assert SLURM["slurm-status-command"] == "squeue"  # by sacct, a cancelled job is waited for for ever
    assert 3 * SLURM["slurm-init-seconds-before-status-checks"] >= LONGEST_WAIT  # below, it may take sacct after all
    assert SLURM["slurm-status-attempts"] >= 3600 * SLURM["max-status-checks-per-second"]


def test_no_arrays():
    assert not [key for key in SLURM if "array" in key]


def test_profile_knows_no_site():
    assert not {"slurm_account", "slurm_partition", "gpu_model", "qos", "constraint"} & set(SLURM["default-resources"])
    assert "set-resources" not in SLURM  # a site's would replace it whole


def test_the_cards_of_a_job_are_on_one_node():
    """`--gpus=2` alone was given one card on each of two nodes, and the job saw one (docs/cluster.md)."""
    assert SLURM["default-resources"]["nodes"] == 1


def test_example_of_a_site_repeats_what_it_replaces():
    site = yaml.safe_load((PROFILES / "site-example/config.yaml").read_text())
    assert set(SLURM["default-resources"]) <= set(site["default-resources"])
    assert "gpu_model" not in site["default-resources"]  # there, every job would get a card
    assert set(site) <= {"default-resources", "set-resources"}
    on_cards = set()
    for path in sorted((PROFILES.parent / "rules").glob("*.smk")):
        for part in path.read_text().split("\nrule ")[1:]:
            if "        gpu=" in part or ".resources(" in part:
                on_cards.add(part.split(":")[0])
    on_cards |= {name for name, step in read_steps(PROFILES.parent).items() if step.rule and step.rule.asks}
    assert set(site["set-resources"]) == on_cards


def test_slurm_is_found_by_its_name():
    link = PROFILES.parent / "slurm"
    assert link.is_symlink()
    assert (link / "config.yaml").samefile(PROFILES / "slurm/config.yaml")
