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
        systems=EXPLAINERS,
        wanted=wanted_tasks,
        spans=EXPERIMENT.construction.spans,
        seed=EXPERIMENT.seed,
    shell:
        "python -m scripts.draw_campaign --samples {input.samples:q} --systems {params.systems:q}"
        " --judgements {input.judgements:q} --wanted {params.wanted:q} --spans {params.spans:q} --seed {params.seed:q}"
        " --campaign {output.campaign:q} --counts {output.counts:q} 2>&1 | tee {log:q}"


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
        "python -m scripts.annotation_page --campaign {input.campaign:q} --page {output.page:q} 2>&1 | tee {log:q}"


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
        mem_mb=host_memory,
        runtime=lambda w, attempt: 60 * attempt,
        pace=lambda w: EXPERIMENT.models[w.model].pace,
    params:
        version=versions("pre_annotate", "answers.{backend}"),
        model=model_settings,
        weights=flag("weights", weights),
        seed=EXPERIMENT.seed,
    shell:
        "python -m scripts.pre_annotate --campaign {input.campaign:q} --name {wildcards.model:q}"
        " --model {params.model:q} --gpus {resources.gpu:q} --pace {resources.pace:q} {params.weights:q}"
        " --seed {params.seed:q} --journal results/journal/{wildcards.model:q}/pre-annotation.jsonl"
        " --answers {output.answers:q} --manifest {output.manifest:q} 2>&1 | tee {log:q}"


rule table_first_look:
    """What the model said, counted, and beside people's majorities where there are any."""
    input:
        campaign="results/annotation/campaign.json",
        said="results/annotation/pre/{model}.jsonl",
        answers=human_answers,
    output:
        numbers="results/annotation/pre/{model}.csv",
        page="results/annotation/pre/{model}.md",
    log:
        "logs/table_first_look/{model}.log",
    benchmark:
        "benchmarks/table_first_look/{model}.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("table_first_look"),
        answers=flag("answers", human_answers),
    shell:
        "python -m scripts.table_first_look --model {wildcards.model:q} --campaign {input.campaign:q}"
        " --said {input.said:q} {params.answers:q} --numbers {output.numbers:q} --page {output.page:q}"
        " 2>&1 | tee {log:q}"


rule collect_answers:
    """Every exported answer once, annotators under pseudonyms; skips, gaps and repetitions counted (spec 72)."""
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
        folder=lambda w: EXPERIMENT.annotation.answers,
    shell:
        "python -m scripts.collect_answers --campaign {input.campaign:q} --folder {params.folder:q}"
        " --exports {input.exports:q}"
        " --answers {output.answers:q} --counts {output.counts:q} 2>&1 | tee {log:q}"


rule table_3:
    """Votes of three annotators, and the printed shares beside (spec 73)."""
    input:
        campaign="results/annotation/campaign.json",
        answers="results/annotation/answers.parquet",
        counts="results/annotation/answers.counts.json",
        printed="paper/table-3.csv",
        claims="paper/claims.csv",
    output:
        numbers="results/paper/table-3.csv",
        page=report("results/paper/table-3.md", caption="../report/table-3.rst", category="Human validation"),
    log:
        "logs/table_3.log",
    benchmark:
        "benchmarks/table_3.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("table_3"),
    shell:
        "python -m scripts.table_3 --campaign {input.campaign:q} --answers {input.answers:q} --counts {input.counts:q}"
        " --printed {input.printed:q} --printed-claims {input.claims:q}"
        " --numbers {output.numbers:q} --page {output.page:q} 2>&1 | tee {log:q}"


rule table_12:
    """Where both annotators of a language say yes, and the printed shares beside (spec 74)."""
    input:
        campaign="results/annotation/campaign.json",
        answers="results/annotation/answers.parquet",
        counts="results/annotation/answers.counts.json",
        printed="paper/table-12.csv",
        claims="paper/claims.csv",
    output:
        numbers="results/paper/table-12.csv",
        page=report("results/paper/table-12.md", caption="../report/table-12.rst", category="Human validation"),
    log:
        "logs/table_12.log",
    benchmark:
        "benchmarks/table_12.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("table_12"),
    shell:
        "python -m scripts.table_12 --campaign {input.campaign:q} --answers {input.answers:q} --counts {input.counts:q}"
        " --printed {input.printed:q} --printed-claims {input.claims:q}"
        " --numbers {output.numbers:q} --page {output.page:q} 2>&1 | tee {log:q}"


rule table_13:
    """Severity, type and change of mind by majority, and the printed counts beside (spec 75)."""
    input:
        campaign="results/annotation/campaign.json",
        answers="results/annotation/answers.parquet",
        counts="results/annotation/answers.counts.json",
        printed="paper/table-13.csv",
        claims="paper/claims.csv",
    output:
        numbers="results/paper/table-13.csv",
        page=report("results/paper/table-13.md", caption="../report/table-13.rst", category="Human validation"),
    log:
        "logs/table_13.log",
    benchmark:
        "benchmarks/table_13.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("table_13"),
    shell:
        "python -m scripts.table_13 --campaign {input.campaign:q} --answers {input.answers:q} --counts {input.counts:q}"
        " --printed {input.printed:q} --printed-claims {input.claims:q}"
        " --numbers {output.numbers:q} --page {output.page:q} 2>&1 | tee {log:q}"


rule table_ratings:
    """Errors found and explanations rated, per system, and the printed numbers beside (spec 62)."""
    input:
        campaign="results/annotation/campaign.json",
        answers="results/annotation/answers.parquet",
        counts="results/annotation/answers.counts.json",
        claims="paper/claims.csv",
    output:
        numbers="results/paper/human-ratings.csv",
        page=report(
            "results/paper/human-ratings.md", caption="../report/human-ratings.rst", category="Human validation"
        ),
    log:
        "logs/table_ratings.log",
    benchmark:
        "benchmarks/table_ratings.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("table_ratings"),
        seed=EXPERIMENT.seed,
    shell:
        "python -m scripts.table_ratings --campaign {input.campaign:q} --answers {input.answers:q}"
        " --counts {input.counts:q} --printed-claims {input.claims:q} --seed {params.seed:q}"
        " --numbers {output.numbers:q} --page {output.page:q} 2>&1 | tee {log:q}"


rule table_agreement:
    """Krippendorff's alpha and Fleiss' kappa of every question (spec 76)."""
    input:
        campaign="results/annotation/campaign.json",
        answers="results/annotation/answers.parquet",
        counts="results/annotation/answers.counts.json",
    output:
        numbers="results/paper/human-agreement.csv",
        page=report(
            "results/paper/human-agreement.md", caption="../report/human-agreement.rst", category="Human validation"
        ),
    log:
        "logs/table_agreement.log",
    benchmark:
        "benchmarks/table_agreement.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("table_agreement"),
        seed=EXPERIMENT.seed,
    shell:
        "python -m scripts.table_agreement --campaign {input.campaign:q} --answers {input.answers:q}"
        " --counts {input.counts:q} --seed {params.seed:q} --numbers {output.numbers:q} --page {output.page:q}"
        " 2>&1 | tee {log:q}"


rule figure_votes:
    """Table 3's votes and the ratings of explanations, as bars."""
    input:
        campaign="results/annotation/campaign.json",
        answers="results/annotation/answers.parquet",
    output:
        numbers="results/paper/human-votes.csv",
        pdf="results/paper/human-votes.pdf",
        svg=report("results/paper/human-votes.svg", caption="../report/human-votes.rst", category="Human validation"),
        png="results/paper/human-votes.png",
    log:
        "logs/figure_votes.log",
    benchmark:
        "benchmarks/figure_votes.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("figure_votes"),
    shell:
        "python -m scripts.figure_votes --campaign {input.campaign:q} --answers {input.answers:q}"
        " --numbers {output.numbers:q} --pictures {output.pdf:q} {output.svg:q} {output.png:q} 2>&1 | tee {log:q}"
