"""The verdict of the audits, which training and publishing wait for; the audits themselves are pages."""


localrules:
    check_audits,


rule check_audits:
    """Stop if an audit of the rows of a mixture or a published build failed, unless `audits` says `warn`."""
    input:
        checks=PAGES["summarize_audits"].inputs["checks"],
        summary="results/audits/summary.md",
    output:
        verdict="results/audits/verdict/{trained_on}.json",
    log:
        "logs/check_audits/{trained_on}.log",
    benchmark:
        "benchmarks/check_audits/{trained_on}.tsv"
    wildcard_constraints:
        trained_on=one_of(EXPERIMENT.mixtures),
    conda:
        "../envs/data.yaml"
    params:
        version=versions("check_audits"),
        datasets=lambda w: learnt_from(w.trained_on),
        if_failed=EXPERIMENT.audits,
    shell:
        "python -m scripts check_audits --checks {input.checks:q} --summary {input.summary:q}"
        " --trained-on {wildcards.trained_on:q} --datasets {params.datasets:q} --if-failed {params.if_failed:q}"
        " --verdict {output.verdict:q} 2>&1 | tee {log:q}"
