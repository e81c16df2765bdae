"""`snakemake --report` opens on the main figures, not on the graph of rules."""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SNAKEFILE = """
config.update(datasets=["a", "b"], generation=dict(generator="g"))
report: "report/workflow.rst"
rule all:
    input:
        report("results/paper/figure-3.svg", category="Results"),
        report("results/paper/other.svg", category="Results"),
"""


def test_the_first_view_is_text_with_the_main_figures_inside(tmp_path):
    (tmp_path / "report").symlink_to(ROOT / "report")
    (tmp_path / "results/paper").mkdir(parents=True)
    for name in ("figure-3", "other"):
        (tmp_path / f"results/paper/{name}.svg").write_text(f"<svg><text>drawn {name}</text></svg>")
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "profile").mkdir()
    shown = re.findall(r"^report-metadata: .*", (ROOT / "profiles/local/config.yaml").read_text(), re.M)
    (tmp_path / "profile/config.yaml").write_text(f"cores: 1\n{shown[0]}\n")
    words = ["snakemake", "--profile", "profile", "--report", "r.html", "--", "all"]
    done = subprocess.run([sys.executable, "-m", *words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, "nothing in workflow.rst is misread"
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert json.loads(re.findall(r"^    var metadata = (\{.*\});$", page, re.M)[0]) == {"Files in results/": 2}
    (first,) = re.findall(r"^    var workflow_desc = (\".*\");$", page, re.M)
    assert "drawn figure-3</text>" in json.loads(first)
    assert "drawn other" not in first
