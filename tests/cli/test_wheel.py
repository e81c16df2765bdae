"""The package as its users get it: what is in wheel and sdist, and what the light core does without the heavy libraries.

Nothing is downloaded: the wheel is built and unpacked with what is installed, and a finder refuses every library that the
core does not ask for, as if it were not there.
"""

import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml
from json_lines import write_rows
from small_adapters import make

import excam

ROOT = Path(__file__).parents[2]
PARTS = ("excam", "tests", "pyproject.toml", "README.md", "LICENSE", "CITATION.cff")
HEAVY = ("torch", "transformers", "datasets", "peft", "trl", "accelerate", "huggingface_hub", "snakemake", "matplotlib")
BARRIER = '''
import importlib.metadata as metadata, re, sys

def names(distribution):
    """What the core is allowed: the distributions it asks for, and what these ask for."""
    todo, seen = [distribution], set()
    while todo:
        name = re.sub("[-_.]+", "-", todo.pop()).lower()
        if name in seen:
            continue
        seen.add(name)
        try:
            wants = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        todo += [re.match(r"[\\w.-]+", want)[0] for want in wants if "extra ==" not in want.replace("'", '"')]
    return seen

ALLOWED, OWNERS = names("excam"), metadata.packages_distributions()

class Barrier:
    def find_spec(self, name, path=None, target=None):
        owners = {re.sub("[-_.]+", "-", one).lower() for one in OWNERS.get(name.partition(".")[0], ())}
        if owners and not owners & ALLOWED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Barrier())
'''


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """(wheel, sdist), built from a copy, beside which there are results of a run."""
    folder = tmp_path_factory.mktemp("build")
    tree = folder / "tree"
    for part in PARTS:
        source, target = ROOT / part, tree / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(source, target)
    (tree / "results" / "adapters").mkdir(parents=True)
    (tree / "results" / "adapters" / "secret.json").write_text("{}")
    for made in ("wheel", "sdist"):
        code = f"from setuptools import build_meta; print(build_meta.build_{made}({str(folder)!r}))"
        done = subprocess.run([sys.executable, "-c", code], cwd=tree, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """The wheel as a folder to import from, and one as the working directory."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(built[0]) as wheel:
        wheel.extractall(folder)
    (folder / "barrier.py").write_text(BARRIER)
    return folder


def light(installed, code: str, stdin: str = "", ends: int = 0, **more):
    """Run code with the wheel before everything else, away from this checkout, and without what the core does not need."""
    start = f"import sys; sys.path.insert(0, {str(installed)!r}); import barrier; "
    command = [sys.executable, "-I", "-c", start + code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, input=stdin, **more)
    assert done.returncode == ends, done.stderr
    return done


def command(installed, *words: str, stdin: str = "", **more):
    end = f"sys.argv = ['excam', *{list(words)!r}]\ntry:\n    import excam.cli; excam.cli.app()\nfinally:\n    "
    check = f"print([m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    return light(installed, "\n" + end + check, stdin, **more)


def shipped() -> set[str]:
    """Files of the package that are no code: assets, templates, locks, tables."""
    files = (path for path in (ROOT / "excam").rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc"))
    return {path.relative_to(ROOT).as_posix() for path in files}


def test_the_wheel_has_the_package_and_nothing_else(built):
    with zipfile.ZipFile(built[0]) as wheel:
        names = {name for name in wheel.namelist() if not name.endswith("/")}
    assert {path.relative_to(ROOT).as_posix() for path in (ROOT / "excam").rglob("*.py")} <= names
    assert shipped() <= names, f"not in package-data of pyproject.toml: {sorted(shipped() - names)}"
    assert not {name for name in names if not name.startswith("excam/") and ".dist-info/" not in name}
    assert not [name for name in names if "results/" in name or "secret" in name or "__pycache__" in name]


def test_the_sdist_builds_the_same(built):
    with tarfile.open(built[1]) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert {"pyproject.toml", "README.md", "LICENSE", *shipped()} <= names
    assert not [name for name in names if name.startswith("results")]


def test_one_version_everywhere(built):
    with zipfile.ZipFile(built[0]) as wheel:
        (metadata,) = [name for name in wheel.namelist() if name.endswith("METADATA")]
        version = re.search(r"^Version: (.+)$", wheel.read(metadata).decode(), re.M)[1]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert version == excam.__version__
    assert str(citation["version"]) == excam.__version__


def test_the_citation_names_software_and_papers():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors", "version", "license"} <= set(citation)
    paper, *others = citation["references"]
    titles = ["Macaron", "CaLMQA", "From Words to Worlds", "Cross-Cultural LLM Evaluation Scoring Manual (Detailed)"]
    assert [reference["title"].split(":")[0] for reference in others] == titles
    assert all(reference["authors"] for reference in others)
    assert paper["title"] == "ExCAM: Explainable Cultural Awareness Metrics"


def test_the_barrier_holds(installed, tmp_path):
    done = light(installed, "import torch", ends=1, cwd=tmp_path)
    assert "ModuleNotFoundError: No module named 'torch'" in done.stderr


@pytest.mark.parametrize(("words", "expected"), [(["--help"], "score"), (["list", "datasets"], "blend")])
def test_the_light_core_works_without_the_heavy_libraries(installed, tmp_path, words, expected):
    done = command(installed, *words, cwd=tmp_path)
    assert expected in done.stdout
    assert done.stderr.splitlines()[-1] == "[]"


def test_commands_that_only_look_at_scored_files_need_no_model(installed, tmp_path):
    row = {
        "id": "1", "texts": {"instruction": "A Greek dish?", "output": "Sushi."}, "score": -5.0, "certainty": 0.9, "failure": None,
        "report": {"errors": [{"where": "output", "span": "Sushi", "severity": "major", "type": "t", "start": 0, "end": 5}], "explanation": "Japanese."},
        "metric": {"pair": ["instruction", "output"], "lists_errors": True}, "signature": "excam|model:a|v:1",
    }  # fmt: skip
    rows = [{**row, "id": str(number), "score": score} for number, score in enumerate((-5.0, 0.9, 0.8))]
    for name in ("a.jsonl", "b.jsonl"):
        write_rows(tmp_path / name, rows)
    tried = {"explain": ["a.jsonl"], "compare": ["a.jsonl", "b.jsonl"], "report": ["a.jsonl", "--to", "page.html"]}
    for name, words in tried.items():
        done = command(installed, name, *words, cwd=tmp_path)
        assert done.stderr.splitlines()[-1] == "[]", name


WITH_A_SERVER = """
import json, sys
from typer.testing import CliRunner
from excam import cli
for words in json.loads(sys.stdin.read()):
    done = CliRunner().invoke(cli.app, words)
    assert done.exit_code == 0, (words, done.output, done.exception)
import excam
(one,) = excam.load(MODEL).score([{"instruction": "A?", "output": "Sushi."}])
assert one.verdict == "error", one
"""


def test_the_light_core_does_everything_with_a_model_behind_a_server(serve, installed, tmp_path):
    """It scores, explains, reports, calibrates and uses that, compares with people and with another system."""
    from fake_chat_server import right

    error = {"where": "output", "span": "Sushi", "severity": "major", "type": "dish"}

    def answer(body):
        errors = [error] * ("Sushi" in body["messages"][-1]["content"])
        return right(json.dumps({"errors": errors, "explanation": ""}))

    rows = [{"id": f"{at}", "instruction": "A?", "output": f"{'Sushi' if at % 3 else 'Cawl'} {at}"} for at in range(12)]
    write_rows(tmp_path / "texts.jsonl", rows)
    truths = "".join(f"{at},{at % 2},{at % 3}\n" for at in range(12))
    (tmp_path / "people.csv").write_text(f"id,error,label\n{truths}")
    model = f"m@{serve(default=answer).endpoint}"
    commands = [
        ["score", "texts.jsonl", "--to", "a.jsonl", "--model", model],
        ["explain", "a.jsonl"],
        ["report", "a.jsonl", "--to", "a.html"],
        ["calibrate", "a.jsonl", "--gold", "people.csv", "--to", "platt.json"],
        ["score", "texts.jsonl", "--to", "b.jsonl", "--model", model, "--calibration", "platt.json"],
        ["score", "texts.jsonl", "--to", "c.jsonl", "--model", model],
        ["compare", "a.jsonl", "c.jsonl"],
        ["meta", "people.csv", "a.jsonl"],
    ]  # fmt: skip
    end = f"print([m for m in {(*HEAVY, 'sklearn', 'pandas')!r} if m in sys.modules])"
    code = WITH_A_SERVER.replace("MODEL", repr(model))
    done = light(installed, f"\n{code}\n{end}", json.dumps(commands), cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "[]"
    calibrated = [json.loads(line) for line in (tmp_path / "b.jsonl").read_text().splitlines()]
    assert all(0 < row["probability"] < 1 and "cal:platt@" in row["signature"] for row in calibrated)


def test_answers_are_judged_with_documents_without_any_extra(installed, tmp_path):
    """The judge of `excam demo` needs no model; a pack is built from rows and from Markdown."""
    assert "5 of 10 verdicts are right" in command(installed, "demo", cwd=tmp_path).stdout
    assert (tmp_path / "excam-demo.html").exists()
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents/wales.md").write_text("---\nlicence: CC0-1.0\n---\n# Wales\n\nCawl is a stew of lamb.\n")
    command(installed, "knowledge", "build", "documents", "--to", "pack", cwd=tmp_path)


@pytest.mark.parametrize(
    ("words", "row", "extra"),
    [
        (["--adapter", "adapter"], {"instruction": "A?", "output": "x"}, "inference"),
        (["--metric", "bleu"], {"translation": "", "reference": "", "lang": "en"}, "translation"),
        (["--metric", "calmqa-surface"], {"question": "Why?", "answer": "So.", "language": "English"}, "calmqa"),
    ],
)
def test_what_needs_a_library_of_an_extra_says_which(installed, tmp_path, words, row, extra):
    (tmp_path / "adapter").symlink_to(make(tmp_path / "results"))
    (tmp_path / "texts.jsonl").write_text(json.dumps(row) + "\n")
    done = command(installed, "score", "texts.jsonl", *words, ends=2, cwd=tmp_path)
    assert "Traceback" not in done.stderr
    assert "pip install" in done.stderr
    assert f"excam[{extra}]" in done.stderr
