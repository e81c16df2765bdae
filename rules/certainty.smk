"""How far certainty can be trusted: ranking, calibration, abstention. Beyond the paper, whose Eq. 1 uses p(R)."""


rule evaluate_certainty:
    """AUROC, reliability and abstention of one system; ExCAM's maps to a probability are fitted on the dev sets."""
    input:
        test=lambda w: judged(w, "test"),
        dev=lambda w: judged(w, "dev") if w.trained_on == "all" else [],
    output:
        numbers="results/certainty/{model}/{trained_on}/{judge}/test.json",
    log:
        "logs/evaluate_certainty/{model}/{trained_on}/{judge}.log",
    benchmark:
        "benchmarks/evaluate_certainty/{model}/{trained_on}/{judge}.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("evaluate_certainty"),
        seed=EXPERIMENT.seed,
    shell:
        "python -m scripts.evaluate_certainty --test {input.test:q} --dev {input.dev:q} --seed {params.seed:q}"
        " --numbers {output.numbers:q} 2>&1 | tee {log:q}"


rule table_certainty:
    """Ranking, calibration and abstention of every system on all test sets together."""
    input:
        cells=[f"results/certainty/{system}/test.json" for system in column_systems("all")],
    output:
        numbers="results/paper/certainty.csv",
        page=report("results/paper/certainty.md", caption="../report/certainty.rst", category="Results"),
    log:
        "logs/table_certainty.log",
    benchmark:
        "benchmarks/table_certainty.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("table_certainty"),
    shell:
        "python -m scripts.table_certainty --cells {input.cells:q} --numbers {output.numbers:q} --page {output.page:q}"
        " 2>&1 | tee {log:q}"


rule figure_reliability:
    """Of ExCAM, the stated probability of an error beside how often there is one."""
    input:
        cells=certain_cells(),
    output:
        numbers="results/paper/reliability.csv",
        pdf="results/paper/reliability.pdf",
        svg=report("results/paper/reliability.svg", caption="../report/reliability.rst", category="Results"),
        png="results/paper/reliability.png",
    log:
        "logs/figure_reliability.log",
    benchmark:
        "benchmarks/figure_reliability.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("figure_reliability"),
    shell:
        "python -m scripts.figure_reliability --cells {input.cells:q} --numbers {output.numbers:q}"
        " --pictures {output.pdf:q} {output.svg:q} {output.png:q} 2>&1 | tee {log:q}"


rule figure_abstention:
    """Of ExCAM, how many verdicts are wrong when only the surest texts are answered."""
    input:
        cells=certain_cells(),
    output:
        numbers="results/paper/abstention.csv",
        pdf="results/paper/abstention.pdf",
        svg=report("results/paper/abstention.svg", caption="../report/abstention.rst", category="Results"),
        png="results/paper/abstention.png",
    log:
        "logs/figure_abstention.log",
    benchmark:
        "benchmarks/figure_abstention.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("figure_abstention"),
    shell:
        "python -m scripts.figure_abstention --cells {input.cells:q} --numbers {output.numbers:q}"
        " --pictures {output.pdf:q} {output.svg:q} {output.png:q} 2>&1 | tee {log:q}"
