"""docs/map.md equals what the rules give as Snakemake parses them; `REWRITE_DOCS=1` rewrites it."""

import ast
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

from excam.core.steps import read_steps
from excam.excam40k import datasets
from scripts import load

ROOT = Path(__file__).parents[2]
STEPS = read_steps(ROOT)
PAGE = ROOT / "docs/map.md"
HEAD = """# Map

Look here which rule makes a file. Each heading names a file of steps and the files of their rules; a step has the name of its
rule. Logs are in `logs/<rule>/`, times in `benchmarks/<rule>/`. `results/index.html` says what each result of `rules/steps.smk`
shows. The rules are those of `config.yaml`; `tests/lineage/test_map.py` writes this page (`python tests/records.py`).
"""
DATASET = re.compile(rf"\b(?:{'|'.join(datasets.available())})\b")
CONSTRAINT = re.compile(r"\{(\w+),[^{}]*\}")  # Snakemake writes the values an axis may have into its wildcard
CLAUSE = re.compile(r"(?m)(?:\S+ ){3}.*?(?=[.;:?](?: |$)|$|, (?:with|by|in|on|from|or|as|before|at|one|for) )")
READER = """
from pathlib import Path
from snakemake.api import SnakemakeApi
from snakemake.settings.types import OutputSettings, Quietness, ResourceSettings, ConfigSettings
with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
    flow = api.workflow(resource_settings=ResourceSettings(), snakefile=Path('Snakefile'))._workflow
    for rule in flow.rules:
        outputs = [str(output) for output in rule.output]
        print([rule.name, Path(rule.snakefile).name, (rule.docstring or '').strip(), outputs])
"""


def rules() -> list[tuple[str, str, str, list[str]]]:
    """(name, file, docstring, patterns of what it makes) of every rule with a step."""
    done = subprocess.run([sys.executable, "-c", READER], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    read = [ast.literal_eval(line) for line in done.stdout.splitlines() if line.startswith("[")]
    return [tuple(rule) for rule in read if rule[0] in STEPS]


def patterns(outputs: list[str]) -> list[str]:
    """The artifacts, each once: those that differ in the benchmark alone are one pattern."""
    without_values = (CONSTRAINT.sub(r"{\1}", output) for output in outputs)
    return list(dict.fromkeys(DATASET.sub("{dataset}", output) for output in without_values))


def written() -> str:
    """Return the page: for each file of steps the files of their rules, and what each rule makes."""
    parts, rooms = [HEAD], dict[Path, list[tuple[str, str, str, list[str]]]]()
    for rule in rules():
        rooms.setdefault(STEPS[rule[0]].module.relative_to(ROOT), []).append(rule)
    for room, room_rules in rooms.items():
        sources = ", ".join(f"`rules/{source}`" for source in dict.fromkeys(rule[1] for rule in room_rules))
        parts.append(f"\n## `{room}`: {sources}\n\n")
        for name, source, about, outputs in room_rules:
            made = "".join(f"<br>`{artifact}`" for artifact in patterns(outputs))
            about = CLAUSE.findall(str(about or inspect.getdoc(load(name).function)))[0]
            parts.append(f"- `{name}`: {made.removeprefix('<br>') if source == 'steps.smk' else about + made}\n")
    return "".join(parts)


def test_the_map_is_true():
    now = written()
    assert all(f"\n- `{name}`: " in now for name in STEPS), "a rule was not read"
    if os.environ.get("REWRITE_DOCS"):
        PAGE.write_text(now, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == now, "run: python tests/records.py"


def test_every_file_that_the_map_names_is_there():
    for word in PAGE.read_text(encoding="utf-8").split("`")[1::2]:
        if word.startswith(("excam/", "scripts/", "rules/")):
            assert (ROOT / word).exists(), word
