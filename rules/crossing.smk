"""Crossing: labelled rows of all systems -> scores of every metric on them -> blind spots and language gap (pages)."""


localrules:
    crossing_rows,


rule crossing_rows:
    """Put the labelled rows of all systems that are switched on into one table."""
    input:
        samples=of_row_set("excam40k", expand("results/excam40k/{dataset}/test.parquet", dataset=DATASETS)),
        translations=of_row_set("cult-eval", ["results/cult_eval/rows/written/0.parquet"] if CULT_EVAL else []),
        labels=of_row_set("cult-eval", PAGE_FILES["cult_eval_labels"]),
        questions=of_row_set("calmqa", ["results/calmqa/questions.parquet"] if CALMQA_RATINGS else []),
        answers=of_row_set("calmqa", ["results/calmqa/answers.parquet"] if CALMQA_RATINGS else []),
        marks=of_row_set("calmqa", CALMQA_RATINGS),
        scenarios=of_row_set("macaron", PAGE_FILES["macaron_scenarios"]),
        responses=of_row_set("rubric", RUBRIC_FILES["responses"]),
        ratings=of_row_set("rubric", RUBRIC_FILES["ratings"]),
        manual=RUBRIC_FILES["version"],
    output:
        rows="results/crossing/rows.parquet",
    log:
        "logs/crossing_rows.log",
    benchmark:
        "benchmarks/crossing_rows.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("crossing_rows"),
        rubric=["--rubric", RUBRIC.version, "--base", RUBRIC_MANUAL["base"]] if RUBRIC else [],
        contents=CROSSING.contents or 0 if CROSSING else 0,
        seed=EXPERIMENT.seed,
    shell:
        "python -m scripts crossing_rows --samples {input.samples:q} --translations {input.translations:q}"
        " --labels {input.labels:q} --questions {input.questions:q} --answers {input.answers:q} --marks {input.marks:q}"
        " --scenarios {input.scenarios:q} --responses {input.responses:q} --ratings {input.ratings:q}"
        " {params.rubric:q} --contents {params.contents:q} --seed {params.seed:q} --rows {output.rows:q}"
        " 2>&1 | tee {log:q}"


rule crossing_score:
    """Score with one metric all rows that have its columns."""
    input:
        rows="results/crossing/rows.parquet",
        weights=CROSSED.weights,
        adapter=crossing_adapter,
        evidence=crossing_evidence,
    output:
        scores="results/crossing/scores/{crossed}.parquet",
        transcript="results/crossing/transcripts/{crossed}.jsonl",
        manifest="results/crossing/transcripts/{crossed}.manifest.json",
    log:
        "logs/crossing_score/{crossed}.log",
    benchmark:
        "benchmarks/crossing_score/{crossed}.tsv"
    conda:
        "../envs/inference.yaml"
    threads: 8
    resources:
        **CROSSED.resources(minutes=120),
    params:
        **CROSSED.params,
        version=versions("crossing_score", CROSSED.answers),
        metric=lambda w: CROSSING.metrics[w.crossed].metric,
        metric_version=lambda w: metric_version(CROSSING.metrics[w.crossed].metric),
        judge=lambda w: CROSSING.metrics[w.crossed].judge,
        adapter=flag("adapter", crossing_adapter),
        evidence=flag("evidence", lambda w: [os.path.dirname(name) for name in crossing_evidence(w)]),
    shell:
        "python -m scripts crossing_score --name {wildcards.crossed:q} --judge {params.judge:q} --model {params.model:q}"
        " --gpus {resources.gpu:q} --pace {resources.pace:q} {params.weights:q} {params.adapter:q}"
        " --metric {params.metric:q} {params.evidence:q} --rows {input.rows:q} --seed {params.seed:q}"
        " --journal results/journal/crossing/{wildcards.crossed:q}.jsonl --scores {output.scores:q}"
        " --transcript {output.transcript:q} --manifest {output.manifest:q} 2>&1 | tee {log:q}"
