"""Readers of passages: rows that people wrote -> adapters, with the curve of their log-odds -> their worth."""

READER = EXPERIMENT.reader

FILES |= {
    "reader_files": files_named("reader.files", lambda path: sorted(path.glob("*.json*")) if path.is_dir() else [path]),
    "reader_scores": [f"results/reader/{model}/scores.parquet" for model in READER.models] if READER else [],
}


rule train_reader:
    """Train an adapter to read, fit the log-odds of its lifts on dev, and read dev and test."""
    input:
        weights=MODEL.weights,
        rows="results/reader/rows.parquet",
    output:
        adapter="results/reader/{model}/adapter_model.safetensors",
        config="results/reader/{model}/adapter_config.json",
        card="results/reader/{model}/README.md",
        manifest="results/reader/{model}/manifest.json",
        scores="results/reader/{model}/scores.parquet",
    log:
        "logs/train_reader/{model}.log",
    benchmark:
        "benchmarks/train_reader/{model}.tsv"
    conda:
        "../envs/training.yaml"
    threads: 8
    resources:
        mem_mb=lambda w, attempt: 16000 * attempt,
        model=1,
        training=1,
        runtime=lambda w, attempt: 120 * attempt,
    params:
        version=versions("train_reader", "error_reports/readers/lift"),
        recipe=recipe,
        language=READER.language if READER else "",
        seed=EXPERIMENT.seed,
        folder=subpath(output.manifest, parent=True),
    shell:
        "python -m scripts train_reader --model {wildcards.model:q} --weights {input.weights:q} --rows {input.rows:q}"
        " --recipe {params.recipe:q} --language {params.language:q} --seed {params.seed:q} --reader {params.folder:q}"
        " --scores {output.scores:q} 2>&1 | tee {log:q}"
