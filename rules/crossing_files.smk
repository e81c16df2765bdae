"""Settings, inputs and targets of the crossing: what its rules and pages are made of."""

CROSSING = EXPERIMENT.crossing
CROSSED = Asked(lambda wildcards: CROSSING.metrics[wildcards.crossed].model)


wildcard_constraints:
    crossed=one_of(CROSSING.metrics if CROSSING else []),


def metric_version(name):
    """What a metric states of itself before it has a model."""
    from excam.scoring import metric

    try:
        loaded = metric.load(name)
    except ExcamError as problem:
        raise WorkflowError(str(problem)) from None
    return f"{loaded.version} {loaded.signature}"


def of_row_set(name, files):
    """The files of a row set if the crossing takes it, else none."""
    return files if CROSSING and (not CROSSING.sets or name in CROSSING.sets) else []


def crossing_parts():
    """The parts of each metric that are shown too, as JSON."""
    return json.dumps({name: metric.parts for name, metric in CROSSING.metrics.items()} if CROSSING else {})


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


FILES |= {  # sets of files that its steps name
    "crossing_answers": of_row_set("calmqa", ["results/calmqa/answers.parquet"] if CALMQA_RATINGS else []),
    "crossing_labels": of_row_set("cult-eval", FILES["cult_eval_labels"]),
    "crossing_marks": of_row_set("calmqa", CALMQA_RATINGS),
    "crossing_questions": of_row_set("calmqa", ["results/calmqa/questions.parquet"] if CALMQA_RATINGS else []),
    "crossing_ratings": of_row_set("rubric", RUBRIC_FILES["ratings"]),
    "crossing_responses": of_row_set("rubric", RUBRIC_FILES["responses"]),
    "crossing_samples": of_row_set("excam40k", FILES["test_sets"]),
    "crossing_scenarios": of_row_set("macaron", FILES["macaron_scenarios"]),
    "crossing_translations": of_row_set("cult-eval", ["results/cult_eval/rows/written/0.parquet"] if CULT_EVAL else []),
    "crossing_rows": ["results/crossing/rows.parquet"] if CROSSING else [],
    "crossing_rows_in_two_languages": of_row_set("macaron", ["results/crossing/rows.parquet"] if MACARON else []),
    "crossing_scores": [f"results/crossing/scores/{name}.parquet" for name in (CROSSING.metrics if CROSSING else [])],
}
SETTINGS |= {
    "crossing_contents": CROSSING.contents or 0 if CROSSING else 0,
    "crossing_parts": crossing_parts(),
    "crossing_rubric": RUBRIC.version if RUBRIC else None,
}
