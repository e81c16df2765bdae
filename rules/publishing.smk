"""The published data set: tables of examples, and builds with licences kept apart."""


localrules:
    publish_excam40k,


rule publish_excam40k:
    """Shards by licence, a card, Croissant metadata; `permissive` has no share-alike and no non-commercial row."""
    input:
        samples=published("results/excam40k/{dataset}/{split}.parquet"),
        sources=published("results/sources/{dataset}/manifest.json"),
        soft=published("results/errors/soft/{dataset}.counts.json", among=SOFT),
        bases=published("results/samples/{dataset}.bases.jsonl"),
        audits="results/audits/summary.md",
        verdict=ancient("results/audits/verdict/{build}.json"),
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
        benchmarks=published_benchmarks(),
    shell:
        "python -m scripts publish_excam40k --build {wildcards.build:q} --samples {input.samples:q}"
        " --sources {input.sources:q} --soft {input.soft:q} --bases {input.bases:q} --benchmarks {params.benchmarks:q} --audits {input.audits:q}"
        " --card {output.card:q} --croissant {output.croissant:q} --manifest {output.manifest:q} 2>&1 | tee {log:q}"
