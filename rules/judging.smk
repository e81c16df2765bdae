"""Every prediction in the paper: `judge` asks (one engine for the jobs of an allocation), `score` reads (no model)."""


rule verify_adapter:
    """Prove that an adapter is at work in the engine that serves it; a dead one stops here."""
    input:
        weights=weights,
        adapter=adapter,
    output:
        verified="results/adapters/{model}/{trained_on}/verified.json",
    log:
        "logs/verify_adapter/{model}/{trained_on}.log",
    benchmark:
        "benchmarks/verify_adapter/{model}/{trained_on}.tsv"
    wildcard_constraints:
        trained_on=one_of(EXPERIMENT.mixtures),
    group:
        "engine_{model}"
    conda:
        "../envs/inference.yaml"
    threads: 8
    resources:
        gpu=lambda w: EXPERIMENT.models[w.model].gpus,
        model=1,
        mem_mb=host_memory,
        runtime=lambda w, attempt: 20 * attempt,
        pace=lambda w: EXPERIMENT.models[w.model].pace,
    params:
        version=versions("verify_adapter", "answers.{backend}"),
        model=lambda w: EXPERIMENT.models[w.model].decides,
        weights=flag("weights", weights),
        adapter=flag("adapter", adapter),
        checkpoints="results/checkpoints/{model}/{trained_on}",
    shell:
        "python -m scripts.verify_adapter --name {wildcards.model:q}/{wildcards.trained_on:q} --model {params.model:q}"
        " --gpus {resources.gpu:q} --pace {resources.pace:q} {params.weights:q} {params.adapter:q} --checkpoints {params.checkpoints:q}"
        " --verified {output.verified:q} 2>&1 | tee {log:q}"


rule judge:
    """Ask one (model, trained_on, judge) about the test sets of every dataset; one transcript per dataset."""
    input:
        samples=expand("results/excam40k/{dataset}/{{split}}.parquet", dataset=DATASETS),
        weights=weights,
        adapter=adapter,
        verified=verified,
    output:
        expand(
            "results/transcripts/{{model}}/{{trained_on}}/{{judge}}/{dataset}/{{split}}.jsonl",
            dataset=DATASETS,
        ),
        manifest="results/transcripts/{model}/{trained_on}/{judge}/{split}.manifest.json",
    log:
        "logs/judge/{model}/{trained_on}/{judge}/{split}.log",
    benchmark:
        "benchmarks/judge/{model}/{trained_on}/{judge}/{split}.tsv"
    group:
        "engine_{model}"
    conda:
        "../envs/inference.yaml"
    threads: 8
    resources:
        gpu=lambda w: EXPERIMENT.models[w.model].gpus,
        model=1,
        mem_mb=host_memory,
        runtime=lambda w, attempt: 90 * attempt,
        pace=lambda w: EXPERIMENT.models[w.model].pace,
    params:
        version=versions("judge", "asks.{judge}", "answers.{backend}"),
        model=model_settings,
        weights=flag("weights", weights),
        adapter=flag("adapter", adapter),
        seed=EXPERIMENT.seed,
    shell:
        "python -m scripts.judge --name {wildcards.model:q}/{wildcards.trained_on:q}/{wildcards.judge:q}"
        " --model {params.model:q} --gpus {resources.gpu:q} --pace {resources.pace:q} {params.weights:q}"
        " {params.adapter:q} --judge {wildcards.judge:q} --samples {input.samples:q} --seed {params.seed:q}"
        " --journal results/journal/{wildcards.model:q}/{wildcards.trained_on:q}/{wildcards.judge:q}.jsonl"
        " --transcripts results/transcripts/{wildcards.model:q}/{wildcards.trained_on:q}/{wildcards.judge:q}"
        " 2>&1 | tee {log:q}"


rule score:
    """Read a transcript into judgements. A better reader never costs a GPU."""
    input:
        samples="results/excam40k/{dataset}/{split}.parquet",
        transcript="results/transcripts/{model}/{trained_on}/{judge}/{dataset}/{split}.jsonl",
    output:
        judgements="results/judgements/{model}/{trained_on}/{judge}/{dataset}/{split}.parquet",
    log:
        "logs/score/{model}/{trained_on}/{judge}/{dataset}/{split}.log",
    benchmark:
        "benchmarks/score/{model}/{trained_on}/{judge}/{dataset}/{split}.tsv"
    wildcard_constraints:
        dataset=one_of(DATASETS),
    conda:
        "../envs/data.yaml"
    params:
        version=versions("score", "judges.{judge}"),
        end_token="yes" if EXPERIMENT.scoring.end_token else "no",
    shell:
        "python -m scripts.score --judge {wildcards.judge:q} --samples {input.samples:q}"
        " --transcript {input.transcript:q} --end-token {params.end_token:q} --judgements {output.judgements:q}"
        " 2>&1 | tee {log:q}"
