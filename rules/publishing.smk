"""The data set as others get it: tables of examples, and builds with licences kept apart."""


rule table_1:
    """One soft and one hard error, the erroneous words marked (spec 20, 22, 64)."""
    input:
        samples=expand("results/excam40k/{dataset}/test.parquet", dataset=DATASETS),
    output:
        table=report("results/paper/table-1.md", caption="../report/table-1.rst", category="Data"),
    log:
        "logs/table_1.log",
    benchmark:
        "benchmarks/table_1.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("table_1"),
    shell:
        "python -m scripts.table_1 --samples {input.samples:q} --table {output.table:q} 2>&1 | tee {log:q}"


rule table_8:
    """Errorless pairs of NormAd and CulturalBench (spec 18, 64)."""
    input:
        samples=examples(8),
    output:
        table=report("results/paper/table-8.md", caption="../report/table-8.rst", category="Data"),
    log:
        "logs/table_8.log",
    benchmark:
        "benchmarks/table_8.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("table_8"),
    shell:
        "python -m scripts.table_8 --samples {input.samples:q} --table {output.table:q} 2>&1 | tee {log:q}"


rule table_9:
    """Errorless pairs of INCLUDE, GlobalOpinionQA, NativQA, BLEnD and Mango (spec 18, 64)."""
    input:
        samples=examples(9),
    output:
        table=report("results/paper/table-9.md", caption="../report/table-8.rst", category="Data"),
    log:
        "logs/table_9.log",
    benchmark:
        "benchmarks/table_9.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("table_9"),
    shell:
        "python -m scripts.table_9 --samples {input.samples:q} --table {output.table:q} 2>&1 | tee {log:q}"


rule table_10:
    """Errorless pairs of EPIC and CaLMQA (spec 18, 64)."""
    input:
        samples=examples(10),
    output:
        table=report("results/paper/table-10.md", caption="../report/table-8.rst", category="Data"),
    log:
        "logs/table_10.log",
    benchmark:
        "benchmarks/table_10.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("table_10"),
    shell:
        "python -m scripts.table_10 --samples {input.samples:q} --table {output.table:q} 2>&1 | tee {log:q}"


rule publish_excam40k:
    """Shards by licence, a card, Croissant metadata; `permissive` has no share-alike and no non-commercial row (spec 77)."""
    input:
        samples=published("results/excam40k/{dataset}/{split}.parquet"),
        sources=published("results/sources/{dataset}/manifest.json"),
        soft=published("results/errors/soft/{dataset}.counts.json", among=SOFT),
        audits="results/audits/summary.md",
    output:
        card="results/published/{build}/README.md",
        croissant="results/published/{build}/croissant.json",
        manifest="results/published/{build}/manifest.json",
    log:
        "logs/publish_excam40k/{build}.log",
    benchmark:
        "benchmarks/publish_excam40k/{build}.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("publish_excam40k"),
    shell:
        "python -m scripts.publish_excam40k --build {wildcards.build:q} --samples {input.samples:q}"
        " --sources {input.sources:q} --soft {input.soft:q} --audits {input.audits:q}"
        " --card {output.card:q} --croissant {output.croissant:q} --manifest {output.manifest:q} 2>&1 | tee {log:q}"
