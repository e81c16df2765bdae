"""Golden outputs of stages: a small experiment, run job by job in one process with a model that answers by rule.

Of each job `record` keeps the versions of its stages and three digests: of its command, its inputs, its outputs. A job
with the same versions, command and inputs and other outputs is an edit without a raised version (`unversioned`).
Nothing is trained: the rows that a model would learn, token by token, stand for the adapter.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).parents[2]
RECORD = Path(__file__).with_name("stages.json")
ANNOTATORS = ("ada", "ben")
ODD = (  # answers, or frames of them, that are parsed as an explicit failure or leniently
    *(
        "I cannot say.", "", "<think>COUNT: 2", '{"errors": []}', '{"errors": [}, "explanation": ""}', "{} {}",
        "COUNT: 1-2",
    ),
    *("Problem: none\nSeverity: grave\nCOUNT: two", "**COUNT: 3 errors.**\n**Severity:** minor\nProblem: No Problem."),
)  # fmt: skip
FOLDERS = (
    "excam", "scripts", "rules", "mini", "docs", "paper", "report", "envs", "requirements", "experiments", "tests",
)  # fmt: skip
FILES = ("Snakefile", "config.yaml", "pyproject.toml", "LICENSE")
ALIKE = """\
90,90,"In Japan, what do guests take off before they enter a house?",Shoes,Gloves,Watches,Belts,A,Japan
91,91,"In Japan, what do all guests take off before they enter a flat or home?",Shoes,Gloves,Watches,Belts,A,Japan
"""
TARGETS = ("all", "external", "annotation")
# Times and sums of them; pictures beside their .svg; cards of adapters, whose words train nothing.
UNSTABLE = re.compile(
    r"(manifest\.json|verified\.json|\.pdf|\.png|^results/adapters/.*/README\.md|^results/paper/claims\.(csv|md))$"
)
PLANNER = """
import json, sys
from pathlib import Path
from snakemake.api import SnakemakeApi
from snakemake.settings.types import ConfigSettings, DAGSettings, OutputSettings, Quietness, ResourceSettings

with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
    files = [Path("config.yaml"), *map(Path, json.loads(sys.argv[2]))]
    made = api.workflow(ResourceSettings(cores=1), ConfigSettings(configfiles=files), snakefile=Path("Snakefile"))
    made.dag(DAGSettings(targets=set(sys.argv[3:]), forceall=True))
    flow = made._workflow
    flow._prepare_dag(forceall=True, ignore_incomplete=True, lock_warn_only=True)
    flow._build_dag()
    jobs = [job for level in flow.dag.toposorted() for job in sorted(level, key=lambda job: list(job.output))]
    fields = [
        {"rule": job.rule.name, "inputs": list(job.input), "outputs": list(job.output), "command": job.shellcmd,
         "versions": json.loads(job.params.version), "params": str(job.params)}
        for job in jobs if job.shellcmd
    ]
    Path(sys.argv[1]).write_text(json.dumps(fields))
"""
DECIMAL = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)(?![\w.])")
Record = dict[str, dict[str, Any]]


def plan(folder: Path) -> list[dict[str, Any]]:
    """Every job of the experiment in an order in which it can run, planned in `folder`, a copy of the checkout."""
    jobs = planned(folder)
    return [*jobs, *_with_a_model(jobs)]


def planned(folder: Path, *overlays: str, targets: Sequence[str] = TARGETS) -> list[dict[str, Any]]:
    """Every job that a plan has for the targets of the experiment with these overlays."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "OPENAI_API_KEY": "a key that nobody asks with"}
    files = json.dumps(["tests/golden/stages.yaml", *overlays])
    command = [sys.executable, "-c", PLANNER, "plan.json", files, *targets]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads((folder / "plan.json").read_text())


def _with_a_model(jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The soft errors of one benchmark once more, by a model instead of the lexicon, read in the other ways there are."""
    asked = next(job for job in jobs if job["rule"] == "judge" and "small" in job["outputs"][0])
    words = shlex.split(asked["command"])
    model, weights = words[words.index("--model") + 1], words[words.index("--weights") + 1]
    changes = {
        "errors/soft/calmqa": "errors/by-model/calmqa",
        "--generator lexicon --model null": f"--generator small --model {shlex.quote(model)} --weights {weights}",
        "--spans strict --severity requested": "--spans paper --severity stated",
    }
    soft_jobs = [job for job in jobs if job["rule"] in ("generate_soft_errors", "collect_soft_errors")]
    text = json.dumps([job for job in soft_jobs if "calmqa" in job["outputs"][0]])
    for old, new in changes.items():
        text = text.replace(old, json.dumps(new)[1:-1])
    return json.loads(text)


def checkout(folder: Path) -> None:
    """Put into `folder` what a plan and its jobs read."""
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copyfile(ROOT / name, folder / name)
    with (folder / "mini/culturalbench/CulturalBench-Easy.csv").open("a", encoding="utf-8") as stream:
        stream.write(ALIKE)
    (folder / "exports").mkdir()
    for who in ANNOTATORS:
        (folder / f"exports/{who}.json").write_text("{}")


def run(folder: Path, jobs: list[dict[str, Any]], before: Record | None = None) -> Record:
    """Run jobs in this process, in `folder`, with the `excam` that is imported; return what is to be recorded.

    With `before`, stop after the first job whose version is to be raised.
    """
    home, done = Path.cwd(), Record()
    os.chdir(folder)
    try:
        with by_rule():
            _model(Path("by-rule"))
            for job in jobs:
                name = f"{job['rule']} {job['outputs'][0]}"
                done[name] = _run(job)
                if before and unversioned(before, {name: done[name]}):
                    break
    finally:
        os.chdir(home)
    return done


def _run(job: dict[str, Any]) -> dict[str, Any]:
    if job["rule"] == "collect_answers":
        _answer(Path("results/annotation/campaign.json"))
    for name in job["outputs"]:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
    words = shlex.split(job["command"].partition(" 2>&1")[0])
    assert words[:3] == ["python", "-m", "scripts"], job["command"]
    digests = {"command": digest_of(" ".join(words).encode()), "inputs": _digest(job["inputs"])}
    importlib.import_module("scripts").load(words[3])(words[4:])
    return {"versions": job["versions"], **digests, "outputs": _digest(job["outputs"])}


def unversioned(before: Record, now: Record) -> list[str]:
    """One line for each job whose output changed although its versions, command and inputs are the recorded ones."""
    return [
        f"{name}: another output from the same input; expected the recorded one, or a new version of {_stages(job)}"
        for name, job in now.items()
        if name in before and {**job, "outputs": ""} == {**before[name], "outputs": ""} and job != before[name]
    ]


def _stages(job: dict[str, Any]) -> str:
    return " or ".join(sorted(job["versions"]))


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _digest(names: list[str]) -> str:
    digests = [(name, digest_of(_content(Path(name)))) for name in sorted(names) if not UNSTABLE.search(name)]
    return digest_of(repr(digests).encode())


def _content(path: Path) -> bytes:
    """What a file says, with five digits of each decimal number: another processor may compute other last digits."""
    if path.suffix in (".json", ".csv"):
        return _rounded(path.read_bytes())
    if path.suffix != ".parquet":
        return path.read_bytes()
    import polars as pl

    frame = pl.read_parquet(path)
    return repr(frame.schema).encode() + _rounded(frame.write_ndjson().encode())


def _rounded(content: bytes) -> bytes:
    return DECIMAL.sub(lambda match: b"%.5g" % float(match[0]), content)


# --- the model


@contextmanager
def by_rule() -> Iterator[None]:
    """Replace what needs a model: it answers by the hash of what it is asked, and learns by writing down its rows."""
    from excam.error_reports import adapter_check
    from excam.inference import backend_factory, fake
    from excam.scoring import served_model
    from excam.training import sft

    def opened(self: Any) -> fake.Backend:
        return fake.Backend(answer, self.identity)

    with (
        mock.patch.dict(os.environ, OPENAI_API_KEY="a key that nobody asks with"),
        mock.patch.object(backend_factory.LazyBackend, "_open", opened),
        mock.patch.object(backend_factory.SharedBackend, "_open", opened),
        mock.patch.object(served_model.ServedBackend, "_open", opened),
        mock.patch.object(served_model.ServedBackend, "_find_out"),
        mock.patch.object(adapter_check, "_trained_modules", return_value=4),
        mock.patch.object(sft, "train", _train),
    ):
        yield


def answer(request: Any) -> str:
    """An answer to a judge or to the question for a soft error, in one of the forms that models give: most can be read, some cannot."""
    from excam.error_reports.judges import report

    text = request.messages[-1].content
    number = int(digest_of(text.encode("utf-8", "backslashreplace"))[:8], 16)
    if request.messages[0].content == report.SYSTEM:
        said = report.write(_report(text, number))
    elif "Now add your cultural errors" in text:
        return _soft_error(text, number)
    else:
        problem = ("no problem", "very problematic")[number % 2]
        severity = ("none", "minor", "major", "critical")[number % 4]
        said = f"COUNT: {number % 4}\nProblem: {problem}\nSeverity: {severity}"
    forms = ("{}", "{}", "{}", "{}", "<think>It may be.</think>{}", "```json\n{}\n```", "Here it is:\n{}", *ODD)
    return forms[number // 16 % len(forms)].replace("{}", said).replace(": major", ": **Major**")


def _soft_error(text: str, number: int) -> str:
    """A generator's answer: a word is replaced, left out or put in, sometimes with another severity than was asked."""
    instruction, _, rest = text.partition("Instruction: ")[2].partition("\n\nGenerated Text: ")
    words = rest.partition("\n\nFollow these rules:")[0].split(" ")
    at = number % len(words)
    words[at : at + 1] = ([], ["sauna"], ["sauna", words[at]])[number % 3]
    fields = {
        "Error Type": "incorrect information",
        "Cultural Content": ("Yes", "No")[number % 5 == 0],
        "Rule Adherence": "One word.",
        "Explanation": "There is no sauna.",
        "Severity": ("minor", "major", "Major, clearly")[number % 3],
        "Modified Instruction": instruction,
        "Modified Generated Text": " ".join(words),
    }
    return "OUTPUT: " + json.dumps(fields, ensure_ascii=False)


def _report(text: str, number: int) -> Any:
    from excam.error_reports.records import CulturalError, Report

    words = text.split("Text: ")[-1].rpartition(" Return an error report")[0].split()
    if number % 3 == 0 or not words:
        return Report()
    at = number % len(words)
    span = " ".join(words[at : at + 1 + number % 2])
    severity = ("minor", "major")[number % 2]
    return Report((CulturalError("output", span, severity, "incorrect information"),), f"{span} is not from there.")


def _train(run: Any, rows: Any, recipe: Any, *_: Any, **_named: Any) -> dict[str, Any]:
    """Write what would be learned: token ids in their order, each with its label."""
    from excam.error_reports import fixed_answers
    from excam.inference import fake
    from excam.training import sft, tokens

    learned = json.dumps(tokens.with_labels(sft.training_order(rows, recipe, run.seed), recipe.loss)).encode()
    folder: Path = run.folder
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "adapter_model.safetensors").write_bytes(learned)
    (folder / "adapter_config.json").write_text("{}")
    (folder / "loss.csv").write_text("step,loss,grad_norm,learning_rate\n1,2.5,1.0,0.001\n2,1.5,0.5,0.002\n")
    scores = fixed_answers.scores(fake.Backend().choose)
    base = [(score - 1.0 * count, count) for score, count in scores]
    measured = {"base": base, "tuned": scores}
    return {"steps": 2, "rows": 8, "fixed_answers": measured, "training_seconds": 1.0, "seed": run.seed}


def _model(folder: Path) -> None:
    """A tokenizer with one token a byte, and the least that is a file of weights."""
    sys.path.append(str(ROOT / "tests/helpers"))
    import small_adapters
    import tiny

    folder.mkdir(exist_ok=True)
    tiny.make_tokenizer().save_pretrained(folder)
    (folder / "config.json").write_text(json.dumps({"model_type": "llama", "max_position_embeddings": 8192}))
    (folder / "model.safetensors").write_bytes(small_adapters.WEIGHTS)


def _answer(path: Path) -> None:
    """People's answers to a campaign, as its annotators would export them."""
    from excam.annotation import campaign, exchange
    from excam.annotation.answers import Answer

    validation_campaign = campaign.read(path)
    questions = [question for question in validation_campaign.form.questions if question.kind == "choice"]
    choices = {question.field: list(question.values) for question in questions}
    for who in ANNOTATORS:
        answers = []
        for task in validation_campaign.tasks:
            number = int(digest_of(f"{who} {task.id}".encode())[:8], 16)
            chosen = {name: values[number % 7 % (len(values) - 1)] for name, values in choices.items()}
            flags = {"borderline": number % 5 == 0, "severity_ok": number % 3 > 0, "type_ok": number % 4 > 0}
            values = {**validation_campaign.form.empty(), **chosen, **flags}
            answers.append(Answer(task.id, who, values, seconds=30, saved="2026-04-01T12:00:00.000Z"))
        Path(f"exports/{who}.json").write_text(exchange.to_json(validation_campaign, answers), encoding="utf-8")


def made(folder: Path) -> Record:
    """Plan and run the experiment in a new folder."""
    checkout(folder)
    _model(folder / "by-rule")
    return run(folder, plan(folder))


def recorded() -> Record:
    return json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}


def record(now: Record) -> None:
    """Write the record, one line a job."""
    lines = [f"{json.dumps(name)}: {json.dumps(job)}" for name, job in now.items()]
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
