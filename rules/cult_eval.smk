"""COMET, which has an environment of its own."""


rule cult_eval_comet:
    """Measure translations with COMET, in an environment of its own."""
    input:
        rows="results/cult_eval/rows/{translator}/{shots}.parquet",
        weights=comet_files,
    output:
        metrics="results/cult_eval/comet/{translator}/{shots}.parquet",
        manifest="results/cult_eval/comet/{translator}/{shots}.manifest.json",
    log:
        "logs/cult_eval_comet/{translator}/{shots}.log",
    benchmark:
        "benchmarks/cult_eval_comet/{translator}/{shots}.tsv"
    conda:
        "../envs/mt.yaml"
    resources:
        mem_mb=lambda w, attempt: 16000 * attempt,
        runtime=lambda w, attempt: 120 * attempt,
    params:
        version=versions("cult_eval_comet"),
        comet=CULT_EVAL.comet or "" if CULT_EVAL else "",
    shell:
        "python -m scripts cult_eval_comet --rows {input.rows:q} --comet {params.comet:q}"
        " --metrics {output.metrics:q} --manifest {output.manifest:q} 2>&1 | tee {log:q}"
