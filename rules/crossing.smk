"""Crossing: labelled rows of all systems -> scores of every metric on them -> blind spots and language gap (pages)."""


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
