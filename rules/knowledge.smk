"""A knowledge pack of the benchmarks' facts, to judge your own texts with (docs/knowledge.md)."""


localrules:
    build_pack,


rule build_pack:
    """State the facts of all benchmarks, and index the statements. No test row is judged with this pack."""
    input:
        bases=expand("results/samples/{dataset}.bases.jsonl", dataset=DATASETS),
    output:
        facts="results/facts.jsonl",
        index="results/pack/index.json",
        files=f"results/pack/{PASSAGES}",
    log:
        "logs/build_pack.log",
    benchmark:
        "benchmarks/build_pack.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("build_pack", "excam40k/statements", "knowledge/passages"),
        licences=[f"{name}={BENCHMARKS[name].SOURCE.licence}" for name in DATASETS],
        seed=EXPERIMENT.seed,
        folder=subpath(output.index, parent=True),
    shell:
        "python -m scripts build_pack --bases {input.bases:q} --licences {params.licences:q} --seed {params.seed:q}"
        " --facts {output.facts:q} --pack {params.folder:q} 2>&1 | tee {log:q}"
