"""Every table, figure and audit: one rule, for each step that declares a page (`excam/core/steps.py`).

A rule has the name of its step. Each wildcard, input, setting and output is an option of that name: the input `cells`
becomes `--cells FILE ...`.
"""

for page in PAGES.values():

    rule:
        name:
            page.name
        input:
            **page_inputs(page),
        output:
            **page_outputs(page),
        log:
            f"logs/{page.record}.log",
        benchmark:
            f"benchmarks/{page.record}.tsv"
        wildcard_constraints:
            **{name: one_of(values) for name, values in page.wildcards.items()},
        localrule: page.local
        conda:
            "../envs/data.yaml"
        params:
            version=versions(page.name, *page.stages),
            step=page.name,
            settings=page_settings(page),
            paths=page_paths,
        shell:
            "python -m scripts {params.step:q} {params.settings:q} {params.paths:q} 2>&1 | tee {log:q}"
