"""Input functions, by the rules that use them, from sources to pages."""


def learnt_from(trained_on):
    """The datasets an adapter may learn from; a left-out one is not an input."""
    wanted = DATASETS if trained_on != "permissive" else PERMISSIVE
    return [name for name in wanted if trained_on != f"without-{name}"]


def local_files(wildcards):
    """The files of a local folder, if a dataset comes from one, so that an edited row is noticed."""
    return LOCAL_FILES.get(wildcards.dataset, [])


def own_module(wildcards):
    """The file of a benchmark that is not in the package, so that an edit of it is noticed."""
    return EXPERIMENT.datasets[wildcards.dataset].module or []


def probed_samples(wildcards):
    """The original rows in which a generator on a card writes errors, to see whether its words give them away."""
    if wildcards.model != EXPERIMENT.generation.generator or not EXPERIMENT.models[wildcards.model].gpus:
        return []
    return [f"results/samples/{name}.parquet" for name in SOFT if name in SOURCES_THERE]


def model_files(wildcards):
    """The files of a local folder, if a model comes from one."""
    return MODEL_FILES.get(wildcards.model, [])


def chat_template(wildcards):
    """The file of a chat template that replaces the model's own."""
    name = EXPERIMENT.models[wildcards.model].chat_template
    return os.path.relpath(CHAT_TEMPLATES / f"{name}.jinja") if name else []


def corrupted_rows(wildcards):
    kind = "hard" if wildcards.dataset in HARD else "soft"
    return f"results/errors/{kind}/{wildcards.dataset}.parquet"


def tokenizers(wildcards):
    """The tokenizer of each base model that is trained; one from the hub comes without the weights."""
    bases = [EXPERIMENT.weights(name) for name in TRAINED_MODELS]
    # a taught base has the tokenizer of the model that it is made of; its own weights are made of the rows measured here
    bases = [teach.base if (teach := EXPERIMENT.models[name].teach) else name for name in bases]
    return [
        f"results/{'tokenizers' if EXPERIMENT.models[base].hub else 'models'}/{base}/manifest.json" for base in bases
    ]


def long_rows(wildcards):
    """The pairs that are too long to train a base model on, if any is trained."""
    return f"results/samples/{wildcards.dataset}.too-long.json" if TRAINED_MODELS else []


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


def adapter(wildcards):
    if wildcards.trained_on == "nothing":
        return []
    return adapter_files(wildcards.model, wildcards.trained_on)


def verified(wildcards):
    """The proof that an adapter is active, which is required before it judges."""
    trained = wildcards.trained_on != "nothing"
    return f"results/adapters/{wildcards.model}/{wildcards.trained_on}/verified.json" if trained else []


def adapter_files(model, trained_on):
    folder = f"results/adapters/{model}/{trained_on}"
    return [f"{folder}/manifest.json", f"{folder}/adapter_model.safetensors"]


def train_sets(wildcards):
    return [f"results/excam40k/{name}/{wildcards.split}.parquet" for name in learnt_from(wildcards.trained_on)]


def grounded_bases(wildcards):
    """The base samples that passages are made of, for a model that is trained with `report: grounded`."""
    grounded = EXPERIMENT.recipe(wildcards.model).report == "grounded"
    return [f"results/samples/{wildcards.dataset}.bases.jsonl"] if grounded else []


def all_of_split(wildcards):
    """The whole split of a balanced subset: its passages are made of these facts."""
    return f"results/excam40k/{wildcards.dataset}/{wildcards.split.removesuffix('-100')}.parquet"


def shown_evidence(wildcards):
    """The passages that a judge is shown, if it reads any."""
    return f"results/evidence/{wildcards.dataset}/{wildcards.split}.parquet" if wildcards.judge == "grounded" else []


def train_tokens(wildcards):
    """The train sets as tokens."""
    return [f"results/tokens/{wildcards.model}/{name}/train.parquet" for name in learnt_from(wildcards.trained_on)]


def judgements_pooled(wildcards):
    """One dataset's judgements, or those of every dataset for `all`."""
    return judged(wildcards, wildcards.split, DATASETS if wildcards.dataset == "all" else [wildcards.dataset])


def judged(wildcards, split, names=DATASETS):
    """A system's judgements of these datasets."""
    folder = "results/judgements/{model}/{trained_on}/{judge}".format(**wildcards)
    return [f"{folder}/{name}/{split}.parquet" for name in names]


def judgements_compared(wildcards, dataset=None):
    """The systems in a column of Figure 3: every baseline, and each tuned model as it never saw the dataset."""
    column = dataset or wildcards.dataset
    names = DATASETS if column == "all" else [column]
    return [
        f"results/judgements/{s}/{name}/{wildcards.split}.parquet" for s in column_systems(column) for name in names
    ]


def published(pattern, among=None):
    """Files of every dataset of a build; `permissive` takes its rows from nowhere else."""

    def of(wildcards):
        names = DATASETS if among is None else among
        kept = [name for name in names if wildcards.build == "all" or name in PERMISSIVE]
        return list(dict.fromkeys(expand(pattern, dataset=kept, split=["train", "dev", "test", "test-100"])))

    return of


def printed_votes(wildcards):
    """The paper's table of the same name, if it has one."""
    return f"paper/{wildcards.table}.csv" if wildcards.table.startswith("table-") else []


def annotation_exports(wildcards=None):
    """The files that annotators exported, in the folder that the configuration names."""
    folder = EXPERIMENT.annotation.answers
    if folder and not EXPORTS:
        raise WorkflowError(f"annotation.answers: {folder}: no .json or .csv; expected what annotators exported")
    return EXPORTS


def adapted(model):
    """Every adapter of a base model, as it is asked."""
    return ["{}/{}/{}".format(*s) for s in EXPERIMENT.systems if s[0] == model and s[1] != "nothing"]


def judgements_of(wanted):
    """Of systems by what they were trained on, on every test set."""
    systems = ["{}/{}/{}".format(*s) for s in EXPERIMENT.systems if wanted(s[1])]
    return [f"results/judgements/{system}/{name}/test.parquet" for system in systems for name in DATASETS]


def sets_with_evidence(pattern):
    """Files of the sets whose rows have passages: dev rows fix the floor's threshold."""
    return expand(pattern, dataset=DATASETS, split=["dev", EXPERIMENT.judging.split]) if WITH_EVIDENCE else []


def judgements_with_evidence():
    """Judgements of the systems that read passages, and of those that judge by likelihood beside them.

    An adapter that left a dataset out is judged on that one.
    """
    return [
        f"results/judgements/{model}/{trained_on}/{judge}/{name}/{EXPERIMENT.judging.split}.parquet"
        for model, trained_on, judge in EXPERIMENT.systems
        if WITH_EVIDENCE and judge in ("grounded", "likelihood")
        for name in judged_of(trained_on)
    ]


def reporting_adapters():
    """The adapters that write reports, where a base was taught."""
    return [(m, t) for m, t in EXPERIMENT.adapters if TAUGHT and "report" in EXPERIMENT.judges(m)]


def external_judgements(wildcards):
    return [f"results/judgements/{s}/{d}/test-100.parquet" for s in external_systems() for d in DATASETS]


def answer_sheet(wildcards):
    return os.path.join(MACARON.sheets, f"{wildcards.sheet}.csv")


def answers_of(wildcards):
    """The answers of one model in each mode."""
    return [path for path in macaron_answers() if Path(path).parent.name == wildcards.answerer]


def one_shot_example(wildcards):
    """The held-out item of the one-shot prompt, where there is one."""
    return (
        input_names("cult_eval.folder", cult_eval_source.example(Path(CULT_EVAL.folder)))
        if wildcards.shots == "1"
        else []
    )


def encoder_weights(wildcards):
    return weights_of(CULT_EVAL and CULT_EVAL.encoder)


def comet_files(wildcards):
    """The weights and settings of COMET, where a folder is named."""
    return [os.path.join(CULT_EVAL.comet, name) for name in ("model.safetensors", "hparams.yaml")] if CULT_EVAL else []


def metricx_weights(wildcards):
    return weights_of(CULT_EVAL and CULT_EVAL.metricx)


def weights_of(name):
    """The manifest of the weights of a model, if one is named."""
    return f"results/models/{EXPERIMENT.weights(name)}/manifest.json" if name else []


def proofreader_weights(wildcards):
    """The weights of the model that proofreads Macaron, if there is one and it is local."""
    name = proofreader_name()
    local = name and EXPERIMENT.models[name].is_local
    return f"results/models/{EXPERIMENT.weights(name)}/manifest.json" if local else []


CALMQA_ROLES = {
    "translations": "translator", "claims": "extractor", "verdicts": "verifier", "relevance": "relevance"
}  # fmt: skip
CALMQA_STEPS = {  # the stages that ask a model -> its name
    step: name for step, role in CALMQA_ROLES.items() if (name := CALMQA and getattr(CALMQA, role)) and name != "rules"
}


def calmqa_transcripts():
    """What each model answered to the questions."""
    subjects = dict.fromkeys(CALMQA.subjects) if CALMQA else []
    return [f"results/calmqa/transcripts/answers/{name}.jsonl" for name in subjects]


def calmqa_asked(step):
    """The transcript of a stage, if a model does it."""
    return f"results/calmqa/transcripts/{step}.jsonl" if step in CALMQA_STEPS else []


def calmqa_translated():
    """The translations, if there is a translator."""
    return "results/calmqa/translations.parquet" if "translations" in CALMQA_STEPS else []


def calmqa_encoder():
    """The fetched encoder, if relevance is its cosine."""
    asked = CALMQA and "relevance" not in CALMQA_STEPS
    return f"results/models/{EXPERIMENT.weights(CALMQA.encoder)}/manifest.json" if asked else []


def calmqa_weights(wildcards):
    """The weights of the model of a stage, if it is local."""
    name = CALMQA_STEPS[wildcards.step]
    return f"results/models/{EXPERIMENT.weights(name)}/manifest.json" if EXPERIMENT.models[name].is_local else []


def crossing_weights(wildcards):
    """The weights of the model of a metric, if it is local."""
    name = CROSSING.metrics[wildcards.crossed].model
    return weights_of(name) if name and EXPERIMENT.models[name].is_local else []


def crossing_adapter(wildcards):
    """The adapter of the model of a metric, if it has one, and the proof that it is active."""
    entry = CROSSING.metrics[wildcards.crossed]
    if not entry.trained_on:
        return []
    verified = f"results/adapters/{entry.model}/{entry.trained_on}/verified.json"
    return [*adapter_files(entry.model, entry.trained_on), verified]


def crossing_evidence(wildcards):
    """The index of the documents of CaLMQA, where a metric wants them."""
    wanted = CROSSING.metrics[wildcards.crossed].evidence
    return [f"results/calmqa/index/{name}" for name in EVIDENCE_FILES] if wanted else []
