"""Every option of `excam score` with metrics of every kind: it has an effect, or is refused in one line with the reason.

A table of docs/api.md says which; `REWRITE_DOCS=1 pytest tests/scoring/test_metric_options.py` rewrites it.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from random import Random

import httpx
import own_metric
import pytest
import small_adapters
from fake_chat_server import Server, right
from test_metric_server import serving
from typer.testing import CliRunner

from excam import cli
from excam.error_reports import qualification
from excam.error_reports.qualification import question_set
from excam.error_reports.readers.chat import Chat
from excam.knowledge import index as packs
from excam.scoring import metric

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/api.md"
OWN = Path(own_metric.__file__)
METRICS = {name: metric.available()[name] for name in ("excam", "rubric", "acre", "calmqa", "bleu")}
METRICS["a metric of 40 lines"] = own_metric.Politeness()
TRANSLATION = {"translation": "He is in confinement.", "reference": "She is in her month of confinement."}
TRANSLATION["target_language"] = "English"
ROWS = 12
LABELS = {"language": "English", "system": "us", "culture": "Japan"}


def of_schema(schema, draw):
    """A value that a JSON schema allows, drawn."""
    if "anyOf" in schema:
        return of_schema(draw.choice(schema["anyOf"]), draw)
    if "enum" in schema:
        return draw.choice(schema["enum"])
    if schema.get("type") == "object":
        return {name: of_schema(subschema, draw) for name, subschema in schema.get("properties", {}).items()}
    values = {"array": [], "integer": 3, "number": 0.5, "boolean": draw.random() < 0.5, "null": None}
    return values.get(schema.get("type"), "so")


def answer(body):
    """An answer in the form that is asked for; it depends on the whole request."""
    draw = Random(hashlib.sha256(json.dumps(body, sort_keys=True).encode()).digest())
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    line = re.search(r"Answer with one line, (\w+): (.*)", body["messages"][-1]["content"])
    options = [option.strip() for option in re.split(r",|\bor\b", line[2])] if line else []
    text = f"{line[1]}: {draw.choice(options)}" if line else str(draw.randint(0, 10))
    text = json.dumps(of_schema(schema, draw)) if schema else text
    return right(text, tokens=[(text, -draw.random())])


def rows_of(name, endings):
    """Rows of a metric's example; each text has one of these endings."""
    example = {"question": "Why?", "answer": "So it is.", "language": "English"} if name == "calmqa" else TRANSLATION
    example, text = dict(METRICS[name].example) or example, text_of(METRICS[name])
    return [{"id": str(at)} | example | {text: f"{example[text]}{ending}"} for at, ending in enumerate(endings)]


def text_of(scored_by):
    """The column of the text that a metric scores."""
    return scored_by.pair[1] if scored_by.pair else "translation"


def words_of(name, model, index):
    """Options of `excam score` for a metric, the words for its model, and an index of evidence."""
    evidence = ["--evidence", str(index)] if METRICS[name].evidence == "own" else []
    return ["--metric", name if name in metric.available() else str(OWN), *model, *evidence]


class Trial:
    """A metric, and all that options of it need."""

    def __init__(self, name, folder, index):
        self.metric, self.folder, self.index = METRICS[name], folder, str(index)
        self.server = Server(default=answer)
        self.text = text_of(self.metric)
        self.rows = rows_of(name, (f" {'so ' * at}" for at in range(ROWS)))
        self.file = self.written("rows.jsonl", self.rows)
        self.words = words_of(name, [] if self.metric.asks == "nothing" else self.model("judge"), index)
        self.name = self.words[1]
        self.plain = self(*self.words)
        assert self.plain.exit_code == 0, self.plain.output
        assert len(self.plain.results) == ROWS

    def written(self, name, rows):
        file = self.folder / name
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return file

    def model(self, name):
        return ["--model", f"{name}@{self.server.endpoint.rstrip('/')}"]

    def __call__(self, *words, file=None):
        done = CliRunner().invoke(cli.app, ["score", *map(str, (file or self.file, *words))])
        done.results = [json.loads(line) for line in done.stdout.splitlines()] if done.exit_code in (0, 1) else []
        return done

    def with_(self, *words, file=None):
        return self(*self.words, *words, file=file)

    def renamed(self, **columns):
        return [{columns.get(name, name): value for name, value in row.items()} for row in self.rows]


def signature(done):
    return done.results[0]["signature"] if done.results else ""


def seen(has_effect, *words):
    """A trial of options whose effect is seen in what the command did."""

    def tried(trial):
        done = trial.with_(*words)
        return done, has_effect(done)

    return tried


def changes_the_signature(*words):
    return lambda trial: seen(lambda done: signature(done) not in (signature(trial.plain), ""), *words)(trial)


def second_model(said, *words):
    return lambda trial: seen(lambda done: said in signature(done), *trial.model("second"), *words)(trial)


def of_this_machine(model, option, value, said):
    """A trial of an option for a model in a folder, which the command says that it read."""

    def tried(trial):
        folder = small_adapters.make(trial.folder / option).parents[2] / model
        words = [word for word in trial.words if "@http" not in str(word) and word != "--model"]
        done = trial(*words, *(["--model", folder] if trial.metric.asks != "nothing" else []), option, value)
        return done, said in done.stderr

    return tried


def repeated(done):
    return done.exit_code == 0 and done.results[0]["agreement"]["judgements"] == 3


def with_evidence(trial):
    bare = trial("--metric", trial.name, *[word for word in trial.words[2:] if word not in ("--evidence", trial.index)])
    done = trial.with_(*([] if trial.metric.evidence == "own" else ["--evidence", trial.index]))
    return done, "evidence:" in signature(done) and signature(bare) != signature(done)


def calibrated(trial):
    to, made, gold = (trial.folder / name for name in ("to-calibrate.jsonl", "calibration.json", "gold.csv"))
    trial.with_("--to", to)
    gold.write_text("id,error\n" + "".join(f"{at},{at % 3 == 0}\n" for at in range(ROWS)))
    words = ["calibrate", to, "--gold", gold, "--to", made, "--overwrite", "--metric", trial.name]
    CliRunner().invoke(cli.app, list(map(str, words)))
    return made


def calibration(trial):
    done = trial.with_("--calibration", calibrated(trial))
    return done, done.exit_code == 0 and all("probability" in row for row in done.results if row["failure"] is None)


def band(trial):
    done = trial.with_("--calibration", calibrated(trial), "--band", 0, 1)
    return done, done.exit_code == 0 and {result.get("verdict") for result in done.results} == {"unsure"}


def qualified(trial):
    file = trial.folder / "qualified.json"
    model = signature(trial.plain).split("|judge:")[0].removeprefix("excam|")
    table = [["rows", "right [95 %]", "decided"], ["360", ".84", ".61"]]
    made = {"version": qualification.REVISION, "set": question_set.identity(), "table": table}
    reader = Chat(likelihoods=True).signature
    file.write_text(json.dumps({"model": model, "reader": reader, "way": {"slopes": {"en": 1.0}}, **made}))
    done = trial.with_(*(["--evidence", trial.index] if trial.metric.qualifies else []), "--qualified", file)
    return done, "judge:grounded" in signature(done) and "|en:1" in signature(done)


def pair_is_named(trial):
    asked, output_column = trial.metric.pair or ("asked", "translation")
    file = trial.written("named.jsonl", trial.renamed(**{asked: "first", output_column: "second"}))
    done = trial.with_("--instruction", "first", "--output", "second", file=file)
    return done, [result["texts"] for result in done.results] == [result["texts"] for result in trial.plain.results]


def column_is_named(trial):
    file = trial.written("named.jsonl", trial.renamed(**{trial.text: "third"}))
    done = trial.with_("--column", f"{trial.text}=third", file=file)
    return done, [result["texts"] for result in done.results] == [result["texts"] for result in trial.plain.results]


def without(trial):
    absent = next(iter(trial.metric.stand_ins), "x")
    rows = [{name: value for name, value in row.items() if name != absent} for row in trial.rows]
    done = trial.with_("--without", absent, file=trial.written("lacking.jsonl", rows))
    is_said = f"|without:{absent}|" in signature(done)
    return done, is_said and all("stand-in" in result["warnings"] for result in done.results)


def labels_are_named(trial):
    more = {"key": "k", **{f"my {name}": value for name, value in LABELS.items()}}
    file = trial.written("labelled.jsonl", [{**row, **more, "key": f"k{at}"} for at, row in enumerate(trial.rows)])
    words = ("--id", "key", *(word for name in LABELS for word in (f"--{name}", f"my {name}")))
    done = trial.with_(*words, file=file)
    read = {name: value for name, value in LABELS.items() if name not in trial.metric.reads}
    return done, done.exit_code == 0 and done.results[0].items() >= {"id": "k0", **read}.items()


def encoding(trial):
    file = trial.folder / "utf-16.jsonl"
    file.write_bytes(json.dumps({**trial.rows[0], trial.text: "café"}, ensure_ascii=False).encode("utf-16-le"))
    done = trial.with_("--encoding", "utf-16-le", file=file)
    return done, done.exit_code == 0 and done.results[0]["texts"][trial.text] == "café"


def strict(trial):
    file = trial.written("bad.jsonl", [*trial.rows, {**trial.rows[0], "id": "bad", trial.text: None}])
    lenient, done = trial.with_(file=file), trial.with_("--strict", file=file)
    counted = [result["failure"] for result in lenient.results if result["id"] == "bad"] == [f"missing-{trial.text}"]
    return done, counted and done.exit_code == 2 and "expected none with --strict" in done.stderr


def written(suffix):
    def tried(trial):
        to = trial.folder / f"to{suffix}"
        done, again = trial.with_("--to", to), trial.with_("--to", to)
        other = trial.with_("--limit", 2, "--to", to)
        shown = CliRunner().invoke(cli.app, ["explain", str(to)])
        kept = "nothing is asked" in again.stderr and other.exit_code == 2 and "--overwrite" in other.stderr
        over = trial.with_("--limit", 2, "--to", to, "--overwrite")
        return done, kept and shown.exit_code == over.exit_code == 0

    return tried


def process(*words):
    command = [sys.executable, "-m", "excam", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def served(trial):
    if trial.metric.needs_file:
        done = process("serve", "--port", 0, *trial.words)
        done.exit_code = done.returncode
        return done, False
    with serving(*trial.words) as url:
        answer_ = httpx.post(f"{url}/score", json={"rows": trial.rows}, timeout=60).json()
    return trial.plain, answer_["signature"] == signature(trial.plain)


def without_connections(trial):
    done = process("score", trial.file, *trial.words, "--offline")
    done.exit_code = done.returncode
    return done, (done.exit_code == 0) == (trial.metric.asks == "nothing") or "--offline" in done.stderr


def one_request_at_a_time(trial):
    trial.server.most = 0
    done = trial.with_("--concurrency", 1, "--rate", 100000, "--timeout", 30)
    return done, done.exit_code == 0 and trial.server.most == 1


def left_out(trial):
    done = trial.with_("--omit", "seed", "--omit", "system")
    body = trial.server.calls[-1] if trial.server.calls else {"seed": 0}
    return done, done.exit_code == 0 and "seed" not in body and body["messages"][0]["role"] == "user"


OPTIONS = {
    "several `--model`": second_model("|combine:mean|{model:judge"),
    "`--base`": of_this_machine("adapters/tiny/all", "--base", "models/tiny/gone", "models/tiny/gone: "),
    "`--backend`": of_this_machine("models/tiny", "--backend", "vllm", "vllm"),
    "`--dtype`": of_this_machine("models/tiny", "--dtype", "int8", "found int8"),
    "`--judge`": changes_the_signature("--judge", "report"),
    "`--max-tokens`": changes_the_signature("--max-tokens", "100"),
    "`--temperature`": changes_the_signature("--temperature", "0.7"),
    "`--repeat`": seen(repeated, "--repeat", 3, "--temperature", 0.7),
    "`--combine`": second_model("combine:median", "--combine", "median"),
    "`--evidence`": with_evidence,
    "`--calibration`": calibration,
    "`--band`": band,
    "`--qualified`": qualified,
    "`--concurrency`, `--rate`, `--timeout`": one_request_at_a_time,
    "`--omit`": left_out,
    "`--fail-on`": seen(lambda done: done.exit_code in (0, 3), "--fail-on", "minor"),
    "`--instruction`, `--output`": pair_is_named,
    "`--column`": column_is_named,
    "`--without`": without,
    "`--id`, `--language`, `--system`, `--culture`": labels_are_named,
    "`--encoding`": encoding,
    "`--limit`": seen(lambda done: len(done.results) == 2, "--limit", 2),
    "`--strict`": strict,
    "`--to` with .jsonl, `--overwrite`": written(".jsonl"),
    "`--to` with .parquet": written(".parquet"),
    "`--to` with .csv": written(".csv"),
    "`--offline`": without_connections,
    "`excam serve`": served,
}


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """Documents that say something of every row."""
    folder = tmp_path_factory.mktemp("documents")
    text = "So it is in Japan: a host is greeted with a bow. Sushi is no Greek dish. A month of rest after childbirth."
    document = {"id": "1", "title": "Customs", "text": text, "licence": "CC0-1.0"}
    (folder / "documents.jsonl").write_text(json.dumps(document) + "\n")
    packs.build([folder], folder / "index")
    return folder / "index"


@pytest.fixture(scope="module")
def effects(tmp_path_factory, index):
    """By metric and option: "" for an effect, the reason of a refusal."""
    cells = {}
    for name in METRICS:
        trial = Trial(name, tmp_path_factory.mktemp("trial"), index)
        for option, tried in OPTIONS.items():
            done, has_effect = tried(trial)
            lines = [line for line in done.stderr.splitlines() if f"metric {trial.metric.name} " in line]
            refused = done.exit_code == 2 and lines and done.stderr.count("\n") == 1
            assert refused or has_effect, (name, option, done.exit_code, done.stderr, done.stdout[-500:])
            cells[option, name] = reason(lines[0]) if refused else ""
        trial.server.stop()
    return cells


def reason(line):
    """Why an option is refused, without what was given and what to do."""
    return re.sub(r"^excam: .*?metric [\w-]+ (has none: )?|; .*$", "", line)


def table(cells):
    """Options that are refused alike in a row, with the metrics and the reason."""
    alike = defaultdict(list)
    for option in OPTIONS:
        refused = defaultdict(list)
        for name in METRICS:
            refused[cells[option, name]].append(f"`{name}`" if name in metric.available() else name)
        alike["; ".join(f"{', '.join(names)}: {why}" for why, names in refused.items() if why)].append(option)
    lines = [f"| {', '.join(options)} | {reasons} |" for reasons, options in alike.items() if reasons]
    return "\n".join(["| option | refused by |", "|---|---|", *lines])


@pytest.mark.nightly  # a minute: each option of each metric scores rows
def test_every_option_has_an_effect_or_is_refused(effects):
    page = PAGE.read_text(encoding="utf-8")
    begin, end = "<!-- options: begin -->\n", "\n<!-- options: end -->"
    before, after = page.partition(begin)[0], page.partition(end)[2]
    now = f"{before}{begin}{table(effects)}{end}{after}"
    if os.environ.get("REWRITE_DOCS"):
        PAGE.write_text(now, encoding="utf-8")
        return
    assert page == now, "run: python tests/records.py"
