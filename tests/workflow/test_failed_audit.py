"""Rows that a failed audit found fault with are not trained on, unless the configuration says `audits: warn`."""

import csv
import re

import pytest
import tiny
import yaml
from checkout import ROOT, Run, copy_checkout

from excam.config import modules_in

ADAPTER = "results/adapters/tiny/all/adapter_model.safetensors"
EXPERIMENT = {
    "datasets": dict.fromkeys(modules_in("excam40k/datasets")) | {"normad": {"folder": "rows", "cap": 120}},
    "generation": {"generator": "lexicon", "shards": 1},
    "models": {"tiny": {"folder": "tiny", "licence": "MIT", "backend": "transformers", "gpus": 0}},
    "tuned": {"models": ["tiny"], "mixtures": ["all"]},
    "training": {"rank": 2, "rows": 4, "rows_per_step": 2, "max_length": 8192, "layout": "cpu"},
    "baselines": {"models": [], "encoder": None},
    "external": {"models": []},
}


@pytest.fixture(scope="module")
def planted(tmp_path_factory) -> Run:
    """A checkout with etiquette stories whose background is their explanation, word by word."""
    run = Run(tmp_path_factory.mktemp("planted") / "checkout")
    copy_checkout(run.folder)
    tiny.model(run.folder / "tiny", positions=8192)
    (run.folder / "planted.yaml").write_text(yaml.safe_dump(EXPERIMENT))
    name = "normad_etiquette_final_data.csv"
    with (ROOT / "mini/normad" / name).open(encoding="utf-8", newline="") as stream:
        rows = [{**row, "Background": row["Explanation"]} for row in csv.DictReader(stream)]
    (run.folder / "rows").mkdir()
    with (run.folder / "rows" / name).open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return run


@pytest.mark.nightly
def test_training_waits_for_the_audits(planted):
    stopped = planted(ADAPTER, experiment="planted.yaml")
    assert stopped.returncode == 1
    assert "Traceback" not in stopped.text
    (said,) = {line for line in stopped.text.splitlines() if line.startswith("check_audits: ")}
    assert re.fullmatch(
        r"check_audits: results/audits/summary\.md: \d+ of \d+ checks failed: .*"
        r"shortcuts: at chance: copied from the instruction, normad: found .*: tells the label; expected .*"
        r"; mend the rows, or set `audits: warn` to go on",
        said,
    ), said
    assert "**FAILED: " in (planted.folder / "results/audits/summary.md").read_text(encoding="utf-8")
    assert not (planted.folder / "logs/train_adapter").exists()

    warned = planted("--config", "audits=warn", "--", ADAPTER, experiment="planted.yaml")
    assert warned.returncode == 0, warned.text[-3000:]
    assert said.replace("check_audits: ", "warning: ") in warned.text.splitlines()
    assert (planted.folder / ADAPTER).exists()

    again = planted("-n", "--", ADAPTER, experiment="planted.yaml").text
    assert "check_audits" in again
    assert "train_adapter" not in again, "a verdict trains nothing again"
