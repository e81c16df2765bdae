"""The rules that their steps declare (`excam/core/steps.py`), one for each.

A rule has the name of its step. Each input, setting and output is an option of that name, and each wildcard that the
step has a parameter for: the input `cells` becomes `--cells FILE ...`. One that is empty is left out.
"""

for declared in DECLARED.values():

    rule:
        name:
            declared.name
        input:
            **inputs_of(declared),
        output:
            **outputs_of(declared),
        log:
            f"logs/{declared.record}.log",
        benchmark:
            f"benchmarks/{declared.record}.tsv"
        wildcard_constraints:
            **constraints_of(declared),
        group:
            ASKED[declared.asks].group
        localrule: declared.local
        conda:
            f"../envs/{declared.environment}.yaml"
        threads: 8 if declared.asks else 1
        resources:
            **resources_of(declared),
        params:
            version=versions(declared.name, *declared.stages, ASKED[declared.asks].answers),
            step=declared.name,
            settings=settings_of(declared),
            paths=paths_of(declared),
        shell:
            "python -m scripts {params.step:q} {params.settings:q} {params.paths:q} 2>&1 | tee {log:q}"
