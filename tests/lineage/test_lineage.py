"""A number leads to its rows and to the raw shards, and one flipped byte on the way is named.

The chain under test is made by the real scripts with a model that is none; Snakemake's records of it are its own, as
`--touch` writes them.
"""

import base64
import hashlib
import json
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from one_line_errors import line_of
from typer.testing import CliRunner

from excam import cli
from excam.core import paths, provenance, tables
from excam.core.exceptions import ArtifactBroken
from excam.error_reports import record_files
from excam.error_reports.judges import report
from excam.error_reports.records import CulturalError, Report
from excam.inference import backend_factory, fake
from excam.lineage import cell_rows, chain, copies, page, recorded_hashes, snakemake_records
from scripts.errors import make_hard_errors
from scripts.evaluation import evaluate
from scripts.excam40k import split_samples
from scripts.judging import judge, score
from scripts.samples import build_samples
from scripts.sources import fetch_source

ROOT = Path(__file__).parents[2]
CELL = "results/evaluation/tiny/all/report/culturalbench/test.json"
JUDGED = "results/judgements/tiny/all/report/culturalbench/test.parquet"
TRANSCRIPT = "results/transcripts/tiny/all/report/culturalbench/test.jsonl"
MANIFEST = "results/transcripts/tiny/all/report/culturalbench/test.manifest.json"
SAMPLES = "results/excam40k/culturalbench/test.parquet"
SHARD = "results/published/permissive/mit/culturalbench/test.parquet"
FIGURE = "results/paper/figure-3.pdf"
RAW = "mini/culturalbench/CulturalBench-Easy.csv"
KINDS = {  # an artifact of each kind that the chain of the figure and of the published build has
    *(RAW, "results/sources/culturalbench/files/CulturalBench-Easy.csv", "results/sources/culturalbench/manifest.json"),
    *("results/samples/culturalbench.parquet", "results/samples/culturalbench.bases.jsonl"),
    *("results/errors/hard/culturalbench.parquet", SAMPLES, TRANSCRIPT, JUDGED, CELL, FIGURE, SHARD),
    *("results/models/tiny/files/model.safetensors", "results/models/tiny/manifest.json"),
    *("results/adapters/tiny/all/adapter_model.safetensors", "results/adapters/tiny/all/manifest.json"),
    *(MANIFEST, "results/published/permissive/manifest.json"),
}
SNAKEFILE = """
rule all:
    input: "results/paper/figure-3.pdf", "results/published/permissive/manifest.json"
rule fetch_source:
    input: "mini/culturalbench/CulturalBench-Easy.csv"
    output: "results/sources/culturalbench/manifest.json"
    params: version='{"fetch_source": "2"}', source='{"folder": "mini/culturalbench"}'
    shell: "python -m scripts fetch_source --manifest {output}"
rule fetch_model:
    output: "results/models/tiny/manifest.json"
    shell: "python -m scripts fetch_model --manifest {output}"
rule train_adapter:
    input: "results/models/tiny/manifest.json"
    output: "results/adapters/tiny/all/adapter_model.safetensors", "results/adapters/tiny/all/manifest.json"
    params: version='{"train_adapter": "2"}', recipe='{"rank": 4}'
    shell: "python -m scripts train_adapter --weights {input}"
rule build_samples:
    input: "results/sources/culturalbench/manifest.json"
    output: "results/samples/culturalbench.bases.jsonl", "results/samples/culturalbench.parquet"
    params: version='{"build_samples": "2", "datasets.culturalbench": "1+0a1b2c3d"}', cap=8, seed=1
    shell: "python -m scripts build_samples --source {input} --cap {params.cap}"
rule make_hard_errors:
    input: rules.build_samples.output
    output: "results/errors/hard/culturalbench.parquet"
    shell: "python -m scripts make_hard_errors --errors {output}"
rule split_samples:
    input: "results/samples/culturalbench.parquet", "results/errors/hard/culturalbench.parquet"
    output: "results/excam40k/culturalbench/test.parquet"
    shell: "python -m scripts split_samples --folder results/excam40k/culturalbench"
rule judge:
    input: rules.split_samples.output, rules.fetch_model.output, rules.train_adapter.output
    output:
        "results/transcripts/tiny/all/report/culturalbench/test.jsonl",
        "results/transcripts/tiny/all/report/culturalbench/test.manifest.json",
    params: version='{"judge": "2"}', model='{"context": 512}'
    shell: "python -m scripts judge --transcript {output[0]}"
rule score:
    input: rules.split_samples.output, rules.judge.output[0]
    output: "results/judgements/tiny/all/report/culturalbench/test.parquet"
    shell: "python -m scripts score --judgements {output}"
rule evaluate:
    input: rules.score.output
    output: "results/evaluation/tiny/all/report/culturalbench/test.json"
    params: version='{"evaluate": "2"}'
    shell: "python -m scripts evaluate --numbers {output}"
rule figure_3:
    input: rules.evaluate.output
    output: "results/paper/figure-3.csv", "results/paper/figure-3.pdf"
    shell: "python -m scripts figure_3 --cells {input}"
rule publish_excam40k:
    input: rules.split_samples.output, rules.fetch_source.output
    output: "results/published/permissive/README.md", "results/published/permissive/manifest.json"
    shell: "python -m scripts publish_excam40k --build permissive"
"""


def answer(request) -> str:
    """By the length of the text: no report at all, one that finds an error, or one that finds none."""
    number = len(request.messages[-1].content) % 3
    error_report = Report((CulturalError("output", "\x1b[2Jred", "major", "incorrect answer"),), "No.\nreport: forged")
    return "I \x1b[31mrefuse" if number == 0 else report.write(error_report if number == 1 else Report())


def publish(name: str, content: bytes) -> Path:
    with provenance.publish(Path(name)) as temporary:
        temporary.write_bytes(content)
    return Path(name)


def data() -> None:
    """Raw shard to test set, by the real scripts."""
    shutil.copytree(ROOT / "mini/culturalbench", "mini/culturalbench")
    asked = Path("mini/culturalbench/CulturalBench-Easy.csv")
    asked.write_text(asked.read_text(encoding="utf-8").replace("what", " what"), encoding="utf-8")  # two spaces
    source = {"hub": None, "url": None, "revision": "main", "folder": "mini/culturalbench"}
    manifest, made = "results/sources/culturalbench/manifest.json", "results/samples/culturalbench"
    fetch_source(["--dataset", "culturalbench", "--source", json.dumps(source), "--manifest", manifest])
    words = ["--dataset", "culturalbench", "--source", manifest, "--cap", "8", "--cap-stage", "before", "--seed", "1"]
    shares = ["--allocation", "equal", "--shares", '{"train": 0.2, "dev": 0.2, "test": 0.6}']
    files = ["--bases", f"{made}.bases.jsonl", "--samples", f"{made}.parquet"]
    build_samples([*words, *shares, *files, "--counts", f"{made}.counts.json"])
    wrong = "results/errors/hard/culturalbench.parquet"
    counts = "results/errors/hard/c.counts.json"
    make_hard_errors([*words[:2], *files, "--seed", "1", "--errors", wrong, "--counts", counts])
    folder = ["--folder", "results/excam40k/culturalbench"]
    split_samples(["--right", f"{made}.parquet", "--wrong", wrong, "--seed", "1", *folder])


def model_and_numbers(monkeypatch) -> None:
    """A model and an adapter that are bytes, then the real scripts from transcript to cell, and a figure."""
    weights, adapter = Path("results/models/tiny/manifest.json"), Path("results/adapters/tiny/all/manifest.json")
    Path("results/models/tiny/files").mkdir(parents=True)
    for name in ("config.json", "model.safetensors"):
        (weights.parent / "files" / name).write_bytes(name.encode() * 9)
    fetched = sorted((weights.parent / "files").iterdir())
    facts = {"revision": "c" * 40, "licence": "MIT"}
    provenance.write_manifest(weights, inputs=[], outputs=fetched, settings={}, seconds=1, **facts)
    trained = [publish("results/adapters/tiny/all/adapter_model.safetensors", b"weights" * 9)]
    facts = {"model": "tiny", "trained_on": "all", "base": "c" * 40}
    provenance.write_manifest(adapter, inputs=[weights], outputs=trained, settings={}, seconds=1, **facts)
    monkeypatch.setattr(backend_factory.SharedBackend, "_open", lambda _: fake.Backend(answer))
    words = ["--name", "tiny/all/report", "--model", '{"backend": "transformers", "sampling": {"max_tokens": 64}}']
    words += ["--weights", str(weights), "--adapter", str(adapter), "--judge", "report", "--samples", SAMPLES]
    words += ["--journal", "results/journal/tiny.jsonl", "--seed", "1"]
    judge([*words, "--transcripts", TRANSCRIPT, "--manifests", MANIFEST])
    files = ["--samples", SAMPLES, "--transcripts", TRANSCRIPT, "--judgements", JUDGED]
    score(["--judge", "report", "--end-token", "yes", *files])
    evaluate(["--judgements", JUDGED, "--seed", "1", "--numbers", CELL])
    lines = [{"row": "AVG"}, {"row": "a", "cell": CELL}]
    tables.write_lines(Path(FIGURE).with_suffix(".csv"), ["row", "n", "cell"], lines)
    publish(FIGURE, b"%PDF-1.7 a figure")


def published() -> None:
    folder = Path("results/published/permissive")
    record_files.write_samples(Path(SHARD), record_files.read_samples(Path(SAMPLES)))
    card = publish(f"{folder}/README.md", b"card")
    manifest = folder / "manifest.json"
    provenance.write_manifest(manifest, inputs=[Path(SAMPLES)], outputs=[card, Path(SHARD)], settings={}, seconds=1)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a workflow that has run."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(folder)
        data()
        model_and_numbers(monkeypatch)
        published()
        Path("Snakefile").write_text(SNAKEFILE)
        touch = ["snakemake", "--touch", "--forceall", "--cores", "1", "--quiet", "all", "--", "all"]
        subprocess.run([sys.executable, "-m", *touch], check=True, capture_output=True)
    return folder


@pytest.fixture
def here(made, tmp_path, monkeypatch):
    """A copy of it to spoil, as the current folder."""
    folder = tmp_path / "copy"
    shutil.copytree(made, folder)
    monkeypatch.chdir(folder)
    return folder


def links(*artifacts: str) -> dict[str, chain.Link]:
    return {link.file: link for link in chain.walk(recorded_hashes.Evidence(Path()), artifacts or (FIGURE, SHARD))}


def named(*artifacts: str) -> list[str]:
    return [file for file, link in links(*artifacts).items() if link.status in ("differs", "gone")]


def flip(file: str, at: int = -1) -> None:
    content = bytearray(Path(file).read_bytes())
    content[at] ^= 1
    Path(file).write_bytes(content)


def excam(*words: str):
    result = CliRunner().invoke(cli.app, list(words), env={"COLUMNS": "200"})
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


# --- audit


def test_the_chain_goes_back_to_the_raw_shards_and_holds(here):
    chain_links = links()
    assert set(chain_links) >= KINDS
    assert {link.status for link in chain_links.values()} == {"proven"}
    for file, link in chain_links.items():
        assert link.sha256 == hashlib.sha256(Path(file).read_bytes()).hexdigest()
    assert next(iter(chain_links)) == FIGURE
    record = chain_links["results/samples/culturalbench.parquet"].record
    assert record.stages == {"build_samples": "2", "datasets.culturalbench": "1+0a1b2c3d"}
    assert sorted(record.settings) == ["1", "8"]
    assert record.inputs == ("results/sources/culturalbench/manifest.json",)
    assert record.command == f"python -m scripts build_samples --source {record.inputs[0]} --cap 8"


def test_one_flipped_byte_in_any_file_is_named(here):
    """Over every file of the chain: the first, one in the middle, or the last byte."""
    chain_links = links()
    for number, (file, link) in enumerate(chain_links.items()):
        before = Path(file).read_bytes()
        flip(file, number % 3 * (len(before) - 1) // 2)
        now = links()
        problem = now[file].problem
        spoiled = [name for name, current_link in now.items() if current_link.status != "proven"]
        assert spoiled == [file] or (file in spoiled and file.endswith(".json")), (
            "a spoiled digest accuses its file too"
        )
        assert problem.startswith(f"{file}: differs: expected sha256 {link.sha256} (")
        assert f", found {now[file].sha256}" in problem
        Path(file).write_bytes(before)
    assert not named()


def test_without_own_records_the_other_witnesses_still_speak(here):
    """Runs of before there were any: Snakemake's checksums of inputs, manifests and cells cover all but the last."""
    shutil.rmtree(paths.HASHES)
    unproven = {file for file, link in links().items() if link.status == "unproven"}
    last = {FIGURE, "results/published/permissive/manifest.json"}
    assert unproven == last | {MANIFEST}
    for file in sorted(KINDS - unproven):
        flip(file)
        assert file in named(), file
        flip(file)


def test_what_no_hash_covers_is_said_to_be_unproven(here):
    Path(paths.HASHES, "paper/figure-3.pdf.sha256").unlink()
    result = excam("audit", FIGURE)
    assert result.exit_code == 3
    assert f"{FIGURE}: unproven: no hash of it is recorded" in result.stderr
    assert f"unproven {provenance.sha256(Path(FIGURE))} {FIGURE}" in result.stdout
    assert "0 differs, 0 gone, 1 unproven" in result.stderr


def test_a_consumer_outside_the_chain_speaks_where_nobody_else_does(here):
    shutil.rmtree(paths.HASHES)
    assert links(JUDGED)[JUDGED].claims[0].by == f"Snakemake's record of {CELL}"
    flip(JUDGED)
    assert named(JUDGED) == [JUDGED]


def test_what_is_gone_is_named_with_what_was_there(here):
    digest = provenance.sha256(Path(RAW))
    Path(RAW).unlink()
    result = excam("audit", CELL)
    assert result.exit_code == 1
    assert f"{RAW}: gone: expected sha256 {digest} (Snakemake's record of" in result.stderr
    assert "found nothing" in result.stderr


def test_without_files_everything_that_is_recorded_is_verified(here):
    """Of every kind, in no chain of results/paper too; journals, checkpoints and unfinished files are counted."""
    publish("results/audits/leaks.csv", b"checks")
    for name in ("checkpoints/tiny/all/a.pt", "checkpoints/tiny/.all.lock", "paper/.table-1.md.7.part"):
        Path("results", name).parent.mkdir(parents=True, exist_ok=True)
        Path("results", name).write_bytes(b"grows")
    result = excam("audit")
    assert result.exit_code == 0, result.stderr
    there = {path for path in Path("results").rglob("*") if path.is_file()}
    counted = [path for path in there if path.parts[1] in ("checkpoints", "journal") or path.suffix == ".part"]
    artifacts = there - set(counted) - set(paths.HASHES.rglob("*"))
    assert all(f" {path}\n" in result.stdout for path in artifacts)
    size = sum(path.stat().st_size for path in (*artifacts, Path(RAW)))
    said = f"read {size / 1e6:,.1f} MB: {len(artifacts)} files below results/ and 1 that they were made of; "
    unrecorded = ("2 of checkpoints (they change while a job runs)", "1 of journals (they grow while a job runs)")
    assert result.stderr.splitlines()[-2].startswith(said)
    assert all(part in result.stderr.splitlines()[-2] for part in (*unrecorded, "1 unfinished (of a job that runs"))
    assert len(counted) == 4
    manifests = {path for path in artifacts if path.name.endswith("manifest.json")}  # their files depend on them
    for spoiled in (artifacts - manifests, *({path} for path in manifests)):
        before = {path: path.read_bytes() for path in spoiled}
        for what, spoil in (("differs", flip), ("gone", Path.unlink)):
            for path in spoiled:
                spoil(path)
            result = excam("audit")
            assert result.exit_code == 1
            for path in spoiled:
                assert f"\n{path}: {what}: expected sha256 " in f"\n{result.stderr}", path
        for path, content in before.items():
            path.write_bytes(content)


def test_what_was_made_of_earlier_bytes_accuses_no_file_unless_it_is_in_the_chain(here):
    """A page of an earlier experiment stays where it is; what it was made of is another file by now."""
    other = "results/evaluation/tiny/all/report/culturalbench/dev.json"
    provenance.write_json(Path(other), {"inputs": {SHARD: "0" * 64}})
    assert excam("audit").exit_code == 0
    assert f"{SHARD}: differs: " in excam("audit", other).stderr


def test_a_folder_of_results_may_be_a_link_to_another_disk(here):
    before = excam("audit")
    Path("results/models").rename("large")
    Path("results/models").symlink_to("../large")
    assert (after := excam("audit")).exit_code == 0
    assert after.stdout == before.stdout
    flip("large/tiny/files/model.safetensors")
    assert "results/models/tiny/files/model.safetensors: differs: " in excam("audit").stderr


def test_a_folder_without_artifacts_is_no_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results/journal").mkdir(parents=True)
    (tmp_path / "results/journal/tiny.jsonl").write_text("{}")
    for words in (("audit",), ("audit", "--results", "results")):
        result = excam(*words)
        assert result.exit_code == 2
        assert "results: no artifact; expected a run's; name the folder of the workflow" in result.stderr


def test_made_anew_is_told_from_changed(here):
    """Judgements that were published again are what their record says, but not what the cell was made of."""
    tables.write_frame(Path(JUDGED), tables.read_frame(Path(JUDGED)).reverse())
    problem = links(CELL)[JUDGED].problem
    assert f"({CELL} and 1 more)" in problem
    assert "1 other records agree with what is there: made again since" in problem


def test_a_damaged_record_is_named_with_its_file(here):
    record = Path(paths.HASHES, "paper/figure-3.pdf.sha256")
    for content in (record.read_bytes()[:30], b"\xff" * 99, b""):
        record.write_bytes(content)
        (problem,) = [link.problem for link in links(FIGURE).values() if link.problem]
        assert problem.startswith(f"{FIGURE}: differs: expected sha256 a damaged record ")
        assert f"({record})" in problem


def test_records_are_lines_that_sha256sum_reads(here):
    lines = b"".join(path.read_bytes() for path in sorted(paths.HASHES.rglob("*.sha256")))
    done = subprocess.run(["sha256sum", "--check", "--strict"], input=lines, capture_output=True)
    assert done.returncode == 0, done.stdout
    flip(CELL)
    done = subprocess.run(["sha256sum", "--check", "--quiet"], input=lines, capture_output=True)
    assert done.stdout.decode() == f"{CELL}: FAILED\n"


def test_without_snakemakes_records_the_manifests_lead_on(here):
    shutil.rmtree(".snakemake")
    chain_links = links(CELL, "results/adapters/tiny/all/adapter_model.safetensors")
    assert {JUDGED, "results/models/tiny/files/model.safetensors"} <= set(chain_links)
    text = "\n".join(page.lines(list(chain_links.values())))
    assert "others that no recorded rule made" in text


def test_the_page_says_all_of_every_file(here):
    result = excam("audit", FIGURE)
    assert result.exit_code == 0
    chain_links = links(FIGURE)
    for file, link in chain_links.items():
        assert f"  proven   {link.sha256} {file}\n" in result.stdout
    assert "rule build_samples, stage versions: build_samples 2, datasets.culturalbench 1+0a1b2c3d" in result.stdout
    assert '  settings: {"folder": "mini/culturalbench"}\n' in result.stdout
    assert f"revision {'c' * 40}, licence MIT" in result.stdout
    assert "  command: python -m scripts figure_3 --cells " + CELL in result.stdout
    assert result.stdout.rstrip().endswith(RAW), "raw shards come last"
    n = len(chain_links)
    assert result.stderr.splitlines()[-1] == f"{n} files: {n} proven, 0 differs, 0 gone, 0 unproven"


def test_the_chain_for_machines(here):
    flip(JUDGED)
    result = excam("audit", FIGURE, "--jsonl")
    assert result.exit_code == 1
    by_file = {row["file"]: row for row in map(json.loads, result.stdout.splitlines())}
    assert by_file[JUDGED]["status"] == "differs"
    assert {claim["sha256"] for claim in by_file[JUDGED]["recorded"]} != {by_file[JUDGED]["sha256"]}
    assert by_file[FIGURE]["inputs"] == [CELL]
    assert by_file[CELL]["stages"] == {"evaluate": "2"}
    assert by_file["results/models/tiny/manifest.json"]["manifest"]["revision"] == "c" * 40


def test_audit_from_elsewhere_and_of_no_artifact(here, monkeypatch):
    monkeypatch.chdir("/")
    assert excam("audit", "-d", str(here), CELL).exit_code == 0
    assert excam("audit", "-d", str(here), str(here / CELL)).exit_code == 0
    monkeypatch.chdir(here)
    for path, part in (
        *(("results/none.json", "no such file"), (RAW, "no artifact of this workflow"), ("results", "no such file")),
        *(("/etc/passwd", "no artifact of this workflow"), ("results/journal/tiny.jsonl", "changes while jobs run")),
    ):
        result = excam("audit", path)
        assert result.exit_code == 2, path
        assert part in result.stderr
        assert len(result.stderr.splitlines()) == 1


# --- audit of a copy


@pytest.fixture
def copy(here, tmp_path, monkeypatch):
    """Only results/ of a run, under another name; the reader sits elsewhere."""
    recorded_hashes.write_run_records(Path())
    shutil.copytree("results", tmp_path / "far/their copy")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "far/their copy"


def statuses(result) -> dict[str, tuple[str, str]]:
    rows = map(json.loads, result.stdout.splitlines())
    return {row["file"]: (row["status"], row["sha256"] or row["recorded"][0]["sha256"]) for row in rows}


def test_a_copy_of_results_gives_the_same_chain(here, copy):
    """All but the raw shards of a local folder, which never lay in results/: they are named with what was recorded."""
    home, there = excam("audit", "-d", str(here), "--jsonl"), excam("audit", "--results", str(copy), "--jsonl")
    assert (home.exit_code, there.exit_code) == (0, 4)
    before, after = statuses(home), statuses(there)
    assert after == before | {RAW: ("left out", before[RAW][1])}
    assert "not in this copy, each listed as `left out` with its recorded sha256: mini/culturalbench" in there.stderr
    n = len(before)
    assert there.stderr.endswith(f"{n} files: {n - 1} proven, 0 differs, 0 gone, 0 unproven, 1 not in this copy\n")
    assert f"  left out {before[RAW][1]} {RAW}\n" in excam("audit", "--results", str(copy)).stdout


def test_what_a_copy_leaves_out_is_named_and_never_gone(here, copy):
    before = statuses(excam("audit", "-d", str(here), SHARD, CELL, "--jsonl"))
    shutil.rmtree(copy / "models")
    shutil.rmtree(copy / "journal")
    (copy / "adapters/tiny/all/adapter_model.safetensors").unlink()
    result = excam("audit", "--results", str(copy), SHARD, CELL, "--jsonl")
    after = statuses(result)
    out = {file for file, (status, _) in after.items() if status == "left out"}
    models = (
        f"results/models/tiny/{name}" for name in ("manifest.json", "files/config.json", "files/model.safetensors")
    )
    assert out == {RAW, "results/adapters/tiny/all/adapter_model.safetensors", *models}
    assert after == before | {file: ("left out", before[file][1]) for file in out}
    assert "mini/culturalbench 1, results/adapters 1, results/models 3\n" in result.stderr
    assert result.exit_code == 4
    assert excam("audit", "--results", str(copy), "adapters/tiny/all/adapter_model.safetensors").exit_code == 4


def test_a_file_of_a_copy_by_any_of_its_names(copy, monkeypatch):
    for folder, results, names in (
        ("/", str(copy), (CELL, CELL.removeprefix("results/"), str(copy / CELL.removeprefix("results/")))),
        (copy / "paper", "..", (CELL, f"../{CELL.removeprefix('results/')}")),
        (copy, ".", (CELL, CELL.removeprefix("results/"))),
    ):
        monkeypatch.chdir(folder)
        outputs = {excam("audit", "--results", results, name).stdout for name in names}
        assert len(outputs) == 1
        assert f" {CELL}\n" in outputs.pop()
    for path, part in (
        *(("paper/none.pdf", "the copy has no record of it either"), ("/etc/passwd", "no artifact of this workflow")),
        ("journal/tiny.jsonl", "changes while jobs run"),
    ):
        result = excam("audit", "--results", ".", path)
        assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1), path
        assert part in result.stderr
    assert "no such folder" in excam("audit", "--results", "nowhere").stderr


def test_a_copy_of_an_earlier_release_proves_each_file_alone(copy):
    """Without what Snakemake knew, own records, manifests and cells still speak; damaged it is not taken for missing."""
    kept = copy / ".records.json"
    content = kept.read_bytes()
    kept.unlink()
    result = excam("audit", "--results", str(copy))
    assert result.exit_code == 4
    assert "Snakemake's job records are missing" in result.stderr
    assert "0 differs, 0 gone, 0 unproven, 1 not in this copy" in result.stderr, "the kept records, which are missing"
    flip(copy / "paper/figure-3.pdf")
    assert excam("audit", "--results", str(copy)).exit_code == 1
    for damaged in (content[:-9], b"[]", b"", b'{"jobs": [{"outputs": ["a"]}], "manifests": {}}'):
        kept.write_bytes(damaged)
        result = excam("audit", "--results", str(copy))
        assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
        assert ".records.json: damaged" in result.stderr


JOB = {"outputs": ["results/a"], "rule": "r", "inputs": [], "params": [], "command": "", "checksums": {}, "made": ""}
WHOLE = {"jobs": [JOB], "manifests": {"results/m.json": {"results/a": "0" * 64}}}


@pytest.mark.parametrize(
    "changes",
    [
        *({"jobs": [JOB | {name: odd}]} for name in JOB for odd in (5, None, [5], {"a": 5}, {"a": [5]})),
        *({"manifests": odd} for odd in (5, [], {"results/m.json": 5}, {"results/m.json": {"results/a": 5}})),
        *({"manifests": {name: {}}} for name in ("results", "", "/etc/passwd", "results/../x", "results/\0")),
        *({"manifests": {"results/m.json": {name: ""}}} for name in ("a", "/results/a", "results/../../a")),
        *({name: odd} for name in ("jobs",) for odd in (5, [5], "ab")),
    ],
)
def test_kept_records_of_odd_types_are_damaged(tmp_path, changes):
    """A copy comes from others: whatever its records contain, an audit says one line."""
    path = tmp_path / ".records.json"
    path.write_text(json.dumps(WHOLE), encoding="utf-8")
    assert copies.read_run_records(path).records["results/a"].rule == "r"
    path.write_text(json.dumps(WHOLE | changes), encoding="utf-8")
    assert f"{path}: damaged; expected" in line_of(ArtifactBroken, copies.read_run_records, path)
    result = excam("audit", "--results", str(tmp_path))
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)


def test_records_that_disagree_about_what_a_copy_leaves_out_are_not_passed_over(copy):
    manifest = copy / "adapters/tiny/all/manifest.json"
    weights = copy / "adapters/tiny/all/adapter_model.safetensors"
    digest = provenance.sha256(weights)
    weights.unlink()
    manifest.write_text(manifest.read_text().replace(digest, digest[::-1]))
    result = excam("audit", "--results", str(copy))
    assert result.exit_code == 1
    assert "results/adapters/tiny/all/adapter_model.safetensors: differs: expected sha256" in result.stderr


def test_what_is_kept_of_a_run_is_the_same_each_time(here):
    recorded_hashes.write_run_records(Path())
    first = copies.KEPT.read_bytes()
    recorded_hashes.write_run_records(Path())
    assert copies.KEPT.read_bytes() == first
    kept = copies.read_run_records(copies.KEPT)
    assert kept.records == snakemake_records.read_all(Path())
    assert kept.manifests["results/models/tiny/manifest.json"].keys() == {
        f"results/models/tiny/files/{name}" for name in ("config.json", "model.safetensors")
    }


# --- Snakemake's records


def test_long_names_and_torn_records(tmp_path):
    """As `FilePersistence._record_path` cuts them; a record that is just being written is none."""
    row = {"rule": "a", "input": ["b"], "params": ["''", "'x'", "['--a', 'b c']", "[]"], "shellcmd": None}
    row["endtime"] = 0.0
    row["input_checksums"] = {"b": "sha256:" + "0" * 64, "c": "md5:0"}
    output = "results/" + "é" * 200
    encoded = base64.urlsafe_b64encode(output.encode()).decode()
    assert len(encoded) > 255
    path = tmp_path / snakemake_records.METADATA / f"@{encoded[:254]}" / f"@{encoded[254:508]}" / encoded[508:]
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(row))
    partial = tmp_path / snakemake_records.METADATA / base64.urlsafe_b64encode(b"results/torn").decode()
    partial.write_text(json.dumps(row)[:20])
    facts = ("a", ("b",), ("x", "--a b c"), "", {"b": "0" * 64}, "1970-01-01T00:00:00+00:00")
    assert snakemake_records.read_all(tmp_path) == {output: snakemake_records.OutputRecord(*facts)}
    assert snakemake_records.read_all(tmp_path / "none") == {}


def test_a_manifest_says_in_which_folder_its_files_are(tmp_path):
    """It is the deepest of all: a lone language is one level deeper than several."""
    for names in (("files/Greek/test.txt",), ("files/Greek/test.txt", "files/Turkish/test.txt"), ("test.txt",)):
        folder = tmp_path / str(len(names)) / names[0].split("/")[0] / "results/sources/include"
        files = [folder / name for name in names]
        for file in files:
            file.parent.mkdir(parents=True)
            file.write_text(str(file))
        provenance.write_manifest(folder / "manifest.json", inputs=[], outputs=files, settings={}, seconds=0)
        root = folder.parents[2]
        outputs = recorded_hashes.Evidence(root).outputs("results/sources/include/manifest.json")
        assert outputs == {file.relative_to(root).as_posix(): provenance.sha256(file) for file in files}


# --- rows


def test_rows_add_up_and_are_what_was_asked_and_answered(here):
    cell = cell_rows.open_cell(Path(), Path(CELL))
    samples = {sample.id: sample for sample in record_files.read_samples(Path(SAMPLES))}
    numbers = json.loads(Path(CELL).read_text())
    assert len(cell.rows) == numbers["n"] == len(samples) > 6
    assert {row.outcome for row in cell.rows} == set(cell_rows.OUTCOMES), "the fixture has all three"
    assert sum(row.outcome == "unreadable" for row in cell.rows) == sum(numbers["failures"].values())
    for row in cell.rows:
        sample = samples[row.sample["id"]]
        request, said = row.rounds[0].requests[0], row.rounds[0].answers[0].text
        assert request.messages == report.messages(sample.instruction, sample.output)
        assert said == answer(request)
        read = report.read(said)
        expected = bool(read.errors) == bool(sample.report.errors) if isinstance(read, Report) else None
        assert row.outcome == {True: "right", False: "wrong", None: "unreadable"}[expected]
        gold = {"score": sample.score, "origin": sample.origin, **asdict(sample.report)}
        assert row.to_dict()["gold"] == json.loads(json.dumps(gold))


@pytest.mark.parametrize("cell", ["tiny/all/report/culturalbench", CELL.replace("evaluation", "reports"), JUDGED])
def test_a_number_of_a_figure_leads_to_its_rows(here, cell):
    """By what its CSV file calls its cell, by the axes of that, and by other files of the same judgements."""
    assert CELL in {line["cell"] for line in tables.read_lines(Path(FIGURE).with_suffix(".csv"))}
    result = excam("rows", cell, "--jsonl")
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == json.loads(Path(CELL).read_text())["n"]
    assert result.stdout == excam("rows", CELL, "--jsonl").stdout


def test_what_a_reader_changed_is_shown_as_published_beside_ours(here):
    bases = {base.id: base for base in record_files.read_bases(Path("results/samples/culturalbench.bases.jsonl"))}
    shown = [json.loads(line) for line in excam("rows", CELL, "--jsonl").stdout.splitlines()]
    assert [row["changes"] for row in shown] == [[*bases[row["id"].rsplit("/", 2)[0]].changes] for row in shown]
    published, ours = next((each["published"], each["ours"]) for row in shown for each in row["changes"])
    assert published.replace("  what", " what") == ours != published
    both = f"\n   published prompt_question: {published}\n   ours by double-spaces: {ours}\n"
    assert both in excam("rows", CELL).stdout
    Path("results/samples/culturalbench.bases.jsonl").unlink()
    assert f"of {len(shown)} the published row is not known" in excam("rows", CELL).stderr


def test_filters_part_the_rows(here):
    shown = {name: excam("rows", CELL, "--jsonl", f"--{name}").stdout.splitlines() for name in cell_rows.OUTCOMES}
    assert {row["outcome"] for name in shown for row in map(json.loads, shown[name])} == set(cell_rows.OUTCOMES)
    everything = excam("rows", CELL, "--jsonl").stdout.splitlines()
    assert sorted(line for lines in shown.values() for line in lines) == sorted(everything)
    both = excam("rows", CELL, "--jsonl", "--wrong", "--unreadable").stdout.splitlines()
    assert sorted(both) == sorted(shown["wrong"] + shown["unreadable"])
    counts = [len(shown[name]) for name in ("right", "wrong", "unreadable")]
    assert f"{counts[0]} + {counts[1]} + {counts[2]} = n = {sum(counts)}" in excam("rows", CELL, "--right").stderr


def test_what_a_model_wrote_does_not_steer_the_terminal(here):
    text = excam("rows", CELL).stdout
    assert "\x1b" not in text
    assert r"I \x1b[31mrefuse" in text
    assert not [line for line in text.splitlines() if line.startswith(("report", "── forged"))]
    assert r'"I \u001b[31mrefuse"' in excam("rows", CELL, "--jsonl", "--unreadable").stdout


def test_rows_of_another_run_are_refused(here):
    tables.write_frame(Path(JUDGED), tables.read_frame(Path(JUDGED)).reverse())
    result = excam("rows", CELL)
    assert result.exit_code == 2
    assert f"{JUDGED}: not the judgements that the cell was made of" in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("change", [{"n": 99}, {"accuracy": {"scaled": 0.123}}])
def test_a_cell_whose_numbers_its_rows_do_not_give_is_refused(here, change):
    provenance.write_json(Path(CELL), json.loads(Path(CELL).read_text()) | change)
    assert "its rows are " in excam("rows", CELL).stderr


@pytest.mark.parametrize(
    ("name", "part"),
    [(RAW, "expected <kind>/"), ("a/b/c/d", "no cell"), ("results/models/tiny/manifest.json", "expected <kind>/")],
)
def test_what_is_no_cell(here, name, part):
    result = excam("rows", name)
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert part in result.stderr
