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

import pytest
from hub_stand_in import served
from made_adapters import WEIGHTS, answer, make
from typer.testing import CliRunner

import excam
from excam import cli
from excam.exceptions import ExcamError, ModelInvalid
from excam.inference import fake, opening
from excam.metric import adapters
from excam.provenance import sha256
from excam.sharing import getting, parcel, places

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


def done(*words):
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
    done("push", "tiny/all", "./shared")
    return here / "shared"


def sign(folder: Path) -> None:
    """Checksums of whatever lies there now: what somebody with bad intent would write."""
    names = sorted(path.name for path in folder.iterdir() if path.name != parcel.CHECKSUMS)
    (folder / parcel.CHECKSUMS).write_text("".join(f"{sha256(folder / name)}  {name}\n" for name in names))


def test_an_adapter_is_pushed_pulled_and_used(shared, monkeypatch):
    monkeypatch.setattr(opening.Lazily, "_open", lambda _: fake.Backend(answer))
    rows = [{"output": "Sushi."}, {"output": "Pita."}]
    before = list(excam.load("tiny/all").score(rows))
    assert sorted(path.name for path in shared.iterdir()) == sorted((*parcel.NEEDED, parcel.CHECKSUMS))
    pulled = done("pull", shared, "there", "--base", "results/models/tiny")
    assert pulled.stdout == f"{shared} is now at there\n"
    shutil.rmtree("results")
    assert list(excam.load("there").score(rows)) == before, "the same scores and the same signature, far from the run"
    Path("texts.jsonl").write_text('{"output": "Sushi."}\n')
    scored = done("score", "texts.jsonl", "--adapter", "there")
    assert json.loads(scored.stdout)["score"] == -5


def test_sha256sum_reads_the_checksums(shared):
    subprocess.run(["sha256sum", "--check", "--strict", parcel.CHECKSUMS], cwd=shared, check=True, capture_output=True)


def test_an_adapter_without_its_base_says_which_it_is_and_how_to_get_it(shared, here):
    said = done("pull", shared, "there").stderr
    assert "hub owner/tiny at revision " + "c" * 40 + " (MIT)" in said
    shutil.rmtree("results")
    with pytest.raises(ModelInvalid, match=r"its base model is not here: hub owner/tiny at revision c{40}.*--base"):
        excam.load("there")
    make(Path("elsewhere/results"))
    done("pull", shared, "there", "--base", "elsewhere/results/models/tiny/files")
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


def test_what_is_no_list_of_checksums(shared):
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
    (shared / "adapter_config.json").write_text(json.dumps({"auto_mapping": {"parent_library": "os"}}))
    sign(shared)
    assert "auto_mapping names classes to import" in refused("pull", shared, "there")


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
    card.write_text(json.dumps({"peft_type": "LORA"}))
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
    done("pull", shared, "there")
    done("pull", shared, "there")
    make(Path("results"), trained_on="other")
    manifest = Path("results/adapters/tiny/other/manifest.json")
    manifest.write_text(manifest.read_text().replace('"rank": 4', '"rank": 8'))
    done("push", "tiny/other", "./others")
    assert "there: holds another adapter" in refused("pull", "others", "there")


def test_a_second_pull_sees_that_what_is_there_was_changed(shared):
    done("pull", shared, "there")
    Path("there/README.md").write_text("other")
    assert "README.md: expected sha256" in refused("pull", shared, "there")


def test_what_is_a_folder_and_what_a_hub_id(here):
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
    assert "No evaluation lies beside this adapter" in card
    assert "Not known here: the rows of its training" in card, "nothing is made up"


def test_the_card_has_the_ledger_and_the_numbers_of_its_run():
    row = {"dataset": "epic", "licence": "CC-BY-NC-SA-4.0", "language": "English"}
    mixture = Path("results/mixtures/all/train.jsonl")
    mixture.parent.mkdir(parents=True)
    mixture.write_text(json.dumps(row) + "\n" + json.dumps({**row, "language": "Greek | <b>"}) + "\n")
    manifest = Path("results/adapters/tiny/all/manifest.json")
    told = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**told, "inputs": {"results/mixtures/all/train.jsonl": sha256(mixture)}}))
    cell = Path("results/evaluation/tiny/all/report/epic/test.json")
    cell.parent.mkdir(parents=True)
    numbers = {"scaled": 0.25, "low": 0.1, "high": None, "failures": 3, "excluding": 0.5}
    cell.write_text(json.dumps({"n": 40, "accuracy": numbers}))
    done("push", "tiny/all", "./shared")
    card = Path("shared/README.md").read_text()
    assert "| epic | CC-BY-NC-SA-4.0 | non-commercial share-alike | 2 |" in card
    assert "English (1), Greek &#124; &lt;b&gt; (1)" in card
    assert "| epic | 40 | 3 | 0.250 | 0.100 to none |" in card
    mixture.write_text(json.dumps(row) + "\n")
    done("push", "tiny/all", "./after")
    assert "Not known here" in Path("after/README.md").read_text(), "the rows there are not those it learnt from"


def test_a_pulled_adapter_is_handed_on_as_it_is(shared):
    done("pull", shared, "there", "--base", "results/models/tiny")
    shutil.rmtree("results")
    done("push", "there", "./third")
    assert (Path("third") / parcel.CHECKSUMS).read_text() == (shared / parcel.CHECKSUMS).read_text()


def test_no_path_of_this_machine_is_handed_on(here):
    manifest = Path("results/models/tiny/manifest.json")
    told = json.loads(manifest.read_text())
    home = str(here / "home" / "weights")
    told |= {"origin": f"folder {home}", "settings": {**told["settings"], "hub": None, "folder": home}}
    manifest.write_text(json.dumps(told))
    done("push", "tiny/all", "./shared")
    for file in Path("shared").iterdir():
        assert str(here).encode() not in file.read_bytes(), file
    assert adapters.recorded(Path("shared"))["origin"] == "folder weights"
    assert "nowhere to fetch it from" in refused("pull", "shared", "there", "--base", "recorded")


def test_a_name_is_looked_up_below_the_results():
    make(Path("results"), trained_on="without-blend")
    assert adapters.found("tiny/all") == Path("results/adapters/tiny/all")
    for name in ("tiny/al", "../adapters/tiny/all", "/tiny/all"):
        with pytest.raises(
            ModelInvalid, match=r"expected that of an adapter, or one of results/adapters: tiny/all, tiny/"
        ):
            excam.load(name)


# The hub: its own library, our commands, a stand-in for the server


def through_the_hub(hub, *words, token=""):
    env = {**os.environ, "HF_ENDPOINT": hub.url, "PYTHONPATH": str(ROOT), "HF_HOME": "hub", "HF_HUB_OFFLINE": "0"}
    env |= {"HF_TOKEN": token} if token else {}
    return subprocess.run(
        [sys.executable, "-P", "-m", "excam", *words], capture_output=True, text=True, check=False, env=env, timeout=120
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
    for found in (damaged, absent, none, gone):
        assert found.returncode == 2
        assert found.stdout == ""
        assert "Traceback" not in found.stderr
        assert TOKEN not in found.stderr
        assert re.match(r"excam: (owner/|adapter_model)", found.stderr.splitlines()[-1]), found.stderr


def test_getting_is_what_the_command_does(shared):
    getting.get(places.Folder(shared), Path("there"))
    assert (Path("there") / "adapter_model.safetensors").read_bytes() == WEIGHTS


def test_the_page_does_what_it_says():
    make(Path("results"), name="smollm2-135m")
    page = (ROOT / "docs/sharing.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```bash\n(.*?)```", page, re.S)
    lines = [line for line in block.splitlines() if re.match("excam (push|pull) ", line)]
    assert len(lines) == 3, "`excam score` needs a model: tests/workflow/test_docs_followed.py"
    for line in lines:
        done(*shlex.split(line, comments=True)[1:])
    shutil.rmtree("results")
    assert excam.load("here").signature.startswith("excam|model:smollm2-135m@")


def test_offline_no_hub_is_asked(monkeypatch, tmp_path):
    monkeypatch.setenv("EXCAM_OFFLINE", "1")
    with pytest.raises(ExcamError, match=r"owner/name: not asked, since EXCAM_OFFLINE .or --offline. is set"):
        places.place("owner/name")
    assert places.place(str(tmp_path)) == places.Folder(tmp_path)


def test_a_place_without_a_name(shared, here):
    assert ".: no name of a folder; expected a new one" in refused("pull", shared, ".")


def test_an_adapter_at_the_top_of_a_disk_lies_in_no_run():
    from excam.sharing import card

    assert card._run(Path("/adapter")) is None


def test_a_base_whose_sums_are_none(shared, here):
    done("pull", shared, "got")
    base = json.loads(Path("got/base.json").read_text())
    for outputs in (["model.safetensors"], {"model.safetensors": 5}, {}):
        Path("got/base.json").write_text(json.dumps({**base, "outputs": outputs}))
        with pytest.raises(ExcamError, match="no manifest of a base model"):
            adapters.recorded(Path("got"))
