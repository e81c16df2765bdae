"""The data set: splits by base sample, and the mixtures adapters learn from."""


localrules:
    draw_subset,


rule draw_subset:
    """Draw balanced rows of each test set for paid judges; a rule of its own, so that its size retrains nothing."""
    input:
        samples=of_each_dataset("results/excam40k/{dataset}/test.parquet"),
    output:
        subsets=of_each_dataset("results/excam40k/{dataset}/test-100.parquet"),
    log:
        "logs/draw_subset.log",
    benchmark:
        "benchmarks/draw_subset.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("draw_subset"),
        rows=f"--rows={EXPERIMENT.construction.subset}",
        seed=f"--seed={EXPERIMENT.seed}",
    shell:
        "python -m scripts draw_subset --samples {input.samples:q} {params.rows:q} {params.seed:q}"
        " --subset {output.subsets:q} 2>&1 | tee {log:q}"
