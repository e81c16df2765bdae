"""Human validation: the campaign and its page, and what people answered."""


localrules:
    draw_campaign,
    annotation_page,
    collect_answers,


rule draw_campaign:
    """Draw soft errors of the test sets with the explanations of two systems, as tasks."""
    input:
        samples=expand("results/excam40k/{dataset}/test.parquet", dataset=SOFT),
        judgements=expand("results/judgements/{system}/{dataset}/test.parquet", system=EXPLAINERS, dataset=SOFT),
        team=EXPERIMENT.annotation.team or [],
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
        systems=EXPLAINERS,
        wanted=wanted_tasks,
        spans=EXPERIMENT.construction.spans,
        seed=EXPERIMENT.seed,
    shell:
        "python -m scripts draw_campaign --samples {input.samples:q} --systems {params.systems:q}"
        " --judgements {input.judgements:q} --wanted {params.wanted:q} --team {input.team:q} --spans {params.spans:q} --seed {params.seed:q}"
        " --campaign {output.campaign:q} --counts {output.counts:q} 2>&1 | tee {log:q}"


rule annotation_page:
    """Write the campaign as one HTML file that works offline."""
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
        "python -m scripts annotation_page --campaign {input.campaign:q} --page {output.page:q} 2>&1 | tee {log:q}"


rule collect_answers:
    """Collect every exported answer once, with pseudonyms; count skips, gaps and repetitions."""
    input:
        campaign="results/annotation/campaign.json",
        exports=annotation_exports,
    output:
        answers="results/annotation/answers.parquet",
        counts="results/annotation/answers.counts.json",
    log:
        "logs/collect_answers.log",
    benchmark:
        "benchmarks/collect_answers.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("collect_answers"),
        folder=lambda w: EXPERIMENT.annotation.people,
    shell:
        "python -m scripts collect_answers --campaign {input.campaign:q} --folder {params.folder:q}"
        " --exports {input.exports:q}"
        " --answers {output.answers:q} --counts {output.counts:q} 2>&1 | tee {log:q}"
