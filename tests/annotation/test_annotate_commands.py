"""`excam annotate`: what a person types to run a campaign, and what she reads when it cannot be done."""

import csv
import io
import json
import socket
import subprocess
import sys

import campaigns
import pytest
import typer.main
from annotation_server_process import ENVIRONMENT, Running, command, made, written
from campaigns import answer, blank

from excam.annotation import exchange, page, storage
from excam.annotation.commands import HERE, app
from excam.annotation.store import Store

ANSWERS = [
    answer(0, "ada", comment_1="=1+1", comment_2="'quoted', \"and\"\r\nbroken"),
    answer(0, "grace", culture_related="no"),
    answer(1, "ada", comment_1="שלום 👍"),
    blank(f"{2:016x}", "ada", skipped=True, saved="2026-04-01T12:00:00.000Z"),
    blank(f"{3:016x}", "grace", culture_related="yes", saved="2026-04-01T12:00:01.000Z"),
]


@pytest.fixture
def drawn(tmp_path):
    return written(tmp_path / "campaign.json", campaigns.small())


@pytest.fixture
def path(tmp_path):
    """A store with answers."""
    made(tmp_path / "answers.store", campaigns.small(), ["ada", "grace"])
    with Store(tmp_path / "answers.store") as store:
        store.merge(ANSWERS)
    return tmp_path / "answers.store"


def refused(done, *words):
    """It stopped with exit code 2, nothing on stdout and one line, which has these words."""
    code = done.returncode if isinstance(done, subprocess.CompletedProcess) else done.exit_code
    assert (code, done.stdout) == (2, ""), (done.stdout, done.stderr)
    assert done.stderr.startswith("excam: ")
    assert done.stderr.count("\n") == 1
    assert all(word in done.stderr for word in words), done.stderr


def test_help_has_an_example_for_each():
    for name in typer.main.get_command(app).commands:
        assert f"Example: excam annotate {name}" in " ".join(command(name, "--help").stdout.split())


def test_commands_load_no_server_and_no_database_until_they_are_used():
    heavy = ("starlette", "uvicorn", "sqlite3", "pydantic", "polars")
    code = f"import excam.annotation.commands, sys; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=ENVIRONMENT)
    assert done.stdout.strip() == "[]"


def test_without_what_serving_needs_it_says_what_to_install(path):
    code = "import sys; sys.modules['uvicorn'] = None; from excam.cli import app; app()"
    line = [sys.executable, "-c", code, "annotate", "serve", str(path)]
    done = subprocess.run(line, capture_output=True, text=True, env=ENVIRONMENT, check=False)
    refused(done, "uvicorn: not installed", "pip install 'excam[serve]'")


# --- page


def test_page_is_written_whole(tmp_path, drawn):
    assert command("page", drawn, "--to", tmp_path / "new" / "page.html").exit_code == 0
    assert (tmp_path / "new" / "page.html").read_text(encoding="utf-8") == page.write(campaigns.small())


def test_an_absent_or_changed_campaign_is_refused(tmp_path, drawn):
    refused(command("page", tmp_path / "absent", "--to", tmp_path / "x"), "absent: no campaign", "excam annotate draw")
    drawn.write_text(drawn.read_text().replace("kale", "leek"))
    refused(command("page", drawn, "--to", tmp_path / "x"), "changed after it was drawn")
    refused(command("create", tmp_path / "store", drawn, "ada"), "changed after it was drawn")
    assert not (tmp_path / "store").exists()


# --- create and link


def test_create_prints_links_and_adds_annotators_to_a_store(tmp_path, drawn):
    store = tmp_path / "answers.store"
    first = command("create", store, drawn, "ada", "grace")
    second = command("create", store, drawn, "eve")
    lines = [line.split("\t") for line in (first.stdout + second.stdout).splitlines()]
    assert [name for name, _ in lines] == ["ada", "grace", "eve"]
    with Store(store) as opened:
        assert [opened.annotator(link.removeprefix(f"{HERE}/a/")) for _, link in lines] == ["ada", "grace", "eve"]


def test_create_refuses_a_known_annotator_another_campaign_and_an_invalid_name(tmp_path, drawn, path):
    refused(command("create", path, drawn, "eve", "ada"), "ada is there already", f"excam annotate link {path} ada")
    refused(command("create", path, drawn, "a b"), "annotator 'a b'", "letters, digits")
    refused(command("create", path, drawn, "eve", ""), "annotator ''")
    refused(command("create", path, drawn, "eve", "eve"), "twice")
    other = written(tmp_path / "other.json", campaigns.small(4))
    refused(command("create", path, other, "eve"), f"of campaign {campaigns.small().id}", "take another file")
    with Store(path) as store:
        assert store.annotators() == ["ada", "grace"]


def test_a_create_that_was_killed_half_way_is_begun_again(tmp_path, drawn):
    (tmp_path / "store").touch()
    assert command("create", tmp_path / "store", drawn, "ada").exit_code == 0


def test_link_gives_another_and_renew_the_only_one(path):
    with Store(path) as store:
        first = store.link("ada")
    second = command("link", path, "ada").stdout.split()[1].removeprefix(f"{HERE}/a/")
    with Store(path) as store:
        assert [store.annotator(token) for token in (first, second)] == ["ada", "ada"]
    behind_tls = ("--renew", "--address", "https://study.example/")
    third = command("link", path, "ada", *behind_tls).stdout.split()[1].removeprefix("https://study.example/a/")
    with Store(path) as store:
        assert [store.annotator(token) for token in (first, second, third)] == [None, None, "ada"]
    for words in ((), ("--renew",)):
        refused(command("link", path, "eve", *words), "no annotator 'eve'", "expected one of ada, grace")
    for address in ("study.example", "https://study.example/study", "ftp://study.example"):
        refused(command("link", path, "ada", "--address", address), f"--address: found '{address}'", "scheme and host")


# --- progress


def test_progress_counts_done_tasks_of_the_assigned_ones(path):
    lines = [json.loads(line) for line in command("progress", path, "--json").stdout.splitlines()]
    ada, grace = lines
    assert {name: ada[name] for name in ("annotator", "finished", "skipped", "unfinished", "assigned")} == {
        **{"annotator": "ada", "finished": 2, "skipped": 1, "unfinished": 0, "assigned": 10}
    }
    assert (ada["minutes"], ada["minutes_per_task"], ada["last_saved"]) == (1.0, 0.5, "2026-04-01T12:00:00.000Z")
    assert (grace["finished"], grace["unfinished"], grace["minutes"]) == (1, 1, 0.5)
    with Store(path) as store:
        store.add(["eve"])
    printed = command("progress", path).stdout.splitlines()
    assert [line.split()[:6] for line in printed[1:]] == [
        ["ada", "2", "1", "0", "10", "1.0"],
        ["eve", "0", "0", "0", "10", "0.0"],
        ["grace", "1", "0", "1", "10", "0.5"],
    ]


# --- serve


def test_serve_says_where_and_for_which_names(path, tmp_path):
    with Running(path, "--allow-host", "study.example", log=tmp_path / "log") as server:
        assert server.end() in (0, -15)
    line = f"listening at http://127.0.0.1:{server.port} for the host names localhost, 127.0.0.1, [::1], study.example"
    assert line in (tmp_path / "log").read_text()
    assert "warning" not in (tmp_path / "log").read_text()


def test_serve_warns_where_others_can_listen_in(path, tmp_path):
    with Running(path, "--host", "0.0.0.0", log=tmp_path / "log"):
        pass
    assert "warning: what is sent is not encrypted, links included; " in (tmp_path / "log").read_text()


def test_serve_refuses_a_port_that_is_taken_and_an_address_that_is_not_here(path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused(command("serve", path, "--port", port), f"127.0.0.1 port {port}: Address already in use", "--port")
    refused(command("serve", path, "--host", "192.0.2.1", "--port", 0), "192.0.2.1 port 0: ")
    refused(command("serve", path, "--host", "no.such.host.invalid"), "no.such.host.invalid port 8123: ")


# --- export and import


def test_export_writes_what_the_page_writes_and_the_systems_for_the_owner(path, tmp_path):
    small_campaign = campaigns.small()
    done = command("export", path, "--to", tmp_path / "a.json")
    assert done.stderr == f"{tmp_path}/a.json: 5 answers, 4 finished, 1 not\n"
    assert (tmp_path / "a.json").read_bytes() == exchange.to_json(small_campaign, ANSWERS).encode()
    command("export", path, "--to", tmp_path / "a.csv", "--annotator", "ada")
    content = (tmp_path / "a.csv").read_bytes()
    own = [a for a in ANSWERS if a.annotator == "ada"]
    assert content == exchange.to_csv(small_campaign, own, exchange.owner_columns(small_campaign)).encode()
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    assert [(row["source_1"], row["source_2"]) for row in rows] == [campaigns.SOURCES] * 3
    assert json.loads((tmp_path / "a.json").read_text())["campaign"] == small_campaign.id


def test_owner_reads_the_input_beside_each_answer_and_joins_nothing(path, tmp_path):
    for kind in ("csv", "jsonl"):
        command("export", path, "--to", tmp_path / f"a.{kind}")
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    rows = list(csv.DictReader(io.StringIO((tmp_path / "a.csv").read_text("utf-8-sig"), newline="")))
    tasks = {task.id: task for task in campaigns.small().tasks}
    assert len(lines) == len(rows) == len(ANSWERS)
    for line, row in zip(lines, rows, strict=True):
        task = tasks[line["task"]]
        assert (line["row"], row["row"], row["task"]) == (task.row, task.row, task.id)
        assert (line["shown"], line["hidden"]) == (json.loads(json.dumps(task.shown)), task.hidden)
        assert row["task.explanation"] == task.shown["explanation"]
        assert json.loads(row["task.modified_output"]) == line["shown"]["modified_output"]


def test_export_refuses_another_kind_and_a_stranger(path, tmp_path):
    refused(command("export", path, "--to", tmp_path / "a.xlsx"), "ends in .xlsx; expected .csv, .json or .jsonl")
    refused(command("export", path, "--to", tmp_path / "a"), "ends in nothing")
    refused(command("export", path, "--to", tmp_path / "a.csv", "--annotator", "eve"), "no annotator 'eve'")
    refused(command("export", path, "--to", path / "a.csv"), "expected a file that can be read or written")
    assert [file.name for file in tmp_path.iterdir()] == ["answers.store"]


def test_import_takes_a_file_whole_or_not(path, tmp_path):
    small_campaign = campaigns.small()
    good, bad = answer(9, "ada"), tmp_path / "bad.json"
    cases = {
        exchange.to_json(small_campaign, [good, answer(9, "eve")]): "no annotator 'eve'",
        exchange.to_json(campaigns.small(4), [answer(0, "ada")]): "answers of campaign",
        exchange.to_json(small_campaign, [good])[:-20]: "not complete JSON",
    }
    for content, word in cases.items():
        bad.write_text(content)
        refused(command("import", path, bad), word)
    refused(command("import", path, tmp_path / "absent.csv"), "No such file")
    with Store(path) as store:
        assert len(store.answers()) == len(ANSWERS)


@pytest.mark.parametrize("other", [storage.LAYOUT - 1, storage.LAYOUT + 1])
def test_a_store_of_another_layout_is_refused_by_every_command(path, tmp_path, drawn, other):
    with storage.connect(path) as db:
        db.execute(f"PRAGMA user_version = {other}")
    db.close()
    for words in (
        ("create", path, drawn, "eve"),
        ("link", path, "ada"),
        ("serve", path, "--port", 0),
        ("export", path, "--to", tmp_path / "a.csv"),
        ("import", path, drawn),
    ):
        refused(command(*words), f"layout {other}; expected {storage.LAYOUT}", "export its answers there")
