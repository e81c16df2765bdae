"""Do verdicts depend on the flagged words? Correct these words and ask the judge again."""


localrules:
    make_counterfactuals,


rule make_counterfactuals:
    """Correct the words that one system flagged in its rows; record the outcome of every judged row."""
    input:
        judgements=lambda w: judged(w, "test"),
        samples=expand("results/excam40k/{dataset}/test.parquet", dataset=DATASETS),
    output:
        samples="results/counterfactuals/{model}/{trained_on}/{judge}/all/test.parquet",
        rows="results/counterfactuals/{model}/{trained_on}/{judge}/all/test.rows.parquet",
        counts="results/counterfactuals/{model}/{trained_on}/{judge}/all/test.counts.json",
    log:
        "logs/make_counterfactuals/{model}/{trained_on}/{judge}.log",
    benchmark:
        "benchmarks/make_counterfactuals/{model}/{trained_on}/{judge}.tsv"
    wildcard_constraints:
        judge="report",
    conda:
        "../envs/data.yaml"
    params:
        version=versions("make_counterfactuals"),
        spans=EXPERIMENT.construction.spans,
    shell:
        "python -m scripts make_counterfactuals --judgements {input.judgements:q} --samples {input.samples:q}"
        " --spans {params.spans:q} --counterfactuals {output.samples:q} --rows {output.rows:q}"
        " --counts {output.counts:q} 2>&1 | tee {log:q}"


rule judge_counterfactuals:
    """Ask the same system about them; texts equal to the original are in its journal and not asked again."""
    input:
        samples="results/counterfactuals/{model}/{trained_on}/{judge}/all/test.parquet",
        weights=weights,
        adapter=adapter,
        verified=verified,
    output:
        transcript="results/counterfactuals/{model}/{trained_on}/{judge}/all/test.jsonl",
        manifest="results/counterfactuals/{model}/{trained_on}/{judge}/test.manifest.json",
    log:
        "logs/judge_counterfactuals/{model}/{trained_on}/{judge}.log",
    benchmark:
        "benchmarks/judge_counterfactuals/{model}/{trained_on}/{judge}.tsv"
    wildcard_constraints:
        judge="report",
    conda:
        "../envs/inference.yaml"
    threads: 8
    resources:
        gpu=lambda w: EXPERIMENT.models[w.model].gpus,
        model=1,
        engine=1,
        mem_mb=host_memory,
        runtime=lambda w, attempt: 240 * attempt,
        pace=lambda w: EXPERIMENT.models[w.model].speed_settings,
    params:
        version=versions("judge", "asks.{judge}", "answers.{backend}"),
        model=model_settings,
        weights=flag("weights", weights),
        adapter=flag("adapter", adapter),
        seed=EXPERIMENT.seed,
    shell:
        "python -m scripts judge --model {params.model:q}"
        " --name {wildcards.model:q}/{wildcards.trained_on:q}/{wildcards.judge:q}"
        " --gpus {resources.gpu:q} --pace {resources.pace:q} {params.weights:q} {params.adapter:q}"
        " --judge {wildcards.judge:q} --samples {input.samples:q} --seed {params.seed:q}"
        " --journal results/journal/{wildcards.model:q}/{wildcards.trained_on:q}/{wildcards.judge:q}.jsonl"
        " --transcript {output.transcript:q} --manifest {output.manifest:q} 2>&1 | tee {log:q}"
