"""Before a long run: what is here of models, rows, disk and cards. Fetches, opens and asks nothing."""


localrules:
    preflight,


rule preflight:
    """Report what is wrong, what is not known, and the planned work; fails if anything is wrong. Looks at each call."""
    input:
        needs="results/preflight/needs.json",
    log:
        "logs/preflight.log",
    benchmark:
        "benchmarks/preflight.tsv"
    retries: 0
    conda:
        "../envs/data.yaml"
    params:
        version=versions("preflight"),
        page="results/preflight/preflight.md",  # not as output: a failed job has none
        jobs=lambda wildcards: "cluster" if workflow.non_local_exec else "here",
        now=time.time(),  # disks, cards and keys are of the moment
    shell:
        "python -m scripts preflight --needs {input.needs:q} --results results --page {params.page:q} --jobs {params.jobs:q} "
        "2>&1 | tee {log:q}"
