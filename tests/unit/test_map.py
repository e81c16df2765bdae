"""docs/map.md equals what the rules give as Snakemake parses them; `REWRITE_DOCS=1` rewrites it."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/map.md"
HEAD = """# Map

Which rule makes a file, by which script, with what of the library: written by `tests/unit/test_map.py` from the rules
(`python tests/records.py`). A rule and its script have one name; its log is
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
    """(name, file, docstring, patterns of what it makes) of every rule that makes something."""
    done = subprocess.run([sys.executable, "-c", READER], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    read = [ast.literal_eval(line) for line in done.stdout.splitlines() if line.startswith("[")]
    return [tuple(rule) for rule in read if rule[3]]


def library(script: Path) -> list[str]:
    """What a script takes from the library: modules of excam, sorted."""
    found = set()
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = ROOT / node.module.replace(".", "/") / alias.name
                is_module = inner.is_dir() or inner.with_suffix(".py").exists()
                found.add(f"{node.module}.{alias.name}" if is_module else node.module)
    return sorted(name for name in found if name.split(".")[0] == "excam" and name != "excam")


def link(module: str) -> str:
    path = module.replace(".", "/")
    return f"`{path}/`" if (ROOT / path).is_dir() else f"`{path}.py`"


def written() -> str:
    parts, file = [HEAD], ""
    for name, source, about, outputs in rules():
        if source != file:
            parts.append(
                f"\n## rules/{source}\n\n| artifact | rule = script | what it does | library |\n|---|---|---|---|\n"
            )
            file = source
        made = "<br>".join(f"`{one}`" for one in CONSTRAINT.sub(r"{\1}", "\n".join(outputs)).split("\n"))
        uses = ", ".join(map(link, library(ROOT / "scripts" / f"{name}.py")))
        about = about or ast.get_docstring(ast.parse((ROOT / "scripts" / f"{name}.py").read_text(encoding="utf-8")))
        line = about.split("\n")[0].replace("|", "\\|")
        parts.append(f"| {made} | `{name}` | {line} | {uses} |\n")
    return "".join(parts)


def test_the_map_is_true():
    now = written()
    scripts = {path.stem for path in (ROOT / "scripts").glob("[!_]*.py")}
    assert all(f" | `{name}` | " in now for name in scripts), "a rule was not read"
    if os.environ.get("REWRITE_DOCS"):
        PAGE.write_text(now, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == now, "run: python tests/records.py"


def test_every_file_that_the_map_names_is_there():
    for word in PAGE.read_text(encoding="utf-8").split("`")[1::2]:
        if word.startswith(("excam/", "scripts/", "rules/")):
            assert (ROOT / word).exists(), word
