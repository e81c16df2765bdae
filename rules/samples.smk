"""Benchmark rows -> right instruction-output pairs."""


rule build_samples:
    """Read, draw and wrap one benchmark."""
    input:
        source="results/sources/{dataset}/manifest.json",
    output:
        bases="results/samples/{dataset}.bases.jsonl",
        samples="results/samples/{dataset}.parquet",
        counts="results/samples/{dataset}.counts.json",
    log:
        "logs/build_samples/{dataset}.log",
    benchmark:
        "benchmarks/build_samples/{dataset}.tsv"
    wildcard_constraints:
        dataset=one_of(DATASETS),
    conda:
        "../envs/data.yaml"
    params:
        version=versions("build_samples", "datasets.{dataset}", templates),
        cap=lambda w: f"--cap={EXPERIMENT.datasets[w.dataset].cap}",
        cap_stage=EXPERIMENT.construction.cap_stage,
        allocation=EXPERIMENT.construction.allocation,
        shares=json.dumps(EXPERIMENT.construction.shares, sort_keys=True),
        seed=f"--seed={EXPERIMENT.seed}",
    shell:
        "python -m scripts.build_samples --dataset {wildcards.dataset:q} --source {input.source:q}"
        " {params.cap:q} --cap-stage {params.cap_stage:q} --allocation {params.allocation:q}"
        " --shares {params.shares:q} {params.seed:q}"
        " --bases {output.bases:q} --samples {output.samples:q} --counts {output.counts:q} 2>&1 | tee {log:q}"
