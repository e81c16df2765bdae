"""One rule per table and figure of the paper, what scores without judgement get, and ours beside the printed."""


rule floors:
    """What scores without judgement get on each test set: constant, lengths, templates, random (spec 51-55)."""
    input:
        samples=expand(
            "results/excam40k/{dataset}/{split}.parquet", dataset=DATASETS, split=["train", "dev", "test", "test-100"]
        ),
    output:
        numbers=report("results/paper/floors.csv", caption="../report/floors.rst", category="Results"),
    log:
        "logs/floors.log",
    benchmark:
        "benchmarks/floors.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("floors"),
        seed=EXPERIMENT.seed,
    shell:
        "python -m scripts.floors --samples {input.samples:q} --seed {params.seed:q} --numbers {output.numbers:q}"
        " 2>&1 | tee {log:q}"


rule table_2:
    """Rows per dataset, split and label (spec 11, 12)."""
    input:
        counts=expand("results/excam40k/{dataset}/counts.json", dataset=DATASETS),
        printed="paper/table-2.csv",
        claims="paper/claims.csv",
    output:
        numbers=report("results/paper/table-2.csv", caption="../report/table-2.rst", category="Data"),
        claims="results/paper/table-2-claims.csv",
        page=report("results/paper/table-2.md", caption="../report/table-2.rst", category="Data"),
    log:
        "logs/table_2.log",
    benchmark:
        "benchmarks/table_2.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("table_2"),
    shell:
        "python -m scripts.table_2 --counts {input.counts:q} --printed {input.printed:q}"
        " --printed-claims {input.claims:q} --numbers {output.numbers:q} --claims {output.claims:q}"
        " --page {output.page:q} 2>&1 | tee {log:q}"


rule table_4:
    """Scaled accuracy, Kendall and tie-calibrated accuracy of every system, and the floors (spec 51-55)."""
    input:
        cells=evaluated("all"),
        tests="results/significance/all/test.json",
        correlation_tests="results/significance/all/test.correlations.json",
        floors="results/paper/floors.csv",
    output:
        numbers=report("results/paper/table-4.csv", caption="../report/table-4.rst", category="Results"),
    log:
        "logs/table_4.log",
    benchmark:
        "benchmarks/table_4.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("table_4"),
    shell:
        "python -m scripts.table_4 --cells {input.cells:q} --tests {input.tests:q}"
        " --correlation-tests {input.correlation_tests:q} --floors {input.floors:q} --numbers {output.numbers:q}"
        " 2>&1 | tee {log:q}"


rule table_6:
    """Models, how they decode, and libraries, beside the printed (spec 39, 64)."""
    input:
        locks=["requirements/core.lock", "requirements/torch.lock", "requirements/vllm.lock"],
        printed=["paper/table-6.csv", "paper/table-6-software.csv"],
    output:
        numbers="results/paper/table-6.csv",
        page=report("results/paper/table-6.md", caption="../report/table-6.rst", category="Settings"),
    log:
        "logs/table_6.log",
    benchmark:
        "benchmarks/table_6.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("table_6"),
        models=models_asked,
    shell:
        "python -m scripts.table_6 --models {params.models:q} --locks {input.locks:q} --printed {input.printed:q}"
        " --numbers {output.numbers:q} --page {output.page:q} 2>&1 | tee {log:q}"


rule table_prompts:
    """Tables 5, 7 and 11: the prompts, as the code asks them (spec 22, 32, 40, 64)."""
    output:
        excam=report("results/paper/table-5.md", caption="../report/table-prompts.rst", category="Settings"),
        errors=report("results/paper/table-7.md", caption="../report/table-prompts.rst", category="Settings"),
        baselines=report("results/paper/table-11.md", caption="../report/table-prompts.rst", category="Settings"),
    log:
        "logs/table_prompts.log",
    benchmark:
        "benchmarks/table_prompts.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("table_prompts"),
    shell:
        "python -m scripts.table_prompts --pages {output.excam:q} {output.errors:q} {output.baselines:q}"
        " 2>&1 | tee {log:q}"


rule error_rates:
    """How often an error is reported where there is one, and none where there is none (spec 60)."""
    input:
        judgements=[f"results/judgements/{s}/{d}/test.parquet" for s in column_systems("all") for d in DATASETS],
        printed="paper/error-rates.csv",
    output:
        numbers="results/paper/error-rates.csv",
        page=report("results/paper/error-rates.md", caption="../report/error-rates.rst", category="Results"),
    log:
        "logs/error_rates.log",
    benchmark:
        "benchmarks/error_rates.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("error_rates"),
        seed=EXPERIMENT.seed,
    shell:
        "python -m scripts.error_rates --judgements {input.judgements:q} --printed {input.printed:q}"
        " --seed {params.seed:q} --numbers {output.numbers:q} --page {output.page:q} 2>&1 | tee {log:q}"


rule figure_3:
    """Out-of-domain scaled accuracy: each column judged by adapters that never saw its dataset (spec 56)."""
    input:
        cells=figure_3_cells,
        tests=[f"results/significance/{d}/test.json" for d in [*DATASETS, "all"] if column_systems(d)],
        floors="results/paper/floors.csv",
    output:
        numbers="results/paper/figure-3.csv",
        pdf="results/paper/figure-3.pdf",
        svg=report("results/paper/figure-3.svg", caption="../report/figure-3.rst", category="Results"),
        png="results/paper/figure-3.png",
    log:
        "logs/figure_3.log",
    benchmark:
        "benchmarks/figure_3.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("figure_3"),
        datasets=DATASETS,
        soft=SOFT,
    shell:
        "python -m scripts.figure_3 --datasets {params.datasets:q} --soft {params.soft:q} --cells {input.cells:q}"
        " --tests {input.tests:q} --floors {input.floors:q} --numbers {output.numbers:q}"
        " --pictures {output.pdf:q} {output.svg:q} {output.png:q} 2>&1 | tee {log:q}"


rule figure_4:
    """In-domain ExCAM beside the external judges on the balanced subsets (spec 57); only where one was asked."""
    input:
        tuned=in_domain_judgements(),
        external=external_judgements,
        claims="paper/claims.csv",
    output:
        numbers="results/paper/figure-4.csv",
        page=report("results/paper/figure-4.md", caption="../report/figure-4.rst", category="Results"),
        pdf="results/paper/figure-4.pdf",
        svg=report("results/paper/figure-4.svg", caption="../report/figure-4.rst", category="Results"),
        png="results/paper/figure-4.png",
    log:
        "logs/figure_4.log",
    benchmark:
        "benchmarks/figure_4.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("figure_4"),
        datasets=DATASETS,
        level=0.1,
        seed=EXPERIMENT.seed,
    shell:
        "python -m scripts.figure_4 --datasets {params.datasets:q} --tuned {input.tuned:q}"
        " --external {input.external:q} --level {params.level:q} --seed {params.seed:q}"
        " --printed-claims {input.claims:q} --page {output.page:q} --numbers {output.numbers:q}"
        " --pictures {output.pdf:q} {output.svg:q} {output.png:q} 2>&1 | tee {log:q}"


rule figure_10:
    """Scaled accuracy by language, for languages with more than 100 rows (spec 58)."""
    input:
        cells=[f"results/evaluation/{system}/all/test.json" for system in column_systems("all")],
    output:
        numbers="results/paper/figure-10.csv",
        pdf="results/paper/figure-10.pdf",
        svg=report("results/paper/figure-10.svg", caption="../report/figure-10.rst", category="Results"),
        png="results/paper/figure-10.png",
    log:
        "logs/figure_10.log",
    benchmark:
        "benchmarks/figure_10.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("figure_10"),
        more_than=100,
    shell:
        "python -m scripts.figure_10 --more-than {params.more_than:q} --cells {input.cells:q}"
        " --numbers {output.numbers:q} --pictures {output.pdf:q} {output.svg:q} {output.png:q} 2>&1 | tee {log:q}"


rule figure_11:
    """Every adapter of a base model on every test set (spec 59)."""
    input:
        cells=lambda w: [f"results/evaluation/{s}/{d}/test.json" for s in adapted(w.model) for d in [*DATASETS, "all"]],
        changes="results/paper/leave-one-out.csv",
    output:
        numbers="results/paper/figure-11/{model}.csv",
        pdf="results/paper/figure-11/{model}.pdf",
        svg=report("results/paper/figure-11/{model}.svg", caption="../report/figure-11.rst", category="Results"),
        png="results/paper/figure-11/{model}.png",
    log:
        "logs/figure_11/{model}.log",
    benchmark:
        "benchmarks/figure_11/{model}.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("figure_11"),
        datasets=DATASETS,
        unseen=unseen(),
    shell:
        "python -m scripts.figure_11 --model {wildcards.model:q} --datasets {params.datasets:q}"
        " --unseen {params.unseen:q} --cells {input.cells:q} --changes {input.changes:q} --numbers {output.numbers:q}"
        " --pictures {output.pdf:q} {output.svg:q} {output.png:q} 2>&1 | tee {log:q}"


rule leave_one_out:
    """What one dataset less in training changes, tested row by row (spec 65)."""
    input:
        judgements=leave_one_out_judgements(),
    output:
        numbers="results/paper/leave-one-out.csv",
        statement=report("results/paper/leave-one-out.md", caption="../report/leave-one-out.rst", category="Results"),
    log:
        "logs/leave_one_out.log",
    benchmark:
        "benchmarks/leave_one_out.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("leave_one_out"),
        seed=EXPERIMENT.seed,
    shell:
        "python -m scripts.leave_one_out --judgements {input.judgements:q} --seed {params.seed:q}"
        " --numbers {output.numbers:q} --statement {output.statement:q} 2>&1 | tee {log:q}"


rule compare_with_paper:
    """Printed value, our value, difference, the file it came from; and where the paper contradicts itself (spec 55)."""
    input:
        table_2="results/paper/table-2.csv",
        table_4="results/paper/table-4.csv",
        figure_3="results/paper/figure-3.csv",
        figure_10="results/paper/figure-10.csv",
        error_rates="results/paper/error-rates.csv",
        leave_one_out="results/paper/leave-one-out.md",
        printed=["paper/table-2.csv", "paper/table-4.csv"],
        claims="paper/claims.csv",
    output:
        comparison=report("results/paper/comparison.md", caption="../report/comparison.rst", category="Results"),
    log:
        "logs/compare_with_paper.log",
    benchmark:
        "benchmarks/compare_with_paper.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("compare_with_paper"),
    shell:
        "python -m scripts.compare_with_paper --table-2 {input.table_2:q} --table-4 {input.table_4:q}"
        " --figure-3 {input.figure_3:q} --figure-10 {input.figure_10:q} --error-rates {input.error_rates:q}"
        " --leave-one-out {input.leave_one_out:q} --printed {input.printed:q} --printed-claims {input.claims:q}"
        " --comparison {output.comparison:q} 2>&1 | tee {log:q}"
