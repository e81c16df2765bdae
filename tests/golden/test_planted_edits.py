"""Edits that change an output, planted in library functions: the golden outputs name nearly all of them.

Each is made in a copy of the checkout, where the experiment of `stages.yaml` then runs in a process of its own.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import golden_stages
import pytest

EDITS = [  # file below excam/, what is replaced once, by what
    ("excam40k/construction/splits.py", "queue.sort(reverse=True)", "queue.sort()"),
    ("excam40k/construction/wrapping.py", "writing.space.join(instruction)", '"\\n".join(instruction)'),
    ("excam40k/construction/hard.py", "left[wrong] -= 1", "left[wrong] -= 0"),
    ("excam40k/construction/hard.py", "start + len(wrong))", "start + len(wrong) - 1)"),
    ("excam40k/construction/soft.py", 'requested if label == "requested"', 'requested if label != "requested"'),
    ("excam40k/construction/spans.py", "last = first + 1", "last = first + 2"),
    ("excam40k/construction/lexicon.py", "1 + int(digest(seed, *key), 16) % 2", "2"),
    ("excam40k/construction/norms.py", "== norm.norm) == yes", "== norm.norm) != yes"),
    ("excam40k/construction/duplicates.py", "ALIKE = 0.8", "ALIKE = 0.5"),
    ("excam40k/datasets/mango.py", 'concept + " in " + place', 'concept + " of " + place'),
    ("excam40k/datasets/normad.py", 'label == "neutral"', 'label == "no"'),
    ("excam40k/templates/qa/instruction.txt", "Identify the answer", "Identify the reply"),
    ("excam40k/audits/balance.py", "dropped.get(name, 0) + 1  #", "dropped.get(name, 0) + 2  #"),
    ("excam40k/text_classifier.py", "groups / (groups - 1)", "groups / groups"),
    ("excam40k/trivial_baselines.py", "np.round(chances, 12)", "np.round(chances, 1)"),
    ("excam40k/publishing/counts.py", "own[column] - value", "value - own[column]"),
    ("excam40k/validation/sampling.py", '"annotation/draw"', '"annotation/drawn"'),
    ("excam40k/validation/human_votes.py", "2 * sum(votes) > len(votes)", "2 * sum(votes) >= len(votes)"),
    ("error_reports/judges/report.py", "Please judge the following", "Judge the following"),
    ("inference/answer_text.py", 'DECORATION = " \\t\\r*_`', 'DECORATION = " \\t\\r_`'),
    ("error_reports/judges/severity.py", '"critical": -25', '"critical": -10'),
    ("error_reports/evaluation/verdicts.py", 'pl.when(pl.col("score") < 0)', 'pl.when(pl.col("score") <= 0)'),
    (
        "error_reports/scoring.py",
        "max(logprob, LEAST) for logprob in logprobs) / len(logprobs)",
        "logprobs) / len(answer.logprobs)",
    ),
    (
        "error_reports/report_agreement.py",
        "shared / (gold.end - gold.start)",
        "shared / (predicted.end - predicted.start)",
    ),
    ("inference/answer_text.py", "return text[begin:stop].strip(), None", "return text[:stop].strip(), None"),
    ("stats/bootstrap.py", "tail = (1 - LEVEL) / 2", "tail = 1 - LEVEL"),
    ("stats/permutation.py", "np.arange(len(values), 0, -1)", "np.arange(len(values) - 1, -1, -1)"),
    ("stats/calibration.py", "(positive + 1) / (positive + 2)", "positive / (positive + 1)"),
    ("stats/pairs.py", "self.ties + self.concordant", "self.concordant"),
    (
        "training/tokens.py",
        "[IGNORED_LABEL] * prompt + ids[prompt:]",
        "[IGNORED_LABEL] * (prompt - 1) + ids[prompt - 1 :]",
    ),
    ("pages/plotting/heat.py", '.replace("-", "−")', ""),
]
MISSED = 1  # of a third: an edit that nothing in a small experiment shows is possible, a second one is not
RUN = """
import json, sys
from pathlib import Path
import golden_stages

jobs = json.loads(Path("plan.json").read_text())
before = golden_stages.recorded()
print("\\nfound " + json.dumps(golden_stages.unversioned(before, golden_stages.run(Path.cwd(), jobs, before))))
"""


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("unedited")
    golden_stages.checkout(folder)
    return golden_stages.plan(folder)


def messages(folder, jobs, name, old, new):
    """What the golden outputs say of one edit: lines of unversioned jobs, or the last line of a crash."""
    golden_stages.checkout(folder)
    (folder / "plan.json").write_text(json.dumps(jobs))
    path = folder / "excam" / name
    text = path.read_text(encoding="utf-8")
    assert old in text, f"{name}: no {old!r}"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(folder / "tests/golden")])}
    command = [sys.executable, "-c", RUN]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return [done.stderr.strip().splitlines()[-1]]
    return json.loads(done.stdout.rpartition("\nfound ")[2])


def test_edited_lines_are_in_the_code():
    """The edits run at night only; a line that was renamed since is seen at once."""
    package = golden_stages.ROOT / "excam"
    missing = [(name, old) for name, old, _ in EDITS if old not in (package / name).read_text(encoding="utf-8")]
    assert missing == []


@pytest.mark.nightly
@pytest.mark.parametrize("third", range(3))
def test_planted_edits_are_caught(jobs, tmp_path, third):
    edits = EDITS[third::3]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda at: messages(tmp_path / str(at), jobs, *edits[at]), range(len(edits))))
    for edit, lines in zip(edits, results, strict=True):
        print(*edit, "->", lines[:1] or "missed", sep="  ")
    missed = [edit for edit, lines in zip(edits, results, strict=True) if not lines]
    assert len(missed) <= MISSED, missed
