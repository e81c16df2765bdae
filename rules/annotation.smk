"""Human validation: annotators' answers put together, and the tables they give (spec H)."""


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
    shell:
        "python -m scripts.collect_answers --campaign {input.campaign} --exports {input.exports}"
        " --answers {output.answers} --counts {output.counts} 2>&1 | tee {log}"


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
        "python -m scripts.table_3 --campaign {input.campaign} --answers {input.answers} --counts {input.counts}"
        " --printed {input.printed} --printed-claims {input.claims}"
        " --numbers {output.numbers} --page {output.page} 2>&1 | tee {log}"


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
        "python -m scripts.table_12 --campaign {input.campaign} --answers {input.answers} --counts {input.counts}"
        " --printed {input.printed} --printed-claims {input.claims}"
        " --numbers {output.numbers} --page {output.page} 2>&1 | tee {log}"


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
        "python -m scripts.table_13 --campaign {input.campaign} --answers {input.answers} --counts {input.counts}"
        " --printed {input.printed} --printed-claims {input.claims}"
        " --numbers {output.numbers} --page {output.page} 2>&1 | tee {log}"


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
        "python -m scripts.table_ratings --campaign {input.campaign} --answers {input.answers} --counts {input.counts}"
        " --printed-claims {input.claims} --seed {params.seed}"
        " --numbers {output.numbers} --page {output.page} 2>&1 | tee {log}"


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
        "python -m scripts.table_agreement --campaign {input.campaign} --answers {input.answers} --counts {input.counts}"
        " --seed {params.seed}"
        " --numbers {output.numbers} --page {output.page} 2>&1 | tee {log}"


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
        "python -m scripts.figure_votes --campaign {input.campaign} --answers {input.answers}"
        " --numbers {output.numbers} --pictures {output.pdf} {output.svg} {output.png} 2>&1 | tee {log}"
