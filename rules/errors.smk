"""Corrupted pairs: hard errors from the benchmarks' options, soft errors from a generator in shards."""


rule make_hard_errors:
    """Put a wrong option in place of the right one."""
    input:
        bases="results/samples/{dataset}.bases.jsonl",
        samples="results/samples/{dataset}.parquet",
        module=own_module,
    output:
        errors="results/errors/hard/{dataset}.parquet",
        counts="results/errors/hard/{dataset}.counts.json",
    log:
        "logs/make_hard_errors/{dataset}.log",
    benchmark:
        "benchmarks/make_hard_errors/{dataset}.tsv"
    wildcard_constraints:
        dataset=one_of(HARD),
    conda:
        "../envs/data.yaml"
    resources:
        runtime=lambda w, attempt: 60 * attempt,
    params:
        version=versions("make_hard_errors", templates, "templates.hard", *LOCAL_TEMPLATES),
        module=flag("module", own_module),
        seed=EXPERIMENT.seed,
    shell:
        "python -m scripts make_hard_errors --dataset {wildcards.dataset:q} {params.module:q} --bases {input.bases:q} --samples {input.samples:q}"
        " --seed {params.seed:q} --errors {output.errors:q} --counts {output.counts:q} 2>&1 | tee {log:q}"


rule generate_soft_errors:
    """Ask the generator for corrupted versions, one shard at a time; every answer verbatim."""
    input:
        samples="results/samples/{dataset}.parquet",
        too_long=long_rows,
        weights=GENERATOR.weights,
    output:
        answers="results/errors/soft/{dataset}/{severity}/{shard}.jsonl",
        manifest="results/errors/soft/{dataset}/{severity}/{shard}.manifest.json",
    log:
        "logs/generate_soft_errors/{dataset}/{severity}/{shard}.log",
    benchmark:
        "benchmarks/generate_soft_errors/{dataset}/{severity}/{shard}.tsv"
    wildcard_constraints:
        dataset=one_of(SOFT),
    group:
        "generator"
    conda:
        "../envs/inference.yaml"
    threads: 8 if BY_MODEL else 1
    resources:
        **GENERATOR.resources(minutes=360, model=BY_MODEL, engine=BY_MODEL),
    params:
        version=versions("generate_soft_errors", GENERATOR.answers),
        generator=EXPERIMENT.generation.generator,
        model=GENERATOR.settings,
        too_long=flag("too-long", long_rows),
        weights=flag("weights", GENERATOR.weights),
        shards=f"--shards={EXPERIMENT.generation.shards}",
        seed=f"--seed={EXPERIMENT.seed}",
    shell:
        "python -m scripts generate_soft_errors --samples {input.samples:q} {params.too_long:q}"
        " --severity {wildcards.severity:q}"
        " --shard {wildcards.shard:q} {params.shards:q} --generator {params.generator:q} --model {params.model:q}"
        " --gpus {resources.gpu:q} --pace {resources.pace:q} {params.weights:q} {params.seed:q}"
        " --journal results/journal/{params.generator:q}/soft/{wildcards.dataset:q}/{wildcards.severity:q}.jsonl"
        " --answers {output.answers:q} --manifest {output.manifest:q} 2>&1 | tee {log:q}"
