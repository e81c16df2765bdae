"""Human validation (spec 67-76): the campaign and its page, a model's first look, and what people answered."""


rule draw_campaign:
    """Soft errors of the test sets with the explanations of two systems, as tasks (spec 67, 70)."""
    input:
        samples=expand("results/excam40k/{dataset}/test.parquet", dataset=SOFT),
        judgements=expand("results/judgements/{system}/{dataset}/test.parquet", system=EXPLAINERS, dataset=SOFT),
    output:
        campaign="results/annotation/campaign.json",
        counts="results/annotation/campaign.counts.json",
    log:
        "logs/draw_campaign.log",
    benchmark:
        "benchmarks/draw_campaign.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("draw_campaign"),
        systems=" ".join(EXPLAINERS),
        wanted=wanted_tasks(),
        spans=EXPERIMENT.construction.spans,
        seed=EXPERIMENT.seed,
    shell:
        "python -m scripts.draw_campaign --samples {input.samples} --systems {params.systems}"
        " --judgements {input.judgements} --wanted {params.wanted:q} --spans {params.spans} --seed {params.seed}"
        " --campaign {output.campaign} --counts {output.counts} 2>&1 | tee {log}"


rule annotation_page:
    """The campaign as one file that works by a double click, with no network (spec 68-72)."""
    input:
        campaign="results/annotation/campaign.json",
    output:
        page="results/annotation/campaign.html",
    log:
        "logs/annotation_page.log",
    benchmark:
        "benchmarks/annotation_page.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("annotation_page"),
    shell:
        "python -m scripts.annotation_page --campaign {input.campaign} --page {output.page} 2>&1 | tee {log}"


rule pre_annotate:
    """A model's answers to the same questions, apart from people's; no page shows them."""
    input:
        campaign="results/annotation/campaign.json",
        weights=weights,
    output:
        answers="results/annotation/pre/{model}.jsonl",
        manifest="results/annotation/pre/{model}.manifest.json",
    log:
        "logs/pre_annotate/{model}.log",
    benchmark:
        "benchmarks/pre_annotate/{model}.tsv"
    conda:
        "../envs/inference.yaml"
    threads: 8
    resources:
        gpu=lambda w: EXPERIMENT.models[w.model].gpus,
        model=1,
        mem_mb=lambda w, attempt: 16000 * attempt,
        runtime=lambda w, attempt: 60 * attempt,
        pace=lambda w: EXPERIMENT.models[w.model].pace,
    params:
        version=versions("pre_annotate", "answers.{backend}"),
        model=model_settings,
        weights=flag("weights", weights),
        seed=EXPERIMENT.seed,
    shell:
        "python -m scripts.pre_annotate --campaign {input.campaign} --name {wildcards.model} --model {params.model:q}"
        " --gpus {resources.gpu} --pace {resources.pace:q} {params.weights} --seed {params.seed}"
        " --journal results/journal/{wildcards.model}/pre-annotation.jsonl --answers {output.answers}"
        " --manifest {output.manifest} 2>&1 | tee {log}"
