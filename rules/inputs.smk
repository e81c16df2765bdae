"""Input functions that the rules of several systems use: of models, their weights and adapters."""


def files_named(setting, find):
    """The files that `find` finds at the place that a setting names, none where it names none. Refused ones stop."""
    section, name = setting.split(".")
    values = getattr(EXPERIMENT, section)
    place = values and getattr(values, name)
    try:
        return input_names(setting, find(Path(place))) if place else []
    except ExcamError as problem:
        raise WorkflowError(str(problem)) from None


def chat_template(wildcards):
    """The file of a chat template that replaces the model's own."""
    name = EXPERIMENT.models[wildcards.model].chat_template
    return os.path.relpath(CHAT_TEMPLATES / f"{name}.jinja") if name else []


def host_memory(name, attempt):
    """Megabytes for a job that asks a model: what is read of its weights, and as much again where they are changed.

    Not known before the weights are fetched: a plan then says <TBD>, and the job is asked for with the real number.
    """
    if not name:
        return 2000 * attempt
    model = EXPERIMENT.models[name]
    # in memory of its own, beside the pages of the files
    copied = model.serve == "merged" or model.dtype in ("auto", "float32")
    size = weight_bytes(name) if model.is_local else 0
    return round(((2 if copied else 1.2) * size / 1e6 + 8000 * max(1, model.gpus)) * attempt)


def weight_bytes(name):
    """The size of a model's weights. Raises FileNotFoundError, as Snakemake expects it, where they are not fetched."""
    manifest = Path(f"results/models/{EXPERIMENT.weights(name)}/manifest.json")
    manifest.stat()
    return sum(file.stat().st_size for file in (manifest.parent / "files").glob("*.safetensors"))


def adapter(wildcards):
    return [] if wildcards.trained_on == "nothing" else adapter_files(wildcards.model, wildcards.trained_on)


def adapter_files(model, trained_on):
    folder = f"results/adapters/{model}/{trained_on}"
    return [f"{folder}/manifest.json", f"{folder}/adapter_model.safetensors"]


def weights_of(name):
    """The manifest of the weights of a model, if one is named."""
    return f"results/models/{EXPERIMENT.weights(name)}/manifest.json" if name else []
