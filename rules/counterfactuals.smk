"""Do verdicts hang on the words that are flagged? These are put right, and the judge is asked again."""


rule make_counterfactuals:
    """What one system flagged, undone in its rows; and what became of every row it judged (spec 63)."""
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
        "python -m scripts.make_counterfactuals --judgements {input.judgements:q} --samples {input.samples:q}"
        " --spans {params.spans:q} --counterfactuals {output.samples:q} --rows {output.rows:q}"
        " --counts {output.counts:q} 2>&1 | tee {log:q}"


rule judge_counterfactuals:
    """Ask the same system about them; what is the right twin's text is in its journal and is not asked again."""
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
        mem_mb=host_memory,
        runtime=lambda w, attempt: 240 * attempt,
        pace=lambda w: EXPERIMENT.models[w.model].pace,
    params:
        version=versions("judge_counterfactuals", "judge", "asks.{judge}", "answers.{backend}"),
        model=model_settings,
        weights=flag("weights", weights),
        adapter=flag("adapter", adapter),
        seed=EXPERIMENT.seed,
        folder=subpath(output.manifest, parent=True),
    shell:
        "python -m scripts.judge_counterfactuals --model {params.model:q}"
        " --name {wildcards.model:q}/{wildcards.trained_on:q}/{wildcards.judge:q}"
        " --gpus {resources.gpu:q} --pace {resources.pace:q} {params.weights:q} {params.adapter:q}"
        " --judge {wildcards.judge:q} --samples {input.samples:q} --seed {params.seed:q}"
        " --journal results/journal/{wildcards.model:q}/{wildcards.trained_on:q}/{wildcards.judge:q}.jsonl"
        " --transcripts {params.folder:q} 2>&1 | tee {log:q}"


rule table_counterfactuals:
    """Whether verdicts turn, beside right twins and shams: every system that writes reports (spec 63)."""
    input:
        samples=expand("results/counterfactuals/{system}/all/test.parquet", system=reporting_systems()),
        rows=expand("results/counterfactuals/{system}/all/test.rows.parquet", system=reporting_systems()),
        transcripts=expand("results/counterfactuals/{system}/all/test.jsonl", system=reporting_systems()),
    output:
        numbers="results/paper/counterfactuals.csv",
        page=report("results/paper/counterfactuals.md", caption="../report/counterfactuals.rst", category="Results"),
    log:
        "logs/table_counterfactuals.log",
    benchmark:
        "benchmarks/table_counterfactuals.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("table_counterfactuals", "judges.report"),
        seed=EXPERIMENT.seed,
    shell:
        "python -m scripts.table_counterfactuals --counterfactuals {input.samples:q} --rows {input.rows:q}"
        " --transcripts {input.transcripts:q} --seed {params.seed:q} --numbers {output.numbers:q}"
        " --page {output.page:q} 2>&1 | tee {log:q}"
