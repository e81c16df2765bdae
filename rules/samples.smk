"""Benchmark rows -> original instruction-output pairs."""


rule build_samples:
    """Read, draw and wrap one benchmark."""
    input:
        source="results/sources/{dataset}/manifest.json",
        module=own_module,
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
    resources:
        runtime=lambda w, attempt: 60 * attempt,
    params:
        version=versions("build_samples", reader, templates, *LOCAL_TEMPLATES),
        module=flag("module", own_module),
        reading=lambda w: json.dumps(EXPERIMENT.datasets[w.dataset].reading, sort_keys=True),
        cap=lambda w: f"--cap={EXPERIMENT.datasets[w.dataset].cap}",
        rows=EXPERIMENT.construction.rows,
        cap_stage=EXPERIMENT.construction.cap_stage,
        allocation=EXPERIMENT.construction.allocation,
        shares=json.dumps(EXPERIMENT.construction.shares, sort_keys=True),
        seed=f"--seed={EXPERIMENT.seed}",
        templates=["--templates", TEMPLATES] if LOCAL_TEMPLATES else [],
    shell:
        "python -m scripts build_samples --dataset {wildcards.dataset:q} {params.module:q} --source {input.source:q}"
        " --reading {params.reading:q} --rows {params.rows:q} {params.cap:q} --cap-stage {params.cap_stage:q} --allocation {params.allocation:q}"
        " --shares {params.shares:q} {params.seed:q} {params.templates:q}"
        " --bases {output.bases:q} --samples {output.samples:q} --counts {output.counts:q} 2>&1 | tee {log:q}"
