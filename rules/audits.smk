"""Audits: what the data set must be, checked on its rows. A failed check is reported, it stops nothing."""

AUDITED = expand(
    "results/excam40k/{dataset}/{split}.parquet", dataset=DATASETS, split=["train", "dev", "test", "test-100"]
)


rule audit_leaks:
    """Nothing stands in two splits, nothing judged is trained on, nothing left out is mixed in (spec 13, 49)."""
    input:
        samples=AUDITED,
        bases=expand("results/samples/{dataset}.bases.jsonl", dataset=DATASETS),
        near_duplicates="results/excam40k/near-duplicates.csv",
        mixtures=expand("results/mixtures/{trained_on}/train.jsonl", trained_on=EXPERIMENT.tuned.mixtures),
    output:
        checks="results/audits/leaks.csv",
        page=report("results/audits/leaks.md", caption="../report/audit-leaks.rst", category="Audits"),
    log:
        "logs/audit_leaks.log",
    benchmark:
        "benchmarks/audit_leaks.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("audit_leaks"),
    shell:
        "python -m scripts.audit_leaks --samples {input.samples:q} --bases {input.bases:q}"
        " --near-duplicates {input.near_duplicates:q} --mixtures {input.mixtures:q}"
        " --checks {output.checks:q} --page {output.page:q} 2>&1 | tee {log:q}"


rule audit_shortcuts:
    """Templates, lead-ins, lengths and letters do not tell the label (spec 17)."""
    input:
        samples=AUDITED,
    output:
        checks="results/audits/shortcuts.csv",
        page=report("results/audits/shortcuts.md", caption="../report/audit-shortcuts.rst", category="Audits"),
    log:
        "logs/audit_shortcuts.log",
    benchmark:
        "benchmarks/audit_shortcuts.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("audit_shortcuts"),
    shell:
        "python -m scripts.audit_shortcuts --samples {input.samples:q}"
        " --checks {output.checks:q} --page {output.page:q} 2>&1 | tee {log:q}"


rule audit_balance:
    """Splits, labels, templates, positions, strata, answers, severities (spec 5, 11-26)."""
    input:
        samples=AUDITED,
        bases=expand("results/samples/{dataset}.bases.jsonl", dataset=DATASETS),
        counts=expand("results/excam40k/{dataset}/counts.json", dataset=DATASETS),
        soft=expand("results/errors/soft/{dataset}.counts.json", dataset=SOFT),
    output:
        uses="results/audits/balance-templates.csv",
        checks="results/audits/balance.csv",
        page=report("results/audits/balance.md", caption="../report/audit-balance.rst", category="Audits"),
    log:
        "logs/audit_balance.log",
    benchmark:
        "benchmarks/audit_balance.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("audit_balance"),
        shares=json.dumps(EXPERIMENT.construction.shares, sort_keys=True),
    shell:
        "python -m scripts.audit_balance --samples {input.samples:q} --bases {input.bases:q} --counts {input.counts:q}"
        " --soft {input.soft:q} --shares {params.shares:q} --uses {output.uses:q}"
        " --checks {output.checks:q} --page {output.page:q} 2>&1 | tee {log:q}"


rule audit_inventory:
    """Languages, regions and cultures beside the lists of Appendix E (spec 14)."""
    input:
        samples=AUDITED,
        regions="paper/appendix-e-regions.csv",
        languages="paper/appendix-e-languages.csv",
    output:
        cultures="results/audits/inventory-cultures.csv",
        checks="results/audits/inventory.csv",
        page=report("results/audits/inventory.md", caption="../report/audit-inventory.rst", category="Audits"),
    log:
        "logs/audit_inventory.log",
    benchmark:
        "benchmarks/audit_inventory.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("audit_inventory"),
    shell:
        "python -m scripts.audit_inventory --samples {input.samples:q} --regions {input.regions:q}"
        " --languages {input.languages:q} --cultures {output.cultures:q}"
        " --checks {output.checks:q} --page {output.page:q} 2>&1 | tee {log:q}"


rule audit_licences:
    """Licence and source of every row, and what may be combined (spec 77-79)."""
    input:
        samples=AUDITED,
        sources=expand("results/sources/{dataset}/manifest.json", dataset=DATASETS),
    output:
        ledger="results/audits/licences.parquet",
        checks="results/audits/licences.csv",
        page=report("results/audits/licences.md", caption="../report/audit-licences.rst", category="Audits"),
    log:
        "logs/audit_licences.log",
    benchmark:
        "benchmarks/audit_licences.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("audit_licences"),
        licences=json.dumps({name: benchmarks.load(name).SOURCE.licence for name in DATASETS}, sort_keys=True),
    shell:
        "python -m scripts.audit_licences --samples {input.samples:q} --sources {input.sources:q}"
        " --licences {params.licences:q} --ledger {output.ledger:q}"
        " --checks {output.checks:q} --page {output.page:q} 2>&1 | tee {log:q}"


rule summarize_audits:
    """All audits on one page: what failed first."""
    input:
        checks=expand(
            "results/audits/{audit}.csv",
            audit=["leaks", "shortcuts", "balance", "inventory", "licences"],
        ),
    output:
        page=report("results/audits/summary.md", caption="../report/audit-summary.rst", category="Audits"),
    log:
        "logs/summarize_audits.log",
    benchmark:
        "benchmarks/summarize_audits.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("summarize_audits"),
    shell:
        "python -m scripts.summarize_audits --checks {input.checks:q} --page {output.page:q} 2>&1 | tee {log:q}"
