"""Users' own texts: a folder of shards in, a table of scored rows for each out. Batches of shards share one engine."""


rule score_shards:
    """Score the shards of one batch with one opened model; each becomes `shards/<name>.parquet` beside `batches/`.

    Tables of shards are no outputs here: Snakemake would delete those of a killed job. Each is published whole, and the
    next attempt scores only the rows that are missing.
    """
    input:
        shards=lambda w: BATCH_FILES[w.batch],
    output:
        counts="results/scores/{texts}/{metric}/{scored_by}/batches/{batch}.json",
    log:
        "logs/score_shards/{texts}/{metric}/{scored_by}/{batch}.log",
    benchmark:
        "benchmarks/score_shards/{texts}/{metric}/{scored_by}/{batch}.tsv"
    conda:
        "../envs/inference.yaml"
    threads: 8
    resources:
        gpu=scores_gpus,
        model=1,
        engine=1,
        mem_mb=lambda w, attempt: 16000 * attempt,
        runtime=lambda w, attempt: 240 * attempt,
    params:
        version=versions("score_shards"),
        texts=EXPERIMENT.texts,
        job_megabytes=EXPERIMENT.job_megabytes,
        metric=EXPERIMENT.metric,
        metric_version=lambda w: metric_version(EXPERIMENT.metric),
        model=["--model", EXPERIMENT.model] if EXPERIMENT.model else [],
        columns=["--column", *(f"{name}={theirs}" for name, theirs in EXPERIMENT.columns.items())],
        folder=subpath(output.counts, ancestor=2),
    shell:
        "python -m scripts score_shards --texts {params.texts:q} --job-megabytes {params.job_megabytes:q}"
        " --batch {wildcards.batch:q} --metric {params.metric:q} {params.model:q} {params.columns:q} --gpus {resources.gpu:q}"
        " --scores {params.folder:q} --counts {output.counts:q} 2>&1 | tee {log:q}"
