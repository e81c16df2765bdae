"""The configuration: what an experiment may be, and what its user reads where it cannot be one."""

import datetime
import json
import re
from functools import partial
from pathlib import Path

import pytest
import yaml
from one_line_errors import line_of
from text_tables import table

from excam import config
from excam.annotation import form
from excam.config.base import IN_WORDS
from excam.config.experiment import Experiment
from excam.core.exceptions import ConfigInvalid, ExcamError
from excam.inference import backend_factory
from excam.macaron import templates

ROOT = Path(__file__).parents[2]


def raw() -> dict:
    """A small valid experiment, made afresh for each test."""
    return {
        "seed": 1,
        "datasets": {"blend": {"folder": "data/blend"}, "epic": {"hub": "owner/epic"}},
        "models": {
            "tiny": {"hub": "owner/tiny", "licence": "MIT", "context": 512, "backend": "transformers"},
            "served": {"backend": "openai", "server": {"endpoint": "http://localhost/v1"}, "licence": "none"},
        },
        "generation": {"generator": "lexicon"},
        "tuned": {"models": ["tiny"], "mixtures": ["all", "without-blend"]},
        "baselines": {"models": ["tiny"], "judges": ["count", "binary"]},
        "external": {"models": ["served"], "judges": ["count"]},
    }


def put(path: str, value: object) -> dict:
    """The small experiment with one value put at a path, e.g. `training/rank`."""
    experiment = raw()
    *folders, last = path.split("/")
    at = experiment
    for folder in folders:
        at = at.setdefault(folder, {})
    at[last] = value
    return experiment


def refused(experiment: dict, where: str = "config.yaml") -> str:
    """The one line its user reads."""
    line = line_of(ConfigInvalid, config.load, experiment, where)
    assert line.startswith(f"{where}: ")
    return line


@pytest.mark.parametrize("experiment", [-5, "x", [[]], None, "a\nb" * 100])
def test_what_is_no_mapping_is_no_experiment(experiment):
    assert "no experiment; found " in refused(experiment)


def test_an_overlay_moves_no_column():
    """Snakemake lays config.yaml below what an overlay changes, whose entries so come first."""
    first = {"datasets": {"blend": {}, "epic": {}, "mango": None}, "models": None}
    laid = {"seed": 1, "datasets": {"normad": {}, "epic": {"cap": 2}, "blend": {}}, "models": {"b": {}, "a": {}}}
    ordered = config.ordered_like(laid, first)
    assert ordered == laid
    assert [list(ordered[section]) for section in ("datasets", "models")] == [["blend", "epic", "normad"], ["b", "a"]]


def test_how_hard_a_server_is_asked_and_its_price_decide_nothing():
    server = {"endpoint": "http://localhost/v1", "key_env": "KEY", "name": "x"}
    pace = {"concurrency": 2, "requests_per_minute": 9, "timeout": 5.0, "price": {"prompt": 1.0, "completion": 2.0}}
    plain, other = (config.load(put("models/served/server", server | more)).models["served"] for more in ({}, pace))
    assert (plain.request_settings, plain.answer_settings) == (other.request_settings, other.answer_settings)
    assert (json.loads(plain.speed_settings), json.loads(other.speed_settings)) == ({}, pace)
    assert backend_factory.parse_model_spec(other.request_settings, 0, other.speed_settings).server == other.server
    assert config.load(raw()).models["tiny"].speed_settings == "{}"


def test_a_dtype_left_to_the_machine_is_part_of_what_identifies_answers(tmp_path, monkeypatch):
    monkeypatch.setattr(backend_factory, "PROCESSOR", tmp_path / "cpuinfo")
    spec = '{"backend": "transformers", "dtype": "auto", "folder": "x"}'
    for gpus, listed, dtype in ((1, "", "bfloat16"), (0, "avx512f amx_bf16", "bfloat16"), (0, "avx2", "float32")):
        if listed:
            (tmp_path / "cpuinfo").write_text(f"flags: {listed}")
        model = backend_factory.parse_model_spec(spec, gpus)
        assert (model.dtype, '"auto"' in model.answer_settings) == (dtype, False)


def test_how_an_engine_is_tuned_decides_nothing_and_reaches_it():
    """A lower max_num_seqs, as a message advises where memory ran out, keeps every answer that is there."""

    def asked_with(engine):
        return config.load(put("models/tiny/engine", engine)).models["tiny"]

    tuning = {"max_num_seqs": 32, "gpu_memory_utilization": 0.8, "enforce_eager": True}
    plain, tuned = config.load(raw()).models["tiny"], asked_with(tuning)
    assert (tuned.answer_settings, tuned.request_settings) == (plain.answer_settings, plain.request_settings)
    assert json.loads(tuned.speed_settings) == tuning
    assert backend_factory.parse_model_spec(tuned.request_settings, 0, tuned.speed_settings).engine == tuning
    assert backend_factory.parse_model_spec(plain.request_settings, 0, plain.speed_settings).engine == {}
    both = asked_with(tuning | {"kv_cache_dtype": "fp8"})
    assert both.answer_settings == asked_with({"kv_cache_dtype": "fp8"}).answer_settings != plain.answer_settings
    assert backend_factory.parse_model_spec(both.request_settings, 0, both.speed_settings).engine == both.engine


@pytest.mark.parametrize("engine", [{"kv_cache_dtype": "fp8"}, {"seed": 3}, {"of_a_later_version": True}])
def test_what_may_change_an_answer_decides(engine):
    changed = config.load(put("models/tiny/engine", engine)).models["tiny"]
    assert json.loads(changed.answer_settings)["engine"] == json.loads(changed.request_settings)["engine"] == engine
    assert changed.speed_settings == "{}"


def test_a_model_s_decoding_is_asked_for_and_decides_no_proof():
    hub = config.load(put("models/tiny/sampling", {"max_tokens": 7})).models["tiny"]
    settings = {"context": 512, "backend": "transformers"}
    assert json.loads(hub.request_settings) == settings | {"sampling": {"max_tokens": 7}}
    assert json.loads(hub.answer_settings) == settings


def test_small_experiment_is_valid():
    experiment = config.load(put("baselines/judges", ["count", "count", "binary"]))
    assert experiment.mixtures == ("all", "permissive", "without-blend", "without-epic")
    systems = ("nothing count", "nothing binary", "all report", "without-blend report")
    assert experiment.systems == tuple(("tiny", *system.split()) for system in systems)
    with pytest.raises(ValueError, match="frozen"):
        experiment.seed = 2


def test_one_mixture_without_each_dataset():
    raw = put("tuned/mixtures", ["permissive", "without-each", "without-epic"])
    assert config.load(raw).tuned.mixtures == ["permissive", "without-blend", "without-epic"]
    assert raw["tuned"]["mixtures"] == ["permissive", "without-each", "without-epic"], "what was handed in stays"
    raw["datasets"]["blend"] = None
    assert config.load(raw).tuned.mixtures == ["permissive", "without-epic"]
    paper = config.load(yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8")))
    assert paper.tuned.mixtures == ["all", *(f"without-{name}" for name in paper.datasets)]
    assert (len(paper.datasets), len(paper.systems)) == (9, 2 * 10 + 6 * 4), "two models, six baselines in four ways"
    assert paper.training == config.Recipe()


@pytest.mark.parametrize("tuned", [["without-each"], {"mixtures": "without-each"}, {"mixtures": [["without-each"]]}])
def test_what_is_no_list_of_mixtures_is_refused_in_one_line(tuned):
    assert refused(put("tuned", tuned)).startswith("config.yaml: tuned")


def test_defaults_are_the_papers():
    """Appendix B of the paper, and the split of Table 2."""
    recipe = config.Recipe()
    assert (recipe.rank, recipe.alpha, recipe.dropout, recipe.learning_rate) == (128, 32, 0.0, 1e-4)
    assert (recipe.schedule, recipe.warmup_steps, recipe.weight_decay) == ("cosine", 100, 0.1)
    assert (recipe.beta1, recipe.beta2, recipe.epochs, recipe.rows_per_step) == (0.9, 0.95, 1, 8)
    assert config.Construction().shares == {"train": 0.7, "dev": 0.1, "test": 0.2}
    assert (config.Dataset().cap, config.Construction().subset) == (5000, 100)


@pytest.mark.parametrize("name", ["../../x", "a..b", ".hidden", "a/b", "A", "a__b", "a b", "", "a-", "x" * 61, "a\n"])
@pytest.mark.parametrize("section", ["datasets", "models"])
def test_a_name_that_would_not_be_a_folder(section, name):
    """Names become path components of `results/`."""
    entry = dict(raw()[section][{"datasets": "blend", "models": "tiny"}[section]])
    line = refused(put(f"{section}/NAME", entry) | {section: {name: entry}})
    assert f"{section}.{name}".split("\n")[0] in line
    assert "found" in line


def test_a_name_with_an_underscore_is_one_of_a_data_set_only():
    expected = "lower-case letters and digits, with . or - between them, such as my-model"
    line = f'models.a_b: found "a_b"; expected {expected}'
    assert refused(put("models/a_b", raw()["models"]["tiny"])).endswith(line)


def test_every_pattern_of_the_configuration_is_worded_for_messages():
    text = json.dumps(Experiment.model_json_schema())
    patterns = {json.loads(f'"{pattern}"') for pattern in re.findall(r'"pattern": "((?:\\.|[^"\\])*)"', text)}
    assert len(patterns) >= 9
    assert patterns <= IN_WORDS.keys()


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("name", "entry", "parts"),
    [
        ("a_b", {}, ("datasets.a_b: no such benchmark: `a_b`", "set `module` to the file of one of your own")),
        ("a_b", {"module": "no.py"}, ("datasets.a_b.module: no.py: no such file; expected a Python file",)),
        ("blend", {"module": "own.py"}, ("datasets.blend.module: `blend` is a benchmark of the package",)),
        *(
            (name, {"module": "own.py"}, (f"datasets.{name}: `{name}` is or may be the name of a mixture",))
            for name in ("permissive", "without-a")
        ),
    ],
)
def test_a_benchmark_outside_of_the_package_that_cannot_be_there(name, entry, parts):
    Path("own.py").touch()
    line = refused(put(f"datasets/{name}", {"folder": "x", **entry}))
    assert all(part in line for part in parts), line


@pytest.mark.usefixtures("here")
def test_a_benchmark_outside_of_the_package_may_be_named_as_its_file():
    Path("own.py").touch()
    experiment = put("datasets/a_b", {"folder": "x", "module": "own.py"})
    experiment["tuned"]["mixtures"] = ["all", "without-each"]
    loaded = config.load(experiment)
    assert loaded.datasets["a_b"].module == "own.py"
    assert "without-a_b" in loaded.tuned.mixtures


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        *(("datasets/Id", {"folder": "x"}, "own.yaml"), ("datasets/blend/cap", 1, "own.yaml")),
        *(("datasets/epic/cap", 1, "config.yaml"), ("tuned/models", ["no"], "config.yaml")),
    ],
)
def test_a_message_names_the_file_with_the_entry(path, value, named):
    experiment, (section, name, *_) = put(path, value), path.split("/")
    parts = {"config.yaml": put(path, value) if named == "config.yaml" else raw()}
    parts["own.yaml"] = {"datasets": {"blend": {"cap": 1}, "Id": {}}}
    assert line_of(ConfigInvalid, config.load, experiment, files=parts).startswith(f"{named}: {section}.{name}")


def test_a_name_that_may_be_a_folder():
    for name in ("a", "qwen3.5-122b-a10b", "gpt-4.1", "0"):
        assert name in config.load(put(f"models/{name}", raw()["models"]["tiny"])).models


def test_null_switches_an_entry_off():
    experiment = put("datasets/epic", None)
    experiment["models"]["unused"] = None
    experiment["crossing"] = {"metrics": {"bleu": {"metric": "bleu"}, "chrf": None}}
    loaded = config.load(experiment)
    assert list(loaded.datasets) == ["blend"]
    assert list(loaded.models) == ["tiny", "served"]
    assert list(loaded.crossing.metrics) == ["bleu"]
    assert loaded.mixtures == ("all", "permissive", "without-blend")
    assert experiment["datasets"]["epic"] is None, "what was handed in is left as it was"


@pytest.mark.parametrize(("path", "value", "parts"), table(__file__, "a_value_that_will_not_do"))
def test_a_value_that_will_not_do(path, value, parts):
    line = refused(put(path, value))
    assert all(part in line for part in parts), line


def test_several_mistakes_are_named():
    experiment = put("training/rnak", 8)
    experiment["sed"] = 1
    assert refused(experiment, "experiments/mine.yaml").endswith("(and sed)")


def test_keys_that_yaml_makes_something_else_of():
    day = datetime.date(2020, 1, 1)
    assert "input should be a valid string" in refused(put("datasets", {day: {"folder": "x"}}))
    assert "models.tiny.licence: field required" in refused(put("models/tiny", {"context": 512, day: 1}))


def test_the_directory_is_the_registry():
    assert {"binary", "count", "report", "severity"} <= set(config.modules_in("error_reports/judges"))
    assert not [name for name in config.modules_in("excam40k/datasets") if name == "base" or "_" in name]


def test_a_recipe_of_a_models_own():
    """The rank ablation is one more entry that shares the weights of another."""
    raw = put("models/tiny-r16", {"base": "tiny", "training": {"rank": 16, "layout": "cpu"}, "licence": "MIT"})
    raw["tuned"] = {"models": ["tiny", "tiny-r16"], "mixtures": ["all"]}
    experiment = config.load(raw)
    assert (experiment.recipe("tiny").rank, experiment.recipe("tiny-r16").rank) == (128, 16)
    assert experiment.recipe("tiny-r16").model_copy(update={"rank": 128, "layout": "single"}) == experiment.training
    assert [experiment.weights(name) for name in ("tiny", "tiny-r16")] == ["tiny", "tiny"]
    assert experiment.variants == ("tiny", "tiny-r16")
    assert config.load(put("seed", 1)).variants == ()


@pytest.mark.parametrize(("text", "shown"), [("0123", "83"), ("1_000", "1000"), ("2024-11-05", '"2024-11-05"')])
def test_a_name_that_was_read_as_a_number_or_a_date_says_how_to_write_it(text, shown):
    line = refused(put("judging", {"documents": yaml.safe_load(text)}))
    assert line.endswith(f"found {shown}; put quotes around it in a file, or write ./ before a path after --config")


def aliases(levels: int) -> str:
    """YAML of a few bytes a level that stands for ten times more at each of them."""
    lines = [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, levels)]
    return "\n".join(["a0: &a0 x", *lines])


@pytest.mark.parametrize("text", [aliases(12), aliases(60), "a: &a [*a]", "[" * 60 + "]" * 60])
def test_a_text_that_stands_for_too_much_is_one_line(tmp_path, text):
    file = tmp_path / "experiment.yaml"
    file.write_text(text, encoding="utf-8")
    for read in (partial(config.load_merged, {}, [file]), partial(form.read, file), partial(templates.read, file)):
        with pytest.raises(ExcamError, match=r"more than (100000 values, aliases counted at each place|50 levels)"):
            read()
    assert "; expected fewer" in refused(put("seed", yaml.safe_load(text)))


def test_a_refused_value_is_written_only_as_far_as_it_is_shown():
    line = refused(put("seed", {"a": [b"\xff", *range(1000)]}))
    assert line.endswith('found {"a": ["\\\\xff", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13')


def test_the_rows_of_the_first_command_are_rows_of_the_small_experiment():
    for path in (ROOT / "mini/first").rglob("*.*"):
        whole = ROOT / "mini" / path.relative_to(ROOT / "mini/first")
        assert set(path.read_text("utf-8").splitlines()) <= set(whole.read_text("utf-8").splitlines()), path
