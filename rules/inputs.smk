"""Input functions, by the rules that use them, from sources to pages."""


def learnt_from(trained_on):
    """The datasets an adapter may learn from; a left-out one is not an input."""
    wanted = DATASETS if trained_on != "permissive" else PERMISSIVE
    return [name for name in wanted if trained_on != f"without-{name}"]


def own_module(wildcards):
    """The file of a benchmark that is not in the package, so that an edit of it is noticed."""
    return EXPERIMENT.datasets[wildcards.dataset].module or []


def model_files(wildcards):
    """The files of a local folder, if a model comes from one."""
    return MODEL_FILES.get(wildcards.model, [])


def chat_template(wildcards):
    """The file of a chat template that replaces the model's own."""
    name = EXPERIMENT.models[wildcards.model].chat_template
    return os.path.relpath(CHAT_TEMPLATES / f"{name}.jinja") if name else []


def tokenizers(wildcards):
    """The tokenizer of each base model that is trained; one from the hub comes without the weights."""
    bases = [EXPERIMENT.weights(name) for name in EXPERIMENT.trained]
    # a taught base has the tokenizer of the model that it is made of; its own weights are made of the rows measured here
    bases = [teach.base if (teach := EXPERIMENT.models[name].teach) else name for name in bases]
    return [
        f"results/{'tokenizers' if EXPERIMENT.models[base].hub else 'models'}/{base}/manifest.json" for base in bases
    ]


def long_rows(wildcards):
    """The pairs that are too long to train a base model on, if any is trained."""
    return f"results/samples/{wildcards.dataset}.too-long.json" if EXPERIMENT.trained else []


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


def judged(wildcards, split, names=DATASETS):
    """A system's judgements of these datasets."""
    folder = "results/judgements/{model}/{trained_on}/{judge}".format(**wildcards)
    return [f"{folder}/{name}/{split}.parquet" for name in names]


def published(pattern, among=None):
    """Files of every dataset of a build; `permissive` takes its rows from nowhere else."""

    def of(wildcards):
        names = DATASETS if among is None else among
        kept = [name for name in names if wildcards.build == "all" or name in PERMISSIVE]
        return list(dict.fromkeys(expand(pattern, dataset=kept, split=["train", "dev", "test", "test-100"])))

    return of


def weights_of(name):
    """The manifest of the weights of a model, if one is named."""
    return f"results/models/{EXPERIMENT.weights(name)}/manifest.json" if name else []
