"""Settings, inputs and targets of the crossing: what its rules and pages are made of."""


def crossing_entry(wildcards):
    """The model of a metric of the crossing, None if it asks none."""
    name = CROSSING.metrics[wildcards.crossed].model
    return EXPERIMENT.models[name] if name else None


def crossing_model(wildcards):
    model = crossing_entry(wildcards)
    return model.request_settings if model else "null"


def crossing_pace(wildcards):
    model = crossing_entry(wildcards)
    return model.speed_settings if model else "{}"


def crossing_gpus(wildcards):
    model = crossing_entry(wildcards)
    return model.gpus if model else 0


def crossing_answers(wildcards):
    """The stage of the backend of a metric's model, if there is one."""
    model = crossing_entry(wildcards)
    return [f"answers.{model.backend}"] if model else []


def crossing_metric_version(wildcards):
    """The version that a metric states of itself."""
    from excam.scoring import metric

    try:
        return metric.load(CROSSING.metrics[wildcards.crossed].metric).version
    except ExcamError as problem:
        raise WorkflowError(f"crossing.metrics.{wildcards.crossed}: {problem}") from None


def of_row_set(name, files):
    """The files of a row set if the crossing takes it, else none."""
    return files if CROSSING and (not CROSSING.sets or name in CROSSING.sets) else []


def crossing_parts():
    """The parts of each metric that are shown too, as JSON."""
    return json.dumps({name: metric.parts for name, metric in CROSSING.metrics.items()} if CROSSING else {})


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


def crossing_pages():
    """Every table and figure of the crossing; none where it is switched off."""
    return pages_of("crossing") if CROSSING else []


def crossing_target(wildcards):
    """What the target `crossing` asks for. Stop with one line where the section is missing."""
    if not CROSSING:
        raise WorkflowError("crossing: switched off; expected a section `crossing`, as in experiments/mini.yaml")
    return crossing_pages()


PAGE_FILES |= {  # sets of files that its pages name
    "crossing_rows": ["results/crossing/rows.parquet"] if CROSSING else [],
    "crossing_rows_in_two_languages": of_row_set("macaron", ["results/crossing/rows.parquet"] if MACARON else []),
    "crossing_scores": [f"results/crossing/scores/{name}.parquet" for name in (CROSSING.metrics if CROSSING else [])],
}
PAGE_SETTINGS |= {
    "crossing_parts": crossing_parts(),
}
