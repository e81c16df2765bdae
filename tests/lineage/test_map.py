"""docs/map.md equals what the rules give as Snakemake parses them; `REWRITE_DOCS=1` rewrites it."""

import ast
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

from excam.core.steps import read_steps
from scripts import load

ROOT = Path(__file__).parents[2]
STEPS = read_steps(ROOT / "scripts")
PAGE = ROOT / "docs/map.md"
HEAD = """# Map

Which rule makes a file, by which step of `scripts/`, with what of the library: written by `tests/lineage/test_map.py` from
the rules (`python tests/records.py`). A rule and its step have one name; its log is
`logs/<rule>/`, its times are `benchmarks/<rule>/`. The rules are those of `config.yaml`, in the order of `Snakefile`.
"""
CONSTRAINT = re.compile(r"\{(\w+),[^{}]*\}")  # Snakemake writes the values an axis may have into its wildcard
READER = """
from pathlib import Path
from snakemake.api import SnakemakeApi
from snakemake.settings.types import OutputSettings, Quietness, ResourceSettings, ConfigSettings
with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
    flow = api.workflow(resource_settings=ResourceSettings(), snakefile=Path('Snakefile'))._workflow
    for rule in flow.rules:
        outputs = [str(one) for one in rule.output]
        print([rule.name, Path(rule.snakefile).name, (rule.docstring or '').strip(), outputs])
"""


def rules() -> list[tuple[str, str, str, list[str]]]:
    """(name, file, docstring, patterns of what it makes) of every rule with a step."""
    done = subprocess.run([sys.executable, "-c", READER], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    read = [ast.literal_eval(line) for line in done.stdout.splitlines() if line.startswith("[")]
    return [tuple(rule) for rule in read if rule[0] in STEPS]


def library(module: Path, step: str) -> list[str]:
    """Modules of excam that a step uses, itself or by what its module defines, sorted."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    imported, defined = {}, {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                inner = ROOT / node.module.replace(".", "/") / alias.name
                is_module = inner.is_dir() or inner.with_suffix(".py").exists()
                imported[alias.asname or alias.name] = f"{node.module}.{alias.name}" if is_module else node.module
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined[node.name] = node
        elif isinstance(node, ast.Assign):
            defined |= {target.id: node for target in node.targets if isinstance(target, ast.Name)}
    names, left = set(), {step}
    while left:
        names |= left
        nodes = [node for name in left & defined.keys() for node in ast.walk(defined[name])]
        left = {node.id for node in nodes if isinstance(node, ast.Name)} - names
        inside = [node for node in nodes if isinstance(node, ast.ImportFrom)]
        imported |= {alias.name: node.module for node in inside for alias in node.names}
        names |= {alias.name for node in inside for alias in node.names}
    used = {imported[name] for name in names & imported.keys()}
    return sorted(name for name in used if name.split(".")[0] == "excam" and name != "excam")


def link(module: str) -> str:
    path = module.replace(".", "/")
    return f"`{path}/`" if (ROOT / path).is_dir() else f"`{path}.py`"


def written() -> str:
    parts, file = [HEAD], ""
    for name, source, about, outputs in rules():
        if source != file:
            parts.append(
                f"\n## rules/{source}\n\n| artifact | rule = step | what it does | library |\n|---|---|---|---|\n"
            )
            file = source
        made = "<br>".join(f"`{artifact}`" for artifact in CONSTRAINT.sub(r"{\1}", "\n".join(outputs)).split("\n"))
        uses = ", ".join(map(link, library(STEPS[name].module, name)))
        about = about or inspect.getdoc(load(name).function)
        line = about.split("\n")[0].replace("|", "\\|")
        parts.append(f"| {made} | `{name}` | {line} | {uses} |\n")
    return "".join(parts)


def test_the_map_is_true():
    now = written()
    assert all(f" | `{name}` | " in now for name in STEPS), "a rule was not read"
    if os.environ.get("REWRITE_DOCS"):
        PAGE.write_text(now, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == now, "run: python tests/records.py"


def test_every_file_that_the_map_names_is_there():
    for word in PAGE.read_text(encoding="utf-8").split("`")[1::2]:
        if word.startswith(("excam/", "scripts/", "rules/")):
            assert (ROOT / word).exists(), word
