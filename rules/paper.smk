"""One rule per table and figure of the paper, and our numbers beside the printed ones."""


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
        "python -m scripts.table_2 --counts {input.counts} --printed {input.printed} --printed-claims {input.claims}"
        " --numbers {output.numbers} --claims {output.claims} --page {output.page} 2>&1 | tee {log}"


rule table_4:
    """Scaled accuracy, Kendall and tie-calibrated accuracy of every system (spec 51-55)."""
    input:
        cells=evaluated("all"),
        tests="results/significance/all/test.json",
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
        "python -m scripts.table_4 --cells {input.cells} --tests {input.tests} --numbers {output.numbers} 2>&1 | tee {log}"


rule figure_3:
    """Out-of-domain scaled accuracy: each column judged by adapters that never saw its dataset (spec 56)."""
    input:
        cells=figure_3_cells,
        tests=[f"results/significance/{d}/test.json" for d in [*DATASETS, "all"] if column_systems(d)],
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
        datasets=" ".join(DATASETS),
    shell:
        "python -m scripts.figure_3 --datasets {params.datasets} --cells {input.cells} --tests {input.tests}"
        " --numbers {output.numbers} --pictures {output.pdf} {output.svg} {output.png} 2>&1 | tee {log}"


rule compare_with_paper:
    """Printed value, our value, difference, and the file it came from."""
    input:
        table_2="results/paper/table-2.csv",
        table_4="results/paper/table-4.csv",
        printed=["paper/table-2.csv", "paper/table-4.csv"],
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
        "python -m scripts.compare_with_paper --table-2 {input.table_2} --table-4 {input.table_4}"
        " --printed {input.printed} --comparison {output.comparison} 2>&1 | tee {log}"
